"""Tests of the environment: exact results, errors for bad input, and the Gymnasium interface."""

import _thread
import ast
import re
import subprocess
import sys
import threading
import time
import warnings

import pytest
import tidegate
from conftest import ROOT
from test_run import bytes_of

gymnasium = pytest.importorskip("gymnasium")
numpy = pytest.importorskip("numpy")

from tidegate.gym import FEATURES, Agent, RateEnv, default_reward  # noqa: E402


@pytest.fixture
def steered(incast) -> dict:
    """The incast, with marks and with flows that have agents."""
    marking = {"kind": "ecn", "k_min": "20KB", "k_max": "100KB", "p_max": 0.5}
    return {**incast, "host": {"transport": "external"}, "switch": {"buffer": "4MB", "marking": marking}}


def episode(env, seed, rate=None, actions_seed=5):
    """Returns all outputs of an episode with random rates, or with a constant rate."""
    random = numpy.random.default_rng(actions_seed)
    observation, info = env.reset(seed=seed)
    shown, over = [observation.tobytes()], False
    while not over:
        count = env.action_space.shape
        action = random.random(count, numpy.float32) if rate is None else numpy.full(count, rate, numpy.float32)
        observation, reward, terminated, truncated, info = env.step(action)
        shown.append((observation.tobytes(), reward, terminated, truncated, tuple(info.items())))
        over = terminated or truncated
    return shown


def test_gymnasium_finds_nothing_to_complain_of(steered):
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        check_env(RateEnv(steered), skip_render_check=True)
    # Throughput and round trips have no bound.
    assert all("infinity" in str(warning.message) for warning in said), [str(warning.message) for warning in said]


def test_the_same_seed_and_actions_give_the_same_bytes_on_any_number_of_threads(steered):
    envs = [RateEnv(steered, step="7301ns", record=True, threads=threads) for threads in (1, 1, 2, 3)]
    shown = [episode(env, seed=3) for env in envs]
    hashes = [env.result().results_hash for env in envs]
    assert shown.count(shown[0]) == 4 and hashes.count(hashes[0]) == 4
    # This environment again, and others.
    assert episode(envs[0], seed=3) == shown[0] and envs[0].result().results_hash == hashes[0]
    assert episode(envs[0], seed=4) != shown[0] and envs[0].result().results_hash != hashes[0]
    assert episode(envs[0], seed=3, actions_seed=6) != shown[0]
    assert envs[0].result().results_hash != hashes[0]


@pytest.mark.parametrize("step", [10, "7301ns", "5ms"])
def test_a_constant_rate_gives_the_bytes_of_the_scenario(steered, step, tmp_path):
    steered["host"]["transport"] = {"kind": "external", "initial_rate": "25Gbps"}
    of_scenario = tidegate.Scenario(steered).run(seed=2, out=tmp_path / "scenario")
    env = RateEnv(steered, step=step, record=True)
    episode(env, seed=2, rate=0.25)
    of_agents = env.result()
    assert of_agents.results_hash == of_scenario.results_hash
    assert bytes_of(of_agents.folder) == bytes_of(tmp_path / "scenario")
    # RoCE at that rate is equivalent, and so are agents that set it before the start.
    as_roce = {"host.transport": '{kind = "roce", rate = "25Gbps", ecn = true}'}
    roce = tidegate.Scenario(steered).run(seed=2, set=as_roce)
    env = RateEnv(steered, step=step, record=True, set={"host.transport.initial_rate": "line"})
    episode(env, seed=2, rate=0.25)
    late = env.result()
    # The files name another scenario, but the flows are equal.
    pyarrow = pytest.importorskip("pyarrow")
    flows = [pyarrow.table(result["flows"]).to_pylist() for result in (of_scenario, roce, late)]
    assert flows[0] and flows[1] == flows[0] and flows[2] == flows[0]


def test_agents_see_what_happens(steered):
    env = RateEnv(steered, step=5)
    assert env.agents[0] == Agent(0, env.agents[0].source, env.agents[7].destination) and len(env.agents) == 8
    column = {name: at for at, name in enumerate(FEATURES)}
    observation, info = env.reset(seed=1)
    assert info == {"seed": 1, "time_us": 0.0, "under_way": 0}
    assert (observation[:, column["rate"]] == 1).all() and observation.sum() == 8
    rows, rewards, over = [], [], False
    while not over:
        observation, reward, over, truncated, info = env.step(numpy.full(8, 0.25, numpy.float32))
        assert observation.dtype == numpy.float32 and not truncated
        rows.append(observation)
        rewards.append(reward)
        assert reward == default_reward(observation, info)
    seen = numpy.stack(rows)
    assert info["under_way"] == 0 and info["time_us"] == 5 * len(rows)
    # 100 KB per agent; the line carries 62.5 KB per step.
    assert seen[:, :, column["throughput"]].sum(axis=0) == pytest.approx([1.6] * 8)
    assert seen[:, :, column["sent"]].max() == pytest.approx(0.25, abs=1082 / 62_500)
    assert seen[:, :, column["marked"]].max() > 0 and seen[:, :, column["rtt"]].max() > 2
    assert set(seen[0, :, column["rate"]]) == {numpy.float32(0.25)}


def test_own_rewards_and_drawn_seeds(steered):
    env = RateEnv(steered, reward=lambda observation, info: info["time_us"])
    env.reset(seed=1)
    assert env.step(env.action_space.sample())[1] == 10.0
    drawn = [env.reset()[1]["seed"] for _ in range(2)]
    env.reset(seed=1)
    assert drawn == [env.reset()[1]["seed"] for _ in range(2)] and drawn[0] != drawn[1]
    options = {"set": {"traffic.0.size": "1KB"}}
    assert len(episode(env, seed=1)) > 5
    env.reset(seed=1, options=options)
    over = False
    while not over:
        _, _, over, _, info = env.step(numpy.ones(8, numpy.float32))
    assert info["time_us"] <= 20, "a kilobyte each"


def test_hosts_are_agents_where_flows_are_drawn(steered):
    steered["duration"] = "300us"
    steered["traffic"] = [{"kind": "poisson", "load": 0.3, "sizes": "web-search"}]
    with pytest.raises(tidegate.TidegateError, match=r"traffic\.0 are generated during the run: .* per sending host"):
        RateEnv(steered)
    shown = []
    for threads in (1, 2):
        env = RateEnv(steered, agents="host", step="50us", threads=threads)
        assert len(env.agents) == 16 and {agent.flow for agent in env.agents} == {None}
        shown.append(episode(env, seed=1))
    assert shown[0] == shown[1] and shown[0][-1][3], "it is truncated where the run ends"


def test_several_environments_side_by_side(steered):
    vector = gymnasium.vector.SyncVectorEnv([lambda: RateEnv(steered)] * 2)
    observations, _ = vector.reset(seed=[1, 2])
    alone = [RateEnv(steered) for _ in range(2)]
    for at, env in enumerate(alone):
        assert (env.reset(seed=at + 1)[0] == observations[at]).all()
    actions = numpy.full((2, 8), 0.5, numpy.float32)
    for _ in range(3):
        observations, rewards, *_ = vector.step(actions)
        results = [env.step(action) for env, action in zip(alone, actions)]
        assert all((one[0] == other).all() for one, other in zip(results, observations))
        assert [one[1] for one in results] == list(rewards)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (numpy.zeros(7), r"shape \(8,\), a share for each agent, not \(7,\)"),
        (numpy.zeros((8, 1)), r"not \(8, 1\)"),
        (0.5, r"not \(\)"),
        ("fast", "an action is an array of float32"),
        ([0.5] * 7 + [float("nan")], r"action\[7\] is nan: a share"),
        ([0.5, 1.5] + [0.5] * 6, r"action\[1\] is 1.5: .* from 0 to 1"),
        ([-0.1] * 8, r"action\[0\] is -0.1"),
    ],
)
def test_a_wrong_action_is_told_and_changes_nothing(steered, action, message):
    env = RateEnv(steered)
    env.reset(seed=1)
    with pytest.raises(ValueError, match=message):
        env.step(action)
    assert env.step(numpy.ones(8, numpy.float32))[4]["time_us"] == 10


def test_bad_input_is_told(steered, incast):
    with pytest.raises(tidegate.TidegateError, match='external rate: write transport = "external"'):
        RateEnv(incast)
    with pytest.raises(ValueError, match='agents is "flow" or "host", not "flows"'):
        RateEnv(steered, agents="flows")
    for step in ("0us", 0, "soon", float("nan"), -1):
        with pytest.raises(ValueError, match="step = "):
            RateEnv(steered, step=step)
    steered["fabric"]["kk"] = 4
    with pytest.raises(tidegate.ScenarioError, match=re.escape('scenario["fabric"]["kk"]')):
        RateEnv(steered)
    del steered["fabric"]["kk"]
    env, action = RateEnv(steered), numpy.ones(8, numpy.float32)
    for call in (lambda: env.step(action), env.result):
        with pytest.raises(gymnasium.error.ResetNeeded, match="there is no episode: call reset"):
            call()
    with pytest.raises(ValueError, match="no option 'sett'"):
        env.reset(options={"sett": {}})
    with pytest.raises(tidegate.TidegateError, match="4 agents, and its spaces are for 8"):
        env.reset(options={"set": {"traffic.0.fan_in": 4}})
    episode(env, seed=1)
    with pytest.raises(gymnasium.error.ResetNeeded, match="the episode is over: call reset"):
        env.step(action)
    env.close()
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.result()


LONG = {"duration": "10s", "traffic": [{"kind": "incast", "fan_in": 8, "size": "1GB"}]}


def test_interrupt_ends_a_step(steered, interruptible):
    env = RateEnv({**steered, **LONG}, step="10s")
    env.reset(seed=1)
    threading.Timer(0.5, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        env.step(numpy.ones(8, numpy.float32))
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(numpy.ones(8, numpy.float32))


def test_other_threads_go_on_while_a_step_is_under_way(steered, interruptible):
    env = RateEnv({**steered, **LONG}, step="10s")
    env.reset(seed=1)
    turns, begins = [], threading.Event()

    def count_and_interrupt():
        begins.wait()
        while len(turns) < 200:
            time.sleep(0.001)
            turns.append(0)
        _thread.interrupt_main()

    threading.Thread(target=count_and_interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        begins.set()
        env.step(numpy.ones(8, numpy.float32))
    assert len(turns) == 200


def test_the_example_finds_a_better_rule():
    command = [sys.executable, ROOT / "examples" / "python" / "gym_incast.py"]
    said = [subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert said[0] == said[1]
    rows = {line[:14].strip(): line[14:].split() for line in said[0].splitlines()[1:5]}
    earned = {name: float(row[0]) for name, row in rows.items() if name != "DCQCN"}
    assert earned["AIMD found"] > earned["AIMD by hand"] > earned["line rate"], said[0]
    assert said[0] in (ROOT / "docs" / "guide" / "python.md").read_text(), said[0]


def test_the_types_name_what_there_is():
    stub = ast.parse((ROOT / "python" / "tidegate" / "_native.pyi").read_text())
    declared = {node.name for node in stub.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    there = {name for name in vars(tidegate._native) if not name.startswith("_")}
    assert declared == there
    for node in stub.body:
        if isinstance(node, ast.ClassDef):
            methods = {inner.name for inner in node.body if isinstance(inner, ast.FunctionDef)}
            there = {name for name in vars(getattr(tidegate._native, node.name)) if not name.startswith("_")}
            assert {name for name in methods if not name.startswith("_")} == there, node.name
