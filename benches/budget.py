#!/usr/bin/env python3
"""Where the instructions of a packet-hop go, by purpose: the table of docs/performance.md.

    benches/budget.py [--tidegate BINARY] [--files] [SCENARIO SHORT LONG [KEY=VALUE...]]

Runs the scenario twice under callgrind, short and long, and takes the difference, as benches/instructions.sh does. Each
instruction counts for the first of our own source files in its chain of inlined calls (addr2line), and a file for a
purpose. Needs valgrind, binutils, and a release binary, whose line tables it reads. --files prints the files too.
"""

import argparse
import collections
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Purposes and the source files that serve them; the first that matches counts.
PURPOSES = [
    ("mailboxes and windows", r"crates/engine/src/(mail|part|ring|order|node|prefetch|timers|execution)\.rs"),
    ("next departures", r"crates/engine/src/earliest_times\.rs|model/src/host/timers\.rs"),
    ("routes", r"model/src/(routes|switch/forwarding|network)\.rs|fabric/src/routing/"),
    ("buffer and accounts", r"model/src/switch/buffer\.rs|protocols/src/(pause|ecn)\.rs"),
    ("queues", r"model/src/queue\.rs|crates/engine/src/chains\.rs"),
    ("switch: arrivals and departures", r"model/src/switch/|model/src/outcome\.rs"),
    ("ports and wires", r"model/src/egress/"),
    ("hosts: ports and flows", r"model/src/host/"),
    ("transports and traffic", r"protocols/src/|crates/traffic/src/"),
    ("checks and statistics", r"crates/(check|stats)/src/|model/src/(account|node_stats|measured)\.rs"),
    ("loop over nodes", r"model/src/node\.rs"),
]
OURS = re.compile(r"crates/([a-z]+)/src/.*\.rs")
# Rings and tables of the engine count for what they hold: the caller decides.
PASSED_ON = re.compile(r"crates/engine/src/(ring|prefetch)\.rs|crates/units/src/|crates/protocols/src/frame")


def count(tidegate, scenario, duration, overrides, out):
    """Instructions by address, and packet-hops."""
    command = ["valgrind", "--tool=callgrind", "--dump-instr=yes", f"--callgrind-out-file={out}"]
    command += [tidegate, "run", scenario, "--json", "--set", f"duration={duration}", "--set", "threads=1"]
    for override in overrides:
        command += ["--set", override]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(run.stderr)
    hops = json.loads(run.stdout)["packet_hops"]
    instructions, address, called, binary, ours = collections.Counter(), 0, False, {}, False
    for line in out.open(errors="replace"):
        if line.startswith("ob="):
            number, name = re.match(r"ob=\((\d+)\)(?: (.*))?", line).groups()
            if name:
                binary[number] = name.strip()
            ours = Path(binary[number]).name == Path(tidegate).name
        elif line.startswith("cob="):
            number, name = re.match(r"cob=\((\d+)\)(?: (.*))?", line).groups()
            if name:
                binary[number] = name.strip()
        elif line.startswith("calls="):
            called = True
        elif line[:1].isdigit() or line[:1] in "+-*":
            words = line.split()
            if words[0].startswith("0x"):
                address = int(words[0], 16)
            elif words[0] != "*":
                address += int(words[0], 0)
            if called:
                called = False
            elif len(words) > 2:
                instructions[address if ours else 0] += int(words[2])
    return instructions, hops


def sources(tidegate, addresses):
    """The source file that an address counts for."""
    run = subprocess.run(
        ["addr2line", "-i", "-a", "-e", tidegate],
        input="\n".join(hex(address) for address in addresses),
        capture_output=True,
        text=True,
        check=True,
    )
    chains, chain = {}, []
    for line in run.stdout.splitlines():
        if line.startswith("0x"):
            chain = chains.setdefault(int(line, 16), [])
        else:
            chain.append(line)
    found = {}
    for address, chain in chains.items():
        ours = [OURS.search(place).group(0) for place in chain if OURS.search(place)]
        decided = [place for place in ours if not PASSED_ON.search(place)]
        found[address] = (decided or ours or ["library"])[0]
    return found


def main():
    parser = argparse.ArgumentParser(description="Where the instructions of a packet-hop go.")
    parser.add_argument("--tidegate", default="target/distribution/tidegate")
    parser.add_argument("--files", action="store_true", help="print the files of each purpose")
    parser.add_argument("case", nargs="*", default=["benches/dense-datagram.toml", "20us", "60us", "fabric.k=8"])
    arguments = parser.parse_args()
    scenario, short, long, *overrides = arguments.case
    with tempfile.TemporaryDirectory() as folder:
        less, fewer = count(arguments.tidegate, scenario, short, overrides, Path(folder) / "short")
        more, hops = count(arguments.tidegate, scenario, long, overrides, Path(folder) / "long")
    hops -= fewer
    spent = {address: n - less.get(address, 0) for address, n in more.items() if n != less.get(address, 0)}
    found = sources(arguments.tidegate, [address for address in spent if address])
    purposes, files = collections.Counter(), collections.defaultdict(collections.Counter)
    for address, n in spent.items():
        place = found.get(address, "library")
        purpose = next((name for name, pattern in PURPOSES if re.search(pattern, place)), "all else")
        purposes[purpose] += n
        files[purpose][place] += n
    print(f"{' '.join([scenario, *overrides])}: {hops} packet-hops")
    for purpose, n in purposes.most_common():
        print(f"{n / hops:8.1f}  {purpose}")
        if arguments.files:
            for place, m in files[purpose].most_common(8):
                print(f"          {m / hops:8.1f}  {place}")
    print(f"{sum(spent.values()) / hops:8.1f}  in all")


if __name__ == "__main__":
    main()
