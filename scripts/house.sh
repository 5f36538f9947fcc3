#!/usr/bin/env bash
# The state of the house in numbers: lines of code, sizes of functions and classes, pages of measurements, tests, build.
# Tests and build: of the last scripts/test.sh. Wanted: what the lines say in brackets.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

lines_of() { find "${@:2}" -name "$1" -print0 | xargs -0 cat | wc -l; }

say "lines of C++"
echo "src and drivers [82000]: $(lines_of '*.[ch]pp' src drivers)"
echo "tests: $(lines_of '*.[ch]pp' tests), and $(lines_of '*.py' tests) of Python"
echo "postprocess: $(lines_of '*.py' postprocess) of Python"

say "sizes [functions 60 lines, classes 25 members]"
"$python" tests/style/check_sizes.py --summary

say "pages of measurements [1000 lines]"
wc -l docs/performance.md docs/performance-friction.md docs/verification.md

say "tests [1200 s for scripts/test.sh on two cores]"
if [ -f build/test-summary.txt ]; then cat build/test-summary.txt; else echo "scripts/test.sh has not run"; fi
if [ -f build/release/tests.xml ]; then scripts/slowest-tests.py; fi

say "build [no unit above 25 s]"
if [ -f build/release/.ninja_log ]; then scripts/build-times.py; else echo "build/release is not there"; fi
