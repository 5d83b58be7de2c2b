"""The table of `tidegate sweep experiments/pabo/beyond-sweep.toml --out DIR`: python beyond.py DIR (needs Polars)."""

import json
import sys
from pathlib import Path

import polars as pl

folder = Path(sys.argv[1])
runs = pl.read_parquet(folder / "sweep.parquet")
keys = ["switch.overload", "switch.flow_control", "switch.marking"]


def row(run):
    summary = json.loads((folder / "runs" / run / "summary.json").read_text())
    flows = pl.read_parquet(folder / "runs" / run / "flows.parquet")
    flows = flows.with_columns(fct_us=pl.col("fct_ps") / 1e6)
    injected = summary["packets"]["injected"]
    happened, reordering = summary["event_counts"], summary["reordering"]
    small = flows.filter((pl.col("traffic") == 0) & (pl.col("size_bytes") <= 10_000))["fct_us"]
    large = flows.filter((pl.col("traffic") == 0) & (pl.col("size_bytes") > 1_000_000))["fct_us"]
    incast = flows.filter((pl.col("traffic") == 1) & (pl.col("size_bytes") > 1_000))["fct_us"]
    return {
        "lost_percent": 100 * sum(summary["packets"]["dropped"].values()) / injected,
        "turned_percent": 100 * (happened["bounces"] + happened["detours"]) / injected,
        "out_of_order_percent": 100 * reordering["displaced"] / reordering["packets"],
        "small_p99_us": small.quantile(0.99),
        "large_mean_us": large.mean(),
        "incast_mean_us": incast.mean(),
        "incast_p99_us": incast.quantile(0.99),
        "unfinished": summary["flows"]["started"] - summary["flows"]["completed"],
    }


table = runs.select(keys).hstack(pl.DataFrame([row(run) for run in runs["run"]]))
pl.Config(tbl_cols=-1, tbl_width_chars=200, fmt_str_lengths=24, float_precision=2)
print(table.group_by(keys, maintain_order=True).mean())
