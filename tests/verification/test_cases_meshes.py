"""Meshes as other programs write them are mended, or refused by place; bodies with shapes on sharp meshes are named.
Decks: tests/reference/cases/grains."""
import csv
import json
import math
import os
import shutil
import subprocess

import pytest

from scree_program import check, check_close, check_in, program, python_command, run_ok, scree, source_folder


def copy(folder, name):
    shutil.copytree(source_folder() / "tests/reference/cases/grains" / name, folder, dirs_exist_ok=True)


def height(folder, *words):
    run_ok("-q", "run", "deck.toml", *words, folder=folder)
    with open(folder / "results/deck/deck.scalars.csv", encoding="utf-8") as lines:
        return float(list(csv.DictReader(lines))[-1]["extent_center_z[m]"])


@pytest.mark.parametrize("name, said, z", [
    ("mesh_soup", "are within 2e-6 of its size of others", 0.01),
    ("mesh_mixed_winding", "face another way than those around them and are turned", 0.01),
    ("mesh_comment_lines", None, 0.01),
    ("mesh_comment_inside", None, 0.01),
    ("mesh_trailing_bytes", "has 2 bytes more than its triangles", 0.01),
    ("mesh_inside_out_shell", "1 closed shells of 'solid.stl' face into the solid", 0.01),
    ("mesh_nested_shells", None, -0.085),
    ("mesh_needle", "1 triangles of 'solid.stl' have no area", 0.01)])
def test_a_mesh_is_mended_and_it_is_said(folder, name, said, z):
    copy(folder, name)
    checked = run_ok("check", "deck.toml", folder=folder)
    if said:
        check_in(said, checked.stdout + checked.stderr, "check says what was mended")
    else:
        check("solid.stl" not in checked.stderr, "nothing was mended", checked)
    check_close(height(folder), z, "mean height at rest", absolute=1e-6)


def test_nested_shells_carry_on_springs(folder):
    """Weights rest on m g/k."""
    copy(folder, "mesh_nested_shells")
    sag = 2500 * 4 / 3 * math.pi * 1e-6 * 10 / 1e5
    dem = ("simulation.scheme=dem", "dem.law=linear", "time.step=2e-5", 'pairs."m-m".stiffness=1e5', 'pairs."m-m".restitution=0.1')
    check_close(height(folder, *(word for key in dem for word in ("--set", key))), -0.085 - sag, "mean height at rest", absolute=1e-6)


def test_an_open_sheet_is_refused_with_the_place(folder):
    copy(folder, "mesh_open_sheet")
    refused = scree("check", "deck.toml", folder=folder)
    check(refused.code == 2, "it is refused", refused)
    for words in ('"outside" needs a closed surface, but', "(triangle ", 'use side = "both"'):
        check_in(words, refused.stderr, "the message")


CUBE = [(a, b, c) for c in (0, 1) for b in (0, 1) for a in (0, 1)]
SQUARES = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]


def cube(lower=(0, 0, 0), edge=1.0, inward=False):
    """Triangles of a cube that face outwards."""
    at = [tuple(o + edge * x for o, x in zip(lower, corner)) for corner in CUBE]
    triangles = [(at[a], at[b], at[c]) for p, q, r, s in SQUARES for a, b, c in ((p, q, r), (p, r, s))]
    return [t[::-1] for t in triangles] if inward else triangles


def write(path, *solids):
    text = ""
    for number, triangles in enumerate(solids):
        text += f"solid s{number}\n"
        for triangle in triangles:
            corners = "".join(f"vertex {x!r} {y!r} {z!r}\n" for x, y, z in triangle)
            text += f"facet normal 0 0 0\nouter loop\n{corners}endloop\nendfacet\n"
        text += f"endsolid s{number}\n"
    path.write_text(text)


def about(folder, *words):
    return json.loads(run_ok("shape", "a.stl", "--json", *words, folder=folder).stdout)


def test_shape_says_what_a_mesh_is(folder):
    write(folder / "a.stl", cube())
    whole = about(folder)
    check(whole["closed"] and whole["outward"] and whole["mended"] == [] and whole["triangles"] == 12, "a cube", whole)
    check_close(whole["volume_m3"], 1, "its volume", relative=1e-12)
    check_close(about(folder, "--scale", "1e-3")["area_m2"], 6e-6, "its area in mm", relative=1e-12)
    check_in("closed, volume 1 m3", run_ok("shape", "a.stl", folder=folder).stdout, "the text")
    write(folder / "a.stl", cube()[1:])
    part = about(folder)
    check(not part["closed"] and part["open_edges"] == 3 and part["volume_m3"] is None, "a hole", part)
    check_in("not closed: 3 edges have one triangle", run_ok("shape", "a.stl", folder=folder).stdout, "the text")
    refused = scree("shape", "none.stl", folder=folder)
    check(refused.code == 2 and "none.stl" in refused.stderr, "no such file", refused)


@pytest.mark.parametrize("inner_faces_in", [True, False])
def test_nested_shells_face_by_parity(folder, inner_faces_in):
    """A cube in a hollow in a cube: solid between the outer two, and the innermost."""
    write(folder / "a.stl", cube(edge=4), cube((1, 1, 1), 2, inward=inner_faces_in), cube((1.5, 1.5, 1.5), 1))
    hollow = about(folder, "--repair", "--output", "b.stl")
    check([shell["depth"] for shell in hollow["shells"]] == [0, 1, 2], "depths", hollow)
    check_close(hollow["volume_m3"], 64 - 8 + 1, "volume of the solid", relative=1e-12)
    check(len(hollow["mended"]) == (0 if inner_faces_in else 1), "what was mended", hollow)
    again = json.loads(run_ok("shape", "b.stl", "--json", folder=folder).stdout)
    check(again["mended"] == [] and again["outward"] and again["volume_m3"] == hollow["volume_m3"], "written", again)
    check_in("solid s2", (folder / "b.stl").read_text(), "solids keep their names")


def test_everything_at_once_is_mended(folder):
    triangles = cube()
    triangles = [tuple(tuple(x + 1e-8 * ((17 * i + 5 * k) % 7 - 3) for x in corner) for k, corner in enumerate(t))
                 for i, t in enumerate(triangles)]                            # a soup
    triangles[3] = triangles[3][::-1]                                         # mixed winding
    triangles += [triangles[0], ((0, 0, 0), (1, 0, 0), (0.5, 0, 0))]          # twice, and without area
    write(folder / "a.stl", triangles)
    mended = about(folder, "--repair", "--output", "b.stl")
    check(mended["closed"] and mended["triangles"] == 12 and len(mended["mended"]) == 4, "mended", mended)
    check_close(mended["volume_m3"], 1, "volume", relative=1e-6)


def test_a_needle_that_fills_a_gap_is_cut_into_its_neighbour(folder):
    """A corner on an edge of one triangle: the needle of no area between them closes the surface."""
    a, b = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)
    middle = (0.5, 0.0, 0.0)
    triangles = []
    for t in cube():
        if a in t and b in t and (1.0, 0.0, 1.0) in t:      # of the face y = 0: two instead
            k = t.index(a)
            triangles += [tuple(middle if x == b else x for x in t), tuple(middle if x == a else x for x in t)]
            order = (a, b) if t[(k + 1) % 3] == b else (b, a)
        else:
            triangles.append(t)
    write(folder / "a.stl", triangles + [(order[0], order[1], middle)])
    mended = about(folder)
    check(mended["closed"] and mended["triangles"] == 14, "it is closed", mended)
    check_close(mended["volume_m3"], 1, "volume", relative=1e-12)


def test_a_one_sided_surface_is_refused_as_a_solid(folder):
    n = 12
    rim = []
    for i in range(n):
        angle = 2 * math.pi * i / n
        across = (math.cos(angle / 2) * math.cos(angle), math.cos(angle / 2) * math.sin(angle), math.sin(angle / 2))
        centre = (math.cos(angle), math.sin(angle), 0)
        rim.append([tuple(c + s * 0.3 * x for c, x in zip(centre, across)) for s in (-1, 1)])
    rim.append(rim[0][::-1])
    strip = [t for (p, q), (r, s) in zip(rim, rim[1:]) for t in ((p, q, s), (p, s, r))]
    write(folder / "a.stl", strip)
    check_in("cannot all face the same way", run_ok("shape", "a.stl", folder=folder).stdout, "shape says so")


@pytest.mark.parametrize("name, walls", [
    ("mesh_soup", ["s"]), ("mesh_mixed_winding", ["s"]), ("mesh_comment_lines", ["s"]), ("mesh_trailing_bytes", ["solid"]),
    ("mesh_inside_out_shell", ["s", "s_2"])])
def test_import_reads_the_same_files(folder, name, walls):
    copy(folder, name)
    done = subprocess.run(python_command("exchange", "import", "solid.stl", "--scheme", "nonsmooth"),
                          cwd=folder, capture_output=True, text=True, check=False, env=os.environ | {"SCREE": str(program())})
    check(done.returncode == 0, "it is imported", done)
    deck = (folder / "solid.toml").read_text()
    check(deck.count('type = "box"') == len(walls), "boxes along the axes are boxes", deck)
    if len(walls) == 2:
        check(deck.count('side = "outside"') == 2, "both are solids", deck)


SEES_CORNERS = "only corners of bodies touch the mesh [obstacles.paddle]"


@pytest.mark.parametrize("name, shape", [("cube_on_blade", "cube"), ("capsule_on_blade", "rod"), ("cube_and_paddle", "cube")])
def test_sharp_meshes_are_named_where_bodies_have_shapes(folder, name, shape):
    copy(folder, name)
    said = run_ok("check", "deck.toml", folder=folder)
    check_in(SEES_CORNERS, said.stdout, "check names the mesh")
    check_in(f"[shapes.{shape}]", said.stdout, "and the shape")
    ran = scree("run", "deck.toml", "--set", "simulation.end_time=2e-3", folder=folder)
    check_in(SEES_CORNERS, ran.stdout + ran.stderr, "the run warns")


def test_flat_meshes_and_boxes_are_not_named(folder):
    copy(folder, "cube_on_box_blade")
    check(SEES_CORNERS not in run_ok("check", "deck.toml", folder=folder).stdout, "a box sees all of a cube")
    check_close(height(folder), 0.01, "the cube stands on a box", absolute=1e-5)
    shutil.rmtree(folder / "results")
    copy(folder, "cube_on_blade")
    write(folder / "paddle.stl", [((-1, -1, 0), (1, -1, 0), (1, 1, 0)), ((-1, -1, 0), (1, 1, 0), (-1, 1, 0))])
    check(SEES_CORNERS not in run_ok("check", "deck.toml", folder=folder).stdout, "nor is a floor without edges")
    write(folder / "paddle.stl", cube((-0.4, -0.4, 0), 0.4))
    inside = run_ok("check", "deck.toml", "--set", 'obstacles.paddle.side="inside"', "--set", "obstacles.paddle.translate=[0.2,0.2,0]",
                    folder=folder)
    check(SEES_CORNERS not in inside.stdout, "nor a container, whose corners are hollow", inside)
