"""`scree verify boxes --quick` and `scree_verify cards --quick`: bodies with shapes against closed forms; houses of cards beside
published outcomes. scripts/convex-scenes.py writes the files that the decks of inputs/convex read."""
import csv
import math
import subprocess
import sys

from scree_program import check, check_close, check_in, run_ok, source_folder, verified


def rows_of_cards(folder):
    table = folder / "cards.csv"
    result = run_ok("cards", "--quick", "--csv", table, name="scree_verify", timeout=300)
    check_in("all hold", result.stdout, "every check")
    with open(table, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_boxes_capsules_tents_stacks_and_dominoes_are_as_worked_out(folder):
    rows = verified(folder / "boxes.csv", "boxes", "--quick")

    def found(case, quantity, variant):
        numbers = [float(row["found"]) for row in rows
                   if (row["case"], row["quantity"], row["variant"]) == (case, quantity, variant)]
        check(len(numbers) == 1, f"one row for {case}, {quantity}, {variant}", numbers)
        return numbers[0]

    # g (sin - mu cos) of a slope of 1 in 2.
    check_close(found("cubes on a slope", "a [m/s2]", "mu = 0.45"), 9.81 * 0.05 / math.sqrt(1.25), "a cube slides", 1e-8)
    check(abs(found("cubes on a slope", "a [m/s2]", "mu = 0.501, turned")) < 1e-8, "and rests")
    for dimension in (2, 3):
        case = f"tent of two cards, {dimension}D"
        check(found(case, "falls by / height [-]", "2.5 m, 0.98 mu_c, 5 ms") > 0.5, "a tent falls below mu_c")
        check(found(case, "stands: sinks by / height [-]", "2.5 m, 1.03 mu_c, 5 ms") < 1e-3, "and stands above")
    check_close(found("dominoes", "v / sqrt(g h) [-]", "s/h = 0.3333, 12 to 20"), 1.787, "speed of a wave", 0.04)


def test_a_house_of_cards_stands_with_friction_and_falls_without(folder):
    rows = {(row["geometry"], row["mu"]): row for row in rows_of_cards(folder)}
    for geometry in ("tight", "generator"):
        check(int(rows[geometry, "0.2"]["fallen"]) >= 36, "most cards fall with friction 0.2", rows[geometry, "0.2"])
        check(rows[geometry, "0.6"]["outcome"] == "S", "none with 0.6", rows[geometry, "0.6"])
    check(rows["tight", "0.2"]["published"] == "TC TC", "published letters stand beside", rows["tight", "0.2"])


def test_the_scenes_are_what_their_script_writes(folder):
    done = subprocess.run([sys.executable, source_folder() / "scripts/convex-scenes.py", folder], capture_output=True,
                          text=True, timeout=60)
    check(done.returncode == 0, "exit code 0", done.stderr)
    written = sorted(folder.glob("*.csv")) + [folder / "stone.stl"]
    check(len(written) == 9, "all files", written)
    for file in written:
        check(file.read_text() == (source_folder() / "inputs/convex" / file.name).read_text(), f"{file.name} is as shipped")
