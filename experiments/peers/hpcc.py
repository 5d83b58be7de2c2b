#!/usr/bin/env python3
"""The table beside HPCC's simulator, as in docs/validation.md: percentiles of the slowdown there and here.

    python3 experiments/peers/hpcc.py [TIDEGATE]

TIDEGATE is the program, by default target/release/tidegate. `THERE` was measured once, with the released simulator at 9f4be2a
on these flow files. Both divide a flow's time by the time that the simulator itself states for the flow alone. Flows take
the paths that ECMP gives them there. Five runs stand here: with five seeds (marks, paths of acknowledgements), and on the
star, where most controls draw nothing, with starts up to 1 us later.
"""

import pathlib
import random
import subprocess
import sys
import tempfile

PEERS = pathlib.Path(__file__).resolve().parent
SEEDS = range(1, 6)
PERCENTILES = (50, 95, 99)
# Frames there have no preamble and gap: 20 bytes less of header. TIMELY has a time stamp of 8 bytes.
HEADER = {"timely": "36B"}
# Folder, flow file, control, and the slowdown there: p50, p95, p99.
THERE = [
    ("star", "incast.flow", "dcqcn", (18.06, 19.40, 19.40)),
    ("star", "incast.flow", "hpcc", (16.64, 17.45, 17.45)),
    ("star", "incast.flow", "timely", (17.78, 17.88, 17.88)),
    ("star", "incast.flow", "dctcp", (14.47, 15.70, 15.70)),
    ("star", "join.flow", "dcqcn", (2.74, 3.57, 3.57)),
    ("star", "join.flow", "hpcc", (2.33, 2.86, 2.86)),
    ("star", "join.flow", "timely", (2.68, 2.92, 2.92)),
    ("star", "join.flow", "dctcp", (2.36, 2.73, 2.73)),
    ("k8", "permutation.flow", "hpcc-permutation", (2.39, 5.07, 5.53)),
    ("k8", "web-search.flow", "hpcc-web-search", (1.41, 3.80, 5.34)),
    ("k8", "web-search.flow", "dcqcn-web-search", (1.58, 5.33, 7.90)),
]


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


def slowdowns(tidegate, folder, flow_name, control, seed, scratch):
    """The slowdown of every flow, in ascending order."""
    flows = PEERS / folder / flow_name
    if folder == "star":
        flows = scratch / "flows"
        flows.write_text(delayed(PEERS / folder / flow_name, seed), encoding="ascii")
    scenario, result = scratch / "scenario.toml", scratch / f"result-{seed}"
    config = PEERS / folder / f"{control}.config"
    imported = [tidegate, "import", "hpcc", config, "--flows", flows, "--paths", "--out", scenario]
    scenario.unlink(missing_ok=True)
    subprocess.run(imported, check=True, capture_output=True)
    header = f"host.transport.header={HEADER.get(control, '28B')}"
    run = [tidegate, "run", scenario, "--out", result, "--quiet", "--set", header]
    run += ["--seed", str(seed), "--set", f"routing.hash_seed={seed}"]
    subprocess.run(run, check=True)
    rows = [line.split() for line in (result / "fct.txt").read_text(encoding="ascii").splitlines()]
    expected = int(flows.read_text(encoding="ascii").split("\n", 1)[0])
    if len(rows) != expected:
        sys.exit(f"{control}, {flow_name}, seed {seed}: {len(rows)} of {expected} flows completed")
    return sorted(int(row[6]) / int(row[7]) for row in rows)


def percentile(values, percent):
    """By nearest rank, of values in ascending order."""
    return values[-(-percent * len(values) // 100) - 1]


def main():
    tidegate = sys.argv[1] if len(sys.argv) > 1 else PEERS.parents[1] / "target/release/tidegate"
    print("| flows | control | slowdown p50, p95, p99 in HPCC's simulator | here, median of five (least to most) | difference, % |")
    print("|---|---|---|---|---|")
    for folder, flow_name, control, there in THERE:
        with tempfile.TemporaryDirectory() as scratch:
            runs = [slowdowns(tidegate, folder, flow_name, control, seed, pathlib.Path(scratch)) for seed in SEEDS]
        here, apart = [], []
        for percent, theirs in zip(PERCENTILES, there):
            draws = sorted(percentile(run, percent) for run in runs)
            median = draws[len(draws) // 2]
            here.append(f"{median:.2f} ({draws[0]:.2f} to {draws[-1]:.2f})")
            apart.append(f"{100 * (median / theirs - 1):+.1f}")
        theirs = ", ".join(f"{value:.2f}" for value in there)
        name = flow_name.removesuffix(".flow").replace("-", " ")
        print(f"| {folder}: {name} | {control.split('-')[0]} | {theirs} | {', '.join(here)} | {', '.join(apart)} |", flush=True)


if __name__ == "__main__":
    main()
