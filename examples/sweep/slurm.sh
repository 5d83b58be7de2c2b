#!/usr/bin/env bash
# A sweep as a job array of Slurm: each task does its part in one folder, which all nodes share.
#
#   tasks=$(sbatch --parsable examples/sweep/slurm.sh SWEEP.toml /shared/out)
#   sbatch --dependency=afterany:$tasks --wrap "tidegate sweep SWEEP.toml --resume --out /shared/out"
#
# The second job writes the table of all parts, and makes the runs that a killed part left. For another number of parts
# than 4, give it and the array:
#
#   sbatch --array=1-16 examples/sweep/slurm.sh SWEEP.toml /shared/out 16
#   sbatch --array=2,7 examples/sweep/slurm.sh SWEEP.toml /shared/out 16      # parts 2 and 7 of these again
#
# A minute before its time limit a task stops, and is queued again, 10 times at most: it continues with what is complete. A run
# must therefore take less than the limit: a run that was stopped begins anew.
#
# A task whose runs are complete but fail a check ends with exit code 1, and sacct calls it FAILED. The disk of OUT must
# support file locks (Lustre with -o flock, NFS 4).
#SBATCH --job-name=tidegate
#SBATCH --array=1-4
#SBATCH --cpus-per-task=8
#SBATCH --mem-per-cpu=2G
#SBATCH --time=04:00:00
#SBATCH --requeue
#SBATCH --signal=B:USR1@60
set -euo pipefail
usage="usage: sbatch [--array=1-PARTS] slurm.sh SWEEP.toml OUT [PARTS]"
if [ $# -lt 2 ] || [ $# -gt 3 ]; then
    echo "$usage" >&2
    exit 2
fi
# As many as --array has above. SLURM_ARRAY_TASK_COUNT is that of the tasks in this submission: 1 for --array=3.
parts=${3:-4}
part=${SLURM_ARRAY_TASK_ID:-none}
if ! [[ $part =~ ^[0-9]+$ && $parts =~ ^[0-9]+$ ]] || ((10#$part < 1 || 10#$part > 10#$parts)); then
    echo "task $part of the array (SLURM_ARRAY_TASK_ID) is none of the parts 1 to $parts; $usage" >&2
    exit 2
fi
"${TIDEGATE:-tidegate}" sweep "$1" --out "$2" --quiet --jobs "${SLURM_CPUS_PER_TASK:-1}" --shard "$part/$parts" &
sweep=$!
limit=false
trap 'limit=true; kill "$sweep" 2> /dev/null || true' USR1
trap 'kill "$sweep" 2> /dev/null || true' TERM INT
code=0
wait "$sweep" || code=$?
# A signal ends the first wait, the sweep some milliseconds later.
while kill -0 "$sweep" 2> /dev/null; do
    code=0
    wait "$sweep" || code=$?
done
# A sweep that was complete when the signal came is not interrupted (130).
if $limit && [ "$code" = 130 ]; then
    if ((${SLURM_RESTART_COUNT:-0} >= 10)); then
        echo "part $part/$parts reached its time limit ${SLURM_RESTART_COUNT} times: give it more time (--time) or parts" >&2
        exit "$code"
    fi
    exec scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
