"""`scree_verify corner`: the published velocities of a disk after it hits both walls of a corner at once."""
import csv
import math
import shutil

from refusal import refused
from scree_program import check, check_close, check_in, run_ok, scree, source_folder

_FOLDER = "tests/reference/corner"
_ROUND_OFF = 1e-14


def _reference(name):
    lines = (source_folder() / _FOLDER / name).read_text().splitlines(keepends=True)
    return [line for line in lines if not line.startswith("#")]


def _rows(lines):
    return {row["case"]: row for row in csv.DictReader(lines)}


def _agrees(value, published):
    """Whether a number is the published one, of three digits; numbers half-way between two may be either."""
    value, published = float(value), float(published)
    if abs(published) < _ROUND_OFF:
        return abs(value) < _ROUND_OFF
    return abs(value - published) <= 1.001 * 10 ** (math.floor(math.log10(abs(published))) - 2)


def test_all_343_rows_are_the_committed_ones_on_1_and_3_ranks(folder):
    expected = "".join(_reference("all_cases.csv"))
    check(expected.count("\n") == 344, "the reference has a header and 7 x 7 x 7 rows")
    for ranks in (1, 3):
        result = run_ok("corner", "--table", name="scree_verify", ranks=ranks)
        check(result.stdout == expected, f"the table on {ranks} ranks is the committed one", result)


def test_the_245_published_rows(folder):
    ours = _rows(run_ok("corner", "--table", name="scree_verify").stdout.splitlines())
    published = _rows(_reference("disk_in_corner.csv"))
    check(len(published) == 245 and len(ours) == 343, "numbers of rows", (len(published), len(ours)))
    for case, row in published.items():
        for column in ("restitution", "alpha_is_pi_over", "v_index", "zone_initial", "steps", "stop"):
            check(ours[case][column] == row[column], f"{column} of case {case}", (ours[case], row))
        for column in ("vx_final", "vy_final", "speed_final"):
            check(_agrees(ours[case][column], row[column]), f"{column} of case {case}", (ours[case], row))


def test_its_own_check_holds_and_sees_a_changed_row(folder):
    result = run_ok("corner", "--check", "--source", source_folder(), name="scree_verify")
    check_in("all hold", result.stdout, "the report says that all checks hold")
    shutil.copytree(source_folder() / _FOLDER, folder / _FOLDER)
    (folder / "inputs/verification").mkdir(parents=True)    # what a source folder is known by
    reference = folder / _FOLDER / "disk_in_corner.csv"
    text = reference.read_text()
    changed = text.replace("4.6.2,0.5,32,2,9.17e-13", "4.6.2,0.5,32,2,9.19e-13")
    check(changed != text, "the reference has the row to be changed")
    reference.write_text(changed)
    result = scree("corner", "--check", "--source", folder, name="scree_verify")
    check(result.code == 1, "exit code of a failed check is 1", result)
    check_in("FAILED case 4.6.2: vx", result.stdout, "the failed check is named")


def test_one_case_by_options(folder):
    def corner(*options):
        lines = run_ok("corner", *options, name="scree_verify").stdout.splitlines()
        check(lines[0] == "vx_final,vy_final,speed_final,zone_initial,steps,stop", "the header", lines)
        return next(csv.DictReader(lines))

    # One wall of a right angle: its normal velocity comes back with e, the rest stays.
    row = corner("--restitution", "0.5", "--alpha", "pi/4", "--velocity", "0,2")
    check_close(float(row["vx_final"]), -1.5, "velocity along x", absolute=1e-9)
    check_close(float(row["vy_final"]), 0.5, "velocity along y", absolute=1e-9)
    check((row["zone_initial"], row["steps"], row["stop"]) == ("2", "1", "exit"), "one step off wall 2", row)
    same = corner("--restitution", "0.5", "--alpha", repr(math.pi / 4), "--velocity", "0,2")
    check(same == row, "an angle in radians is as good as a fraction", same)
    # Units do not matter: neither for the zone nor for when a velocity counts as none.
    slow = corner("--restitution", "0.5", "--alpha", "pi/32", "--velocity", "1e-20,0.3e-21")
    fast = corner("--restitution", "0.5", "--alpha", "pi/32", "--velocity", "1e20,0.3e19")
    check(slow["stop"] == fast["stop"] == "rest" and slow["steps"] == fast["steps"], "rest at any scale", (slow, fast))


def test_bad_input(folder):
    for options, words in ((["--restitution", "1.5"], ["--restitution = 1.5", "0 to 1"]),
                           (["--restitution", "x"], ["--restitution: 'x' is no number"]),
                           (["--alpha", "pi/2"], ["--alpha = pi/2", "below pi/2 = 1.5708 rad"]),
                           (["--alpha", "0"], ["--alpha = 0", "above 0"]),
                           (["--alpha", "nan"], ["--alpha: 'nan' is no number"]),
                           (["--velocity", "0,0"], ["--velocity must not be 0"]),
                           (["--velocity", "1e200,0"], ["--velocity = 1e200,0", "1e-100 to 1e100 m/s"]),
                           (["--velocity", "0,1e-170"], ["--velocity = 0,1e-170", "1e-100 to 1e100 m/s"]),
                           (["--velocity", "1"], ["'1' is not VX,VY"])):
        refused(folder, "corner", *options, words=words, name="scree_verify", ranks=(1, 2))
    for options, words in ((["--check", "--alpha", "1"], ["--alpha", "--check"]),
                           (["--table", "--velocity", "1,0"], ["--velocity", "--table"]),
                           (["--source", "."], ["--source", "--check"])):
        result = scree("corner", *options, name="scree_verify")
        check(result.code == 2 and all(word in result.stderr for word in words), f"{options} is refused", result)
