"""`scree_verify pbd` finds the published errors and orders of position-based dynamics, the same on any number of ranks."""
import csv
import shutil
import subprocess
import sys

import pytest

from scree_program import check, check_close, check_in, run_ok, scree, source_folder

_HEADER = "case,method,parameter,h,error_max,error_end,evaluations"


def _verify(folder, *arguments, ranks=1):
    table = folder / f"pbd{ranks}.csv"
    result = run_ok("pbd", "--quick", "--csv", table, "--source", source_folder(), *arguments, ranks=ranks,
                    name="scree_verify")
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
    result = scree("pbd", "--quick", "--case", "sliding", "--source", folder, "--csv", folder / "found.csv", name="scree_verify")
    check(result.code == 1, "exit code of a failed check is 1", result)
    check_in("FAILED sliding, PBD, h = 0.0001: error_max", result.stdout, "the failed check is named")
    errors = _errors((folder / "found.csv").read_text())
    check(errors and all(case == "sliding" for case, *_ in errors), "--case leaves the other case out", errors)


def test_a_missing_source_folder_is_bad_input(folder):
    result = scree("pbd", "--source", folder / "nothing", name="scree_verify")
    check(result.code == 2, "exit code of bad input is 2", result)
    check_in("inputs/verification", result.stderr, "the message says what is missing")
