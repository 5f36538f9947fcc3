"""Reads what a run of scree left in its results folder. Lengths in m, times in s: SI throughout.

    from scree_results import Results
    results = Results("results/attraction")
    results.scalars["time"], results.scalars.units["time"]      # the time series, array by array
    results.trajectory.positions(-1)                            # (n, D) of the last frame, in order of ids
    results.vtk_frames("particles")                             # [(time, path of the .pvtp), ...]
    results.summary                                             # the contents of summary.json

Needs numpy; h5py for trajectories and checkpoints only.
"""
import csv
import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from xml.etree import ElementTree

import numpy as np


class ResultsError(Exception):
    """A results folder or file that is not there or not what it should be; the message says which and why."""


class Results:
    """One results folder. Files are opened when first asked for, so a folder without an .h5 file is fine."""

    def __init__(self, folder):
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise ResultsError(f"{folder} is not a folder; give the results folder of a run, such as results/attraction")

    @cached_property
    def name(self) -> str:
        """Name of the run: the first part of its file names."""
        for pattern, ending in (("*.scalars.csv", ".scalars.csv"), ("*.h5", ".h5"),
                                ("vtk/*_particles.pvd", "_particles.pvd")):
            found = sorted(self.folder.glob(pattern))
            if found:
                return found[0].name.removesuffix(ending)
        raise ResultsError(f"{self.folder} holds neither NAME.scalars.csv nor NAME.h5 nor vtk/NAME_particles.pvd")

    @cached_property
    def scalars(self) -> "Scalars":
        return Scalars(self.folder / f"{self.name}.scalars.csv")

    @cached_property
    def trajectory(self) -> "Trajectory":
        return Trajectory(self.folder / f"{self.name}.h5")

    @cached_property
    def summary(self) -> dict:
        return json.loads(_existing(self.folder / "summary.json").read_text())

    def vtk_frames(self, kind):
        """Frames of `kind` ("particles", "contacts", "obstacles") as (time, path), or [] if none were written."""
        index = self.folder / "vtk" / f"{self.name}_{kind}.pvd"
        return read_pvd(index) if index.exists() else []

    def checkpoints(self):
        """Checkpoint files, oldest first."""
        return sorted(path for path in (self.folder / "checkpoint").glob("*") if not path.is_symlink())


class Scalars:
    """A time series NAME.scalars.csv: columns by name. The header gives each unit in brackets: time[s]."""

    def __init__(self, path):
        with open(_existing(Path(path)), newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        if not rows:
            raise ResultsError(f"{path} is empty")
        self.units = {}
        for title in rows[0]:
            name, unit = re.fullmatch(r"\s*([^\[\]]*?)\s*(?:\[(.*)\])?\s*", title).groups()
            self.units[name] = unit or "-"
        table = np.array(rows[1:], dtype=float).reshape(len(rows) - 1, len(rows[0]))
        self._columns = dict(zip(self.units, table.T))

    @property
    def names(self):
        return list(self._columns)

    def __contains__(self, name):
        return name in self._columns

    def __getitem__(self, name):
        if name not in self._columns:
            raise ResultsError(f"no column {name!r}; there are: {', '.join(self._columns)}")
        return self._columns[name]

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


def _existing(path):
    if not path.exists():
        raise ResultsError(f"{path} does not exist")
    return path
