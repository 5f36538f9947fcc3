#!/usr/bin/env bash
# Strong and weak scaling of scree on a cluster with Slurm: adapt the lines marked <== and submit it from the
# source folder (docs/benchmarks.md, "On a cluster").
#   sbatch --nodes 4 scripts/cluster/slurm-scaling.sh
#SBATCH --job-name=scree-scaling
#SBATCH --time=02:00:00
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=32          # <== cores of a node: one rank per core
#SBATCH --cpus-per-task=1
#SBATCH --hint=nomultithread          # hardware threads of one core share its speed
#SBATCH --exclusive                   # other jobs on a node would disturb the measurement
#SBATCH --output=scree-scaling-%j.log
set -eu

# module load openmpi petsc hdf5      # <== modules that the programs were built with
bin=build/release/bin                 # <== where they are
results=results/scaling-$SLURM_JOB_ID
cases=pbd,dem,nonsmooth,crowd,ghosts,start

# Every rank has a processor, so waiting ranks do not yield; parallelism is MPI alone.
export OMPI_MCA_mpi_yield_when_idle=0
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

# 1, 2, 4, ... up to all ranks of the job.
ranks=1
for ((n = 2; n < SLURM_NTASKS; n *= 2)); do ranks+=,$n; done
[ "$SLURM_NTASKS" -gt 1 ] && ranks+=,$SLURM_NTASKS

# Ranks fill one node after the other, each bound to a core of its own.
launcher="srun --ntasks={ranks} --distribution=block:block --cpu-bind=cores"

study() { # mode, bodies
  "$bin/scree" bench --case "$cases" --mode "$1" --bodies "$2" --ranks "$ranks" --repetitions 7 \
    --launcher "$launcher" --out "$results/$1"
}
study strong 4000000                  # <== in all: so many that the first rank's share fits its memory
study weak 100000                     # <== per rank

"$bin/scree" plot scaling "$results"/{strong,weak}/results.json --out "$results" ||
  echo "no pictures: scree plot scaling needs Python with matplotlib; results.json can be copied elsewhere" >&2
