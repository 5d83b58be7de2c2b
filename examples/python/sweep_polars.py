"""The table of a sweep in Polars, a line for each combination: python3 sweep_polars.py results/xoff KEY..."""
import sys

import polars as pl

runs = pl.read_parquet(f"{sys.argv[1]}/sweep.parquet")
print(f"{runs.height} runs, {runs['pass'].sum()} of them with all checks held")
by_key = runs.group_by(sys.argv[2:], maintain_order=True).agg(
    pl.len().alias("seeds"), pl.col("fct_p99_ns").mean(), pl.col("fct_p99_ns").std().alias("fct_p99_ns_std")
)
print(by_key)
