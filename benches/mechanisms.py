#!/usr/bin/env python3
"""What mechanisms cost: instructions per packet-hop of one network with each of them, beside that with the first.

    benches/mechanisms.py [--tidegate PROGRAM]

Each case runs twice under valgrind, short and long, and the difference counts, as in benches/instructions.sh. Packet-hops
differ from row to row: a mechanism that marks, stops or cuts changes what is sent.
"""

import argparse
import json
import re
import subprocess
import sys

DCQCN = ("benches/dense-dcqcn.toml", "20us", "60us", ["fabric.k=8"])
CALM = ("benches/dense-datagram.toml", "20us", "60us", ["fabric.k=8"])
SENDERS = ("examples/florax.toml", "30ms", "100ms", ['switch.queue="500 packets"'])
NDP = ("benches/ndp-permutation.toml", "50us", "150us", [])
CROWD = (*CALM[:3], [*CALM[3], "traffic.0.load=1.0", "routing.spread=flow"])


def transport(kind):
    """Sets the transport of hosts."""
    return f'host.transport={{ kind = "{kind}" }}'


def queues(frames, others=""):
    """Sets switches with queues of so many frames, in place of a shared buffer."""
    return f'switch={{ queue = "{frames} packets"{others} }}'


def overload(kind):
    """Sets queues of 39 packets, and what becomes of frames that find no room there."""
    return queues(39, f", overload = {kind}")


AT_OUTPUT = 'flow_control = { kind = "pause-at-output", lower = 0.25, upper = 0.5 }'
FLORAX = 'flow_control = { kind = "florax", lower = 0.25, upper = 0.5, max_upper = 0.8 }'
PIPELINES = '{ kind = "pipeline-trim", pipelines = 2, ports_per_pipeline = 4, header_class = 6 }'

# What is compared, where, and the rows: a name and what is set; the first is what the others are held against.
GROUPS = [
    ("congestion control, on a crowded fat-tree under PFC and ECN", DCQCN, [
        ("DCQCN", []),
        ("TIMELY", [transport("timely")]),
        ("Swift", [transport("swift")]),
        ("HPCC", [transport("hpcc")]),
    ]),
    ("flow control with a shared buffer, on a fat-tree whose queues stay short", CALM, [
        ("none", []),
        ("PFC", ['switch.flow_control={ kind = "pfc", priorities = [0] }']),
        ("CBFC", ['switch.flow_control={ kind = "cbfc", priorities = [0] }']),
    ]),
    ("flow control with a queue a port, on the same", CALM, [
        ("none", [queues(500)]),
        ("pause at output", [queues(500, f", {AT_OUTPUT}")]),
        ("FLORAX", [queues(500, f", {FLORAX}")]),
    ]),
    ("flow control, where two senders overload a third host", SENDERS, [
        ("none", ["switch.flow_control=none"]),
        ("pause at output", [f"switch.{AT_OUTPUT}".replace(" = {", "={", 1)]),
        ("FLORAX", []),
    ]),
    ("trimming, an NDP permutation with queues of 8 packets", NDP, [
        ("trim", []),
        ("cut payload", ['switch.overload={ kind = "cut-payload", header_queue = "100KB" }']),
    ]),
    ("overload, datagrams at line rate by one way each", CROWD, [
        ("drop", [overload('"drop"')]),
        ("trim", [overload('{ kind = "trim", size = "64B", header_class = 6 }')]),
        ("pipeline trim", [overload(PIPELINES)]),
        ("SFC", [overload('{ kind = "sfc", watermark = "10 packets" }')]),
        ("bounce", [overload('"bounce"')]),
    ]),
]


def count(tidegate, scenario, duration, overrides):
    """Instructions and packet-hops of one run."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    command += [tidegate, "run", scenario, "--json", "--set", f"duration={duration}", "--set", "threads=1"]
    for override in overrides:
        command += ["--set", override]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if found is None or not run.stdout.startswith("{"):
        sys.exit(run.stderr)
    return int(found.group(1)), json.loads(run.stdout)["packet_hops"]


def main():
    parser = argparse.ArgumentParser(description="What mechanisms cost, in instructions per packet-hop.")
    parser.add_argument("--tidegate", default="target/distribution/tidegate", help="the program, built already")
    arguments = parser.parse_args()
    for title, (scenario, short, long, given), rows in GROUPS:
        print(f"{title}: {' '.join([scenario, short, long, *given])}", flush=True)
        first = None
        for name, overrides in rows:
            less, fewer = count(arguments.tidegate, scenario, short, given + overrides)
            more, hops = count(arguments.tidegate, scenario, long, given + overrides)
            cost = (more - less) / (hops - fewer)
            first = first or cost
            given_here = " ".join(overrides)
            print(f"{cost:8.0f}  {cost / first:5.2f}  {hops - fewer:9} hops  {name:16} {given_here}", flush=True)


if __name__ == "__main__":
    main()
