"""Exceptions of the package."""

from __future__ import annotations

import re


class TidegateError(Exception):
    """A run or a sweep failed, or a table cannot be read."""


class ScenarioError(TidegateError, ValueError):
    """A scenario is invalid.

    ``errors`` lists all errors: dicts with ``file``, ``line`` and ``column`` (from 1; 0 if unknown), ``key`` (as for
    ``--set``), ``message`` and ``help``; for a scenario given as a dict, also ``path``, such as
    ``scenario["traffic"][0]["load"]``.
    """

    def __init__(self, errors: list[dict]):
        self.errors = errors
        super().__init__("\n".join(_line(error) for error in errors))

    def __reduce__(self):
        # Exceptions of workers are pickled.
        return (type(self), (self.errors,))

    def _of_dict(self) -> ScenarioError:
        """Returns the errors with paths in the dict, because its TOML text is internal."""
        return ScenarioError([_placed(error) for error in self.errors])


class SweepError(TidegateError):
    """Runs of a sweep failed. Complete runs stay in the folder.

    ``failures`` lists the failed runs: values and seed in the format of ``tidegate sweep``, and the exception.
    ``workers`` has the host name of the worker of each, None if it is unknown.
    """

    def __init__(
        self,
        failures: list[tuple[str, Exception]],
        runs: int,
        damaged: list[str] = (),
        workers: list[str | None] = (),
    ):
        self.failures, self.runs, self.damaged = list(failures), runs, list(damaged)
        self.workers = list(workers) or [None] * len(self.failures)
        lines = []
        for (title, error), worker in zip(self.failures, self.workers):
            place = f" on {worker}" if worker else ""
            lines.append(f"{title or 'the run'}{place}: {_words(error)}")
        super().__init__("\n".join([f"{len(lines)} of {runs} runs failed", *lines, *self.damaged]))

    def __reduce__(self):
        return (type(self), (self.failures, self.runs, self.damaged, self.workers))


def _words(error: Exception) -> str:
    # Ray wraps the exception of a task; the text of the wrapper is the traceback of the worker.
    cause = getattr(error, "cause", None)
    error = cause if isinstance(cause, Exception) else error
    return str(error) if isinstance(error, TidegateError) else f"{type(error).__name__}: {error}"


def path_of(key: str) -> str:
    """Converts ``traffic.0.load`` to Python syntax."""
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
