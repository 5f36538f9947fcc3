# Start of every script here: environment, repository root as working directory, the Python with Debian's modules.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/environment.sh

python=/usr/bin/python3    # another python3 first in PATH would not see python3-h5py and python3-vtk9
[ -x "$python" ] || python=python3
jobs=$(env -u OMP_NUM_THREADS nproc)    # nproc would say OMP_NUM_THREADS, which environment.sh sets to 1

say() { printf '\n== %s\n' "$*"; }
