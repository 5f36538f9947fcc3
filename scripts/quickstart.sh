#!/usr/bin/env bash
# From a bare Debian 12 to a first picture: installs, builds, runs a deck on two ranks, draws its last frame.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

deck=inputs/granular/pile.toml
results=results/pile

say "1/4 packages"
scripts/install-deps.sh program pictures

say "2/4 build"
cmake --preset release
cmake --build --preset release --target scree -j "$jobs"

say "3/4 run $deck on 2 ranks"
mpirun -n 2 build/release/bin/scree run "$deck" --force

say "4/4 picture"
SCREE_PYTHON=$python build/release/bin/scree render "$results" --time 1.5 --no-obstacles --fit bodies --view 30 15 --output "$results/picture.png"

cat <<END

Done.
  picture        $results/picture.png
  ParaView       $results/vtk/pile_particles.pvd
  time series    $results/pile.scalars.csv
  certificate    $results/pile.certificate.csv
Next: change a number in $deck and run it again, or draw the film with
  build/release/bin/scree render $results --film $results/film.mp4
END
