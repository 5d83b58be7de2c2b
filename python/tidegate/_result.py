"""What a run leaves."""

from __future__ import annotations

import html
import tempfile
from collections.abc import Iterator
from pathlib import Path

from . import _native


class Result:
    """The result of a run: ``summary`` is a dict, ``result["flows"]`` an Arrow table.

    Tables are read from the result's folder when they are first asked for.
    """

    def __init__(self, summary: dict, folder: Path, temporary: tempfile.TemporaryDirectory | None = None):
        self.summary = summary
        self.folder = folder
        self._temporary = temporary
        self._tables: dict[str, _native.Table] = {}

    @property
    def results_hash(self) -> str:
        """The same for the same bytes, also those that ``tidegate run`` writes."""
        return self.summary["results_hash"]

    @property
    def tables(self) -> list[str]:
        """Names of the tables that there are."""
        return sorted(path.stem for path in self.folder.glob("*.parquet"))

    def __getitem__(self, name: str) -> _native.Table:
        if name not in self._tables:
            if name not in self.tables:
                raise KeyError(f"no table {name!r}; there are {', '.join(self.tables)}")
            self._tables[name] = _native.read_table(self.folder / f"{name}.parquet")
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    def __repr__(self) -> str:
        return f"<tidegate.Result {self.summary['scenario']['name']!r}: {', '.join(self.tables)}>"

    def _repr_html_(self) -> str:
        def row(name: str, value: object) -> str:
            return f"<tr><th>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>"

        name = html.escape(str(self.summary["scenario"]["name"]))
        plain = {key: value for key, value in self.summary.items() if isinstance(value, (str, int, float, bool))}
        rows = "".join(row(key, value) for key, value in plain.items())
        tables = row("tables", ", ".join(self.tables))
        return f"<table><caption>{name}</caption><tbody>{rows}{tables}</tbody></table>"
