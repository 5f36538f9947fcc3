"""A drawing for each floor makes one deck of a building; what joins the floors is left to fill in."""
import subprocess

import ezdxf
import numpy as np
import pytest

import scree
from scree import exchange
from scree.exchange.outlines import area_of_polygons
from scree_program import check, check_close, check_in, program, python_command

TEMPLATE = """\
# [connectors.stair_ground_upper]
# type = "stair"
# polygon = [[x, y], [x, y], [x, y], [x, y]]
# bottom = { floor = "ground", line = [[x, y], [x, y]] }
# top = { floor = "upper", line = [[x, y], [x, y]] }
"""
STAIR = """\
[connectors.stair_ground_upper]
type = "stair"
polygon = [[6, 6], [12, 6], [12, 8], [6, 8]]
bottom = { floor = "ground", line = [[6, 6], [6, 8]] }
top = { floor = "upper", line = [[12, 6], [12, 8]] }
"""


@pytest.fixture(autouse=True)
def drawings(folder, monkeypatch):
    """Two floors of 20 m x 10 m with a well; an exit on the ground, a desk and text upstairs."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SCREE", str(program()))
    for name in ("ground", "upper"):
        drawing = ezdxf.new("R2010")
        drawing.header["$INSUNITS"] = 6
        space = drawing.modelspace()
        space.add_lwpolyline([(0, 0), (20, 0), (20, 10), (0, 10)], close=True, dxfattribs={"layer": "WALKABLE"})
        space.add_lwpolyline([(6, 6), (12, 6), (12, 8), (6, 8)], close=True, dxfattribs={"layer": "OBSTACLES"})
        space.add_line((0, 4), (0, 6), dxfattribs={"layer": "EXIT"}) if name == "ground" else space.add_text("hall", dxfattribs={"layer": "TEXT"})
        drawing.saveas(f"{name}.dxf")


def run_import(*arguments):
    return subprocess.run(python_command("exchange", "import", *arguments), capture_output=True, text=True)


def test_two_drawings_are_a_building(folder):
    said = run_import("ground.dxf", "upper.dxf", "--floors", "ground=0", "upper=3.5", "--people", "41", "--name", "shop")
    check(said.returncode == 0 and said.stdout == "shop.toml\n", "the deck is named", said)
    check_in("2 floors, 0 connectors, 2 obstacles, 1 exit", said.stderr, "the list")
    check_in("1  TEXT: floor upper, layer TEXT", said.stderr, "what was left out, and where")
    check_in("stairs: nothing joins ground and upper; the deck has a connector to fill in", said.stderr, "what is to do")
    refused = subprocess.run([program(), "check", "shop.toml"], capture_output=True, text=True)
    check_in('no route leads from "upper" to any exit', refused.stderr, "the deck without the stair is refused")
    text = (folder / "shop.toml").read_text()
    check_in(TEMPLATE, text, "a connector to fill in")
    (folder / "shop.toml").write_text(text.replace(TEMPLATE, STAIR))
    deck = scree.Deck("shop.toml")
    check([deck[f"populations.people_{floor}"] for floor in ("ground", "upper")]
          == [{"floor": "ground", "count": 21}, {"floor": "upper", "count": 20}], "people by area", deck["populations"])
    deck["simulation.end_time"] = 120.0
    results = scree.run(deck, progress=False)
    check(results.summary["evacuation"]["left"] == 41, "everybody leaves", results.summary["evacuation"])


def test_a_building_in_python(folder):
    plan = exchange.read_building({"upper": ("upper.dxf", 3.5), "ground": ("ground.dxf", 0)})
    check([(name, one.elevation) for name, one in plan.floors.items()] == [("upper", 3.5), ("ground", 0)], "floors as given", plan.floors)
    check_close(sum(area_of_polygons(one.walkable) for one in plan.floors.values()), 400, "areas", relative=1e-9)
    check(plan.exits["exit"]["floor"] == "ground" and plan.exits["exit"]["line"].tolist() == [[0, 4], [0, 6]], "the exit", plan.exits)
    moved = exchange.read_building({"upper": ("upper.dxf", 3.5), "ground": ("ground.dxf", 0)}, shifts={"ground": (-40, 5)})
    check(moved.exits["exit"]["line"].tolist() == [[-40, 9], [-40, 11]], "a floor that was drawn elsewhere is moved", moved.exits)
    check(moved.floors["ground"].obstacles["obstacles"].min(axis=0).tolist() == [-34, 11], "its obstacles, too", moved.floors)
    check(moved.floors["ground"].walkable[0][0].max(axis=0).tolist() == [-20, 15], "and its area", moved.floors)
    check(moved.floors["upper"].walkable[0][0].min(axis=0).tolist() == [0, 0], "the other is not", moved.floors)
    twice = exchange.read_building({"one": ("ground.dxf", 0), "two": ("ground.dxf", 3)})
    check(list(twice.exits) == ["one_exit", "two_exit"], "names that both floors have", twice.exits)
    check(np.array_equal(twice.exits["two_exit"]["line"], twice.exits["one_exit"]["line"]), "the same place", twice.exits)
    lists = [exchange.write_plan(plan, folder / name, 10).with_name("building.left_out.txt").read_text() for name in ("a", "b")]
    check(lists[0] == lists[1], "written twice, reported once", lists)


@pytest.mark.parametrize("arguments, message", [
    (["ground.dxf", "upper.dxf"], "2 files and 0 floors with names of their own: give --floors NAME=ELEVATION for each file"),
    (["ground.dxf", "upper.dxf", "--floors", "ground=0"], "2 files and 1 floors"),
    (["ground.dxf", "upper.dxf", "--floors", "a=0", "a=3"], "2 files and 1 floors"),
    (["ground.dxf", "upper.dxf", "--floors", "a=0", "b=high"], "--floors a=0 b=high: NAME=ELEVATION is wanted"),
    (["ground.dxf", "upper.dxf", "--floors", "a=0", "b=0"], "floors a and b have one elevation, 0 m"),
    (["ground.dxf", "upper.dxf", "--floors", "a=0", "Upper floor=3"], "floor 'Upper floor': a name is of small letters, digits and underscores"),
    (["ground.dxf", "upper.dxf", "--floors", "a=0", "b=3", "--shift", "b=4"], "--shift b=4: NAME=X,Y is wanted"),
    (["ground.dxf", "upper.dxf", "--floors", "a=0", "b=3", "--shift", "b=4,x"], "--shift b=4,x: NAME=X,Y is wanted"),
    (["ground.dxf", "upper.dxf", "--floors", "a=0", "b=3", "--shift", "c=4,0"], "shift of c: there are the floors a, b"),
    (["ground.dxf", "traj.txt", "--floors", "a=0", "b=3"], "traj.txt: is no plan of one floor")])
def test_what_is_no_building(folder, arguments, message):
    (folder / "traj.txt").write_text("# id frame x/m y/m\n1 0 2 3\n2 0 4 3\n")
    said = run_import(*arguments)
    check(said.returncode == 2 and message in said.stderr and "Traceback" not in said.stderr, "one message", said)
