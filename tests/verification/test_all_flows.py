"""All of `scree verify flows`: dense flows with rigid, elastic and soft contact beside LAMMPS. Half an hour on one core."""
from scree_program import check, verified


def test_all_cases_hold(folder):
    rows = verified(folder / "flows.csv", "flows", timeout=5300)
    check({row["case"] for row in rows} >= {"binary", "layers", "chute", "collapse 4", "drum", "silo", "Janssen"}, "no case is left out")
