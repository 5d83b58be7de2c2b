"""Checks of cluster workers: all before the first run, and the worker of each run at its start."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import Executor

from . import _native
from ._errors import TidegateError

#: Returns the fault of the worker on which it is called, or None.
Probe = Callable[[], "str | None"]


def ask_of(executor: Executor) -> Callable[[Probe], Mapping[str, object]] | None:
    """Returns a function that calls a probe on every worker of a cluster and returns results by worker; None for
    executors on this machine."""
    if hasattr(executor, "ask_nodes"):
        return executor.ask_nodes
    if type(executor).__module__.partition(".")[0] != "distributed":
        return None
    # If a worker lacks the package that a task imports, Dask can wait forever (dask/distributed#4001).
    return lambda probe: executor._client.run(probe, on_error="return")


def check(ask: Callable[[Probe], Mapping[str, object]]) -> None:
    """Raises an error that names each worker on which runs would fail. Warns if there are no workers: an adaptive
    cluster may start some later, and each run checks its own worker."""
    version = _native.__version__
    answers = ask(_probe(version))
    if not answers:
        warnings.warn("no worker of the cluster answered: the sweep waits until one joins", stacklevel=3)
    wrong = {worker: answer for worker, answer in answers.items() if answer is not None}
    if wrong:
        lines = [f"worker {worker}: {answer}" for worker, answer in wrong.items()]
        raise TidegateError("\n".join([*lines, f"install tidegate {version} on every worker"]))


def call_on_worker(function: Callable, *arguments: object) -> tuple[Callable, bytes]:
    """Returns a call for a cluster. It also detects workers that joined after the check and lack the package."""
    return _guard(_probe(_native.__version__)), pickle.dumps((function, arguments))


# Dask and Ray pickle a module-level function by name, which a worker without the module cannot load, and an inner
# function by its code. Therefore these are inner functions with their own imports and without globals of this module.


def _probe(version: str) -> Probe:
    def problem() -> str | None:
        try:
            import tidegate
        except Exception as error:
            return f"the package tidegate cannot be imported: {error}"
        if tidegate.__version__ != version:
            return f"the package tidegate is version {tidegate.__version__}, and {version} here"
        return None

    return problem


def _guard(problem: Probe) -> Callable[[bytes], object]:
    def call(task: bytes) -> object:
        import pickle
        import platform

        wrong = problem()
        if wrong is not None:
            raise RuntimeError(f"worker on {platform.node()}: {wrong}")
        function, arguments = pickle.loads(task)
        return function(*arguments)

    return call
