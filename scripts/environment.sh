# Settings for MPI programs on one machine, containers included. Source it: . scripts/environment.sh
# Plain lines "export NAME=value" only: CMake and the Python tests read the same list.

# Open MPI refuses to start as root unless both are given.
export OMPI_ALLOW_RUN_AS_ROOT=1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# More ranks than cores are allowed, ranks are not bound (two jobs would share a core), and a waiting rank
# yields its core. The last costs up to a factor of two on small messages: unset it to measure time.
export OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_mpi_yield_when_idle=1
# One node: shared memory only, and no ptrace-based copies, which containers forbid.
# Naming the layer above, the one that would be chosen, saves loading and asking the drivers of networks.
export OMPI_MCA_pml=ob1
export OMPI_MCA_btl=self,vader
export OMPI_MCA_btl_vader_single_copy_mechanism=none
# Parallelism is MPI alone.
export OMP_NUM_THREADS=1
export OPENBLAS_NUM_THREADS=1
# The library that finds processors asks an X server for its graphics cards; when that server ends meanwhile, so does the run.
# Looking for other devices takes a tenth of the start of a small run.
export HWLOC_COMPONENTS=-gl,-opencl,-cuda,-pci,-linuxio
