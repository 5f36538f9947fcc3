#!/usr/bin/env bash
# Repeats the measurements of docs/performance.md on this machine: targets of speed, tables (measured.md) and figures, in a
# folder of this processor.
#   scripts/performance.sh                 into results/performance/PROCESSOR, some twenty-five minutes on two cores
#   scripts/performance.sh --quick         only the targets, in five minutes; the table beside older numbers is printed at the end
#   scripts/performance.sh --before DIR    times the programs in DIR, an older build, in turn with those of this build; without
#                                          it the older numbers are those stored for this processor in docs/performance
#   scripts/performance.sh --out DIR       into DIR/PROCESSOR
#   scripts/performance.sh --redraw        only figures and tables, of every folder below --out that holds results
# --out docs/performance replaces those of the documentation. Nothing else should run meanwhile. The script builds the release
# programs first; --bin DIR uses others. scripts/compare-peers.sh measures peers.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

sizes_2d=10000,31623,100000,316228,1000000,2000000,4000000 sizes_3d=10000,31623,100000,316228,1000000,2000000
out=results/performance bin='' before=() quick=false redraw=false
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=true ;;
    --redraw) redraw=true ;;
    --out | --bin | --before)
      [ $# -gt 1 ] || { echo "performance.sh: $1 needs a folder" >&2; exit 2; }
      case $1 in
        --out) out=$2 ;;
        --bin) bin=$2 ;;
        --before) before=(--before "$2") ;;
      esac
      shift ;;
    -h | --help) sed -n '2,11s/^# \{0,1\}//p' scripts/performance.sh; exit 0 ;;
    *) echo "performance.sh: unknown option $1 (valid: --quick --before --out --bin --redraw)" >&2; exit 2 ;;
  esac
  shift
done
if $redraw && { $quick || [ ${#before[@]} -gt 0 ] || [ -n "$bin" ]; }; then
  echo "performance.sh: --redraw measures nothing: leave out --quick, --before and --bin" >&2
  exit 2
fi
for folder in "$bin" "${before[@]:1}"; do
  if [ -n "$folder" ] && ! [ -x "$folder/scree_bench" ]; then
    echo "performance.sh: there is no scree_bench in $folder" >&2
    exit 2
  fi
done

export SCREE_PYTHON=$python
scree=${bin:-build/release/bin}/scree
# Figures and tables from the results in folder $1.
draw() {
  "$scree" plot scaling "$1"/cost_2d.json "$1"/cost_3d.json --out "$1/cost"
  "$scree" plot scaling "$1"/strong/results.json "$1"/weak/results.json --out "$1"
  mv "$1/cost/cost.png" "$1/cost.png"
  rm -r "$1/cost"
  local tables=("$1"/cost_2d.json "$1"/cost_3d.json "$1"/{fixed,strong,weak}/results.json)
  [ -e "$1/targets.json" ] && tables=("$1/targets.json" "${tables[@]}")
  {
    printf '# What was measured: %s\n\n' "$("$python" scripts/timings.py "$1/fixed/results.json")"
    printf 'Made by `scripts/performance.sh`; docs/performance.md says what it means.\n\n'
    "$python" scripts/benchmark_tables.py "${tables[@]}"
  } > "$1/measured.md.part"
  mv "$1/measured.md.part" "$1/measured.md"
}

if $redraw; then
  drawn=false
  for study in "$out"/*/fixed/results.json; do
    [ -e "$study" ] || continue
    say "figures and tables: ${study%/fixed/results.json}"
    draw "${study%/fixed/results.json}"
    drawn=true
  done
  $drawn || { echo "performance.sh: no results in $out/PROCESSOR" >&2; exit 2; }
  exit
fi

if [ -z "$bin" ]; then
  say "build"
  cmake --preset release
  cmake --build --preset release --target scree scree_bench -j "$jobs"
  bin=build/release/bin
fi
unset OMPI_MCA_mpi_yield_when_idle    # waiting ranks poll: see docs/benchmarks.md
folder=$out/$("$python" scripts/timings.py "$bin")
if ! $quick; then
  mkdir -p "$folder"
  say "cost of a body, from the cache to memory"
  "$bin/scree_bench" pbd --dimensions 2 --bodies "$sizes_2d" --json "$folder/cost_2d.json"
  "$bin/scree_bench" pbd --dimensions 3 --bodies "$sizes_3d" --json "$folder/cost_3d.json"
  say "all cases"
  "$bin/scree" bench --case all --out "$folder/fixed"
  for mode in strong weak; do
    say "$mode scaling"
    "$bin/scree" bench --case pbd,dem,nonsmooth,crowd --mode $mode --ranks 1,2 --out "$folder/$mode"
  done
fi
say "targets"
status=0    # an older build may lack a row; figures are drawn all the same
"$python" scripts/performance-targets.py --bin "$bin" "${before[@]}" --out "$out" || status=$?
if ! $quick; then
  say "figures and tables"
  draw "$folder"
  echo "$folder"
fi
exit $status
