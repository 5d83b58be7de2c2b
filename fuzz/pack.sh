#!/usr/bin/env bash
# Packs fuzz/corpus/TARGET/ into the committed fuzz/corpus.tar, in place of the inputs of TARGET there, or unpacks it.
# fuzz/pack.sh [--unpack] TARGET...
set -euo pipefail
cd "$(dirname "$0")"

unpack=false
if [ "${1:-}" = --unpack ]; then unpack=true; shift; fi
if [ $# = 0 ]; then echo "usage: fuzz/pack.sh [--unpack] TARGET..." >&2; exit 2; fi
mkdir -p corpus
if $unpack; then
    tar -xf corpus.tar -C corpus "$@"
    exit
fi
all=$(mktemp -d)
trap 'rm -rf "$all"' EXIT
if [ -e corpus.tar ]; then tar -xf corpus.tar -C "$all"; fi
for target in "$@"; do
    [ -d "corpus/$target" ] || { echo "fuzz/pack.sh: no folder fuzz/corpus/$target" >&2; exit 2; }
    rm -rf "${all:?}/$target"
    cp -r "corpus/$target" "$all/$target"
done
# Equal inputs give an equal archive.
(cd "$all" && find . -type f -printf '%P\0' | LC_ALL=C sort -z) |
    tar -cf corpus.tar --format=ustar --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=644 -C "$all" --null -T -
