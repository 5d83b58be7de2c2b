#!/bin/sh
# Compares the simulator with the independent reference model in oracle/ over random scenarios.
# Usage: scripts/oracle.sh [--count N] [--seed S] [--feature F]; TIDEGATE names the program.
set -eu
cd "$(dirname "$0")/.."
export PYTHONDONTWRITEBYTECODE=1
exec python3 -m oracle fuzz "$@"
