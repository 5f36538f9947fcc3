"""`scree verify boxes --quick` and `scree verify cards --quick`: bodies with shapes against closed forms; houses of cards beside
published outcomes. scripts/convex-scenes.py writes the files that the decks of inputs/convex read."""
import math
import subprocess
import sys

from scree.verify.cards import Outcome, outcome_of
from scree_program import check, check_close, source_folder, verified


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
    rows = {(row["geometry"], row["mu"]): row for row in verified(folder / "cards.csv", "cards", "--quick")}
    for geometry in ("tight", "generator"):
        check(int(rows[geometry, "0.2"]["fallen"]) >= 36, "most cards fall with friction 0.2", rows[geometry, "0.2"])
        check(rows[geometry, "0.6"]["outcome"] == "S", "none with 0.6", rows[geometry, "0.6"])
    check(rows["tight", "0.2"]["published"] == "TC TC", "published letters stand beside", rows["tight", "0.2"])


def test_houses_stand_lose_their_top_fall_from_the_top_or_collapse():
    def outcome(top, n, since):
        """Of 2 cards of the top and 38 others, of which n fell from `since` on."""
        return outcome_of([top, top], [since + 0.1 * i for i in range(n)] + [math.inf] * (38 - n))

    for top, n, since, letters in ((math.inf, 0, 0, "S"), (0.4, 0, 0, "PC"), (0.4, 20, 0.46, "CC"),
                                   # The others fall at once, or before; or nearly all fall.
                                   (0.4, 20, 0.44, "TC"), (math.inf, 3, 0.4, "TC"), (0.4, 33, 1, "CC"), (0.4, 34, 1, "TC")):
        check(outcome(top, n, since) == Outcome[letters], f"{n} others from {since} s, the top at {top} s", outcome(top, n, since))


def test_the_scenes_are_what_their_script_writes(folder):
    done = subprocess.run([sys.executable, source_folder() / "scripts/convex-scenes.py", folder], capture_output=True,
                          text=True, timeout=60)
    check(done.returncode == 0, "exit code 0", done.stderr)
    written = sorted(folder.glob("*.csv")) + [folder / "stone.stl"]
    check(len(written) == 9, "all files", written)
    for file in written:
        check(file.read_text() == (source_folder() / "inputs/convex" / file.name).read_text(), f"{file.name} is as shipped")
