"""`scree verify slope` recomputes the published table of a cube on a slope. Every solver follows its exact motion:
tests/contract/test_cube_on_slope.cpp."""
import shutil

from scree_program import check, check_close, check_in, source_folder, verified, verify

_REFERENCE = "tests/reference/primal-dual/cube_on_slope.csv"


def test_the_quick_rows_are_those_of_the_paper(folder):
    rows = {(float(row["eps_p"]), float(row["mu"])): row for row in verified(folder / "slope.csv", "slope", "--quick")}
    check(len(rows) == 12, "two widths of the cone, six friction coefficients", rows)
    # Numbers of the paper, not of the reference file.
    for key, velocity, acceleration in (((1e-8, 0.45), 1.101121, 0.438688), ((1e-8, 0.499), 0.021999, 0.008764),
                                        ((1e-4, 0.495), 0.098417, 0.03722)):
        check_close(float(rows[key]["mean_velocity"]), velocity, f"velocity at {key}", relative=3e-3)
        check_close(float(rows[key]["mean_acceleration"]), acceleration, f"acceleration at {key}", relative=3e-3)
    check(abs(float(rows[1e-8, 0.505]["mean_velocity"])) < 1e-6, "the cube stays where friction holds it", rows)


def test_a_reference_that_is_off_by_a_percent_fails_the_check(folder):
    reference = folder / _REFERENCE
    reference.parent.mkdir(parents=True)
    (folder / "inputs/verification").mkdir(parents=True)    # what a source folder is known by
    shutil.copy(source_folder() / _REFERENCE, reference)
    text = reference.read_text()
    changed = text.replace("-8,0.495,1e-07,0.11009,", "-8,0.495,1e-07,0.1112,")
    check(changed != text, "the reference has the row to be changed")
    reference.write_text(changed)
    result = verify("slope", "--quick", "--source", folder)
    check(result.code == 1, "exit code of a failed check is 1", result)
    check_in("FAILED eps = 1e-08, mu = 0.495, eps_T = 1e-07: the velocity", result.stdout, "the failed check is named")
