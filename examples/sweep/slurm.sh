#!/usr/bin/env bash
# A sweep as a job array of Slurm: each task does its part in one folder, which all nodes share.
#
#   parts=$(sbatch --parsable examples/sweep/slurm.sh SWEEP.toml /shared/out)
#   sbatch --dependency=afterany:$parts --wrap "tidegate sweep SWEEP.toml --resume --out /shared/out"
#
# The second job writes the table of all parts, and makes the runs that a killed part left. The folder's disk must know
# file locks (Lustre with -o flock, NFS 4).
#SBATCH --job-name=tidegate
#SBATCH --array=1-4
#SBATCH --cpus-per-task=8
#SBATCH --mem-per-cpu=2G
#SBATCH --time=04:00:00
#SBATCH --requeue
set -euo pipefail
if [ $# != 2 ]; then
    echo "usage: sbatch slurm.sh SWEEP.toml OUT" >&2
    exit 2
fi
# The array begins at 1, as the parts do.
exec "${TIDEGATE:-tidegate}" sweep "$1" --out "$2" --quiet --jobs "${SLURM_CPUS_PER_TASK:-1}" \
    --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT"
