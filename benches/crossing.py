#!/usr/bin/env python3
"""Measures by perf the CPU time, in ns, of a frame that crosses to another rank, in one run over ranks on this machine.

    benches/crossing.py [--tidegate BINARY] [--ranks N] [--duration TIME] [SCENARIO]

Needs perf, mpirun and a build of the profile distribution with the feature mpi. Time in which ranks wait for each other
is excluded: only packing of messages, transfer of batches and unpacking count.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Functions by step that are never inlined. The script fails if the profile has none of a name: then it was renamed.
STEPS = {
    "pack": ("engine::mail::export", "RemoteRanks<M>::pack", "OnWire>>::pack"),
    "transfer": ("Ranks>::exchange", "run_together"),
    "unpack": ("RemoteRanks<M>::read", "RemoteRanks<M>::receive", "OnWire>>::unpack"),
}
# Functions that the compiler may inline, and functions of kernel and C library: their names depend on the machine.
OPTIONAL = {
    "pack": ("Frame as units::pack::Pack>::pack",),
    "transfer": ("_copy_to_iter", "__memset", "__memmove"),
    "unpack": ("Frame as units::pack::Pack>::unpack",),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tidegate", default=ROOT / "target/distribution/tidegate")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("scenario", nargs="?", default=ROOT / "benches/dense-datagram.toml")
    parser.add_argument("--duration", default="400us")
    given = parser.parse_args()
    # As in scripts/ranks.sh.
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    with tempfile.TemporaryDirectory() as out:
        profile = f"{out}/perf.data"
        run = ["mpirun", "-n", str(given.ranks), given.tidegate, "run", given.scenario, "--quiet",
               "--set", f"duration={given.duration}", "--out", f"{out}/run"]
        subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "5000", "-o", profile, *run], check=True,
                       env=environment)
        report = subprocess.run(["perf", "report", "-i", profile, "--no-children", "--stdio", "--sort", "sym"],
                                check=True, capture_output=True, text=True).stdout
        ranks = json.loads(Path(f"{out}/run/timing.json").read_text())["ranks"]
    frames = sum(rank["messages"] for rank in ranks)
    total_ns = int(re.search(r"Event count \(approx\.\): (\d+)", report)[1])
    shares = [(float(share), symbol) for share, symbol in re.findall(r"^ +([\d.]+)%  \[.\] (.+)$", report, re.M)]
    missing = [name for names in STEPS.values() for name in names if not any(name in symbol for _, symbol in shares)]
    if missing:
        sys.exit(f"the profile has no symbol with {', '.join(missing)}: correct STEPS in {Path(__file__).name}")
    whole = 0.0
    for step, names in STEPS.items():
        share = sum(share for share, symbol in shares if any(name in symbol for name in names + OPTIONAL[step]))
        each_ns = share / 100 * total_ns / frames
        whole += each_ns
        print(f"{step:10} {each_ns:6.1f} ns per frame that crosses")
    print(f"{'total':10} {whole:6.1f} ns, of {frames:,} frames")


if __name__ == "__main__":
    main()
