#!/usr/bin/env python3
"""Prints the table of docs/validation.md beside HPCC's simulator: percentiles of the slowdown there and here.

`*.fct` is the output of the released simulator at 9f4be2a on these files, and `hpcc.json` has the percentiles of its
runs, also of those without an `*.fct` here. Both divide a flow's time by the time that the released simulator states
for the flow alone. Flows take the paths that ECMP gives them there. Seeds draw marks, and here the paths of
acknowledgements; on the star, where most controls draw nothing, starts are up to 1 us later on both sides.
"""

import argparse
import json
import os
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
CASES += [("k8", flows, control) for flows in ("permutation", "web-search")
          for control in ("hpcc", "dcqcn", "timely", "dctcp")]
# Keys of the configuration by folder; those of a control are in its `*.config`.
NETWORKS = {
    "star": {"TOPOLOGY_FILE": PEERS / "star" / "star.topo", "SIMULATOR_STOP_TIME": "2.02", "BUFFER_SIZE": "4"},
    "k8": {"TOPOLOGY_FILE": PEERS / "k8" / "fat8.topo", "SIMULATOR_STOP_TIME": "2.05", "BUFFER_SIZE": "32"},
}
# Bytes of header beside the payload there: Ethernet, IPv4, UDP, sequence number. TIMELY has a time stamp of 8 bytes, HPCC
# telemetry of 42, which has its own key here.
HEADER_BYTES = {"timely": 56}
TELEMETRY_BYTES = {"hpcc": 42}
# Frames there have no preamble and gap.
GAP_BYTES = 20
# Runs of that simulator by case: percentiles of each seed.
THERE = PEERS / "hpcc.json"
# Keys that it demands beside those of the configurations, as its run.py has them.
FURTHER_KEYS = """ENABLE_TRACE 0
LINK_DOWN 0 0 0
USE_DYNAMIC_PFC_THRESHOLD 1
PACKET_PAYLOAD_SIZE 1000
ERROR_RATE_PER_LINK 0.0
L2_CHUNK_SIZE 4000
L2_ACK_INTERVAL 1
L2_BACK_TO_ZERO 0
RATE_BOUND 1
QLEN_MON_START 2000000000
QLEN_MON_END 2000000001
"""


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


def times(fct_file):
    """Time of every flow and its time alone, by source, destination and number of the flow between them in the order of
    starts.
    """
    rows = [line.split() for line in fct_file.read_text(encoding="ascii").splitlines()]
    found, numbers = {}, Counter()
    for row in sorted(rows, key=lambda row: int(row[5])):
        pair = tuple(row[:2])
        found[*pair, numbers[pair]] = int(row[6]), int(row[7])
        numbers[pair] += 1
    return found


def slowdowns(fct_file):
    return {flow: took / alone for flow, (took, alone) in times(fct_file).items()}


def header(control, whole_nanoseconds):
    """The header of frames on the wire here, at 100 Gbps. There a time is a number of nanoseconds, rounded down: a frame of 1048 B takes
    83 ns on a link of 100 Gbps, not 83.84. With `whole_nanoseconds` the header is as much shorter.
    """
    own = HEADER_BYTES.get(control, 48)
    frame = 1000 + own + TELEMETRY_BYTES.get(control, 0)
    surplus = frame - frame * 8 // 100 * 100 / 8 if whole_nanoseconds else 0
    return f"{own - GAP_BYTES - round(surplus)}B"


def flow_file(folder, flows_name, seed, is_moved, scratch):
    """The flows of a run: on the star with moved starts."""
    flows = PEERS / folder / f"{flows_name}.flow"
    if folder == "star" and is_moved:
        moved = scratch / f"{seed}.flow"
        moved.write_text(delayed(flows, seed), encoding="ascii")
        return moved
    return flows


def configuration(case, flows):
    """The configuration of a case, in the keys of that simulator."""
    folder, _, control = case
    own = (PEERS / f"{control}.config").read_text(encoding="ascii")
    return NETWORKS[folder] | {"FLOW_FILE": flows} | dict(line.split(maxsplit=1) for line in own.splitlines())


def written(values, scratch):
    """The file of these keys."""
    file = scratch / "config.txt"
    file.write_text("".join(f"{key} {value}\n" for key, value in values.items()), encoding="ascii")
    return file


def simulated_here(options, case, seed, scratch):
    """The slowdown of every flow of one run here: its time over that which the other simulator states for it alone, which
    does not depend on the control.
    """
    folder, flows_name, control = case
    alone = times(next((PEERS / folder).glob(f"{flows_name}.*.fct")))
    flows = flow_file(folder, flows_name, seed, not options.starts_of_file, scratch)
    scenario, result = scratch / "scenario.toml", scratch / f"result-{seed}"
    scenario.unlink(missing_ok=True)
    imported = [options.tidegate, "import", "hpcc", written(configuration(case, flows), scratch), "--out", scenario]
    imported += ["--paths"] * (not options.own_paths)
    subprocess.run(imported, check=True, capture_output=True)
    settings = [f"host.transport.header={header(control, not options.exact_times)}", f"routing.hash_seed={seed}", *options.set]
    run = [options.tidegate, "run", scenario, "--out", result, "--quiet", "--seed", str(seed)]
    subprocess.run(run + [word for setting in settings for word in ("--set", setting)], check=True)
    return {flow: took / alone[flow][1] for flow, (took, _) in times(result / "fct.txt").items() if flow in alone}


def simulated_there(build, case, seed, scratch):
    """The slowdown of every flow of one run of that simulator, whose `build` folder this is."""
    folder, flows_name, _ = case
    values = dict(line.split(maxsplit=1) for line in FURTHER_KEYS.splitlines())
    values |= configuration(case, flow_file(folder, flows_name, seed, True, scratch))
    outputs = ("FCT_OUTPUT_FILE", "PFC_OUTPUT_FILE", "TRACE_FILE", "TRACE_OUTPUT_FILE", "QLEN_MON_FILE")
    values |= {key: scratch / key for key in outputs}
    values["TRACE_FILE"].write_text("0\n", encoding="ascii")
    file = written(values, scratch)
    environment = os.environ | {"LD_LIBRARY_PATH": str(build), "NS_GLOBAL_VALUE": f"RngRun={seed}"}
    subprocess.run([build / "scratch/third", file], check=True, env=environment, stdout=subprocess.DEVNULL)
    return slowdowns(values["FCT_OUTPUT_FILE"])


def percentile(values, percent):
    """By nearest rank."""
    return sorted(values)[-(-percent * len(values) // 100) - 1]


def percentiles(run):
    return [round(percentile(run.values(), percent), 4) for percent in PERCENTILES]


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
    parser.add_argument("--case", default="", help="only cases whose name contains this: `incast | dctcp`")
    parser.add_argument("--starts-of-file", action="store_true", help="move no start on the star, and compare with the one run of *.fct")
    parser.add_argument("--exact-times", action="store_true", help="send frames at the rate of the link")
    parser.add_argument("--own-paths", action="store_true", help="paths by the hash of Tidegate, not by that of there")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change the imported scenarios")
    parser.add_argument("--fork", type=pathlib.Path, metavar="BUILD", help="run HPCC's simulator and write hpcc.json")
    return parser.parse_args()


def name_of(case):
    folder, flows_name, control = case
    return f"{folder}: {flows_name.replace('-', ' ')} | {control}"


def measure_there(options, cases):
    """Runs that simulator and adds the percentiles to the file."""
    known = json.loads(THERE.read_text(encoding="ascii")) if THERE.exists() else {}
    for case in cases:
        for seed in range(1, options.seeds + 1):
            with tempfile.TemporaryDirectory() as scratch:
                run = simulated_there(options.fork.resolve(), case, seed, pathlib.Path(scratch))
            known.setdefault(name_of(case), {})[str(seed)] = percentiles(run)
            lines = [f" {json.dumps(name)}: {json.dumps(runs)}" for name, runs in sorted(known.items())]
            THERE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="ascii")
            print(f"{name_of(case)}, seed {seed}: {known[name_of(case)][str(seed)]}", flush=True)


def spread(draws):
    if len(draws) == 1:
        return f"{draws[0]:.2f}"
    return f"{statistics.median(draws):.2f} ({min(draws):.2f} to {max(draws):.2f})"


def compare(options, case):
    """Prints the row of a case."""
    folder, flows_name, control = case
    fct_file = PEERS / folder / f"{flows_name}.{control}.fct"
    of_file = slowdowns(fct_file) if fct_file.exists() else None
    with tempfile.TemporaryDirectory() as scratch:
        seeds = range(1, options.seeds + 1)
        runs = [simulated_here(options, case, seed, pathlib.Path(scratch)) for seed in seeds]
    flow_count = int((PEERS / folder / f"{flows_name}.flow").read_text(encoding="ascii").split(maxsplit=1)[0])
    if any(run.keys() != (of_file or run).keys() or len(run) != flow_count for run in runs):
        sys.exit(f"{name_of(case)}: the flows that completed are not those of there")
    known = json.loads(THERE.read_text(encoding="ascii"))
    if name_of(case) not in known:
        sys.exit(f"{name_of(case)}: {THERE.name} has no run of that simulator; --fork makes them")
    there = list(known[name_of(case)].values())
    if options.starts_of_file and of_file:
        there = [percentiles(of_file)]
    theirs, here = list(zip(*there)), list(zip(*map(percentiles, runs)))
    medians = [(statistics.median(a), statistics.median(b)) for a, b in zip(theirs, here)]
    difference = ", ".join(f"{100 * (b / a - 1):+.1f}" for a, b in medians)
    # Of few flows a correlation says nothing.
    shown = "-"
    if of_file and len(of_file) > 100:
        shown = f"{statistics.median(rank_correlation(run, of_file) for run in runs):.2f}"
    cells = [str(len(there)), ", ".join(map(spread, theirs)), ", ".join(map(spread, here)), difference, shown]
    print(f"| {name_of(case)} | {' | '.join(cells)} |", flush=True)


def main():
    options = arguments()
    cases = [case for case in CASES if options.case in name_of(case)]
    if not cases:
        sys.exit(f"no case contains {options.case!r}: {', '.join(map(name_of, CASES))}")
    if options.fork:
        return measure_there(options, cases)
    print("| flows | control | runs there | slowdown p50, p95, p99 there | here | difference, % | correlation |")
    print("|---|---|---|---|---|---|---|")
    for case in cases:
        compare(options, case)


if __name__ == "__main__":
    main()
