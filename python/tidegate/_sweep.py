"""Sweeps on any executor: the runs travel, the table is made here."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

from . import _native
from ._errors import TidegateError
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
    """Runs every combination of ``axes`` under each of ``seeds``, and gives the table of ``tidegate sweep``.

    ``executor`` is any executor of ``concurrent.futures``, a Dask client, or a :class:`RayExecutor`; threads without.
    A run sends back its files, so workers need no disk in common with this process; the file of a scenario that is
    given as a path, and files that a scenario names, must be there under the same path. What is complete in ``out``
    stays whatever happens, and ``resume=True`` goes on from it.
    """
    with ExitStack() as stack:
        temporary = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tidegate-")))
        target = Path(out) if out is not None else temporary / "sweep"
        if not isinstance(scenario, (Scenario, Mapping)) and "\n" not in os.fspath(scenario):
            # It may be the file of a sweep, which is no scenario.
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
        elif hasattr(executor, "get_executor"):
            # A Dask client.
            executor = executor.get_executor(pure=False)
        try:
            failure = _run_all(plan, source, executor)
            missing, damaged = plan.finish()
        finally:
            # As soon as this ends, the folder is free for the next.
            del plan
        if failure is not None:
            raise failure
        if missing or damaged:
            raise TidegateError("\n".join(damaged + [f"{title}: not run" for title in missing]))
        return _native.read_table(target / "sweep.parquet")


def _run_all(plan: _native.Plan, source: Scenario, executor: Executor) -> Exception | None:
    """Makes the runs that are missing. One that fails does not end the others; the first failure comes back."""
    waiting: dict[Future, int] = {}
    first = None
    try:
        for at, changes, seed in plan.open():
            waiting[executor.submit(_run_one, source, changes, seed)] = at
        for future in as_completed(waiting):
            try:
                files = future.result()
            except Exception as error:
                first = first or error
            else:
                _place(plan.folder(waiting[future]), files)
    finally:
        for future in waiting:
            future.cancel()
        # A traceback that somebody keeps must not keep the folder's lock.
        del plan
    return first


def _run_one(source: Scenario, changes: list[tuple[str, str]], seed: int | None) -> dict[str, bytes]:
    """One run, wherever this is called: the files of its result by their names."""
    result = source.run(seed=seed, threads=1, set=changes)
    return {path.name: path.read_bytes() for path in sorted(result.folder.iterdir())}


def _place(folder: Path, files: dict[str, bytes]) -> None:
    """Writes a result whole or not at all."""
    partial = folder.parent.parent / f".placing-{folder.name}"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    for name, content in files.items():
        (partial / name).write_bytes(content)
    partial.rename(folder)


class RayExecutor(Executor):
    """Ray as an executor of ``concurrent.futures``: a task whose worker dies runs again.

    ``options`` are those of ``ray.remote``, such as ``num_cpus=1``.
    """

    def __init__(self, **options: object):
        import ray

        self._ray = ray
        self._options = {"max_retries": -1, **options}

    def submit(self, fn, /, *args, **kwargs) -> Future:
        """Hands a call to the cluster."""
        remote = self._ray.remote(**self._options)(fn)
        return remote.remote(*args, **kwargs).future()
