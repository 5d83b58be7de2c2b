#!/usr/bin/env bash
# Builds the package of python/ and runs its tests, those of its workspace's format and clippy, and the commands of
# docs/guide/python.md as they are written.
#
#   scripts/python.sh [--clusters]     with --clusters also those that need Dask and Ray, which are large
#
# Needs cargo, python3 with venv, and once the Python registry, from which it installs into target/python-venv. Without the
# registry the script prints this and ends with exit code 0, or with 1 if TIDEGATE_MUST_RUN is set. It builds the command too,
# because the tests compare its results with those of the package.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
venv=${TIDEGATE_VENV:-$target/python-venv}

skip() {
    if [ -n "${TIDEGATE_MUST_RUN:-}" ]; then echo "cannot run: $1" >&2; exit 1; fi
    echo "skipped: $1"
    exit 0
}

cargo fmt --manifest-path python/Cargo.toml --check
command -v python3 > /dev/null || skip "there is no python3"
if [ ! -x "$venv/bin/pip" ]; then
    python3 -m venv "$venv" 2> /dev/null || skip "python3 has no venv here"
fi
packages=("maturin>=1.9,<2" "pytest>=9" pyyaml pyarrow polars pandas duckdb "gymnasium>=1")
if [ "${1:-}" = --clusters ]; then packages+=("dask[distributed]" ray); fi
"$venv/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}" ||
    skip "the packages of the tests cannot be installed: there is no registry, or it has none for this python3"
export PYO3_PYTHON="$venv/bin/python" VIRTUAL_ENV="$venv" PATH="$venv/bin:$PATH" CARGO_TARGET_DIR="$target"
cargo clippy --manifest-path python/Cargo.toml --locked -- -D warnings
cargo build --quiet --locked
# The wheel as users get it, but of the profile that the tests of the workspace have built already.
rm -rf "$target/wheels"
maturin build --quiet --locked --profile dev --manifest-path python/Cargo.toml --out "$target/wheels"
pip install --quiet --disable-pip-version-check --force-reinstall --no-deps "$target"/wheels/tidegate-*.whl
TIDEGATE="$target/debug/tidegate" pytest -q -rs python/tests
