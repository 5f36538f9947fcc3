"""Shapes of bodies that cannot be: one message with the place in the deck, exit code 2."""
import struct

import pytest
from decks import edited
from refusal import refused
from scree_program import check, check_in, run_ok

DECK = """\
[simulation]
dimension = 3
scheme = "nonsmooth"
end_time = "4 ms"

[domain]
lower = [0, 0, 0]
upper = [1, 1, 1]

[time]
step = "2 ms"

[physics]
gravity = [0, 0, -9.81]

[materials.stone]
density = 2500

[pairs."stone-stone"]
friction = 0.4
restitution = 0.5

[shapes.brick]
type = "box"
size = ["20 cm", "10 cm", "10 cm"]

[particles.bricks]
material = "stone"
shape = "brick"
source = { type = "lattice", spacing = 0.3 }
"""

HULL = ('type = "box"\nsize = ["20 cm", "10 cm", "10 cm"]', 'type = "hull"\nfile = "stone.obj"')
TETRAHEDRON = "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def refused_deck(folder, *changes, words, mesh=None):
    (folder / "shapes.toml").write_text(edited(DECK, *changes))
    if mesh is not None:
        (folder / "stone.obj").write_bytes(mesh if isinstance(mesh, bytes) else mesh.encode())
    refused(folder, "check", "shapes.toml", words=["shapes.toml:", *words] if mesh is None else words, ranks=(1, 2))


def test_the_deck_runs(folder):
    (folder / "shapes.toml").write_text(DECK)
    run_ok("check", "shapes.toml", folder=folder)
    (folder / "stone.obj").write_text(TETRAHEDRON)
    (folder / "hull.toml").write_text(edited(DECK, HULL))
    result = run_ok("check", "hull.toml", folder=folder)
    check_in("m, volume 0.0001667 m3, moments over mass", result.stdout, "what the shape is like")


def test_extents_and_rounding(folder):
    refused_deck(folder, ('"20 cm"', '"0 cm"'), words=["size"])
    refused_deck(folder, ('"20 cm"', '"200 m"'), words=["[shapes.brick]", "1 to 1000"])
    refused_deck(folder, ("\n[particles", 'rounding_radius = "6 cm"\n[particles'), words=["[shapes.brick]", "rounding_radius of 0.06"])
    refused_deck(folder, ("\n[particles", "rounding_radius = 0\n[particles"), words=["rounding_radius"])
    refused_deck(folder, ("\n[particles", "rounding_radiu = 1\n[particles"), words=["rounding_radiu", "rounding_radius"])


def test_noticeable_rounding_is_named(folder):
    for rounding, said in (("0.5 cm", False), ("2 cm", True)):
        (folder / "shapes.toml").write_text(edited(DECK, ("\n[particles", f'rounding_radius = "{rounding}"\n[particles')))
        result = run_ok("check", "shapes.toml", folder=folder)
        found = "[shapes.brick] rounding_radius is 0.4 of the inscribed radius" in result.stdout + result.stderr
        check(found == said, f"whether a rounding of {rounding} is named", result.stderr)


def test_names_and_shares(folder):
    refused_deck(folder, ('shape = "brick"', 'shape = "brik"'), words=["brik", "brick"])
    refused_deck(folder, ("[shapes.brick]", "[shapes.sphere]"), words=["sphere"])
    refused_deck(folder, ('shape = "brick"', 'shapes = ["brick"]\nshape_shares = [1, 2]'), words=["as many shares"])
    refused_deck(folder, ('shape = "brick"', 'shapes = ["brick"]\nshape_shares = [0]'), words=["sum to 0"])
    refused_deck(folder, ('shape = "brick"', 'shape = "brick"\nshapes = ["brick"]'), words=["either 'shape' or 'shapes'"])
    refused_deck(folder, ('shape = "brick"', 'orientation = "random"\nradius = { distribution = "constant", value = 0.1 }'),
                 words=["spheres look the same"])


def test_what_shapes_do_not_go_with(folder):
    refused_deck(folder, ('"nonsmooth"', '"dem"'), ("density = 2500", "density = 2500\nyoung_modulus = 1e7\npoisson_ratio = 0.2"),
                 words=["bricks", "dem", "nonsmooth"])
    refused_deck(folder, ("friction = 0.4", "friction = 0.4\nrolling_friction = 0.1"), words=["rolling friction", "shape"])
    refused_deck(folder, ("friction = 0.4", "friction = 0.4\nstiffness = 1e5"), words=["stiffness", "rigid"])
    refused_deck(folder, ("[particles", '[nonsmooth]\nimpacts = "sequential"\n\n[particles'), words=["sequential", "simultaneous"])


@pytest.mark.parametrize("mesh, words", [
    ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 3 2\n", ["not closed", "3 edges"]),
    ("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n", ["not closed", "4 edges"]),
    (TETRAHEDRON.replace("f 2 3 4\n", ""), ["not closed", "3 edges"]),
    (TETRAHEDRON.replace("v 0.1 0 0", "v nan 0 0"), ["stone.obj:2"]),
    (TETRAHEDRON.replace("f 2 3 4", "f 2 3 9"), ["stone.obj:8"]),
    ("", ["stone.obj"]),
])
def test_meshes(folder, mesh, words):
    refused_deck(folder, HULL, mesh=mesh, words=words)


def test_meshes_that_are_not_convex_or_not_there(folder):
    refused_deck(folder, HULL, words=["stone.obj", "not there"])
    # A tetrahedron with a dent: its fourth face is a pit.
    dented = TETRAHEDRON.replace("f 2 3 4\n", "v 0.02 0.02 0.02\nf 2 3 5\nf 3 4 5\nf 4 2 5\n")
    refused_deck(folder, HULL, mesh=dented, words=["not convex", "accept_hull"])
    (folder / "shapes.toml").write_text(edited(DECK, HULL, ('"stone.obj"', '"stone.obj"\naccept_hull = "any"')))
    run_ok("check", "shapes.toml", folder=folder)


def test_damaged_stl(folder):
    stl = b"\0" * 80 + struct.pack("<I", 1000) + b"\0" * 50
    (folder / "stone.stl").write_bytes(stl)
    (folder / "shapes.toml").write_text(edited(DECK, HULL, ("stone.obj", "stone.stl")))
    refused(folder, "check", "shapes.toml", words=["stone.stl"], ranks=(1, 2))
