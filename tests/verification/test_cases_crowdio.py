"""Cases of crowds that were wrong in version 0.2 (tests/reference/cases/crowds): files of other programs, queues, ids of several files,
one-way doors, pictures, two-way flow. The right values are those of the table of cases, and their neighbours."""
import csv
import json
import shutil
import subprocess
import zipfile

import numpy as np
import pytest

from decks import toml
from scree_program import check, check_close, check_in, python_command, run_ok, scree, source_folder

from scree import exchange
from scree.exchange.enclosed import enclosed
from scree.exchange.outlines import area_of_polygons
from scree.geometry import contains
from scree.results import Results


def case(folder, name):
    """The files of a case in the folder of the test."""
    shutil.copytree(source_folder() / "tests/reference/cases/crowds" / name, folder, dirs_exist_ok=True)
    return folder


def script(folder, name, *arguments):
    return subprocess.run(python_command(*name.split(), *arguments), cwd=folder, capture_output=True,
                          text=True)


def imported(folder, *arguments):
    """Imports a file, which has to work; returns what the script says of it."""
    said = script(folder, "exchange", "import", *arguments)
    check(said.returncode == 0, "the file is imported", said)
    return said.stderr


# ---- drawings with walls only

@pytest.mark.parametrize("name, area", [("hall", 60), ("hall_exit", 152.005)])
def test_nobody_starts_outside_of_the_walls(folder, name, area):
    """60 people start within 10 m x 6 m; where an exit lies outside, what is there is walkable, and nobody starts there."""
    said = imported(case(folder, "dxf_walls"), f"{name}.dxf", "--obstacle", "WALLS", "--thickness", 0.1, "--around", 2, "--people", 60)
    check_in(f"taken: outlines around {area} m2", said, "the area")
    check_in("what walls enclose, 60 m2 with the walls in it; outside are ", said, "inside and outside")
    check_in("opening to the outside, 1.2 m wide, from (10, 2.4) to (10, 3.6) m", said, "the door")
    run_ok("run", folder / f"{name}.toml", "--set", f"simulation.end_time={0.1 if name == 'hall' else 40}", folder=folder)
    run = Results(folder / f"results/{name}")
    _, places = run.paths.frame(0)
    hall = np.array([(0, 0), (10, 0), (10, 6), (0, 6)], float)
    check(len(places) == 60 and contains(hall, places[:, :2]).all(), "60 people, all inside", places)
    if name == "hall_exit":
        check(json.loads((run.folder / "summary.json").read_text())["evacuation"]["left"] == 60, "all leave", run.folder)


HALL = [[(0, 0), (10, 0)], [(10, 0), (10, 2.4)], [(10, 3.6), (10, 6)], [(10, 6), (0, 6)], [(0, 6), (0, 0)]]
TWO_ROOMS = HALL + [[(5, 0), (5, 2.5)], [(5, 3.5), (5, 6)]]
SHAFT = [[(7, 2), (8, 2), (8, 3), (7, 3), (7, 2)]]
BOX = [(-2, -2), (22, -2), (22, 8), (-2, 8)]
RING_WITH_DOOR = [(0, 0), (10, 0), (10, 2.4), (9.8, 2.4), (9.8, 0.2), (0.2, 0.2), (0.2, 5.8), (9.8, 5.8), (9.8, 3.6), (10, 3.6), (10, 6), (0, 6)]


@pytest.mark.parametrize("what, walls, options, area, parts", [
    ("two rooms with a door between them", TWO_ROOMS, {}, 60, [60]),
    ("from a place in one of them", TWO_ROOMS, {"marks": [(2, 3)]}, 60, [60]),
    ("without that door", HALL + [[(5, 0), (5, 6)]], {}, 60, [30, 30]),
    ("without that door, from the left", HALL + [[(5, 0), (5, 6)]], {"marks": [(2, 3)]}, 30, [30]),
    ("from both sides", HALL + [[(5, 0), (5, 6)]], {"marks": [(2, 3), (7, 3)]}, 60, [30, 30]),
    ("a closed shaft", HALL + SHAFT, {}, 60, [59, 1]),
    ("a closed shaft, from beside it", HALL + SHAFT, {"marks": [(2, 3)]}, 59, [59]),
    ("a column is no room", HALL, {"solids": [[(7, 2), (8, 2), (8, 3), (7, 3)]]}, 60, [59]),
    ("slips of the pen are closed, and nobody passes", [[(0, 0), (9.99, 0)], [(10, 0), (10, 2.4)], [(10, 3.6), (10, 6)], [(10, 6), (0, 6)],
                                                       [(0, 6), (0, 0.01)], [(5, 0), (5, 5.99)]], {"marks": [(2, 3)]}, 30, [30]),
    ("lines that overshoot", [[(-0.1, 0), (10.1, 0)], [(10, -0.1), (10, 2.4)], [(10, 3.6), (10, 6.1)], [(10.1, 6), (-0.1, 6)],
                              [(0, 6.1), (0, -0.1)]], {}, 60, [60]),
    ("a gate is no door", [[(0, 0), (10, 0), (10, 1)], [(10, 4), (10, 6), (0, 6), (0, 0)]], {}, 0, []),
    ("unless it is said", [[(0, 0), (10, 0), (10, 1)], [(10, 4), (10, 6), (0, 6), (0, 0)]], {"opening": 3.0}, 60, [60]),
    ("walls with two sides", [], {"solids": [RING_WITH_DOOR]}, 9.6 * 5.6 + 0.1 * 1.2, [53.88]),
    ("two buildings", HALL + [[(x + 20, y) for x, y in wall] for wall in HALL], {}, 120, [60, 60]),
    ("from outside", HALL, {"marks": [(20, 3)], "around": np.array(BOX, float)}, 240, [60]),
    ("from outside of a closed room", HALL + [[(10, 2.4), (10, 3.6)]], {"marks": [(20, 3)], "around": np.array(BOX, float)}, 180, []),
])
def test_what_walls_enclose(what, walls, options, area, parts):
    options = {"opening": 2.0, "solids": []} | options
    found = enclosed([np.array(wall, float) for wall in walls], [np.array(ring, float) for ring in options.pop("solids")], **options)
    check_close(area_of_polygons(found.polygons), area, f"{what}: area", absolute=0.03)
    check(np.allclose([size for size, _ in found.parts], parts, atol=0.03), f"{what}: parts", found.parts)


def test_from_outside_there_is_no_area():
    check(enclosed([np.array(wall, float) for wall in HALL], [], 2.0, [(20, 3)]) is None, "outside", HALL)


def test_a_room_drawn_as_one_closed_line(folder, monkeypatch):
    """A closed polyline that holds other walls is walls, not a block of 10 m x 6 m; without a thickness the import stops."""
    ezdxf = pytest.importorskip("ezdxf")
    monkeypatch.chdir(folder)
    document = ezdxf.new("R2010", units=6)
    space, at = document.modelspace(), {"layer": "WALLS"}
    space.add_lwpolyline([(0, 0), (10, 0), (10, 6), (0, 6)], close=True, dxfattribs=at)
    space.add_line((5, 0), (5, 5), dxfattribs=at)
    space.add_lwpolyline([(7, 2), (8, 2), (8, 3), (7, 3)], close=True, dxfattribs=at)
    document.saveas("room.dxf")
    options = {"layers": {"obstacle": ["WALLS"]}, "thickness": 0.1}
    found = exchange.read("room.dxf", around=1, **options)
    check(area_of_polygons(found.walkable) == 60 and len(found.obstacles) == 4 + 1 + 1, "walls, a wall in it, a column", found.obstacles)
    check_in("holds others: it is walls 0.1 m thick around a room", "\n".join(found.notes), "that is said")
    found = exchange.read("room.dxf", inside=[(2, 2)], **options)
    check(area_of_polygons(found.walkable) == 60, "from a place", found.walkable)
    with pytest.raises(exchange.ExchangeError, match=r"from \(20, 2\) m one gets outside of all walls"):
        exchange.read("room.dxf", inside=[(20, 2)], **options)
    with pytest.raises(exchange.ExchangeError, match="ring walls_.* of obstacles.* holds others.*--thickness"):
        exchange.read("room.dxf", around=1, leave_open=True, layers=options["layers"])


@pytest.mark.parametrize("corners, exit_of_deck", [
    ([(10, 2.4), (10, 3.6)], [(10, 2.45), (10, 3.55)]), ([(10.05, 3.6), (10.05, 2.4)], [(10, 2.45), (10, 3.55)]),
    ([(10, 2.6), (10, 3.4)], [(10, 2.6), (10, 3.4)]),
    ([(9.95, 2.45), (10.2, 2.45), (10.2, 3.55), (9.95, 3.55)], None), ([(8, 2), (9, 2), (9, 3), (8, 3)], None)])
def test_exits_in_and_beside_openings(folder, monkeypatch, corners, exit_of_deck):
    """A line in the opening comes onto its free part; a region across it makes the outside walkable; one inside does not. All are good."""
    ezdxf = pytest.importorskip("ezdxf")
    monkeypatch.chdir(case(folder, "dxf_walls"))
    document = ezdxf.readfile("hall.dxf")
    document.modelspace().add_lwpolyline(corners, close=len(corners) > 2, dxfattribs={"layer": "EXIT"})
    document.saveas("door.dxf")
    plan = exchange.read("door.dxf", layers={"obstacle": ["WALLS"]}, thickness=0.1, around=2)
    door, = plan.exits.values()
    if exit_of_deck:
        check(np.allclose(door["line"], exit_of_deck), "the line", door)
    is_across = corners[-1][0] < 10 < corners[1][0]
    check((area_of_polygons(plan.walkable) > 61) == is_across, "the area", plan.walkable)
    run_ok("check", exchange.write_plan(plan, folder, 60), folder=folder)


def test_walls_of_two_floors(folder):
    said = imported(case(folder, "dxf_walls"), "hall.dxf", "hall_exit.dxf", "--floors", "ground=0", "upper=3.5", "--obstacle", "WALLS",
                    "--thickness", 0.1, "--around", 2, "--people", 30)
    check(said.count("what walls enclose, 60 m2") == 2, "both", said)


# ---- files of other programs

@pytest.mark.parametrize("ending", ["json", "zip"])
def test_scenario_of_web_based_jupedsim(folder, ending):
    name = f"jupedsim_web.{ending}"
    said = imported(case(folder, "other_programs"), name)
    check_in("     1  model: CollisionFreeSpeedModel", said, "what is left out")
    plan = exchange.read(folder / name)
    check(area_of_polygons(plan.walkable) == 100 and plan.end_time == 90 and plan.seed == 7, "area, end and seed", plan)
    people, = plan.populations.values()
    check(people["count"] == 12 and plan.agents[people["agents"][0]] == {
        "radius": {"distribution": "constant", "value": 0.18}, "speed": {"distribution": "constant", "value": 1.1}}, "people", plan)
    check([area_of_polygons([[door["polygon"]]]) for door in plan.exits.values()] == [5], "the exit", plan.exits)
    check([zone["speed_factor"] for zone in plan.zones.values()] == [0.5], "the zone", plan.zones)
    run_ok("run", folder / "jupedsim_web.toml", folder=folder)
    summary = json.loads((folder / "results/jupedsim_web/summary.json").read_text())
    check(summary["evacuation"]["left"] == 12, "all leave", summary["evacuation"])


def web(folder, **changes):
    """The plan of the scenario after changes to its tables."""
    scenario = json.loads((case(folder, "other_programs") / "jupedsim_web.json").read_text())
    for path, value in changes.items():
        *tables, key = path.split("__")
        table = scenario
        for name in tables:
            table = table[name] if name in table else table[next(iter(table))]
        table[key] = value
    (folder / "changed.json").write_text(json.dumps(scenario))
    return exchange.read(folder / "changed.json")


def test_flows_checkpoints_and_shares_of_web_based_jupedsim(folder):
    first = "distributions__first__parameters__"
    plan = web(folder, **{first + "use_flow_spawning": True, first + "flow_start_time": 5, first + "flow_end_time": 11,
                          first + "radius_distribution": "gaussian", first + "radius_std": 0.01, first + "use_premovement": True,
                          first + "premovement_distribution": "weibull", first + "premovement_param_a": 20, first + "premovement_param_b": 2},
               checkpoints={"cp": {"coordinates": [[6, 1], [7, 1], [7, 2], [6, 2]], "waiting_time": 3}},
               journeys_v2=[{"id": "j_0", "sequence": ["jps-exits_0"]}, {"id": "j_1", "sequence": ["cp", "jps-exits_0"]}],
               distributions__first__journey_weights=[{"journey_id": "j_0", "weight": 75}, {"journey_id": "j_1", "weight": 25}],
               exits__first__enable_throughput_throttling=True, exits__first__max_throughput=2.5,
               obstacles={"o": {"coordinates": [[14, 2], [15, 2], [15, 3], [14, 3], [14, 2]]}})
    check([(source["rate"], source["start"], source["limit"]) for source in plan.sources.values()] == [(1.5, 5, 9), (0.5, 5, 3)], "flows",
          plan.sources)
    check(plan.journeys["j_1"] == [{"waypoint": "cp", "wait": 3.0}, {"exits": ["jps_exits_0"]}], "the journey", plan.journeys)
    agents, = plan.agents.values()
    check_close(agents["radius"]["min"], 0.15, "the spread of radii", absolute=1e-12)
    check(next(iter(plan.sources.values()))["premovement"] == {"distribution": "weibull", "shape": 2.0, "scale": 20.0}, "premovement", plan)
    check(plan.exits["jps_exits_0"]["max_flow"] == 2.5 and list(plan.obstacles) == ["o"], "exit and obstacle", plan)
    deck = exchange.write_plan(plan, folder)
    run_ok("check", deck, folder=folder)


@pytest.mark.parametrize("changes, message", [
    ({"distributions__first__coordinates": [[0, 0], [1, 1]]}, "jps-distributions_0 of distributions is no polygon with an area"),
    ({"zones__first__speed_factor": None}, "jps-zones_0 of zones is not as web-based JuPedSim writes it"),
    ({"walkable_area_wkt": ""}, "without its area: geometry.wkt is wanted beside it"),
    ({"walkable_area_wkt": "LINESTRING (0 0, 1 1)"}, "LINESTRING is no area"),
])
def test_scenarios_of_web_based_jupedsim_that_are_wrong(folder, changes, message):
    with pytest.raises(exchange.ExchangeError, match=message):
        web(folder, **changes)


def test_zip_files(folder):
    case(folder, "other_programs")
    with zipfile.ZipFile(folder / "jupedsim_web.zip") as archive:
        config, area = archive.read("config.json"), archive.read("geometry.wkt")
    (folder / "whole").mkdir()
    (folder / "whole/config.json").write_bytes(config)
    (folder / "whole/geometry.wkt").write_bytes(area)
    check(area_of_polygons(exchange.read(folder / "whole/config.json").walkable) == 100, "a folder", folder)
    for name, files, message in (("in_folder.zip", {"a/config.json": config, "a/geometry.wkt": area, "__MACOSX/a/config.json": b"x"}, None),
                                 ("one.zip", {"all.json": (folder / "jupedsim_web.json").read_bytes()}, None),
                                 ("no_area.zip", {"config.json": config}, "without its area"),
                                 ("drawing.zip", {"hall.dxf": b"0"}, "a zip file with hall.dxf: .*unpack others")):
        with zipfile.ZipFile(folder / name, "w") as archive:
            for path, content in files.items():
                archive.writestr(path, content)
        if message is None:
            check(area_of_polygons(exchange.read(folder / name).walkable) == 100, name, name)
        else:
            with pytest.raises(exchange.ExchangeError, match=message):
                exchange.read(folder / name)
    for name, content, message in (("empty.zip", b"PK\5\6" + bytes(18), "a zip file with nothing"), ("list.json", b"  [1, 2]", "of no known format"),
                                   ("other.json", b'{"rooms": []}', "JSON with rooms is of no known program"),
                                   ("plan.json", b'{"type": "FeatureCollection", "features": []}', "is GeoJSON, which decks take as it is")):
        (folder / name).write_bytes(content)
        with pytest.raises(exchange.ExchangeError, match=message):
            exchange.read(folder / name)
    whole = (folder / "jupedsim_web.zip").read_bytes()
    (folder / "half.zip").write_bytes(whole[:len(whole) // 2])
    with pytest.raises(exchange.ExchangeError, match="is a zip file that cannot be read"):
        exchange.read(folder / "half.zip")


@pytest.mark.parametrize("ending, people", [("csv", [(0, 2, 3), (1, 4, 3), (2, 2, 5)]), ("json", [(0, 2, 3), (1, 4, 3)])])
def test_occupants_of_pathfinder(folder, ending, people):
    said = imported(case(folder, "other_programs"), f"hall_occupants_detailed.{ending}")
    check_in("occupants of Pathfinder", said, "what it is")
    with open(folder / "hall_occupants_detailed_start.csv", newline="", encoding="utf-8") as file:
        rows = [tuple(float(row[name]) for name in ("id", "x", "y")) for row in csv.DictReader(file)]
    check(rows == people, "people of the first time", rows)


def test_occupants_of_pathfinder_at_later_times_and_on_floors(folder):
    path = case(folder, "other_programs") / "hall_occupants_detailed.csv"
    plan = exchange.read(path, frame=1)
    check(plan.people["x"].tolist() == [3.1] and plan.source.endswith(", 1 s"), "the second time", plan)
    text = path.read_text()
    path.write_text(text.replace("0.0,2,00003,1,2.0,5.0,0.0", "0.0,2,00003,0,2.0,5.0,0.0"))
    plan = exchange.read(path)
    check(plan.people["id"].tolist() == [0, 1] and plan.left_out["rows of occupants who are not active", ""] == 1, "who is not active", plan)
    path.write_text(text.replace("0.0,2,00003,1,2.0,5.0,0.0", "0.0,2,00003,1,2.0,5.0,3.5"))
    with pytest.raises(exchange.ExchangeError, match="occupants of Pathfinder at heights from 0 m to 3.5 m: one floor is read"):
        exchange.read(path)
    path.write_text(text.replace("x(m),y(m)", "x(ft),y(ft)"))
    check_close(exchange.read(path).people["x"][0], 0.6096, "feet", absolute=1e-12)
    (folder / "hall.pth").write_bytes(b"\0\1")
    with pytest.raises(exchange.ExchangeError, match="a model of Pathfinder cannot be read: export its drawing as DXF"):
        exchange.read(folder / "hall.pth")


@pytest.mark.parametrize("frame, area", [(None, 50), (0, 50), (1, 50), (2, 60)])
def test_the_area_of_the_frame_asked_for(folder, frame, area):
    plan = exchange.read(case(folder, "other_programs") / "later_area.sqlite", **({} if frame is None else {"frame": frame}))
    check(area_of_polygons(plan.walkable) == area and len(plan.people["x"]) == 3, "the area", plan.walkable)


# ---- pictures

def test_the_title_of_a_colour_bar_is_whole(folder):
    """On plans of 80 m x 3 m, of 8 m x 5 m and of 3 m x 40 m: its box lies within the page and meets no number."""
    import matplotlib

    matplotlib.use("Agg")
    from scree.crowd.pictures import colour_bar, draw_levels_of_service, draw_map, floors_figure, levels_bar
    from scree.crowd.plan import Level, Plan

    for width, height in ((80, 3), (8, 5), (3, 40)):
        corners = np.array([(0, 0), (width, 0), (width, height), (0, height)], float)
        for draw in ("levels", "map"):
            figure, floors = floors_figure(Plan([Level("", [(False, corners)], [0])], []))
            values, extent = np.linspace(0, 4, 12).reshape(3, 4), (0, width, 0, height)
            if draw == "levels":
                bar = levels_bar(figure, draw_levels_of_service(floors[0], values, extent), floors)
            else:
                bar = colour_bar(figure, draw_map(floors[0], values, extent), floors, "time for which more than 4 persons/m2 stood there [s]")
            figure.canvas.draw()
            axis = bar.ax.xaxis if bar.orientation == "horizontal" else bar.ax.yaxis
            title, page = axis.label.get_window_extent(), figure.bbox
            check(page.x0 <= title.x0 and title.x1 <= page.x1 and page.y0 <= title.y0 and title.y1 <= page.y1, "within the page",
                  (width, draw, title, page))
            texts = [text for text in [*axis.get_ticklabels(), *axis.get_ticklabels(minor=True)] if text.get_text()]
            check(not any(text.get_window_extent().overlaps(title) for text in texts), "beside the numbers", (width, draw))
            matplotlib.pyplot.close(figure)


@pytest.mark.parametrize("options, message", [
    (("--levels", "--range", 5, 1), "--range has no effect with --levels"),
    (("--range", 5, 1), "--range 5 1: the lower end comes first"), (("--range", 0, 0), "--range 0 0: the lower end comes first"),
    (("--range", "nan", 1), "'nan' is no finite number"), (("--range", 0, "inf"), "'inf' is no finite number"),
    (("--between", 5, 1), "--between 5 1: the lower end comes first"), (("--time", "nan"), "'nan' is no finite number"),
    (("--cell", "nan"), "'nan' is no finite number")])
def test_ends_of_colours_that_are_none(folder, options, message):
    said = script(folder, "plot density", folder, *options)
    check(said.returncode == 2, "exit code", said)
    check_in(message, said.stderr, "message")


@pytest.mark.parametrize("name", ["render", "animate", "plot continuum"])
def test_other_pictures_refuse_such_ends(folder, name):
    for options in [("--between", 5, 1), ("--between", "nan", 1)] + ([("--range", 5, 1), ("--range", "nan", 1)] if name == "render" else []):
        said = script(folder, name, folder, *options)
        check(said.returncode == 2 and options[0] in said.stderr, "exit code and message", said)


# ---- queues

def queue_rows(run):
    """NAME.queues.csv by id: numbers by name of the column."""
    with open(run / f"{run.name}.queues.csv", newline="", encoding="utf-8") as file:
        return {int(row["id[-]"]): {name.split("[")[0]: float(row[name]) for name in row if "[s]" in name} for row in csv.DictReader(file)}


def test_waiting_is_what_goes_beyond_the_walk(folder):
    case(folder, "queue_waited")
    for name in ("alone", "two"):
        run_ok("run", folder / f"{name}.toml", folder=folder)
    alone = queue_rows(folder / "results/alone")[0]
    check(alone["waited"] <= 0.1, "nobody else is there", alone)
    check_close(alone["walk"], 12.3, "the walk to the counter, to half a spacing", absolute=0.1)
    rows = queue_rows(folder / "results/two")
    check(rows[0]["waited"] <= 0.1, "the first one", rows[0])
    check_close(rows[1]["waited"], 8.4, "the second one", absolute=0.3)
    queue = json.loads((folder / "results/two/summary.json").read_text())["evacuation"]["queues"]["desk"]
    check_close(queue["mean_wait_s"], 4.2, "their mean", absolute=0.2)
    check_close(queue["longest_wait_s"], rows[1]["waited"], "the longest", absolute=1e-5)


@pytest.mark.parametrize("what, changes, start", [
    ("a slow one", {}, "0,2,3,0.2,0.5"),
    ("from the side", {}, "0,4,5.5,0.2,1"),
    ("from the counter", {}, "0,9,4.5,0.2,1"),
    ("who starts at the end", {}, "0,3.9,3,0.2,1"),
    ("around a corner", {"line": [[16, 3], [8, 3], [8, 5.5]]}, "0,2,3,0.2,1"),
    ("the second of two servers", {"servers": 2}, "0,2,3,0.2,1\n1,0.3,3,0.2,1"),
    ("through a zone", {"zones": {"slow": {"polygon": [[6, 0], [10, 0], [10, 6], [6, 6]], "speed_factor": 0.5}}}, "0,2,3,0.2,1"),
])
def test_nobody_waits_who_only_walks(folder, what, changes, start):
    """However one comes to a free counter: `waited` is below half a second, and the walk is all of the time in the line."""
    deck = {"simulation": {"dimension": 2, "scheme": "crowd", "seed": 1, "end_time": 60.0}, "time": {"step": 0.05},
            "walkable": {"polygon": [[0, 0], [20, 0], [20, 6], [0, 6]]}, "exits": {"gate": {"line": [[20, 1], [20, 2]]}},
            "journeys": {"visit": {"steps": [{"queue": {"name": "desk", "line": changes.get("line", [[16, 3], [4, 3]]),
                                                        "servers": changes.get("servers", 1),
                                                        "service": {"distribution": "constant", "value": 10.0}}}, {"choice": "nearest"}]}},
            "populations": {"one": {"file": "start.csv"}}} | {key: changes[key] for key in ("zones",) if key in changes}
    (folder / "start.csv").write_text("id,x,y,radius,speed\n" + start + "\n")
    (folder / "desk.toml").write_text(toml(deck))
    run_ok("run", folder / "desk.toml", folder=folder)
    for key, row in queue_rows(folder / "results/desk").items():
        check(row["waited"] < 0.5, f"{what}: nobody waits", (key, row))
        check(abs(row["served_from"] - row["joined"] - row["walk"]) < 0.75, f"{what}: the walk", (key, row))


# ---- ids of several files

def write_people(folder, **files):
    """Tables of sources by name, of those who come at x = 1: ids, and y; and the deck of the case with them."""
    for name, (ids, y) in files.items():
        (folder / f"{name}.csv").write_text("id,time,x,y\n" + "".join(f"{key},{key - 0.5},1,{y}\n" for key in ids))


def test_ids_of_two_files_may_interleave(folder):
    case(folder, "interleaved_ids")
    run_ok("check", folder / "gate.toml", folder=folder)
    agents = {}
    for ranks in (1, 3):
        run_ok("run", folder / "gate.toml", "--set", f'output.directory="on{ranks}"', ranks=ranks, folder=folder)
        agents[ranks] = (folder / f"on{ranks}/gate/gate.agents.csv").read_bytes()
    check(agents[1] == agents[3], "the same on 3 ranks", agents)
    ids = [int(line.split(b",")[0]) for line in agents[1].splitlines()[1:]]
    check(sorted(ids) == [1, 2, 3, 4, 5, 6], "everybody with the id of the file", ids)


def test_an_id_that_is_there_twice_is_named_with_both_files(folder):
    case(folder, "interleaved_ids")
    write_people(folder, south=((2, 5, 6), 1))
    result = scree("check", folder / "gate.toml", folder=folder)
    check(result.code == 2, "exit code", result)
    check_in("south.csv:3: the id 5 is that of ", result.stderr, "the second file")
    check_in("north.csv:4, too", result.stderr, "and the first")


def test_people_without_ids_get_those_that_no_file_gives(folder):
    """Beside the files with the ids 1 to 6: a region of 4 people, and a table of 3 without ids. No two have one id."""
    case(folder, "interleaved_ids")
    deck = (folder / "gate.toml").read_text()
    (folder / "three.csv").write_text("x,y\n5,1\n6,1\n7,1\n")
    (folder / "gate.toml").write_text(deck + '\n[populations.some]\nregion = [[3, 3], [6, 3], [6, 5], [3, 5]]\ncount = 4\n'
                                      '[populations.three]\nfile = "three.csv"\n')
    run_ok("run", folder / "gate.toml", folder=folder)
    ids = sorted(int(row[0]) for row in csv.reader(open(folder / "results/gate/gate.agents.csv", encoding="utf-8")) if row[0].isdigit())
    check(ids == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13], "13 people", ids)


# ---- one-way doors

def test_a_one_way_door_of_one_height(folder):
    case(folder, "one_way_door")
    run_ok("run", folder / "level.toml", folder=folder)
    check(json.loads((folder / "results/level/summary.json").read_text())["evacuation"]["left"] == 10, "10 leave", folder)
    deck = (folder / "level.toml").read_text().replace('direction = "up"', 'direction = "down"')
    (folder / "back.toml").write_text(deck)
    said = scree("check", folder / "back.toml", folder=folder)
    check_in('no route leads from "left" to any exit', said.stderr, "nobody gets through against its direction")
    for kind in ("stair", "ramp"):
        text = (folder / "level.toml").read_text().replace('type = "level"', f'type = "{kind}"')
        text = text.replace('[floors.right]\nelevation = "0 m"', '[floors.right]\nelevation = "0.5 m"')
        (folder / f"{kind}.toml").write_text(text)
        run_ok("run", folder / f"{kind}.toml", folder=folder)
        check(json.loads((folder / f"results/{kind}/summary.json").read_text())["evacuation"]["left"] == 10, f"up a {kind}", folder)
        (folder / f"{kind}_down.toml").write_text(text.replace('direction = "up"', 'direction = "down"'))
        said = scree("check", folder / f"{kind}_down.toml", folder=folder)
        check_in('no route leads from "left" to any exit', said.stderr, f"not up a {kind} that leads down")


def test_an_escalator_of_one_height_says_what_to_write(folder):
    case(folder, "one_way_door")
    result = scree("check", folder / "escalator.toml", folder=folder)
    check(result.code == 2, "exit code", result)
    check_in('take "level", which may have a direction, too, and remove speed and walk', result.stderr, "message")
    text = (folder / "escalator.toml").read_text().replace('type = "escalator"', 'type = "level"')
    text = text.replace('speed = "0.01 m/s"\n', "").replace("walk = 1\n", "")
    (folder / "followed.toml").write_text(text)
    run_ok("check", folder / "followed.toml", folder=folder)


# ---- two streams in a corridor

def corridor(folder, *settings, name="results", ranks=1):
    """The scalars of a run of the corridor with these settings, as columns."""
    options = [word for setting in settings for word in ("--set", setting)]
    run_ok("run", folder / "corridor.toml", *options, "--set", f'output.directory="{name}"', ranks=ranks, folder=folder)
    return Results(folder / name / "corridor")


def streams(rate):
    return f"sources.a.rate={rate}", f"sources.b.rate={rate}", "measures.middle.direction=[3, 0]"


def test_speed_along_a_direction_is_that_of_displacements(folder):
    """Every row of a classic window is the mean of |x(t) - x(t - 0.5 s)| / 0.5 s of those in it, as frames have them, to round-off; with
    over = 0.4 s and rows every 0.5 s it is over 0.5, 0.6, 0.7, 0.4 s in turn."""
    case(folder, "bidirectional")
    for over, spans in (("0.5", {0: 5}), ("0.4", {0: 4, 1: 5, 2: 6, 3: 7})):
        run = corridor(folder, *streams(1.5), 'measures.middle.method="classic"', f"measures.middle.over={over}", "simulation.end_time=30",
                       "output.trajectory.fps=10", name=f"over_{over}")
        at = {(person, round(10 * time)): place[0] for person, time, place in
              zip(run.paths.id_of_row, run.paths.time_of_row, run.paths.position_of_row)}
        checked = 0
        for time, along, n in zip(run.scalars["time"], run.scalars["middle_speed_along"], run.scalars["middle_n_bodies"]):
            frame = round(10 * time)
            span = spans[frame % 4 if over == "0.4" else 0]
            steps = [abs(x - at[person, frame - span]) / (span / 10) for (person, f), x in at.items() if f == frame and 8 < x < 12]
            if n > 0 and time > 2:
                check(len(steps) == n and abs(np.mean(steps) - along) < 1e-9, "the row", (over, time, along, np.mean(steps)))
                checked += 1
        check(checked > 40, "rows with people", checked)


def test_speed_along_a_direction_on_any_number_of_ranks_and_after_a_restart(folder):
    """A restart between two rows, and between two marks of places, on another number of ranks."""
    path = case(folder, "bidirectional") / "corridor.toml"
    path.write_text(path.read_text() + "[output.checkpoint]\nevery = 2.35\nkeep = 9\n")
    settings = *streams(1.5), "measures.middle.over=0.8", "simulation.end_time=8"
    tables = {ranks: corridor(folder, *settings, name=f"on{ranks}", ranks=ranks).folder / "corridor.scalars.csv" for ranks in (1, 3)}
    check(tables[1].read_bytes() == tables[3].read_bytes(), "the same on 3 ranks", tables)
    shutil.copytree(folder / "on1", folder / "again")
    checkpoints = sorted((folder / "again/corridor/checkpoint").glob("*.scree"))
    check(len(checkpoints) >= 3, "checkpoints", checkpoints)
    for later in checkpoints[2:]:
        later.unlink()
    options = [word for setting in settings for word in ("--set", setting)]
    run_ok("run", path, *options, "--set", 'output.directory="again"', "--resume", ranks=2, folder=folder)
    check((folder / "again/corridor/corridor.scalars.csv").read_bytes() == tables[1].read_bytes(), "the same after a restart", folder)


@pytest.mark.parametrize("density, rate", [(0.5, 1), (1.0, 2), (1.5, 2.4)])
def test_two_streams_are_as_fast_as_in_the_archive(folder, density, rate):
    """Speed along the corridor at equal density, from 30 s to 90 s, three seeds: within 10 % of public trajectories."""
    case(folder, "bidirectional")
    lines = (source_folder() / "tests/reference/crowd/corridor_bidirectional.csv").read_text().splitlines()
    measured = {float(line.split(",")[0]): float(line.split(",")[1]) for line in lines if line[0].isdigit()}[density]
    found = []
    for seed in (1, 2, 3):
        run = corridor(folder, *streams(rate), 'measures.middle.method="classic"', f"simulation.seed={seed}", "simulation.end_time=90")
        rows = (run.scalars["time"] >= 30) & (abs(run.scalars["middle_density"] - density) < 0.13)
        found += run.scalars["middle_speed_along"][rows].tolist()
        shutil.rmtree(folder / "results")
    check(len(found) > 50, "rows at this density", len(found))
    check_close(np.mean(found), measured, "speed along the corridor", relative=0.1)


@pytest.mark.parametrize("settings, message", [
    (("measures.middle.direction=[0, 0]",), "the direction has no length"),
    (("measures.middle.over=0.4",), "over is the time of displacements along a direction: give direction, too"),
    (("measures.middle.direction=[1, 0]", "measures.middle.over=0"), "measures.middle.over"),
])
def test_directions_that_are_none(folder, settings, message):
    path = case(folder, "bidirectional") / "corridor.toml"
    result = scree("check", path, *(word for setting in settings for word in ("--set", setting)), folder=folder)
    check(result.code == 2, "exit code", result)
    check_in(message, result.stderr, "message")
