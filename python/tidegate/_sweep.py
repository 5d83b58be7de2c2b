"""Sweeps on any executor: runs execute there, this process writes the table."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
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
) -> _native.Table:
    """Runs every combination of ``axes`` with each of ``seeds``, and returns the table of ``tidegate sweep``.

    ``executor`` is any executor of ``concurrent.futures``, a Dask client, or a :class:`RayExecutor`; the default is
    threads. Workers return the files of a run, so they need no shared disk. A scenario given as a path, and files that
    a scenario names, must exist at equal paths on workers. Complete runs in ``out`` are never removed, and
    ``resume=True`` continues from them.

    Workers of Dask and Ray are checked before the first run: each must have this version of the package. A failed run
    does not end the others; a :class:`SweepError` lists all failed runs.
    """
    if hasattr(executor, "get_executor"):
        # A Dask client.
        executor = executor.get_executor(pure=False)
    ask = None if executor is None else _workers.ask_of(executor)
    if ask is not None:
        _workers.check(ask)
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
            failures, runs = _run_all(plan, source, executor, remote=ask is not None), len(plan)
            missing, damaged = plan.finish()
        finally:
            # Releases the folder's lock immediately.
            del plan
        if failures:
            raise SweepError(failures, runs, damaged) from failures[0][1]
        if missing or damaged:
            raise TidegateError("\n".join(damaged + [f"{title}: not run" for title in missing]))
        return _native.read_table(target / "sweep.parquet")


def _run_all(plan: _native.Plan, source: Scenario, executor: Executor, remote: bool) -> list[tuple[str, Exception]]:
    """Executes the missing runs. A failure does not end the others; returns all failures with titles."""
    waiting: dict[Future, int] = {}
    failed: dict[int, Exception] = {}
    try:
        for at, changes, seed in plan.open():
            call = (_run_one, source, changes, seed)
            try:
                waiting[executor.submit(*(_workers.call_on_worker(*call) if remote else call))] = at
            except Exception as error:
                # For example of a pool with a dead process.
                failed[at] = error
        for future in as_completed(waiting):
            try:
                files = future.result()
            except Exception as error:
                failed[waiting[future]] = error
            else:
                _place(plan.folder(waiting[future]), files)
        return [(plan.title(at), failed[at]) for at in sorted(failed)]
    finally:
        for future in waiting:
            future.cancel()
        # A retained traceback must not hold the folder's lock.
        del plan


def _run_one(source: Scenario, changes: list[tuple[str, str]], seed: int | None) -> dict[str, bytes]:
    """Executes one run on a worker. Returns the files of its result by name."""
    result = source.run(seed=seed, threads=1, set=changes)
    return {path.name: path.read_bytes() for path in sorted(result.folder.iterdir())}


def _place(folder: Path, files: dict[str, bytes]) -> None:
    """Writes a result atomically."""
    partial = folder.parent.parent / f".placing-{folder.name}"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    for name, content in files.items():
        (partial / name).write_bytes(content)
    partial.rename(folder)


class RayExecutor(Executor):
    """Ray as an executor of ``concurrent.futures``: the task of a dead worker is repeated up to three times.

    ``options`` are those of ``ray.remote``, such as ``num_cpus=1`` or ``max_retries=10``.
    """

    def __init__(self, **options: object):
        import ray

        self._ray = ray
        # Four attempts in total, as on Dask: a run that kills its worker, for example by its memory use, must end.
        self._options = {"max_retries": 3, **options}

    def submit(self, fn, /, *args, **kwargs) -> Future:
        """Submits a call to the cluster."""
        remote = self._ray.remote(**self._options)(fn)
        return remote.remote(*args, **kwargs).future()

    def ask_nodes(self, probe: _workers.Probe) -> dict[str, object]:
        """Calls ``probe`` on every node with the resources of a task. Returns results or exceptions by node."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        if not self._ray.is_initialized():
            self._ray.init()
        needs = {"CPU": self._options.get("num_cpus", 1), "GPU": self._options.get("num_gpus") or 0}
        needs |= self._options.get("resources") or {}
        asked = {}
        for node in self._ray.nodes():
            if node["Alive"] and all(node["Resources"].get(name, 0) >= amount for name, amount in needs.items()):
                place = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
                options = {"num_cpus": 0, "runtime_env": self._options.get("runtime_env"), "scheduling_strategy": place}
                name = f"{node['NodeManagerHostname']} ({node['NodeID'][:8]})"
                asked[name] = self._ray.remote(**options)(probe).remote().future()
        return {name: future.exception() or future.result() for name, future in asked.items()}
