"""STL scenes as decks: boxes along the axes and faces across the whole scene are walls exactly where they were, closed convex
solids are bodies with their places; surfaces that scree has no shape for are named, and the program asks for them."""
import re
import struct
import subprocess

import numpy as np
import pytest

import scree
from scree import exchange
from scree_program import check, check_close, check_in, program, python_command, source_folder

TETRAHEDRON = np.array([[0, 0, 0], [0.02, 0, 0], [0, 0.02, 0], [0, 0, 0.02]])


@pytest.fixture(autouse=True)
def in_folder(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SCREE", str(program()))


def quad(a, b, c, d):
    return [(a, b, c), (a, c, d)]


def box(lower, upper, open_at=()):
    """Triangles of a box, counter-clockwise from outside; without the faces `open_at`, of -x, +x, -y, ..."""
    faces = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (0, 1):
            corner = np.array([[(upper if side else lower)[axis]] * 3] * 4, float)
            corner[:, u] = np.array([lower[u], upper[u], upper[u], lower[u]])
            corner[:, v] = np.array([lower[v], lower[v], upper[v], upper[v]])
            if 2 * axis + side not in open_at:
                faces += quad(*map(tuple, corner if side else corner[::-1]))
    return faces


def tetrahedron(at):
    a, b, c, d = map(tuple, TETRAHEDRON + at)
    return [(a, c, b), (a, b, d), (b, c, d), (a, d, c)]


def halves(triangles):
    """The same surface of four times the triangles."""
    found = []
    for a, b, c in np.array(triangles, float):
        ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
        found += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    return found


def text(**solids):
    lines = []
    for name, triangles in solids.items():
        lines.append(f"solid {name}")
        for triangle in triangles:
            corners = [f"  vertex {x!r} {y!r} {z!r}" for x, y, z in np.array(triangle).tolist()]
            lines += ["facet normal 0 0 0", " outer loop", *corners, " endloop", "endfacet"]
        lines.append(f"endsolid {name}")
    return "\n".join(lines) + "\n"


def binary(triangles):
    head = b"solid in name only".ljust(80) + struct.pack("<I", len(triangles))
    return head + b"".join(struct.pack("<12fH", 0, 0, 0, *np.ravel(triangle), 0) for triangle in triangles)


def walls(folder, content, **options):
    (folder / "scene.stl").write_bytes(content if isinstance(content, bytes) else content.encode())
    return exchange.read("scene.stl", **options).walls


def test_an_open_tray_holds_grains(folder):
    """Floor and four sides go across the scene: five planes, and a grain rests on the floor."""
    scene = exchange.read(source_folder() / "tests/reference/import/tray.stl")
    check([wall["type"] for wall in scene.walls.values()] == ["plane"] * 5, "planes", scene.walls)
    check(sorted(wall["normal"] for wall in scene.walls.values()) ==
          [[-1, 0, 0], [0, -1, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]], "their normals look inward", scene.walls)
    deck = scree.Deck(exchange.write_deck(scene, folder, "nonsmooth"))
    for key, value in {"time.step": 1e-3, "simulation.end_time": 0.1, "physics.gravity": [0, 0, -9.81], "solver.type": "nsgs",
                       "materials.wall.density": 2500, "pairs.wall-wall": {"friction": 0.5, "restitution": 0},
                       "particles.grain": {"material": "wall", "source": {"type": "file", "path": "grain.csv"}},
                       "output.h5md.every": 0.1}.items():
        deck[key] = value
    (folder / "grain.csv").write_text("x,y,z,radius\n0.1,0.05,0.02,0.01\n")
    height = scree.run(deck, progress=False).bodies(-1)["position"][0, 2]
    check_close(height, 0.01, "its centre is a radius above the floor", absolute=1e-5)


def test_boxes_along_the_axes_are_boxes(folder):
    block, room = box((0.2, 0.2, 0), (0.3, 0.4, 0.1)), box((0, 0, 0), (1, 1, 1))
    found = walls(folder, text(room=room, block=halves(halves(block))))
    of_both = {"material": "wall", "type": "box"}
    check(found == {"room": of_both | {"lower": [0, 0, 0], "upper": [1, 1, 1], "side": "inside"},
                    "block": of_both | {"lower": [0.2, 0.2, 0], "upper": [0.3, 0.4, 0.1], "side": "outside"}},
          "a solid one, and one that holds the scene", found)
    cell = [triangle[::-1] for triangle in box((0.5, 0.5, 0.5), (0.7, 0.7, 0.7))]
    found = walls(folder, text(room=room, cell=cell))
    check(found["cell"]["side"] == "inside", "normals that look inward: bodies are inside", found)


def test_faces_across_the_scene_are_planes_and_plates(folder):
    slope = quad((0, 0, 0), (1, 0, 0.5), (1, 1, 0.5), (0, 1, 0))
    lid = quad((0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))
    found = walls(folder, text(slope=halves(slope), lid=lid))
    check(found["lid"]["type"] == "plane" and found["lid"]["normal"] == [0, 0, -1], "a lid at the top is a plane", found)
    normal = np.array(found["slope"]["normal"]) * np.sqrt(1.25)
    check(found["slope"]["type"] == "plate", "a slope across the scene is a plate", found)
    check_close(np.abs(normal - [-0.5, 0, 1]).max(), 0, "its normal", absolute=1e-12)
    found = walls(folder, binary(np.array(slope + lid) * 1000), scale=1e-3)
    check([wall["type"] for wall in found.values()] == ["plate", "plane"], "the same, binary", found)
    check(found["solid_2"]["point"][2] == 1, "in mm", found)


def test_other_surfaces_are_named_and_asked_for(folder):
    """A shelf over half of the scene, and a solid of which one face only goes across it, are no wall of scree."""
    room, shelf = box((0, 0, 0), (1, 1, 1)), quad((0, 0, 0.5), (0.5, 0, 0.5), (0.5, 1, 0.5), (0, 1, 0.5))
    (folder / "scene.stl").write_text(text(room=room[:-2], shelf=shelf, stone=tetrahedron((0.5, 0.5, 0.2))))
    scene = exchange.read("scene.stl")
    check(scene.unknown["stone"] == "surface of 4 triangles from [0.5, 0.5, 0.2] to [0.52, 0.52, 0.22] m",
          "its size and place", scene.unknown)
    check(scene.unknown.keys() == {"shelf", "stone"} and len(scene.walls) == 7, "the room is taken", scene.walls)
    said = subprocess.run([program(), "check", exchange.write_deck(scene, folder)], capture_output=True, text=True)
    for name in ("shelf", "stone"):
        check_in(f"missing key 'type' in [obstacles.{name}]", said.stderr, "the program asks for it")
    (folder / "scene.stl").write_text(text(shelf=shelf, hopper=tetrahedron((0.9, 0, 0.9))[1:]))
    with pytest.raises(exchange.ExchangeError, match="none of its surfaces is a wall.*hopper: surface of 3 triangles"):
        exchange.read("scene.stl")


def test_a_surface_is_taken_as_a_whole_or_not_at_all(folder):
    """Sides across the scene with a floor that has a hole in it."""
    sides = box((0, 0, 0), (1, 1, 1), open_at=(4, 5))
    floor = [*quad((0, 0, 0), (1, 0, 0), (1, 0.4, 0), (0, 0.4, 0)), *quad((0, 0.6, 0), (1, 0.6, 0), (1, 1, 0), (0, 1, 0))]
    with pytest.raises(exchange.ExchangeError, match="surface of 12 triangles"):
        walls(folder, text(silo=sides + floor))
    check(len(walls(folder, text(silo=sides))) == 4, "the sides alone are planes")


def test_convex_solids_are_bodies_where_they_were(folder):
    """A tetrahedron at two places and a box, with the room around them: hulls start with their centres of mass there, and
    fall."""
    solids = {"room": box((0, 0, 0), (0.2, 0.2, 0.2)),
              "stone": tetrahedron((0.05, 0.06, 0.1)) + tetrahedron((0.12, 0.05, 0.1)),
              "brick": box((0.1, 0.1, 0.05), (0.14, 0.12, 0.06))}
    (folder / "scene.stl").write_text(text(**solids))
    script = python_command("exchange")
    said = subprocess.run([*script, "import", "scene.stl", "--bodies", "--scheme", "nonsmooth"], capture_output=True, text=True)
    check(said.returncode == 0 and said.stderr == "", "the script makes a deck", said)
    deck = scree.Deck("scene.toml")
    check(list(deck["obstacles"]) == ["room"] and deck["obstacles.room.side"] == "inside", "the room is a wall", deck)
    for key, value in {"time.step": 1e-3, "simulation.end_time": 0.01, "physics.gravity": [0, 0, -9.81], "solver.type": "nsgs",
                       "materials.solid.density": 2500, "materials.wall.density": 2500, "output.h5md.every": 0.01}.items():
        deck[key] = value
    for pair in deck["pairs"]:
        deck[f"pairs.{pair}"] = {"friction": 0.5, "restitution": 0}
    results = scree.run(deck, progress=False)
    first, last = results.bodies(0), results.bodies(-1)
    wanted = np.array([[0.055, 0.065, 0.105], [0.125, 0.055, 0.105], [0.12, 0.11, 0.055]])
    check_close(np.abs(first["position"] - wanted).max(), 0, "centres of mass", absolute=1e-12)
    check_close(first["mass"].tolist()[0], 2500 * 0.02**3 / 6, "the mass of a tetrahedron", relative=1e-6)
    check_close(first["mass"].tolist()[2], 2500 * 0.04 * 0.02 * 0.01, "the mass of the brick", relative=1e-6)
    check((last["velocity"][:, 2] < -0.09).all(), "they fall", last["velocity"])
    rim = [(0.02, 0.02, 0.04), (0.04, 0.02, 0.04), (0.04, 0.04, 0.04), (0.02, 0.04, 0.04)]
    dent = [(a, b, (0.03, 0.03, 0.03)) for a, b in zip(rim, rim[1:] + rim[:1])]
    (folder / "scene.stl").write_text(text(**solids, dented=box(rim[0][:2] + (0.02,), rim[2], open_at=(5,)) + dent))
    check(list(exchange.read("scene.stl", bodies=True).unknown) == ["dented"], "a solid with a dent is none of them")


@pytest.mark.parametrize("old, new, message", [
    ("vertex 0.2 0 0\n", "vertex 0.2 0\n", ":5: 3 numbers are wanted"),
    ("vertex 0.2 0 0\n", "vertex 0.2 0 inf\n", ":5: 3 numbers are wanted"),
    ("      vertex 0.2 0 0\n", "", ":7: a facet with 2 corners"),
    ("outer loop", "inner loop", ":3: 'inner' is no word of an STL file"),
    ("solid tray", "body tray", ":1: neither an STL file of text"),
    ("  endfacet\nendsolid tray\n", "", "ends within a facet")])
def test_a_damaged_file_is_refused_with_its_line(folder, old, new, message):
    whole = (source_folder() / "tests/reference/import/tray.stl").read_text()
    check_in(old, whole, "the file has what is changed")
    (folder / "tray.stl").write_text(whole.replace(old, new, 1))
    with pytest.raises(exchange.ExchangeError, match=re.escape(message)):
        exchange.read("tray.stl")


def test_damaged_binary_files_are_refused(folder):
    whole = binary(box((0, 0, 0), (1, 1, 1)))
    with pytest.raises(exchange.ExchangeError, match=":1: neither an STL file of text.*84 bytes and 50"):
        walls(folder, b"mesh " + whole[5:-1])
    with pytest.raises(exchange.ExchangeError, match="triangle 2 has a corner that is not a number"):
        walls(folder, whole[:84 + 50 + 12] + struct.pack("<f", np.nan) + whole[84 + 50 + 16:])
    with pytest.raises(exchange.ExchangeError, match="no triangles"):
        walls(folder, binary([]))
