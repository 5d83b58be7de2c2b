import errno
import os
import pickle
import signal
import time
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor

import pytest
import tidegate
from tidegate import _sweep

AXES = {"traffic.0.fan_in": [2, 4, 8], "fabric.link.delay": ["500ns", "1us"]}
SEEDS = [1, 2, 3]


@pytest.fixture
def of_command(incast, command, tmp_path):
    """Returns the table that the command writes for this sweep, with its inputs."""
    file = tmp_path / "scenario.toml"
    file.write_text(tidegate.Scenario(incast).text)
    vary = [f"--vary={key}={','.join(map(str, values))}" for key, values in AXES.items()]
    command("sweep", file, *vary, "--seeds", "1,2,3", "--quiet", "--out", tmp_path / "command")
    return tmp_path / "command" / "sweep.parquet"


def same_runs(one, other):
    """Returns True if two sweep folders have equal bytes, except machine-dependent files."""

    def files(folder):
        found = {path.relative_to(folder): path for path in (folder / "runs").glob("*/*")}
        return {name: path.read_bytes() for name, path in found.items() if path.name not in SKIPPED}

    return files(one) == files(other)


SKIPPED = {"timing.json", "tidegate.sha256"}


@pytest.mark.parametrize("kind", [None, ThreadPoolExecutor, ProcessPoolExecutor])
def test_any_executor_gives_the_table_of_the_command(kind, incast, of_command, tmp_path):
    executor = kind and kind(2)
    table = tidegate.sweep(incast, AXES, seeds=SEEDS, executor=executor, out=tmp_path / "python")
    assert len(table) == 18
    assert (tmp_path / "python" / "sweep.parquet").read_bytes() == of_command.read_bytes()
    assert same_runs(tmp_path / "python", of_command.parent)


def gone(*_):
    raise LookupError("the worker is gone")


class Fails(ThreadPoolExecutor):
    """Loses every run after the first three."""

    calls = 0

    def submit(self, fn, /, *args, **kwargs):
        self.calls += 1
        return super().submit(fn if self.calls <= 3 else gone, *args, **kwargs)


def test_a_sweep_that_broke_keeps_what_is_complete_and_goes_on(incast, of_command, tmp_path):
    arguments = {"axes": AXES, "seeds": SEEDS, "out": tmp_path / "python"}
    with pytest.raises(tidegate.SweepError, match="the worker is gone") as broken:
        tidegate.sweep(incast, executor=Fails(1), **arguments)
    assert isinstance(broken.value.__cause__, LookupError)
    assert len(list((tmp_path / "python" / "runs").iterdir())) == 3
    with pytest.raises(tidegate.TidegateError, match="already has a sweep"):
        tidegate.sweep(incast, **arguments)
    counting = Fails(1)
    with pytest.raises(tidegate.SweepError):
        tidegate.sweep(incast, resume=True, executor=counting, **arguments)
    assert counting.calls == 15, "what was complete ran again"
    assert len(tidegate.sweep(incast, resume=True, **arguments)) == 18
    assert (tmp_path / "python" / "sweep.parquet").read_bytes() == of_command.read_bytes()


def test_each_failed_run_is_named_with_its_values_and_seed(incast, tmp_path):
    axes = {"traffic.0.fan_in": [2, 4]}
    with pytest.raises(tidegate.SweepError) as failed:
        tidegate.sweep(incast, axes, seeds=SEEDS, executor=Fails(1), out=tmp_path / "python")
    titles = [f"traffic.0.fan_in=4 seed={seed}" for seed in SEEDS]
    assert [title for title, _ in failed.value.failures] == titles
    lines = [f"{title}: LookupError: the worker is gone" for title in titles]
    assert str(failed.value).splitlines() == ["3 of 6 runs failed", *lines]
    copy = pickle.loads(pickle.dumps(failed.value))
    assert str(copy) == str(failed.value) and copy.runs == 6


def test_a_full_disk_ends_the_sweep_and_names_the_run(incast, tmp_path, monkeypatch):
    place, placed = _sweep._place, []

    def fails_second(folder, files):
        placed.append(folder)
        if len(placed) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        place(folder, files)

    monkeypatch.setattr(_sweep, "_place", fails_second)
    with pytest.raises(tidegate.SweepError) as failed:
        tidegate.sweep(incast, seeds=range(1, 6), executor=ThreadPoolExecutor(1), out=tmp_path / "python")
    head, run, others = str(failed.value).splitlines()
    assert head == "1 of 5 runs failed" and run.endswith(": OSError: [Errno 28] No space left on device")
    assert others == "3 other runs have no result: continue with resume=True"
    assert [path.name for path in (tmp_path / "python" / "runs").iterdir()] == [placed[0].name]
    assert len(tidegate.sweep(incast, seeds=range(1, 6), out=tmp_path / "python", resume=True)) == 5


def test_a_result_that_cannot_be_written_leaves_no_file(tmp_path):
    (tmp_path / "runs").mkdir()
    with pytest.raises(OSError):
        _sweep._place(tmp_path / "runs" / "one", {"summary.json": b"{}", "no/folder": b""})
    assert list((tmp_path / "runs").iterdir()) == [] and len(list(tmp_path.iterdir())) == 1


class Refuses(ThreadPoolExecutor):
    """Accepts two runs, like a pool with a dead process."""

    calls = 0

    def submit(self, fn, /, *args, **kwargs):
        self.calls += 1
        if self.calls > 2:
            raise BrokenExecutor("a process died")
        return super().submit(fn, *args, **kwargs)


def test_runs_that_an_executor_refuses_are_named_and_the_others_kept(incast, tmp_path):
    with pytest.raises(tidegate.SweepError, match="1 of 3 runs failed\nseed=3: BrokenExecutor: a process died"):
        tidegate.sweep(incast, seeds=SEEDS, executor=Refuses(1), out=tmp_path / "python")
    assert len(list((tmp_path / "python" / "runs").iterdir())) == 2


def test_a_wrong_axis_is_told_before_anything_runs(incast, tmp_path):
    with pytest.raises(tidegate.ScenarioError, match="fan_inn"):
        tidegate.sweep(incast, {"traffic.0.fan_inn": [1, 2]}, out=tmp_path / "python")
    assert not (tmp_path / "python").exists()


#: 100 runs, the size of the cluster tests.
MANY = {"axes": {"traffic.0.fan_in": [2, 4, 6, 8, 10]}, "seeds": range(20)}


@pytest.fixture
def many(incast, command, tmp_path):
    """Executes them with an executor, and compares them with the results of the command."""
    file = tmp_path / "scenario.toml"
    file.write_text(tidegate.Scenario(incast).text)
    command(
        *("sweep", file, "--vary=traffic.0.fan_in=2,4,6,8,10", "--seeds=0..19", "--quiet"),
        *("--out", tmp_path / "command"),
    )

    def run(executor):
        table = tidegate.sweep(incast, **MANY, executor=executor, out=tmp_path / "cluster")
        of_command, of_cluster = tmp_path / "command", tmp_path / "cluster"
        assert len(table) == len(list((of_cluster / "runs").iterdir())) == 100
        assert (of_cluster / "sweep.parquet").read_bytes() == (of_command / "sweep.parquet").read_bytes()
        assert same_runs(of_cluster, of_command)

    return run


def kill_one_when_it_is_under_way(folder, pids):
    """Kills the first of `pids` after some of the runs."""
    runs = folder / "runs"
    while not runs.exists() or len(list(runs.iterdir())) < 10:
        time.sleep(0.01)
    there = len(list(runs.iterdir()))
    assert there < 100, "it ended before anybody was killed"
    os.kill(pids[0], signal.SIGKILL)


def test_dask_loses_nothing_with_a_killed_worker(many, tmp_path):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        ThreadPoolExecutor(1) as killer,
    ):
        pids = [worker.pid for worker in cluster.workers.values()]
        killed = killer.submit(kill_one_when_it_is_under_way, tmp_path / "cluster", pids)
        many(client)
        killed.result(60)


def test_ray_loses_nothing_with_a_killed_worker(many, tmp_path):
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:

        @ray.remote
        def pid():
            time.sleep(0.5)
            return os.getpid()

        pids = ray.get([pid.remote() for _ in range(2)])
        assert len(set(pids)) == 2
        with ThreadPoolExecutor(1) as killer:
            killed = killer.submit(kill_one_when_it_is_under_way, tmp_path / "cluster", pids)
            many(tidegate.RayExecutor(num_cpus=1))
            killed.result(60)
    finally:
        ray.shutdown()
