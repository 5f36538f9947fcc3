#!/usr/bin/env bash
# From a bare Debian 12 to a first picture: installs, builds, runs a deck on two ranks, draws its last frame.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

deck=inputs/quickstart/attraction.toml
results=results/attraction

say "1/4 packages"
scripts/install-deps.sh

say "2/4 build"
cmake --preset release
cmake --build --preset release --target scree -j "$jobs"

say "3/4 run $deck on 2 ranks"
mpirun -n 2 build/release/bin/scree run "$deck" --force

say "4/4 picture"
"$python" postprocess/render.py "$results" --range 0 1.2 --output "$results/picture.png"

cat <<END

Done.
  picture        $results/picture.png
  ParaView       $results/vtk/attraction_particles.pvd
  time series    $results/attraction.scalars.csv
Next: change a number in $deck and run it again, or draw the film with
  $python postprocess/render.py $results --all-frames
END
