"""`scree verify contact-law`: all checks hold; its table and its picture."""
import subprocess
import sys

import matplotlib.image

from scree_program import check, check_in, source_folder, verified


def plot(*arguments):
    return subprocess.run([sys.executable, source_folder() / "docs/figures/plot_contact_law.py", *arguments], text=True,
                          capture_output=True, timeout=300)


def test_all_checks_hold(folder):
    table = folder / "law.csv"
    rows = [row for row in verified(table, "contact-law") if row["case"] == "one sphere" and row["quantity"] == "restitution"]
    steps = sorted({float(row["omega_dt"]) for row in rows})
    check(steps[0] == 1e-3 and steps[-1] == 1e3 and len(steps) >= 12, "steps from 1e-3 to 1e3", steps)
    worst = max(abs(float(row["found"]) / float(row["exact"]) - 1) for row in rows)
    check(worst < 0.01, "restitution within 1 % at every step", worst)
    picture = plot(table)
    check(picture.returncode == 0, "exit code 0", picture.stderr)
    check(matplotlib.image.imread(table.with_suffix(".png"))[..., :3].std() > 0.02, "the picture is not blank")


def test_tables_of_another_kind(folder):
    (folder / "other.csv").write_text("time[s],overlap\n0,1\n")
    for table, words in (("other.csv", "not the columns"), ("nowhere.csv", "does not exist")):
        result = plot(folder / table)
        check(result.returncode == 1, "exit code 1", result)
        check_in(words, result.stderr, "the message")
