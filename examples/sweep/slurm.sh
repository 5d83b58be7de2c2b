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
# A task whose runs are complete but fail a check ends with exit code 1, and sacct calls it FAILED. The disk of OUT must
# support file locks (Lustre with -o flock, NFS 4).
#SBATCH --job-name=tidegate
#SBATCH --array=1-4
#SBATCH --cpus-per-task=8
#SBATCH --mem-per-cpu=2G
#SBATCH --time=04:00:00
#SBATCH --requeue
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
exec "${TIDEGATE:-tidegate}" sweep "$1" --out "$2" --quiet --jobs "${SLURM_CPUS_PER_TASK:-1}" --shard "$part/$parts"
