#!/usr/bin/env python3
"""Runs every scenario of the repository on one thread and on two in turn: results must be equal, and two not slower.

    benches/threads.py [--tidegate BINARY] [--pairs N] [--seconds S] [--limit PERCENT] [--worst N] [SCENARIO...]

A scenario's time is the least of N runs on each number of threads, as other work on the machine only adds to it. One
that looks slower by more than the limit, and by more than 5 ms, gets up to three more rounds of pairs before it counts.
Scenarios that take longer than S seconds on one thread are named and left out. Prints the worst; fails if one is slower
or if results differ. For figures the machine should be idle.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Differences below this are those of starting a program.
LEAST_DIFFERENCE_S = 0.005
ROUNDS_IF_SLOWER = 3


class Run:
    """One scenario: its times on one thread and on two, its results, and how much two threads shared."""

    def __init__(self, tidegate, scenario, out):
        self.tidegate, self.scenario, self.out = tidegate, scenario, out
        self.wall, self.cpu, self.hashes = {1: [], 2: []}, {1: [], 2: []}, set()
        self.shared = 0.0

    def once(self, threads, timeout=None):
        """Runs it; False if it is no scenario, None if it takes too long."""
        folder = self.out / f"run-{threads}"
        command = [self.tidegate, "run", self.scenario, "--quiet", "--threads", str(threads), "--out", folder]
        before, start = os.times(), time.perf_counter()
        try:
            nothing = subprocess.DEVNULL
            done = subprocess.run(command, cwd=ROOT, stdout=nothing, stderr=nothing, timeout=timeout)
        except subprocess.TimeoutExpired:
            return None
        wall, after = time.perf_counter() - start, os.times()
        # A check that failed is a result as well.
        if done.returncode not in (0, 1) or not (folder / "summary.json").exists():
            return False
        self.wall[threads].append(wall)
        self.cpu[threads].append(
            after.children_user + after.children_system - before.children_user - before.children_system
        )
        self.hashes.add(json.loads((folder / "summary.json").read_text())["results_hash"])
        self.shared = max(self.shared, json.loads((folder / "timing.json").read_text())["shared_work"])
        subprocess.run(["rm", "-rf", folder], check=True)
        return True

    def pairs(self, count):
        """Runs it so often on each number of threads, alternately."""
        for pair in range(count):
            for threads in ((1, 2), (2, 1))[pair % 2]:
                self.once(threads)

    def ratio(self):
        """The time on two threads over that on one."""
        return min(self.wall[2]) / min(self.wall[1])

    def is_longer(self):
        """Whether two threads take longer by more than chance may account for."""
        return min(self.wall[2]) - min(self.wall[1]) > LEAST_DIFFERENCE_S

    def is_slower(self, limit_percent):
        """Whether two threads are slower by more than the limit."""
        return self.ratio() > 1 + limit_percent / 100 and self.is_longer()


def main():
    """Everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tidegate", default=str(ROOT / "target/distribution/tidegate"))
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--limit", type=float, default=10.0)
    parser.add_argument("--worst", type=int, default=15)
    parser.add_argument("scenarios", nargs="*")
    options = parser.parse_args()
    files = [path for folder in ("examples", "experiments", "benches") for path in (ROOT / folder).rglob("*.toml")]
    scenarios = options.scenarios or sorted(str(path.relative_to(ROOT)) for path in files)
    runs, long, others = [], [], []
    with tempfile.TemporaryDirectory() as out:
        for scenario in scenarios:
            run = Run(options.tidegate, scenario, Path(out))
            first = run.once(1, options.seconds)
            if not first:
                (long if first is None else others).append(scenario)
                continue
            run.pairs(options.pairs)
            for _ in range(ROUNDS_IF_SLOWER):
                if run.is_slower(options.limit):
                    run.pairs(options.pairs)
            runs.append(run)
    runs.sort(key=lambda run: (run.is_longer(), run.ratio()), reverse=True)
    print(f"{len(runs)} scenarios; least wall seconds of at least {options.pairs} runs each")
    print(f"{'one':>8} {'two':>8} {'two/one':>8} {'cpu/cpu':>8} {'shared':>7}  scenario")
    for run in runs[: options.worst]:
        # The system counts in hundredths of a second.
        cpu = max(min(run.cpu[2]), 0.01) / max(min(run.cpu[1]), 0.01)
        print(
            f"{min(run.wall[1]):8.3f} {min(run.wall[2]):8.3f} {run.ratio():8.2f} {cpu:8.2f} {100 * run.shared:5.0f} %"
            f"  {run.scenario}"
        )
    if long:
        print(f"longer than {options.seconds} s: {' '.join(long)}")
    if others:
        print(f"no scenarios: {' '.join(others)}")
    failures = [f"{run.scenario}: results differ" for run in runs if len(run.hashes) > 1]
    failures += [f"{run.scenario}: slower on two threads" for run in runs if run.is_slower(options.limit)]
    print("\n".join(failures) if failures else "equal results, and none slower on two threads")
    sys.exit(1 if failures or not runs else 0)


if __name__ == "__main__":
    main()
