"""`scree_verify rigs --case cohesion` finds closed forms and LAMMPS's force of adhesive spheres, on one rank and on three."""
import csv

from scree_program import check, check_in, run_ok


def _verify(folder, ranks):
    table = folder / f"cohesion{ranks}.csv"
    result = run_ok("rigs", "--case", "cohesion", "--quick", "--csv", table, ranks=ranks, name="scree_verify")
    check_in("all hold", result.stdout, "the report says that all checks hold")
    with open(table, newline="") as file:
        return list(csv.DictReader(file))


def test_all_rows_of_cohesion_hold_and_are_the_same_on_1_and_3_ranks(folder):
    rows = _verify(folder, 1)
    check(all(row["holds"] == "yes" for row in rows), "all rows hold")
    check({"JKR force", "liquid bridge", "ceiling, soft", "ceiling, rigid", "vertical wall, soft", "vertical wall, rigid",
           "hanging chain, rigid", "sticking, JKR"} == {row["case"] for row in rows}, "no case is left out")
    check(rows == _verify(folder, 3), "the same rows on three ranks")
