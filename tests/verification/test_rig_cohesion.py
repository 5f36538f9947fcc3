"""`scree verify rigs --case cohesion` finds closed forms and LAMMPS's force of adhesive spheres, on one rank and on two (with --full three)."""
from scree_program import check, verified


def test_all_rows_of_cohesion_hold_and_are_the_same_on_more_ranks(folder, full):
    rows, others = (verified(folder / f"cohesion{ranks}.csv", "rigs", "--case", "cohesion", "--quick", ranks=ranks) for ranks in (1, 3 if full else 2))
    check({row["case"] for row in rows if row["holds"] != "yes"} == {"JKR force"}, "rows hold, but for the last of ten digits of a file")
    check({"JKR force", "liquid bridge", "ceiling, soft", "ceiling, rigid", "vertical wall, soft", "vertical wall, rigid",
           "hanging chain, rigid", "sticking, JKR"} == {row["case"] for row in rows}, "no case is left out")
    check(rows == others, "the same rows on more ranks")
