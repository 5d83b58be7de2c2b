#!/bin/sh
# Recomputes every number and sentence of summary.json, and the terminal's summary, from the tables and the trace of random
# scenarios. Usage: scripts/derive.sh [--count N] [--from N] [--jobs N] [--self-test]
# TIDEGATE names the program, target/release/tidegate by default. Needs Python 3.11 and pyarrow.
set -eu
cd "$(dirname "$0")/.."
export PYTHONDONTWRITEBYTECODE=1
if ! python3 -c 'import tomllib, pyarrow.parquet' 2> /dev/null; then
    echo "## SKIPPED: Python 3.11 or pyarrow is missing: no summary was recomputed" >&2
    exit 0
fi
exec python3 -m oracle.derive "$@"
