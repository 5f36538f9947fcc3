"""`scree_verify rigs --case cells` finds straight flight, invariance, the work of the cell, and the stresses of LAMMPS and of kinetic
theory; the quick cases on one rank and on three, the flows where --full asks for them."""
import csv

from scree_program import check, check_in, run_ok


def _verify(folder, ranks, *options):
    table = folder / f"cells{ranks}.csv"
    result = run_ok("rigs", "--case", "cells", *options, "--csv", table, ranks=ranks, name="scree_verify")
    check_in("all hold", result.stdout, "the report says that all checks hold")
    with open(table, newline="") as file:
        return list(csv.DictReader(file))


def test_quick_cases_of_cells_hold(folder):
    rows = _verify(folder, 1, "--quick")
    check(rows == _verify(folder, 3, "--quick"), "the same rows on three ranks")
    cases = {row["case"] for row in rows}
    check(cases == {"free body, 50 wraps in a sheared cell", "cell elsewhere in space", "work of a sheared cell", "brought to a pressure"},
          "no case is left out", cases)


def test_flows_hold(folder, full):
    if not full:
        return
    cases = {row["case"] for row in _verify(folder, 1)}
    check({"kinetic theory, solid fraction 0.2", "sheared at constant volume", "sheared at constant normal stress"} <= cases,
          "flows are there", cases)
