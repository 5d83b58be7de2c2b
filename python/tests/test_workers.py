"""Tests of worker checks before the first run: with test clients, and with Dask and Ray."""

import os
import platform
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from types import SimpleNamespace

import pytest
import tidegate
from tidegate import _sweep, _workers

AXES = {"traffic.0.fan_in": [4, 8]}


class OfDask(ThreadPoolExecutor):
    """Executor of a client, with threads as workers."""

    def __init__(self, client):
        super().__init__(2)
        self._client, self.calls = client, 0

    def submit(self, fn, /, *args, **kwargs):
        self.calls += 1
        return super().submit(fn, *args, **kwargs)


OfDask.__module__ = "distributed.cfexecutor"


class Client:
    """Dask client with these answers of workers instead of probe results."""

    def __init__(self, **answers):
        self.answers, self.executor = answers, OfDask(self)

    def get_executor(self, pure):
        assert pure is False
        return self.executor

    def run(self, probe, on_error):
        assert on_error == "return"
        return {worker: answer or probe() for worker, answer in self.answers.items()}

    def scheduler_info(self):
        return {"workers": self.answers}


def test_workers_without_the_package_are_named_before_the_first_run(incast, tmp_path):
    lacks = "the package tidegate cannot be imported: No module named 'tidegate'"
    client = Client(one=None, two=lacks, three=OSError("lost"))
    for executor in (client, client.executor):
        with pytest.raises(tidegate.TidegateError) as error:
            tidegate.sweep(incast, AXES, executor=executor, out=tmp_path / "out")
        version = tidegate.__version__
        assert str(error.value).splitlines() == [
            f"worker two: {lacks}",
            "worker three: lost",
            f"install tidegate {version} on every worker",
        ]
    assert client.executor.calls == 0 and not (tmp_path / "out").exists()


def test_workers_with_the_package_run_the_sweep(incast):
    client = Client(one=None, two=None)
    assert len(tidegate.sweep(incast, AXES, seeds=[1, 2], executor=client)) == 4
    assert client.executor.calls == 4


def test_another_version_is_named(incast, monkeypatch):
    monkeypatch.setattr(tidegate, "__version__", "0.0.9")
    found = f"the package tidegate is version 0.0.9, and {_workers._native.__version__} here"
    with pytest.raises(tidegate.TidegateError, match=f"worker one: {found}"):
        tidegate.sweep(incast, AXES, executor=Client(one=None))


def test_a_worker_that_joined_after_the_check_is_named_by_its_runs(incast, monkeypatch):
    class Late(Client):
        def run(self, probe, on_error):
            answers = super().run(probe, on_error)
            monkeypatch.setattr(tidegate, "__version__", "0.0.9")
            return answers

    found = f"traffic.0.fan_in=8 on {platform.node()}: RuntimeError: .* version 0.0.9"
    with pytest.raises(tidegate.SweepError, match=found) as failed:
        tidegate.sweep(incast, AXES, executor=Late(one=None))
    assert failed.value.workers == [platform.node()] * 2


def test_the_check_can_be_read_where_the_package_is_missing(incast):
    cloudpickle = pytest.importorskip("cloudpickle")
    call, task = _workers.call_on_worker(_sweep._run_one, tidegate.Scenario(incast), [], 1)
    script = (
        "import sys, pickle; sys.modules['tidegate'] = None\n"
        "probe, call, task = pickle.loads(sys.stdin.buffer.read())\n"
        "print(probe())\nworker, error = call(task)\nprint(worker, type(error).__name__, error)"
    )
    given = cloudpickle.dumps((_workers._probe(tidegate.__version__), call, task))
    said = subprocess.run([sys.executable, "-c", script], input=given, capture_output=True, check=True).stdout.decode()
    found, of_run = said.splitlines()
    assert found.startswith("the package tidegate cannot be imported: ")
    assert of_run == f"{platform.node()} RuntimeError {found}"


@pytest.fixture
def fake_ray(monkeypatch):
    """Ray whose tasks fail with the first of these errors, while there are any. Returns errors, options and kinds."""
    kinds = ("WorkerCrashedError", "OutOfMemoryError", "NodeDiedError", "ObjectLostError", "LocalRayletDiedError")
    exceptions = SimpleNamespace(**{kind: type(kind, (Exception,), {}) for kind in kinds})
    errors, options = [], []

    def future():
        done = Future()
        done.set_exception(errors.pop(0)) if errors else done.set_result("done")
        return done

    task = SimpleNamespace(remote=lambda *_: SimpleNamespace(future=future))
    ray = SimpleNamespace(remote=lambda **of: options.append(of) or (lambda _: task), exceptions=exceptions)
    monkeypatch.setitem(sys.modules, "ray", ray)
    return errors, options, exceptions


def test_ray_tries_a_run_four_times_unless_set_otherwise(fake_ray):
    errors, options, exceptions = fake_ray
    died = [exceptions.WorkerCrashedError(), exceptions.OutOfMemoryError(), exceptions.NodeDiedError()]
    errors[:] = died
    assert tidegate.RayExecutor(num_cpus=1).submit(len, []).result(5) == "done"
    for retries, attempts in [({}, 4), ({"max_retries": 1}, 2), ({"max_retries": 0}, 1)]:
        errors[:] = [exceptions.OutOfMemoryError(str(number)) for number in range(9)]
        with pytest.raises(exceptions.OutOfMemoryError, match=f"^{attempts - 1}$"):
            tidegate.RayExecutor(**retries).submit(len, []).result(5)
    # Ray itself must not repeat a task: for lack of memory it does so without end.
    assert {of["max_retries"] for of in options} == {0} and options[0]["num_cpus"] == 1


def test_ray_does_not_repeat_errors_of_a_run(fake_ray):
    errors, _, _ = fake_ray
    errors[:] = [ValueError("of the run")]
    with pytest.raises(ValueError, match="of the run"):
        tidegate.RayExecutor().submit(len, []).result(5)


@pytest.fixture
def killing(monkeypatch, tmp_path):
    """Runs with seed 2 end their process, as if killed for lack of memory."""
    code = (
        "import os\nfrom tidegate import _sweep\nrun = _sweep._run_one\n"
        "def call(source, changes, seed):\n    return os._exit(137) if seed == 2 else run(source, changes, seed)\n"
    )
    (tmp_path / "killing.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    import killing

    yield monkeypatch.setattr(_sweep, "_run_one", killing.call)
    del sys.modules["killing"]


def ends_with_the_run_that_kills(incast, executor, error, out):
    with pytest.raises(tidegate.SweepError, match=f"1 of 3 runs failed\nseed=2: {error}: "):
        tidegate.sweep(incast, seeds=[1, 2, 3], executor=executor, out=out)
    assert len(list((out / "runs").iterdir())) == 2


def test_a_pool_of_processes_names_the_runs_that_it_lost(incast, killing, tmp_path):
    with ProcessPoolExecutor(1) as pool, pytest.raises(tidegate.SweepError) as failed:
        tidegate.sweep(incast, seeds=[1, 2, 3], executor=pool, out=tmp_path / "out")
    # A pool without its process executes no further run, and its remaining runs have the same error.
    titles = [title for title, _ in failed.value.failures]
    assert titles[-2:] == ["seed=2", "seed=3"]
    assert all(isinstance(error, BrokenExecutor) for _, error in failed.value.failures)


def test_a_vanished_file_is_an_error_of_its_runs(incast, tmp_path):
    file = tmp_path / "scenario.toml"
    file.write_text(tidegate.Scenario(incast).text)

    class Deletes(ThreadPoolExecutor):
        def submit(self, fn, /, *args, **kwargs):
            file.unlink(missing_ok=True)
            return super().submit(fn, *args, **kwargs)

    with pytest.raises(tidegate.SweepError, match="2 of 2 runs failed\nseed=1: .*scenario.toml") as failed:
        tidegate.sweep(file, seeds=[1, 2], executor=Deletes(1), out=tmp_path / "out")
    assert [title for title, _ in failed.value.failures] == ["seed=1", "seed=2"]


def test_dask_names_the_run_that_kills_its_workers(incast, killing, tmp_path):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        ends_with_the_run_that_kills(incast, client, "KilledWorker", tmp_path / "out")


def test_ray_names_the_run_that_kills_its_workers(incast, killing, tmp_path):
    ray = pytest.importorskip("ray")
    environment = {"env_vars": {"PYTHONPATH": os.environ["PYTHONPATH"]}}
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, runtime_env=environment)
    try:
        ends_with_the_run_that_kills(incast, tidegate.RayExecutor(num_cpus=1), "WorkerCrashedError", tmp_path / "out")
    finally:
        ray.shutdown()


def test_ray_ends_a_run_that_needs_too_much_memory(incast, tmp_path, monkeypatch):
    ray = pytest.importorskip("ray")
    # Every task exceeds this share of the memory. Ray then kills its worker.
    monkeypatch.setenv("RAY_memory_usage_threshold", "0.001")
    monkeypatch.setenv("RAY_memory_monitor_refresh_ms", "100")
    monkeypatch.setattr(_sweep, "_run_one", lambda *_: time.sleep(20))
    monkeypatch.setattr(_workers, "check", lambda *_: None)
    monkeypatch.setattr(_workers, "call_on_worker", lambda function, *_: (function,))
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        executor = tidegate.RayExecutor(num_cpus=1, max_retries=1)
        with pytest.raises(tidegate.SweepError, match="1 of 1 runs failed\nseed=1: OutOfMemoryError: "):
            tidegate.sweep(incast, seeds=[1], executor=executor, out=tmp_path / "out")
    finally:
        ray.shutdown()


def test_ray_names_nodes_with_another_version_before_the_first_run(incast, monkeypatch):
    ray = pytest.importorskip("ray")
    monkeypatch.setattr(_workers._native, "__version__", "9.9.9")
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        found = r"^worker .*: the package tidegate is version .*, and 9\.9\.9 here"
        with pytest.raises(tidegate.TidegateError, match=found):
            tidegate.sweep(incast, AXES, executor=tidegate.RayExecutor(num_cpus=1))
    finally:
        ray.shutdown()


def test_a_cluster_without_workers_is_reported():
    with pytest.warns(UserWarning, match="no worker of the cluster answered.*, 60 s at most"):
        _workers.check(lambda probe: {}, 60)


class NeverRuns(ThreadPoolExecutor):
    """Executor of a client whose workers are lost: the first run completes, the others wait."""

    def __init__(self, client):
        super().__init__(1)
        self._client, self.calls = client, 0

    def submit(self, fn, /, *args, **kwargs):
        self.calls += 1
        return super().submit(fn, *args, **kwargs) if self.calls == 1 else Future()


NeverRuns.__module__ = "distributed.cfexecutor"


def test_runs_of_a_cluster_that_lost_its_workers_fail(incast, tmp_path, monkeypatch):
    monkeypatch.setattr(_workers, "INTERVAL_SECONDS", 0.01)
    client = Client(one=None)
    client.executor = NeverRuns(client)
    client.scheduler_info = lambda: {"workers": {}}
    with pytest.raises(tidegate.SweepError) as failed:
        tidegate.sweep(incast, seeds=[1, 2, 3], executor=client, out=tmp_path / "out", worker_timeout=0.05)
    lines = [f"seed={seed}: RuntimeError: the cluster had no worker for 0.05 s (worker_timeout)" for seed in (2, 3)]
    assert str(failed.value).splitlines() == ["2 of 3 runs failed", *lines]
    assert len(list((tmp_path / "out" / "runs").iterdir())) == 1


def test_runs_that_an_executor_cancels_are_named(incast, tmp_path):
    class Cancels(NeverRuns):
        def submit(self, fn, /, *args, **kwargs):
            future = super().submit(fn, *args, **kwargs)
            if self.calls > 1:
                future.cancel()
            return future

    Cancels.__module__ = "distributed.cfexecutor"
    client = Client(one=None)
    client.executor = Cancels(client)
    found = "1 of 2 runs failed\nseed=2: RuntimeError: the executor cancelled it"
    with pytest.raises(tidegate.SweepError, match=found):
        tidegate.sweep(incast, seeds=[1, 2], executor=client, out=tmp_path / "out")


class KilledWorker(Exception):
    """That of Dask, by name."""


def test_runs_that_shared_a_killed_worker_are_tried_alone(incast, tmp_path):
    class Kills(OfDask):
        def submit(self, fn, /, *args, **kwargs):
            self.calls += 1
            # The third run kills its worker; in the first round all runs are assigned to it.
            if self.calls <= 3 or self.calls == 6:
                future = Future()
                future.set_exception(KilledWorker("4 workers died"))
                return future
            return ThreadPoolExecutor.submit(self, fn, *args, **kwargs)

    Kills.__module__ = "distributed.cfexecutor"
    client = Client(one=None)
    client.executor = Kills(client)
    with pytest.raises(tidegate.SweepError, match="^1 of 3 runs failed\nseed=3: KilledWorker: 4 workers died$"):
        tidegate.sweep(incast, seeds=[1, 2, 3], executor=client, out=tmp_path / "out")
    assert client.executor.calls == 6 and len(list((tmp_path / "out" / "runs").iterdir())) == 2


def test_dask_ends_a_sweep_whose_last_worker_is_lost(incast, tmp_path):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        ThreadPoolExecutor(1) as stopper,
    ):

        def stop():
            while not list((tmp_path / "out" / "runs").glob("*")):
                time.sleep(0.01)
            cluster.scale(0)

        stopped = stopper.submit(stop)
        with pytest.raises(tidegate.SweepError, match="seed=99: RuntimeError: the cluster had no worker for 2 s"):
            tidegate.sweep(incast, seeds=range(100), executor=client, out=tmp_path / "out", worker_timeout=2)
        stopped.result(60)
