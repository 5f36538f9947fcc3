"""Text files of YADE and MercuryDPM as decks: bodies, walls, periods and groups are those of the file, a thousand bodies to the
last bit; what a file does not say is asked for by the program; what cannot be taken is named with file and line."""
import re
import subprocess

import numpy as np
import pytest

import scree
from scree import exchange
from scree_program import check, check_close, check_in, program, python_command, source_folder


@pytest.fixture(autouse=True)
def in_folder(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SCREE", str(program()))


def given(name):
    return source_folder() / "tests/reference/import" / name


def deck_of(scene, folder, **more):
    """The deck with what the files do not say."""
    deck = scree.Deck(exchange.write_deck(scene, folder, "nonsmooth"))
    deck["time.step"] = 1e-4
    deck["solver.type"] = "nsgs"
    deck["output.h5md.every"] = 1e-4
    for material in deck["materials"]:
        deck[f"materials.{material}.density"] = deck.get(f"materials.{material}.density", 2500)
    for pair in deck["pairs"]:
        deck[f"pairs.{pair}"] = {"friction": 0.5, "restitution": 0.1}
    for key, value in more.items():
        deck[key.replace("__", ".")] = value
    return deck


def grid(n, seed):
    """n balls of 4 to 5 mm at places near those of a lattice, and their motion."""
    random = np.random.default_rng(seed)
    sites = np.stack(np.meshgrid(*[np.arange(10)] * 3), -1).reshape(-1, 3)[:n]
    x = 0.012 * (sites + 0.5) + random.uniform(-5e-4, 5e-4, (n, 3))
    return x, random.uniform(4e-3, 5e-3, n), *random.normal(0, 1, (2, n, 3))


def columns(*tables):
    return "\n".join("\t".join(f"{value:.17g}" for value in row) for row in np.column_stack(tables)) + "\n"


@pytest.mark.parametrize("kind", ["yade", "mercury"])
def test_a_thousand_bodies_start_with_the_bits_of_the_file(folder, kind):
    x, radius, velocity, spin = grid(1000, 3)
    if kind == "yade":
        text = "#format x_y_z_r_attrs\n# x y z r vx vy vz wx wy wz\n" + columns(x, radius, velocity, spin)
    else:
        rows = columns(x, velocity, radius, np.zeros((1000, 3)), spin, np.zeros(1000))
        text = "0 0 0 0 0 1 1 1 \n1000 0 0 0 0 0.12 0.12 0.12 \n" + rows
    (folder / "grains.txt").write_text(text)
    scene = exchange.read("grains.txt")
    for mine, theirs, name in ((scene.x, x, "centres"), (scene.radius, radius, "radii"),
                               (scene.velocity, velocity, "velocities"), (scene.spin, spin, "spins")):
        check((mine == theirs).all(), f"{name} of the file: the same bits")
    deck = deck_of(scene, folder, physics__gravity=[0, 0, 0], simulation__end_time=1e-4, domain__outside="keep")
    start = scree.run(deck, progress=False).bodies(0)
    for name, theirs in (("position", x), ("radius", radius), ("velocity", velocity), ("angular_velocity", spin)):
        check((start[name] == theirs).all(), f"{name} of the run: the same bits")


def test_the_program_names_what_no_file_tells(folder):
    scene = exchange.read(given("yade_matId.txt"))
    path = exchange.write_deck(scene, folder)
    said = subprocess.run([program(), "check", path], capture_output=True, text=True)
    for key in ("'step' in [time]", "'gravity' in [physics]", "'density' in [materials.type0]",
                "'friction' in [pairs.type0-type1]", "'restitution' in [pairs.type1-type1]"):
        check_in(f"missing key {key}", said.stderr, "the program asks for it")
    with pytest.raises(exchange.ExchangeError, match="is there already"):
        exchange.write_deck(scene, folder)
    deck_of(scene, folder / "filled", physics__gravity=[0, 0, -9.81]).write(folder / "filled/full.toml")
    said = subprocess.run([program(), "check", folder / "filled/full.toml"], capture_output=True, text=True)
    check(said.returncode == 0, "filled in, the deck is good", said)


def test_files_of_yade():
    scene = exchange.read(given("yade_matId.txt"))
    check(scene.types.tolist() == [0, 1, 0] and scene.radius.tolist() == [0.005, 0.004, 0.005], "groups by material", scene)
    check(scene.box_is_bounds and scene.lower.tolist() == [0.005, 0.005, 0.015], "no box: the bounds of the bodies", scene)
    scene = exchange.read(given("yade_attrs.txt"))
    check(scene.velocity[1].tolist() == [0.2, 0, -1] and scene.spin[1].tolist() == [0, 2, 0.5], "attributes by name", scene)
    check(scene.density.tolist() == [2600, 2600] and scene.left_out == ["energy"], "the others are left out by name", scene)
    scene = exchange.read(given("yade_periodic.spheres"))
    check(scene.periodic == (True,) * 3 and scene.upper.tolist() == [0.1, 0.1, 0.2], "the cell of a packing", scene)


def test_formats_of_yade_with_and_without_a_head(folder):
    for text, ids, left_out in (("1 2 3 0.5\n", [0], []), ("# anything\n1 2 3 0.5\n\n", [0], []), ("1 2 3 0.5 -1\n", [0], []),
                                ("#format id_x_y_z_r_matId\n17 1 2 3 0.5 4\n", [17], []),
                                ("#format x_y_z_r_attrs\n1 2 3 0.5 7 8\n", [0], ["attribute 1", "attribute 2"]),
                                ("#format x_y_z_r_attrs\n# x y z r a\n1 2 3 0.5 7 8\n", [0], ["attribute 1", "attribute 2"])):
        (folder / "some.txt").write_text(text.replace(" ", "\t") if text.startswith("1") else text)
        scene = exchange.read("some.txt")
        check(scene.x.tolist() == [[1, 2, 3]] and scene.radius.tolist() == [0.5] and scene.ids.tolist() == ids, text, scene)
        check(scene.left_out == left_out, f"left out of {text!r}", scene)


def test_data_files_of_mercury():
    scene = exchange.read(given("mercury_3d.data"))
    check(scene.types.tolist() == [0, 1, 0], "groups by species", scene)
    check(scene.velocity[1].tolist() == [0, 0, -1.5], "the last frame", scene)
    check(scene.spin[0].tolist() == [7, 8, 9] and scene.upper.tolist() == [0.1, 0.1, 0.2], "spins and the box", scene)
    check_close(scene.lower[2], -0.001, "the box is made to hold the bodies", absolute=1e-15)
    scene = exchange.read(given("mercury_2d.data"))
    check(scene.x[0].tolist() == [0.1, 0.2] and scene.velocity[0].tolist() == [1, -2], "in the plane", scene)
    check(scene.spin.tolist() == [[-3], [1.5]], "spins there have the other sign", scene)
    scene = exchange.read(given("mercury_xzy.data"))
    check(scene.x[0].tolist() == [0.1, 0.3, 0.2] and scene.velocity[0].tolist() == [1, 3, 2], "the old order of columns", scene)


def test_a_restart_file_of_mercury(folder):
    scene = exchange.read(given("mercury_box.restart"))
    check(scene.ids.tolist() == [2, 7, 9] and scene.fixed.tolist() == [False, False, True], "held ones are reported", scene)
    check(scene.densities == {"type0": 2500, "type1": 7800}, "densities", scene)
    check(scene.gravity.tolist() == [0, 0, -9.8], "gravity", scene)
    check(scene.periodic == (False, True, False), "periods", scene)
    check(scene.lower.tolist() == [0, 0, -0.01], "the box holds the floor", scene)
    normals = [scene.walls[f"wall{k}"].get("normal") for k in range(4)]
    check(normals == [[0, 0, 1], [1, 0, 0], [-1, 0, 0], None], "normals point to the bodies", scene)
    check(scene.walls["wall2"]["motion"] == {"type": "translate", "velocity": [-0.05, 0, 0]}, "a wall that moves", scene)
    check(scene.unknown == {"wall3": "IntersectionOfWalls, line 19 of the file"}, "what scree has no shape for", scene)
    check(scene.left_out == ["CubeInsertionBoundary", "springs of 1 contacts"], "what is left out", scene)
    path = exchange.write_deck(scene, folder)
    check_in("# LinearViscoelasticSlidingFrictionMixedSpecies: stiffness 1333", path.read_text(), "its contact law is reported")
    said = subprocess.run([program(), "check", path], capture_output=True, text=True)
    check_in("missing key 'type' in [obstacles.wall3]", said.stderr, "the program asks for a wall without a shape")

    deck = deck_of(scene, folder / "run", simulation__end_time=0.02)
    del deck["obstacles.wall3"]
    bodies = scree.run(deck, progress=False)
    first, last = bodies.bodies(0), bodies.bodies(-1)
    falls = (first["position"] == [0.05, 0.02, 0.03]).all(1)
    check_close(last["velocity"][falls, 2].tolist()[0], -0.2 - 9.8 * 0.02, "they fall as the file says", relative=1e-6)
    held = np.flatnonzero((first["position"] == [0.15, 0.05, 0.002]).all(1))
    check(len(held) == 1 and (last["position"][held] == first["position"][held]).all(), "what was held stays", first)


def test_disks_of_mercury_run_in_the_plane(folder):
    deck = deck_of(exchange.read(given("mercury_2d.data")), folder, physics__gravity=[0, 0], simulation__end_time=1e-3)
    start = scree.run(deck, progress=False).bodies(0)
    check(start["position"].tolist() == [[0.1, 0.2], [0.3, 0.2]], "places", start)
    check(start["angular_velocity"].ravel().tolist() == [-3, 1.5], "spins", start)


RESTART, DATA = "mercury_box.restart", "mercury_3d.data"


@pytest.mark.parametrize("name, old, new, message", [
    ("yade_matId.txt", "0.004 1", "0.004", ":4: 5 numbers are wanted"),
    ("yade_matId.txt", "0.004 1", "0.004 1.5", ":4: matId 1.5 is no whole number"),
    ("yade_matId.txt", "0.004 1", "0 1", "body 1 has no radius"),
    ("yade_matId.txt", "0.03 0.01", "0.03 nan", ":4: 5 numbers are wanted"),
    ("yade_matId.txt", "x_y_z_r_matId", "x_y_z_r_clumpId", ":1: format 'x_y_z_r_clumpId': clumps of spheres"),
    ("yade_matId.txt", "x_y_z_r_matId", "x_y_z", ":1: format 'x_y_z': there are x_y_z_r,"),
    ("yade_matId.txt", "x_y_z_r_matId", "x1_y1_z1_x2_y2_z2_x3_y3_z3", "facets are taken from STL files"),
    ("yade_matId.txt", "0.03 0.01 0.02 0.004 1", "#format x_y_z_r", ":4: a format after the first sphere"),
    ("yade_periodic.spheres", "0.004 -1", "0.004 3", ":3: a member of a clump"),
    ("yade_periodic.spheres", "0.1 0.1 0.2", "0.1 0.1", ":1: 3 numbers are wanted"),
    (DATA, "3 1 0", "4 1 0", ":5: 4 rows should follow, not 3"),
    (DATA, "2 0.5 0", "-2 0.5 0", ":2: -2 rows should follow"),
    (DATA, "2 0.5 0", "2.5 0.5 0", ":2: a whole number is wanted"),
    (DATA, "0.005 0.1 0.2 0.3 7 8 9 0", "0.005 0.1 0.2 0.3 7 8 9", "13 columns below a box of 6 numbers"),
    (DATA, "0 -1.5 0.005", "0 x 0.005", ":7: 14 numbers are wanted"),
    (RESTART, "MercuryDPM 1.0", "restart_version 3", ":1: a restart file of before MercuryDPM 1.0"),
    (RESTART, "Particles 3", "Particles 4", ":23: Particles should have 4 lines, not 3"),
    (RESTART, "Species 3", "Sorts 3", "there is no line 'Species'"),
    (RESTART, "SphericalParticle id 2", "SuperQuadricParticle id 2", ":25: a SuperQuadricParticle: only spheres are taken"),
    (RESTART, "Particle id 2 indSpecies 1", "Particle id 2 indSpecies 1.5", ":25: a whole number is wanted, not '1.5'"),
    (RESTART, "angularVelocity 1 2 3", "angularVelocity 1 2", ":24: 3 numbers are wanted"),
    (RESTART, "id 9 indSpecies 0", "id 7 indSpecies 0", "id 7 occurs twice"),
    (RESTART, "radius 0.01 invMass 0 ", "radius 0.01 ", ":26: no invMass"),
    (RESTART, "xMax 0.2", "", "no xMax before the species")])
def test_what_is_refused_says_where(folder, name, old, new, message):
    text = given(name).read_text()
    check_in(old, text, "the file has what is changed")
    (folder / name).write_text(text.replace(old, new, 1))
    with pytest.raises(exchange.ExchangeError, match=re.escape(message)) as refusal:
        exchange.read(name)
    check(str(refusal.value).startswith(name), "the message begins with the file", refusal.value)


def test_the_script_tells_formats_apart_and_what_it_leaves_out(folder):
    script = python_command("exchange", "import")
    said = subprocess.run([*script, given(RESTART), "--folder", "decks"], capture_output=True, text=True)
    check(said.returncode == 0 and said.stdout == "decks/mercury_box.toml\n", "a restart file", said)
    check_in("left out: CubeInsertionBoundary, springs of 1 contacts\nno shape for the wall wall3: IntersectionOfWalls",
             said.stderr, "what is left out")
    said = subprocess.run([*script, given(RESTART), "--folder", "decks"], capture_output=True, text=True)
    check(said.returncode == 2 and "--force" in said.stderr, "what was filled in is not overwritten", said)
    for text in ("1 2 3\n4 5 6\n", "", "one two three four\n"):
        (folder / "some").write_text(text)
        said = subprocess.run([*script, "some"], capture_output=True, text=True)
        check(said.returncode == 2, "exit code", said)
        check_in("scree: exchange: some: of no known format", said.stderr, "message")
    (folder / "some.gz").write_bytes(b"\x1f\x8b\x08")
    with pytest.raises(exchange.ExchangeError, match="unpack it first"):
        exchange.read("some.gz")
    with pytest.raises(exchange.ExchangeError, match="scale is an option of stl; this is mercury-data"):
        exchange.read(given(DATA), scale=1e-3)
    with pytest.raises(exchange.ExchangeError, match="no LAMMPS|lines"):
        exchange.read(given(DATA), format="lammps-data")
