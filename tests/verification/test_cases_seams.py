"""Walls that meet flush are one wall: pieces of a floor take no speed, whatever they are made of (tests/reference/cases)."""
import csv
import math
import shutil

import pytest

from scree_program import check, check_close, check_in, run_ok, source_folder

CASES = ["seam_boxes_slide", "seam_boxes_roll", "seam_boxes_2d", "seam_boxes_cube", "slit_meshes", "seam_cylinder_in_floor",
         "seam_box_on_plane", "seam_tube_cone", "seam_two_mesh_files", "seam_box_plate"]
RADIUS = 0.01
EXACT = ['solver.type="nsgs"', "solver.tolerance=1e-8"]
DEM = ['simulation.scheme="dem"', "time.step=2e-5"]


def _run(folder, name, *options, start=None, deck="deck.toml", where="grains", ranks=1):
    """Runs a deck of a case; returns its table of scalars: name -> column. `start`: places of the bodies."""
    here = folder / name
    shutil.copytree(source_folder() / "tests/reference/cases" / where / name, here, dirs_exist_ok=True)
    if start:
        (here / "ball.csv").write_text("\n".join([",".join("xyz"[:len(start[0])])] + [",".join(map(str, x)) for x in start]))
    return _run_in(here, deck, *options, ranks=ranks)


def _run_in(here, deck, *options, ranks=1):
    shutil.rmtree(here / "results", ignore_errors=True)
    run_ok("run", deck, *(word for option in options for word in ("--set", option)), folder=here, ranks=ranks)
    stem = deck.removesuffix(".toml")
    with open(here / f"results/{stem}/{stem}.scalars.csv", encoding="utf-8") as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    return {title.split("[")[0]: [float(row[i]) for row in rows[1:]] for i, title in enumerate(rows[0])}


def _velocity(name, speed):
    return f"particles.ball.velocity={[speed, 0] if name.endswith('2d') else [speed, 0, 0]}"


def _keeps_on(table, name, height=1e-2):
    """No speed is lost, and the height stays within this share of the radius: by default, what the solver leaves open over one floor."""
    speed = table["speed_mean_speed"]
    z = table["extent_center_y" if name.endswith("2d") else "extent_center_z"]
    check(min(speed) >= speed[0] * (1 - 1e-6), f"{name}: no speed is lost", min(speed))
    check(max(speed) <= speed[0] * (1 + 1e-4), f"{name}: no speed is won", max(speed))
    for value in (min(z), max(z)):
        check_close(value, RADIUS, f"{name}: the height stays", absolute=height * RADIUS)


@pytest.mark.parametrize("name", CASES)
def test_a_seam_takes_no_speed(folder, name):
    _keeps_on(_run(folder, name), name)
    _keeps_on(_run(folder, name, *EXACT), name, height=1e-6)
    _keeps_on(_run(folder, name, "time.step=1e-3", "simulation.end_time=0.6"), name)
    options = ["particles.ball.angular_velocity=[0, 300, 0]"] if name.endswith("roll") else []
    _keeps_on(_run(folder, name, _velocity(name, 3), 'pairs."m-m".restitution=0.5', "simulation.end_time=0.6", *options), name)
    if name in ("seam_boxes_slide", "seam_boxes_cube"):
        _keeps_on(_run(folder, name, _velocity(name, 0.3), "simulation.end_time=2"), name)


@pytest.mark.parametrize("name", [name for name in CASES if name != "seam_boxes_cube"])
def test_a_seam_takes_no_speed_from_soft_grains(folder, name):
    plane = name.endswith("2d")
    first = -0.2 if name in ("seam_cylinder_in_floor", "seam_box_on_plane", "seam_box_plate") else 0
    stiffness = 1e6 if plane else 1e4
    sag = 10 * 2500 * math.pi * (RADIUS**2 if plane else 4 / 3 * RADIUS**3) / stiffness
    place = [first - 0.02, RADIUS - sag] if plane else [first - 0.02, 0, RADIUS - sag]
    # It rolls as on a ball of the radius less the overlap.
    spin = [f"particles.ball.angular_velocity=[0, {1 / (RADIUS - sag)}, 0]"] if name.endswith("roll") else []
    table = _run(folder, name, *DEM, f'pairs."m-m".stiffness={stiffness}', "simulation.end_time=0.05", *spin, start=[place])
    speed, z = table["speed_mean_speed"], table["extent_center_y" if plane else "extent_center_z"]
    for value in (min(speed), max(speed)):
        check_close(value, 1, f"{name}: the speed stays", absolute=1e-4)
    for value in (min(z), max(z)):
        check_close(value, RADIUS - sag, f"{name}: the depth stays m g/k", absolute=0.01 * sag)


def test_a_seam_stays_right_in_pbd(folder):
    table = _run(folder, "seam_boxes_pbd")
    check_close(table["extent_center_x"][-1], 0.5, "the ball goes on", absolute=2e-8)
    for z in (min(table["extent_center_z"]), max(table["extent_center_z"])):
        check_close(z, RADIUS, "it stays on the floor", absolute=1e-9)


@pytest.mark.parametrize("scheme", ["nonsmooth", "dem"])
def test_a_step_is_hit(folder, scheme):
    """A ball that meets an edge of 1 mm keeps 1 - h/R of its speed (e = 0) and gets over it."""
    options = DEM + ['pairs."m-m".stiffness=1e6'] if scheme == "dem" else ["time.step=1e-4"]
    table = _run(folder, "seam_boxes_slide", *options, "obstacles.right.upper=[2, 1, 1e-3]", "simulation.end_time=0.04",
                 start=[[-0.02, 0, RADIUS]])
    after = next(v for x, v in zip(table["extent_center_x"], table["speed_mean_speed"]) if x > -0.0035)
    check_close(after, 0.9, "speed after the edge", absolute=0.02 if scheme == "nonsmooth" else 0.1)
    check(table["extent_center_x"][-1] > 0, "it gets over the edge", table["extent_center_x"])
    check(table["extent_center_z"][-1] > RADIUS + 1e-3, "it is above the step", table["extent_center_z"])


def test_a_low_step_and_a_slot_cost_what_they_cost_at_long_steps(folder):
    """1 - h/R over a step of h, 1 - w^2/(2 R^2) over a slot of w; today's ten per cent are those of an edge that is never met."""
    for option, loss in (("obstacles.right.upper=[2, 1, 2e-5]", 2e-3), ("obstacles.right.lower=[1e-4, -1, -0.1]", 5e-5)):
        speed = _run(folder, "seam_boxes_slide", option, "simulation.end_time=0.6")["speed_mean_speed"]
        check(1 - 2 * loss < min(speed) and max(speed) < 1 + 1e-3, f"a small loss with {option}", (min(speed), max(speed)))


PIECES = """
[obstacles.left]
type = "box"
material = "m"
lower = [-1, -1, -0.1]
upper = [0, {y}, 0]
{more}
[obstacles.right]
type = "box"
material = "m"
lower = [0, -1, -0.1]
upper = [{x}, {y}, 0]
{more}
"""
DECK = """
[simulation]
dimension = 3
scheme = "{scheme}"
end_time = 0.1
allow_overlap = true
[domain]
lower = [-1, -1, -1]
upper = [1, 1, 1]
[time]
step = {step}
[physics]
gravity = [0, 0, -10]
[dem]
law = "linear"
[materials.m]
density = 2500
[pairs."m-m"]
friction = 0.3
restitution = 0.5
{stiffness}
[particles.ball]
material = "m"
{body}
velocity = {velocity}
source = {{ type = "file", path = "ball.csv" }}
{walls}
[analysis]
every = "1 ms"
[measures.extent]
type = "extent"
[measures.speed]
type = "speed"
"""
ONE = PIECES.format(x=0, y=1, more="").split("[obstacles.right]")[0].replace("[0, 1, 0]", "[1, 1, 0]")
TURNED = "rotate = { axis = [0, 0, 1], angle = 0.7 }"
MOVED = "motion = { type = \"translate\", velocity = [0.2, 0, 0.1] }"
MORE = '[obstacles.c]\ntype = "box"\nmaterial = "m"\nlower = [{}, -1, -0.1]\nupper = [1, 1, 0]\n'
BALL = 'radius = { distribution = "constant", value = "10 mm" }'
SHAPES = {"cube": '[shapes.s]\ntype = "box"\nsize = [0.02, 0.02, 0.02]\n',
          "capsule": '[shapes.s]\ntype = "capsule"\nlength = 0.04\nwidth = 0.02\n',
          "hull": '[shapes.s]\ntype = "hull"\nfile = "body.obj"\n'}
# A prism, wider below.
BODY = "".join(f"v {x} {y} {z}\n" for x, y, z in ((-0.02, -0.01, -0.01), (0.02, -0.01, -0.01), (0.02, 0.01, -0.01), (-0.02, 0.01, -0.01),
                                                   (-0.01, -0.01, 0.01), (0.01, -0.01, 0.01), (0.01, 0.01, 0.01), (-0.01, 0.01, 0.01))) + \
    "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n"


def _same_as_one(folder, name, walls, one=ONE, scheme="nonsmooth", velocity=(1, 0, 0), start=(-0.05, 0, 0.01), body=BALL,
                 within=1e-8, stiffness="", options=()):
    tables = []
    for which, pieces in (("one", one), ("pieces", walls)):
        here = folder / f"{name}.{which}"
        here.mkdir()
        (here / "ball.csv").write_text("x,y,z\n" + ",".join(map(str, start)))
        (here / "body.obj").write_text(BODY)
        shape = SHAPES.get(body, "")
        (here / "deck.toml").write_text(DECK.format(
            scheme=scheme, step=1e-3 if scheme == "nonsmooth" else 2e-5, velocity=list(velocity), walls=pieces + shape,
            stiffness=stiffness if scheme == "nonsmooth" else "stiffness = 1e4", body='shape = "s"' if shape else body))
        tables.append(_run_in(here, "deck.toml", *(EXACT if shape else options)))
    for column in ("extent_center_x", "extent_center_y", "extent_center_z", "speed_mean_speed"):
        worst = max(abs(a - b) for a, b in zip(tables[0][column], tables[1][column]))
        check(worst <= within, f"{name}, {scheme}: {column} as over one box", worst)


@pytest.mark.parametrize("scheme", ["nonsmooth", "dem"])
def test_pieces_of_a_floor_are_one_floor(folder, scheme):
    two = PIECES.format(x=1, y=1, more="")
    cases = {"two": (two, {}),
             "turned": (PIECES.format(x=1, y=1, more=TURNED), {}),
             "three": (PIECES.format(x=0.005, y=1, more="") + MORE.format(0.005), {}),
             "four": (PIECES.format(x=1, y=0, more="") + (PIECES.format(x=1, y=1, more="").replace("-1, -0.1", "0, -0.1")
                                                          .replace("left", "west").replace("right", "east")),
                      {"velocity": (1, 1, 0), "start": (-0.05, -0.05, 0.01)}),
             "from above": (two, {"velocity": (0, 0, -1), "start": (0, 0, 0.03)}),
             "along": (two, {"velocity": (0, 1, 0), "start": (0, 0, 0.01)}),
             "moving": (PIECES.format(x=1, y=1, more=MOVED), {"one": ONE + MOVED + "\n"})}
    for name, (walls, more) in cases.items():
        _same_as_one(folder, name, walls, scheme=scheme, **more)


@pytest.mark.parametrize("shape", SHAPES)
def test_pieces_of_a_floor_are_one_floor_for_shapes(folder, shape):
    two = PIECES.format(x=1, y=1, more="")
    _same_as_one(folder, "two", two, body=shape, within=1e-6)
    _same_as_one(folder, "turned", PIECES.format(x=1, y=1, more=TURNED), body=shape, within=1e-6)
    _same_as_one(folder, "falls", two, body=shape, velocity=(1, 0, 0), start=(-0.02, 0, 0.03), within=1e-6)


@pytest.mark.parametrize("stiffness", ["1e4", "1e5"])
def test_pieces_of_a_floor_are_one_floor_for_elastic_grains(folder, stiffness):
    """What springs remember goes on over the seam, also when the list no longer has the wall before it."""
    for step in ("1e-3", "1e-4"):
        _same_as_one(folder, step, PIECES.format(x=1, y=1, more=""), stiffness=f"stiffness = {stiffness}", options=[f"time.step={step}"], within=1e-12)


@pytest.mark.parametrize("scheme, within", [("nonsmooth", 4e-3), ("dem", 4e-4)])
@pytest.mark.parametrize("friction", [0.0, 0.1])
def test_a_contact_has_the_material_of_the_wall_that_it_is_on(folder, scheme, within, friction):
    """Friction 0.3 up to the seam, another behind it: a ball that slides loses mu g t. It comes to roll in neither."""
    (folder / "ball.csv").write_text("x,y,z\n-0.05,0,0.01")
    walls = PIECES.format(x=1, y=1, more="").replace('[obstacles.right]\ntype = "box"\nmaterial = "m"', '[obstacles.right]\ntype = "box"\nmaterial = "n"')
    pair = f'[materials.n]\ndensity = 2500\n[pairs."m-n"]\nfriction = {friction}\nrestitution = 0.5\n' + ("" if scheme == "nonsmooth" else "stiffness = 1e4\n")
    (folder / "deck.toml").write_text(DECK.format(scheme=scheme, step=1e-3 if scheme == "nonsmooth" else 2e-5, velocity=[1, 0, 0], walls=pair + walls,
                                                  stiffness="" if scheme == "nonsmooth" else "stiffness = 1e4", body=BALL))
    table = _run_in(folder, "deck.toml", *(EXACT if scheme == "nonsmooth" else []))
    at_seam = math.sqrt(1 - 2 * 3 * 0.05)
    right = at_seam - 10 * friction * (0.1 - (1 - at_seam) / 3)
    check_close(table["speed_mean_speed"][-1], right, "speed at the end", absolute=within)


@pytest.mark.parametrize("scheme, stiffness", [("nonsmooth", ""), ("nonsmooth", "stiffness = 1e5"), ("dem", "stiffness = 1e4")])
def test_a_restart_at_a_seam_is_exact(folder, scheme, stiffness):
    (folder / "ball.csv").write_text("x,y,z\n-0.05,0,0.01\n-0.02,0.1,0.01\n0.005,0.2,0.01")
    (folder / "deck.toml").write_text(DECK.format(scheme=scheme, step=1e-3 if scheme == "nonsmooth" else 2e-5, velocity=[1, 0, 0],
                                                  walls=PIECES.format(x=1, y=1, more=""), stiffness=stiffness, body=BALL))
    _run_in(folder, "deck.toml")
    for end in (0.02, 0.054, 0.055, 0.056):     # the balls are over the seam at 0.054, 0.021 and before the start
        run_ok("-q", "run", "deck.toml", "--force", "--set", f"simulation.end_time={end}", "--set", 'output.directory="half"', folder=folder)
        first = sorted(folder.glob("half/deck/checkpoint/*.scree"))[-1]
        run_ok("-q", "restart", first, "--set", "simulation.end_time=0.1", ranks=2, folder=folder)
        check_in("bitwise equal", run_ok("compare", "--last", folder / "results/deck", folder / "half/deck").stdout, f"stopped at {end} s")


def test_seams_are_the_same_on_any_number_of_ranks(folder):
    balls = [[-0.02 - 0.03 * i, 0.5 * j, RADIUS + 0.005 * (i % 2)] for i in range(10) for j in (-1, 0, 1)]
    for options in ([], [*DEM, 'pairs."m-m".stiffness=1e4']):
        one, three = (_run(folder, "seam_boxes_roll", *options, "simulation.end_time=0.1", start=balls, ranks=ranks) for ranks in (1, 3))
        for column in ("extent_center_x", "extent_center_z", "speed_mean_speed", "speed_max_speed"):
            check(one[column] == three[column], f"{column}: the same bits on 1 and 3 ranks")


def test_a_bridge_passes_on_over_the_triangles_of_a_face(folder):
    mesh, box = (_run(folder, "bridge_on_mesh", deck=deck, where="pairs") for deck in ("deck.toml", "box.toml"))
    height = next(title for title in mesh if title.endswith("center_z"))
    check_close(mesh[height][-1], box[height][-1], "height", absolute=1e-9)
    force = next(title for title in mesh if "floor" in title and title.endswith("_z"))
    check(box[force][-1] != 0, "the bridge of the box holds")
    check_close(mesh[force][-1], box[force][-1], "force of the bridge", absolute=1e-9)
