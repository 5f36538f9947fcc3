#!/usr/bin/env bash
# Tests the programs with random decks, damaged files, kills and physics (tests/campaign; docs/verification.md).
#   scripts/campaign.sh --full --jobs 5       1000 decks, 500 damaged files, 60 kills, ..., then the long tests: before a release
#   scripts/campaign.sh [--minutes 30] [--seed N] [--part decks|damage|kills|random|physics|restarts] [--bin build/release/bin]
#   scripts/campaign.sh --part decks --seed 7 --case 31     one case again
#   scripts/campaign.sh --part restarts [--count 64]        shipped decks, stopped and gone on with
#   scripts/campaign.sh --pairs [--full] [--jobs 2]         every pair of features of a deck, and every triple of a core
# Exit code 0: no finding. --help lists all options.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
code=0
"$python" tests/campaign/campaign.py "$@" || code=$?
# The long tests of tests/CMakeLists.txt, which scripts/test.sh leaves out.
if [[ " $* " == *" --full "* && " $* " != *" --part "* && " $* " != *" --pairs "* && -f build/release/CTestTestfile.cmake ]]; then
  ctest --test-dir build/release -L '^long$' -j 2 --output-on-failure || code=1
fi
exit "$code"
