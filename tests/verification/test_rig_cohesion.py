"""`scree verify rigs --case cohesion` finds closed forms and LAMMPS's force of adhesive spheres, on one rank and on three."""
from scree_program import check, verified


def test_all_rows_of_cohesion_hold_and_are_the_same_on_1_and_3_ranks(folder):
    rows, three = (verified(folder / f"cohesion{ranks}.csv", "rigs", "--case", "cohesion", "--quick", ranks=ranks) for ranks in (1, 3))
    check({row["case"] for row in rows if row["holds"] != "yes"} == {"JKR force"}, "rows hold, but for the last of ten digits of a file")
    check({"JKR force", "liquid bridge", "ceiling, soft", "ceiling, rigid", "vertical wall, soft", "vertical wall, rigid",
           "hanging chain, rigid", "sticking, JKR"} == {row["case"] for row in rows}, "no case is left out")
    check(rows == three, "the same rows on three ranks")
