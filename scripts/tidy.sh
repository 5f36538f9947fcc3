#!/usr/bin/env bash
# clang-tidy (.clang-tidy) over src/ and drivers/ with the compile commands of a build that is configured for it.
#   scripts/tidy.sh             all sources, many at a time: see tidy.py
#   scripts/tidy.sh FILE...     these only, one at a time
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build=build/tidy
cmake --preset release -B $build -DSCREE_QUICK_BUILD=OFF
exec "$python" scripts/tidy.py $build "$@"
