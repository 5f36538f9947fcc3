"""`scree verify dosta`: what the published codes found is within its bands; a stop and going on, and how far it says that it got."""
import re

import numpy as np

from scree_program import check, check_in, source_folder, verify
from scree.results import Scalars
from scree.verify.dosta import CASES


def test_codes_are_within_the_bands_but_for_one_that_is_nearly():
    """The bands of the silo are of the paper; LIGGGHTS, run again by somebody else, is 5.6 % above the paper's mean."""
    outside = []
    for case in CASES:
        table = Scalars(source_folder() / f"tests/reference/granular/dem_codes/{case.deck}.csv")
        for name in case.columns:
            there = np.isfinite(table[name])
            rows = list(case.measure(table["time"][there], table[name][there]))
            check(rows, f"{case.name}, {name} has rows")
            outside += [(name, round(found)) for _, found, least, most in rows if not least <= found <= most]
    check(outside == [("large_liggghts", 24502)], "codes outside", outside)


def test_rows_come_as_soon_as_enough_has_run():
    path = Scalars(source_folder() / "tests/reference/granular/dem_codes/impact.csv")
    t, z = path["time"], path["musen_25k"]
    measure = next(case.measure for case in CASES if case.name == "impact 25k")
    counts = [len(list(measure(t[t < end], z[t < end]))) for end in (0.03, 0.05, 0.1)]
    check(counts == [0, 2, 3], "rows at 0.03, 0.05 and 0.1 s", counts)


def test_a_stopped_case_goes_on(folder):
    reached = []
    for _ in range(2):
        result = verify("dosta", "--full", "--rows", "impact 25k", "--folder", folder / "runs", "--minutes", 0.05)
        check(result.code == 4, "it was stopped", result)
        reached.append(float(re.search(r"impact 25k +([0-9.]+) of 0.1 s, stopped; [0-9.]+ h more", result.stdout)[1]))
    result = verify("dosta", "--folder", folder / "runs")
    check_in("impact 50k       not begun", result.stdout, "the others have not begun")
    check(result.code == 0 and reached[1] > reached[0], "the second time it comes further", (reached, result))
    summary = folder / "runs/impact_25k/summary.json"
    summary.write_text(re.sub('"version": "[^"]*"', '"version": "scree 0.1"', summary.read_text()))
    result = verify("dosta", "--full", "--rows", "impact 25k", "--folder", folder / "runs", "--minutes", 0.05)
    check(result.code == 2, "a run of another program does not go on", result)
    check_in("is of another program", result.stderr, "and is named")
