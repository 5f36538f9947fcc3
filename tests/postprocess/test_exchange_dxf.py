"""DXF drawings as crowd plans: every kind of line, blocks, units and gaps give areas that are exact to 1e-9; what cannot be
taken is named with layer and place; the decks are good to the program. The drawings are written here with ezdxf."""
import math
import re
import subprocess

import numpy as np
import pytest

from scree import exchange
from scree.exchange.outlines import area_of, area_of_polygons
from scree_program import check, check_close, check_in, program, python_command

ezdxf = pytest.importorskip("ezdxf")
UNITS = {"m": (6, 1), "cm": (5, 100), "mm": (4, 1000), "in": (1, 1 / 0.0254)}


@pytest.fixture(autouse=True)
def in_folder(folder, monkeypatch):
    monkeypatch.chdir(folder)


def drawing(units=6, **layers):
    """A new drawing; each layer is a function that draws into it."""
    document = ezdxf.new("R2010", units=units)
    document.header["$INSUNITS"] = units
    for layer, draw in layers.items():
        document.layers.add(layer)
        draw(document.modelspace(), {"layer": layer})
    document.saveas("plan.dxf")
    return document


def box(x, y, width, height, scale=1.0):
    corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
    return lambda space, at: space.add_lwpolyline([(scale * a, scale * b) for a, b in corners], close=True, dxfattribs=at)


def lines(*corners, gap=0.0):
    """Separate lines around corners, each as a pen draws it: in any direction, and `gap` too short."""
    def draw(space, at):
        for k, (p, q) in enumerate(zip(corners, corners[1:] + corners[:1])):
            p, q = np.array(p, float), np.array(q, float)
            q = q - gap * (q - p) / np.hypot(*(q - p))
            space.add_line(*((p, q) if k % 2 else (q, p)), dxfattribs=at)
    return draw


def both(*draws):
    return lambda space, at: [draw(space, at) for draw in draws]


def plan(**options):
    return exchange.read("plan.dxf", **options)


def area(**options):
    return area_of_polygons(plan(**options).walkable)


def check_all_close(values, exact, claim):
    check(np.shape(values) == np.shape(exact) and np.allclose(values, exact, rtol=1e-9, atol=1e-9), claim, values)


def said_by_program(path):
    return subprocess.run([program(), "check", path], capture_output=True, text=True)


@pytest.mark.parametrize("unit", UNITS)
def test_units_give_metres(unit):
    number, scale = UNITS[unit]
    drawing(number, walkable=box(1, 2, 12, 8, scale), obstacles=box(3, 3, 2, 1, scale),
            columns=lambda space, at: space.add_circle((7 * scale, 5 * scale), 0.3 * scale, dxfattribs=at),
            exits=lambda space, at: space.add_line((13 * scale, 4 * scale), (13 * scale, 6 * scale), dxfattribs=at))
    found = plan(layers={"obstacle": ["obstacles", "columns"]})
    check_close(area_of_polygons(found.walkable), 96, f"area of a plan in {unit}", relative=1e-9)
    check_close(abs(area_of(found.obstacles["obstacles"])), 2, "area of an obstacle", relative=1e-9)
    check_all_close(found.columns, [[7, 5, 0.3]], "a column stays round")
    check_all_close(found.exits["exits"]["line"], [[13, 4], [13, 6]], "an exit in a wall")


def test_the_option_overrules_the_unit_of_the_drawing():
    drawing(4, walkable=box(0, 0, 12, 8))
    with pytest.raises(exchange.ExchangeError, match=r"plan.dxf: the plan is 0.012 m x 0.008 m: the unit is wrong"):
        plan()
    check_close(area(unit="m"), 96, "in m", relative=1e-9)
    drawing(0, walkable=box(0, 0, 12, 8))
    with pytest.raises(exchange.ExchangeError, match=r"INSUNITS is 0.*give --unit.*12 x 8 units"):
        plan()
    check_close(area(unit="ft"), 96 * 0.3048**2, "in feet", relative=1e-9)


SECTOR = 25 * math.pi / 4       # a quarter of a circle of radius 5
SHAPES = {
    "LINE": (lines((0, 0), (9, 0), (9, 5), (4, 7), (0, 5)), 54),
    "LWPOLYLINE": (box(0, 0, 9, 5), 45),
    "LWPOLYLINE with arcs": (lambda s, at: s.add_lwpolyline([(0, 0, 0), (5, 0, math.tan(math.pi / 8)), (0, 5, 0)], format="xyb",
                                                            close=True, dxfattribs=at), SECTOR),
    "LWPOLYLINE with arcs, clockwise": (lambda s, at: s.add_lwpolyline([(0, 0, 0), (0, 5, -math.tan(math.pi / 8)), (5, 0, 0)],
                                                                       format="xyb", close=True, dxfattribs=at), SECTOR),
    "LWPOLYLINE with a dent": (lambda s, at: s.add_lwpolyline([(0, 0, 0), (10, 0, 0), (10, 6, 1), (10, 8, 0), (0, 8, 0)],
                                                              format="xyb", close=True, dxfattribs=at), 80 + math.pi / 2),
    "LWPOLYLINE that ends where it begins": (lambda s, at: s.add_lwpolyline([(0, 0), (4, 0), (4, 4), (0, 4), (0, 0)],
                                                                            dxfattribs=at), 16),
    "LWPOLYLINE seen from below": (lambda s, at: s.add_lwpolyline(
        [(0, 0, 0), (-5, 0, -math.tan(math.pi / 8)), (0, 5, 0)], format="xyb", close=True,
        dxfattribs=at | {"extrusion": (0, 0, -1)}), SECTOR),
    "POLYLINE": (lambda s, at: s.add_polyline2d([(0, 0, 0), (5, 0, math.tan(math.pi / 8)), (0, 5, 0)], format="xyb",
                                                close=True, dxfattribs=at), SECTOR),
    "POLYLINE in space": (lambda s, at: s.add_polyline3d([(0, 0, 1), (9, 0, 1), (9, 5, 2), (0, 5, 1)], close=True,
                                                         dxfattribs=at), 45),
    "CIRCLE": (lambda s, at: s.add_circle((3, 4), 5, dxfattribs=at), 25 * math.pi),
    "two ARCs": (both(lambda s, at: s.add_arc((0, 0), 5, 30, 200, dxfattribs=at),
                      lambda s, at: s.add_arc((0, 0), 5, 200, 390, dxfattribs=at)), 25 * math.pi),
    "ELLIPSE": (lambda s, at: s.add_ellipse((1, 1), (6, 2), 0.5, dxfattribs=at), 20 * math.pi),
    "half an ELLIPSE and a LINE": (both(lambda s, at: s.add_ellipse((0, 0), (6, 0), 0.5, 0, math.pi, dxfattribs=at),
                                        lambda s, at: s.add_line((-6, 0), (6, 0), dxfattribs=at)), 9 * math.pi),
}


@pytest.mark.parametrize("kind", SHAPES)
def test_areas_are_exact(kind):
    draw, exact = SHAPES[kind]
    drawing(walkable=draw)
    check_close(area(), exact, f"area within {kind}", relative=1e-9)
    check_close(area(curve=0.2), exact, f"area within {kind}, of few lines", relative=1e-9)


def test_an_arc_closes_with_lines():
    drawing(walkable=both(lambda s, at: s.add_arc((0, 0), 5, 0, 90, dxfattribs=at),
                          lambda s, at: s.add_line((0, 5), (0, 0), dxfattribs=at),
                          lambda s, at: s.add_line((5, 0), (0, 0), dxfattribs=at)))
    check_close(area(), SECTOR, "a quarter of a circle", relative=1e-9)
    ring = plan(curve=0.01).walkable[0][0]
    on_arc = ring[np.hypot(*ring.T) > 1]
    check(np.abs(np.hypot(*on_arc.T) - 5).max() < 0.01, "corners are near the arc", on_arc)


def test_splines_are_lines_within_the_tolerance():
    """A parabola y = x (6 - x), a Bezier curve of degree 2, has the area 36 above the axis. The band: lines of 8 m length
    and more at most 1 mm off, so less than 20 m x 1 mm."""
    def parabola(space, at):
        space.add_open_spline([(0, 0, 0), (3, 18, 0), (6, 0, 0)], degree=2, dxfattribs=at)
        space.add_line((0, 0), (6, 0), dxfattribs=at)
    drawing(walkable=parabola)
    check_close(area(curve=0.001), 36, "area under a parabola", absolute=0.02)
    drawing(walkable=lambda s, at: s.add_open_spline([(0, 0), (4, 0), (4, 3), (0, 3), (0, 0)], degree=1, dxfattribs=at))
    check_close(area(), 12, "a spline of straight lines", relative=1e-9)


def test_blocks_also_within_each_other():
    """A table of 2 x 1 in a group of two, which is turned, doubled in size and set twice; its circles of half the size become
    ellipses where x and y are stretched differently."""
    document = drawing(walkable=box(0, 0, 40, 40))
    table = document.blocks.new("TABLE")
    box(0, 0, 2, 1)(table, {"layer": "0"})
    group = document.blocks.new("GROUP")
    group.add_blockref("TABLE", (0, 0), dxfattribs={"layer": "0"})
    group.add_blockref("TABLE", (0, 2), dxfattribs={"layer": "0"})
    group.add_circle((5, 0), 1, dxfattribs={"layer": "0"})
    space, at = document.modelspace(), {"layer": "obstacles"}
    space.add_blockref("GROUP", (5, 5), dxfattribs=at | {"xscale": 2, "yscale": 2, "rotation": 30})
    space.add_blockref("GROUP", (5, 25), dxfattribs=at | {"xscale": 1, "yscale": 2})
    space.add_blockref("TABLE", (25, 25), dxfattribs=at | {"row_count": 2, "column_count": 3, "row_spacing": 3, "column_spacing": 4})
    space.add_blockref("NOTHING", (1, 1), dxfattribs=at)
    document.blocks.new("NOTHING")
    document.saveas("plan.dxf")
    found = plan()
    areas = sorted(abs(area_of(ring)) for ring in found.obstacles.values())
    check_all_close(areas, [2] * 6 + [4] * 2 + [2 * math.pi] + [8] * 2, "areas in blocks")
    check_close(found.columns[0][2], 2, "a circle in a block stays round", relative=1e-9)
    check(found.left_out == {("block without lines in it", "layer obstacles"): 1}, "what is left out", found.left_out)


def test_gaps_are_closed_up_to_the_limit_and_named_beyond():
    drawing(4, walkable=lines((0, 0), (9000, 0), (9000, 5000), (0, 5000), gap=4))
    with pytest.raises(exchange.ExchangeError) as refusal:
        plan()
    check_in("plan.dxf: layer walkable: a ring is open at (", refusal.value.args[0], "file and layer")
    check_in("is 0.004 m away (3 more lines are open). --gap 0.004 closes it", refusal.value.args[0], "gap and way out")
    check(re.search(r"open at \((4|8996|9000|0), (0|4|4996|5000)\)", str(refusal.value)), "the place of the drawing", refusal.value)
    found = plan(gap=0.005)
    check_close(area_of_polygons(found.walkable), 45, "area with bridges over gaps", relative=1e-9)
    check_in("layer walkable: 4 gaps closed, the widest 0.004 m at (", found.notes[0], "it is reported")


def test_open_lines_are_walls_or_left_out():
    wall = lambda space, at: space.add_lwpolyline([(2, 2), (6, 2), (6, 4)], dxfattribs=at)
    drawing(walkable=box(0, 0, 9, 5), obstacles=wall, exits=lambda s, at: s.add_line((9, 1), (9, 2), dxfattribs=at))
    with pytest.raises(exchange.ExchangeError, match=r"layer obstacles: a ring is open at \(2, 2\).*--thickness makes walls"):
        plan()
    found = plan(thickness=0.2)
    check_all_close(sorted(abs(area_of(ring)) for ring in found.obstacles.values()), [2.2 * 0.2, 4.2 * 0.2], "walls")
    found = plan(leave_open=True)
    check(found.left_out == {("line that closes no ring", "layer obstacles, from (2, 2) to (6, 4)"): 1}, "left out", found.left_out)


@pytest.mark.parametrize("draw, message", [
    (lambda s, at: s.add_lwpolyline([(0, 0), (4, 4), (4, 0), (0, 4)], close=True, dxfattribs=at),
     "layer walkable: a ring crosses or touches itself at (2, 2)"),
    (both(lines((0, 0), (4, 0), (4, 4), (0, 4)), lambda s, at: s.add_line((4, 4), (2, 2), dxfattribs=at)),
     "layer walkable: 3 lines end at (4, 4)"),
    (lambda s, at: s.add_text("hall", dxfattribs=at), "layer walkable: no ring in it, only TEXT"),
    (None, "no layer with the walkable area; give --walkable LAYER. Layers: other"),
])
def test_what_is_wrong_has_a_layer_and_a_place(draw, message):
    drawing(**({"walkable": draw} if draw else {"other": box(0, 0, 1, 1)}))
    with pytest.raises(exchange.ExchangeError, match=re.escape(message)) as refusal:
        plan()
    check(str(refusal.value).startswith("plan.dxf: "), "the message begins with the file", refusal.value)


def test_rings_within_rings_are_holes_and_islands():
    drawing(walkable=both(box(0, 0, 20, 10), box(2, 2, 6, 6), box(4, 4, 2, 2), box(30, 0, 5, 5), box(33, 3, 5, 5)))
    found = plan()
    check([len(polygon) for polygon in found.walkable] == [2, 1, 1, 1], "a hole, its island, and two that overlap", found.walkable)
    check_close(area_of_polygons(found.walkable[:2]), 200 - 36 + 4, "area with the hole", relative=1e-9)


def test_what_takes_nothing_of_the_area_is_left_out(folder):
    """The program refuses obstacles outside; so the reader leaves them out by name, and the rest is good."""
    def column(x, radius):
        return lambda space, at: space.add_circle((x, 5), radius, dxfattribs=at)
    drawing(walkable=both(box(0, 0, 20, 10), lambda s, at: s.add_text("hall", dxfattribs=at), box(2, 2, 6, 6), box(2, 2, 0, 0)),
            obstacles=both(box(20, 0, 2, 2), box(3, 3, 1, 1), box(10, 4, 4, 4), box(11, 5, 1, 1), box(10, 4, 4, 4),
                           box(14, 3, 4, 5), box(13, 5, 3, 1), column(30, 1), column(19, 1.5)),
            exits=box(18, 8, 1.5, 1.5), spare=lines((0, 0), (1, 0), (1, 1)))
    found = plan()
    check(list(found.obstacles) == ["obstacles_3", "obstacles_6"], "what takes something stays", found.obstacles)
    check(found.columns == [(19.0, 5.0, 1.5)], "and a column that is half inside", found.columns)
    kinds = {what: sum(n for (w, _), n in found.left_out.items() if w == what) for what, _ in found.left_out}
    check(kinds == {"obstacle outside of the walkable area": 2, "obstacle in others": 3, "ring without an area": 1, "TEXT": 1,
                    "column outside of the walkable area or in an obstacle": 1, "LINE": 3}, "the others are counted", found.left_out)
    said = said_by_program(exchange.write_plan(found, folder, 20))
    check(said.returncode == 0, "the deck is good", said)
    check_in("     3  LINE: layer spare\n", (folder / "plan.left_out.txt").read_text(), "the list is a file")


def test_a_plan_of_single_lines_without_a_floor_runs_with_the_people_asked_for(folder):
    """Walls of single lines that meet in corners and a T, with a door; 30 people in two regions by area; everybody leaves."""
    room = [(0, 0), (10, 0), (10, 3), (10, 4.5), (10, 8), (0, 8)]
    inner = lambda s, at: s.add_line((0, 6000), (2000, 6000), dxfattribs=at)
    outer = [(p, q) for p, q in zip(room, room[1:] + [(0, 6), (0, 0)]) if p != (10, 3)] + [((0, 6), (0, 0))]
    drawing(4, WALLS=both(inner, lambda s, at: [s.add_line(1000 * np.array(p), 1000 * np.array(q), dxfattribs=at) for p, q in outer]),
            FLUCHT=box(13, 2, 1, 4, 1000), start=both(box(1, 1, 3, 4, 1000), box(5, 1, 4, 6, 1000)))
    options = {"layers": {"obstacle": ["walls"], "exit": ["FLUCHT"]}, "thickness": 0.2}
    with pytest.raises(exchange.ExchangeError, match="no layer with the walkable area.*--around"):
        plan(**options)
    found = plan(**options, around=2)
    deck = exchange.write_plan(found, folder, 30)
    said = said_by_program(deck)
    check(said.returncode == 0, "the deck is good", said)
    text = deck.read_text()
    check(re.findall(r"\[populations.(\w+)\].*?count = (\d+)", text, re.DOTALL) == [("start_1", "10"), ("start_2", "20")],
          "people by area", text)
    said = subprocess.run([program(), "run", deck, "--set", "simulation.end_time=60"], capture_output=True, text=True)
    check(said.returncode == 0, "it runs", said)
    rows = (folder / "results/plan/plan.scalars.csv").read_text().splitlines()
    left = rows[0].split(",").index("inside_n_bodies[-]")
    check(float(rows[1].split(",")[left]) == 30 and float(rows[-1].split(",")[left]) == 0, "everybody leaves", rows[-1])


def test_layers_are_listed_and_hidden_ones_not_taken():
    document = drawing(5, walkable=box(0, 0, 900, 500), obstacle_old=box(1, 1, 1, 1), Texte=lambda s, at: s.add_text("x", dxfattribs=at))
    document.layers.get("obstacle_old").freeze()
    document.saveas("plan.dxf")
    script = python_command("exchange", "import", "plan.dxf")
    said = subprocess.run([*script, "--list"], capture_output=True, text=True)
    check(said.stdout.splitlines() == ["plan.dxf: R2010, unit cm", "  obstacle_old (hidden): 1 LWPOLYLINE", "  Texte: 1 TEXT",
                                       "  walkable: 1 LWPOLYLINE    -> walkable"], "the list", said)
    said = subprocess.run([*script, "--people", "5"], capture_output=True, text=True)
    check(said.returncode == 0 and said.stdout == "plan.toml\n", "the deck is named", said)
    check_in("     1  LWPOLYLINE: layer obstacle_old, which is hidden\n     1  TEXT: layer Texte\n", said.stderr, "left out")
    said = subprocess.run([*script, "--people", "5"], capture_output=True, text=True)
    check(said.returncode == 2 and "--force" in said.stderr, "a deck that is there stays", said)
    for more, message in ((["--obstacle", "Wände*"], "plan.dxf: layer 'Wände*' holds nothing or is not there. Layers: Texte, "),
                          (["--exit", "walk*", "--walkable", "walk*"], "layer 'walkable' would be exit and something else"),
                          (["--scale", "2"], "plan.dxf: scale is an option of stl; this is dxf"),
                          (["--people", "few", "--force"], "--people few: file, count or a number"),
                          (["--unit", "furlong"], "invalid choice: 'furlong'")):
        said = subprocess.run([*script, *more], capture_output=True, text=True)
        check(said.returncode != 0, f"exit code with {more}", said)
        check_in(message, said.stderr, "message")


def test_old_and_broken_drawings(folder):
    document = ezdxf.new("R12")
    document.header["$INSUNITS"] = 6
    document.modelspace().add_polyline2d([(0, 0), (9, 0), (9, 5), (0, 5)], close=True, dxfattribs={"layer": "WALK"})
    document.saveas("plan.dxf")
    check_close(area(unit="m"), 45, "a drawing of R12", relative=1e-9)
    document.saveas("binary.dxf", fmt="bin")
    check_close(area_of_polygons(exchange.read("binary.dxf", unit="m").walkable), 45, "a binary drawing", relative=1e-9)
    text = (folder / "plan.dxf").read_text()
    (folder / "hurt.dxf").write_text(text.replace("\n9.0\n", "\n9.0 m\n", 1))
    found = exchange.read("hurt.dxf", unit="m")
    check_close(area_of_polygons(found.walkable), 45, "a damaged drawing", relative=1e-9)
    check("the drawing is damaged" in found.notes[0], "it is reported", found.notes)
    for name, content, message in (("half.dxf", text[:len(text) // 2], "half.dxf: "), ("plan.dwg", "AC1032 and more", "save it as DXF"),
                                   ("bad.dxf", "0\nSECTION\n2\nENTITIES\n0\nLINE\nten\n", "bad.dxf: ")):
        (folder / name).write_text(content)
        with pytest.raises(exchange.ExchangeError, match=re.escape(message)):
            exchange.read(name)
