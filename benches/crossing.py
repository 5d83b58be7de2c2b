#!/usr/bin/env python3
"""What a frame costs that crosses to another rank, in ns of CPU: by perf, from one run over ranks on this machine.

    benches/crossing.py [--tidegate BINARY] [--ranks N] [--duration TIME] [SCENARIO]

Wants perf, mpirun and a release build with the feature mpi. Waiting for each other does not count: only what is done
for frames that cross, to write them, to move the letter, and to read them.
"""

import argparse
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# By symbol, what it is done for.
PURPOSES = {
    "to write": ("engine::mail::export", "Abroad<M>::put", "OnWire>>::pack", "Frame as units::pack::Pack>::pack"),
    "to move": ("_copy_to_iter", "__memset", "__memmove", "Ranks>::exchange", "run_together"),
    "to read": ("Abroad<M>::read", "Abroad<M>::collect", "OnWire>>::unpack", "Frame as units::pack::Pack>::unpack"),
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
    whole = 0.0
    for purpose, names in PURPOSES.items():
        share = sum(share for share, symbol in shares if any(name in symbol for name in names))
        each_ns = share / 100 * total_ns / frames
        whole += each_ns
        print(f"{purpose:10} {each_ns:6.1f} ns a frame that crosses")
    print(f"{'in all':10} {whole:6.1f} ns, of {frames:,} frames")


if __name__ == "__main__":
    main()
