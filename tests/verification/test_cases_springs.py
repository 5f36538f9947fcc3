"""Decks that were wrong in version 0.2 (tests/reference/cases): springs of the scheme "nonsmooth" at short steps, the force that a wall
reports of a contact with cohesion, and walls that loads move."""
import math
import shutil
from random import Random

import pytest
from decks import edited
from scree_program import check, check_close, rows_of, run_ok, source_folder

SHARP = ("solver.type=nsgs", "solver.tolerance=1e-8")


def copied(case, folder):
    shutil.copytree(source_folder() / "tests/reference/cases" / case, folder, dirs_exist_ok=True)


def table_of(case, folder, *settings, deck="deck"):
    """The table of scalars of a run of the deck."""
    copied(case, folder)
    run_ok("-q", "run", f"{deck}.toml", *(word for setting in settings for word in ("--set", setting)), folder=folder)
    certificate = rows_of(folder / f"results/{deck}/{deck}.certificate.csv")
    check(all(row["solved"] == 1 for row in certificate[1:]), "every step is solved")
    return rows_of(folder / f"results/{deck}/{deck}.scalars.csv")


def energies(rows):
    return [row["energy_kinetic"] + row["energy_potential"] + row["energy_elastic"] for row in rows]


def check_not_gained(rows, share):
    energy = energies(rows)
    check(max(energy) <= (1 + share) * energy[0], f"energy never exceeds that of the start by {share}", max(energy) / energy[0] - 1)


def given(rows, *entries):
    """What contacts give, of these entries of the energy balance, summed over steps [J]."""
    lost = [sum(row[f"energy_{entry}"] for entry in entries) for row in rows]
    return sum(max(0, before - after) for before, after in zip(lost, lost[1:]))


# A contact lasts 3.21 ms: a 200th to a 20th of it, a 10th and a 5th.
@pytest.mark.parametrize("step, within", [(1e-5, 1e-3), (2e-5, 1e-3), (4e-5, 1e-3), (8e-5, 1e-3), (1.6e-4, 1e-3),
                                          (3.2e-4, 1e-2), (6.4e-4, 1e-2)])
def test_ball_on_a_spring_floor(folder, step, within):
    rows = table_of("grains/spring_ball_drop", folder, f"time.step={step}", "simulation.end_time=0.29")
    check_not_gained(rows, 1e-3)

    def square_on_floor(before, row):
        """Of the speed in flight at z = R. Steps of flight (D.1, D.2) keep v^2/2 + g z - g dt v/2."""
        height = row["extent_center_z"]
        speed = (height - before["extent_center_z"]) / row["dt"]
        return speed ** 2 + 20 * (height - 0.01) - 10 * row["dt"] * (speed - (speed > 0) * 1.27 + (speed < 0) * 1.41)

    squares = [square_on_floor(*pair) for pair in (rows[100:102], rows[-2:])]
    restitution = (squares[1] / squares[0]) ** 0.5
    # x'' = g - 2 zeta omega x' - omega^2 x ends with 0.89907 of the speed: gravity takes most of what 0.9 may differ by.
    check_close(restitution, 0.89907, "restitution with gravity", absolute=within)
    if step != 8e-5:    # 0.89899: misses by 1e-5
        check_close(restitution, 0.9, "restitution", absolute=within)
    apex = max(row["extent_center_z"] for row in rows if row["time"] > 0.2)
    check_close(apex, 0.091, "apex after the first impact", relative=0.01 if step < 3e-4 else 0.02)


@pytest.mark.parametrize("step", [2e-5, 8e-5])
def test_ball_on_a_spring_floor_to_the_tolerance(folder, step):
    rows = table_of("grains/spring_ball_drop", folder, f"time.step={step}", "simulation.end_time=0.29", *SHARP)
    check_close(max(row["extent_center_z"] for row in rows if row["time"] > 0.2), 0.09083, "apex after the first impact", relative=2e-3)


@pytest.mark.parametrize("step", [1e-5, 5e-5, 1.6e-4, 4.5e-4])
def test_two_balls_head_on(folder, step):
    rows = table_of("grains/spring_pair_head_on", folder, f"time.step={step}", "simulation.end_time=0.06")
    check_not_gained(rows, 1e-3)
    check_close(energies(rows)[-1] / energies(rows)[0], 0.81, "energy after the impact", relative=1e-3)


# A disk that is thrown at a floor.
THROWN = """[simulation]
dimension = 2
scheme = "nonsmooth"
end_time = "{end}"
[time]
step = {step}
[domain]
lower = [0, 0]
upper = [2, 1]
[materials.stone]
density = 1000
[pairs.stone-stone]
restitution = 1
{pair}
[particles.disk]
radius = {{ distribution = "constant", value = 0.1 }}
source = {{ type = "lattice", count = 1, region = {{ lower = [0.2, {gap}], upper = [0.4, {top}] }} }}
velocity = {velocity}
[obstacles.floor]
type = "plane"
point = [0, 0]
normal = [0, 1]
{motion}
[solver]
tolerance = {tolerance}
[nonsmooth]
impacts = "{impacts}"
[analysis]
every_steps = 1
[measures.energy]
type = "energy"
[measures.extent]
type = "extent"
[measures.walls]
type = "wall_force"
"""


def thrown(folder, pair, *, end="60 ms", step=2e-3, gap=0.015, velocity=(0, -1), motion="", tolerance=1e-10, impacts="simultaneous"):
    """The table of scalars of such a run."""
    (folder / "thrown.toml").write_text(THROWN.format(pair=pair, end=end, step=step, gap=gap, top=gap + 0.2, velocity=list(velocity),
                                                      motion=motion, tolerance=tolerance, impacts=impacts))
    run_ok("-q", "run", "thrown.toml", folder=folder)
    return rows_of(folder / "results/thrown/thrown.scalars.csv")


@pytest.mark.parametrize("step", [2e-4, 2e-3])
@pytest.mark.parametrize("across", [0.5, 1.5, 4])
def test_friction_of_a_spring_contact_gives_nothing(folder, step, across):
    rows = thrown(folder, 'friction = 0.5\nstiffness = "1e6 N/m"', end="40 ms", step=step, gap=0.01, velocity=(across, -2), tolerance=1e-9)
    check(rows[-1]["energy_friction"] > 0, "friction takes some", rows[-1])
    check(given(rows, "friction") <= 1e-9 * energies(rows)[0], "what it gives", given(rows, "friction"))


def disk(name, x, y, velocity):
    return f"""[particles.{name}]
radius = {{ distribution = "constant", value = 0.1 }}
source = {{ type = "lattice", count = 1, region = {{ lower = [{x - 0.1}, {y - 0.1}], upper = [{x + 0.100001}, {y + 0.100001}] }} }}
velocity = [{velocity[0]}, {velocity[1]}]
"""


# Disks without gravity or with it.
DISKS = """[simulation]
dimension = 2
scheme = "nonsmooth"
end_time = {end}
[time]
step = 2e-3
[physics]
gravity = [0, {gravity}]
[domain]
lower = [-1, -1]
upper = [4, 4]
[materials.stone]
density = 1000
[pairs.stone-stone]
restitution = {e}
friction = {friction}
stiffness = {stiffness}
{scene}
[solver]
tolerance = 1e-10
[nonsmooth]
{nonsmooth}
[analysis]
every_steps = 1
[measures.energy]
type = "energy"
"""
FLOOR = '[obstacles.floor]\ntype = "plane"\npoint = [0, 0]\nnormal = [0, 1]\n'
MASS = 1000 * math.pi * 0.1 ** 2


def disks(folder, scene, *, e=1, friction=0.5, stiffness=1e6, end=0.3, gravity=0, nonsmooth=""):
    (folder / "disks.toml").write_text(DISKS.format(scene=scene, e=e, friction=friction, stiffness=stiffness, end=end, gravity=gravity,
                                                    nonsmooth=nonsmooth))
    run_ok("-q", "run", "disks.toml", folder=folder)
    return rows_of(folder / "results/disks/disks.scalars.csv")


def test_friction_of_springs_that_turn_gives_nothing(folder):
    """An off-centre impact of two disks: the contact turns while it lasts."""
    rows = disks(folder, disk("a", 1, 1, (2, 0)) + disk("b", 1.25, 1.1, (0, 0)))
    check(rows[-1]["energy_friction"] > 0.1, "friction takes some", rows[-1])
    check(given(rows, "friction") <= 1e-9 * energies(rows)[0], "what friction gives", given(rows, "friction"))
    check(given(rows, "impact") <= 1e-4 * energies(rows)[0], "what the normal gives: the gap is not straight", given(rows, "impact"))


@pytest.mark.parametrize("e, lost", [(1, 0), (0.5, 0.75)])
def test_springs_whose_steps_change_their_length(folder, e, lost):
    """max_travel cuts steps to a quarter until the contact brakes the disk (omega dt = 0.75 to 3)."""
    rows = disks(folder, disk("a", 1, 0.35, (0.3, -2)) + FLOOR, e=e, stiffness=70e6, nonsmooth="max_travel = 0.01")
    steps = [row["dt"] for row in rows[1:]]
    check(max(steps) > 2 * min(steps), "steps differ", (min(steps), max(steps)))
    along_normal = 0.5 * MASS * 2 ** 2
    check_close(rows[-1]["energy_impact"], lost * along_normal, "loss of the impact", absolute=0.01 * lost * along_normal + 1e-9)
    check(given(rows, "friction", "impact") <= 1e-9 * along_normal, "what contacts give", given(rows, "friction", "impact"))


@pytest.mark.parametrize("angle", [0.3, 3, 10, 20, 29, 31])
def test_disk_that_starts_on_the_overlap_of_its_weight_rests(folder, angle):
    """angle: omega dt."""
    stiffness = (angle / 2e-3) ** 2 * MASS
    (folder / "disk.csv").write_text(f"x,y,radius\n1,{0.1 - 10 * MASS / stiffness!r},0.1\n")
    rows = disks(folder, '[particles.a]\nsource = { type = "file", path = "disk.csv" }\n' + FLOOR, stiffness=stiffness, end=0.02, gravity=-10)
    fastest = max((2 * row["energy_kinetic"] / MASS) ** 0.5 for row in rows)
    check(fastest < 1e-9 * 10 * 2e-3, "it rests", fastest)


@pytest.mark.parametrize("friction", [0, 0.5])
@pytest.mark.parametrize("e", [0.5, 0.9, 1])
@pytest.mark.parametrize("angle", [3, 10, 29])
def test_disks_that_fall_on_each_other_get_nothing_from_springs(folder, angle, e, friction):
    """Contacts that are missed in a step, or end in it and are pushed together again, store nothing. A first form of D.24
    without that gave one of these piles 20 000 J. What is left is in docs/method.md (after D.24)."""
    random = Random(1)
    box = '[obstacles.box]\ntype = "box"\nside = "inside"\nlower = [0, 0]\nupper = [1.2, 2]\n'
    scene = "".join(disk(f"d{i}{j}", 0.15 + 0.27 * i + 0.03 * random.random(), 0.12 + 0.24 * j + 0.01 * random.random(),
                         (random.uniform(-1, 1), random.uniform(-1, 1))) for i in range(4) for j in range(4))
    rows = disks(folder, FLOOR + box + scene, e=e, friction=friction, stiffness=(angle / 2e-3) ** 2 * MASS / 2, end=1, gravity=-10,
                 nonsmooth="overlap_limit = 1")
    lost = rows[-1]["energy_impact"] + rows[-1]["energy_friction"]
    check(lost > 0, "contacts take some", lost)
    fallen = max(row["energy_kinetic"] for row in rows)
    allowed = (5e-3 if e == 1 else 2e-2) * fallen
    check(given(rows, "impact", "friction") <= allowed, "what contacts give", (given(rows, "impact", "friction"), fallen))


@pytest.mark.parametrize("step", [2e-5, 1e-4])
def test_gas_keeps_its_energy(folder, step):
    rows = table_of("grains/spring_gas", folder, f"time.step={step}")
    check_not_gained(rows, 1e-3)
    check_close(energies(rows)[-1], energies(rows)[0], "energy with e = 1", relative=1e-2 if step > 5e-5 else 1e-3)


def test_gas_keeps_its_energy_to_the_tolerance(folder):
    check_not_gained(table_of("grains/spring_gas", folder, "simulation.end_time=0.1", *SHARP), 1e-5)
    check_not_gained(table_of("grains/spring_ball_drop", folder / "drop", "simulation.end_time=0.2", *SHARP), 1e-6)


@pytest.mark.parametrize("step", [2e-5, 1e-4])
def test_gas_cools(folder, step):
    """One gas of 64 balls ends up to 10 % from another: a mean of ten. 0.457 +- 0.006 is that of "dem" at 10 us; the 0.0190 J of its seed 3 are 0.431."""
    left = []
    for seed in range(1, 11):
        energy = energies(table_of("grains/spring_gas_cooling", folder / str(seed), f"time.step={step}", f"simulation.seed={seed}"))
        check(all(b <= 1.01 * a for a, b in zip(energy, energy[1:])), "it never rises by more than 1 %", energy)
        left.append(energy[-1] / energy[0])
    check_close(sum(left) / len(left), 0.457, "share of the kinetic energy after 0.5 s", relative=0.06)


@pytest.mark.parametrize("step", [1e-5, 5e-5, 1e-3])
def test_column_of_disks_at_rest(folder, step):
    rows = table_of("grains/spring_stack_rest", folder, f"time.step={step}")
    check(rows[-1]["energy_kinetic"] < 1e-10, "the column rests", rows[-1])
    check_close(rows[-1]["extent_center_y"], 49.9136e-3, "height of its centre", absolute=1e-7)


@pytest.mark.parametrize("step", [2e-5, 5e-5, 1e-4])
def test_ball_on_a_free_plank(folder, step):
    rows = table_of("grains/free_plank_spring", folder, f"time.step={step}", "simulation.end_time=0.07")
    check_close(rows[-1]["plank_velocity_plank"], 1.80107, "speed of the plank", relative=0.01)
    check_close(rows[-1]["speed_mean_speed"], 0.719893, "speed of the ball", relative=0.01)
    check(min(row["plank_velocity_plank"] for row in rows) >= -1e-3, "it never turns backwards")


ROW = """[simulation]
dimension = {dimension}
scheme = "nonsmooth"
end_time = {end}
[time]
step = {step}
[domain]
lower = [{lower}]
upper = [{upper}]
[materials.m]
density = 2500
[materials.r]
density = 2500
[pairs]
m-m = {{ friction = 0, restitution = 1, stiffness = {k} }}
m-r = {{ friction = 0, restitution = 1, stiffness = {k} }}
r-r = {{ friction = 0, restitution = 0 }}
[particles.a]
material = "m"
source = {{ type = "file", path = "a.csv" }}
[particles.b]
material = "r"
source = {{ type = "file", path = "b.csv" }}
[analysis]
every_steps = 1
[measures.energy]
type = "energy"
[measures.speed]
type = "speed"
"""


# Rigid balls stop each other and stay in touch, so that both kinds of contact are in one problem: the springs of the others, which meet in a
# row, keep their energy.
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("step", [1e-5, 1e-4])
def test_a_row_beside_rigid_contacts(folder, dimension, step):
    keys = {"dimension": dimension, "end": 0.03, "step": step, "k": 1e4 if dimension == 3 else 1e6, "lower": "-1, -1" + ", -1" * (dimension - 2),
            "upper": "1, 1" + ", 1" * (dimension - 2)}
    (folder / "deck.toml").write_text(ROW.format(**keys))
    axes = "xyz"[:dimension]
    head = ",".join(axes) + ",radius," + ",".join(f"v{k}" for k in axes)
    zeros = ",0" * (dimension - 1)
    (folder / "a.csv").write_text("\n".join([head] + [f"{x}{zeros},0.01,{v}{zeros}" for x, v in ((-0.03, 1), (0, 0), (0.02, 0), (0.04, 0), (0.0627, -0.25))]) + "\n")
    at = "0.5" + ",0" * (dimension - 2)
    (folder / "b.csv").write_text("\n".join([head] + [f"{x},{at},0.01,{v}{zeros}" for x, v in ((0, 0.5), (0.02, 0), (0.04, -0.5))]) + "\n")
    run_ok("-q", "run", "deck.toml", folder=folder)
    rows = rows_of(folder / "results/deck/deck.scalars.csv")
    energy = energies(rows)
    rigid = energy[0] * 2 * 0.5 ** 2 / (1 + 0.25 ** 2 + 2 * 0.5 ** 2)    # of the two that stop
    check_close(energy[-1] + rigid, energy[0], "energy of the springs", relative=1e-3)
    check(max(energy[1:]) + rigid <= (1 + 1e-3) * energy[0], "energy does not rise")


IN_SPACE = (("dimension = 2", "dimension = 3"), ("lower = [0, 0]", "lower = [0, 0, 0]"), ("upper = [1, 1]", "upper = [1, 1, 1]"),
            ("gravity = [0, -10]", "gravity = [0, 0, -10]"), ("point = [0,0]", "point = [0, 0, 0]"), ("normal = [0,1]", "normal = [0, 0, 1]"),
            ('type = "force"', 'type = "dmt"'), ("pull_off = 2000", "work_of_adhesion = 400"))     # 2 pi R w: 24 weights


@pytest.mark.parametrize("law", ["force", "dmt"])
def test_what_the_floor_gets_is_what_the_ball_gets(folder, law):
    case, up, mass = "pairs/cohesion_wall_force", "y", 7.853981633974483
    if law == "dmt":
        copied(case, folder)
        (folder / "space.toml").write_text(edited((folder / "deck.toml").read_text(), *IN_SPACE))
        x, y = (folder / "one.csv").read_text().splitlines()[1].split(",")[:2]
        (folder / "one.csv").write_text(f"x,y,z\n{x},0.5,{y}\n")
        run_ok("-q", "run", "space.toml", folder=folder)
        rows, up, mass = rows_of(folder / "results/space/space.scalars.csv"), "z", 1000 * 4 / 3 * math.pi * 0.05 ** 3
    else:
        rows = table_of(case, folder)
    weight = 10 * mass
    velocity = 0.0
    for before, row in zip(rows, rows[1:]):
        now = (row["e_potential"] - before["e_potential"]) / weight / row["dt"]    # (D.2): x' = x + dt v'
        on_floor = -(mass * (now - velocity) / row["dt"] + weight)
        check_close(row[f"f_force_floor_{up}"], on_floor, f"force on the floor at {row['time']:g} s", absolute=1e-9 * weight)
        velocity = now
    check(any(row[f"f_force_floor_{up}"] < -weight for row in rows), "they have met")


ROUND_WALL = """[simulation]
dimension = 2
scheme = "nonsmooth"
end_time = "40 ms"
[time]
step = "2 ms"
[domain]
lower = [-1, 0]
upper = [1, 1]
[physics]
gravity = [0, -10]
[materials.stone]
density = 1000
[pairs.stone-stone]
restitution = 0.5
friction = 0.5
{stiffness}
[pairs.stone-stone.cohesion]
type = "force"
pull_off = "600 N"
[particles.disk]
radius = {{ distribution = "constant", value = 0.1 }}
source = {{ type = "lattice", count = 1, region = {{ lower = [-0.1, 0.4], upper = [0.1, 0.6] }} }}
velocity = [1, 0]
[obstacles.hill]
type = "disk"
center = [0, 0]
radius = 0.4
[analysis]
every_steps = 1
[measures.extent]
type = "extent"
[measures.walls]
type = "wall_force"
"""


@pytest.mark.parametrize("stiffness", ["", 'stiffness = "1e6 N/m"'])
def test_what_a_round_wall_gives_and_gets_while_a_disk_goes_over_it(folder, stiffness):
    """Cohesion pulls along the normal of the step, not along that of its end."""
    (folder / "hill.toml").write_text(ROUND_WALL.format(stiffness=stiffness))
    run_ok("-q", "run", "hill.toml", folder=folder)
    rows = rows_of(folder / "results/hill/hill.scalars.csv")
    mass = 1000 * math.pi * 0.1 ** 2
    places = [(row["extent_center_x"], row["extent_center_y"]) for row in rows]
    velocities = [(1, 0)] + [[(now - before) / row["dt"] for now, before in zip(*pair)] for pair, row in zip(zip(places[1:], places), rows[1:])]
    for before, after, row in zip(velocities, velocities[1:], rows[1:]):
        for k, weight in enumerate((0, -10 * mass)):
            on_disk = mass * (after[k] - before[k]) / row["dt"] - weight
            check_close(-row["walls_force_hill_" + "xy"[k]], on_disk, f"force along {'xy'[k]} at {row['time']:g} s", absolute=1e-6 * 10 * mass)
    check(places[-1][1] < places[0][1], "the disk has gone down the hill", places[-1])


def test_impacts_pair_by_pair_push_a_wall_that_attracts(folder):
    """What such an impact does is in the force on the wall, also where nothing is left for the solve (row 710 of the array)."""
    rows = thrown(folder, 'friction = 0\ncohesion = { type = "force", pull_off = "10 N" }', impacts="sequential")
    given = sum(row["walls_force_floor_y"] * row["dt"] for row in rows[1:])
    speed = (rows[-1]["extent_center_y"] - rows[-2]["extent_center_y"]) / rows[-1]["dt"]
    check(speed > 0, "the disk has left", speed)
    check_close(-given, 1000 * math.pi * 0.1 ** 2 * (speed + 1), "impulse on the wall", relative=1e-9)


def test_a_wall_whose_table_has_a_corner_works_with_springs(folder):
    """Its velocity leaps by 0.5 m/s at the start of a step, in which a spring pushes: the wall does the work, the contact none
    (rows 1049 and 1326 of the array). A step is a 28th of the contact: restitution within 1e-3, as of a ball on a spring floor."""
    motion = 'motion = { type = "table", times = [0, 0.028, 1], positions = [[0, 0], [0, 0.014], [0, 0.014]] }'
    rows = thrown(folder, 'friction = 0\nstiffness = "1e5 N/m"', motion=motion)
    at_corner = [row for row in rows if abs(row["time"] - 0.028) < 1e-9][0]
    check(at_corner["walls_force_floor_y"] < -100, "the spring pushes then", at_corner["walls_force_floor_y"])
    lost = [row["energy_impact"] + row["energy_friction"] for row in rows]
    check(max(map(abs, lost)) < 2e-3 * rows[0]["energy_kinetic"], "contacts neither take nor give", max(map(abs, lost)))


def last(case, folder, *settings, deck="deck"):
    copied(case, folder)
    run_ok("-q", "run", f"{deck}.toml", *(word for setting in settings for word in ("--set", setting)), folder=folder)
    return rows_of(folder / f"results/{deck}/{deck}.scalars.csv")


def test_rigid_ball_on_a_free_plank(folder):
    row = last("grains/free_plank_rigid", folder)[-1]
    check_close(row["plank_velocity_plank"], 1.42190, "speed of the plank", relative=1e-3)
    check_close(row["speed_mean_speed"], 0.357810, "speed of the ball", relative=1e-3)


def check_rebound(rows, within):
    """Of a lid that falls by 0.1 m: it leaves with 0.6 of its speed, and rises by 0.036 m."""
    leaving = min(range(len(rows)), key=lambda k: rows[k]["lid_velocity_lid"])
    check_close(rows[leaving]["lid_velocity_lid"], -0.848528, "it leaves with 0.6 of its speed", relative=within)
    rise = rows[leaving]["lid_position_lid"] - min(row["lid_position_lid"] for row in rows[leaving:])
    check_close(rise, 0.036, "it rises", relative=2 * within)


DEEP = ('pairs."m-m".stiffness=1e5', "nonsmooth.overlap_limit=0.5")     # 3.6 mm


@pytest.mark.parametrize("settings, within", [(("time.step=2e-4",), 0.01), (('pairs."m-m".stiffness=1e6',), 0.02), (DEEP, 0.02)])
def test_free_wall_on_a_ball(folder, settings, within):
    check_rebound(last("grains/free_wall_restitution", folder, *settings), within)


@pytest.mark.parametrize("settings", [('pairs."m-m".stiffness=1e6',), ("nonsmooth.overlap_limit=0.5",)])
def test_free_wall_on_a_held_ball(folder, settings):
    check_rebound(last("grains/free_wall_held_ball", folder, *settings), 0.02)     # the load takes 1 % of the speed


@pytest.mark.parametrize("settings, within", [((), 2e-3), (('pairs."m-m".stiffness=1e4',), 0.01)])
def test_loose_ball_on_a_free_wall(folder, settings, within):
    row = last("grains/free_wall_loose_ball", folder, *settings)[-1]
    check_close(row["wall_velocity_wall"], 0.170627, "speed of the wall", relative=within)
    check_close(row["speed_mean_speed"], 0.629373, "speed of the ball", relative=within)


@pytest.mark.parametrize("settings", [(), ("solver.tolerance=1e-9",)])
@pytest.mark.parametrize("deck, wall, body, mass", [("deck", 0.2, 0.2, 10), ("ball", 0.06421, 0.55473, 7.853982)])
def test_body_slides_on_a_free_wall(folder, deck, wall, body, mass, settings):
    rows = last("pairs/free_wall_slide", folder, *settings, deck=deck)
    for row in rows:
        momentum = 30 * row["d_velocity_w"] + mass * row["s_mean_speed"]
        check_close(momentum, 0.8 * mass, f"momentum at {row['time']:g} s", relative=0.01)
        if row["time"] > 0.2001:
            check_close(row["d_velocity_w"], wall, f"speed of the wall at {row['time']:g} s", relative=0.01)
            check_close(row["s_mean_speed"], body, f"speed of the body at {row['time']:g} s", relative=0.01)


@pytest.mark.parametrize("deck, settings", [("deck", ()), ("deck", ("time.step=0.0002",)), ("deck", ("solver.tolerance=1e-9",)), ("dem", ())])
def test_disk_in_a_free_drum(folder, deck, settings):
    """It rolls from 0.5 s on. With the spin of rolling, v = R (drum) - r (spin), its kinetic energy is 1.726 J."""
    for row in last("pairs/free_rotor", folder, *settings, deck=deck):
        if row["time"] > 0.5001:
            check_close(row["d_velocity_drum"], 0.3930, f"turning rate of the drum at {row['time']:g} s", relative=0.01)
            check_close(row["s_mean_speed"], 0.5988, f"speed of the disk at {row['time']:g} s", relative=0.01)


@pytest.mark.parametrize("deck", ["deck", "dem"])
def test_load_on_a_ball_that_sticks(folder, deck):
    row = last("pairs/cohesion_servo", folder, deck=deck)[-1]
    check_close(row["f_force_w_y"], 100, "force on the wall", relative=0.005)
    check_close(row["f_force_floor_y"], -178.54, "force on the floor", absolute=0.5)


def test_free_wall_that_sticks(folder):
    rows = last("pairs/cohesion_free_wall", folder)
    apart = next(k for k, row in enumerate(rows) if row["d_velocity_w"] < 0)
    for row in rows[apart + 2:]:     # the impact has ended
        check_close(row["d_velocity_w"], -0.140985, f"common speed at {row['time']:g} s", relative=0.01)
        check(abs(row["d_load_w"]) < 1e-9, f"nothing pushes the two at {row['time']:g} s", row["d_load_w"])
