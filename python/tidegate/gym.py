"""Gymnasium environment for a run: agents set rates, step by step.

    import tidegate.gym
    env = tidegate.gym.RateEnv("incast.toml", step="10us")
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

Requires the package ``gymnasium`` (``pip install tidegate[gym]``), which the rest of Tidegate does not need.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy

from . import _native
from ._errors import TidegateError
from ._result import Result
from ._scenario import Scenario, pairs_of, text_of

#: Features that an agent observes, in the order of the columns of an observation:
#:
#: - ``under_way``: number of its flows in progress after the step
#: - ``rate``: pacing rate of each flow, as a fraction of the line rate
#: - ``sent``: bytes sent, as a fraction of the line's capacity in a step, with preambles and gaps; less than ``rate``
#:   if limited by pauses or other flows of the host
#: - ``throughput``: payload acknowledged for the first time, as a fraction of that capacity
#: - ``marked``: fraction of that payload acknowledged with a congestion mark
#: - ``rtt``: mean round trip of its acknowledgements, relative to an idle path; 0 without acknowledgements
#: - ``rtt_min``: minimum of these round trips, in the unit of ``rtt``
#: - ``losses``: number of loss notifications and timeouts
FEATURES: tuple[str, ...] = tuple(_native.Episode.features())


class Agent(NamedTuple):
    """Agent: a flow and the hosts at its ends; with ``agents="host"`` a host and all flows that it sends."""

    flow: int | None
    source: str
    destination: str | None


class RateEnv(gymnasium.Env):
    """Run of a scenario as an environment: an action sets the rates of its flows, and a step lasts ``step``.

    Flows with ``transport = "external"`` have agents, one per flow or, with ``agents="host"``, one for all flows that
    a host sends. An action is a float32 from 0 to 1 for each agent: its pacing rate from now on as a fraction of the
    line rate, limited by ``rate`` and ``min_rate`` of the transport. An observation has a row for each agent and a
    column for each of :data:`FEATURES`, all about the last step.

    An episode terminates when the flows of all agents are complete, and is truncated at the end of the scenario's
    ``duration``. Results depend only on seed and actions, for any number of threads.

    ``step`` is a time in scenario syntax, or a number of microseconds. ``reward`` is called with the observation and
    the ``info`` of a step and returns its reward; the default is :func:`default_reward`. With ``record``,
    :meth:`result` has files and tables, like :meth:`tidegate.Scenario.run`. ``set`` overrides values of the scenario.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        scenario: Scenario | Mapping | str | os.PathLike,
        *,
        step: str | float = "10us",
        agents: str = "flow",
        threads: int = 1,
        reward: Callable[[numpy.ndarray, dict[str, Any]], float] | None = None,
        record: bool = False,
        set: Mapping[str, object] | Iterable[tuple[str, object]] = (),
    ):
        self._scenario = scenario if isinstance(scenario, Scenario) else Scenario(scenario)
        self._set = list(pairs_of(set))
        self._step_text = step if isinstance(step, str) else f"{step}us"
        self._steers, self._threads, self._record = agents, threads, record
        self._reward = default_reward if reward is None else reward
        self._temporary: tempfile.TemporaryDirectory | None = None
        self._over = True
        # The number of agents determines the spaces, so the scenario is read once here.
        episode = self._begin(None, (), None)
        #: The agents, in the order of actions and rows of observations.
        self.agents = [Agent(*agent) for agent in episode.agents]
        self._episode: _native.Episode | None = None
        count = len(self.agents)
        self.action_space = gymnasium.spaces.Box(0.0, 1.0, (count,), numpy.float32)
        self.observation_space = gymnasium.spaces.Box(0.0, numpy.inf, (count, len(FEATURES)), numpy.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[numpy.ndarray, dict[str, Any]]:
        """Starts an episode: a run with ``seed``, like :meth:`tidegate.Scenario.run`.

        Without ``seed`` a random one is used, reported in ``info["seed"]``; ``reset(seed=...)`` restarts this sequence
        of seeds. ``options={"set": {...}}`` overrides values of the scenario for this episode.
        """
        super().reset(seed=seed)
        options = dict(options or {})
        changes = options.pop("set", ())
        if options:
            raise ValueError(f"reset() knows no option {', '.join(map(repr, options))}: there is 'set'")
        drawn = int(self.np_random.integers(2**62)) if seed is None else seed
        self.close()
        out = None
        if self._record:
            self._temporary = tempfile.TemporaryDirectory(prefix="tidegate-")
            out = Path(self._temporary.name) / "result"
        episode = self._begin(drawn, changes, out)
        if len(episode.agents) != len(self.agents):
            raise TidegateError(
                f"this episode has {len(episode.agents)} agents, and its spaces are for {len(self.agents)}: keep the "
                'number of flows, or write agents="host"'
            )
        self.agents = [Agent(*agent) for agent in episode.agents]
        self._episode, self._over = episode, False
        observation, _, _, info = self._told(*episode.look())
        return observation, info

    def step(self, action: Any) -> tuple[numpy.ndarray, float, bool, bool, dict[str, Any]]:
        """Sets the rates and runs for one step."""
        if self._episode is None:
            raise gymnasium.error.ResetNeeded("there is no episode: call reset() before step()")
        if self._over:
            raise gymnasium.error.ResetNeeded("the episode is over: call reset() before the next step()")
        shares = self._shares(action)
        try:
            observation, terminated, truncated, info = self._told(*self._episode.step(shares.tobytes()))
        except BaseException:
            # Interrupted in the middle of a step: the run cannot continue.
            self._episode = None
            raise
        self._over = terminated or truncated
        return observation, float(self._reward(observation, info)), terminated, truncated, info

    def result(self) -> Result:
        """Returns the result of the whole run, whose rest is simulated with unchanged rates.

        With ``record`` it has tables, and files in its ``folder``. :meth:`reset` is required before the next step.
        """
        if self._episode is None:
            raise gymnasium.error.ResetNeeded("there is no episode: call reset() before result()")
        episode, self._episode, self._over = self._episode, None, True
        summary = json.loads(episode.finish())
        temporary, self._temporary = self._temporary, None
        if temporary is None:
            temporary = tempfile.TemporaryDirectory(prefix="tidegate-")
        return Result(summary, Path(temporary.name) / "result", temporary)

    def close(self) -> None:
        """Ends the episode and removes its files."""
        self._episode, self._over = None, True
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None

    def _begin(self, seed: int | None, changes: Any, out: Path | None) -> _native.Episode:
        changed = [(key, text_of(value, key)) for key, value in [*self._set, *pairs_of(changes)]]
        return self._scenario._called(
            lambda: _native.Episode(
                self._scenario._source(), changed, seed, self._threads, (self._steers, self._step_text), out
            )
        )

    def _shares(self, action: Any) -> numpy.ndarray:
        """Returns the action as float32, or raises an error that describes the fault."""
        try:
            shares = numpy.asarray(action, dtype=numpy.float32)
        except (TypeError, ValueError) as error:
            raise ValueError(f"an action is an array of float32: {error}") from None
        expected = self.action_space.shape
        if shares.shape != expected:
            raise ValueError(f"an action has the shape {expected}, a share for each agent, not {shares.shape}")
        wrong = numpy.flatnonzero(~((shares >= 0) & (shares <= 1)))
        if len(wrong):
            at = int(wrong[0])
            raise ValueError(f"action[{at}] is {shares[at]}: a share of the line's rate is from 0 to 1")
        return shares

    def _told(
        self, features: bytearray, done: bool, over: bool, now_ps: int, under_way: int
    ) -> tuple[numpy.ndarray, bool, bool, dict[str, Any]]:
        observation = numpy.frombuffer(features, numpy.float32).reshape(len(self.agents), len(FEATURES))
        info = {"seed": self._episode.seed, "time_us": now_ps / 1e6, "under_way": under_way}
        return observation, done, over and not done, info


def default_reward(observation: numpy.ndarray, info: dict[str, Any]) -> float:
    """Reward for throughput with penalties for queueing delay and losses.

    It is the sum of ``throughput`` (1 for one full link), minus 0.1 times the mean of ``rtt - 1`` over the agents with
    acknowledgements, minus 0.01 for each loss.
    """
    rtt = observation[:, FEATURES.index("rtt")].astype(float)
    heard = rtt > 0
    late = float(numpy.maximum(rtt[heard] - 1, 0).mean()) if heard.any() else 0.0
    sums = observation.sum(axis=0, dtype=float)
    return float(sums[FEATURES.index("throughput")] - 0.1 * late - 0.01 * sums[FEATURES.index("losses")])
