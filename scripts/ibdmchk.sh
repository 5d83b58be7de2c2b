#!/usr/bin/env bash
# Compares `tidegate fabric check --pfc` with ibdmchk, InfiniBand's checker for credit loops, on random fabrics and routings.
# Both ask whether buffers of one class can wait for each other in a circle; they share no code and no authors.
#
#   scripts/ibdmchk.sh [COUNT] [FOLDER]
#
# COUNT fabrics (400), written to FOLDER (a temporary one, removed if all agree). Needs cargo, and Debian's ibutils: what is
# missing is installed with apt-get, which needs root. Takes about a minute; not part of .ci/run.
set -euo pipefail
cd "$(dirname "$0")/.."
count=${1:-400}
folder=${2:-$(mktemp -d)}
target=${CARGO_TARGET_DIR:-target}/release

if ! command -v ibdmchk > /dev/null; then
    apt-get update --quiet
    apt-get install --yes --quiet --no-install-recommends opensm ibsim-utils ibutils
fi
cargo build --release --locked --quiet -p tidegate
cargo run --release --locked --quiet -p tidegate-verify --example random_routings -- "$count" "$folder"

agree=0 loops=0 wrong=0
for case in "$folder"/[0-9]*; do
    # It may crash after its verdict (Debian's 1.5.7 does, in a later analysis): what it printed counts.
    theirs=$(cd "$case" && { ibdmchk -s subnet.lst -f opensm.fdbs -m opensm.mcfdbs 2>&1 || true; } 2> /dev/null | tee ibdmchk.log |
        sed -n -e 's/^-I- no credit loops found.*/free/p' -e 's/^-E- credit loops in routing.*/loop/p')
    ours=free
    "$target/tidegate" fabric check "$case/topology.json" --pfc --paths "$case/paths.txt" > "$case/tidegate.log" ||
        case $? in 1) ours=loop ;; *) ours=error ;; esac
    if [ "$ours" = "$theirs" ]; then
        agree=$((agree + 1))
        if [ "$ours" = loop ]; then loops=$((loops + 1)); fi
    else
        wrong=$((wrong + 1))
        echo "$case: tidegate says $ours, ibdmchk says ${theirs:-nothing}"
    fi
done
echo "$agree of $count agree: $loops with a circle, $((agree - loops)) without"
if [ "$wrong" -ne 0 ]; then exit 1; fi
if [ "$#" -lt 2 ]; then rm -r "$folder"; fi
