"""Paths of people: NAME.trajectory.h5, and the plan in it as well-known text."""
import re
from functools import cached_property
from pathlib import Path

import numpy as np

from scree.errors import ResultsError
from scree.results.files import existing


class Paths:
    """Who was where, frame by frame, from a file in the layout of the pedestrian dynamics data archive: dataset
    /trajectory with records frame, id, x, y, z in m and attribute fps; root attribute wkt_geometry. In a building
    of several levels also a dataset /level, row by row, and the geometry is a collection of one per level."""

    def __init__(self, path):
        import h5py

        with h5py.File(existing(Path(path)), "r") as file:
            if "trajectory" not in file or not {"frame", "id", "x", "y"} <= set(file["trajectory"].dtype.names or ()):
                raise ResultsError(f"{path} is no trajectory file: there is no /trajectory with frame, id, x and y")
            rows = file["trajectory"]
            if "fps" not in rows.attrs:
                raise ResultsError(f"{path}: /trajectory has no attribute fps")
            self.fps = float(rows.attrs["fps"])
            geometry = file.attrs.get("wkt_geometry", "")
            records = rows[()]
            has_levels = "level" in file
            levels = file["level"]["level"].astype(np.int64) if has_levels else np.zeros(len(records), np.int64)
        geometry = geometry.decode() if isinstance(geometry, bytes) else str(geometry)
        self.walkable = read_wkt(geometry)
        self.walkable_of_level = [read_wkt(text) for text in levels_of_wkt(geometry)] if has_levels else [self.walkable]
        order = np.lexsort((records["id"], records["frame"]))
        self.frame_of_row = records["frame"][order].astype(np.int64)
        self.id_of_row = records["id"][order].astype(np.int64)
        self.position_of_row = np.column_stack([records["x"], records["y"]])[order].astype(float)
        self.level_of_row = levels[order]
        self.height_of_row = (records["z"][order].astype(float) if "z" in records.dtype.names
                              else np.zeros(len(records)))

    @property
    def time_of_row(self):
        return self.frame_of_row / self.fps

    @cached_property
    def frames(self):
        """Numbers of the frames with anybody in them, rising."""
        return np.unique(self.frame_of_row)

    @cached_property
    def ids(self):
        return np.unique(self.id_of_row)

    def rows(self, frame):
        """The rows of a frame, as a slice."""
        return slice(*np.searchsorted(self.frame_of_row, (frame, frame + 1)))

    def frame(self, frame):
        """Ids and positions (n, 2) of those who are there in a frame, in order of ids."""
        rows = self.rows(frame)
        return self.id_of_row[rows], self.position_of_row[rows]

    def tracks(self):
        """Yields (id, times, positions) of each person, in order of ids."""
        order = np.argsort(self.id_of_row, kind="stable")
        ends = np.searchsorted(self.id_of_row[order], self.ids, side="right")
        for person, rows in zip(self.ids, np.split(order, ends[:-1])):
            yield int(person), self.time_of_row[rows], self.position_of_row[rows]

    @cached_property
    def speed_of_row(self):
        """Speed of each row: distance since the person's frame before over the time since, of its first frame
        that of the second (0 without one). A jump through a periodic face is not a speed: nan."""
        order = np.lexsort((self.frame_of_row, self.id_of_row))
        step = np.diff(self.position_of_row[order], axis=0)
        time = np.diff(self.frame_of_row[order]) / self.fps
        same = np.diff(self.id_of_row[order]) == 0
        length = np.linalg.norm(step, axis=1)
        if self.walkable:
            size = np.ptp(np.concatenate([corners for _, corners in self.walkable]), axis=0).max()
            length[length > size / 2] = np.nan
        with np.errstate(divide="ignore", invalid="ignore"):
            between = np.where(same, length / time, np.nan)
        first = np.concatenate([[True], ~same])[:len(order)]
        speed = np.concatenate([[np.nan], between])[:len(order)]
        after = np.concatenate([between, [np.nan]])[:len(order)]
        speed[first] = after[first]
        alone = first & np.concatenate([~same, [True]])[:len(order)]
        speed[alone] = 0.0
        result = np.empty_like(speed)
        result[order] = speed
        return result


def read_trajectory(path):
    return Paths(path)


def read_wkt(text):
    """The rings of POLYGON, MULTIPOLYGON and collections of them: (is_hole, corners) each, not closed."""
    rings = []
    for opening, inside in re.findall(r"(\(\s*|,\s*)\(([^()]+)\)", text):
        corners = np.array([[float(number) for number in corner.split()[:2]] for corner in inside.split(",")])
        if len(corners) > 1 and (corners[0] == corners[-1]).all():
            corners = corners[:-1]
        rings.append((opening.startswith(","), corners))
    return rings


def levels_of_wkt(text):
    """The members of a GEOMETRYCOLLECTION, one text each; of another geometry the text itself."""
    head, _, rest = text.partition("(")
    if head.strip().upper() != "GEOMETRYCOLLECTION":
        return [text]
    members, depth, start = [], 0, 0
    for place, letter in enumerate(rest):
        depth += (letter == "(") - (letter == ")")
        if depth < 0 or (depth == 0 and letter == ","):
            members.append(rest[start:place].strip())
            start = place + 1
    return members
