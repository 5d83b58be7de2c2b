#!/usr/bin/env bash
# A second program judges our time slots: tsnkit (from the Python registry) simulates what `tidegate schedule` exports,
# and schedules the same streams itself. Prints the tables of docs/validation.md.
#
#   scripts/tsnkit.sh [TIDEGATE]     the binary, target/release/tidegate without
#
# Needs python3 with venv, and the registry once: tsnkit is installed into target/tsnkit-venv. Where that cannot be had it
# says so and ends with exit code 0; where a schedule is refused, with 1. Takes some four minutes; not part of .ci/run.
set -euo pipefail
cd "$(dirname "$0")/.."
tidegate=$(realpath "${1:-target/release/tidegate}")
venv=${CARGO_TARGET_DIR:-target}/tsnkit-venv
version=0.3.0

skip() {
    if [ -n "${TIDEGATE_MUST_RUN:-}" ]; then echo "cannot run: $1" >&2; exit 1; fi
    echo "skipped: $1"
    exit 0
}

command -v python3 > /dev/null || skip "there is no python3"
if ! "$venv/bin/python" -c "import tsnkit.simulation.tas" 2> /dev/null; then
    python3 -m venv "$venv" 2> /dev/null || skip "python3 has no venv here"
    "$venv/bin/pip" install --quiet --disable-pip-version-check "tsnkit==$version" ||
        skip "tsnkit $version cannot be installed: there is no registry, or it has none for this python3"
fi
"$venv/bin/python" scripts/tsnkit_judge.py "$tidegate"
