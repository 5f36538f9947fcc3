#!/usr/bin/env bash
# Hashes of the final states of fixed runs, before and after a change that must not change results (tests/campaign/state_hashes.py).
#   scripts/state-hashes.sh record FILE [--bin build/release/bin] [--jobs 2]
#   scripts/state-hashes.sh compare FILE
# Exit code 0: recorded, or nothing differs; 1: something differs.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
exec "$python" tests/campaign/state_hashes.py "$@"
