"""A slice of the campaign with a fixed seed: so many cases of each part, always the same ones. The whole is
scripts/campaign.sh."""
import tempfile

import damaged_files
import harness
import kills
import mutated_decks
import physics
import random_decks
import restarts
from scree_program import check

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


def test_restarts(folder):
    """A deck that once lost something at a stop, and a small crowd."""
    with tempfile.TemporaryDirectory(prefix="campaign-") as scratch:
        workshop = harness.Workshop(scratch, "campaign-findings", "scripts/campaign.sh")
        for name in ("granular/cohesive_column", "crowd/room"):
            case = harness.Case(restarts.NAME, SEED, restarts.decks().index(name), workshop.folder(name), workshop)
            restarts.stop_and_go_on(case, name, seconds=0.5)
            check(not case.findings, f"{name}: no finding", case.findings)


def test_physics(folder):
    slice_of(physics, 6)
