"""What a report is made of: plans, densities, tracks, intervals, charts."""
import base64
import re

import numpy as np

from house_run import FPS, N_UPPER, make_house, place_of
from scree_program import check, check_close, check_in, run_ok, source_folder
from scree.crowd.curves import flow_at, mean_and_interval, student_t_975, time_of_share
from scree.crowd.density import Grid, density_maps
from scree.crowd.plan import plan_of, used_parts
from scree.geometry import contains
from scree.report import write_report
from scree.report.charts import Line, chart, png
from scree.report.tables import script_data
from scree.report.tracks import encoded, thinned
from scree.results import Paths, Results, read_fields, levels_of_wkt


def test_quantiles_of_student():
    # Tables of the distribution: 97.5 % quantiles.
    for degrees, quantile in ((1, 12.7062), (2, 4.30265), (3, 3.18245), (9, 2.26216), (30, 2.04227), (1000, 1.96234)):
        check_close(student_t_975(degrees), quantile, f"t of {degrees} degrees of freedom", relative=1e-5)
    mean, half, n = mean_and_interval([1, 2, 3, np.nan])
    check(n == 3 and mean == 2, "nan is no value", (mean, n))
    check_close(half, 4.30265 / 3**0.5, "half of the interval", relative=1e-5)
    check(np.isnan(mean_and_interval([5.0])[1]) and mean_and_interval([])[2] == 0, "one run has no interval, none no mean")


def test_times_and_flows():
    left = np.array([1.0, 2.0, 3.0, 4.0])
    check([time_of_share(left, share) for share in (0.5, 0.95, 1.0)] == [2, 4, 4], "shares of those who left")
    check(time_of_share(left, 0.5, 8) == 4 and np.isnan(time_of_share(left, 0.95, 8)), "shares of all, of whom half stay")
    flow = flow_at(left, np.array([0.5, 2.0, 4.0, 20.0]), 2.0)
    check(np.isnan(flow[0]) and flow[1:].tolist() == [1, 1, 0], "flow over the last two seconds", flow)


def test_collections_have_a_member_per_level():
    check(levels_of_wkt("POLYGON ((0 0, 1 0, 1 1))") == ["POLYGON ((0 0, 1 0, 1 1))"], "a polygon is its only member")
    parts = levels_of_wkt("GEOMETRYCOLLECTION (POLYGON ((0 0, 1 0, 1 1), (2 2, 3 3, 2 3)), MULTIPOLYGON (((5 5, 6 6, 6 5))))")
    check(len(parts) == 2 and parts[1] == "MULTIPOLYGON (((5 5, 6 6, 6 5)))", "members", parts)


def test_plan_of_a_house(folder):
    make_house(folder)
    results = Results(folder)
    plan = plan_of(results.deck, results.paths)
    check([level.name for level in plan.levels] == ["ground", "upper", "stair"], "floors first, then connectors", plan.levels)
    check([level.floors for level in plan.levels] == [[0], [1], [0, 1]], "a stair belongs to the floors that it joins")
    check(plan.n_hidden == 1 and len(plan.levels[1].rings) == 1, "the closet is hidden", plan.levels[1])
    check([door.text() for door in plan.exits] == ["open", "closed"], "exits", plan.exits)
    without = plan_of(results.deck)
    check([len(level.rings) for level in without.levels] == [1, 2, 1] and without.n_hidden == 0, "without a trajectory the deck says it all")


def test_plan_with_a_lift():
    room = {"polygon": [[0, 0], [4, 0], [4, 4], [0, 4]]}
    deck = {"floors": {name: {"elevation": 3.0 * k, "walkable": room} for k, name in enumerate(("ground", "first", "second"))},
            "connectors": {"ramp": {"type": "ramp", "polygon": [[9, 0], [12, 0], [12, 1]], "bottom": {"floor": "ground", "line": [[9, 0], [9, 1]]},
                                    "top": {"floor": "first", "line": [[12, 0], [12, 1]]}}},
            "lifts": {"lift": {"cabin": [[4, 1], [5, 1], [5, 2], [4, 2]], "door": [[4, 1], [4, 2]], "floors": ["second", "ground"],
                               "to": "ground"}}}
    plan = plan_of(deck)
    check([(level.name, level.kind) for level in plan.levels[3:]] == [("ramp", "ramp"), ("lift", "lift")], "lifts come last", plan.levels)
    check(plan.levels[-1].floors == [0, 2] and len(plan.floors) == 3, "a lift belongs to the floors that it serves, first where people get out", plan.levels[-1])
    check(plan.bounds()[1].tolist() == [12, 4], "bounds", plan.bounds())


def test_opening_times():
    deck = {"exits": {"a": {"line": [[0, 0], [1, 0]], "open_from": [10.0, 30.0], "open_until": [20.0]},
                      "b": {"line": [[0, 0], [3, 4]], "open_until": [5.0]}, "c": {"color": "#00ff00"}}}
    plan = plan_of(deck)
    check([door.name for door in plan.exits] == ["a", "b"], "an exit of an image has no place in the deck")
    a, b = plan.exits
    check(a.text() == "open from 10 s until 20 s, from 30 s" and a.text(25) == "open from 10 s until 20 s" and a.text(5) == "closed",
          "opening times in words", (a.text(), a.text(25), a.text(5)))
    check(b.text() == "open until 5 s" and b.is_open(4.9) and not b.is_open(5) and b.width == 5, "an exit that closes", b)
    check([a.is_open(time) for time in (5, 10, 20, 29, 40)] == [False, True, False, False, True], "open or not")


def test_parts_that_nobody_uses():
    square = np.array([[0, 0], [4, 0], [4, 4], [0, 4]], float)
    rings = [(False, square), (True, square / 4 + 1), (False, square + 10)]
    check(contains(square, np.array([[1, 1], [5, 1]])).tolist() == [True, False], "in a polygon")
    used, unused = used_parts(rings, np.array([[3.0, 3.0]]))
    check(len(used) == 2 and len(unused) == 1, "the second area is unused; the first keeps its hole", (used, unused))
    check(used_parts(rings, np.zeros((0, 2)))[1] == [], "nobody anywhere: all areas stay")


def test_density_is_that_of_the_program(folder):
    run_ok("run", source_folder() / "inputs/crowd/room.toml", "--set", "simulation.end_time=10", "--set", f'output.directory="{folder}"',
           folder=folder)
    results = Results(folder / "room")
    time, path = results.vtk_frames("fields")[-1]
    fields = read_fields(path)
    cell = float(fields.cell[0])
    grid = Grid([0, 0], [10, 5], cell)     # with the pocket behind the door
    ours = grid.density(results.paths.frame(round(time * results.paths.fps))[1])
    check_close(ours.sum() * cell**2, results.evacuation["inside"][-1], "all cells add up to the people inside", relative=1e-9)
    first = np.rint((grid.lower - fields.lower) / cell).astype(int)
    theirs = fields["density"]
    shared = np.zeros_like(ours)
    rows, columns = np.mgrid[0:grid.ny, 0:grid.nx]
    rows, columns = rows + first[1], columns + first[0]
    valid = (rows >= 0) & (rows < theirs.shape[0]) & (columns >= 0) & (columns < theirs.shape[1])
    shared[valid] = np.nan_to_num(theirs[rows[valid], columns[valid]])
    # Centres are rounded to a fifth of a cell here: 0.025 m. A cell at the rim of disks may be off by much, so the mean counts.
    check_close(np.abs(ours - shared).mean() / shared.mean(), 0.0, "the mean difference over the mean", absolute=0.03)


def test_maps_over_time(folder):
    make_house(folder)
    paths = Results(folder).paths
    grid = Grid([0, 0], [14, 6], 0.5)
    maps = [density_maps(paths, level, grid, limit=0.5, end=20 - 1 / FPS) for level in range(3)]
    frames = 20 * FPS       # two windows of 10 s
    for level, one in enumerate(maps):
        here = sum(place is not None and place[0] == level for k in range(N_UPPER)
                   for place in (place_of(k, frame / FPS) for frame in range(frames)))
        check_close(one.mean.sum() * 0.25, here / frames, f"people on level {level}, mean over time", relative=1e-9)
    check((maps[0].highest >= maps[0].mean - 1e-12).all(), "the highest mean over 10 s is at least the mean")
    # One walks by after the other at 1 m/s: 1 / m2 within 0.56 m for about a second each.
    check(0.5 < maps[2].above.max() <= 4.5, "time above half a person per m2", maps[2].above.max())
    check(density_maps(paths, 0, grid, limit=50, end=20).above.max() == 0, "never above 50")


def decode(found):
    heads = np.frombuffer(base64.b64decode(found["heads"]), "<i4").reshape(-1, 6)
    steps = np.frombuffer(base64.b64decode(found["steps"]), f"<i{found['bytes_per_step']}").reshape(-1, 2)
    rows, next_step = {}, 0
    for person, level, first, count, *place in heads.tolist():
        way = np.vstack([place, steps[next_step:next_step + count - 1]]).cumsum(axis=0)
        next_step += count - 1
        rows |= {(int(found["ids"][person]), first + k): (level, *way[k] / 100) for k in range(count)}
    check(next_step == len(steps), "all steps belong to a track")
    return rows


def test_tracks_are_the_trajectory(folder):
    make_house(folder)
    paths = Results(folder).paths
    for stride in (1, 3):
        rows = decode(encoded(paths, stride, 1))
        wanted = {(person, frame // stride): place_of(person, frame / FPS) for frame in range(0, 26 * FPS, stride) for person in range(N_UPPER)
                  if frame in paths.frames and place_of(person, frame / FPS)}
        check(rows.keys() == wanted.keys(), "who is there when", len(rows.keys() ^ wanted.keys()))
        check(all(rows[key][0] == wanted[key][0] and np.allclose(rows[key][1:], wanted[key][1:], atol=0.0051) for key in rows),
              "where they are, to half a centimetre")
    check({key[0] for key in decode(encoded(paths, 1, 2))} == {0, 2}, "every second person")


class Jumping(Paths):
    """Somebody who jumps by 3 m, and is away for a while."""

    def __init__(self):
        self.fps = 10.0
        self.frame_of_row = np.array([0, 1, 2, 3, 7, 8])
        self.id_of_row = np.full(6, 9)
        self.position_of_row = np.array([[0, 0], [0.1, 0], [3.1, 0], [3.2, 0], [3.2, 0], [-700.0, 0]])
        self.level_of_row = np.zeros(6, int)


def test_jumps_and_gaps_begin_a_track():
    found = encoded(Jumping(), 1, 1)
    check(found["bytes_per_step"] == 1, "a step of a tenth of a second is one byte")
    rows = decode(found)
    check(sorted(frame for _, frame in rows) == [0, 1, 2, 3, 7, 8], "frames", sorted(rows))
    check(rows[9, 2][1] == 3.1 and rows[9, 8][1] == -700, "places after jumps", rows)
    check(len(base64.b64decode(found["heads"])) // 24 == 4, "four tracks")


def test_a_long_trajectory_is_thinned(folder):
    make_house(folder)
    paths = Results(folder).paths
    whole = encoded(paths, 1, 1)
    size = len(whole["steps"]) + len(whole["heads"])
    stride, one_of, found = thinned(paths, size)
    check((stride, one_of) == (1, 1), "enough room: nothing is left out")
    stride, one_of, found = thinned(paths, size // 3)
    check(stride > 1 and len(found["steps"]) + len(found["heads"]) <= size // 3, "less room: fewer frames", (stride, one_of))
    stride, one_of, found = thinned(paths, 400)
    check(one_of > 1 and found["fps"] >= 0.5, "least room: fewer people", (stride, one_of, found["fps"]))


def test_a_report_says_what_is_left_out(folder):
    make_house(folder)
    text = write_report([folder], folder / "whole.html").read_text()
    check_in("at 5 frames a second,", text, "all frames")
    from scree.report import crowd

    before = crowd.thinned
    crowd.thinned = lambda paths, _: before(paths, 500)
    try:
        text = write_report([folder], folder / "thin.html").read_text()
    finally:
        crowd.thinned = before
    check(re.search(r"at [\d.]+ frames a second of 5 in the trajectory", text), "fewer frames are said")


def test_charts():
    text = chart([Line("a < b", np.arange(5), np.array([0, 1, np.nan, 3, 4]), is_step=True)], "time [s]", "N", "one")
    check(text.count("<polyline") == 2 and "a &lt; b" in text, "a gap parts a line; names are texts", text)
    check_in("no values", chart([Line("", np.arange(3), np.full(3, np.nan))], "x", "y"), "nothing to draw")
    many = chart([Line("", np.arange(100000), np.sin(np.arange(100000)))], "x", "y")
    check(len(many) < 40000, "a long line is drawn with few points", len(many))
    check_in("no values above 0", chart([Line("", np.arange(3), np.zeros(3))], "x", "y", log=True), "0 has no logarithm")
    pixels = np.zeros((2, 3, 4), np.uint8)
    pixels[0, 1] = (10, 20, 30, 255)
    import io

    from PIL import Image
    image = Image.open(io.BytesIO(base64.b64decode(png(pixels).partition(",")[2])))
    check(image.size == (3, 2) and image.getpixel((1, 0)) == (10, 20, 30, 255), "a PNG of our own", image)
    check("</script>" not in script_data("x", {"name": "</script><b>"})[:-9], "data cannot end their element")
