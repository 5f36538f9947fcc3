#!/usr/bin/env bash
# Runs fuzz targets of text readers, each for some seconds, from the seeds in tests/fuzz/seeds and what earlier runs
# found. Build them first: cmake --preset fuzz && cmake --build --preset fuzz. Exit code 1: a target found something;
# the script names and keeps the input that shows it.
#   scripts/fuzz.sh [--seconds 60] [--bin build/fuzz/bin] [deck wkt geojson csv]
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
bin=$root/build/fuzz/bin
seconds=60
names=()
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) seconds=$2; shift 2 ;;
    --bin) bin=$2; shift 2 ;;
    -*) echo "fuzz.sh: unknown option $1; valid: --seconds N, --bin FOLDER" >&2; exit 2 ;;
    *) names+=("$1"); shift ;;
  esac
done
[ ${#names[@]} -gt 0 ] || names=(deck wkt geojson csv)

status=0
for name in "${names[@]}"; do
  program=$bin/fuzz_$name
  if [ ! -x "$program" ]; then
    echo "fuzz.sh: there is no $program; build it with: cmake --preset fuzz && cmake --build --preset fuzz" >&2
    exit 2
  fi
  corpus=$bin/../corpus/$name found=$bin/../found/
  mkdir -p "$corpus" "$found"
  # Open MPI and PETSc are linked but not started; nothing of theirs leaks.
  if "$program" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 -max_len=65536 -print_final_stats=1 \
      -verbosity=1 -artifact_prefix="$found${name}_" "$corpus" "$root/tests/fuzz/seeds/$name" 2>"$found$name.log"; then
    echo "fuzz_$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$found$name.log") inputs in $seconds s, no finding"
  else
    status=1
    echo "fuzz_$name: a finding, see $found$name.log:" >&2
    grep -E "ERROR|SUMMARY|terminate|what\(\)|Test unit written" "$found$name.log" >&2 || tail -5 "$found$name.log" >&2
  fi
done
exit $status
