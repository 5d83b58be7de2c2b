"""Sweeps on any executor: runs execute there, this process writes the table."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

from . import _native, _workers
from ._errors import SweepError, TidegateError
from ._scenario import _NAME, Scenario, text_of


def sweep(
    scenario: Scenario | Mapping | str | os.PathLike,
    axes: Mapping[str, Sequence] | None = None,
    *,
    seeds: Iterable[int] = (),
    executor: Executor | None = None,
    out: str | os.PathLike | None = None,
    set: Mapping[str, object] | None = None,
    resume: bool = False,
    worker_timeout: float | None = 45,
) -> _native.Table:
    """Runs every combination of ``axes`` with each of ``seeds``, and returns the table of ``tidegate sweep``.

    ``executor`` is any executor of ``concurrent.futures``, a Dask client, or a :class:`RayExecutor`; the default is
    threads. Workers return the files of a run, so they need no shared disk. A scenario given as a path, and files that
    a scenario names, must exist at equal paths on workers. Complete runs in ``out`` are never removed, and
    ``resume=True`` continues from them.

    Workers of Dask and Ray are checked before the first run: each must have this version of the package. A failed run
    does not end the others; a :class:`SweepError` lists all failed runs. If a cluster has no worker for
    ``worker_timeout`` seconds, the remaining runs fail; None waits without end, for a cluster that starts them later.
    """
    if hasattr(executor, "get_executor"):
        # A Dask client.
        executor = executor.get_executor(pure=False)
    cluster = None if executor is None else _workers.cluster_of(executor)
    if cluster is not None:
        _workers.check(cluster.ask, worker_timeout)
    with ExitStack() as stack:
        temporary = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tidegate-")))
        target = Path(out) if out is not None else temporary / "sweep"
        if not isinstance(scenario, (Scenario, Mapping)) and "\n" not in os.fspath(scenario):
            # It may be a sweep file, which is not a scenario.
            file, name = Path(scenario).absolute(), None
        else:
            read = scenario if isinstance(scenario, Scenario) else Scenario(scenario)
            file, name = read.path, None
            if file is None:
                file, name = temporary / _NAME, _NAME
                file.write_text(read.text, encoding="utf-8")
        changes = [(key, text_of(value, key)) for key, value in (set or {}).items()]
        grid = [(key, [text_of(value, key) for value in values]) for key, values in (axes or {}).items()]
        plan = _native.Plan(file, SimpleNamespace(set=changes, axes=grid, seeds=list(seeds)), target, resume, name)
        source = read if name else Scenario(plan.scenario)
        if executor is None:
            executor = stack.enter_context(ThreadPoolExecutor(os.cpu_count()))
        try:
            failures, workers = _run_all(plan, source, executor, cluster, worker_timeout)
            runs = len(plan)
            try:
                missing, damaged = plan.finish()
            except TidegateError as error:
                # For example on a full disk. The failures of runs are the cause, if there are any.
                if not failures:
                    raise
                missing, damaged = [], [f"no table: {error}"]
        finally:
            # Releases the folder's lock immediately.
            del plan
        if failures:
            if len(missing) > len(failures):
                damaged.append(f"{len(missing) - len(failures)} other runs have no result: continue with resume=True")
            raise SweepError(failures, runs, damaged, workers) from failures[0][1]
        if missing or damaged:
            raise TidegateError("\n".join(damaged + [f"{title}: not run" for title in missing]))
        return _native.read_table(target / "sweep.parquet")


def _run_all(
    plan: _native.Plan,
    source: Scenario,
    executor: Executor,
    cluster: _workers.Cluster | None,
    worker_timeout: float | None,
) -> tuple[list[tuple[str, Exception]], list[str | None]]:
    """Executes the missing runs. A failed run does not end the others; a result that cannot be written does, for
    example on a full disk. Returns all failures with titles, and the worker of each if known."""
    failed: dict[int, tuple[Exception, str | None]] = {}
    try:
        tasks = plan.open()
        can_write = _execute(tasks, plan, source, executor, cluster, worker_timeout, failed)
        # Dask suspects all runs that were assigned to the dead workers. One at a time, only the cause fails again.
        suspects = [task for task in tasks if type(failed.get(task[0], (None,))[0]).__name__ == "KilledWorker"]
        if len(suspects) > 1:
            for task in suspects:
                if can_write:
                    del failed[task[0]]
                    can_write = _execute([task], plan, source, executor, cluster, worker_timeout, failed)
        titles = [(plan.title(at), failed[at][0]) for at in sorted(failed)]
        return titles, [failed[at][1] for at in sorted(failed)]
    finally:
        # A retained traceback must not hold the folder's lock.
        del plan


def _execute(tasks, plan, source, executor, cluster, worker_timeout, failed) -> bool:
    """Executes these runs and adds failures to ``failed``. Returns False if a result could not be written."""
    waiting: dict[Future, int] = {}
    try:
        for at, changes, seed in tasks:
            call = (_run_one, source, changes, seed)
            try:
                waiting[executor.submit(*(_workers.call_on_worker(*call) if cluster else call))] = at
            except Exception as error:
                # For example of a pool with a dead process.
                failed[at] = error, None
        for future, lost in _workers.completed(waiting, cluster, worker_timeout):
            at, worker = waiting[future], None
            try:
                if lost is not None:
                    raise lost
                answer = future.result()
                if cluster:
                    worker, answer = answer
                    if isinstance(answer, Exception):
                        raise answer
            except CancelledError:
                failed[at] = RuntimeError("the executor cancelled it: its scheduler may have ended"), None
                continue
            except Exception as error:
                failed[at] = error, worker
                continue
            try:
                _place(plan.folder(at), answer)
            except OSError as error:
                failed[at] = error, None
                return False
        return True
    finally:
        for future in waiting:
            future.cancel()
        del plan


def _run_one(source: Scenario, changes: list[tuple[str, str]], seed: int | None) -> dict[str, bytes]:
    """Executes one run on a worker. Returns the files of its result by name."""
    result = source.run(seed=seed, threads=1, set=changes)
    return {path.name: path.read_bytes() for path in sorted(result.folder.iterdir())}


def _place(folder: Path, files: dict[str, bytes]) -> None:
    """Writes a result atomically."""
    partial = folder.parent.parent / f".placing-{folder.name}"
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir()
        for name, content in files.items():
            (partial / name).write_bytes(content)
        partial.rename(folder)
    except OSError:
        shutil.rmtree(partial, ignore_errors=True)
        raise


class RayExecutor(Executor):
    """Ray as an executor of ``concurrent.futures``: the task of a dead worker is repeated up to three times.

    ``options`` are those of ``ray.remote``, such as ``num_cpus=1`` or ``max_retries=10``.
    """

    def __init__(self, **options: object):
        import ray

        self._ray = ray
        # Four attempts in total, as on Dask: a run that kills its worker must end.
        self._retries = options.pop("max_retries", 3)
        # Ray's own retries do not include those for lack of memory, which are unlimited by default.
        self._options = {**options, "max_retries": 0}

    def submit(self, fn, /, *args, **kwargs) -> Future:
        """Submits a call to the cluster."""
        task = self._ray.remote(**self._options)(fn)
        errors = self._ray.exceptions
        of_worker = (
            *(errors.WorkerCrashedError, errors.OutOfMemoryError, errors.NodeDiedError, errors.ObjectLostError),
            errors.LocalRayletDiedError,
        )
        result: Future = Future()

        def attempt(retries: int) -> None:
            task.remote(*args, **kwargs).future().add_done_callback(lambda done: settle(done, retries))

        def settle(done: Future, retries: int) -> None:
            try:
                error = done.exception()
                if result.cancelled():
                    return
                if retries != 0 and isinstance(error, of_worker):
                    attempt(retries - 1)
                elif error is not None:
                    result.set_exception(error)
                else:
                    result.set_result(done.result())
            except BaseException as error:
                # An exception of a callback is lost, and the sweep would wait without end.
                result.set_exception(error)

        attempt(self._retries)
        return result

    def ask_nodes(self, probe: _workers.Probe) -> dict[str, object]:
        """Calls ``probe`` on every node with the resources of a task. Returns results or exceptions by node."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        asked = {}
        for node in self._nodes():
            place = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            options = {"num_cpus": 0, "runtime_env": self._options.get("runtime_env"), "scheduling_strategy": place}
            name = f"{node['NodeManagerHostname']} ({node['NodeID'][:8]})"
            asked[name] = self._ray.remote(**options)(probe).remote().future()
        return {name: future.exception() or future.result() for name, future in asked.items()}

    def has_nodes(self) -> bool:
        """Returns whether a node is alive that has the resources of a task."""
        return bool(self._nodes())

    def _nodes(self) -> list[dict]:
        if not self._ray.is_initialized():
            self._ray.init()
        needs = {"CPU": self._options.get("num_cpus", 1), "GPU": self._options.get("num_gpus") or 0}
        needs |= self._options.get("resources") or {}

        def is_able(node: dict) -> bool:
            return all(node["Resources"].get(name, 0) >= amount for name, amount in needs.items())

        return [node for node in self._ray.nodes() if node["Alive"] and is_able(node)]
