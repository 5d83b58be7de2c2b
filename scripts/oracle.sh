#!/bin/sh
# Compares the simulator with the independent reference model in oracle/: random scenarios, or files.
# Usage: scripts/oracle.sh [--count N] [--seed S] [--feature F] [--jobs N], or scripts/oracle.sh compare FILE...
# TIDEGATE names the program, target/release/tidegate by default.
set -eu
cd "$(dirname "$0")/.."
export PYTHONDONTWRITEBYTECODE=1
if [ "${1:-}" = compare ]; then exec python3 -m oracle "$@"; fi
exec python3 -m oracle fuzz "$@"
