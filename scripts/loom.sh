#!/usr/bin/env bash
# The engine's barrier, exchange and pool of threads under loom, which tries every order in which threads can meet and every
# value that the memory model lets them read.
#
#   scripts/loom.sh            compiles the tests and runs them
#   scripts/loom.sh --check    compiles them only: a step of .ci/run
set -euo pipefail
cd "$(dirname "$0")/.."
export RUSTFLAGS="${RUSTFLAGS:-} --cfg loom"
# A folder of its own: other flags would make cargo build everything else again.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/loom"
if [ "${1:-}" = --check ]; then
    exec cargo check -p tidegate-engine --lib --profile test --locked
fi
cargo test -p tidegate-engine --lib --locked loom_tests
