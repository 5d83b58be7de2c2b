#!/usr/bin/env bash
# Compares the public interfaces of all crates with those of the last release by cargo-semver-checks. Fails if a change needs a higher
# version than Cargo.toml states; docs/compatibility.md has the rules.
#
#   scripts/interfaces.sh [REVISION]     a revision to compare with, by default the last tag v* before this commit
#
# Needs git with its tags. Installs cargo-semver-checks into target/tools if it is missing. Not part of .ci/run.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
version=0.51.0

base=${1:-}
if [ -z "$base" ]; then
    # On a tag, the previous one.
    base=$(git describe --tags --abbrev=0 --match 'v*' 'HEAD^' 2> /dev/null || true)
    if [ -z "$base" ]; then
        echo "there is no earlier release: nothing to compare with"
        exit 0
    fi
fi
git rev-parse --verify --quiet "$base^{commit}" > /dev/null || { echo "$0: no revision $base" >&2; exit 2; }
PATH=$target/tools/bin:$PATH
command -v cargo-semver-checks > /dev/null ||
    cargo install cargo-semver-checks --version "$version" --locked --root "$target/tools" --quiet
cargo semver-checks --workspace --baseline-rev "$base"
