#!/usr/bin/env bash
# clang-tidy (.clang-tidy) over src/ and drivers/ with the compile commands of a build that is configured for it.
#   scripts/tidy.sh             all sources
#   scripts/tidy.sh FILE...     these only
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build=build/tidy
cmake --preset release -B $build -DSCREE_QUICK_BUILD=OFF
files=("$@")
[ ${#files[@]} -gt 0 ] || mapfile -t files < <(find src drivers -name '*.cpp' | sort)
# Clang does not know every warning option of GCC.
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P 2 clang-tidy -p $build --quiet --extra-arg=-Wno-unknown-warning-option 2> >(grep -v 'warnings generated' >&2)
