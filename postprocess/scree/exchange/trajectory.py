"""People of a frame of a trajectory: SQLite and HDF5 files of JuPedSim, HDF5 files of scree, text of the Juelich archive.

Facts of the formats: writers of JuPedSim 2.0 (tables trajectory_data, geometry, frame_data; dataset trajectory, attribute
wkt_geometry); data archive of Forschungszentrum Juelich (ped.fz-juelich.de): text with the columns id, frame, x, y, z.
"""
import re
import sqlite3
from dataclasses import dataclass, field

import numpy as np

from scree.errors import ExchangeError
from scree.exchange.outlines import bounds, is_within, rectangle
from scree.exchange.plan import AROUND_PEOPLE, UNITS, Plan, require_size
from scree.exchange.scene import numbers
from scree.exchange.wkt import polygons_of

FARTHEST = 1000.0    # m: places beyond are in another unit
LONGEST_STEP = 0.5   # m: nor do people move so far from frame to frame, of which there are 5 in a second at least
WANTED = ("id", "frame", "x", "y")
COLUMNS = {"id": "id", "persid": "id", "personid": "id", "fr": "frame", "frame": "frame", "x": "x", "y": "y", "z": "z"}


@dataclass
class Frames:
    """Rows of a trajectory: frame and id (whole), x, y [m]; `areas` as text by a key, and which one a frame has, where not the first;
    `left_out`: arguments of Plan.leave_out."""
    frame: np.ndarray
    id: np.ndarray
    x: np.ndarray
    y: np.ndarray
    fps: float = None
    areas: dict = field(default_factory=dict)
    area_of_frame: dict = field(default_factory=dict)
    left_out: tuple = ()


def read(path, content, plan=None, frame=None, unit=None):
    """A plan with the people of a frame, the first with anybody in it unless given. `plan`: one that was read from another
    file, whose area, exits and obstacles are taken; else the area of the trajectory, or where it has none, the rectangle
    around all its places. `unit`: of text files, where their header does not say it. Raises ExchangeError."""
    return plan_of_frames(path, _frames(path, content, unit), plan, frame)


def plan_of_frames(path, frames, plan=None, frame=None):
    """The same of rows that were read."""
    if plan is not None and plan.floors:
        raise ExchangeError(f"{path}: the plan has the floors {', '.join(plan.floors)}, and a trajectory does not say who is on which: "
                            "take one with --floor")
    if not len(frames.id):
        raise ExchangeError(f"{path}: nobody in the file")
    for k in np.flatnonzero(~np.isfinite(frames.x + frames.y))[:1]:
        raise ExchangeError(f"{path}: person {frames.id[k]} has no place in frame {frames.frame[k]}")
    first, last = int(frames.frame.min()), int(frames.frame.max())
    frame = first if frame is None else frame
    chosen = frames.frame == frame
    if not chosen.any():
        raise ExchangeError(f"{path}: nobody in frame {frame}; there are frames {first} to {last}")
    result = plan or Plan(path.stem, f"trajectory {path.name}")
    result.name, result.source = path.stem, f"frame {frame} of the trajectory {path.name}"
    if plan is None:
        _take_area(path, result, frames, frame)
    result.people = {"id": frames.id[chosen], "x": frames.x[chosen], "y": frames.y[chosen]}
    for what in frames.left_out:
        result.leave_out(*what)
    _require_people(path, result)
    later = len(np.unique(frames.id)) - int(chosen.sum())
    if later:
        result.leave_out("people who are not in the frame", f"frame {frame}", later)
    others = len(np.unique(frames.frame)) - 1
    if others:
        result.leave_out("frame", f"of {first} to {last}" + ("" if frames.fps is None else f", {frames.fps:g} in a second"), others)
    result.notes.append("radii and speeds: the file has none; they are drawn from the types of the deck, "
                        "and people who overlap are moved apart (separate)")
    return result


def _take_area(path, plan, frames, frame):
    if frames.areas:
        of_frame = frames.area_of_frame.get(frame, next(iter(frames.areas)))
        plan.walkable = polygons_of(path, frames.areas[of_frame])
        if len(frames.areas) > 1:
            plan.leave_out("area that other frames have", f"{len(frames.areas) - 1} of them")
    else:
        lower, upper = bounds(np.column_stack([frames.x, frames.y]))
        plan.walkable = [[rectangle(lower - AROUND_PEOPLE, upper + AROUND_PEOPLE)]]
        plan.notes.append("walkable area: the file has none; it is the rectangle around all places of all frames. "
                          "--plan FILE takes it from a DXF, WKT or XML file")
    plan.notes.append("exits: the file has none; add [exits.NAME], or take a plan with exits (--plan FILE)")
    require_size(path, plan, "give --unit")


def _require_people(path, plan):
    ids, counts = np.unique(plan.people["id"], return_counts=True)
    if (counts > 1).any():
        raise ExchangeError(f"{path}: person {ids[counts > 1][0]} is twice in the frame")
    points = np.column_stack([plan.people["x"], plan.people["y"]])
    outside = ~is_within(plan.walkable, points)
    for k in np.flatnonzero(outside)[:1]:
        plan.notes.append(f"{int(outside.sum())} people stand outside of the walkable area, the first is {plan.people['id'][k]} at "
                          f"({points[k, 0]:.6g}, {points[k, 1]:.6g}) m")


def _frames(path, content, unit):
    if content.startswith(b"SQLite format 3"):
        return _of_sqlite(path)
    if content.startswith(b"\x89HDF"):
        return _of_hdf5(path)
    return _of_text(path, content.decode("utf-8", errors="replace").splitlines(), unit)


def _of_sqlite(path):
    try:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            tables = {name for name, in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if not {"trajectory_data", "geometry"} <= tables:
                raise ExchangeError(f"{path}: no tables trajectory_data and geometry, so it is no trajectory of JuPedSim")
            rows = np.array(connection.execute("SELECT frame, id, pos_x, pos_y FROM trajectory_data").fetchall(), float)
            has_frames = "frame_data" in tables    # from version 2 on
            areas = dict(connection.execute("SELECT hash, wkt FROM geometry" if has_frames else "SELECT 0, wkt FROM geometry LIMIT 1"))
            of_frame = dict(connection.execute("SELECT frame, geometry_hash FROM frame_data")) if has_frames else {}
            given = dict(connection.execute("SELECT key, value FROM metadata").fetchall()) if "metadata" in tables else {}
        finally:
            connection.close()
    except (sqlite3.Error, ValueError) as error:
        raise ExchangeError(f"{path}: {error}") from error
    rows = rows.reshape(-1, 4)
    for k in np.flatnonzero(~np.isfinite(rows).all(axis=1))[:1]:
        raise ExchangeError(f"{path}: row {k + 1} of trajectory_data lacks a number")
    for frame, key in of_frame.items():
        if key not in areas:
            raise ExchangeError(f"{path}: frame {frame} has an area that is not in the file")
    fps = float(given["fps"]) if "fps" in given else None
    return Frames(rows[:, 0].astype(int), rows[:, 1].astype(int), rows[:, 2], rows[:, 3], fps, areas, of_frame)


def _of_hdf5(path):
    import h5py

    try:
        with h5py.File(path, "r") as file:
            table = file.get("trajectory")
            names = table.dtype.names if isinstance(table, h5py.Dataset) else None
            if not names or not set(WANTED) <= set(names):
                raise ExchangeError(f"{path}: no dataset trajectory with id, frame, x and y")
            rows = table[:]
            fps = table.attrs.get("fps", file.attrs.get("fps"))
            wkt = file.attrs.get("wkt_geometry")
            left_out = tuple((f"column {name}", "trajectory") for name in names if name not in WANTED)
    except OSError as error:
        raise ExchangeError(f"{path}: {error}") from error
    wkt = wkt.decode() if isinstance(wkt, bytes) else wkt
    return Frames(rows["frame"].astype(int), rows["id"].astype(int), rows["x"].astype(float), rows["y"].astype(float),
                  None if fps is None else float(fps), {0: wkt} if wkt else {}, left_out=left_out)


def is_text(lines):
    """Whether lines are a trajectory of the archive: their header names a frame rate or columns with frames, or, without a
    header, their first two columns are ids and frames that go on by one."""
    head = [line for line in lines[:50] if line.lstrip().startswith("#")]
    if any(re.search(r"frame\s*rate|\bfps\b", line, re.IGNORECASE) or _columns_of(line) for line in head):
        return True
    rows = [line.split()[:2] for line in lines[:50] if line.strip() and not line.lstrip().startswith("#")]
    if head or len(rows) < 10 or not all(len(row) == 2 and row[0].isdigit() and row[1].isdigit() for row in rows):
        return False
    goes_on = [a[0] == b[0] and int(b[1]) == int(a[1]) + 1 for a, b in zip(rows, rows[1:])]
    return 2 * sum(goes_on) > len(goes_on)


def _columns_of(line):
    """Columns that a line of the header names, with the unit of the places, e.g. "# id frame x/cm y/cm z/cm"."""
    words = [re.match(r"([A-Za-z]+)(?:[/\[(]([a-z]+))?", word) for word in line.lstrip("# \t").split()]
    names = [COLUMNS.get(word[1].lower(), word[1].lower()) if word else "?" for word in words]
    if not set(WANTED) <= set(names):
        return None
    return names, words[names.index("x")][2]


def _require_metres(path, columns):
    """Refuses places without a unit that are no metres: too far away, or with steps that nobody makes in a frame."""
    beyond = max(np.abs(columns["x"]).max(), np.abs(columns["y"]).max())
    order = np.lexsort((columns["frame"], columns["id"]))
    id, frame, x, y = (columns[name][order] for name in WANTED)
    follows = (np.diff(id) == 0) & (np.diff(frame) == 1)
    step = float(np.median(np.hypot(np.diff(x), np.diff(y))[follows])) if follows.any() else 0.0
    if beyond > FARTHEST or step > LONGEST_STEP:
        what = f"places up to {beyond:.6g}" if beyond > FARTHEST else f"people move by {step:.3g} from frame to frame"
        raise ExchangeError(f"{path}: {what}, and the header has no unit: cm? Give --unit")


def _of_text(path, lines, unit):
    names, fps, unit_in_header = ["id", "frame", "x", "y", "z"], None, None
    rows, width = [], 0
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if text.startswith("#"):
            if found := _columns_of(text):
                names, unit_in_header = found[0], found[1] or unit_in_header
            elif rate := re.search(r"(?:frame\s*rate|fps)\D{0,5}([\d.]+)", text, re.IGNORECASE):
                fps = float(rate[1].rstrip("."))
            elif inside := re.search(r"\b[xyz].{0,30}\bin\s+(cm|m|mm|meters?|metres?)\b", text, re.IGNORECASE):
                unit_in_header = {"meter": "m", "metre": "m"}.get(inside[1].lower().rstrip("s"), inside[1].lower())
        elif text:
            words = text.replace(",", " ").split()
            width = len(words)
            if width <= max(map(names.index, WANTED)):
                raise ExchangeError(f"{path}:{number}: {', '.join(WANTED)} are wanted, not {text!r}")
            rows.append(numbers(path, number, [words[names.index(name)] for name in WANTED]))
    if not rows:
        raise ExchangeError(f"{path}: no rows in the file")
    columns = dict(zip(WANTED, np.array(rows).T))
    if unit is None and unit_in_header is None:
        _require_metres(path, columns)
    scale = UNITS.get(unit or unit_in_header or "m")
    if scale is None:
        raise ExchangeError(f"{path}: the header has places in {unit_in_header!r}; there are {', '.join(UNITS)}: give --unit")
    left_out = tuple((f"column {name}", "") for name in names[:width] if name not in WANTED)
    return Frames(columns["frame"].astype(int), columns["id"].astype(int), scale * columns["x"], scale * columns["y"], fps,
                  left_out=left_out)
