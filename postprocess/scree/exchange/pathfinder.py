"""Results of Pathfinder: where occupants are (NAME_occupants_detailed.csv or .json), as people of a time. Its models are not read.

Facts of the format: Pathfinder's manual of results: columns t(s), id, name, active, x(m), y(m), z(m) and more; in JSON the tables are
by id, then by time.
"""
import csv
import json
import re

import numpy as np

from scree.errors import ExchangeError
from scree.exchange import trajectory
from scree.exchange.plan import UNITS

MODELS = (".pth", ".pfrx")
ONE_FLOOR = 1.0    # m: people of one floor differ by less in height


def refuse_model(path):
    raise ExchangeError(f"{path}: a model of Pathfinder cannot be read: export its drawing as DXF, and its occupants as CSV "
                        "(NAME_occupants_detailed.csv)")


def begins(start):
    """Whether a file that begins with this line is a table of occupants."""
    names = [word.strip().lower() for word in start.split(",")]
    return names[:1] == ["t(s)"] and "id" in names


def is_json(whole):
    """Whether a JSON file has tables of occupants by id and time."""
    tables = list(whole.values())[:3] if isinstance(whole, dict) else []
    return bool(tables) and all(isinstance(times, dict) and times and all(_is_number(t) for t in list(times)[:3]) and
                                isinstance(next(iter(times.values())), dict) for times in tables)


def read(path, content, plan=None, frame=None, unit=None):
    """A plan with the occupants who are active at a time; `frame`: its number, the first unless given. `plan`: as of trajectories, as
    the file has no area. Raises ExchangeError."""
    rows, inactive = (_of_json if content.lstrip()[:1] == b"{" else _of_csv)(path, content, unit)
    if not rows:
        raise ExchangeError(f"{path}: no active occupants of Pathfinder in the file")
    time, key, x, y, z = np.array(rows, float).T
    _, number = np.unique(time, return_inverse=True)
    chosen = z[number == (0 if frame is None else frame)]
    if len(chosen) and np.ptp(chosen) > ONE_FLOOR:
        raise ExchangeError(f"{path}: occupants of Pathfinder at heights from {chosen.min():g} m to {chosen.max():g} m: one floor is read; "
                            "take the rows of others out")
    left_out = (("rows of occupants who are not active", "", inactive),) if inactive else ()
    frames = trajectory.Frames(number, key.astype(int), x, y, left_out=left_out)
    found = trajectory.plan_of_frames(path, frames, plan, frame)
    found.source = f"{found.source.replace('the trajectory', 'the occupants of Pathfinder in')}, {np.unique(time)[0 if frame is None else frame]:g} s"
    return found


def _of_csv(path, content, unit):
    lines = content.decode("utf-8-sig", errors="replace").splitlines()
    head = [word.strip().lower() for word in next(csv.reader(lines[:1]))]
    places = {match[1]: (k, match[2]) for k, word in enumerate(head) if (match := re.fullmatch(r"([xyzt])\((\w+)\)", word))}
    if not {"x", "y", "t"} <= set(places):
        raise ExchangeError(f"{path}: occupants of Pathfinder without the columns t(s), x(m) and y(m)")
    scale = UNITS.get(unit or places["x"][1])
    if scale is None:
        raise ExchangeError(f"{path}: places of Pathfinder in {places['x'][1]!r}; there are {', '.join(UNITS)}: give --unit")
    rows, inactive = [], 0
    for number, row in enumerate(csv.reader(lines[1:]), start=2):
        if not row:
            continue
        try:
            if "active" in head and float(row[head.index("active")]) == 0:
                inactive += 1
                continue
            at = [float(row[places[axis][0]]) * scale if axis in places else 0.0 for axis in "xyz"]
            rows.append([float(row[places["t"][0]]), int(row[head.index("id")]), *at])
        except (ValueError, IndexError):
            raise ExchangeError(f"{path}:{number}: {', '.join(head[:7])} are wanted, not {','.join(row)!r}") from None
    return rows, inactive


def _of_json(path, content, unit):
    rows, inactive, scale = [], 0, UNITS[unit or "m"]
    try:
        for key, times in json.loads(content).items():
            for time, one in times.items():
                if not one.get("active", 1):
                    inactive += 1
                    continue
                at = one.get("position", one)
                at = [at["x"], at["y"], at.get("z", 0)] if isinstance(at, dict) else [*at, 0][:3]
                rows.append([float(time), int(key), *(scale * float(value) for value in at)])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ExchangeError(f"{path}: occupants of Pathfinder whose places are not found ({error}): export them as CSV "
                            "(NAME_occupants_detailed.csv)") from error
    return rows, inactive


def _is_number(text):
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False
