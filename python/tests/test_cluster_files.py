"""Tests of the cluster files without a cluster: their parts run concurrently."""

import os
import subprocess

import pytest
import tidegate
from conftest import ROOT

VARY = "[vary]\ntraffic.0.fan_in = [2, 4, 8]\n"


@pytest.fixture
def swept(incast, command, tmp_path):
    """Returns a folder with `sweep.toml`, and in `whole` the result of one machine."""
    (tmp_path / "scenario.toml").write_text(tidegate.Scenario(incast).text)
    (tmp_path / "sweep.toml").write_text(f'scenario = "scenario.toml"\nseeds = "1..3"\n{VARY}')
    command("sweep", tmp_path / "sweep.toml", "--quiet", "--out", tmp_path / "whole")
    return tmp_path


def side_by_side(parts, command, swept):
    """Starts all parts concurrently, then the final step of the files; the table must equal that of one machine."""
    started = [subprocess.Popen(arguments, env={**os.environ, **env}) for arguments, env in parts]
    assert [part.wait(120) for part in started] == [0] * len(parts)
    assert len(list((swept / "out" / "runs").iterdir())) == 9
    command("sweep", swept / "sweep.toml", "--quiet", "--resume", "--out", swept / "out")
    assert (swept / "out" / "sweep.parquet").read_bytes() == (swept / "whole" / "sweep.parquet").read_bytes()


def test_parts_of_the_slurm_array_make_the_table_of_one_machine(command, swept):
    script = ROOT / "examples" / "sweep" / "slurm.sh"
    arguments = [script, swept / "sweep.toml", swept / "out"]
    # Tasks submitted one by one, like `sbatch --array=3`.
    env = {"TIDEGATE": command.path, "SLURM_ARRAY_TASK_COUNT": "1"}
    side_by_side([(arguments, {**env, "SLURM_ARRAY_TASK_ID": str(at)}) for at in range(1, 5)], command, swept)


def test_pods_of_the_kubernetes_job_make_the_table_of_one_machine(command, swept):
    yaml = pytest.importorskip("yaml")
    job = yaml.safe_load((ROOT / "examples" / "sweep" / "kubernetes.yaml").read_text())
    spec, container = job["spec"], job["spec"]["template"]["spec"]["containers"][0]
    parts = {entry["name"]: entry["value"] for entry in container["env"]}
    assert (spec["completionMode"], str(spec["completions"])) == ("Indexed", parts["PARTS"])
    line = container["args"][0].replace("/sweep/", f"{swept}/").replace("\ntidegate ", f"\n{command.path} ")
    env = [{**parts, "JOB_COMPLETION_INDEX": str(at)} for at in range(spec["completions"])]
    side_by_side([([*container["command"], line], env) for env in env], command, swept)
