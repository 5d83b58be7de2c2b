#!/bin/bash
# Tidegate's speed beside other simulators', each pair of runs one after the other: the tables of docs/peers.md, which
# says how the others are built. Those that are not given are left out.
#
#   experiments/peers/speed.sh [TIDEGATE]    the binary, target/distribution/tidegate without
#
#   HTSIM=FOLDER    csg-htsim's sim/datacenter, with htsim_ndp and htsim_roce
#   FORK=FOLDER     build of HPCC's simulator, with scratch/third
#   NS3=PROGRAM     ns3/fat_tree.cc, compiled
#   PAIRS=N         pairs of runs of each case, 5 without
#   ONLY=WORDS      only cases whose name has these words
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tidegate=$(realpath "${1:-$here/../../target/distribution/tidegate}")
HTSIM=$(realpath -m "${HTSIM:-none}") FORK=$(realpath -m "${FORK:-none}") NS3=$(realpath -m "${NS3:-none}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$here"/*.toml "$here"/*.cm "$here"/k8/* "$folder"
cd "$folder"

sed 's/size 2000000/size 10000000/' permutation-k8.cm > permutation-k8-10MB.cm
{
    printf 'Nodes 128\nConnections 100\n'
    for sender in $(seq 100); do printf '%d->0 id %d start 0 size 10000000\n' "$sender" "$sender"; done
} > incast-100.cm

# One case: a name, the peer, how many frames cross a link there in one run (docs/peers.md says how they were counted),
# the peer's command, --, the arguments of tidegate run.
compare() {
    local name=$1 peer=$2 work=$3 theirs=() ours=()
    shift 3
    case "$name" in *"${ONLY:-}"*) ;; *) return ;; esac
    while [ "$1" != -- ]; do theirs+=("$1"); shift; done
    shift
    [ -x "${theirs[0]}" ] || return 0
    ours=("$tidegate" run "$@" --threads 1)
    echo "## $name"
    "${ours[@]}" --json > ours.json
    hops=$(sed -n 's/^ *"packet_hops": \([0-9]*\).*/\1/p' ours.json)
    echo "packet-hops: $hops of tidegate, $work of $peer"
    "$here/../../benches/alternate.py" -n "${PAIRS:-5}" --work-a "$hops" --work-b "$work" --names tidegate "$peer" \
        "$(printf '%q ' "${ours[@]}" --quiet)" "$(printf '%q ' "${theirs[@]}")"
    echo
}

links=(-linkspeed 100000 -hop_latency 1 -switch_latency 0 -o log.dat)
ndp=("$HTSIM/htsim_ndp" "${links[@]}" -strat perm)
roce=("$HTSIM/htsim_roce" "${links[@]}" -strat ecmp_host -paths 1 -mtu 4000 -queue_type lossless_input -q 5000)
replay() { printf 'traffic.0={ kind = "replay", file = "%s" }' "$1"; }

compare "NDP, k=8, 4000 B" htsim 4428754 \
    "${ndp[@]}" -nodes 128 -tm permutation-k8-10MB.cm -mtu 4000 -q 35 -cwnd 50 -end 1000 -- \
    htsim-permutation.toml --set "$(replay permutation-k8-10MB.cm)" --set duration=1000us
compare "NDP, k=8, 1500 B" htsim 11327444 \
    "${ndp[@]}" -nodes 128 -tm permutation-k8-10MB.cm -mtu 1500 -q 93 -cwnd 134 -end 1000 -- \
    htsim-permutation.toml --set "$(replay permutation-k8-10MB.cm)" --set duration=1000us \
    --set host.transport.payload=1500B --set host.transport.initial_window=134 --set 'switch.queue="93 packets"'
compare "NDP, k=8, 1500 B, half the window" htsim 11210128 \
    "${ndp[@]}" -nodes 128 -tm permutation-k8-10MB.cm -mtu 1500 -q 35 -cwnd 50 -end 2000 -- \
    htsim-permutation.toml --set "$(replay permutation-k8-10MB.cm)" --set duration=2000us \
    --set host.transport.payload=1500B
compare "NDP, k=16, 4000 B" htsim 7204434 \
    "${ndp[@]}" -nodes 1024 -tm permutation-k16.cm -mtu 4000 -q 35 -cwnd 50 -end 250 -- \
    htsim-permutation.toml --set "$(replay permutation-k16.cm)" --set duration=250us --set fabric.k=16
compare "NDP, incast 100:1" htsim 4287166 \
    "${ndp[@]}" -nodes 128 -tm incast-100.cm -mtu 4000 -q 35 -cwnd 50 -end 90000 -- \
    htsim-incast.toml --set "$(replay incast-100.cm)" --set duration=90ms
compare "RoCE, k=8" htsim 746000 \
    "${roce[@]}" -nodes 128 -tm permutation-k8.cm -end 2000 -- \
    roce-permutation.toml --set duration=2ms
compare "RoCE, k=16" htsim 6012000 \
    "${roce[@]}" -nodes 1024 -tm permutation-k16.cm -end 2000 -- \
    roce-permutation.toml --set duration=2ms --set fabric.k=16 --set traffic.0.file=permutation-k16.cm

# What the fork reads, DCQCN or HPCC as its run.py has them at 100 Gbps, and nothing monitored. Arguments: further lines.
configuration() {
    cat << END
TOPOLOGY_FILE fat8.topo
FLOW_FILE permutation.flow
SIMULATOR_STOP_TIME 2.0015
TRACE_FILE traced.txt
TRACE_OUTPUT_FILE trace.tr
ENABLE_TRACE 0
FCT_OUTPUT_FILE fct.txt
PFC_OUTPUT_FILE pfc.txt
QLEN_MON_FILE queues.txt
QLEN_MON_START 4000000000
QLEN_MON_END 4000000000
ENABLE_QCN 1
USE_DYNAMIC_PFC_THRESHOLD 1
PACKET_PAYLOAD_SIZE 1000
L2_CHUNK_SIZE 4000
L2_ACK_INTERVAL 1
L2_BACK_TO_ZERO 0
RATE_BOUND 1
GLOBAL_T 1
MIN_RATE 1000Mb/s
BUFFER_SIZE 32
KMAX_MAP 1 100000000000 1600
KMIN_MAP 1 100000000000 400
PMAX_MAP 1 100000000000 0.2
END
    printf '%s\n' "$@"
}
configuration 'CC_MODE 1' 'ALPHA_RESUME_INTERVAL 1' 'RATE_DECREASE_INTERVAL 4' 'CLAMP_TARGET_RATE 0' \
    'RP_TIMER 300' 'EWMA_GAIN 0.00390625' 'FAST_RECOVERY_TIMES 1' 'RATE_AI 20Mb/s' 'RATE_HAI 200Mb/s' 'HAS_WIN 0' \
    'ACK_HIGH_PRIO 1' > dcqcn.config
configuration 'CC_MODE 3' 'RATE_AI 40Mb/s' 'HAS_WIN 1' 'VAR_WIN 1' 'FAST_REACT 1' 'U_TARGET 0.95' 'MI_THRESH 0' \
    'INT_MULTI 4' 'MULTI_RATE 0' > hpcc.config
echo 0 > traced.txt
export LD_LIBRARY_PATH="$FORK${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
for control in dcqcn hpcc; do
    "$tidegate" import hpcc $control.config --out $control.toml > /dev/null 2>&1
    compare "${control^^}, k=8" "HPCC's fork" 2928000 \
        "$FORK/scratch/third" $control.config -- $control.toml --set host.transport.header=28B
done

compare "UDP, k=8" ns-3 3483470 "$NS3" --kind=udp --pairs=permutation-k8.cm -- udp.toml
compare "TCP, k=8" ns-3 1537768 "$NS3" --kind=tcp --pairs=permutation-k8.cm --queue=100000p -- \
    tcp.toml --set 'switch.queue="100000 packets"'
