"""Records of bodies in HDF5: NAME.h5 in the H5MD layout, and checkpoints."""
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from scree.errors import ResultsError
from scree.results.files import existing
from scree.results.old_names import BODIES, NUMBERS, names_of_now


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

        self.path = existing(Path(path))
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

    @cached_property
    def _stored(self):
        """The names of everything recorded per body, each with its name in the file."""
        return names_of_now([name for name in self._group if name != "box"], BODIES, self.path)

    @property
    def fields(self):
        """Names of everything recorded per body."""
        return list(self._stored)

    def unit(self, name):
        item = self._group[self._stored.get(name, name)]
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

    def series(self, name):
        """Values of one field in all frames, (frames, bodies, ...), of a run whose bodies stay from start to end."""
        if name not in self.fields:
            raise ResultsError(f"{self.path} has no field {name!r}; there are: {', '.join(self.fields)}")
        item = self._group[self._stored[name]]
        return item["value"][()] if "value" in item else np.broadcast_to(item[()], (self.n_frames, *item.shape))

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
        item = self._group[self._stored[name]]
        return item["value"][frame] if "value" in item else item[()]    # no "value": constant in time

    def _present(self, frame):
        if "id" not in self._group:
            return slice(None)
        return self._rows("id", frame) >= 0


def read_checkpoint(path):
    """Every dataset and attribute of a checkpoint: dicts of arrays and of attribute values by full name; `numbers@NAME` is a number."""
    import h5py

    arrays, attributes = {}, {}

    def collect(name, item):
        if isinstance(item, h5py.Dataset):
            arrays[name] = item[()]
        attributes.update({f"{name}@{key}": value for key, value in item.attrs.items()})

    with h5py.File(existing(Path(path)), "r") as file:
        attributes.update({f"@{key}": value for key, value in file.attrs.items()})
        file.visititems(collect)
    for kind in ("integers", "reals"):
        names = arrays.pop(f"numbers/{kind}_names", b"").decode().split("\n")[:-1]
        attributes.update({f"numbers@{name}": value for name, value in zip(names, arrays.pop(f"numbers/{kind}", []))})
    return _with_new_names(arrays, "arrays/", BODIES, path), _with_new_names(attributes, "numbers@", NUMBERS, path)


def _with_new_names(found, start, renames, path):
    """What has a name with this start, by its name of now; all else as it is."""
    names = [name.removeprefix(start) for name in found if name.startswith(start)]
    new = {start + now: found[start + name] for now, name in names_of_now(names, renames, path).items()}
    return {name: value for name, value in found.items() if not name.startswith(start)} | new
