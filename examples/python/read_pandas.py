"""Flows of a result in pandas: python3 read_pandas.py results/incast"""
import sys

import pandas as pd

flows = pd.read_parquet(f"{sys.argv[1]}/flows.parquet")
done = flows[flows["fct_ps"].notna()]
print(f"{len(done)} of {len(flows)} flows completed")
fct_us = done["fct_ps"].astype(float) / 1e6
by_size = done.assign(fct_us=fct_us).groupby("size_bytes")
print(by_size.agg(flows=("flow", "count"), fct_mean_us=("fct_us", "mean"), slowdown_max=("slowdown", "max")))
