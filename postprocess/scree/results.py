"""The results folder of a run. Lengths in m, times in s: SI throughout.

    from scree.results import Results
    results = Results("results/attraction")
    results.scalars["time"], results.scalars.units["time"]      # the time series, array by array
    results.trajectory.positions(-1)                            # (n, D) of the last frame, in order of ids
    results.bodies(-1)["velocity"], results.contacts(-1)["force"]   # fields of a frame, arrays by name
    results.vtk_frames("particles")                             # [(time, path of the .pvtp), ...]
    results.paths.frame(0), results.agents["left"]           # of crowds: who was where, who left when and how
    read_fields(results.vtk_frames("fields")[-1][1])["density"] # of crowds: a map, row by row
    results.summary                                             # the contents of summary.json

Needs numpy; h5py for trajectories and checkpoints only, VTK (Debian: python3-vtk9) for maps and contacts only.
"""
import csv
import json
import re
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from xml.etree import ElementTree

import numpy as np


AGENTS_TEXT = ("population", "kind", "exit", "level")    # columns of NAME.agents.csv that are not numbers


# Columns of the scalars that say when, and how the method fared; all others are measured.
AXES = ("time", "step")
OF_THE_METHOD = ("dt", "n_bodies", "contacts", "added", "without_rebound", "residual", "solved", "penetration_rate", "cone_violation",
                 "complementarity", "dissipation_error", "sweeps", "iterations", "newton_steps", "krylov_iterations", "overlap",
                 "corrected", "correction_energy", "halvings")


class ResultsError(Exception):
    """A results folder or file that is missing or has another format; the message says which and why."""


class Results:
    """One results folder. Files are opened when first asked for, so a folder without an .h5 file is fine."""

    def __init__(self, folder):
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise ResultsError(f"{folder} is not a folder; give the results folder of a run, such as results/attraction")

    @cached_property
    def name(self) -> str:
        """Name of the run: the first part of its file names."""
        for pattern, ending in (("*.scalars.csv", ".scalars.csv"), ("*.trajectory.h5", ".trajectory.h5"), ("*.h5", ".h5"),
                                ("*.agents.csv", ".agents.csv"), ("*.evacuation.csv", ".evacuation.csv"),
                                ("*.certificate.csv", ".certificate.csv"),
                                ("vtk/*_particles.pvd", "_particles.pvd")):
            found = sorted(self.folder.glob(pattern))
            if found:
                return found[0].name.removesuffix(ending)
        raise ResultsError(f"{self.folder} holds no results of a run: none of NAME.scalars.csv, NAME.h5, "
                           "NAME.agents.csv, NAME.certificate.csv, vtk/NAME_particles.pvd is there")

    @cached_property
    def scalars(self) -> "Scalars":
        return Scalars(self.folder / f"{self.name}.scalars.csv")

    @cached_property
    def certificate(self) -> "Scalars":
        """Residuals and overlap of the steps that were written, from NAME.certificate.csv; the first row is the start."""
        return Scalars(self.folder / f"{self.name}.certificate.csv")

    @cached_property
    def trajectory(self) -> "Trajectory":
        return Trajectory(self.folder / f"{self.name}.h5")

    @cached_property
    def paths(self) -> "Paths":
        """Of a crowd: who was where in each frame of NAME.trajectory.h5."""
        return read_trajectory(self.folder / f"{self.name}.trajectory.h5")

    @cached_property
    def agents(self) -> "Agents":
        """Of a crowd: everybody who left, from NAME.agents.csv."""
        return read_agents(self.folder / f"{self.name}.agents.csv")

    @cached_property
    def evacuation(self) -> "Scalars":
        """Of a crowd: how many are inside, came and left by each exit, from NAME.evacuation.csv; a row for each time
        at which a number changed."""
        return Scalars(self.folder / f"{self.name}.evacuation.csv")

    @cached_property
    def deck(self) -> dict:
        """The deck with all defaults filled in, from NAME.resolved.toml; {} where there is none."""
        path = self.folder / f"{self.name}.resolved.toml"
        return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def measure(self, kind) -> str:
        """Name of the one measure of this type in the deck; ResultsError if there is none, or several."""
        names = [name for name, table in self.deck.get("measures", {}).items() if table["type"] == kind]
        if len(names) != 1:
            raise ResultsError(f"{self.folder}: {len(names)} measures of the type {kind}, one is needed")
        return names[0]

    @cached_property
    def summary(self) -> dict:
        return json.loads(_existing(self.folder / "summary.json").read_text())

    def bodies(self, frame=-1) -> dict:
        """All fields of a frame of NAME.h5 as arrays by name, in order of ids; units: trajectory.unit(name)."""
        trajectory = self.trajectory
        return {name: trajectory.field(name, frame) for name in trajectory.fields}

    def contacts(self, frame=-1) -> dict:
        """The contacts of a frame of vtk/NAME_contacts.pvd as arrays by name: "ends" (n, 2, 3) [m], from the centre of one
        body to that of the other or to the wall, and what the run wrote for each (gap [m], force [N], ...)."""
        from scree.poly_data import read_contacts

        frames = self.vtk_frames("contacts")
        if not frames:
            raise ResultsError(f"{self.folder} has no contacts: the deck needs [output.vtk]")
        return read_contacts(frames[frame][1])

    def __repr__(self):
        def line(name, what):
            return f"  {name:12} {what}\n"

        text = f"<Results {self.folder}"
        path = self.folder / "summary.json"
        if path.exists():
            summary = self.summary
            text += f": {summary.get('status')} at t = {summary.get('time_s', float('nan')):.6g} s, {summary.get('bodies')} bodies"
        text += "\n"
        if (self.folder / f"{self.name}.scalars.csv").exists():
            measured = [name for name in self.scalars.names if name not in (*AXES, *OF_THE_METHOD)]
            text += line("scalars", ", ".join(measured[:12]) + (", ..." if len(measured) > 12 else ""))
        if (self.folder / f"{self.name}.h5").exists():
            text += line("trajectory", f"{self.trajectory.n_frames} frames of {', '.join(self.trajectory.fields)}")
        if (self.folder / f"{self.name}.agents.csv").exists():
            text += line("agents", f"{len(self.agents)} people")
        return text.rstrip("\n") + ">"

    def vtk_frames(self, kind):
        """Frames of `kind` ("particles", "contacts", "obstacles", "fields", "continuum") as (time, path), or [] if
        none were written."""
        index = self.folder / "vtk" / f"{self.name}_{kind}.pvd"
        return read_pvd(index) if index.exists() else []

    def checkpoints(self):
        """Checkpoint files, oldest first."""
        return sorted(path for path in (self.folder / "checkpoint").glob("*") if not path.is_symlink())


class Scalars:
    """A time series NAME.scalars.csv: columns by name, as a dict of arrays. The header gives each unit in brackets: time[s]."""

    def __init__(self, path):
        rows = _rows_of(path)
        self.units = {}
        for title in rows[0]:
            name, unit = _name_and_unit(title)
            self.units[name] = unit
        table = np.array(rows[1:], dtype=float).reshape(len(rows) - 1, len(rows[0]))
        self._columns = dict(zip(self.units, table.T))

    @property
    def names(self):
        return list(self._columns)

    def __iter__(self):
        return iter(self._columns)

    def __len__(self):
        return len(self._columns)

    def __contains__(self, name):
        return name in self._columns

    def __getitem__(self, name):
        if name not in self._columns:
            raise ResultsError(f"no column {name!r}; there are: {', '.join(self._columns)}")
        return self._columns[name]

    def frame(self):
        """The table as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self._columns)

    def label(self, name):
        """Name and unit, for an axis."""
        return name if self.units[name] == "-" else f"{name} [{self.units[name]}]"


@dataclass(frozen=True)
class DomainBox:
    """The domain: corners in m and which axes are periodic."""
    lower: np.ndarray
    upper: np.ndarray
    periodic: tuple


class Trajectory:
    """A record NAME.h5 in the H5MD layout. Frames count from 0; negative ones from the end. Where the number of
    bodies varies, the file fills rows with id -1: they are left out here."""

    def __init__(self, path, group="all"):
        import h5py

        self.path = _existing(Path(path))
        self._file = h5py.File(self.path, "r")
        if "h5md" not in self._file or f"particles/{group}/position" not in self._file:
            raise ResultsError(f"{path} is no H5MD file with /particles/{group}/position")
        self._group = self._file[f"particles/{group}"]

    def close(self):
        self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def n_frames(self):
        return self._group["position/value"].shape[0]

    @cached_property
    def times(self):
        return self._group["position/time"][()]

    @cached_property
    def steps(self):
        return self._group["position/step"][()]

    @property
    def fields(self):
        """Names of everything recorded per body."""
        return [name for name in self._group if name != "box"]

    def unit(self, name):
        item = self._group[name]
        for holder in (item["value"] if "value" in item else item, item):
            if "unit" in holder.attrs:
                unit = holder.attrs["unit"]
                return unit.decode() if isinstance(unit, bytes) else str(unit)
        return "-"

    def field(self, name, frame):
        """Values of one field in one frame, a row per body."""
        if name not in self.fields:
            raise ResultsError(f"{self.path} has no field {name!r}; there are: {', '.join(self.fields)}")
        return self._rows(name, frame)[self._present(frame)]

    def positions(self, frame):
        return self.field("position", frame)

    def velocities(self, frame):
        return self.field("velocity", frame)

    def ids(self, frame):
        return self.field("id", frame)

    def radius(self, frame):
        return self.field("radius", frame)

    @cached_property
    def box(self) -> DomainBox:
        box = self._group["box"]
        edges = box["edges"]
        edges = np.asarray(edges["value"][-1] if "value" in edges else edges[()], dtype=float)
        if edges.ndim == 2:
            edges = np.diag(edges)
        lower = np.asarray(box["lower"][()] if "lower" in box else box.attrs.get("lower", np.zeros_like(edges)))
        periodic = tuple((word.decode() if isinstance(word, bytes) else str(word)) == "periodic"
                         for word in box.attrs["boundary"])
        return DomainBox(lower, lower + edges, periodic)

    def _rows(self, name, frame):
        item = self._group[name]
        return item["value"][frame] if "value" in item else item[()]    # no "value": constant in time

    def _present(self, frame):
        if "id" not in self._group:
            return slice(None)
        return self._rows("id", frame) >= 0


class Paths:
    """Who was where, frame by frame, from a file in the layout of the pedestrian dynamics data archive: dataset
    /trajectory with records frame, id, x, y, z in m and attribute fps; root attribute wkt_geometry. In a building
    of several levels also a dataset /level, row by row, and the geometry is a collection of one per level."""

    def __init__(self, path):
        import h5py

        with h5py.File(_existing(Path(path)), "r") as file:
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


class Agents:
    """Everybody who left, in order of time: columns by name; `units` as in Scalars. Text columns are lists. Loops go
    over the names; len() is the number of people."""

    def __init__(self, path):
        rows = _rows_of(path)
        self.units, self._columns = {}, {}
        for k, title in enumerate(rows[0]):
            name, unit = _name_and_unit(title)
            values = [row[k] for row in rows[1:]]
            self.units[name] = unit
            self._columns[name] = values if name in AGENTS_TEXT else np.array(values, dtype=float)
        self.n = len(rows) - 1

    @property
    def names(self):
        return list(self._columns)

    def __iter__(self):
        return iter(self._columns)

    def __contains__(self, name):
        return name in self._columns

    def __len__(self):
        return self.n

    def __getitem__(self, name):
        if name not in self._columns:
            raise ResultsError(f"no column {name!r}; there are: {', '.join(self._columns)}")
        return self._columns[name]

    def exits(self):
        """Names of the exits in order, each with the times at which people left by it."""
        names = np.array(self["exit"], dtype=object)
        return {name: np.sort(self["left"][names == name]) for name in sorted(set(self["exit"]))}


class Fields:
    """A map on a grid: arrays of nx * ny cells, row by row from the bottom, in space of layers of them."""

    def __init__(self, path):
        from vtkmodules.util.numpy_support import vtk_to_numpy
        from vtkmodules.vtkIOXML import vtkXMLImageDataReader, vtkXMLPImageDataReader

        path = _existing(Path(path))
        reader = vtkXMLPImageDataReader() if path.suffix == ".pvti" else vtkXMLImageDataReader()
        reader.SetFileName(str(path))
        reader.Update()
        data = reader.GetOutput()
        # A map in the plane has no extent along z.
        n_axes = 3 if data.GetExtent()[5] > data.GetExtent()[4] else 2
        n_cells = [max(n - 1, 1) for n in data.GetDimensions()[:n_axes]]
        if data.GetNumberOfCells() != np.prod(n_cells):
            raise ResultsError(f"{path} is no map: {data.GetDimensions()} points")
        self.cell = np.array(data.GetSpacing()[:n_axes])
        lower = np.array(data.GetOrigin()[:n_axes]) + self.cell * data.GetExtent()[0:2 * n_axes:2]
        self.lower, self.upper = lower, lower + self.cell * n_cells
        arrays = data.GetCellData()
        self._arrays = {}
        for k in range(arrays.GetNumberOfArrays()):
            values = vtk_to_numpy(arrays.GetArray(k)).astype(float)
            self._arrays[arrays.GetArrayName(k)] = values.reshape(*reversed(n_cells), *values.shape[1:])
        self._path = path

    @property
    def names(self):
        return list(self._arrays)

    def middles(self, axis):
        """Middles of the cells along an axis, 0 for x [m]."""
        n = round((self.upper[axis] - self.lower[axis]) / self.cell[axis])
        return self.lower[axis] + (np.arange(n) + 0.5) * self.cell[axis]

    def __iter__(self):
        return iter(self._arrays)

    def __contains__(self, name):
        return name in self._arrays

    def __getitem__(self, name):
        """Values (ny, nx), in space (nz, ny, nx), then components of vectors (3) and tensors (9: xx, xy, ...)."""
        if name not in self._arrays:
            raise ResultsError(f"{self._path} has no field {name!r}; there are: {', '.join(self._arrays)}")
        return self._arrays[name]


def read_trajectory(path):
    return Paths(path)


def read_agents(path):
    return Agents(path)


def read_fields(path):
    return Fields(path)


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


def read_pvd(path):
    """The frames of a ParaView index as (time, path), in order of time."""
    path = _existing(Path(path))
    try:
        entries = ElementTree.parse(path).getroot().iter("DataSet")
        return sorted((float(entry.get("timestep", "0")), path.parent / entry.get("file")) for entry in entries)
    except (ElementTree.ParseError, TypeError, ValueError) as error:
        raise ResultsError(f"{path} is not a ParaView index (.pvd): {error}") from error


def read_checkpoint(path):
    """Every dataset and attribute of a checkpoint: dicts of arrays and of attribute values by full name."""
    import h5py

    arrays, attributes = {}, {}

    def collect(name, item):
        if isinstance(item, h5py.Dataset):
            arrays[name] = item[()]
        attributes.update({f"{name}@{key}": value for key, value in item.attrs.items()})

    with h5py.File(_existing(Path(path)), "r") as file:
        attributes.update({f"@{key}": value for key, value in file.attrs.items()})
        file.visititems(collect)
    return arrays, attributes


def _rows_of(path):
    """The rows of a table, the titles first. A run that was killed may have left half a row at the end: it is left out."""
    with open(_existing(Path(path)), newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if row]
    if not rows:
        raise ResultsError(f"{path} is empty")
    if len(rows[-1]) < len(rows[0]):
        rows.pop()
    if wrong := [number for number, row in enumerate(rows) if len(row) != len(rows[0])]:
        raise ResultsError(f"{path}: row {wrong[0]} has {len(rows[wrong[0]])} columns, the titles are {len(rows[0])}")
    return rows


def _name_and_unit(title):
    name, unit = re.fullmatch(r"\s*([^\[\]]*?)\s*(?:\[(.*)\])?\s*", title).groups()
    return name, unit or "-"


def _existing(path):
    if not path.exists():
        raise ResultsError(f"{path} does not exist")
    return path
