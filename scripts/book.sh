#!/usr/bin/env bash
# Builds the book of docs/ into target/book and checks it: mdBook has nothing to warn of, and no link leads nowhere.
#
#     scripts/book.sh              installs mdBook into target/tools where there is none
#     scripts/book.sh --may-skip   the same, but where mdBook cannot be installed it says so and succeeds
#
# Then open target/book/index.html. While you write, `target/tools/bin/mdbook serve` shows each change in a browser.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
version=0.5.4

mdbook=$(command -v mdbook || true)
if [ -z "$mdbook" ]; then
    mdbook=$target/tools/bin/mdbook
    # A debug build compiles faster, and renders the book in seconds all the same.
    if [ ! -x "$mdbook" ] && ! cargo install mdbook --version "$version" --locked --debug --no-default-features \
        --features search --root "$target/tools" --quiet; then
        echo "## there is no mdbook, and cargo cannot install it: the book is not built" >&2
        if [ "${1:-}" = --may-skip ]; then exit 0; else exit 3; fi
    fi
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$mdbook" build 2>&1 | tee "$log"
if grep -qE 'WARN|ERROR' "$log"; then
    echo "## mdbook warns: see above" >&2
    exit 1
fi
cargo run --quiet --locked -p tidegate --example book -- "$target/book"
