"""Cases of tests/reference/cases about rolling friction and about walls that move freely: their right values and their neighbours."""
import json
import math
import shutil

import pytest

from decks import constant, grains, plane, uniform
from scree_program import check, check_close, check_in, rows_of, run_ok, scree, source_folder

MM = 1e-3


def dem(step, stiffness) -> dict:
    """The options that make a deck of the scheme "nonsmooth" one of soft contacts."""
    return {"simulation.scheme": "dem", "time.step": step, 'pairs."m-m".stiffness': stiffness}


def run(folder, case, options=None, *, deck="deck", added=""):
    """The rows of the table of scalars of a case, with other values for keys of its deck and tables added to it."""
    shutil.copytree(source_folder() / "tests/reference/cases" / case, folder, dirs_exist_ok=True)
    path = folder / f"{deck}.toml"
    path.write_text(path.read_text() + added)
    options = options or {}
    run_ok("-q", "run", path.name, *sets_of(options), folder=folder)
    deck = options.get("output.name", deck)
    return rows_of(folder / "results" / deck / f"{deck}.scalars.csv")


def sets_of(options) -> list:
    return [word for key, value in options.items() for word in ("--set", f"{key}={json.dumps(value)}")]


def check_at_rest(rows, after, speed, way):
    start = rows[0]["extent_center_x"]
    late = [row for row in rows if row["time"] > after]
    check(max(row["speed_max_speed"] for row in late) < speed, f"slower than {speed} m/s from {after} s on", late[-1])
    check(abs(rows[-1]["extent_center_x"] - start) < way, f"gone by less than {way} m", rows[-1])


@pytest.mark.parametrize("case, step", [("ball", "2 ms"), ("ball", "0.5 ms"), ("ball_steeper", "5 ms"), ("ball_steeper", "0.5 ms")])
def test_a_ball_below_its_rolling_angle_stands(folder, case, step):
    rows = run(folder, f"grains/rolling_rest_{case}", {"time.step": step})
    check_at_rest(rows, 0.1, 1e-6, 1e-6)


HERTZ = {"simulation.scheme": "dem", "time.step": 2e-5, "dem.law": "hertz", "materials.m.young_modulus": 1e7,
         "materials.m.poisson_ratio": 0.3}


@pytest.mark.parametrize("case, options, speed", [("ball", dem(2e-5, 1e4), 1e-7), ("ball_steeper", dem(2e-5, 1e4), 1e-6),
                                                  ("ball", HERTZ, 1e-7)])
def test_and_on_springs_after_it_has_shifted_a_little(folder, case, options, speed):
    # It rolls on its spring: by m g sin(a) R^2/k_r = 40 um with the linear law, and by more as it starts without a load.
    rows = run(folder, f"grains/rolling_rest_{case}", options | {"simulation.end_time": 1.0})
    check_at_rest(rows, 0.9, speed, 5e-4)


@pytest.mark.parametrize("scheme", ["nonsmooth", "dem"])
@pytest.mark.parametrize("dimension", [2, 3])
def test_a_ball_stands_on_a_ball_up_to_half_its_rolling_angle(folder, scheme, dimension):
    # R_eff = R/2: m g R sin(theta) <= mu_r R/2 m g cos(theta).
    soft = scheme == "dem"
    # On springs it starts without a load, so that the torque overshoots.
    for tangent, stands in ((0.04 if soft else 0.09, True), (0.11, False)):
        across = 0.2 * tangent / math.hypot(1, tangent)
        up = math.sqrt(0.04 - across**2)
        (folder / "top.csv").write_text("x,y,z\n" + (f"{0.5 + across},{0.3 + up},0\n" if dimension == 2 else f"{0.5 + across},0.5,{0.3 + up}\n"))
        (folder / "under.csv").write_text("x,y,z\n" + ("0.5,0.3,0\n" if dimension == 2 else "0.5,0.5,0.3\n"))
        ball = {"radius": constant(0.1), "source": {"type": "file", "path": "top.csv"}}
        (folder / "stack.toml").write_text(grains({
            "simulation": {"dimension": dimension, "allow_overlap": True}, "obstacles": None,
            "domain": {"lower": [0] * dimension, "upper": [1] * dimension}, "physics.gravity": [0] * (dimension - 1) + [-9.81],
            "pairs.stone-stone": {"friction": 0.5, "rolling_friction": 0.2} | ({"stiffness": 1e8} if soft else {}),
            "particles.top": ball, "particles.under": ball | {"mobility": 0, "source": {"type": "file", "path": "under.csv"}},
            "measures.speed": {"type": "speed"}, "analysis.every": 0.1}, scheme=scheme, end=0.4, step=5e-5 if soft else "2 ms"))
        run_ok("-q", "run", "stack.toml", "--force", folder=folder)
        speed = rows_of(folder / "results/stack/stack.scalars.csv")[-1]["speed_max_speed"]
        check(speed < 1e-6 if stands else speed > 1e-3, f"at {tangent} it {'stands' if stands else 'rolls off'}", speed)


@pytest.mark.parametrize("options", [{}, {"time.step": 5e-4}, dem(2e-5, 1e4), {'pairs."m-m".stiffness': 1e5}])
def test_above_its_rolling_angle_it_rolls(folder, options):
    rows = run(folder, "grains/rolling_above_angle", options)
    check_close(rows[-1]["extent_center_x"], 1.05343, "x after 2 s", 0.01)


@pytest.mark.parametrize("options", [{"solver.type": "nsgs", "solver.tolerance": 1e-6}, dem(2e-5, 1e4)])
def test_attraction_presses_and_resists_with_the_weight(folder, options):
    # A pull of half the load makes the resistance that of 1.5 times the load.
    pull = 0.5 * 2500 * 4 / 3 * math.pi * 1e-6 * 9.66096405704976
    cohesion = f'[pairs."m-m".cohesion]\ntype = "force"\npull_off = {pull}\n'
    rows = run(folder, "grains/rolling_above_angle", options | {"simulation.end_time": 1.0}, added=cohesion)
    late = [row for row in rows if row["time"] > 0.499]
    rate = (late[-1]["speed_mean_speed"] - late[0]["speed_mean_speed"]) / (late[-1]["time"] - late[0]["time"])
    check_close(rate, (1.70348862291259 - 0.15 * 9.66096405704976) / 1.4, "how fast it gains speed", 0.01)


@pytest.mark.parametrize("options, rest", [({}, 1e-9), (dem(2e-5, 1e4), 1e-8)])
def test_a_rolling_ball_stops_and_stands(folder, options, rest):
    rows = run(folder, "grains/rolling_stop", options | {"simulation.end_time": 1.5})
    check_close(rows[-1]["extent_center_x"], 0.178389, "where it stops", 0.005)
    check(rows[-1]["speed_max_speed"] < rest, "it stands", rows[-1])
    check(rows[-1]["rotation_rms"] < 100 * rest, "and does not spin", rows[-1])


def _thrown(folder, dimension, scheme, speed, slope=0.0, end=1.4, changes=None):
    """A ball or disk of 10 mm on a floor (friction 0.5, rolling friction 0.1) that a slope pulls down [rad]."""
    soft, flat = scheme == "dem", dimension == 2
    (folder / "one.csv").write_text("x,y\n0,0.01\n" if flat else "x,y,z\n0,0,0.01\n")
    down = [9.81 * math.sin(slope), *([0] * (dimension - 2)), -9.81 * math.cos(slope)]
    (folder / "thrown.toml").write_text(grains({
        "simulation": {"dimension": dimension, "allow_overlap": True},
        "domain": {"lower": [-2] * (dimension - 1) + [-0.1], "upper": [2] * dimension}, "physics.gravity": down,
        "pairs.stone-stone": {"friction": 0.5, "restitution": 0.1, "rolling_friction": 0.1} | ({"stiffness": 1e7 if flat else 1e5} if soft else {}),
        "particles.a": {"radius": constant(0.01), "velocity": [speed] + [0] * (dimension - 1), "source": {"type": "file", "path": "one.csv"}},
        "obstacles.floor": plane([0] * dimension, [0] * (dimension - 1) + [1]),
        "measures": {"extent": {"type": "extent"}, "speed": {"type": "speed"}, "rotation": {"type": "rotation"}},
        "analysis.every": 1e-3} | (changes or {}), scheme=scheme, end=end, step=2e-5 if soft else 5e-4))
    run_ok("-q", "run", "thrown.toml", "--force", folder=folder)
    return rows_of(folder / "results/thrown/thrown.scalars.csv")


# From Newton's laws for a body that slides (friction 0.5), then rolls (rolling friction 0.1): when it rolls, how fast then, where it stops.
@pytest.mark.parametrize("scheme", ["nonsmooth", "dem"])
@pytest.mark.parametrize("dimension, rolls, speed, stops", [(3, 0.0679579, 2 / 3, 0.373768), (2, 0.0784129, 0.615385, 0.352858)])
def test_a_ball_that_is_thrown_slides_then_rolls_then_stops(folder, scheme, dimension, rolls, speed, stops):
    rows = _thrown(folder, dimension, scheme, 1.0)
    at = min(rows, key=lambda row: abs(row["time"] - rolls))
    check_close(at["speed_mean_speed"], speed, "speed when it begins to roll", absolute=0.01)
    check_close(rows[-1]["extent_center_x"], stops, "where it stops", relative=2e-3)
    stopped = next(row["time"] for row in rows if row["speed_mean_speed"] < 1e-3)
    check_close(stopped, 1.019368, "when it stops: v/(mu_r g), whatever friction is", relative=3e-3)
    check(rows[-1]["speed_max_speed"] < (1e-9 if scheme == "nonsmooth" else 1e-7), "it stands", rows[-1])


@pytest.mark.parametrize("scheme", ["nonsmooth", "dem"])
def test_it_comes_to_rest_just_below_its_rolling_angle_and_rolls_on_just_above(folder, scheme):
    """tan a = mu_r at 5.7106 degrees; the rest of g sin a - mu_r g cos a is 1e-4 of g."""
    sharp = {"solver.tolerance": 1e-8} if scheme == "nonsmooth" else None
    below, above = (_thrown(folder, 3, scheme, 1e-3, math.radians(angle), 2, sharp) for angle in (5.70, 5.72))
    check(below[-1]["speed_max_speed"] < 1e-6, "it stands at 5.70 degrees", below[-1])
    check(above[-1]["speed_max_speed"] > 1.5e-3, "it gains speed at 5.72 degrees", above[-1])


@pytest.mark.parametrize("options, end", [({}, 5), ({"solver.type": "nsgs", "solver.tolerance": 1e-8}, 2)])
def test_a_pyramid_that_a_linear_program_proves_stable_stands(folder, options, end):
    rows = run(folder, "grains/rolling_rest_heap", options | {"simulation.end_time": float(end)})
    check_close(rows[-1]["extent_center_y"], 26.70 * MM, "height of its centre", absolute=0.01 * MM)


def test_a_pyramid_on_springs_sags_by_its_springs_and_rests(folder):
    sags = []
    for step, stiffness, end in ((5e-5, 1e6, 5.0), (1e-5, 1e7, 0.5)):
        rows = run(folder, "grains/rolling_rest_heap", dem(step, stiffness) | {
            "simulation.end_time": end, "output.name": f"of{stiffness:.0f}"})
        check(rows[-1]["speed_max_speed"] < 1e-6, "it is at rest", rows[-1])
        sags.append(rows[0]["extent_center_y"] - rows[-1]["extent_center_y"])
    # What is lost is elastic: in proportion to 1/k.
    check_close(sags[0], 10 * sags[1], "sag with a tenth of the stiffness", 0.01)
    check(sags[1] < 0.01 * MM, "the stiffer one stands as high as it was built", sags)


@pytest.mark.parametrize("options", [{}, dem(5e-5, 1e6)])
def test_without_rolling_friction_it_falls(folder, options):
    rows = run(folder, "grains/rolling_rest_heap", options | {'pairs."m-m".rolling_friction': 0.0, "simulation.end_time": 2.0})
    check(rows[-1]["extent_center_y"] < 20 * MM, "it has fallen", rows[-1])


@pytest.mark.parametrize("deck, near", [("deck", 0.015), ("dem", 1e-3)])
def test_a_disk_that_turns_with_its_drum_keeps_its_spin(folder, deck, near):
    rows = run(folder, "pairs/rolling_in_drum", deck=deck)
    check_close(rows[-1]["r_mean"], 2, "spin", near)
    check_close(rows[-1]["s_mean_speed"], 0.9, "speed", near)
    check_close(rows[-1]["e_rolling"], 0, "nothing rolls", absolute=1e-6)
    check_close(rows[-1]["e_imbalance"], 0, "the balance closes", absolute=1e-2 if deck == "dem" else 1e-9)


def _top(folder, scheme, omega, turntable):
    """A ball of 10 mm that spins about the normal of a floor which turns about the same axis, for 50 ms."""
    (folder / "one.csv").write_text("x,y,z,radius\n0,0,0.01,0.01\n")
    soft = scheme == "dem"
    (folder / "top.toml").write_text(grains({
        "simulation.dimension": 3, "domain": {"lower": [-1, -1, -1], "upper": [1, 1, 1]}, "physics.gravity": [0, 0, -9.81],
        "pairs.stone-stone": {"friction": 0.5, "restitution": 0, "rolling_friction": 0.1} | ({"stiffness": 1e4} if soft else {}),
        "particles.a": {"angular_velocity": [0, 0, omega], "source": {"type": "file", "path": "one.csv"}},
        "obstacles.floor": plane([0, 0, 0], [0, 0, 1]) | {
            "motion": {"type": "rotate", "point": [0, 0, 0], "axis": [0, 0, 1], "rate": turntable}},
        "measures": {"rotation": {"type": "rotation"}, "energy": {"type": "energy", "balance": True}, "wall": {"type": "wall_force"}},
        "analysis.every_steps": 1}, scheme=scheme, end=0.05, step=2e-5 if soft else 1e-3))
    run_ok("-q", "run", "top.toml", "--force", folder=folder)
    return rows_of(folder / "results/top/top.scalars.csv")


@pytest.mark.parametrize("scheme, near", [("nonsmooth", 1e-6), ("dem", 0.05)])
def test_resistance_is_against_the_spin_of_the_wall(folder, scheme, near):
    # mu_r R m g against 2/5 m R^2: 245.25 rad/s2, towards the rate of the turntable.
    for omega, turntable in ((30, 0), (30, 25), (0, 25), (-5, 5)):
        rows = _top(folder, scheme, omega, turntable)
        way = min(abs(omega - turntable), 0.1 * 9.81 / (0.4 * 0.01) * 0.05)
        expected = omega + math.copysign(way, turntable - omega)
        check_close(rows[-1]["rotation_mean_z"], expected, f"spin from {omega} on {turntable} rad/s", absolute=near * 30)
        scale = max(abs(row["energy_kinetic"]) + abs(row["energy_wall_work"]) + abs(row["energy_rolling"]) for row in rows)
        check_close(rows[-1]["energy_imbalance"], 0, "the balance closes", absolute=(1e-10 if scheme == "nonsmooth" else 2e-3) * scale)
        if way > 12:
            mean = 0.1 * 0.01 * 2500 * 4 / 3 * math.pi * 1e-6 * 9.81
            check_close(rows[-1]["wall_torque_floor_z"], math.copysign(mean, omega - turntable), "torque on the floor", 0.02)


@pytest.mark.parametrize("scheme", ["nonsmooth", "dem"])
@pytest.mark.parametrize("dimension", [2, 3])
def test_ranks_and_restarts_change_no_bit_and_the_balance_closes(folder, scheme, dimension):
    soft, flat, end = scheme == "dem", dimension == 2, 0.1
    up = [0, 1] if flat else [0, 0, 1]
    size = [0.3, 0.5] if flat else [0.15, 0.15, 0.5]
    (folder / "heap.toml").write_text(grains({
        "simulation": {"dimension": dimension, "allow_overlap": True},
        "domain": {"lower": [0.0] * (dimension - 1) + [-0.1], "upper": size, "periodic": [True] * (dimension - 1) + [False]},
        "physics.gravity": [0.5] + [0.0] * (dimension - 2) + [-9.81],
        "pairs.stone-stone": {"rolling_friction": 0.2} | ({"stiffness": 1e5} if soft else {}),
        "particles.a": {"radius": uniform(8 * MM, 12 * MM), "source": {
            "type": "random", "solid_fraction": 0.2,
            "region": {"lower": [0.0] * (dimension - 1) + [0.01], "upper": size[:-1] + [0.15 if flat else 0.1]}}},
        "obstacles.floor": plane([0] * dimension, up), "output.checkpoint.every": end / 2,
        "measures": {"energy": {"type": "energy", "balance": True}}, "analysis.every_steps": 20},
        scheme=scheme, end=end, step=2.5e-5 if soft else 1e-3))
    tables = {}
    for ranks in (1, 3):
        run_ok("-q", "run", "heap.toml", "--set", f'output.directory="of{ranks}"', folder=folder, ranks=ranks)
        tables[ranks] = rows_of(folder / f"of{ranks}/heap/heap.scalars.csv")
    check(tables[1] == tables[3], "3 ranks find the bits that one finds")
    last = tables[1][-1]
    scale = max(abs(row["energy_potential"]) + row["energy_kinetic"] for row in tables[1])
    check(last["energy_rolling"] > 0, "rolling friction dissipates", last)
    check_close(last["energy_imbalance"], 0, "the balance closes", absolute=(2e-3 if soft else 1e-10) * scale)
    checkpoints = sorted((folder / "of1/heap/checkpoint").glob("*.scree"))
    run_ok("-q", "restart", checkpoints[0], "--set", 'output.directory="again"', folder=folder, ranks=2)
    final = f"heap/checkpoint/{checkpoints[-1].name}"
    check(run_ok("compare", folder / "of1" / final, folder / "again" / final).code == 0, "a restart on 2 ranks goes on exactly")


def test_springs_in_nonsmooth_hold_as_well(folder):
    rows = run(folder, "grains/rolling_rest_ball", {
        'pairs."m-m".stiffness': 1e5, "simulation.end_time": 1.0, "solver.type": "nsgs", "solver.tolerance": 1e-8})
    check_at_rest(rows, 0.9, 1e-6, 1e-6)


def test_a_torque_without_memory_is_there_on_request_and_creeps(folder):
    rows = run(folder, "grains/rolling_rest_ball", dem(2e-5, 1e4) | {"dem.rolling": "constant torque", "simulation.end_time": 0.5})
    check(rows[-1]["speed_max_speed"] > 1e-5, "the defect that docs/method.md names", rows[-1])


@pytest.mark.parametrize("options, words", [
    ({"solver.type": "newton"}, ("rolling_friction", "nsgs", "solver.type")),
    (dem(2e-5, 1e4) | {"dem.friction": "none", "dem.rolling": "spring"}, ("rolling has an effect with friction",)),
    (dem(2e-5, 1e4) | {"dem.rolling": "constant torque", "dem.rolling_damping": 0.1}, ("rolling_damping has an effect",)),
    (dem(2e-5, 1e4) | {"dem.rolling": "sprung"}, ("constant torque",))])
def test_what_does_not_go_together_is_refused(folder, options, words):
    shutil.copytree(source_folder() / "tests/reference/cases/grains/rolling_rest_ball", folder, dirs_exist_ok=True)
    result = scree("check", "deck.toml", *sets_of(options), folder=folder)
    check(result.code == 2, "exit code of bad input is 2", result)
    for word in words:
        check_in(word, result.stderr, "the message")


def leaving(rows):
    """The speed at which the lid leaves the ball again, and how far it then rises."""
    way = [row["lid_position_lid"] for row in rows]
    deepest = max(range(len(way)), key=lambda k: way[k])
    left = next(k for k in range(deepest, len(way)) if way[k] < 0.1)
    return -rows[left]["lid_velocity_lid"], 0.1 - min(way[left:])


def on_a_spring(stiffness, load, mass, e, speed):
    """The speed at which a mass under a load leaves a spring with the damper of the restitution e; Euler's steps."""
    damping = -2 * math.log(e) / math.hypot(math.log(e), math.pi) * math.sqrt(mass * stiffness)
    x, dt = 0.0, 1e-4 * math.sqrt(mass / stiffness)
    while x >= 0:
        speed += dt / mass * (load - stiffness * x - damping * speed)
        x += dt * speed
    return -speed


@pytest.mark.parametrize("case", ["free_wall_restitution", "free_wall_held_ball"])
def test_a_free_wall_on_springs_rebounds_by_its_own_mass(folder, case):
    # The softer contact, 3.6 mm deep, lasts so long that the load takes 2 % of the speed.
    for stiffness, near in ((1e5, 0.001), (1e6, 0.005)):
        rows = run(folder, f"grains/{case}", dem(1e-5, stiffness) | {"dem.overlap_limit": 0.5, "output.name": f"of{stiffness:.0f}"})
        speed, rise = leaving(rows)
        check_close(speed, on_a_spring(stiffness, 10, 1, 0.6, math.sqrt(2)), "speed after the impact", near)
    check_close(speed, 0.6 * math.sqrt(2), "speed after the impact, hard contact", 0.02)
    check_close(rise, 0.036, "how far it rises", 0.02)


def test_a_ball_and_a_free_wall_on_springs_share_their_momentum(folder):
    rows = run(folder, "grains/free_wall_loose_ball", dem(1e-5, 1e4))
    check_close(rows[-1]["wall_velocity_wall"], 0.170627, "wall", 0.01)
    check_close(rows[-1]["speed_mean_speed"], 0.629373, "ball", 0.01)
