"""Walls at periodic faces act on both sides of them. Right values: closed forms, and the same physics shifted along the
periods. Decks: tests/reference/cases/grains."""
import math
import random
import shutil

import pytest

from decks import toml
from scree.results import Results
from scree_program import check, check_close, check_in, rows_of, run_ok, scree, source_folder

DEM = {"simulation.scheme": '"dem"', "dem.law": '"linear"', "time.step": "5e-6", 'pairs."m-m".stiffness': "3e5"}


def copy(folder, name):
    shutil.copytree(source_folder() / "tests/reference/cases/grains" / name, folder, dirs_exist_ok=True)


def run(folder, settings=None, ranks=1):
    words = [word for key, value in (settings or {}).items() for word in ("--set", f"{key}={value}")]
    run_ok("-q", "run", "deck.toml", "--force", *words, ranks=ranks, folder=folder)
    return rows_of(folder / "results/deck/deck.scalars.csv")


@pytest.mark.parametrize("scheme", ["nonsmooth", "dem"])
@pytest.mark.parametrize("name, column, right, tolerance", [
    ("periodic_post", "x", 0.81, 1e-3),
    ("periodic_floor_across", "z", 0.11, 1e-5),
    ("periodic_mesh_across", "z", 0.11, 1e-5),
    ("periodic_moving_wall", "x", 0.59, 5e-3),
    ("periodic_segment_2d", "y", 0.11, 1e-5)])
def test_a_wall_acts_through_the_face(folder, name, column, right, tolerance, scheme):
    copy(folder, name)
    settings = DEM if scheme == "dem" else {}
    if name == "periodic_segment_2d":
        settings = settings and settings | {'pairs."m-m".stiffness': "1e6"}    # a disk is 1 m thick
    if scheme == "dem":
        settings = settings | {'pairs."m-m".restitution': "0.1"} if column in "yz" else settings    # at rest in time
    else:
        settings = {"time.step": "5e-4"} if name == "periodic_post" else settings    # a rebound takes a step and a half
    last = run(folder, settings)[-1]
    check_close(last[f"extent_center_{column}"], right, f"{name}: {column} at the end", absolute=tolerance)
    if name == "periodic_moving_wall":
        check_close(last["speed_max_speed"], 3, "restitution 0.5 at a wall of 2 m/s", relative=0.01)


def test_an_edge_at_the_face_turns_a_ball_aside(folder):
    copy(folder, "periodic_ledge")
    rows = run(folder)
    nearest = min(math.hypot(row["extent_center_x"] - 1, row["extent_center_z"] - 0.1) for row in rows)
    check(nearest > 0.01 - 1e-5, "the centre keeps its distance from the edge", nearest)
    check(rows[-1]["extent_center_x"] < 0.995, "it slides off to the left", rows[-1])


def test_a_floor_from_face_to_face_has_no_seam(folder):
    copy(folder, "periodic_mesh_full")
    rows = run(folder)
    check_close(rows[-1]["extent_center_x"], 1.2, "its place as followed through the face", absolute=1e-6)
    check(all(abs(row["extent_center_z"] - 0.11) < 1e-6 and abs(row["speed_max_speed"] - 1) < 1e-6 for row in rows),
          "height and speed stay", rows[-1])


BALLS = {"material": "m", "radius": {"distribution": "constant", "value": 0.02}, "source": {"type": "file", "path": "balls.csv"}}
# Obstacles about (0.5, 0.5, 0.5), away from all faces.
SCENES = {
    "cylinder": {"type": "cylinder", "a": [0.5, 0.5, 0.35], "b": [0.5, 0.5, 0.65], "radius": 0.15},
    "sphere": {"type": "sphere", "center": [0.5, 0.5, 0.5], "radius": 0.2},
    "turned box": {"type": "box", "lower": [-0.2, -0.1, -0.1], "upper": [0.2, 0.1, 0.1],
                   "rotate": {"axis": [1, 2, 3], "angle": 0.7}, "translate": [0.5, 0.5, 0.5]},
    "plate": {"type": "plate", "point": [0.5, 0.5, 0.5], "normal": [1, 1, 1], "outer_radius": 0.3},
    "container": {"type": "sphere", "center": [0.5, 0.5, 0.5], "radius": 0.45, "side": "inside"},
    "mesh": {"type": "mesh", "file": "solid.stl", "scale": 1, "side": "outside", "translate": [0.5, 0.5, 0.6]},
    "thin mesh": {"type": "mesh", "file": "solid.stl", "scale": 1.5, "side": "both", "translate": [0.5, 0.5, 0.65]},
    "paddle": {"type": "box", "lower": [0.2, 0.45, 0.4], "upper": [0.8, 0.55, 0.6],
               "motion": {"type": "rotate", "point": [0.5, 0.5, 0.5], "axis": [0, 0, 1], "rate": 2}},
    "pusher": {"type": "box", "lower": [0.3, 0.4, 0.3], "upper": [0.4, 0.6, 0.7],
               "motion": {"type": "translate", "velocity": [4, 1, 0]}},
    "driven": {"type": "sphere", "center": [0.5, 0.5, 0.5], "radius": 0.2,
               "motion": {"type": "driven", "axis": [1, 0, 0], "load": 5, "control": "free", "mass": 2, "max_speed": 1}},
}


def write_scene(folder, obstacle, shift, scheme):
    """40 balls that fly towards the middle, about the obstacle; all of it `shift` further and wrapped."""
    stream = random.Random(1)
    lines, places = ["x,y,z,vx,vy,vz"], []
    inside = obstacle.get("side") == "inside"
    while len(places) < 40:
        x = [stream.randrange(64, 960) / 1024 for _ in range(3)]
        off = [a - 0.5 for a in x]
        r = math.hypot(*off)
        if not (r < 0.4 if inside else 0.37 < r < 0.48) or any(math.dist(x, y) < 0.06 for y in places):
            continue
        places.append(x)
        speed = [-6 * a + stream.uniform(-1, 1) for a in off]
        lines.append(",".join(str(value) for value in [(x[0] + shift) % 1, (x[1] + shift) % 1, x[2], *speed]))
    (folder / "balls.csv").write_text("\n".join(lines) + "\n")
    moved = {key: [a + shift * (k < 2) for k, a in enumerate(value)] if key in ("a", "b", "center", "point", "translate", "lower", "upper")
             and not (key in ("lower", "upper") and "translate" in obstacle) else value for key, value in obstacle.items()}
    if "motion" in moved and "point" in moved["motion"]:
        moved["motion"] = moved["motion"] | {"point": [0.5 + shift, 0.5 + shift, 0.5]}
    dem = scheme == "dem"
    pair = {"friction": 0.4, "restitution": 0.5} | ({"stiffness": 4e5} if dem else {})
    deck = {"simulation": {"dimension": 3, "scheme": scheme, "end_time": 0.08},
            "domain": {"lower": [0, 0, 0], "upper": [1, 1, 1], "periodic": [True, True, False], "outside": "keep"},
            "time": {"step": 1e-4 if dem else 2e-3}, "pairs": {"m-m": pair}, "obstacles": {"it": moved | {"material": "m"}},
            "output": {"h5md": {"every": 0.08}}, "analysis": {"every": 0.002},
            "measures": {"wall": {"type": "wall_force", "point": [0.5 + shift, 0.5 + shift, 0.5]}},
            "materials": {"m": {"density": 2500}}, "particles": {"balls": BALLS}}
    deck |= {"dem": {"law": "linear"}} if dem else {"solver": {"type": "nsgs", "tolerance": 1e-10}}
    (folder / "deck.toml").write_text(toml(deck))


@pytest.mark.parametrize("name, scheme", [
    *((name, "nonsmooth") for name in ("cylinder", "turned box", "plate", "container", "mesh", "paddle")),
    *((name, "dem") for name in ("sphere", "container", "thin mesh", "paddle", "pusher", "driven"))])
def test_a_scene_at_a_corner_of_the_domain_is_the_one_in_its_middle(folder, name, scheme):
    """The same physics: half a period further along both axes, where four images of the obstacle are one."""
    last, place, hits = [], [], []
    for shift, ranks in ((0, 1), (0.5, 1), *([(0.5, 3)] if name in ("container", "paddle") else [])):
        at = folder / f"{shift}_{ranks}"
        copy(at, "mesh_mixed_winding")
        write_scene(at, SCENES[name], shift, scheme)
        rows = run(at, ranks=ranks)
        hits.append(max(row["contacts"] for row in rows))
        last.append({key: value for key, value in rows[-1].items() if key.startswith("wall_")})
        bodies = Results(at / "results/deck").bodies(-1)
        place.append([[(a - shift) % 1 if k < 2 else a for k, a in enumerate(x)] for x in bodies["position"]])
    check(hits[0] > 0, "balls meet something", hits)
    check(place[1] == place[-1] and last[1] == last[-1], "the same bits on 3 ranks")
    tolerance = 1e-9 if scheme == "dem" else 1e-7
    apart = max(abs((a - b + 0.5) % 1 - 0.5) for x, y in zip(place[0], place[1]) for a, b in zip(x, y))
    check(apart < tolerance, f"{name}: places", apart)
    scale = max(1e-6, *(abs(value) for value in last[0].values()))
    for key, value in last[0].items():
        check_close(last[1][key], value, f"{name}: {key}", absolute=1e-6 * scale)


def test_a_spring_goes_on_through_the_face(folder):
    """A ball that is held by friction on a floor across the face creeps through it: tangential springs stay, also over a
    restart. The middle of the domain is the reference."""
    end = []
    for shift in (0, 0.5):
        at = folder / str(shift)
        at.mkdir()
        x0, x1 = 0.25 + shift, 0.75 + shift
        (at / "balls.csv").write_text(f"x,y,z,vx,vy,vz\n{(0.499 + shift) % 1},0.1,0.12,0.05,0,0\n")
        deck = {"simulation": {"dimension": 3, "scheme": "dem", "end_time": 0.06},
                "domain": {"lower": [0, 0, 0], "upper": [1, 0.2, 0.2], "periodic": [True, False, False]},
                "time": {"step": 5e-5}, "physics": {"gravity": [1, 0, -10]}, "dem": {"law": "linear"},
                "neighbors": {"skin": 1e-4}, "materials": {"m": {"density": 2500}},
                "pairs": {"m-m": {"friction": 0.5, "restitution": 0.2, "stiffness": 1e4}},
                "particles": {"balls": BALLS},
                "obstacles": {"floor": {"type": "box", "lower": [x0, 0, 0], "upper": [x1, 0.2, 0.1], "material": "m"}},
                "analysis": {"every": 0.001}, "measures": {"extent": {"type": "extent"}}}
        (at / "deck.toml").write_text(toml(deck))
        rows = run(at)
        end.append([(row["extent_center_x"] - shift, row["extent_center_z"]) for row in rows])
        checkpoint_at = {"simulation.end_time": "0.03", "output.directory": '"half"'}
        words = [word for key, value in checkpoint_at.items() for word in ("--set", f"{key}={value}")]
        run_ok("-q", "run", "deck.toml", *words, folder=at)
        first = sorted(at.glob("half/deck/checkpoint/*.scree"))[-1]
        run_ok("-q", "restart", first, "--set", "simulation.end_time=0.06", ranks=2, folder=at)
        check_in("bitwise equal", run_ok("compare", "--last", at / "results/deck", at / "half/deck").stdout, "restart")
    check(end[0][-1][0] > 0.501, "it went through", end[0][-1])
    start = (end[0][0][0] - end[1][0][0])
    apart = max(max(abs(a[0] - b[0] - start), abs(a[1] - b[1])) for a, b in zip(*end))
    check(apart < 1e-9, "the same way", apart)


def test_initial_packings_keep_free_of_images(folder):
    copy(folder, "periodic_post")
    source = '{ type = "random", count = 400, region = { lower = [0, 0, 0], upper = [1, 0.2, 0.2] } }'
    run_ok("-q", "run", "deck.toml", "--set", f"particles.ball.source={source}", "--set", "simulation.end_time=2e-3",
           "--set", "output.h5md.every_steps=1", folder=folder)
    places = Results(folder / "results/deck").bodies(0)["position"]
    gaps = [math.hypot(min(x, 1 - x), y - 0.1) - 0.06 for x, y, _ in places]
    check(min(gaps) > -1e-12 and len(gaps) == 400, "no ball is in the post or its image", min(gaps))
    check(any(0.9 < x and abs(y - 0.1) < 0.06 for x, y, _ in places), "balls are near the image")


@pytest.mark.parametrize("obstacle, message", [
    ({"type": "plane", "point": [0, 0, 0], "normal": [1, 0, 0]}, "goes on for ever, but not along the periodic axis x"),
    ({"type": "cylinder", "a": [0, 0, 0], "b": [1, 0, 0.1], "radius": 0.02, "endless": True}, "goes on for ever"),
    ({"type": "plane", "point": [0.5, 0.1, 0], "normal": [0, 0, 1], "motion": {"type": "rotate", "point": [0.5, 0.1, 0], "axis": [0, 1, 0], "rate": 1}},
     "its motion turns it away from the periodic axis x"),
    ({"type": "box", "lower": [-0.7, 0, 0], "upper": [0.5, 0.2, 0.05]}, "reaches from -0.7 to 0.5 m along the periodic axis x")])
def test_what_has_no_image_is_refused(folder, obstacle, message):
    copy(folder, "periodic_post")
    text = toml({"obstacles": {"post": obstacle | {"material": "m"}}})
    deck = (folder / "deck.toml").read_text()
    before, rest = deck.split("[obstacles.post]")
    (folder / "deck.toml").write_text(before + text + "\n[analysis]" + rest.partition("[analysis]")[2])
    for verb in ("check", "run"):
        refused = scree(verb, "deck.toml", folder=folder)
        check(refused.code == 2, "it is refused", refused)
        check_in(message, refused.stderr, "with the reason")
        check_in('obstacle "post"', refused.stderr, "and the name")


# Polylines exactly from face to face of the periodic axis x, whose ends do not go on straight there; the same walls in pieces that end elsewhere.
FULL_SPAN = {
    "slope": ([[[0, 0.1], [1, 0.3]]], [[[0.25, 0.15], [1, 0.3]], [[1, 0.1], [1.25, 0.15]]]),
    "valley at the face": ([[[0, 0.1], [0.5, 0.3], [1, 0.1]]], [[[0.25, 0.2], [0.5, 0.3], [1, 0.1], [1.25, 0.2]]]),
    "ridge at the face": ([[[0, 0.3], [0.5, 0.1], [1, 0.3]]], [[[0.25, 0.2], [0.5, 0.1], [1, 0.3], [1.25, 0.2]]]),
    "floor": ([[[0, 0.2], [1, 0.2]]], [[[0.25, 0.2], [1.25, 0.2]]])}


def write_full_span(folder, walls, shift, scheme, shape):
    """Bodies that fall and slide on walls, all of it `shift` further and wrapped."""
    folder.mkdir()
    stream = random.Random(2)
    lines, places = ["x,y,vx,vy"], []
    while len(places) < 12:
        x = [stream.randrange(0, 1024) / 1024, stream.randrange(384, 576) / 1024]
        if all(math.hypot((x[0] - y[0] + 0.5) % 1 - 0.5, x[1] - y[1]) > 0.09 for y in places):
            places.append(x)
            lines.append(",".join(str(value) for value in [(x[0] + shift) % 1, x[1], stream.uniform(-1, 1), -3]))
    (folder / "bodies.csv").write_text("\n".join(lines) + "\n")
    dem = scheme == "dem"
    body = {"shape": "s", "angle": 0.3} if shape else {"radius": {"distribution": "constant", "value": 0.03}}
    deck = {"simulation": {"dimension": 2, "scheme": scheme, "end_time": 0.25},
            "domain": {"lower": [0, 0], "upper": [1, 1], "periodic": [True, False], "outside": "keep"},
            "time": {"step": 2e-5 if dem else 1e-3}, "output": {"h5md": {"every": 0.25}}, "analysis": {"every": 0.01},
            "particles": {"bodies": body | {"source": {"type": "file", "path": "bodies.csv"}}},
            "obstacles": {f"wall{k}": {"type": "polyline", "points": [[x + shift, y] for x, y in points]} for k, points in enumerate(walls)}}
    deck |= {"shapes": {"s": {"type": "box", "size": [0.05, 0.04]}}} if shape else {}
    if scheme == "pbd":
        deck |= {"velocity": {"type": "constant", "velocity": [0.3, -2]}, "pbd": {"sweeps": "converged"}}
    else:
        for entry in (*deck["obstacles"].values(), deck["particles"]["bodies"]):
            entry["material"] = "m"
        deck |= {"physics": {"gravity": [0, -10]}, "materials": {"m": {"density": 2500}}, "measures": {"walls": {"type": "wall_force"}},
                 "pairs": {"m-m": {"friction": 0.4, "restitution": 0.2} | ({"stiffness": 4e6} if dem else {})}}
        deck |= {"dem": {"law": "linear"}} if dem else {"solver": {"type": "nsgs", "tolerance": 1e-10}}
    (folder / "deck.toml").write_text(toml(deck))


# Of shapes no peaks and dents: rounding decides which of two ends with one corner answers.
@pytest.mark.parametrize("name, scheme, shape", [
    *((name, scheme, False) for name in FULL_SPAN for scheme in ("nonsmooth", "dem", "pbd")),
    *((name, "nonsmooth", True) for name in ("slope", "floor")), ("floor", "pbd", True)])
def test_a_wall_from_face_to_face_goes_on_through_them(folder, name, scheme, shape):
    whole, pieces = FULL_SPAN[name]
    variants = [(whole, 0, 1), (whole, 0, 3), (whole, 0.5, 1), (pieces, 0, 1)]
    variants += [([[[-1, 0.2], [2, 0.2]]], 0, 1)] if name == "floor" else []
    place = []
    for k, (walls, shift, ranks) in enumerate(variants):
        at = folder / str(k)
        write_full_span(at, walls, shift, scheme, shape)
        run(at, ranks=ranks)
        place.append([[(x[0] - shift) % 1, x[1]] for x in Results(at / "results/deck").bodies(-1)["position"]])
    check(place[0] == place[1], "the same bits on 3 ranks")
    check(min(x[1] for x in place[0]) < 0.36, "bodies are on the wall", place[0])
    # "pbd" depends on the order of its sweeps: the band of the covering array.
    within = {"dem": 1e-8, "nonsmooth": 1e-7, "pbd": 0.02 * 0.03}[scheme]
    for other in place[2:]:
        apart = max(max(abs((a[0] - b[0] + 0.5) % 1 - 0.5), abs(a[1] - b[1])) for a, b in zip(place[0], other))
        check(apart < within, f"{name}: half a period on, in pieces, and longer: places", apart)
