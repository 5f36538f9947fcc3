"""Continuum fields of grains from frames of bodies and contacts: the equations of [output.continuum] (docs/method.md,
"Continuum fields"; Goldhirsch, Granular Matter 12 (2010) 239; walls: Weinhart et al., Granular Matter 14 (2012) 289).

    bodies, contacts = frame_of(Results("results/chute"), -1)
    fields = coarse_grain(bodies, contacts, Gauss(4e-3), points, periods=[0.1, 0.05, None])
    fields = coarse_grain(bodies, contacts, Gauss(4e-3), points, axis=2, area=0.1 * 0.05)

SI units, compression positive, in space only. O(points x (bodies + contacts)) time.
"""
from dataclasses import dataclass

import numpy as np
from scipy.special import erf

from scree.errors import ResultsError
from scree.results.poly_data import read_contacts, read_poly_data


@dataclass
class Gauss:
    """W(r) = (2 pi w^2)^(-n/2) exp(-r^2 / (2 w^2)) in n dimensions, 0 beyond `cut` widths."""
    width: float
    cut: float = 6.0

    @property
    def reach(self):
        return self.cut * self.width

    def weight(self, r):
        """Of vectors (..., n)."""
        squares = (r * r).sum(axis=-1)
        peak = (2 * np.pi * self.width**2) ** (-r.shape[-1] / 2)
        return np.where(squares > self.reach**2, 0, peak * np.exp(-squares / (2 * self.width**2)))

    def line(self, r, branch):
        """Mean of W over the segment from r to r - branch."""
        length = np.linalg.norm(branch, axis=-1)
        is_point = length < 1e-7 * self.width
        safe = np.where(is_point, 1, length)
        along = (r * branch).sum(axis=-1) / safe
        across = np.maximum((r * r).sum(axis=-1) - along**2, 0)
        n = r.shape[-1]
        scale = np.sqrt(0.5) / self.width
        mean = ((2 * np.pi * self.width**2) ** (-(n - 1) / 2) * np.exp(-across / (2 * self.width**2))
                * 0.5 * (erf(along * scale) - erf((along - length) * scale)) / safe)
        near = (np.abs(along - 0.5 * length) <= self.reach + 0.5 * length) & (across <= self.reach**2)
        return np.where(is_point, self.weight(r - 0.5 * branch), np.where(near, mean, 0))


def frame_of(results, frame):
    """Bodies and contacts of a frame of [output.vtk] as coarse_grain() takes them."""
    frames, of_contacts = results.vtk_frames("particles"), results.vtk_frames("contacts")
    if not frames or not of_contacts:
        raise ResultsError(f"{results.folder} has no frames of bodies and contacts: the deck needs [output.vtk]")
    data = read_poly_data(frames[frame][1])
    if "mass" not in data.point_fields:
        raise ResultsError(f"{results.folder}: bodies have no mass; fields need a scheme with inertia")
    bodies = {"position": data.points, **{name: values.astype(float) for name, values in data.point_fields.items()}}
    contacts = read_contacts(of_contacts[frame][1])
    ends = contacts["ends"]
    branch = ends[:, 1] - ends[:, 0]
    length = np.maximum(np.linalg.norm(branch, axis=1), 1e-300)[:, None]
    force = contacts.get("normal_force", np.empty(0))[:, None] * branch / length + contacts.get("tangential_force", np.zeros_like(branch))
    return bodies, {"start": ends[:, 0], "branch": branch, "force": force,
                    "with_wall": contacts.get("id_b", np.empty(0, int)) < 0}


def _images(periods, reach):
    """Shifts by whole periods that may bring something within reach."""
    turns = [np.arange(-n, n + 1) * (p or 0) for p, n in ((p, 0 if p is None else int(np.ceil(reach / p)) + 1) for p in periods)]
    return np.stack(np.meshgrid(*turns, indexing="ij"), axis=-1).reshape(-1, len(periods))


def coarse_grain(bodies, contacts, kernel, points, periods=(None, None, None), axis=None, area=None):
    """Fields at points, as arrays by name.

    bodies: position, velocity (n, 3), mass, radius (n). contacts: start (centre of the first body), branch (to the
    centre of the other, or the foot on a wall), force (on the other, or the wall), with_wall. points: (k, 3), or (k,)
    with `axis`: then fields along this axis, averaged over the area [m2] across it. periods: of x, y, z, None: none.
    """
    columns = [0, 1, 2] if axis is None else [axis]
    share = 1.0 if axis is None else 1.0 / area
    points = np.asarray(points, float).reshape(-1, len(columns))
    shifts = _images([periods[k] for k in columns], kernel.reach)
    x, start, branch = bodies["position"][:, columns], contacts["start"][:, columns], contacts["branch"][:, columns]
    foot = (start + branch)[contacts["with_wall"]]
    on_body = -contacts["force"][contacts["with_wall"]]
    mass, velocity = bodies["mass"], bodies["velocity"]
    volume = 4 / 3 * np.pi * bodies["radius"] ** 3
    loaded = (contacts["force"] != 0).any(axis=1)
    start, branch = start[loaded], branch[loaded]
    virial = np.einsum("ci,cj->cij", contacts["force"], contacts["branch"])[loaded]
    ends = np.concatenate([start, (start + branch)[~contacts["with_wall"][loaded]]])
    normal = contacts["branch"][loaded] / np.linalg.norm(contacts["branch"][loaded], axis=1)[:, None]
    directions = np.einsum("ci,cj->cij", normal, normal)
    names = ("density", "solid_fraction", "coordination", "velocity", "wall_force", "kinetic_stress", "contact_stress",
             "fabric")
    fields = {name: [] for name in names}
    for point in points:
        w = share * sum(kernel.weight(point + s - x) for s in shifts)
        density = (mass * w).sum()
        mean = (mass * w) @ velocity / density if density > 0 else np.full(3, np.nan)
        around = velocity - mean if density > 0 else np.zeros_like(velocity)
        segments = share * sum(kernel.line(point + s - start, branch) for s in shifts)
        at_feet = share * sum(kernel.weight(point + s - foot) for s in shifts)
        at_ends = share * sum(kernel.weight(point + s - ends) for s in shifts).sum()
        fields["density"].append(density)
        fields["solid_fraction"].append((volume * w).sum())
        fields["coordination"].append(at_ends / w.sum() if w.sum() > 0 else np.nan)
        fields["velocity"].append(mean)
        fields["wall_force"].append(at_feet @ on_body)
        fields["kinetic_stress"].append(np.einsum("n,ni,nj->ij", mass * w, around, around))
        fields["contact_stress"].append(np.einsum("c,cij->ij", segments, virial))
        total = segments.sum()
        fields["fabric"].append(np.einsum("c,cij->ij", segments, directions) / total if total > 0 else np.full((3, 3), np.nan))
    arrays = {name: np.array(values) for name, values in fields.items()}
    trace = np.einsum("kii->k", arrays["kinetic_stress"])
    arrays["pressure"] = (trace + np.einsum("kii->k", arrays["contact_stress"])) / 3
    with np.errstate(invalid="ignore", divide="ignore"):
        arrays["temperature"] = trace / (3 * arrays["density"])
    return arrays
