#!/bin/bash
# Prints our side of experiments/peers/README.md: what Tidegate gives for the networks and traffic of other simulators.
#
#   scripts/peers.sh [TIDEGATE]     the binary, target/distribution/tidegate without
#
# Completion times of rows are those of fct.txt, which end with the last acknowledgement at the sender, as the others' do; the
# lines of TCP have those at the receiver.
set -euo pipefail
cd "$(dirname "$0")/.."
tidegate=${1:-target/distribution/tidegate}
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

# One row: a name, the seeds, a scenario, further arguments.
row() {
    local name=$1 seeds=$2 scenario=$3 seed
    shift 3
    for seed in $seeds; do
        rm -rf "$results/run"
        # A check that is red is the reader's to see, not the end of the table.
        "$tidegate" run "$scenario" --seed "$seed" --out "$results/run" "$@" > "$results/words" 2> "$results/errors" ||
            { cat "$results/errors" >&2; grep -h '^checks.*failed' "$results/words" || true; }
        sort -n -k 7 "$results/run/fct.txt" | awk -v name="$name" -v seed="$seed" -v pauses="$(grep '^pauses  ' "$results/words")" '
            { end[NR] = $7 / 1000 }
            END {
                split(pauses, words, " ")
                printf "%-24s seed %d  %4d flows, us: median %9.1f  last %9.1f  pauses %s\n",
                    name, seed, NR, end[int((NR + 1) / 2)], end[NR], words[2]
            }'
    done
}

# What a run prints of itself under these names.
lines() {
    local name=$1 seeds=$2 scenario=$3 wanted=$4 seed
    shift 4
    for seed in $seeds; do
        rm -rf "$results/run"
        "$tidegate" run "$scenario" --seed "$seed" --out "$results/run" "$@" > "$results/words" 2> "$results/errors" ||
            { cat "$results/errors" >&2; grep -h '^checks.*failed' "$results/words" || true; }
        printf '%-24s seed %d\n' "$name" "$seed"
        grep -E "^($wanted)  " "$results/words" | sed 's/^/    /'
        grep -o '"timeouts": *[1-9][0-9]*' "$results/run/summary.json" | sed 's/^/    /' || true
    done
}

eqds='host.transport={ kind = "eqds", payload = "4000B", header = "44B", initial_window = 50 }'
peers=experiments/peers
row "NDP, incast" "1 2 3" $peers/htsim-incast.toml
for k in 8 16; do
    row "NDP, k=$k" "1 2 3 4 5" $peers/htsim-permutation.toml --set fabric.k=$k \
        --set "traffic.0={ kind = \"replay\", file = \"permutation-k$k.cm\" }"
done
row "EQDS, incast" "1 2 3" $peers/htsim-incast.toml --set "$eqds"
row "EQDS, permutation" "1 2 3" $peers/htsim-permutation.toml --set "$eqds"
row "RoCE, three to one" "1" $peers/roce-permutation.toml --set traffic.0.file=three-to-one.cm
row "RoCE, k=8" "$(seq -s ' ' 50)" $peers/roce-permutation.toml
row "RoCE, k=16" "$(seq -s ' ' 10)" $peers/roce-permutation.toml --set fabric.k=16 --set traffic.0.file=permutation-k16.cm
row "DCQCN, star" "1 2 3 4 5" examples/hpcc-star.toml
row "DCQCN, joining" "1 2 3 4 5" $peers/hpcc-join.toml
lines "UDP, k=8" "1 2" $peers/udp.toml "packets|drops|delay"
lines "TCP, k=8" "1 2" $peers/tcp.toml "drops|on the way|completion"
lines "TCP, no loss" "1 2 3" $peers/tcp.toml "drops|on the way|completion" --set 'switch.queue="100000 packets"'
lines "TCP with SACK" "1 2" $peers/tcp.toml "drops|on the way|completion" --set host.transport.sack=true
python3 $peers/hpcc.py "$tidegate"
