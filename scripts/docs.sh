#!/usr/bin/env bash
# Builds the documentation site in build/docs/html, and checks it.
#   scripts/docs.sh            build; links, anchors and what pages load are checked
#   scripts/docs.sh --run      run the commands of tutorials and how-tos as well (scripts/run_tutorials.py)
#   scripts/docs.sh --open     show it in the browser
# Pages that the program prints need build/release/bin/scree; it is built if it is not there.
# Options add up. Exit code 0: no warning, and nothing failed.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

run=false open=false
for option in "$@"; do
  case $option in
    --run) run=true ;;
    --open) open=true ;;
    -h | --help) sed -n '2,7s/^# \{0,1\}//p' scripts/docs.sh; exit 0 ;;
    *) echo "docs.sh: unknown option $option (valid: --run --open)" >&2; exit 2 ;;
  esac
done

scripts/install-deps.sh docs
bin=build/release/bin
if [ ! -x $bin/scree ] || [ ! -x $bin/scree_bench ] || [ ! -x $bin/scree_replay ]; then
  scripts/install-deps.sh program
  cmake --preset release
  cmake --build --preset release -j "$jobs" --target scree scree_bench scree_replay
fi

say "pages"
"$python" docs/site/gather.py build/docs/source --bin $bin
rm -rf build/docs/html    # pages that are gone would stay
"$python" -m sphinx -q -W --keep-going -n -j "$jobs" -c docs/site -d build/docs/doctrees build/docs/source build/docs/html
say "links"
"$python" docs/site/check_site.py build/docs/html
if $run; then
  say "commands"
  "$python" scripts/run_tutorials.py --scratch build/docs/scratch
fi
echo "docs.sh: build/docs/html/index.html"
if $open; then xdg-open build/docs/html/index.html; fi
