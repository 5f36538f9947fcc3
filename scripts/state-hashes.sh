#!/usr/bin/env bash
# What fixed runs come to, before and after a change that must not change results (tests/campaign/state_hashes.py).
#   scripts/state-hashes.sh record FOLDER [--ranks 3] [--bin build/release/bin] [--jobs 2]
#   scripts/state-hashes.sh compare FOLDER [--renames TABLE.toml]
# Exit code 0: recorded, or nothing differs; 1: something differs.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
exec "$python" tests/campaign/state_hashes.py "$@"
