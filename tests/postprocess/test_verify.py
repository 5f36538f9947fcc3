"""What verifications make of their numbers: tables, means over seeds, agreement, impacts of the damped oscillator."""
import math
from types import SimpleNamespace

import numpy as np

from scree.verify.checks import CaseTable, Checks, Row
from scree.verify.crowd import CrowdTable
from scree.verify.crowd_doors import Door, door_flow, flows_near, tolerated_share
from scree.verify.crowd_optimality import Optimality, walls_met
from scree.verify.dominoes import impact_times
from scree.verify.flow_numbers import Mean, agree, at_infinite_stiffness, carried, mean_of_seeds, turned_over
from scree.verify.laboratory import Extent
from scree.verify.numbers import at_zero_step, impact_damping, runge_kutta, shortest
from scree.verify.solids import axes_of, leaning
from scree.verify.split_interior_point import SplitInteriorPoint
from scree_program import check, check_close, scree, verify


def test_mean_deviation_and_error_over_seeds():
    mean = mean_of_seeds([1, 2, 6])
    check_close(mean.value, 3, "mean", 1e-15)
    check_close(mean.deviation, math.sqrt(7), "deviation: (4 + 1 + 9) / 2", 1e-15)
    check_close(mean.error, math.sqrt(7 / 3), "error of the mean", 1e-15)
    check((mean_of_seeds([4]).value, mean_of_seeds([4]).error) == (4, 0), "of one run")
    check(mean_of_seeds([]) is None, "no run, no mean")


def test_a_straight_line_over_the_duration_of_contacts_is_found_again():
    values = [0.25 + 0.1 / math.sqrt(k) for k in (1, 4, 16)]
    check_close(at_infinite_stiffness([1, 4, 16], values), 0.25, "value at infinite stiffness", 1e-12)
    check_close(at_infinite_stiffness([1, 4], [2, 2]), 2, "a constant", 1e-12)


def test_agreement_is_3_percent_or_twice_the_scatter_of_seeds():
    def mean(value, deviation, n=3):
        return Mean(value, deviation, n)

    check(agree(mean(1.029, 0), mean(1, 0)), "within 3 %")
    check(not agree(mean(1.031, 0), mean(1, 0)), "beyond 3 %")
    check(not agree(mean(-1, 0), mean(1, 0)), "another sign")
    check(agree(mean(1.099, 0.03), mean(1, 0.04)), "within 2 * 0.05")
    check(not agree(mean(1.101, 0.03), mean(1, 0.04)), "beyond it")
    check(agree(mean(1.11, 0, 1), mean(1, 0.04)), "one run is as scattered as those of the other")
    check(not agree(mean(1.12, 0, 1), mean(1, 0.04)), "but no more")
    check(not agree(mean(math.nan, 0), mean(1, 0)), "a number that is none agrees with nothing")


def test_rows_hold_within_their_bound_and_the_worst_is_shown(folder):
    lines = []
    table = CaseTable(lines.append, "Title")
    table.add("case", [Row("q [m]", "a", 1, 1.5, 1), Row("q [m]", "b", 1, 1.7, 1), Row("q [m]", "c", 1, 1.6, 1)])
    check(" b " in lines[-1] and f"{'3':>4}" in lines[-1], "the worst of three rows", lines[-1])
    check(table.finish(folder / "all.csv"), "all hold")
    check(len((folder / "all.csv").read_text().splitlines()) == 4, "titles and all rows")
    for found in (2.1, math.nan):
        lines = []
        table = CaseTable(lines.append, "Title")
        table.add("case", [Row("q [m]", "a", 1, 1.99, 1), Row("q [m]", "b", 1, found, 1)])
        check(" b " in lines[-1], "what does not hold is shown", lines[-1])
        check(not table.finish() and any(line.startswith("FAILED case, b") for line in lines), "and fails", lines)
    checks = Checks(lines.append)
    checks.require("share", 0.5, 0.6, 1)
    check(lines[-1].startswith("FAILED share = 0.5000"), "a bound with a line of its own", lines[-1])


def test_a_row_that_is_known_not_to_hold_is_shown_and_must_not_hold():
    for found, holds, said in (1.2, True, "MISSED case, b: q [m] = 1.2"), (1.05, False, "holds now, but is marked as missed"):
        lines = []
        table = CaseTable(lines.append, "Title")
        table.add("case", [Row("q [m]", "a", 1, 1.01, 0.1), Row("q [m]", "b", 1, found, 0.1, missed="why"),
                           Row("p [m]", "a", 1, 1, 0.1)])
        check(table.finish() == holds, f"found {found}", lines)
        check(any(said in line for line in lines), "the report says so", lines)
    check(lines[-1] == "3 checks, 1 failed", "the last line, where it fails", lines)
    lines = []
    checks = Checks(lines.append)
    checks.count(False, "a row", "why")
    checks.count(True, "another")
    check(checks.finish() and lines == ["MISSED a row: why", "2 checks, 1 missed as known, all others hold"], "the last lines", lines)


def test_small_numerical_methods():
    for e in (1, 0.8, 0.5, 0.05):
        check_close(impact_damping(e).restitution, e, "restitution", 1e-12)
    check_close(impact_damping(1).duration, math.pi, "duration of an elastic impact", 1e-15)
    check_close(runge_kutta(lambda y: -y, 1.0, 1, 100), math.exp(-1), "exponential decay", 1e-9)
    check([shortest(x) for x in (1.0, 0.1, 1e-7, math.nan)] == ["1", "0.1", "1e-07", "nan"], "numbers as text")


def test_waves_of_dominoes_have_the_speeds_of_the_literature():
    """1.808 and 1.694, and 2.009, 2.034 after 25 and 40 close ones."""
    for gap, n, expected in ((1 / 3, 40, 1.808), (1 / 2, 25, 1.694), (1 / 6, 24, 2.009), (1 / 6, 39, 2.034)):
        times = impact_times(n + 2, math.sqrt(9.81), 1, 0.15625, gap)
        check_close((gap + 0.15625) / (times[n + 1] - times[n]) / math.sqrt(9.81), expected, f"gap {gap:.3f}", absolute=5e-4)


def test_the_first_domino_falls_freely_and_loses_the_momentum_of_two_to_one():
    push = 100      # gravity plays no part
    times = impact_times(3, push, 1, 0.1, 0.01)
    angle = math.asin(0.01)
    check_close(times[1], angle / push, "the first impact", 1e-4)
    check_close(times[2] - times[1], 2 * angle / push, "the second", 1e-3)


def test_limits_and_turns():
    check_close(float(at_zero_step([1 + h + h**2 + 3 * h**3 for h in (0.4, 0.2, 0.1, 0.05)], 1)), 1, "all powers of the step", 1e-13)
    check_close(float(at_zero_step([1 + h**2 + 3 * h**4 for h in (0.4, 0.2, 0.1)], 2)), 1, "even powers", 1e-13)
    half = math.sqrt(0.5)
    check(abs(axes_of([half, 0, 0, half])[0] - [0, 1, 0]).max() < 1e-15, "a quarter turn about z takes x to y")
    check(abs(axes_of(leaning(3, math.pi / 2))[0] - [0, 0, 1]).max() < 1e-15, "x leans towards z")
    check(abs(axes_of(leaning(2, math.pi / 2))[0] - [0, 1]).max() < 1e-15, "in the plane towards y")


def test_the_split_method_carries_the_friction_of_the_widened_cone():
    """A contact that is pushed on and dragged sideways slides: |(r_T, eps)| = mu r_N + 2 eps, and the push is carried."""
    free, eps = np.array([[-1.0, 2.0, 0.5]]), 2e-3
    for mu in (0.1, 0.3, 0.6):
        r = SplitInteriorPoint(np.eye(3)[None], np.array([mu]), np.array([eps]), np.array([1e-11])).solve(free)[0][0, 0]
        check_close(math.hypot(*r[1:], eps), mu * r[0] + 2 * eps, f"widened cone, mu = {mu}", relative=1e-6)
        check(abs(free[0, 0] + r[0]) < 1e-7, "it does not lift off", r)


def test_what_verify_is_asked_for():
    said = verify()
    check(said.code == 0 and "contact-law" in said.stdout, "without a name it lists the verifications", said)
    said = verify("grain")
    check(said.code == 2 and "grains" in said.stderr, "a name that does not exist ends with those that do", said)
    said = scree("verify", "grains", ranks=1)
    check(said.code == 2 and "--ranks" in said.stderr, "mpirun is not for it", said)
    said = verify("grains", "--source", "nowhere")
    check(said.code == 2 and "--source" in said.stderr, "a folder without decks", said)


def test_transport_counts_grains_that_cross_planes():
    """Four grains: across a period of 0.1 m at 0.2 m/s, one of them half as fast; a correction that moves one back counts."""
    time = np.arange(0, 8.001, 0.01)
    speeds = np.array([0.2, 0.2, 0.2, 0.1])
    flow = SimpleNamespace(time=time, period=0.1, along=list((time[:, None] * speeds + 0.03) % 0.1))
    check_close(carried(flow), speeds.mean(), "mean over all planes", 1e-10)
    flow.along = [x - 0.04 * np.array([t > 6, 0, 0, 0]) for t, x in zip(time, flow.along)]
    check_close(carried(flow), speeds.mean() - 0.04 / 4 / 4, "one grain is put back by 4 cm within 4 s", 1e-10)
    # A grain that goes round once in 0.5 s, and one that trembles about the plane.
    round_trip = np.column_stack([0.05 * np.sin(4 * np.pi * time + 1), 0.004 * np.sin(40 * time)])
    check_close(turned_over(SimpleNamespace(time=time, along=list(round_trip))), 2, "passes in a second", 0.13)


def test_rows_are_chosen_by_case_and_law():
    check(Extent().has("chute", "dem"), "all")
    check(Extent(rows="jan*").has("Janssen", "dem 4k") and not Extent(rows="jan*").has("chute", "dem"), "a case")
    some = Extent(rows="chute/dem*, drum/rigid")
    check([some.has(*row) for row in (("chute", "dem 4k"), ("chute", "rigid"), ("drum", "rigid"), ("drum", "rigid dt/4"))] ==
          [True, False, True, False], "laws of a case")
    for words in (["grains", "--full"], ["flows", "--seeds", 0], ["flows", "--minutes", 1], ["flows", "--full", "--quick"]):
        said = verify(*words)
        check(said.code == 2 and words[1] in said.stderr, "options that cannot be", said)


def test_rows_of_crowds_hold_within_their_bounds_only():
    lines = []
    table = CrowdTable(lines.append)
    table.exact("s1", "a", 1 + 1e-9, 1, 2e-9)
    table.within("s1", "b", 2, 1, 2)
    table.at_most("s1", "c", 0, 0)
    check(all(line.endswith(" yes") for line in lines[1:]) and table.finish(), "three that hold", lines)
    table.exact("s1", "a", 1 + 3e-9, 1, 2e-9)
    table.within("s1", "b", 2.1, 1, 2)
    table.at_most("s1", "c", math.nan, 1)
    check(all(line.endswith(" NO") for line in lines[-3:]) and not table.finish(), "three that do not", lines)
    check(math.isnan(Optimality.worst([Optimality(overlap=1), Optimality(overlap=math.nan)]).overlap), "no number is worse than any number")


def test_distances_from_walls_and_columns():
    distance, normal = walls_met(np.array([[1.0, 2.0], [8.0, 2.5]]), 60)
    for found, expected in zip(distance[0], (1, 59, 2, 3, math.hypot(7, 2) - 2.2, math.hypot(7, 3) - 2.2)):
        check_close(found, expected, "distance", 1e-15)
    check(np.allclose(distance[1, 4:], 0.3), "in the middle of a passage of 0.6 m", distance[1])
    check(np.allclose(normal[1], [[1, 0], [-1, 0], [0, 1], [0, -1], [0, 1], [0, -1]]), "normals towards the person", normal[1])


def test_flow_through_a_door_is_between_percentiles():
    door = Door(1.0, 0.4)       # 100 people
    time = np.arange(0, 101.0)
    passed = np.minimum(np.maximum(2 * (time - 10), 0), 90)     # 20 after 20 s, 80 after 50 s
    check_close(door_flow(door, SimpleNamespace(scalars={"time": time, "neck_net": passed})), 2, "two a second", 1e-12)
    stuck = np.minimum(passed, 79)
    check(door_flow(door, SimpleNamespace(scalars={"time": time, "neck_net": stuck})) == 0, "they stop before 80 have passed")
    near = flows_near([("b", 1.0, 2.0), ("b", 1.1, 3.3), ("a", 0.9, 0.9), ("c", 1.2, 9.9)], 1.0)
    check(list(near) == ["a", "b"], "widths within 10 %, by name", near)
    check_close(near["b"], 2.5, "mean flow per metre times the width", 1e-12)
    check([tolerated_share(width) for width in (0.5, 0.6, 0.8)] == [0.2, 0.1, 0.1], "shares of the middle")
