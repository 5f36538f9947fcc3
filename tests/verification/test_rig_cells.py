"""`scree verify rigs --case cells` finds straight flight, invariance, the work of the domain, and the stresses of LAMMPS and of kinetic
theory; the quick cases on one rank and on two (with --full three), the flows where --full asks for them."""
from scree_program import check, verified


def test_quick_cases_of_cells_hold(folder, full):
    rows, others = (verified(folder / f"cells{ranks}.csv", "rigs", "--case", "cells", "--quick", ranks=ranks) for ranks in (1, 3 if full else 2))
    check(rows == others, "the same rows on more ranks")
    cases = {row["case"] for row in rows}
    check(cases == {"free body, 50 wraps in a sheared domain", "domain elsewhere in space", "work of a sheared domain", "brought to a pressure",
                    "rigid contact"},
          "no case is left out", cases)


def test_flows_hold(folder, full):
    if not full:
        return
    cases = {row["case"] for row in verified(folder / "cells.csv", "rigs", "--case", "cells", timeout=3000)}
    check({"kinetic theory, solid fraction 0.2", "sheared at constant volume", "sheared at constant normal stress"} <= cases,
          "flows are there", cases)
