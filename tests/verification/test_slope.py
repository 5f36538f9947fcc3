"""`scree_verify slope`: the exact motion of a cube on a slope with every solver; `scree verify split-ipm`: the published table of one."""
import csv
import shutil

from scree_program import check, check_close, check_in, run_ok, scree, source_folder, verified

_REFERENCE = "tests/reference/primal-dual/cube_on_slope.csv"


def _verify(folder, ranks=1):
    table = folder / f"slope{ranks}.csv"
    result = run_ok("slope", "--quick", "--csv", table, "--source", source_folder(), ranks=ranks, name="scree_verify")
    return result, table.read_text()


def test_the_quick_rows_are_those_of_the_paper(folder):
    rows = {(float(row["eps_p"]), float(row["mu"])): row for row in verified(folder / "table.csv", "split-ipm", "--quick")}
    check(len(rows) == 12, "two widths of the cone, six friction coefficients", rows)
    # Numbers of the paper, not of the reference file.
    for key, velocity, acceleration in (((1e-8, 0.45), 1.101121, 0.438688), ((1e-8, 0.499), 0.021999, 0.008764),
                                        ((1e-4, 0.495), 0.098417, 0.03722)):
        check_close(float(rows[key]["mean_velocity"]), velocity, f"velocity at {key}", relative=3e-3)
        check_close(float(rows[key]["mean_acceleration"]), acceleration, f"acceleration at {key}", relative=3e-3)
    check(abs(float(rows[1e-8, 0.505]["mean_velocity"])) < 1e-6, "the cube stays where friction holds it", rows)


def test_every_solver_has_the_exact_motion_the_same_on_1_and_2_ranks(folder):
    result, text = _verify(folder)
    check_in("all hold", result.stdout, "the report says that all checks hold")
    shared, of_two = _verify(folder, ranks=2)
    check(of_two == text, "the table of 2 ranks is that of 1, bit by bit", of_two)
    check(shared.stdout == result.stdout, "and so is the report", shared)
    found = list(csv.DictReader(text.splitlines()))
    names = [line.split()[0] for line in run_ok("list", "solvers", "--laboratory").stdout.splitlines() if line.startswith("  ")]
    check("nsgs" in names and "ipm" in names, "scree list solvers names them", names)
    for name in names:
        rows = [row for row in found if row["solver"] == name]
        check(len(rows) == 2, f"{name} has a row with sliding and one with rest", result)
        check_close(float(rows[0]["acceleration"]), 0.438716537, f"acceleration found by {name}", absolute=1e-4)
        check_close(float(rows[1]["acceleration"]), 0, f"acceleration found by {name}", absolute=1e-4)


def test_a_reference_that_is_off_by_a_percent_fails_the_check(folder):
    reference = folder / _REFERENCE
    reference.parent.mkdir(parents=True)
    (folder / "inputs/verification").mkdir(parents=True)    # what a source folder is known by
    shutil.copy(source_folder() / _REFERENCE, reference)
    text = reference.read_text()
    changed = text.replace("-8,0.495,1e-07,0.11009,", "-8,0.495,1e-07,0.1112,")
    check(changed != text, "the reference has the row to be changed")
    reference.write_text(changed)
    result = scree("verify", "split-ipm", "--quick", "--source", folder)
    check(result.code == 1, "exit code of a failed check is 1", result)
    check_in("FAILED eps = 1e-08, mu = 0.495, eps_T = 1e-07: the velocity", result.stdout, "the failed check is named")


def test_a_missing_source_folder_is_bad_input(folder):
    result = scree("slope", "--source", folder / "nothing", name="scree_verify")
    check(result.code == 2, "exit code of bad input is 2", result)
