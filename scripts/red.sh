#!/usr/bin/env bash
# Holds the list of the papers' claims that do not come out to be exact: experiments/red-full.txt, or with --quick experiments/red.txt.
# scripts/red.sh [--quick] [PAPER[/EXPERIMENT]]...
# TIDEGATE is the program to ask, if not the release build; results stay in target/red, a file a paper.
set -euo pipefail
exec < /dev/null
cd "$(dirname "$0")/.."
export LC_ALL=C

quick=() list=experiments/red-full.txt results=${CARGO_TARGET_DIR:-target}/red/full chosen=()
for argument in "$@"; do
    case $argument in
        --quick) quick=(--quick) list=experiments/red.txt results=${CARGO_TARGET_DIR:-target}/red/quick ;;
        -*) echo "usage: scripts/red.sh [--quick] [PAPER[/EXPERIMENT]]..." >&2; exit 2 ;;
        *) chosen+=("${argument%/}") ;;
    esac
done
if [ -z "${TIDEGATE:-}" ]; then
    cargo build --release --locked -p tidegate
    TIDEGATE=${CARGO_TARGET_DIR:-target}/release/tidegate
fi

# The ids in a document that `reproduce --list --json` printed.
ids() {
    awk -F'": ' '$1 ~ /"id$/ { gsub(/^"|",?$/, "", $2); print $2 }'
}

# The outcomes in a document that `reproduce --json` printed, a line each: `fails`, `holds` or `not judged`, a tab, `experiment: check`.
outcomes() {
    awk -F'": ' '
        function value(text) { gsub(/^"|",?$/, "", text); gsub(/\\"/, "\"", text); return text }
        $1 ~ /"id$/     { id = value($2); name = "" }
        $1 ~ /"name$/   { name = $0; sub(/^ *"name": /, "", name); name = value(name) }
        $1 ~ /"pass$/ && name != "" {
            print ($2 ~ /^false/ ? "fails" : $2 ~ /^true/ ? "holds" : "not judged") "\t" id ": " name
            name = ""
        }
        $1 ~ /"open_choices$/ { name = "" }
    ' "$1"
}

if [ ${#chosen[@]} = 0 ]; then
    mapfile -t chosen < <("$TIDEGATE" reproduce --list --json | ids | sed 's:/.*::' | sort -u)
fi
mkdir -p "$results"
: > "$results/outcomes"
: > "$results/listed"
for paper in "${chosen[@]}"; do
    document=$results/${paper//\//-}.json status=0
    "$TIDEGATE" reproduce "$paper" ${quick[@]+"${quick[@]}"} --json > "$document" || status=$?
    if [ "$status" -gt 1 ]; then exit "$status"; fi
    outcomes "$document" >> "$results/outcomes"
    # What the list has of it, with a tab before the class.
    awk -v paper="$paper" '
        /^#/ { next }
        index($0, paper "/") == 1 || index($0, paper ": ") == 1 { sub(/ \| /, "\t"); print }
    ' "$list" >> "$results/listed"
done

awk -F'\t' -v list="$list" '
    FNR == NR {
        outcome[$2] = $1
        count[$1]++
        order[++checks] = $2
        next
    }
    {
        class = $2 == "" ? "unclassified" : $2
        sub(/ \| .*/, "", class)
        listed[$1] = class
        if (outcome[$1] == "fails") {
            classes[class]++
            if (class == "open choice" && $2 !~ / \| search: /) unsearched++
            next
        }
        wrong[++wrongs] = (outcome[$1] == "" ? "is no check" : outcome[$1]) ", and must leave the list: " $1
    }
    END {
        for (i = 1; i <= checks; i++) {
            check = order[i]
            if (outcome[check] == "not judged") print "not judged: " check
            if (outcome[check] == "fails" && !(check in listed)) wrong[++wrongs] = "fails, and is not in the list: " check
        }
        printf "%d hold, %d fail, %d are not judged\n", count["holds"], count["fails"], count["not judged"]
        known = split("paper'"'"'s slip,open choice,ours to fix,unknown,unclassified", names, ",")
        for (i = 1; i <= known; i++) if (classes[names[i]] > 0) printf "known to fail, %s: %d\n", names[i], classes[names[i]]
        if (unsearched > 0) printf "%d of the open choices are not searched\n", unsearched
        for (i = 1; i <= wrongs; i++) print wrong[i]
        if (wrongs == 0) print list " is exact"
        exit wrongs > 0
    }
' "$results/outcomes" "$results/listed"
