#!/bin/sh
# Recomputes every number and sentence of summary.json, and the terminal's summary, from the tables and the trace of random
# scenarios. Usage: scripts/derive.sh [--may-skip] [--count N] [--from N] [--jobs N] [--self-test]
# TIDEGATE names the program, target/release/tidegate by default. Needs Python 3.11 and pyarrow: with --may-skip first, it
# ends without an error where these are missing.
set -eu
cd "$(dirname "$0")/.."
export PYTHONDONTWRITEBYTECODE=1
if ! python3 -c 'import tomllib, pyarrow.parquet' 2> /dev/null; then
    if [ "${1:-}" = --may-skip ]; then
        echo "## SKIPPED: Python 3.11 or pyarrow is missing: no summary was recomputed" >&2
        exit 0
    fi
    echo "Python 3.11 or pyarrow is missing" >&2
    exit 1
fi
if [ "${1:-}" = --may-skip ]; then shift; fi
exec python3 -m oracle.derive "$@"
