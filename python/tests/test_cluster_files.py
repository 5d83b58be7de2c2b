"""Tests of the cluster files without a cluster: their parts run concurrently."""

import os
import signal
import subprocess
import time

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


def complete_runs(out):
    """Returns the names of complete runs; those of others contain a dot."""
    return {path.name for path in (out / "runs").glob("*") if "." not in path.name}


def stopped_part(swept, command, tmp_path, restarts, signal_number):
    """Starts the only part of a long sweep, and sends the signal after its first run. Returns exit code, arguments of
    scontrol, and errors."""
    (swept / "long.toml").write_text('scenario = "scenario.toml"\nseeds = "1..2000"\n')
    tools = tmp_path / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "scontrol").write_text(f'#!/bin/sh\necho "$@" > {tools}/asked\n')
    (tools / "scontrol").chmod(0o755)
    env = {"TIDEGATE": command.path, "PATH": f"{tools}:{os.environ['PATH']}", "SLURM_RESTART_COUNT": str(restarts)}
    env |= {"SLURM_ARRAY_TASK_ID": "1", "SLURM_JOB_ID": "17"}
    arguments = [ROOT / "examples" / "sweep" / "slurm.sh", swept / "long.toml", swept / "long", "1"]
    before = complete_runs(swept / "long")
    part = subprocess.Popen(arguments, env={**os.environ, **env}, stderr=subprocess.PIPE, text=True)
    while complete_runs(swept / "long") == before:
        assert part.poll() is None
        time.sleep(0.01)
    part.send_signal(signal_number)
    errors = part.communicate(timeout=60)[1]
    asked = (tools / "asked").read_text() if (tools / "asked").exists() else ""
    return part.returncode, asked, errors


def test_a_slurm_task_at_its_time_limit_is_queued_again_and_continues(command, swept, tmp_path):
    code, asked, _ = stopped_part(swept, command, tmp_path, 0, signal.SIGUSR1)
    assert (code, asked) == (0, "requeue 17\n")
    complete = complete_runs(swept / "long")
    assert 0 < len(complete) < 2000
    again, _, _ = stopped_part(swept, command, tmp_path, 1, signal.SIGUSR1)
    assert again == 0 and complete < complete_runs(swept / "long")


def test_a_slurm_task_is_queued_again_ten_times_at_most(command, swept, tmp_path):
    code, asked, errors = stopped_part(swept, command, tmp_path, 10, signal.SIGUSR1)
    assert (code, asked) == (130, "") and "part 1/1 reached its time limit 10 times" in errors


def test_a_slurm_task_that_is_ended_is_not_queued_again(command, swept, tmp_path):
    code, asked, _ = stopped_part(swept, command, tmp_path, 0, signal.SIGTERM)
    assert (code, asked) == (130, "")


def test_pods_of_the_kubernetes_job_make_the_table_of_one_machine(command, swept):
    yaml = pytest.importorskip("yaml")
    job = yaml.safe_load((ROOT / "examples" / "sweep" / "kubernetes.yaml").read_text())
    spec, container = job["spec"], job["spec"]["template"]["spec"]["containers"][0]
    parts = {entry["name"]: entry["value"] for entry in container["env"]}
    assert (spec["completionMode"], str(spec["completions"])) == ("Indexed", parts["PARTS"])
    line = container["args"][0].replace("/sweep/", f"{swept}/").replace("\ntidegate ", f"\n{command.path} ")
    env = [{**parts, "JOB_COMPLETION_INDEX": str(at)} for at in range(spec["completions"])]
    side_by_side([([*container["command"], line], env) for env in env], command, swept)
