#!/usr/bin/env python3
"""Prints the table of docs/validation.md beside HPCC's simulator: percentiles of the slowdown there and here.

`*.fct` is the output of the released simulator at 9f4be2a on these files. Both divide a flow's time by the time that the
simulator itself states for the flow alone. Flows take the paths that ECMP gives them there. Seeds draw marks and the paths
of acknowledgements; on the star, where most controls draw nothing, starts are up to 1 us later.
"""

import argparse
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
from collections import Counter

PEERS = pathlib.Path(__file__).resolve().parent
PERCENTILES = (50, 95, 99)
# Folder, flows, control.
CASES = [("star", flows, control) for flows in ("incast", "join") for control in ("dcqcn", "hpcc", "timely", "dctcp")]
CASES += [("k8", "permutation", "hpcc"), ("k8", "web-search", "hpcc"), ("k8", "web-search", "dcqcn")]
# Frames there have no preamble and gap: 20 bytes less of header. TIMELY has a time stamp of 8 bytes.
HEADER = {"timely": "36B"}


def delayed(flow_file, seed):
    """The flow file with every start up to 1 us later; its times have nine digits."""
    draw = random.Random(seed)
    lines = flow_file.read_text(encoding="ascii").splitlines()
    moved = []
    for line in lines[1:]:
        *columns, start = line.split()
        seconds, nanoseconds = start.split(".")
        moved.append(" ".join([*columns, f"{seconds}.{int(nanoseconds) + draw.randrange(1000):09}"]))
    return "\n".join([lines[0], *moved]) + "\n"


def slowdowns(fct_file):
    """The slowdown of every flow, by source, destination and number of the flow between them in the order of starts."""
    rows = [line.split() for line in fct_file.read_text(encoding="ascii").splitlines()]
    found, numbers = {}, Counter()
    for row in sorted(rows, key=lambda row: int(row[5])):
        pair = tuple(row[:2])
        found[*pair, numbers[pair]] = int(row[6]) / int(row[7])
        numbers[pair] += 1
    return found


def simulated(options, folder, flows_name, control, seed, scratch):
    """The slowdown of every flow of one run here."""
    flows = PEERS / folder / f"{flows_name}.flow"
    if folder == "star" and not options.starts_of_file:
        flows = scratch / "flows"
        flows.write_text(delayed(PEERS / folder / f"{flows_name}.flow", seed), encoding="ascii")
    scenario, result = scratch / "scenario.toml", scratch / f"result-{seed}"
    scenario.unlink(missing_ok=True)
    imported = [options.tidegate, "import", "hpcc", PEERS / folder / f"{flows_name}.{control}.config"]
    imported += ["--flows", flows, "--out", scenario] + ["--paths"] * (not options.own_paths)
    subprocess.run(imported, check=True, capture_output=True)
    settings = [f"host.transport.header={HEADER.get(control, '28B')}", f"routing.hash_seed={seed}", *options.set]
    run = [options.tidegate, "run", scenario, "--out", result, "--quiet", "--seed", str(seed)]
    subprocess.run(run + [word for setting in settings for word in ("--set", setting)], check=True)
    return slowdowns(result / "fct.txt")


def percentile(values, percent):
    """By nearest rank."""
    return sorted(values)[-(-percent * len(values) // 100) - 1]


def rank_correlation(one, other):
    """Spearman's, over the same flows; ties keep their order."""
    def ranks(values):
        return {flow: rank for rank, flow in enumerate(sorted(values, key=values.get))}
    a, b, count = ranks(one), ranks(other), len(one)
    return 1 - 6 * sum((a[flow] - b[flow]) ** 2 for flow in a) / (count * (count * count - 1))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("tidegate", nargs="?", default=PEERS.parents[1] / "target/release/tidegate", help="the program")
    parser.add_argument("--seeds", type=int, default=20, help="how many runs of each case (20)")
    parser.add_argument("--case", default="", help="only cases whose name contains this, such as `star: incast | dctcp`")
    parser.add_argument("--starts-of-file", action="store_true", help="on the star too, no start is moved")
    parser.add_argument("--own-paths", action="store_true", help="paths by the hash of Tidegate, not by that of there")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change the imported scenarios")
    return parser.parse_args()


def main():
    options = arguments()
    print("| flows | control | slowdown p50, p95, p99 there | here, median (least to most) | difference, % | correlation |")
    print("|---|---|---|---|---|---|")
    for folder, flows_name, control in CASES:
        name = f"{folder}: {flows_name.replace('-', ' ')} | {control}"
        if options.case not in name:
            continue
        there = slowdowns(PEERS / folder / f"{flows_name}.{control}.fct")
        with tempfile.TemporaryDirectory() as scratch:
            seeds = range(1, options.seeds + 1)
            runs = [simulated(options, folder, flows_name, control, seed, pathlib.Path(scratch)) for seed in seeds]
        if any(run.keys() != there.keys() for run in runs):
            sys.exit(f"{name}: the flows that completed are not those of there")
        here, difference, theirs = [], [], []
        for percent in PERCENTILES:
            draws = [percentile(run.values(), percent) for run in runs]
            median, of_there = statistics.median(draws), percentile(there.values(), percent)
            theirs.append(f"{of_there:.2f}")
            here.append(f"{median:.2f} ({min(draws):.2f} to {max(draws):.2f})")
            difference.append(f"{100 * (median / of_there - 1):+.1f}")
        # Of few flows it says nothing.
        correlation = statistics.median(rank_correlation(run, there) for run in runs)
        shown = f"{correlation:.2f}" if len(there) > 100 else "-"
        print(f"| {name} | {', '.join(theirs)} | {', '.join(here)} | {', '.join(difference)} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
