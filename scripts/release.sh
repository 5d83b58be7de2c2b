#!/usr/bin/env bash
# Builds the command as it is released: optimised by a profile of how it is used, and packed with its completions,
# manual pages, the licences of all that it contains, and an SBOM.
#
#   scripts/release.sh                   build, count instructions with the profile and without, pack
#   scripts/release.sh --no-count        build and pack
#   scripts/release.sh --profile FILE    build with a profile that exists, and pack
#
# The profile comes from the scenarios below; none of them is one that benches/instructions.sh counts, so that the count
# says what a user gains. It needs llvm-profdata of the LLVM that rustc has: rustup's component llvm-tools, which is added
# if rustup is there, or a program named by LLVM_PROFDATA or found in the PATH. Without, the release is built without a
# profile, and says so.
#
# Archive, SBOM, profile and their checksums go to target/dist. The same sources, compiler and profile give the same archive in
# any folder: threads make profiles of the same sources differ in a few counts, so a release publishes its own.
# scripts/components.py, which lists the contents, needs python3.
set -euo pipefail
cd "$(dirname "$0")/.."

count=true given="" usage="usage: $0 [--no-count | --profile FILE]"
case "$#:${1:-}" in
    0:) ;;
    1:--no-count) count=false ;;
    2:--profile)
        [ -f "${2:-}" ] || { echo "$0: --profile needs a file, and '${2:-}' is none" >&2; exit 2; }
        count=false given=$(realpath "$2")
        ;;
    *) echo "$usage" >&2; exit 2 ;;
esac

# Scenario, and what is changed in it. Every transport, every flow control, dense and sparse, on one thread and on two.
training=(
    "examples/web-search-dcqcn.toml"
    "examples/web-search-dcqcn.toml threads=2"
    "examples/link-failure.toml duration=10ms"
    "examples/permutation.toml fabric.k=8 duration=400us"
    "examples/all-reduce.toml"
    "examples/replay/scenario.toml"
    "examples/htsim/scenario.toml"
    "examples/ndp-incast.toml"
    "examples/pabo-incast.toml"
    "examples/deadlock-ring.toml"
    "examples/dctcp-rate.toml"
    "examples/eccp.toml duration=200ms"
    "examples/hetflow.toml"
    "examples/hpcc.toml"
    "examples/hull.toml"
    "examples/irn.toml"
    "examples/parking-lot.toml"
    "examples/partial-pfc.toml"
    "examples/pause-storm.toml"
    "examples/qcn.toml"
    "examples/swift.toml"
    "examples/tcp-dumbbell.toml"
    "examples/tcp-sack.toml"
    "examples/tcp-vegas.toml"
    "examples/timely.toml"
    "examples/trim-shared-buffer.toml"
    "examples/tsn-cyclic.toml"
    "examples/tsn-gates.toml"
    "examples/tsn-preemption.toml"
    "examples/tsn-shaping.toml"
    "experiments/pabo/fat-tree.toml duration=50ms"
    "experiments/physics/md1.toml"
)

compiler=$(rustc -vV)
host=$(sed -n 's/^host: //p' <<< "$compiler")
llvm=$(sed -n 's/^LLVM version: \([0-9]*\).*/\1/p' <<< "$compiler")
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
target=$(mkdir -p "${CARGO_TARGET_DIR:-target}" && cd "${CARGO_TARGET_DIR:-target}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A program that reads profiles of this rustc, or nothing.
profdata() {
    local own candidate
    own=$(rustc --print sysroot)/lib/rustlib/$host/bin/llvm-profdata
    if [ -z "${LLVM_PROFDATA:-}" ] && [ ! -x "$own" ] && command -v rustup > /dev/null; then
        rustup component add llvm-tools > /dev/null 2>&1 || true
    fi
    for candidate in "${LLVM_PROFDATA:-}" "$own" "llvm-profdata-$llvm" llvm-profdata; do
        # The format of a profile changes from version to version.
        if [ -n "$candidate" ] && command -v "$candidate" > /dev/null &&
            "$candidate" merge --version 2> /dev/null | grep -q "LLVM version $llvm\."; then
            command -v "$candidate"
            return
        fi
    done
}

# Builds the command with flags, in a folder of its own: other flags would make cargo build everything else again.
# Since a target is named, build scripts and macros do not get them. Messages of panics name source files: without the folders
# of this machine.
build() {
    local folder=$1 flags=$2
    flags+=" --remap-path-prefix=$PWD=. --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
    CARGO_TARGET_DIR="$target/$folder" RUSTFLAGS="${RUSTFLAGS:-} $flags" \
        cargo build --profile distribution --locked --quiet --package tidegate --target "$host"
}

# Prints the hash of the results of each scenario of the training.
train() {
    local program=$1 entry words key
    for entry in "${training[@]}"; do
        read -ra words <<< "$entry"
        local arguments=("${words[0]}" --set threads=1)
        for key in "${words[@]:1}"; do arguments+=(--set "$key"); done
        "$program" run "${arguments[@]}" --json > "$work/summary.json" 2> "$work/errors.txt" || {
            cat "$work/errors.txt" >&2
            echo "$entry failed" >&2
            return 1
        }
        echo "$entry $(sed -n 's/^ *"results_hash": *"\(.*\)".*/\1/p' "$work/summary.json")"
    done
}

mkdir -p "$target/release-profile"
profile=$target/release-profile/tidegate.profdata
reader=""
if [ -z "$given" ]; then reader=$(profdata); fi
if [ -n "$given" ]; then
    echo "building with the profile $given"
    [ "$given" -ef "$profile" ] || cp "$given" "$profile"
    rm -rf "$target/release-profiled"
    build release-profiled "-Cprofile-use=$profile"
    program=$target/release-profiled/$host/distribution/tidegate
elif [ -z "$reader" ]; then
    rm -f "$profile"
    echo "##" >&2
    echo "## NO PROFILE: there is no llvm-profdata of LLVM $llvm; this is an ordinary release build" >&2
    echo "##" >&2
    build release-plain ""
    program=$target/release-plain/$host/distribution/tidegate
else
    echo "building to take a profile"
    build release-training -Cprofile-generate
    echo "training on ${#training[@]} runs"
    program=$target/release-training/$host/distribution/tidegate
    LLVM_PROFILE_FILE="$work/raw/%p-%m.profraw" train "$program" > "$work/hashes.txt"
    "$reader" merge -o "$profile" "$work/raw"
    echo "building with the profile"
    # Cargo does not see that the profile is another one.
    rm -rf "$target/release-profiled"
    build release-profiled "-Cprofile-use=$profile"
    program=$target/release-profiled/$host/distribution/tidegate
    # A compiler that makes of a profile another program is not to be released.
    train "$program" | diff "$work/hashes.txt" -
    if $count; then
        build release-plain ""
        benches/instructions.sh --of "$target/release-plain/$host/distribution/tidegate" > "$work/plain.txt"
        benches/instructions.sh --of "$program" > "$work/profiled.txt"
        printf '%-20s %12s %14s %14s %9s\n' scenario packet-hops without with change
        paste "$work/plain.txt" "$work/profiled.txt" |
            awk '{ printf "%-20s %12d %14s %14s %+8.1f%%\n", $1, $2, $3, $6, ($6 / $3 - 1) * 100 }'
    fi
fi

name=tidegate-$version-$host
mkdir -p "$work/$name/completions" "$target/dist"
rm -f "$target/dist/$name".*
cp "$program" LICENSE-MIT LICENSE-APACHE README.md "$work/$name/"
# What debuggers read is most of the file. Names of functions stay.
if command -v strip > /dev/null; then strip --strip-debug "$work/$name/tidegate"; fi
for folder in "$PWD" "${CARGO_HOME:-$HOME/.cargo}"; do
    if grep -qaF "$folder/" "$work/$name/tidegate"; then
        echo "the program contains the path $folder" >&2
        exit 1
    fi
done
for shell in bash zsh fish powershell elvish; do
    "$program" completions "$shell" > "$work/$name/completions/tidegate.$shell"
done
"$program" man "$work/$name/man"
scripts/components.py --target "$host" --notices "$work/$name/THIRD-PARTY.txt" --sbom "$work/$name/tidegate.cdx.json"
notices=$(rustc --print sysroot)/share/doc/rust/COPYRIGHT-library.html
if [ -f "$notices" ]; then
    cp "$notices" "$work/$name/"
else
    echo "this Rust has no $notices, which an archive must contain: the notices of the standard library" >&2
    exit 1
fi
# The same sources make the same archive.
when=$(git log -1 --format=%ct 2> /dev/null || echo 0)
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mode=u+rw,go=u,go-w --mtime="@$when" -cf - "$name" |
    gzip -9n > "$target/dist/$name.tar.gz"
cp "$work/$name/tidegate.cdx.json" "$target/dist/$name.cdx.json"
if [ -f "$profile" ]; then cp "$profile" "$target/dist/$name.profdata"; fi
cd "$target/dist"
sums=$(sha256sum "$name".*)
tee "$name.sha256" <<< "$sums"
