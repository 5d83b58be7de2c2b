"""Exceptions of the package."""

from __future__ import annotations

import re


class TidegateError(Exception):
    """A run, a sweep or a table that could not be made."""


class ScenarioError(TidegateError, ValueError):
    """A scenario that is wrong.

    ``errors`` holds every mistake: a dict with ``file``, ``line`` and ``column`` (from 1; 0 where there is none),
    ``key`` (as ``--set`` names it), ``message`` and ``help``; for a scenario that was given as a dict, also ``path``,
    such as ``scenario["traffic"][0]["load"]``.
    """

    def __init__(self, errors: list[dict]):
        self.errors = errors
        super().__init__("\n".join(_line(error) for error in errors))

    def __reduce__(self):
        # A worker's exception travels to who asked.
        return (type(self), (self.errors,))

    def _of_dict(self) -> ScenarioError:
        """The same mistakes by their paths in a dict, whose text nobody has seen."""
        return ScenarioError([_placed(error) for error in self.errors])


class SweepError(TidegateError):
    """Runs of a sweep that failed. What is complete stays in the folder.

    ``failures`` holds each of them: its values and seed, as ``tidegate sweep`` writes them, and the exception.
    """

    def __init__(self, failures: list[tuple[str, Exception]], runs: int, damaged: list[str] = ()):
        self.failures, self.runs, self.damaged = list(failures), runs, list(damaged)
        lines = [f"{title or 'the run'}: {_words(error)}" for title, error in self.failures]
        super().__init__("\n".join([f"{len(lines)} of {runs} runs failed", *lines, *self.damaged]))

    def __reduce__(self):
        return (type(self), (self.failures, self.runs, self.damaged))


def _words(error: Exception) -> str:
    # Ray wraps the exception of a task, and its text is the traceback of the worker.
    cause = getattr(error, "cause", None)
    error = cause if isinstance(cause, Exception) else error
    return str(error) if isinstance(error, TidegateError) else f"{type(error).__name__}: {error}"


def path_of(key: str) -> str:
    """``traffic.0.load`` as Python writes it."""
    parts = [part.strip('"') for part in re.findall(r'"[^"]*"|[^.]+', key)]
    return "scenario" + "".join(f"[{part}]" if part.isdigit() else f'["{part}"]' for part in parts)


def _placed(error: dict) -> dict:
    if error["file"].startswith("--set") or error["file"] != "scenario.toml":
        return error
    return {**error, "path": path_of(error["key"]), "line": 0, "column": 0}


def _line(error: dict) -> str:
    place = error.get("path") or error["file"]
    if error["line"] > 0:
        place += f":{error['line']}" + (f":{error['column']}" if error["column"] > 0 else "")
    text = f"{place}: {error['message']}"
    return text + (f"\n  help: {error['help']}" if error["help"] else "")
