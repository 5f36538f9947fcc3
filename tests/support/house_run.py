"""Results of a crowd in a house of two floors and a stair, made by hand: who is where is known for every frame.

Floors of 10 m x 6 m lie above each other; "upper" also has a closet that nobody can reach. The stair joins their right sides,
from x = 10 m to 14 m. Exit "door" is on the left of "ground"; exit "back" is below and never open. Person k of `upper` starts at
x = 1 + k there; all walk at 1 m/s to the right, over the stair, and on "ground" to the left."""
import json

import h5py
import numpy as np

FPS = 5
N_UPPER = 4
GROUND, UPPER, STAIR = 0, 1, 2
DECK = """\
[simulation]
title = "House <of> two floors"
dimension = 2
scheme = "crowd"
end_time = 60.0
seed = 3
[floors.ground]
elevation = 0.0
[floors.ground.walkable]
polygon = [[0.0, 0.0], [10.0, 0.0], [10.0, 6.0], [0.0, 6.0]]
[floors.upper]
elevation = 3.0
[floors.upper.walkable]
wkt = "MULTIPOLYGON(((0 0, 10 0, 10 6, 0 6, 0 0)), ((20 0, 22 0, 22 2, 20 2, 20 0)))"
[connectors.stair]
type = "stair"
polygon = [[10.0, 2.0], [14.0, 2.0], [14.0, 4.0], [10.0, 4.0]]
[connectors.stair.bottom]
floor = "ground"
line = [[10.0, 2.0], [10.0, 4.0]]
[connectors.stair.top]
floor = "upper"
line = [[14.0, 2.0], [14.0, 4.0]]
[exits.door]
floor = "ground"
line = [[0.0, 2.0], [0.0, 4.0]]
open_from = [0.0]
[exits.back]
floor = "ground"
line = [[4.0, 0.0], [5.0, 0.0]]
open_from = []
[agents.adult]
headway_time = 0.95
[populations.upstairs]
floor = "upper"
count = 4
premovement = { distribution = "constant", value = 2.0 }
"""


def place_of(person, time):
    """(level, x, y) of a person; None when he has left."""
    start, way = 1.0 + person, time
    y = 2.3 + 0.4 * person
    if start + way < 10:
        return UPPER, start + way, y
    way -= 10 - start           # since he came to the stair
    if way < 4:
        return STAIR, 10 + way, y
    way -= 4
    return (GROUND, 10 - way, y) if way < 10 else None


def left_at(person):
    """When a person leaves [s]."""
    return 10 - (1 + person) + 4 + 10


def make_house(folder, name="house", seed=3):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.resolved.toml").write_text(DECK.replace("seed = 3", f"seed = {seed}"))
    leaving = sorted(range(N_UPPER), key=left_at)
    titles = "id[-],population[-],agent_type[-],radius[m],desired_speed[m/s],entered[s],premovement_end[s],left[s],exit[-],walked[m],level[-]"
    rows = [f"{k},upstairs,adult,0.2,1,0,0,{left_at(k)},door,{left_at(k)},ground" for k in leaving]
    (folder / f"{name}.agents.csv").write_text("\n".join([titles, *rows]) + "\n")
    counted = [f"{left_at(k)},{N_UPPER - n},0,{n},{n},0" for n, k in enumerate(leaving, 1)]
    (folder / f"{name}.evacuation.csv").write_text("\n".join(
        ["time[s],inside[-],came[-],left[-],left_door[-],left_back[-]", f"0,{N_UPPER},0,0,0,0", *counted]) + "\n")
    end = max(map(left_at, range(N_UPPER)))
    rows, levels = [], []
    for frame in range(FPS * end + 1):
        for person in range(N_UPPER):
            if place := place_of(person, frame / FPS):
                rows.append((frame, person, place[1], place[2], 0.0))
                levels.append((place[0],))
    layout = np.dtype([("frame", "u4"), ("id", "u4"), ("x", "f8"), ("y", "f8"), ("z", "f8")])
    floor = "POLYGON ((0 0, 10 0, 10 6, 0 6, 0 0))"
    closet = "MULTIPOLYGON (((0 0, 10 0, 10 6, 0 6, 0 0)), ((20 0, 22 0, 22 2, 20 2, 20 0)))"
    stair = "POLYGON ((10 2, 14 2, 14 4, 10 4, 10 2))"
    with h5py.File(folder / f"{name}.trajectory.h5", "w") as file:
        file["trajectory"] = np.array(rows, dtype=layout)
        file["trajectory"].attrs["fps"] = float(FPS)
        file["level"] = np.array(levels, dtype=np.dtype([("level", "u4")]))
        file.attrs["wkt_geometry"] = f"GEOMETRYCOLLECTION ({floor}, {closet}, {stair})"
    (folder / "summary.json").write_text(json.dumps({
        "name": name, "title": "House <of> two floors", "status": "done", "time_s": end, "end_time_s": 60.0, "ranks": 1,
        "certificate_worst": {"residual": {"value": 5e-7, "unit": "m", "limit": 1e-6}, "steps_not_solved": {"value": 0.0, "unit": "-"}},
        "provenance": {"version": "scree 0.0 (by hand)"}}))
