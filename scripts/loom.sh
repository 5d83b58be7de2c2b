#!/usr/bin/env bash
# The engine's barrier, exchange and pool of threads under loom, which tries every order in which threads can meet and every
# value that the memory model lets them read.
#
#   scripts/loom.sh
set -euo pipefail
cd "$(dirname "$0")/.."
export RUSTFLAGS="${RUSTFLAGS:-} --cfg loom"
# A folder of its own: other flags would make cargo build everything else again.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/loom"
cargo test -p tidegate-engine --lib --locked loom_tests
