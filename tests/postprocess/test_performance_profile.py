"""Performance profiles drawn from what scree_replay writes: from a profile, from rows, from rows of several runs."""
import subprocess

import matplotlib.image

from scree.commands.plot import performance_profile
from scree_program import check, check_in, python_command

ROWS = """\
file,solver,seconds_to_0.0001,seconds_to_1e-08
"one.hdf5",auto,0.5,2
"one.hdf5",nsgs,1,
"two.hdf5",auto,0.0001,0.004
"two.hdf5",nsgs,0.0009,0.001
"""


def run_script(*arguments):
    return subprocess.run(python_command("plot", "performance-profile", *arguments), text=True,
                          capture_output=True, timeout=300)


def test_shares_of_problems(folder):
    profile = performance_profile.profile_of({("a", "x"): 1, ("a", "y"): 3, ("b", "x"): 2, ("b", "y"): float("inf"),
                                              ("c", "y"): 1e-5})
    check(profile == {"x": [(1, 2 / 3), (3, 2 / 3)], "y": [(1, 1 / 3), (3, 2 / 3)]}, "shares of all three problems", profile)


def profile_of(*problems):
    """The shares of solvers 0, 1, ... from their seconds for each problem."""
    return performance_profile.profile_of({(file, solver): time for file, times in enumerate(problems)
                                           for solver, time in enumerate(times)})


def test_shares_of_all_problems_within_tau_of_the_fastest():
    never = float("inf")
    profile = profile_of((1, 2, never), (3, 1.5, 6), (never, never, never), (0.1, never, 0.1))
    check([tau for tau, _ in profile[0]] == [1, 2, 4], "where a share changes", profile)
    check([[share for _, share in profile[solver]] for solver in range(3)] ==
          [[0.5, 0.75, 0.75], [0.25, 0.5, 0.5], [0.25, 0.25, 0.5]], "a problem that nobody solves counts", profile)
    check(profile_of((never,)) == {0: [(1, 0)]}, "none that is solved")


def test_times_that_are_hardly_measurable_are_equal():
    profile = profile_of((1e-6, 9e-4, 3e-3))
    check(profile[0] == profile[1] == [(1, 1), (3, 1)] and profile[2] == [(1, 0), (3, 1)], "1 ms is the least", profile)


def test_the_table_is_read_back(folder):
    (folder / "rows.csv").write_text(ROWS)
    result = run_script(folder / "rows.csv", "--profile", folder / "profile.csv")
    check(result.returncode == 0, "exit code 0", result.stderr)
    text = (folder / "profile.csv").read_text()
    check(text == "tolerance,tau,auto,nsgs\n0.0001,1,1,0.5\n0.0001,2,1,1\n1e-08,1,0.5,0.5\n1e-08,4,1,0.5\n", "shares", text)
    profiles = performance_profile.read_profiles(performance_profile.read_rows(folder / "profile.csv"))
    check(profiles[1e-8]["auto"] == [(1, 0.5), (4, 1)], "the same numbers", profiles)


def test_pictures(folder):
    (folder / "rows.csv").write_text(ROWS)
    (folder / "more.csv").write_text("file,solver,seconds_to_1e-08\none.hdf5,other,1\ntwo.hdf5,other,\n")
    (folder / "profile.csv").write_text("tolerance,tau,auto,nsgs\n1e-08,1,0.5,0.5\n1e-08,4,1,0.5\n")
    for tables in (["profile.csv"], ["rows.csv"], ["rows.csv", "more.csv", "--table"]):
        output = folder / "picture.png"
        result = run_script(*(folder / name if name.endswith("csv") else name for name in tables), "--output", output)
        check(result.returncode == 0, "exit code 0", result.stderr)
        check(matplotlib.image.imread(output)[..., :3].std() > 0.02, "the picture is not blank", tables)
        output.unlink()
    words = [line.split() for line in result.stdout.splitlines()]
    check_in(["1e-08", "auto", "2", "of", "2", "2.004", "0", "0.000"], words, "the table of sums")
    check_in(["1e-08", "nsgs", "1", "of", "2", "0.001", "0", "0.000"], words, "the table of sums")
    check_in(["1e-04", "auto", "2", "of", "2", "0.500", "2", "0.500"], words, "the table of sums")


def test_tables_of_another_kind(folder):
    (folder / "other.csv").write_text("time[s],overlap\n0,1\n")
    (folder / "profile.csv").write_text("tolerance,tau,auto\n1e-08,1,0.5\n")
    (folder / "empty.csv").write_text("tolerance,tau,auto\n")
    (folder / "twice.csv").write_text(ROWS + ROWS.splitlines()[1] + "\n")
    for tables, words in ((["twice.csv"], "one.hdf5 has more than one row of solver auto"), (["other.csv"], "no column file, solver, seconds_to_TOLERANCE"), (["nowhere.csv"], "nowhere.csv"),
                          (["empty.csv"], "no rows"), (["profile.csv", "profile.csv"], "is a profile")):
        result = run_script(*(folder / name for name in tables))
        check(result.returncode == 2, "exit code 1", result)
        check_in(words, result.stderr, "the message")
