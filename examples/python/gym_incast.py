"""Rate rules against DCQCN in an incast, and a search that improves one: python3 gym_incast.py [SEED]

Sixteen hosts send 500 KB each to one, under PFC and ECN. A rule sees what each flow saw in the last 10 us, and sets its
rate for the next. Needs the packages tidegate, gymnasium and numpy.
"""
import sys

import numpy
import tidegate
from tidegate.gym import FEATURES, RateEnv, default_reward

RATE, MARKED = FEATURES.index("rate"), FEATURES.index("marked")
SCENARIO = {
    "name": "16 to 1",
    "duration": "4ms",
    "until": "flows done",
    "fabric": {"kind": "single-switch", "hosts": 17, "link": {"rate": "100Gbps", "delay": "1us"}},
    "switch": {
        "buffer": "4MB",
        "flow_control": {"kind": "pfc", "priorities": [3]},
        "marking": {"kind": "ecn", "k_min": "50KB", "k_max": "200KB", "p_max": 0.2},
    },
    "host": {"transport": "external", "reply_class": 6},
    "traffic": [{"kind": "incast", "receiver": "H1", "fan_in": 16, "size": "500KB", "class": 3}],
}


def reward(observation, info):
    """A step in which the receiver's link is idle costs 1: to end late is worse than to wait."""
    return default_reward(observation, info) - 1


def aimd(first, step, cut):
    """Starts at `first`; each 10 us rises by `step`, or falls by `cut` times the share of marks."""

    def rule(observation):
        if observation is None:
            return first
        rate, marked = observation[:, RATE], observation[:, MARKED]
        return numpy.where(marked > 0, rate * (1 - cut * marked), rate + step)

    return rule


def run(env, rule, seed):
    """One episode: what it earned, and its result."""
    observation, _ = env.reset(seed=seed)
    action = numpy.full(env.action_space.shape, rule(None), numpy.float32)
    earned, over = 0.0, False
    while not over:
        observation, got, terminated, truncated, _ = env.step(action)
        action = numpy.clip(rule(observation), 0, 1, dtype=numpy.float32)
        earned, over = earned + got, terminated or truncated
    return earned, env.result()


def search(env, start, seed, rounds=60):
    """Climbs: changes all parameters a little, and keeps what earns more."""
    random = numpy.random.default_rng(seed)
    best, spread = numpy.array(start), 0.5
    most, _ = run(env, aimd(*best), seed)
    for _ in range(rounds):
        tried = numpy.clip(best * numpy.exp(spread * random.standard_normal(len(best))), 1e-4, 1)
        earned, _ = run(env, aimd(*tried), seed)
        # A fifth of all tries shall be better (Rechenberg's rule).
        better = earned > most
        spread *= 1.2 if better else 0.95
        if better:
            best, most = tried, earned
    return best


def main(seed):
    env = RateEnv(SCENARIO, step="10us", reward=reward)
    start = (0.25, 0.01, 0.5)
    found = search(env, start, seed)
    first, step, cut = found
    rows = [
        ("line rate", *run(env, lambda observation: numpy.ones(16), seed)),
        ("AIMD by hand", *run(env, aimd(*start), seed)),
        ("AIMD found", *run(env, aimd(*found), seed)),
        ("DCQCN", None, tidegate.Scenario(SCENARIO).run(seed=seed, set={"host.transport": "dcqcn"})),
    ]
    print(f"{'':14}{'earned':>8}{'mean FCT':>11}{'last FCT':>11}{'longest queue':>15}{'pauses':>8}")
    for name, earned, result in rows:
        fct, queue = result.summary["flows"]["fct_ns"], result.summary["links"]["longest_queues"][0]
        shown = "" if earned is None else f"{earned:.2f}"
        print(
            f"{name:14}{shown:>8}{fct['mean'] / 1e3:>8.1f} us{fct['max'] / 1e3:>8.1f} us"
            f"{queue['max_queue_bytes'] / 1e3:>12.1f} KB{result.summary['pauses']['count']:>8}"
        )
    print(f"found: starts at {first:.4f} of the line, rises by {step:.4f}, falls by {cut:.4f} of the marks")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
