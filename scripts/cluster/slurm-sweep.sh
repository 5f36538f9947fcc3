#!/usr/bin/env bash
# A parameter study on a cluster with Slurm: each task of the array takes one run of it. Adapt the lines marked <== and submit it
# from the source folder, with as many tasks as the study has runs (points times seeds):
#   sbatch --array=0-29 scripts/cluster/slurm-sweep.sh inputs/granular/heap2d.toml \
#          --vary pairs.glass-glass.friction=0:0.9:0.1 --ensemble 3
# When all have ended, the same command with --resume instead of --index writes the table:
#   build/release/bin/scree sweep DECK --vary ... --ensemble 3 --resume
#SBATCH --job-name=scree-sweep
#SBATCH --time=04:00:00
#SBATCH --ntasks=1                    # <== ranks of one run
#SBATCH --cpus-per-task=1
#SBATCH --hint=nomultithread
#SBATCH --signal=USR1@300             # five minutes before the end: a checkpoint and exit code 4
#SBATCH --output=scree-sweep-%A_%a.log
set -eu

# module load openmpi petsc hdf5      # <== modules that the programs were built with
bin=build/release/bin                 # <== where they are
[ $# -gt 0 ] || { echo "name a deck and --vary: see the head of this file" >&2; exit 2; }

export OMPI_MCA_mpi_yield_when_idle=0 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

# --resume: a task that is submitted again goes on from the checkpoint of its run.
exec srun --cpu-bind=cores "$bin/scree" sweep "$@" --index "$SLURM_ARRAY_TASK_ID" --resume
