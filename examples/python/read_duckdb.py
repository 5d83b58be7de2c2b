"""Flows of a result in DuckDB: python3 read_duckdb.py results/incast"""
import sys

import duckdb

duckdb.read_parquet(f"{sys.argv[1]}/flows.parquet").create_view("flows")
[(started, completed)] = duckdb.sql("select count(*), count(fct_ps) from flows").fetchall()
print(f"{completed} of {started} flows completed")
print(duckdb.sql("""
    select size_bytes, count(*) as flows, avg(fct_ps) / 1e6 as fct_mean_us, max(slowdown) as slowdown_max
    from flows where fct_ps is not null group by size_bytes order by size_bytes
"""))
