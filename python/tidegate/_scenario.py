"""Scenario from a dict, a file, or its text."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace

from . import _native
from ._errors import ScenarioError, path_of
from ._result import Result

#: File name in the results of a scenario without a file.
_NAME = "scenario.toml"


class Scenario:
    """A valid scenario.

    ``source`` is a dict with the keys of a scenario file, the path of a file, or its text (a ``str`` of several
    lines). File names in a dict or text are relative to the working directory.
    """

    def __init__(self, source: Mapping | str | os.PathLike):
        self._is_dict = isinstance(source, Mapping)
        self._text: str | None = None
        self.path: Path | None = None
        if isinstance(source, Mapping):
            self._text = _native.dict_text(json.dumps(_plain(source, ""), allow_nan=False))
        elif isinstance(source, str) and "\n" in source:
            self._text = source
        elif isinstance(source, (str, os.PathLike)):
            self.path = Path(source).absolute()
        else:
            raise TypeError(f"a scenario is a dict, a path or a text, not {type(source).__name__}")
        self._called(lambda: _native.check(self._source()))

    def run(
        self,
        *,
        seed: int | None = None,
        threads: int | None = None,
        progress: Callable[[float], object] | None = None,
        out: str | os.PathLike | None = None,
        set: Mapping[str, object] | Iterable[tuple[str, object]] = (),
    ) -> Result:
        """Runs the scenario; the result has the bytes of ``tidegate run``.

        ``progress`` is called with the finished fraction, from 0 to 1, about twenty times per second. ``out`` is the
        folder of the result; the default is a temporary one with the lifetime of the result. ``set`` overrides values,
        like ``--set``. Ctrl-C ends the run and removes its files.
        """
        changes = [(key, text_of(value, key)) for key, value in pairs_of(set)]
        temporary = None
        if out is None:
            temporary = tempfile.TemporaryDirectory(prefix="tidegate-")
            out = Path(temporary.name) / "result"
        folder = Path(out)
        summary = self._called(lambda: _native.run(self._source(), changes, seed, threads, progress, folder))
        return Result(json.loads(summary), folder, temporary)._warn()

    @property
    def text(self) -> str:
        """The scenario as TOML, valid for ``tidegate run``."""
        return self._text if self._text is not None else self.path.read_text(encoding="utf-8")

    def __repr__(self) -> str:
        return f"tidegate.Scenario({str(self.path)!r})" if self.path else "<tidegate.Scenario>"

    def _source(self) -> SimpleNamespace:
        return SimpleNamespace(path=self.path or Path(_NAME), text=self._text)

    def _called(self, call):
        try:
            return call()
        except ScenarioError as error:
            if self._is_dict:
                raise error._of_dict() from None
            raise


def _plain(value: object, key: str) -> object:
    """Converts ``value`` to JSON types; the error has its key."""
    if isinstance(value, Mapping):
        for name in value:
            if not isinstance(name, str):
                raise _wrong(key, f"the key {name!r} is no text")
        return {name: _plain(inner, f"{key}.{name}" if key else name) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner, f"{key}.{at}" if key else str(at)) for at, inner in enumerate(value)]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if isinstance(value, float) and value - value != 0:
        raise _wrong(key, f"{value} is no number of a scenario")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise _wrong(key, f"{value} does not fit into 64 bits")
    if isinstance(value, (str, int, float)):
        return value
    raise _wrong(key, f"{value!r} is no value of a scenario: leave the key out or write a text, number, list or dict")


def _wrong(key: str, message: str) -> ScenarioError:
    error = {"file": _NAME, "line": 0, "column": 0, "key": key, "message": message, "help": None}
    return ScenarioError([{**error, "path": path_of(key)}])


def pairs_of(pairs: Mapping[str, object] | Iterable[tuple[str, object]]) -> Iterable[tuple[str, object]]:
    """Returns keys with their values, in order."""
    return pairs.items() if isinstance(pairs, Mapping) else pairs


def text_of(value: object, key: str) -> str:
    """Formats ``value`` for ``--set key=value``."""
    value = _plain(value, key)
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        raise _wrong(key, "name the keys in it one by one, such as fabric.k")
    return json.dumps(value)
