#!/usr/bin/env bash
# Instructions per packet-hop on fixed scenarios, against benches/instructions.json: fails on a rise of more than 3 %.
#
#   benches/instructions.sh             compare
#   benches/instructions.sh --record    write what was counted as the new baseline
#   benches/instructions.sh --of FILE   count those of this program, which is built already, and compare with nothing
#
# Each scenario runs twice, short and long, and the difference counts: reading, building and writing cancel out. A count
# of instructions does not depend on how busy the machine is, but on the compiler: record again after a new one.
set -euo pipefail
cd "$(dirname "$0")/.."

baseline=benches/instructions.json
limit_percent=3
# Name, scenario, short and long duration, overrides.
scenarios=(
    "dense-datagram-k8|benches/dense-datagram.toml|20us|60us|fabric.k=8"
    "dense-dcqcn-k8|benches/dense-dcqcn.toml|20us|60us|fabric.k=8"
    "sparse-tree|benches/sparse-tree.toml|10ms|60ms|seed=1"
    "incast-pfc|examples/incast-pfc.toml|100us|400us|record.queues=false"
    "ndp-permutation|benches/ndp-permutation.toml|50us|150us|seed=1"
    "pabo-severe|experiments/pabo/tree.toml|100ms|500ms|traffic.0.frames_per_burst=2501"
)

record=false
tidegate=""
case "${1:-}" in
    "") ;;
    --record) record=true ;;
    --of)
        tidegate=${2:-}
        [ -x "$tidegate" ] || { echo "$0: --of wants a program, and '$tidegate' is none" >&2; exit 2; }
        baseline=/dev/null
        ;;
    *) echo "usage: $0 [--record | --of FILE]" >&2; exit 2 ;;
esac

skip() {
    echo "##" >&2
    echo "## SKIPPED: instructions were not counted: $1" >&2
    echo "##" >&2
    # A baseline that was asked for and not made is a failure.
    if $record; then exit 1; fi
    exit 0
}

if ! command -v valgrind > /dev/null; then
    as_root=()
    if [ "$(id -u)" != 0 ]; then as_root=(sudo -n); fi
    if command -v apt-get > /dev/null; then
        echo "installing valgrind"
        "${as_root[@]}" apt-get -qq update > /dev/null 2>&1 || true
        "${as_root[@]}" apt-get -qq install -y --no-install-recommends valgrind > /dev/null 2>&1 || true
    fi
fi
command -v valgrind > /dev/null || skip "there is no valgrind, and apt-get cannot install it"

if [ -z "$tidegate" ]; then
    cargo build --release --locked --quiet
    tidegate=${CARGO_TARGET_DIR:-target}/release/tidegate
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The whole number of a key of summary.json.
summary_number() { awk -v key="\"$1\":" '$1 == key { gsub(/[^0-9]/, "", $2); print $2; exit }' "$2"; }

# Valgrind counts a string instruction once for each byte. So that a memset of glibc counts as the vector instructions that it is
# for short lengths, it must not use them.
export GLIBC_TUNABLES=glibc.cpu.x86_rep_stosb_threshold=1000000000:glibc.cpu.x86_rep_movsb_threshold=1000000000

# Prints instructions and packet-hops of one run.
count() {
    local scenario=$1 duration=$2 override=$3
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$tidegate" run "$scenario" --json \
        --set "duration=$duration" --set threads=1 --set "$override" > "$work/summary.json" 2> "$work/valgrind.txt" || {
        cat "$work/valgrind.txt" >&2
        echo "$scenario failed under valgrind" >&2
        return 1
    }
    local instructions hops
    instructions=$(awk '/Collected/ { print $NF; exit }' "$work/valgrind.txt")
    hops=$(summary_number packet_hops "$work/summary.json")
    if [ -z "$instructions" ] || [ -z "$hops" ]; then
        echo "$scenario: no count of instructions or packet-hops" >&2
        return 1
    fi
    echo "$instructions $hops"
}

compiler=$(rustc --version)
failed=false
lines=()
if [ "$baseline" != /dev/null ]; then
    printf '%-20s %12s %14s %14s %9s\n' scenario packet-hops "counted" "baseline" change
fi
for entry in "${scenarios[@]}"; do
    IFS='|' read -r name scenario short long override <<< "$entry"
    if ! before=$(count "$scenario" "$short" "$override") || ! after=$(count "$scenario" "$long" "$override"); then
        exit 1
    fi
    read -r instructions_before hops_before <<< "$before"
    read -r instructions_after hops_after <<< "$after"
    hops=$((hops_after - hops_before))
    if [ "$hops" -le 0 ]; then
        echo "$name: the longer run forwards no more packets than the shorter: an empty network measures nothing" >&2
        exit 1
    fi
    counted=$(awk -v i=$((instructions_after - instructions_before)) -v h=$hops 'BEGIN { printf "%.1f", i / h }')
    lines+=("    \"$name\": $counted")
    if [ "$baseline" = /dev/null ]; then
        printf '%-20s %12d %14s\n' "$name" "$hops" "$counted"
        continue
    fi
    known=""
    if [ -f "$baseline" ]; then
        known=$(awk -v key="\"$name\":" '$1 == key { gsub(/,/, "", $2); print $2; exit }' "$baseline")
    fi
    if [ -z "$known" ]; then
        printf '%-20s %12d %14s %14s %9s\n' "$name" "$hops" "$counted" none -
        if ! $record; then
            echo "$name has no baseline: run $0 --record" >&2
            failed=true
        fi
        continue
    fi
    change=$(awk -v a="$counted" -v b="$known" 'BEGIN { printf "%+.1f", (a / b - 1) * 100 }')
    printf '%-20s %12d %14s %14s %8s%%\n' "$name" "$hops" "$counted" "$known" "$change"
    if awk -v c="$change" -v limit=$limit_percent 'BEGIN { exit !(c > limit) }'; then
        if ! $record; then
            echo "$name: $counted instructions a packet-hop, more than $limit_percent % above $known" >&2
            failed=true
        fi
    fi
done

if $record; then
    {
        echo '{'
        echo "  \"compiler\": \"$compiler\","
        echo '  "instructions_per_packet_hop": {'
        printf '%s\n' "${lines[@]}" | sed '$!s/$/,/'
        echo '  }'
        echo '}'
    } > "$work/baseline.json"
    mv "$work/baseline.json" "$baseline"
    echo "recorded in $baseline"
    exit 0
fi
if $failed; then
    recorded_with=$(sed -n 's/.*"compiler": "\(.*\)".*/\1/p' "$baseline" 2> /dev/null || true)
    if [ -n "$recorded_with" ] && [ "$recorded_with" != "$compiler" ]; then
        echo "the baseline is of \`$recorded_with\`, this is \`$compiler\`: record again if the compiler is to blame" >&2
    fi
    exit 1
fi
