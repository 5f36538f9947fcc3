#!/usr/bin/env bash
# scree beside LAMMPS and LIGGGHTS on the same spheres: scripts/compare-peers.sh --help. Programs are those of the release
# build, or of --bin. Peers come from Debian: apt-get install lammps liggghts.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
unset OMPI_MCA_mpi_yield_when_idle    # it costs up to a factor of two on small messages

exec "$python" scripts/compare-peers.py --bin build/release/bin "$@"
