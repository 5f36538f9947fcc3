"""All of `scree_verify flows`: dense flows with rigid, elastic and soft contact beside LAMMPS. An hour on one core."""
from scree_program import check_in, run_ok


def test_all_cases_hold(folder):
    result = run_ok("flows", "--csv", folder / "flows.csv", name="scree_verify", timeout=5300)
    print(result.stdout)
    check_in("all hold", result.stdout, "the report says that all checks hold")
