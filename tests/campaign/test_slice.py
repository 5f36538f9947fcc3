#!/usr/bin/python3
"""A slice of the campaign with a fixed seed: so many cases of each part, always the same ones. The whole is
scripts/campaign.sh."""
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import damaged_files    # noqa: E402
import harness    # noqa: E402
import kills    # noqa: E402
import mutated_decks    # noqa: E402
import physics    # noqa: E402
import random_decks    # noqa: E402
from scree_program import check, main    # noqa: E402

SEED = 1


def slice_of(part, count):
    with tempfile.TemporaryDirectory(prefix="campaign-") as scratch:
        workshop = harness.Workshop(scratch, "campaign-findings", "scripts/campaign.sh")
        tally = harness.run_part(part, SEED, workshop, count=count, jobs=4)    # mostly waiting for mpirun
    print(harness.table([tally]))
    check(tally.total("tried") == count, f"{count} cases are tried", tally.counts)
    check(tally.total("findings") == 0, "no finding", tally.signatures)


def test_mutated_decks(folder):
    slice_of(mutated_decks, 8)


def test_damaged_files(folder):
    slice_of(damaged_files, 4)


def test_kills(folder):
    slice_of(kills, 2)


def test_random_decks(folder):
    slice_of(random_decks, 3)


def test_physics(folder):
    slice_of(physics, 6)


if __name__ == "__main__":
    main()
