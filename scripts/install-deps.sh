#!/usr/bin/env bash
# Installs what building, running, testing and drawing needs on Debian 12. Does nothing when all is there.
set -euo pipefail

packages=(
  # build
  build-essential cmake ninja-build pkg-config
  # libraries: python3-vtk9 comes with libvtk9-dev, which excludes python3-paraview
  libopenmpi-dev openmpi-bin libpetsc-real-dev libhdf5-openmpi-dev libvtk9-dev libopenblas0-pthread
  libtomlplusplus-dev libcli11-dev libspdlog-dev libfmt-dev nlohmann-json3-dev
  libgeos-dev libpng-dev libboost-dev
  # tests and style
  libfclib-dev catch2 clang-format clang-tidy python3-pytest
  # fuzz targets (preset fuzz): libFuzzer and AddressSanitizer come with the runtime of clang 14
  clang libclang-rt-14-dev
  # postprocessing; Xvfb and Mesa draw without a screen
  python3 python3-numpy python3-h5py python3-matplotlib python3-vtk9 xvfb libgl1-mesa-dri
)

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "install-deps.sh: there is no apt here. On another system install the equivalents of these Debian 12" >&2
  printf 'packages by hand:\n%s\n' "${packages[*]}" | fold -s -w 110 >&2
  exit 1
fi

# Names of installed packages; dpkg-query fails when it does not know one of them, which is an answer too.
installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${packages[@]}" 2>/dev/null |
            sed -n 's/ installed$//p' || true)
missing=()
for package in "${packages[@]}"; do
  grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "install-deps.sh: all ${#packages[@]} packages are installed"
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "install-deps.sh: run this as root (there is no sudo) to install: ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "install-deps.sh: installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${packages[@]}"
