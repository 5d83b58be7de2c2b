"""Checks of cluster workers: all before the first run, and the worker of each run at its start."""

from __future__ import annotations

import pickle
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from queue import Empty, SimpleQueue

from . import _native
from ._errors import TidegateError

#: Returns the fault of the worker on which it is called, or None.
Probe = Callable[[], "str | None"]

#: Time between two checks of a cluster for workers while no run completes.
INTERVAL_SECONDS = 1.0


@dataclass
class Cluster:
    """A cluster of workers: ``ask`` calls a probe on each worker and returns results by worker, ``has_workers`` returns
    whether there are any."""

    ask: Callable[[Probe], Mapping[str, object]]
    has_workers: Callable[[], bool]


def cluster_of(executor: Executor) -> Cluster | None:
    """Returns the cluster of an executor; None for executors on this machine."""
    if hasattr(executor, "ask_nodes"):
        return Cluster(executor.ask_nodes, executor.has_nodes)
    if type(executor).__module__.partition(".")[0] != "distributed":
        return None
    client = executor._client
    # If a worker lacks the package that a task imports, Dask can wait forever (dask/distributed#4001).
    ask = lambda probe: client.run(probe, on_error="return")  # noqa: E731
    return Cluster(ask, lambda: bool(client.scheduler_info()["workers"]))


def check(ask: Callable[[Probe], Mapping[str, object]], timeout: float | None) -> None:
    """Raises an error that names each worker on which runs would fail. Warns if there are no workers: an adaptive
    cluster may start some later, and each run checks its own worker."""
    version = _native.__version__
    answers = ask(_probe(version))
    if not answers:
        limit = "" if timeout is None else f", {timeout:g} s at most"
        warnings.warn(f"no worker of the cluster answered: the sweep waits until one joins{limit}", stacklevel=3)
    wrong = {worker: answer for worker, answer in answers.items() if answer is not None}
    if wrong:
        lines = [f"worker {worker}: {answer}" for worker, answer in wrong.items()]
        raise TidegateError("\n".join([*lines, f"install tidegate {version} on every worker"]))


def completed(
    futures: Iterable[Future], cluster: Cluster | None, timeout: float | None
) -> Iterator[tuple[Future, Exception | None]]:
    """Yields futures as they complete. If the cluster has no worker for ``timeout`` seconds, yields each of the others
    with an error: Dask and Ray wait for workers without end."""
    waiting, ready = set(futures), SimpleQueue()
    for future in list(waiting):
        future.add_done_callback(ready.put)
    without_workers_since = None
    while waiting:
        try:
            future = ready.get(timeout=None if cluster is None or timeout is None else INTERVAL_SECONDS)
        except Empty:
            if _has_workers(cluster):
                without_workers_since = None
                continue
            now = time.monotonic()
            without_workers_since = without_workers_since or now
            if now - without_workers_since >= timeout:
                lost = RuntimeError(f"the cluster had no worker for {timeout:g} s (worker_timeout)")
                lost.__cause__ = _error_of(cluster)
                yield from ((future, lost) for future in waiting)
                return
        else:
            waiting.discard(future)
            without_workers_since = None
            yield future, None


def _has_workers(cluster: Cluster) -> bool:
    try:
        return cluster.has_workers()
    except Exception:
        # The scheduler does not answer; `_error_of` returns the reason.
        return False


def _error_of(cluster: Cluster) -> Exception | None:
    """Returns the exception of a cluster that does not answer."""
    try:
        cluster.has_workers()
    except Exception as error:
        return error
    return None


def call_on_worker(function: Callable, *arguments: object) -> tuple[Callable, bytes]:
    """Returns a call for a cluster, which returns the name of its worker, and the result or the exception. It also
    detects workers that joined after the check and lack the package."""
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


def _guard(problem: Probe) -> Callable[[bytes], tuple[str, object]]:
    def call(task: bytes) -> tuple[str, object]:
        import pickle
        import platform

        worker = platform.node()
        wrong = problem()
        if wrong is not None:
            return worker, RuntimeError(wrong)
        try:
            function, arguments = pickle.loads(task)
            return worker, function(*arguments)
        except Exception as error:
            return worker, error

    return call
