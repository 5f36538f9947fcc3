#!/usr/bin/env bash
# A run of scree on a cluster with Slurm that may take longer than one job: it stops with a checkpoint before
# the time is up, and the next job continues from there. Adapt the lines marked <== and submit it from the source
# folder.
#   sbatch scripts/cluster/slurm-run.sh inputs/granular/drum.toml
#SBATCH --job-name=scree
#SBATCH --time=12:00:00
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=32          # <== cores of a node: one rank per core
#SBATCH --cpus-per-task=1
#SBATCH --hint=nomultithread
#SBATCH --signal=USR1@300             # to all ranks, five minutes before the end: stop after this step, exit code 4
#SBATCH --open-mode=append
#SBATCH --output=scree-%j.log
set -eu

# module load openmpi petsc hdf5      # <== modules that the programs were built with
bin=build/release/bin                 # <== where they are
deck=${1:?name a deck: sbatch scripts/cluster/slurm-run.sh DECK.toml}

export OMPI_MCA_mpi_yield_when_idle=0 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

# --resume: from the latest checkpoint of this run if there is one, else from the start.
code=0
srun --distribution=block:block --cpu-bind=cores "$bin/scree" run "$deck" --resume || code=$?

# srun ends with the highest exit code of its ranks; 4: interrupted, a checkpoint is there.
if [ "$code" -eq 4 ]; then
  sbatch "--nodes=$SLURM_JOB_NUM_NODES" "--ntasks=$SLURM_NTASKS" scripts/cluster/slurm-run.sh "$deck"
  exit 0
fi
exit "$code"
