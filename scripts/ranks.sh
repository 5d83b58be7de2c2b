#!/usr/bin/env bash
# One simulation over several ranks, the long form: every example in every way between threads, then by MPI.
# Needs an MPI library with its headers, mpirun and libclang (Debian: libopenmpi-dev openmpi-bin libclang-dev).
# scripts/ranks.sh [--mpi-only] [--dev]      TIDEGATE=PROGRAM is taken in place of one that is built here
set -euo pipefail
cd "$(dirname "$0")/.."
profile=release mpi_only=
for argument in "$@"; do
    case $argument in
        --mpi-only) mpi_only=1 ;;
        --dev) profile=dev ;;
        *) echo "usage: scripts/ranks.sh [--mpi-only] [--dev]" >&2; exit 2 ;;
    esac
done
[ -n "$mpi_only" ] || cargo test --locked --release -p tidegate-lab --test lab ranks -- --include-ignored

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
[ -n "${TIDEGATE:-}" ] || cargo build --locked --profile "$profile" -p tidegate --features mpi
# The program without MPI comes back with the next build.
cp "${TIDEGATE:-${CARGO_TARGET_DIR:-target}/${profile/dev/debug}/tidegate}" "$out/tidegate"
tidegate=$out/tidegate
# Open MPI needs options for tests that run as root, on fewer cores than ranks, and on one machine.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
mpi() { local ranks=$1; shift; mpirun -n "$ranks" "$@"; }
fail() { echo "ranks: $*" >&2; exit 1; }

# name, and what is changed about the example
cases=(
    "incast-pfc --set duration=1ms --set record.trace={until=\"100us\"}"
    "leaf-spine"
    "hpcc --set duration=1ms"
    "pabo-incast --set duration=2ms"
    "trim-shared-buffer --set duration=1ms"
    "ndp-incast --set duration=1ms"
    "florax --set duration=5ms --set measure.warm_up=1ms"
    "deadlock-ring --set duration=1ms"
    "collectives"
    "tsn-preemption --set duration=2ms"
)
for case in "${cases[@]}"; do
    read -r -a words <<< "$case"
    name=${words[0]}
    "$tidegate" run "examples/$name.toml" "${words[@]:1}" --quiet --out "$out/$name" || [ $? = 1 ]
    for way in "1 1" "2 1" "3 1" "2 2" "3 2"; do
        read -r ranks threads <<< "$way"
        mpi "$ranks" "$tidegate" run "examples/$name.toml" "${words[@]:1}" --quiet --threads "$threads" \
            --out "$out/$name-$ranks-$threads" > "$out/said" 2>&1 || [ $? = 1 ] || { cat "$out/said"; fail "$case"; }
        diff -r --exclude timing.json --exclude tidegate.sha256 "$out/$name" "$out/$name-$ranks-$threads" \
            || fail "$case: $ranks ranks with $threads threads are otherwise"
    done
    echo "ranks: $name is the same in one process and on 1, 2 and 3 ranks"
done

# A part of a ring has two neighbours: many more ranks than that vote.
"$tidegate" run benches/ring.toml --set duration=100us --quiet --out "$out/ring"
for ranks in 5 8; do
    mpi $ranks "$tidegate" run benches/ring.toml --set duration=100us --quiet --out "$out/ring-$ranks"
    diff -r --exclude timing.json --exclude tidegate.sha256 "$out/ring" "$out/ring-$ranks" \
        || fail "a ring on $ranks ranks is otherwise"
done
echo "ranks: a ring is the same in one process and on 5 and 8 ranks"

# Ranks that would mostly wait are warned of, with the time from meeting to meeting.
mpi 2 "$tidegate" run examples/parking-lot.toml --set duration=1ms --set measure.warm_up=100us > "$out/said" 2>&1 \
    || [ $? = 1 ]
grep -q "2 ranks cut .* wires, the shortest of .*, and meet as often" "$out/said" \
    || { cat "$out/said"; fail "no warning of short links"; }

# Errors are reported once, with the reason.
if mpi 2 "$tidegate" run examples/leaf-spine.toml --quiet --out "$out/both" : \
    -n 1 "$tidegate" run examples/leaf-spine.toml --seed 7 --quiet --out "$out/both" > "$out/said" 2>&1; then
    fail "ranks with different seeds ran"
fi
grep -q "rank 2 has another run than rank 0" "$out/said" || { cat "$out/said"; fail "different seeds are not reported"; }
cp "$tidegate" "$out/other-build" && echo >> "$out/other-build"
if mpi 1 "$tidegate" run examples/leaf-spine.toml --quiet --out "$out/both" : \
    -n 1 "$out/other-build" run examples/leaf-spine.toml --quiet --out "$out/both" > "$out/said" 2>&1; then
    fail "ranks of different builds ran"
fi
grep -q "rank 1 has another run than rank 0" "$out/said" || { cat "$out/said"; fail "different builds are not reported"; }
[ ! -e "$out/both" ] && [ ! -e "$out/both.partial" ] || fail "what was refused left a result"
if mpi 10 "$tidegate" run examples/parking-lot.toml --quiet > "$out/said" 2>&1; then fail "more ranks than nodes ran"; fi
[ "$(grep -c "more than there are nodes" "$out/said")" = 1 ] || { cat "$out/said"; fail "too many ranks are not reported once"; }
echo "ranks: different runs, different builds and too many ranks are refused"

# A rank that dies ends all, and leaves no result. A signal at one of them ends all with a partial one.
start_long() {
    mpirun -n 2 "$tidegate" run examples/leaf-spine.toml --quiet --set duration=10s --set measure.end=9s \
        --out "$out/$1" > "$out/said" 2>&1 &
    launcher=$!
    for _ in $(seq 200); do
        sleep 0.1
        mapfile -t ranks < <(pgrep -P "$launcher" tidegate || true)
        [ ${#ranks[@]} = 2 ] && [ -d "$out/$1.partial" ] && return 0
    done
    cat "$out/said"
    fail "no two ranks began"
}
start_long killed
sleep 1
kill -KILL "${ranks[1]}"
if wait "$launcher"; then fail "a run without one of its ranks succeeded"; fi
[ ! -e "$out/killed" ] || fail "a killed run left a result"
[ ! -e "$out/killed.partial" ] || fail "a killed run left half a result"
grep -qi "rank\|process" "$out/said" || { cat "$out/said"; fail "nothing is said of the rank that died"; }
echo "ranks: one that dies ends all, and leaves nothing"
start_long stopped
sleep 1
kill -INT "${ranks[1]}"
code=0; wait "$launcher" || code=$?
[ "$code" = 130 ] || { cat "$out/said"; fail "a stop ended with exit code $code"; }
grep -q '"partial": true' "$out/stopped/summary.json" || fail "a stopped run left no partial result"
echo "ranks: a signal at one of them ends all, with a partial result"
