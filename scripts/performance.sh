#!/usr/bin/env bash
# Repeats the measurements of docs/performance.md on this machine, draws its figures and writes its tables (measured.md).
#   scripts/performance.sh                 into results/performance, some twenty minutes on two cores
#   scripts/performance.sh --quick         the same at small sizes, some five minutes
#   scripts/performance.sh --out DIR       into another folder
#   scripts/performance.sh --redraw        only figures and tables, from the results in the folder
# --out docs/performance replaces those of the documentation. Nothing else should run meanwhile. The script builds the release
# programs first; --bin DIR uses others. scripts/compare-peers.sh measures peers.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

quick=() sizes_2d=10000,31623,100000,316228,1000000,2000000,4000000 sizes_3d=10000,31623,100000,316228,1000000,2000000
out=results/performance bin='' redraw=false
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=(--quick) sizes_2d=1000,10000,100000 sizes_3d=1000,10000,100000 ;;
    --redraw) redraw=true ;;
    --out | --bin)
      [ $# -gt 1 ] || { echo "performance.sh: $1 needs a folder" >&2; exit 2; }
      [ "$1" = --out ] && out=$2 || bin=$2
      shift ;;
    -h | --help) sed -n '2,8s/^# \{0,1\}//p' scripts/performance.sh; exit 0 ;;
    *) echo "performance.sh: unknown option $1 (valid: --quick --out --bin --redraw)" >&2; exit 2 ;;
  esac
  shift
done

if ! $redraw; then
  if [ -z "$bin" ]; then
    say "build"
    cmake --preset release
    cmake --build --preset release --target scree scree_bench -j "$jobs"
    bin=build/release/bin
  fi
  unset OMPI_MCA_mpi_yield_when_idle    # waiting ranks poll: see docs/benchmarks.md
  mkdir -p "$out"
  say "cost of a body, from the cache to memory"
  "$bin/scree_bench" pbd --dimensions 2 --bodies "$sizes_2d" --json "$out/cost_2d.json"
  "$bin/scree_bench" pbd --dimensions 3 --bodies "$sizes_3d" --json "$out/cost_3d.json"
  say "all cases"
  "$bin/scree" bench --case all "${quick[@]}" --out "$out/fixed"
  for mode in strong weak; do
    say "$mode scaling"
    "$bin/scree" bench --case pbd,dem,nonsmooth,crowd "${quick[@]}" --mode $mode --ranks 1,2 --out "$out/$mode"
  done
fi

say "figures and tables"
"$python" postprocess/scaling.py "$out"/cost_2d.json "$out"/cost_3d.json --out "$out/cost"
"$python" postprocess/scaling.py "$out"/strong/results.json "$out"/weak/results.json --out "$out"
mv "$out/cost/cost.png" "$out/cost.png"
rm -r "$out/cost"
"$python" postprocess/benchmark_tables.py "$out"/cost_2d.json "$out"/cost_3d.json "$out"/{fixed,strong,weak}/results.json \
  > "$out/measured.md.part"
sed -i '1i # What was measured\n\nMade by `scripts/performance.sh`; [performance.md](../performance.md) says what it means.\n' "$out/measured.md.part"
mv "$out/measured.md.part" "$out/measured.md"
