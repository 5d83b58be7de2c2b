"""Flows of a result in Polars: python3 read_polars.py results/incast"""
import sys

import polars as pl

flows = pl.read_parquet(f"{sys.argv[1]}/flows.parquet")
done = flows.filter(pl.col("fct_ps").is_not_null())
print(f"{done.height} of {flows.height} flows completed")
by_size = done.group_by("size_bytes").agg(
    pl.len().alias("flows"),
    (pl.col("fct_ps").mean() / 1e6).alias("fct_mean_us"),
    pl.col("slowdown").quantile(0.99).alias("slowdown_p99"),
)
print(by_size.sort("size_bytes"))
