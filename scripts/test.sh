#!/usr/bin/env bash
# Builds and tests everything, as CI does.
#   scripts/test.sh           release build, all tests but the long ones, style, the docs site
#   scripts/test.sh --long    the long tests as well (label long: tests/CMakeLists.txt)
#   scripts/test.sh --quick   unit, contract and style tests only
#   scripts/test.sh --asan    unit, contract and campaign tests, and MPI tests on 1 and 2 ranks, under address and UB sanitizers
#   scripts/test.sh --tidy    clang-tidy over src/ as well
# Options add up. Exit code 0: all passed; 1: something failed (the closing summary says what).
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

quick=false long=false asan=false tidy=false
for option in "$@"; do
  case $option in
    --quick) quick=true ;;
    --long) long=true ;;
    --asan) asan=true ;;
    --tidy) tidy=true ;;
    -h | --help) sed -n '2,8s/^# \{0,1\}//p' scripts/test.sh; exit 0 ;;
    *) echo "test.sh: unknown option $option (valid: --quick --long --asan --tidy)" >&2; exit 2 ;;
  esac
done

summary=()
failed=0
# Runs a part; the others still run when it fails, so that one report names everything that is wrong.
part() {
  local name=$1 start=$SECONDS
  shift
  say "$name"
  if "$@"; then
    summary+=("passed  $name ($((SECONDS - start)) s)")
  else
    summary+=("FAILED  $name ($((SECONDS - start)) s)")
    failed=1
  fi
}

build() { cmake --preset "$1" && cmake --build --preset "$1" -j "$jobs"; }

# ctest arguments: preset, then a label expression or nothing. Three at a time on two cores: some tests wait mostly.
run_tests() {
  local preset=$1 passed=true
  shift
  ctest --test-dir "build/$preset" -j 3 --output-on-failure --no-tests=error --output-junit tests.xml "$@" || passed=false
  scripts/slowest-tests.py "build/$preset/tests.xml"
  $passed
}

# Without crowds and VTK the program builds, runs grains and says what it lacks.
without_crowds_and_vtk() {
  build minimal || return 1
  mkdir -p build/minimal/scratch
  (cd build/minimal/scratch && PYTHONDONTWRITEBYTECODE=1 "$python" -m pytest ../../../tests/badinput/test_left_out.py --bin ../bin)
}

part "packages" scripts/install-deps.sh program pictures tests
part "build release" build release
if $quick; then
  part "quick tests" run_tests release -L '^(unit|contract|style)$'
elif $long; then
  part "all tests" run_tests release
else
  part "all tests but long ones" run_tests release -LE '^long$'
fi
$quick || part "docs site" scripts/docs.sh
$quick || part "without crowds and VTK" without_crowds_and_vtk
if $asan; then
  part "build asan" build asan
  part "tests under sanitizers" run_tests asan -L '^(unit|contract|mpi|campaign)$' -LE '^np[34]$'
  # The record that docs/verification.md keeps of the last run.
  summary+=("record  $(date -I), $(git rev-parse --short HEAD): $(grep -om1 'tests="[0-9]*"' build/asan/tests.xml) \
$(grep -om1 'failures="[0-9]*"' build/asan/tests.xml)")
fi
if $tidy; then
  part "clang-tidy" scripts/tidy.sh
fi

summary+=("total   $SECONDS s")
say "summary"
printf '%s\n' "${summary[@]}" | tee build/test-summary.txt
[ $failed -eq 0 ] && echo "all passed" || echo "failures: see above"
exit $failed
