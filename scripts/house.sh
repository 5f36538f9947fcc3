#!/usr/bin/env bash
# The state of the house in numbers: lines of code, sizes of functions and classes, pages of measurements, tests, build, each with
# "met" or "missed". Tests and build: of the last scripts/test.sh.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

lines_of() { find "${@:2}" -name "$1" -print0 | xargs -0 cat | wc -l; }

# against WHAT NUMBER LIMIT
against() { printf '%-7s %s: %s, at most %s\n' "$([ "$2" -le "$3" ] && echo met || echo missed)" "$1" "$2" "$3"; }

say "lines"
against "C++ of src and drivers" "$(lines_of '*.[ch]pp' src drivers)" 82000
echo "        tests: $(lines_of '*.[ch]pp' tests) of C++, $(lines_of '*.py' tests) of Python; postprocess: $(lines_of '*.py' postprocess) of Python"

say "sizes"
"$python" tests/style/check_sizes.py --summary

say "pages of measurements"
against "lines of performance.md, performance-friction.md and verification.md" \
  "$(cat docs/performance.md docs/performance-friction.md docs/verification.md | wc -l)" 1000

say "tests"
total=$(sed -n 's/^total *\([0-9]*\) s$/\1/p' build/test-summary.txt 2>/dev/null || true)
if [ -n "$total" ]; then against "seconds of scripts/test.sh" "$total" 1200; else echo "scripts/test.sh has not run"; fi
if [ -f build/release/tests.xml ]; then scripts/slowest-tests.py; fi

say "build"
if [ -f build/release/.ninja_log ]; then scripts/build-times.py; else echo "build/release is not there"; fi
