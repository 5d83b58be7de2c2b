#!/usr/bin/env bash
# The engine's tests under miri, which finds undefined behaviour in what they run: unchecked access, borrowed pointers,
# what threads share. Needs a nightly compiler with miri, which CI has not:
#
#   rustup toolchain install nightly --component miri,rust-src
#   scripts/miri.sh            the tests of all that is unsafe, with fewer steps than elsewhere: five minutes
#   scripts/miri.sh NAME       those of them whose name contains NAME
set -euo pipefail
cd "$(dirname "$0")/.."
# The tests of a network start threads, and draw by chance how many: another seed, another order in which they meet.
export MIRIFLAGS="${MIRIFLAGS:-} -Zmiri-disable-isolation -Zmiri-strict-provenance"
# A folder of its own, as everything is built anew.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/miri"
# Who decides how many threads run, and how ranks share the nodes, is plain arithmetic that takes long here.
cargo +nightly miri test -p tidegate-engine --lib --tests --locked -- \
    --skip pace:: --skip ranks:: --skip division:: --skip borders:: "$@"
