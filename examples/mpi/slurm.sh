#!/usr/bin/env bash
# One simulation over several machines, by Slurm: two ranks a machine, each with half its cores.
#
#   sbatch --nodes=4 examples/mpi/slurm.sh SCENARIO.toml /shared/out
#
# TIDEGATE is a program that was built with `--features mpi` and this cluster's MPI. Where srun knows no PMIx, mpirun
# in its place does as well inside of a job.
#SBATCH --job-name=tidegate
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=2
#SBATCH --cpus-per-task=8
#SBATCH --mem-per-cpu=2G
#SBATCH --time=04:00:00
# Half a minute before the end ranks are asked to stop: the first one writes a partial result.
#SBATCH --signal=TERM@30
set -euo pipefail
if [ $# != 2 ]; then
    echo "usage: sbatch slurm.sh SCENARIO.toml OUT" >&2
    exit 2
fi
exec srun --mpi=pmix --cpu-bind=cores --kill-on-bad-exit=1 "${TIDEGATE:-tidegate}" run "$1" --out "$2" --quiet \
    --threads "${SLURM_CPUS_PER_TASK:-1}"
