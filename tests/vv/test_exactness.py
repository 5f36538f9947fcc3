"""What only an exact code can promise of crowds: `scree verify crowd`, and files of runs that have the same bytes on any
number of ranks with everything on that people do."""
import json

import numpy as np
import pytest

from crowd_hall import DECK, MODELS
from scree.verify.crowd_decks import Steps, at_places, crowd_deck, person, record_steps
from scree.verify.laboratory import Laboratory
from scree_program import check, check_close, program, run_ok, verified, verify

OF_VTK = {"s1", "s2", "s4", "s7"}     # cases that read contacts, which VTK files have
OTHERS = {"s3", "s6", "doors"}
FEW = {"count": 5, "limit": 2, "end": "60 s"}
MANY = {"count": 250, "limit": 30, "end": "30 s"}


def _verify(folder, ranks, case="all"):
    return verified(folder / f"{case}{ranks}.csv", "crowd", "--case", case, ranks=ranks, timeout=1400)


def _has_vtk():
    return "without VTK" not in run_ok("--version").stdout


@pytest.fixture(scope="module")
def needs_vtk():
    if not _has_vtk():
        pytest.skip("a build without VTK")


@pytest.fixture(scope="module")
def of_one_rank(shared_folder):
    """The rows of all cases on one rank, without VTK of those that do not read its files."""
    if _has_vtk():
        return _verify(shared_folder, 1)
    return [row for case in sorted(OTHERS) for row in _verify(shared_folder, 1, case)]


def test_all_cases_hold(of_one_rank):
    rows, has_vtk = of_one_rank, _has_vtk()
    check({row["case"] for row in rows} == OTHERS | (OF_VTK if has_vtk else set()), "no case is left out", rows)
    check(len(rows) > 70 or not has_vtk, "all rows are there", rows)
    check(all(row["holds"] == "yes" for row in rows), "all rows hold", rows)


@pytest.mark.usefixtures("needs_vtk")
def test_cases_are_the_same_on_several_ranks(folder, of_one_rank):
    for case, ranks in (("s1", 3), ("s2", 3), ("s4", 2)):
        ones, others = [row for row in of_one_rank if row["case"] == case], _verify(folder, ranks, case)
        check(len(ones) == len(others) > 5, "the same rows", len(ones))
        for one, other in zip(ones, others):
            # Solvers that work on all contacts at once agree to their tolerance only.
            if not any(solver in one["what"] for solver in ("admm", "ipm")):
                check(one == other, f"{ranks} ranks find the bits that one finds", f"{one}\n{other}")


@pytest.mark.usefixtures("needs_vtk")
def test_a_case_of_its_own(folder):
    result = verify("crowd", "--case", "s2", ranks=2)
    check("30 people" in result.stdout and "s1" not in result.stdout, "only the case asked for", result)


def test_a_case_that_does_not_exist():
    result = verify("crowd", "--case", "s9")
    check(result.code == 2 and "s7" in result.stderr, "a case that does not exist ends with the names of all", result)


def _leave(folder, deck, model, ranks):
    directory = folder / f"{deck.stem}_{model}_{ranks}"
    keys = [f'output.directory="{directory}"', *MODELS[model]]
    run_ok("-q", "run", deck, "--set", *keys, ranks=ranks, folder=folder)
    results = directory / deck.stem
    table = (results / f"{deck.stem}.agents.csv").read_bytes()
    return table, json.loads((results / "summary.json").read_text())["state_hash"]


def _check_ranks(folder, name, numbers, least):
    deck = folder / f"{name}.toml"
    deck.write_text(DECK.format(**numbers))
    for model in MODELS:
        table, state = _leave(folder, deck, model, 1)
        n_left = len(table.splitlines()) - 1
        check(n_left >= least, f"{model}: people leave", n_left)
        for ranks in (2, 3, 4):
            other_table, other_state = _leave(folder, deck, model, ranks)
            check(other_table == table, f"{name}, {model}: who left, when and where is the same on {ranks} ranks",
                  f"{table.decode()}\n{other_table.decode()}")
            check(other_state == state, f"{name}, {model}: those inside have the same bits on {ranks} ranks")


def test_few_people_leave_at_the_same_times_on_1_to_4_ranks(folder):
    _check_ranks(folder, "few", FEW, 7)


def test_many_people_leave_at_the_same_times_on_1_to_4_ranks(folder):
    _check_ranks(folder, "many", MANY, 60)


@pytest.mark.usefixtures("needs_vtk")
def test_loads_are_told_as_people_go_around_a_corner(monkeypatch):
    """Somebody is pushed along a wall, around its corner of 20 degrees and along the next wall, to the left of the way and to its right:
    in every step the only contact shows |V - U|, also as it passes from wall to corner to wall."""
    monkeypatch.setenv("SCREE", str(program()))
    for side in (1, -1):
        corners = [[0, 0], [2, 0], [4, -side * 0.728], [4, side * 2], [0, side * 2]]
        with Laboratory() as laboratory:
            run = Steps(laboratory.run(record_steps(crowd_deck(
                0.05, 60, corners[::side], agents={"person": person(0.2, 1)}, crowd={"speed_law": "none", "direction": [0.8, -side * 0.6]},
                populations={"one": at_places(laboratory, "one", [(0.5, side * 0.2)])}), contacts_up_to=1)))
            around = [step for step in range(1, 61) if 1.9 < run.position[step, 0, 0] < 2.2]
            check(len(around) > 4, "steps near the corner", len(around))
            for step in range(1, 61):
                (_, _, loads), change = run.loads(step)[1], np.linalg.norm(run.velocity[step, 0] - [0.8, -side * 0.6])
                check_close(loads.sum(), change, f"load of step {step}", absolute=1e-12)
