#!/usr/bin/env bash
# Tries the programs against decks, files, kills and physics made at random (tests/campaign; docs/verification.md).
#   scripts/campaign.sh --full --jobs 5       1000 decks, 500 damaged files, 60 kills, ...: what a release needs
#   scripts/campaign.sh [--minutes 30] [--seed N] [--part decks|damage|kills|random|physics] [--bin build/release/bin]
#   scripts/campaign.sh --part decks --seed 7 --case 31     one case again
# Exit code 0: no finding. --help lists all options.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
exec "$python" tests/campaign/campaign.py "$@"
