"""What there is to draw, frame by frame: from the ParaView files of a run, or from its record NAME.h5."""
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from scree.errors import RenderError
from scree.pictures import shapes, walls
from scree.results.poly_data import PolyData, read_contacts, read_poly_data
from scree.results import DomainBox, Results, read_pvd

DERIVED_FIELDS = {"speed": "velocity"}      # the length of a vector field, under a name of its own
# Of the fields that scree writes; ParaView files do not say them.
UNITS = {"velocity": "m/s", "radius": "m", "mass": "kg", "angular_velocity": "rad/s"}


@dataclass
class Bodies:
    """Centres (n, 3) [m], radii (n) [m], and all fields of a frame."""
    positions: np.ndarray
    fields: dict

    def __len__(self):
        return len(self.positions)

    @property
    def force_unit(self):
        """Of contacts: bodies without mass are pushed by velocities."""
        return "N" if "mass" in self.fields else "m/s"

    @property
    def radii(self):
        if "radius" not in self.fields:
            raise RenderError("the bodies have no field radius; add it to the fields of [output.vtk]")
        return self.fields["radius"].astype(float)

    def values(self, name):
        """A number per body: a field, the length of a vector field, or speed = |velocity|."""
        stored = DERIVED_FIELDS.get(name, name)
        if stored not in self.fields:
            valid = ["none", *(derived for derived, of in DERIVED_FIELDS.items() if of in self.fields), *self.fields]
            raise RenderError(f"there is no field {name!r}; valid: {', '.join(valid)}")
        values = self.fields[stored].astype(float)
        return np.linalg.norm(values, axis=1) if values.ndim == 2 else values


@dataclass
class Run:
    """Frames of a run by number: their times, bodies, surfaces of bodies with shapes, contacts, walls. `missing`: what
    is not drawn, and why, one sentence each; it is complete once a frame was read."""
    name: str
    folder: Path
    times: list
    box: DomainBox | None
    units: dict
    results: Results | None = None
    missing: list = field(default_factory=list)

    def unit(self, name):
        stored = DERIVED_FIELDS.get(name, name)
        return self.units.get(stored) or UNITS.get(stored, "-")

    def surfaces(self, frame, bodies):
        """Surfaces of bodies with shapes as PolyData whose triangles have the place of their "body"; None if all are
        spheres."""
        numbers = bodies.fields.get("shape")
        if numbers is None or not numbers.any():
            return None
        if self._shapes is None:
            self._tell("bodies are drawn as spheres around them: "
                       "their shapes are in no checkpoint and no vtk/*_surfaces.pvd")
            return None
        return shapes.placed(self._shapes, bodies)

    def walls(self, frame):
        """Walls as PolyData, or None."""
        return self._deck_walls

    def contacts(self, frame):
        """Ends (n, 2, 3) of contacts and their forces (n), which may be None; or None."""
        self._tell("contacts are not drawn: they are in vtk/*_contacts.pvd only, which [output.vtk] writes")
        return None

    def _tell(self, sentence):
        if sentence not in self.missing:
            self.missing.append(sentence)

    @cached_property
    def _shapes(self):
        return shapes.of_run(self.results) if self.results else None

    @cached_property
    def _deck_walls(self):
        if self.results is None or self.box is None:
            return None
        mesh, left_out = walls.of_deck(self.results.deck, self.box)
        if left_out:
            self._tell("walls that move, come or go are in vtk/*_obstacles.pvd only; not drawn: " + ", ".join(left_out))
        return mesh


class RecordRun(Run):
    """From NAME.h5."""

    def bodies(self, frame):
        record = self.results.trajectory
        fields = {name: record.field(name, frame) for name in record.fields if name not in ("position", "image")}
        return Bodies(padded(record.positions(frame)), fields)


@dataclass
class VtkRun(Run):
    """From vtk/NAME_particles.pvd and the series beside it."""
    series: dict = field(default_factory=dict)

    def bodies(self, frame):
        data = read_poly_data(self.series["particles"][frame][1])
        return Bodies(data.points, data.point_fields)

    def surfaces(self, frame, bodies):
        path = dict(self.series["surfaces"]).get(self.times[frame])
        if path is None:
            return super().surfaces(frame, bodies)
        data = read_poly_data(path)
        ids = bodies.fields["id"]
        order = np.argsort(ids)
        body = order[np.searchsorted(ids[order], data.cell_fields["id"])] if len(data.triangles) else np.empty(0, int)
        return PolyData(data.points, triangles=data.triangles, cell_fields={"body": body})

    def walls(self, frame):
        path = self._latest("obstacles", frame)
        if path is None:
            return super().walls(frame)
        return read_poly_data(path)

    def contacts(self, frame):
        path = self._latest("contacts", frame)
        if path is None:
            return super().contacts(frame)
        found = read_contacts(path)
        return found["ends"], found.get("normal_force")

    def _latest(self, kind, frame):
        """The last file of a series that is not after a frame (walls that never move are written once)."""
        paths = [path for when, path in self.series[kind] if when <= self.times[frame] * (1 + 1e-12)]
        return paths[-1] if paths else None


def open_run(target):
    """The run of Results, of a results folder or of one NAME_particles.pvd."""
    kinds = ("particles", "contacts", "obstacles", "surfaces")
    if not isinstance(target, Results) and not Path(target).is_dir():
        target = Path(target)
        name = target.stem.removesuffix("_particles")
        series = {"particles": read_pvd(target)}
        for kind in kinds[1:]:
            sibling = target.with_name(f"{name}_{kind}.pvd")
            series[kind] = read_pvd(sibling) if sibling.exists() else []
        results, folder, box, units = None, target.parent, None, {}
    else:
        results = target if isinstance(target, Results) else Results(target)
        name, folder, box, units = results.name, results.folder, None, {}
        series = {kind: results.vtk_frames(kind) for kind in kinds}
        if (folder / f"{name}.h5").exists():
            record = results.trajectory
            box = record.box
            units = {field: record.unit(field) for field in record.fields}
            if not series["particles"]:
                return RecordRun(name, folder, list(record.times), box, units, results)
    if not series["particles"]:
        hint = "; scree animate draws its people" if (folder / f"{name}.trajectory.h5").exists() else ""
        raise RenderError(f"{target} holds no frame of bodies, which [output.vtk] and [output.h5md] write{hint}")
    return VtkRun(name, folder, [time for time, _ in series["particles"]], box, units, results, series=series)


def padded(points):
    """Points of the plane or of space, or one of them, with three coordinates."""
    points = np.asarray(points, dtype=float)
    return np.concatenate([points, np.zeros((*points.shape[:-1], 3 - points.shape[-1]))], axis=-1)
