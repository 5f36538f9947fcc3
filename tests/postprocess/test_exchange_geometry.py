"""Geometry of JuPedSim up to 0.8 as plans of crowds: rooms, shared walls, floors and the stairs between them. The files are written
here in the layout of that program."""
import re
import subprocess

import numpy as np
import pytest

import scree
from scree import exchange
from scree.exchange import jupedsim_floors
from scree.exchange.outlines import area_of, area_of_polygons
from scree.geometry import contains
from scree_program import check, check_close, check_in, program


@pytest.fixture(autouse=True)
def in_folder(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SCREE", str(program()))


WALLS = """<polygon caption="wall"><vertex px="10.0" py="4.0"/><vertex px="10" py="8"/><vertex px="0" py="8"/><vertex px="0" py="0"/>
<vertex px="10" py="0"/><vertex px="10" py="2"/></polygon>"""
GEOMETRY = f"""<?xml version="1.0" encoding="UTF-8"?>
<geometry version="0.8" caption="two rooms" unit="m">
 <rooms>
  <room id="0" caption="hall">
   <subroom id="0" class="subroom" A_x="0" B_y="0" C_z="0">{WALLS}
    <obstacle id="0" caption="table" height="1.0" closed="1"><polygon>
     <vertex px="4" py="6"/><vertex px="6" py="6"/><vertex px="6" py="7"/><vertex px="4" py="7"/><vertex px="4" py="6"/>
    </polygon></obstacle>
   </subroom>
  </room>
  <room id="1" caption="passage">
   <subroom id="0" class="subroom" A_x="0" B_y="0" C_z="0">
    <polygon caption="wall"><vertex px="10" py="2"/><vertex px="12" py="2"/></polygon>
    <polygon caption="wall"><vertex px="12" py="4"/><vertex px="10" py="4"/></polygon>
   </subroom>
   <subroom id="1" class="subroom" A_x="0" B_y="0" C_z="0">
    <polygon caption="wall"><vertex px="12" py="2"/><vertex px="14" py="2"/></polygon>
    <polygon caption="wall"><vertex px="14" py="4"/><vertex px="12" py="4"/></polygon>
   </subroom>
   <crossings><crossing id="4" subroom1_id="0" subroom2_id="1"><vertex px="12" py="2"/><vertex px="12" py="4"/></crossing></crossings>
  </room>
 </rooms>
 <transitions>
  <transition id="1" caption="main exit" type="emergency" room1_id="1" subroom1_id="1" room2_id="-1" subroom2_id="-1">
   <vertex px="14" py="2"/><vertex px="14" py="4"/></transition>
  <transition id="2" caption="door" type="normal" room1_id="0" subroom1_id="0" room2_id="1" subroom2_id="0">
   <vertex px="10" py="4"/><vertex px="10" py="2"/></transition>
 </transitions>
</geometry>
"""


def test_a_geometry_of_rooms(folder):
    (folder / "geometry.xml").write_text(GEOMETRY, encoding="utf-8-sig")    # with a mark of the byte order, as editors leave it
    plan = exchange.read("geometry.xml")
    check([round(abs(area_of(polygon[0])), 9) for polygon in plan.walkable] == [80, 4, 4], "rings of walls and doors", plan.walkable)
    check(plan.exits["main_exit"]["line"].tolist() == [[14, 2], [14, 4]] and len(plan.exits) == 1, "the door to the outside", plan.exits)
    check_close(abs(area_of(plan.obstacles["table"])), 2, "an obstacle", relative=1e-9)
    check(not plan.left_out, "nothing is left out", plan.left_out)
    deck = scree.Deck(exchange.write_plan(plan, folder, 25))
    deck["simulation.end_time"] = 60.0
    inside = scree.run(deck, progress=False).scalars["inside_n_bodies"]
    check(inside[0] == 25 and inside[-1] == 0, "through the doors of rooms and subrooms everybody leaves", inside)


def polygon(*corners):
    return "<polygon>" + "".join(f'<vertex px="{x}" py="{y}"/>' for x, y in corners) + "</polygon>"


def door(number, here, there, *ends):
    (room, subroom), (other, other_subroom) = here, there
    return (f'<transition id="{number}" room1_id="{room}" subroom1_id="{subroom}" room2_id="{other}" subroom2_id="{other_subroom}">'
            f'{polygon(*ends)[9:-10]}</transition>')


def building(more_rooms="", more_doors="", kind="stair", slope="-0.58333"):
    """The two rooms of GEOMETRY on the ground; a gallery 3.5 m above it, x from -12 to -6; a stair from x = 0 up to it."""
    rooms = (f' <room id="7" caption="Gallery"><subroom id="0" C_z="3.5">{polygon((-6, 3), (-6, 0), (-12, 0), (-12, 8), (-6, 8), (-6, 5))}'
             f'</subroom></room><room id="8" caption="stairs"><subroom id="0" class="{kind}" A_x="{slope}" C_z="0">'
             f'{polygon((0, 3), (-6, 3))}{polygon((-6, 5), (0, 5))}</subroom></room>\n{more_rooms} <room id="1" caption="passage">')
    hall = polygon((10, 4), (10, 8), (0, 8), (0, 5)) + polygon((0, 3), (0, 0), (10, 0), (10, 2))
    doors = door(20, (7, 0), (8, 0), (-6, 3), (-6, 5)) + door(21, (8, 0), (0, 0), (0, 5), (0, 3)) + more_doors
    return (GEOMETRY.replace(WALLS, hall).replace(' <room id="1" caption="passage">', rooms).replace("</transitions>", f"{doors}</transitions>"))


def test_floors_and_stairs_of_a_geometry(folder):
    (folder / "house.xml").write_text(building())
    plan = exchange.read("house.xml")
    check(list(plan.floors) == ["floor_1", "gallery"] and [one.elevation for one in plan.floors.values()] == [0, 3.5], "floors", plan.floors)
    check([round(area_of_polygons(one.walkable), 9) for one in plan.floors.values()] == [88, 48], "their areas", plan.floors)
    check(list(plan.connectors) == ["stair_8_0"] and not plan.left_out, "the stair is a connector", (plan.connectors, plan.left_out))
    stair = plan.connectors["stair_8_0"]
    check(stair["type"] == "stair" and (stair["bottom"]["floor"], stair["top"]["floor"]) == ("floor_1", "gallery"), "from, to", stair)
    check(sorted(stair["bottom"]["line"].tolist()) == [[0, 3], [0, 5]] and sorted(stair["top"]["line"].tolist()) == [[-6, 3], [-6, 5]],
          "its lines", stair)
    check_close(abs(area_of(stair["polygon"])), 12, "its plan", relative=1e-9)
    check(plan.exits["main_exit"]["floor"] == "floor_1" and list(plan.floors["floor_1"].obstacles) == ["table"], "exit and table", plan.exits)
    path = exchange.write_plan(plan, folder, 30)
    said = subprocess.run([program(), "check", path], capture_output=True, text=True)
    check(said.returncode == 0, "the deck is good", said)
    text = (folder / "house.left_out.txt").read_text()
    check_in("taken: outlines around 136 m2, 26 m x 8 m, 2 floors, 1 connector, 1 obstacle, 1 exit", text, "the list")
    deck = scree.Deck(path)
    check([table["count"] for table in deck["populations"].values()] == [19, 11], "people by area", deck["populations"])
    deck["simulation.end_time"] = 120.0
    results = scree.run(deck, progress=False)
    check(results.summary["evacuation"]["left"] == 30, "everybody leaves, also down the stair", results.summary["evacuation"])
    check(set(results.paths.level_of_row) == {0, 1, 2}, "over all levels", set(results.paths.level_of_row))


def test_one_floor_of_a_geometry(folder):
    (folder / "geometry.xml").write_text(building())
    plan = exchange.read("geometry.xml", floor=3.5)
    check_close(area_of_polygons(plan.walkable), 48, "the upper floor", relative=1e-9)
    check(plan.left_out["stair between floors", "room 8, subroom 0"] == 1, "the stair is left out", plan.left_out)
    check(sum(n for (what, _), n in plan.left_out.items() if what == "subroom of the floor at 0 m") == 3, "the lower floor", plan.left_out)
    with pytest.raises(exchange.ExchangeError, match=re.escape("no floor at 2 m; there are 0 m, 3.5 m")):
        exchange.read("geometry.xml", floor=2.0)
    (folder / "traj.txt").write_text("# id frame x/m y/m\n1 0 2 3\n")
    with pytest.raises(exchange.ExchangeError, match="the plan has the floors floor_1, gallery, and a trajectory does not say"):
        exchange.read("traj.txt", plan=exchange.read("geometry.xml"))
    check(len(exchange.read("traj.txt", plan=exchange.read("geometry.xml", floor=0)).people["x"]) == 1, "one floor holds people")


def rectangle(x0, y0, x1, y1):
    return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], float)


def subroom(key, ring, height=0.0, doors=(), kind="", slope=(0.0, 0.0), room=""):
    doors = [(np.array(line, float), there) for line, there in doors]
    return jupedsim_floors.Subroom(key, f"room {key[0]}", room, kind, np.array(slope), height, ring, [], doors, None)


def plan_with(stairs, upper=rectangle(8, 0, 16, 4)):
    """The plan of a floor at 0 m, x to 4 m, one at 3 m, from 8 m on, and stairs."""
    lower = subroom(("0", "0"), rectangle(0, 0, 4, 4), doors=[(([4, 1], [4, 2]), None)])
    upper = subroom(("1", "0"), upper, 3.0, doors=[(([8, 1], [8, 2]), None)])

    def plan_of(name, subrooms):
        return exchange.Plan(name, "a file", walkable=[[one.ring] for one in subrooms])

    return jupedsim_floors.building("house", "a file", [lower, upper, *stairs], {0.0: [lower], 3.0: [upper]}, plan_of)


LOW, HIGH = ([4, 1], [4, 2]), ([8, 1], [8, 2])


@pytest.mark.parametrize("doors, reason", [
    ([(LOW, ("0", "0"))], "has 1 doors; a connector has two"),
    ([(LOW, ("0", "0")), (HIGH, ("9", "9"))], "leads to another stair (room 9, subroom 9)"),
    ([(LOW, ("0", "0")), (HIGH, None)], "has an exit on it"),
    ([(LOW, ("0", "0")), (HIGH, ("0", "0"))], "begins and ends on the floor floor_1"),
    ([(LOW, ("0", "0")), (([5, 1], [5, 2]), ("1", "0"))], "is steeper than 60 degrees: it rises by 3 m on 1 m")])
def test_stairs_that_are_no_connectors_are_listed(doors, reason):
    plan = plan_with([subroom(("5", "1"), rectangle(4, 1, 8, 2), kind="stair", slope=(0.75, 0), doors=doors)])
    check(not plan.connectors and plan.left_out[f"stair that {reason}", "room 5, at (6, 1.5) m"] == 1, "reason and place", plan.left_out)


def test_kinds_of_connectors():
    def stair(kind, slope=(0.75, 0.0), height=-3.0, number="5"):
        return subroom((number, "1"), rectangle(4, 1, 8, 2), height, [(LOW, ("0", "0")), (HIGH, ("1", "0"))], kind, slope)

    table = plan_with([stair("escalator_down")]).connectors["escalator_down_5_1"]
    check((table["type"], table["direction"], table["speed"]) == ("escalator", "down", 0.5), "an escalator", table)
    plan = plan_with([stair("corridor")])
    check(plan.connectors["slope_5_1"]["type"] == "ramp" and not any("slope ends" in note for note in plan.notes), "a slope", plan.connectors)
    plan = plan_with([stair("stair", (0.5, 0.0), 0.0)])
    check("room 5: its slope ends at 2 m, the floor there is at 0 m, which counts" in plan.notes, "heights that differ are reported", plan.notes)
    plan = plan_with([stair("stair"), stair("stair", number="6")])
    check(list(plan.connectors) == ["stair_5_1"]
          and plan.left_out["stair that has its door at (4, 1) m in common with another", "room 6, at (6, 1.5) m"] == 1, "one door each", plan.left_out)
    plan = plan_with([stair("stair")], upper=rectangle(6, 0, 16, 4))
    check(list(plan.floors["floor_2"].obstacles) == ["well_5_1"] and not plan.floors["floor_1"].obstacles, "the floor above has a well", plan.floors)
    check("room 5: cut out of the floor floor_2, which goes on there" in plan.notes, "that is reported", plan.notes)


def test_walls_that_two_rooms_share_stay(folder):
    """Two rooms of 4 m x 4 m with one wall between them, without a thickness, and a door in it of 1 m."""
    rooms = (f'<subroom id="0" C_z="0">{polygon((4, 1), (4, 0), (0, 0), (0, 4), (4, 4), (4, 2))}</subroom>'
             f'<subroom id="1" C_z="0">{polygon((4, 1), (4, 0), (8, 0), (8, 1))}{polygon((8, 2), (8, 4), (4, 4), (4, 2))}</subroom>'
             f'<subroom id="2" C_z="0">{polygon((0, 4), (0, 6), (2, 6), (2, 4), (0, 4))}</subroom>')
    doors = door(1, (0, 1), (-1, -1), (8, 1), (8, 2))
    crossing = f'<crossings><crossing id="0" subroom1_id="0" subroom2_id="1">{polygon((4, 1), (4, 2))[9:-10]}</crossing></crossings>'
    (folder / "two.xml").write_text(f'<geometry version="0.8" unit="m"><rooms><room id="0">{rooms}{crossing}</room></rooms>'
                                    f"<transitions>{doors}</transitions></geometry>")
    plan = exchange.read("two.xml")
    boxes = sorted([*wall.min(axis=0), *wall.max(axis=0)] for wall in plan.obstacles.values())
    check(np.allclose(boxes, [[3.995, -0.005, 4.005, 1], [3.995, 2, 4.005, 4.005]]), "the wall at both sides of the door, 1 cm thick", boxes)
    check("2 walls between subrooms have no thickness in the file; here it is 0.01 m" in plan.notes, "that is reported", plan.notes)
    check(plan.left_out["subroom without a door", "room 0, subroom 2, at (1, 5) m"] == 1, "nobody comes into the third", plan.left_out)
    deck = scree.Deck(exchange.write_plan(plan, folder, 20))
    deck["simulation.end_time"] = 60.0
    results = scree.run(deck, progress=False)
    check(results.summary["evacuation"]["left"] == 20, "everybody leaves", results.summary["evacuation"])
    area, = results.paths.walkable
    check(not contains(area[1], np.array([[4.0, 0.5], [4.0, 3.0]])).any() and contains(area[1], np.array([[4.0, 1.5]]))[0], "the door alone is open")


@pytest.mark.parametrize("old, new, message", [
    ('<vertex px="14" py="2"/></polygon>', '<vertex px="13.9" py="2"/></polygon>',
     "room 1, subroom 1 is open at (13.9, 2): the nearest end, at (14, 2), is 0.1 m away; --gap METRES"),
    ('px="12" py="4"/><vertex px="10" py="4"', 'px="12" py="4"/><vertex px="ten" py="4"',
     "geometry.xml: wall of room 1, subroom 0: px and py of a vertex: could not convert string to float: 'ten'"),
    ('unit="m"', 'unit="ft"', "lengths in 'ft'"), ("</geometry>", "", "is no whole XML file"),
    ("geometry", "routing", "the XML file is a <routing>; <geometry> is wanted"),
    ('C_z="0"', 'C_z="low"', "could not convert string to float: 'low'")])
def test_geometries_that_are_wrong(folder, old, new, message):
    (folder / "geometry.xml").write_text(GEOMETRY.replace(old, new, 1 if old[0] == "<" and "geom" not in old else -1))
    with pytest.raises(exchange.ExchangeError, match=re.escape(message)):
        exchange.read("geometry.xml")


def test_a_gap_between_walls_is_closed_and_reported(folder):
    (folder / "geometry.xml").write_text(GEOMETRY.replace('<vertex px="14" py="2"/></polygon>', '<vertex px="13.9" py="2"/></polygon>', 1))
    plan = exchange.read("geometry.xml", gap=0.2)
    check_close(area_of_polygons(plan.walkable), 88, "the same area", relative=1e-9)
    check(plan.notes == ["room 1, subroom 1: a gap of 0.1 m closed at (13.9, 2)"], "it is reported", plan.notes)
