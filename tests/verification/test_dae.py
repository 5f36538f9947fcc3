"""`scree_verify dae`: pendulums, the slope and the oscillator as published, on one rank and on three; what it refuses."""
import csv
import math
import shutil

from refusal import refused
from scree_program import check, check_close, check_in, run_ok, scree, source_folder

_FOLDER = "tests/reference/dae"
_CASES = ("pendulum", "double-pendulum", "slope", "oscillator")


def _verify(folder, case, *options, ranks=1):
    table = folder / f"{case}{ranks}.csv"
    result = run_ok("dae", case, *options, "--csv", table, ranks=ranks, name="scree_verify")
    with open(table, newline="") as file:
        return result, list(csv.DictReader(file))


def test_all_published_rows_hold_the_same_on_1_and_3_ranks(folder):
    for case in _CASES:
        result, rows = _verify(folder, case)
        check_in("all hold", result.stdout, f"{case}: the report says that all checks hold")
        shared, of_three = _verify(folder, case, ranks=3)
        check(of_three == rows and shared.stdout == result.stdout, f"{case}: 3 ranks find the bits of 1", shared)


def test_a_pendulum_with_projected_velocity(folder):
    _, rows = _verify(folder, "pendulum", "--end-time", "10", "--projection", "velocity")
    check(len(rows) == 101, "100 steps and the start", len(rows))
    for row in rows:
        x1, x2, v1, v2 = (float(row[name]) for name in ("x1", "x2", "v1", "v2"))
        check(abs(x1 * v1 + x2 * v2) <= 1e-15 * math.hypot(x1, x2) * math.hypot(v1, v2), "x.v is round-off", row)
    radius = {round(float(row["t"]), 6): math.hypot(float(row["x1"]), float(row["x2"])) for row in rows}
    for t, expected in ((2.4, 0.99912), (4.7, 0.99825), (7.1, 0.99738), (10, 0.99634)):
        check_close(radius[t], expected, f"radius at t = {t}", absolute=1e-5)


def test_a_start_off_the_constraints_is_projected_with_a_warning_or_refused(folder):
    start = ("--start", "1.5,2", "--velocity", "3,4", "--end-time", "1")
    result, rows = _verify(folder, "pendulum", *start, "--projection", "both")
    # |x| = 2.5: g = (6.25 - 1)/2, x.v = 12.5; all of the velocity is along the rod.
    check_in("g is off by 2.62 m2, G v by 12.5 m2/s", result.stderr, "the warning says how much")
    check_in("positions change by 1.2 m, velocities by 4 m/s", result.stderr, "and what was changed")
    check_close(float(rows[0]["x1"]), 0.6, "start of the rod", absolute=1e-14)
    check_close(float(rows[0]["v2"]), 0, "start of the velocity", absolute=1e-14)
    refused(folder, "dae", "pendulum", *start, "--strict", words=["G v by 12.5 m2/s", "--strict"], name="scree_verify")
    quiet, _ = _verify(folder, "pendulum", "--end-time", "1", "--strict")
    check(quiet.stderr == "", "a start on the constraints is fine", quiet)


def test_a_slope_of_your_own(folder):
    # tan(40 deg) = 0.839 > mu: it turns round; a = g (sin + mu cos) up, g (sin - mu cos) down.
    result, rows = _verify(folder, "slope", "--angle", "40", "--mu", "0.5", "--velocity", "-2", "--g", "2", "--dt", "0.5")
    up, down = (2 * (math.sin(math.radians(40)) + sign * 0.5 * math.cos(math.radians(40))) for sign in (1, -1))
    stop = 2 / up
    check_in(f"stops at t = {stop:.9g} s", result.stdout, "time of the turn")
    check_close(float(rows[-1]["v_switch"]), down * (3 - stop), "velocity on its way down", absolute=1e-13)
    check_close(float(rows[-1]["x_switch"]), -stop + down * (3 - stop)**2 / 2, "place", absolute=1e-13)


def test_the_smallest_stack_rests_exactly_with_projection_and_never_without(folder):
    result, rows = _verify(folder, "stack", "--quick")
    check_in("all hold", result.stdout, "the report says that all checks hold")
    check_in("energy floors:", result.stdout, "the two floors")
    for projection, above, below in (("velocity", 0, 1e-24), ("none", 1e-13, 1e-6)):
        late = [float(row["kinetic_energy[J]"]) for row in rows if row["projection"] == projection and float(row["time[s]"]) > 2]
        check(len(late) > 5 and all(above <= energy < below for energy in late), f"floor with projection = {projection}", late)


def test_a_stack_with_too_little_friction_falls(folder):
    for mu, stands in (("0.12", False), ("0.15", True)):
        _, rows = _verify(folder, "stack", "--mu", mu, "--end-time", "1", "--integrator", "symplectic_euler")
        height = float(rows[-1]["y_top[m]"])
        check((height > 1.36) == stands, f"mu = {mu}: the top ends at {height} m", rows[-1])


def test_a_changed_reference_fails_the_check(folder):
    shutil.copytree(source_folder() / _FOLDER, folder / _FOLDER)
    (folder / "inputs/verification").mkdir(parents=True)    # what a source folder is known by
    for case, name, number, other in (("slope", "slope.csv", "-0.0509683995923,0,-0.02015", "-0.0509684015923,0,-0.02015"),
                                      ("oscillator", "oscillator.csv", "-1.44192715329", "-1.44192715829"),
                                      ("pendulum", "pendulum_drift.csv", "0.879546997549", "0.879547")):
        reference = folder / _FOLDER / name
        text = reference.read_text()
        check(text.count(number) == 1, f"{name} has the number to be changed", text.count(number))
        reference.write_text(text.replace(number, other))
        result = scree("dae", case, "--source", folder, name="scree_verify")
        check(result.code == 1 and "FAILED" in result.stdout, f"{case}: exit code of a failed check is 1", result)
        reference.unlink()
        refused(folder, "dae", case, "--source", folder, words=[name], name="scree_verify", ranks=(2,))


def test_bad_input(folder):
    for options, words in ((["pendulum", "--projection", "all"], ["'all'", "none, position, velocity, both"]),
                           (["pendulum", "--integrator", "euler"], ["'euler'", "rk4, gear, symplectic_euler"]),
                           (["pendulum", "--mu", "1"], ["--mu", "has no friction"]),
                           (["slope", "--projection", "both"], ["--projection"]),
                           (["oscillator", "--g", "1"], ["--g", "no gravity"]),
                           (["slope", "--disks", "3"], ["--disks", "has no disks"]),
                           (["slope", "--quick"], ["--quick"]),
                           (["slope", "--angle", "90"], ["--angle", "below 90"]),
                           (["pendulum", "--g", "1e308"], ["--g: 1e+308", "up to 1e+30"]),
                           (["slope", "--velocity", "-1e308"], ["--velocity: -1e+308", "too large"]),
                           (["stack", "--projection", "both"], ["none and velocity"]),
                           (["stack", "--start", "1"], ["--start", "0 coordinates"]),
                           (["stack", "--dt", "0.005", "--end-time", "1"], ["time.step", "unstable"]),
                           (["oscillator", "--integrator", "gear"], ["rk4 or symplectic_euler"]),
                           (["oscillator", "--velocity", "1"], ["released at rest"]),
                           (["double-pendulum", "--start", "1,0"], ["4 coordinates", "2 numbers"]),
                           (["pendulum", "--start", "0,0"], ["projection leaves 0.5 m2"]),
                           (["pendulum", "--dt", "0.3", "--end-time", "1"], ["whole number of steps"]),
                           (["pendulum", "--dt", "0.1", "--end-time", "0.04"], ["whole number of steps"])):
        refused(folder, "dae", *options, words=words, name="scree_verify", ranks=(1,))
    for options, word in ((["pendulum", "--dt", "0"], "positive"), (["pendulum", "--dt", "nan"], "positive"),
                          (["slope", "--mu", "-1"], "non-negative"), (["slope", "--angle", "91"], "--angle"),
                          (["stack", "--disks", "4"], "--disks"),
                          (["penulum"], "double-pendulum"), ([], "case")):
        result = scree("dae", *options, name="scree_verify")
        check(result.code == 2 and word in result.stderr, f"{options} is bad input", result)
