"""`scree verify pbd` finds the published errors and orders of position-based dynamics, the same on any number of ranks."""
import csv
import math
import shutil
import subprocess
import sys

import numpy as np
import pytest

from scree.errors import ResultsError
from scree.verify.laboratory import Laboratory
from scree.verify.pbd_reference import DisksPath, sliding_exact
from scree_program import check, check_close, check_in, source_folder, verify

_HEADER = "case,method,parameter,h,error_max,error_end,evaluations"


def _verify(folder, *arguments, ranks=1):
    table = folder / f"pbd{ranks}.csv"
    result = verify("pbd", "--quick", "--csv", table, *arguments, ranks=ranks)
    check(result.code == 0, "all checks hold", result)
    return result, table.read_text()


def _errors(text):
    return {(row["case"], row["method"], row["parameter"], float(row["h"])): float(row["error_max"])
            for row in csv.DictReader(text.splitlines())}


@pytest.fixture(scope="module")
def of_one_rank(shared_folder):
    """Report and table of all cases on one rank."""
    return _verify(shared_folder)


def test_all_checks_hold_with_the_same_numbers_on_1_and_2_ranks(folder, of_one_rank):
    result, alone = of_one_rank
    check_in("all hold", result.stdout, "the report says that all checks hold")
    check("FAILED" not in result.stdout, "no check is reported as failed", result)
    shared, of_two = _verify(folder, ranks=2)
    check(alone == of_two, "the table of 1 rank is that of 2 ranks, bit by bit", f"{alone}\n{of_two}")
    check(result.stdout == shared.stdout, "and so is the report", shared)


def test_pbd_has_the_error_of_the_sliding_case_4_139e_3_at_h_1e_4(of_one_rank):
    _, text = of_one_rank
    check(text.splitlines()[0] == _HEADER, "the table has the columns that the plots read", text)
    errors = _errors(text)
    check_close(errors["sliding", "PBD", "", 1e-4], 4.139e-3, "error_max of PBD", relative=0.01)


def test_the_table_can_be_drawn(folder, of_one_rank):
    _, text = of_one_rank
    (folder / "pbd.csv").write_text(text)
    picture = folder / "pbd.png"
    subprocess.run([sys.executable, source_folder() / "docs/figures/plot_pbd_verification.py", folder / "pbd.csv",
                    "--output", picture], check=True)
    check(picture.stat().st_size > 10_000, "a picture is drawn", picture.stat())


def test_a_reference_that_is_off_by_two_fails_the_check(folder):
    """The checks can fail: another reference value for PBD gives exit code 1 and names what is wrong."""
    for part in ("inputs/verification", "tests/reference/pbd"):
        shutil.copytree(source_folder() / part, folder / part)
    table = folder / "tests/reference/pbd/errors.csv"
    text = table.read_text()
    changed = text.replace("sliding,PBD,,0.0001,0.0041393,", "sliding,PBD,,0.0001,0.0082786,")
    check(changed != text, "the reference has the row to be changed")
    table.write_text(changed)
    result = verify("pbd", "--quick", "--case", "sliding", "--source", folder, "--csv", folder / "found.csv")
    check(result.code == 1, "exit code of a failed check is 1", result)
    check_in("FAILED sliding, PBD, h = 0.0001: error_max", result.stdout, "the failed check is named")
    errors = _errors((folder / "found.csv").read_text())
    check(errors and all(case == "sliding" for case, *_ in errors), "--case leaves the other case out", errors)


def test_a_missing_source_folder_is_bad_input(folder):
    result = verify("pbd", "--source", folder / "nothing")
    check(result.code == 2, "exit code of bad input is 2", result)
    check_in("inputs/verification", result.stderr, "the message says what is missing")


def test_frames_of_the_prototype_that_are_not_those_of_the_path(folder):
    """One beyond its end is infinitely far from it; one that lacks a disk is refused, wherever it stands."""
    place = folder / "tests/reference/pbd"
    shutil.copytree(source_folder() / "tests/reference/pbd", place)
    table = place / "disks40_trajectory.csv"
    text = table.read_text()
    check(DisksPath(Laboratory(source=folder)).disagreement < 5e-6, "the files agree")
    table.write_text(text + "4.5,0,0,0\n")
    check(DisksPath(Laboratory(source=folder)).disagreement == math.inf, "a frame beyond the path")
    table.write_text(text[:text.rstrip().rindex("\n") + 1])
    with pytest.raises(ResultsError):
        DisksPath(Laboratory(source=folder))


def test_the_exact_motion_turns_with_the_sine_of_its_angle_and_leaves_the_circle_at_2_31779_s():
    start, leaves, dt = math.pi / 16, 2.31778601017461, 1e-5    # -ln tan(start / 2)

    def check_place(t, place, claim, absolute):
        check(np.linalg.norm(sliding_exact(t) - place) < absolute, claim, sliding_exact(t))

    check_place(0, [math.sin(start), math.cos(start), 0], "the start", 1e-15)
    for t in (0.1, 1.0, 2.0, 2.3):
        x = sliding_exact(t)
        check_close(np.linalg.norm(x), 1, "on the circle", absolute=1e-15)
        angles = [math.atan2(*sliding_exact(at)[:2]) for at in (t - dt, t, t + dt)]
        check_close((angles[2] - angles[0]) / (2 * dt), math.sin(angles[1]), f"theta' at {t} s", relative=1e-9)
    check_place(leaves, [1, 0, 0], "where it leaves", 1e-13)
    check(np.linalg.norm(sliding_exact(leaves - 1e-9) - sliding_exact(leaves + 1e-9)) < 2.1e-9, "no jump there")
    check_place(3, [1, leaves - 3, 0], "then it falls at 1 m/s", 1e-13)
