#!/usr/bin/env bash
# Tests the programs with random decks, damaged files, kills and physics (tests/campaign; docs/verification.md).
#   scripts/campaign.sh --full --jobs 5       1000 decks, 500 damaged files, 60 kills, ...: before a release
#   scripts/campaign.sh [--minutes 30] [--seed N] [--part decks|damage|kills|random|physics] [--bin build/release/bin]
#   scripts/campaign.sh --part decks --seed 7 --case 31     one case again
# Exit code 0: no finding. --help lists all options.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
exec "$python" tests/campaign/campaign.py "$@"
