#!/usr/bin/env bash
# Attacks on tidegate: mutated inputs over every reader and command, and random scenarios on 1, 2 and 3 threads.
# scripts/hostile.sh [--seed N] [--inputs 20000] [--scenarios 2000] [--jobs N] [--input N | --scenario N]
#                    [--against BINARY]: what another build writes for the same scenarios must be the same bytes
set -euo pipefail
cd "$(dirname "$0")/.."
# The dev profile: it stops where a number overflows.
cargo build --locked -p tidegate --bin tidegate --example hostile
# What wants more memory than this fails, instead of the machine.
ulimit -v "${HOSTILE_MEMORY_KB:-4000000}"
exec "${CARGO_TARGET_DIR:-target}/debug/examples/hostile" "$@"
