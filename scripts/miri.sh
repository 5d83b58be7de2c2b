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
# The choice of the number of threads and the division of nodes among ranks are plain arithmetic, which takes long here.
skip=()
for module in thread_policy ranks division borders; do
    [ -f "crates/engine/src/$module.rs" ] || { echo "miri.sh: no module $module in crates/engine/src" >&2; exit 1; }
    skip+=(--skip "$module::")
done
cargo +nightly miri test -p tidegate-engine --lib --tests --locked -- "${skip[@]}" "$@"
