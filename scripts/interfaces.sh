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

if [ $# -gt 1 ]; then echo "usage: $0 [REVISION]" >&2; exit 2; fi
base=${1:-}
if [ -z "$base" ]; then
    if [ "$(git rev-parse --is-shallow-repository)" = true ]; then
        echo "$0: this clone is shallow, and may lack the tag of the last release: git fetch --unshallow --tags" >&2
        exit 2
    fi
    # On a tag, the previous one.
    base=$(git tag --list 'v*' --merged 'HEAD^' --sort=-creatordate | head -n 1)
    if [ -z "$base" ]; then
        if grep -qE '^## \[[0-9.]+\] - [0-9]{4}' <(git show 'HEAD^:CHANGELOG.md'); then
            echo "$0: CHANGELOG.md has a release, and there is no tag of it: git fetch --tags" >&2
            exit 2
        fi
        echo "there is no earlier release: nothing to compare with"
        exit 0
    fi
fi
git rev-parse --verify --quiet "$base^{commit}" > /dev/null || { echo "$0: no revision $base" >&2; exit 2; }
PATH=$target/tools/bin:$PATH
command -v cargo-semver-checks > /dev/null ||
    cargo install cargo-semver-checks --version "$version" --locked --root "$target/tools" --quiet
cargo semver-checks --workspace --baseline-rev "$base"
