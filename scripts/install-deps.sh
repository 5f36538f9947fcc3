#!/usr/bin/env bash
# Installs packages of Debian 12 by groups; does nothing when all are there.
#   scripts/install-deps.sh                    all groups
#   scripts/install-deps.sh program pictures   what scripts/quickstart.sh needs
# Groups:
#   program    compiles and runs scree
#   pictures   postprocess/, also plans from DXF drawings; drawing without a screen
#   tests      C++ and Python tests, a browser that opens reports, the Python package, exchange with FCLIB, style of C++
#   style      clang-tidy (scripts/test.sh --tidy)
#   docs       the documentation site (scripts/docs.sh)
#   fuzz       fuzz targets (preset fuzz): clang with libFuzzer and AddressSanitizer
# A third of what apt brings belongs to libvtk9-dev, the only package with the headers of VTK: of 681 packages that program and
# pictures add to a bare system 240 are a JDK, and headers of GDAL, MariaDB, FFmpeg, Tk, ..., which scree never uses; Qt comes with
# python3-vtk9, which libvtk9-dev demands as well. Debian makes them all hard dependencies, so apt cannot leave them out.
set -euo pipefail

declare -A group
group[program]="
  build-essential cmake ninja-build pkg-config
  libopenmpi-dev openmpi-bin libpetsc-real-dev libhdf5-openmpi-dev libvtk9-dev libopenblas0-pthread
  libtomlplusplus-dev libcli11-dev libspdlog-dev libfmt-dev nlohmann-json3-dev
  libgeos-dev libpng-dev libboost-dev libqhull-dev"
# python3-vtk9 comes with libvtk9-dev, which excludes python3-paraview; Xvfb and Mesa draw without a screen, ffmpeg writes films
group[pictures]="python3 python3-numpy python3-h5py python3-matplotlib python3-ezdxf python3-vtk9 xvfb libgl1-mesa-dri ffmpeg"
group[tests]="
  python3-pytest python3-yaml python3-venv python3-setuptools python3-wheel python3-ezdxf libfclib-dev catch2 clang-format chromium"
group[style]="clang-tidy"
group[fuzz]="clang libclang-rt-14-dev"
group[docs]="python3-sphinx python3-myst-parser furo python3-sphinx-copybutton python3-numpy python3-h5py python3-matplotlib"
names=(program pictures tests style fuzz docs)

packages=()
[ $# -gt 0 ] || set -- "${names[@]}"
for name in "$@"; do
  if [ -z "${group[$name]:-}" ]; then
    echo "install-deps.sh: unknown group $name (valid: ${names[*]})" >&2
    exit 2
  fi
  read -r -d '' -a found <<<"${group[$name]}" || true
  packages+=("${found[@]}")
done

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
