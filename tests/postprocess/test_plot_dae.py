"""Pictures of what scree_verify dae writes."""
import subprocess
import sys

import matplotlib.image

from scree_program import check, check_in, run_ok, source_folder


def _plot(*arguments):
    return subprocess.run([sys.executable, source_folder() / "docs/figures/plot_dae_verification.py", *arguments], text=True,
                          capture_output=True, timeout=300)


def test_pictures(folder):
    for case in ("pendulum", "oscillator"):
        table = folder / f"{case}.csv"
        run_ok("dae", case, "--end-time", "2", "--csv", table, name="scree_verify")
        result = _plot(table)
        check(result.returncode == 0, f"{case}: exit code 0", result.stderr)
        picture = table.with_suffix(".png")
        check(matplotlib.image.imread(picture)[..., :3].std() > 0.02, "the picture is not blank", picture)
    check(not list(folder.glob(".*")), "no unfinished files", list(folder.iterdir()))
    result = _plot(table, "--output", folder / "nowhere/picture.png")
    check(result.returncode == 1, "exit code 1", result)
    check_in("nowhere/picture.png", result.stderr, "the message names the picture")


def test_tables_of_another_kind(folder):
    (folder / "other.csv").write_text("time[s],overlap\n0,1\n")
    for table, words in (("other.csv", "not the columns"), ("nowhere.csv", "does not exist")):
        result = _plot(folder / table)
        check(result.returncode == 1, "exit code 1", result)
        check_in(words, result.stderr, "the message")
