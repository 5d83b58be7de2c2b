"""Result of a run."""

from __future__ import annotations

import html
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

from . import _native


class FailedCheck(UserWarning):
    """A check of a run failed: see ``result.checks``."""


class Unfinished(UserWarning):
    """Some flows are incomplete at the end: completion times and slowdowns are of the others only."""


class Result:
    """The result of a run: ``summary`` is a dict, ``result["flows"]`` an Arrow table.

    Tables are read from the result's folder on first access.
    """

    def __init__(self, summary: dict, folder: Path, temporary: tempfile.TemporaryDirectory | None = None):
        self.summary = summary
        self.folder = folder
        self._temporary = temporary
        self._tables: dict[str, _native.Table] = {}

    @property
    def results_hash(self) -> str:
        """Hash of the result's bytes, equal to that of ``tidegate run``."""
        return self.summary["results_hash"]

    @property
    def checks(self) -> list[dict]:
        """Checks of the run: dicts with ``name``, ``pass``, ``judged`` and ``detail``."""
        return self.summary["checks"]

    @property
    def coverage(self) -> tuple[int, int]:
        """Number of completed flows (those of completion times and slowdowns), and of started finite flows."""
        flows = self.summary["flows"]
        return flows["completed"], flows["completed"] + (flows.get("unfinished") or {"count": 0})["count"]

    def _warn(self) -> Result:
        """Warns of failed checks and unfinished flows, with the caller's line."""
        for check in self.checks:
            if not check["pass"]:
                warnings.warn(f"the check {check['name']!r} failed: {check['detail']}", FailedCheck, stacklevel=3)
        completed, started = self.coverage
        if completed < started:
            text = f"{completed} of {started} flows completed: completion times and slowdowns are of these only"
            warnings.warn(text, Unfinished, stacklevel=3)
        return self

    @property
    def tables(self) -> list[str]:
        """Names of the available tables."""
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

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """Short form of the summary that ``tidegate run`` prints."""
        summary, flows = self.summary, self.summary["flows"]
        packets, (completed, started) = summary["packets"], self.coverage
        of = "" if completed == started else f"of {completed} of {started} completed: "
        dropped = sum(packets["dropped"].values())
        rows = [
            ("simulated", f"{_span(summary['simulated_ps'] / 1e3)}; {summary['packet_hops']:,} packet-hops"),
            ("packets", f"{packets['injected']:,} sent, {packets['delivered_whole']:,} delivered, {dropped:,} dropped"),
            ("flows", f"{flows['completed']:,} of {flows['started']:,} completed"),
        ]
        if flows["fct_ns"]:
            rows.append(("completion", of + _distribution(flows["fct_ns"], _span)))
        if flows["slowdown"]:
            values = {"count": flows["completed"], **flows["slowdown"]}
            rows.append(("slowdown", of + _distribution(values, lambda value: f"{value:.2f}")))
        rows.append(("goodput", f"{summary['goodput']['bps'] / 1e9:.2f} Gbps"))
        if summary["pauses"]["count"]:
            rows.append(("pauses", f"{summary['pauses']['count']:,}, {_span(summary['pauses']['total_ps'] / 1e3)} over all ports"))
        if summary["deadlock"]:
            rows.append(("deadlock", f"closed at {_span(summary['deadlock']['closed_ps'] / 1e3)}"))
        for check in self.checks:
            mark = "FAIL" if not check["pass"] else "ok  " if check["applicable"] else "-   "
            rows.append(("checks", f"{mark} {check['name']:<17} {check['detail']}"))
        rows += [("warnings", text) for text in summary["warnings"]]
        rows.append(("tables", ", ".join(self.tables)))
        shown, lines = None, [f"{summary['scenario']['name']}  seed {summary['scenario']['seed']}"]
        for name, text in rows:
            lines.append(f"{name if name != shown else '':<14}{text}")
            shown = name
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


def _span(ns: float) -> str:
    """Formats a duration in ns with two decimals of a suitable unit."""
    for unit, name in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if ns >= unit:
            return f"{ns / unit:.2f}{name}"
    return f"{ns:.2f}ns"


def _distribution(values: dict, show) -> str:
    """Formats mean and quantiles, without quantiles that need more values."""
    if values["count"] < 2:
        return f"{show(values['mean'])}, the only one"
    parts = [f"mean {show(values['mean'])}", f"p50 {show(values['p50'])}"]
    if values["count"] >= 100:
        parts.append(f"p99 {show(values['p99'])}")
    return ", ".join([*parts, f"max {show(values['max'])}"])
