#!/usr/bin/env python3
"""The tables of README.md, from the sweep's own JSON.

    tidegate sweep experiments/league/league.toml --out results/league --resume --json \
        --metric fct --metric queue-p99 --metric goodput --metric jain --metric drops --metric pauses --metric control \
        --metric completed --metric started --metric slowdown-p99 > league.json
    python3 experiments/league/table.py league.json
"""

import json
import sys

UNITS = {
    "ns": [(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1, "ns")],
    "bytes": [(1e9, "GB"), (1e6, "MB"), (1e3, "KB"), (1, "B")],
    "bps": [(1e12, "Tbps"), (1e9, "Gbps"), (1e6, "Mbps"), (1, "bps")],
    "": [(1e9, "G"), (1e6, "M"), (1e3, "k"), (1, "")],
}


def unit_of(metric):
    return next((unit for unit in ("ns", "bytes", "bps") if metric.endswith("_" + unit)), "")


def said(metric, reported):
    """`mean ± half of the 95 % interval`, in the unit that suits the mean."""
    if reported is None or reported.get("mean") is None:
        return "-"
    mean, half = reported["mean"], reported.get("half_width_95") or 0.0
    if metric == "jain":
        return f"{mean:.2f}"
    size, name = next(((size, name) for size, name in UNITS[unit_of(metric)] if abs(mean) >= size), UNITS[unit_of(metric)][-1])
    spread = f" ± {half / size:.3g}" if half >= 0.01 * max(abs(mean), 1e-12) else ""
    return f"{mean / size:.3g}{spread} {name}".strip()


def cell(column, metrics):
    """The value of a column; completed flows of so many that started, where not all completed."""
    value = said(column, metrics.get(column))
    started = said("started", metrics.get("started"))
    return f"{value} of {started}" if column == "completed" and value != started else value


def main():
    document = json.load(open(sys.argv[1], encoding="utf-8"))
    groups = document["groups"]
    workloads = list(dict.fromkeys(group["set"]["workload"] for group in groups))
    trips = list(dict.fromkeys(group["set"]["round_trip"] for group in groups))
    incast = ["completed", "fct_mean_ns", "fct_p99_ns", "goodput_bps", "jain", "queue_p99_bytes", "drops", "pauses", "control_bytes"]
    sizes = ["fct_mean_to_10KB_ns", "fct_p99_to_10KB_ns", "fct_mean_to_1MB_ns", "fct_p99_to_1MB_ns"]
    search = ["completed"] + sizes + ["fct_mean_above_10MB_ns", "slowdown_p99", "queue_p99_bytes", "drops", "pauses", "control_bytes"]
    for trip in trips:
        for workload in workloads:
            columns = incast if workload.startswith("incast") else search
            print(f"\n### {workload}, round trip {trip}\n")
            print("| control | " + " | ".join(columns) + " |\n|---|" + "---|" * len(columns))
            for group in groups:
                if (group["set"]["workload"], group["set"]["round_trip"]) == (workload, trip):
                    cells = [cell(column, group["metrics"]) for column in columns]
                    print(f"| {group['set']['control']} | " + " | ".join(cells) + " |")


main()
