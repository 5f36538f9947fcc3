"""The default people stay within the bands of experiments on doors, necks, corridors and single files: part of what
`scree verify crowd` and scripts/calibrate-crowd.py compare, with one seed. Other people do not."""
import csv
import subprocess
import sys

from scree_program import check, check_in, program, source_folder, verify


def _calibrate(folder, *arguments):
    table = folder / "table.csv"
    result = subprocess.run([sys.executable, source_folder() / "scripts" / "calibrate-crowd.py", "--bin",
                             program().parent, "--csv", table, *arguments], text=True, capture_output=True, check=False)
    with open(table, newline="") as file:
        return result, list(csv.DictReader(file))


def test_default_people_are_within_the_bands(folder):
    result, rows = _calibrate(folder, "--quick")
    check(result.returncode == 0, "flows and speeds are within their bands, and everybody passes", result.stdout)
    check({row["case"] for row in rows} == {"neck", "corridor", "file"}, "all three experiments are there", result.stdout)
    check(all(row["inside"] == "yes" for row in rows), "each number is inside", result.stdout)
    print(result.stdout)


def test_doors_let_as_many_through_as_experiments(folder):
    """From 0.5 m to 3 m; `scree verify crowd` does 0.4 m to 5 m with three seeds."""
    table = folder / "doors.csv"
    result = verify("crowd", "--case", "doors", "--quick", "--csv", table)
    check(result.code == 0, "all flows are within their bands", result)
    check_in("4 checks, all hold", result.stdout, "all flows are within their bands")
    check_in("Kretz 2006 1.02", result.stdout, "the report has what is published")
    with open(table, newline="") as file:
        rows = list(csv.DictReader(file))
    check([row["case"] for row in rows] == 4 * ["doors"], "a row for each door", rows)


def test_people_who_keep_another_headway_are_not(folder):
    """The bands can be missed: with half the headway time a file is too fast."""
    result, rows = _calibrate(folder, "--quick", "--only", "file", "--set", "agents.person.headway_time=0.5")
    check(result.returncode == 1, "the program says so with its exit code", result.stdout + result.stderr)
    check_in("OUTSIDE", result.stdout, "the table marks what is outside")
    check(all(row["inside"] == "no" for row in rows if 1 < float(row["at"]) < 2), "speeds of the file are outside", rows)
