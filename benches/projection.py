#!/usr/bin/env python3
"""What one run over many machines would take, by arithmetic that nobody has measured: docs/performance.md.

    benches/projection.py [--hop NS] [--crossing NS] [--letter US] [--bandwidth GB] [--window FACTOR]

Assumes the dense case: so many hops of each host between two barriers, a share of (1 - 1/N) / 3 of them to another of N
machines, one thread a machine, and nobody who waits for the slowest. --window 0.2 is links of 100 ns, not 500 ns.
"""

import argparse

HOPS_A_HOST = 27_400 / 1024
BYTES_A_FRAME = 70
CROSSING_NS = 95
CASES = [(1024, 8), (8192, 8), (8192, 64), (65536, 64)]


def duration(us):
    """In words."""
    return f"{us / 1000:.2g} ms" if us >= 100 else f"{us:.2g} us"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hop", type=float, default=100, help="ns a hop on a core")
    parser.add_argument("--crossing", type=float, default=CROSSING_NS, help="ns to write a frame, move it and read it")
    parser.add_argument("--letter", type=float, default=3, help="us until a letter has gone, one after the other")
    parser.add_argument("--bandwidth", type=float, default=10, help="GB/s from each machine")
    parser.add_argument("--window", type=float, default=1, help="time between barriers, as a factor")
    given = parser.parse_args()
    print("| hosts | machines | hops of a rank | their time | frames that leave it | to write and read "
          "| on the network | batches | in all | speed-up |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for hosts, machines in CASES:
        all_hops = hosts * HOPS_A_HOST * given.window
        hops = all_hops / machines
        frames = hops * (1 - 1 / machines) / 3
        parts = [hops * given.hop / 1e3, frames * given.crossing / 1e3,
                 frames * BYTES_A_FRAME / given.bandwidth / 1e3, (machines - 1) * given.letter]
        work, crossing, network, batches = map(duration, parts)
        speed_up = all_hops * given.hop / 1e3 / sum(parts)
        print(f"| {hosts:,} | {machines} | {hops:,.0f} | {work} | {frames:,.0f} | {crossing} | {network} | {batches} "
              f"| {duration(sum(parts))} | {speed_up:.2g} |")


if __name__ == "__main__":
    main()
