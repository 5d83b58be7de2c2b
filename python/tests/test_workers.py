"""Tests of worker checks before the first run: with test clients, and with Dask and Ray."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
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

    with pytest.raises(tidegate.SweepError, match=r"traffic.0.fan_in=8: RuntimeError: worker on .*: .* version 0.0.9"):
        tidegate.sweep(incast, AXES, executor=Late(one=None))


def test_the_check_can_be_read_where_the_package_is_missing(incast):
    cloudpickle = pytest.importorskip("cloudpickle")
    call, task = _workers.call_on_worker(_sweep._run_one, tidegate.Scenario(incast), [], 1)
    script = (
        "import sys, pickle; sys.modules['tidegate'] = None\n"
        "probe, call, task = pickle.loads(sys.stdin.buffer.read())\n"
        "print(probe())\ntry: call(task)\nexcept RuntimeError as error: print(error)"
    )
    given = cloudpickle.dumps((_workers._probe(tidegate.__version__), call, task))
    said = subprocess.run([sys.executable, "-c", script], input=given, capture_output=True, check=True).stdout.decode()
    found, of_run = said.splitlines()
    assert found.startswith("the package tidegate cannot be imported: ")
    assert of_run.startswith("worker on ") and of_run.endswith(found)


def test_ray_tries_a_run_four_times_unless_told_otherwise(monkeypatch):
    asked = []
    remote = SimpleNamespace(remote=lambda *_: SimpleNamespace(future=lambda: None))
    fake = SimpleNamespace(remote=lambda **options: asked.append(options) or (lambda _: remote))
    monkeypatch.setitem(sys.modules, "ray", fake)
    tidegate.RayExecutor(num_cpus=1).submit(len, [])
    tidegate.RayExecutor(max_retries=10).submit(len, [])
    assert asked == [{"max_retries": 3, "num_cpus": 1}, {"max_retries": 10}]


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


def test_a_cluster_without_workers_is_said():
    with pytest.warns(UserWarning, match="no worker of the cluster answered"):
        _workers.check(lambda probe: {})
