#!/usr/bin/env bash
# Packs fuzz/corpus/TARGET/ into the committed fuzz/corpus/TARGET.tar, or unpacks it.
# fuzz/pack.sh [--unpack] TARGET...
set -euo pipefail
cd "$(dirname "$0")/corpus"

unpack=false
if [ "${1:-}" = --unpack ]; then unpack=true; shift; fi
if [ $# = 0 ]; then echo "usage: fuzz/pack.sh [--unpack] TARGET..." >&2; exit 2; fi
for target in "$@"; do
    if $unpack; then
        mkdir -p "$target"
        tar -xf "$target.tar" -C "$target"
    else
        # Equal inputs give an equal archive.
        (cd "$target" && find . -type f -printf '%P\0' | LC_ALL=C sort -z) |
            tar -cf "$target.tar" --format=ustar --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=644 -C "$target" --null -T -
    fi
done
