"""Workers of a cluster: they are checked before the first run, and each run checks the one that it is on."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import Executor

from . import _native
from ._errors import TidegateError

#: Returns the fault of the worker on which it is called; None if there is none.
Probe = Callable[[], "str | None"]


def ask_of(executor: Executor) -> Callable[[Probe], Mapping[str, object]] | None:
    """A function that calls a probe on every worker of a cluster and returns answers by worker; None for executors on
    this machine."""
    if hasattr(executor, "ask_nodes"):
        return executor.ask_nodes
    if type(executor).__module__.partition(".")[0] != "distributed":
        return None
    # Workers without the package that a task imports can leave Dask waiting for ever (dask/distributed#4001).
    return lambda probe: executor._client.run(probe, on_error="return")


def check(ask: Callable[[Probe], Mapping[str, object]]) -> None:
    """Raises an error that names each worker on which runs would fail. Warns if there is no worker to check: an
    adaptive cluster may start some later, and each run checks its own worker."""
    version = _native.__version__
    answers = ask(_probe(version))
    if not answers:
        warnings.warn("no worker of the cluster answered: the sweep waits until one joins", stacklevel=3)
    wrong = {worker: answer for worker, answer in answers.items() if answer is not None}
    if wrong:
        lines = [f"worker {worker}: {answer}" for worker, answer in wrong.items()]
        raise TidegateError("\n".join([*lines, f"install tidegate {version} on every worker"]))


def call_on_worker(function: Callable, *arguments: object) -> tuple[Callable, bytes]:
    """A call as a cluster runs it. It reports a worker that joined after the check and lacks the package."""
    return _guard(_probe(_native.__version__)), pickle.dumps((function, arguments))


# Dask and Ray pickle a function of a module by its name, which a worker without the module cannot read, and an inner
# function by its code. So these are inner functions, import what they use, and use no global of this module.


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
