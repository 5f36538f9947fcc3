"""What all frames of a film share: view, ends of the colours, scale of forces."""
from dataclasses import dataclass

import numpy as np

from scree.pictures.frames import padded

BAR_SHARE = 0.16                    # of the width, kept free for the colour bars
FOOT_SHARE = 0.07                   # of the height, kept free for time and scale bar
TUBE_SHARE = 0.40                   # radius of the thickest tube over the mean radius of the bodies
TOP_QUANTILE = 0.99                 # of forces and values, about which the colours end
MUCH_ABOVE = 2.0                    # the largest value over that quantile: single bodies would take all colours
NEAR_ZERO = 0.1                     # of the largest value; colours that would begin below begin at 0


@dataclass
class View:
    """Where the camera stands. Parallel projection: sizes can be compared, also in depth."""
    focus: np.ndarray
    position: np.ndarray
    towards: np.ndarray     # from the focus to the camera
    up: np.ndarray
    window_centre: tuple
    half_height: float      # of what the whole picture shows [m]

    def aim(self, camera):
        camera.SetWindowCenter(*self.window_centre)
        camera.ParallelProjectionOn()
        camera.SetFocalPoint(*self.focus)
        camera.SetPosition(*self.position)
        camera.SetViewUp(*self.up)
        camera.SetParallelScale(self.half_height)


@dataclass
class Survey:
    planar: bool
    lower: np.ndarray
    upper: np.ndarray
    colour_range: tuple
    is_beyond: bool = False     # whether single values are far beyond the range of the colours
    least_force: float = 0.0
    top_force: float = 1.0
    has_stronger: bool = False  # whether single forces are beyond that
    force_unit: str = "N"
    tube_radius: float = 0.0
    has_forces: bool = False
    box_lower: np.ndarray | None = None
    box_upper: np.ndarray | None = None
    view: View | None = None


def survey(run, frames, look):
    """Reads `frames`, numbers, once and finds what they share."""
    bounds, planar, unit = [], True, "N"
    low, high, usual = np.inf, -np.inf, -np.inf
    radii, forces = [], []
    for number in frames:
        bodies = run.bodies(number)
        if look.contacts and (contacts := run.contacts(number)) is not None and contacts[1] is not None:
            forces.append(np.abs(contacts[1]))
        if not len(bodies):
            continue
        bounds.append(bounds_of(bodies.positions, bodies.radii[:, None]))
        planar = planar and not bodies.positions[:, 2].any()
        radii.append(bodies.radii.mean())
        unit = bodies.force_unit
        if look.field != "none":
            values = bodies.values(look.field)
            low, high = min(low, values.min()), max(high, values.max())
            usual = max(usual, np.quantile(values, TOP_QUANTILE, method="higher"))
    planar = planar and (run.box is None or len(run.box.lower) == 2)
    found = Survey(planar, np.zeros(3), np.zeros(3), (0.0, 1.0), force_unit=unit)
    if run.box is not None:
        found.box_lower, found.box_upper = padded(run.box.lower), padded(run.box.upper)
    if look.fit == "domain":
        if run.box is not None:
            bounds = [(found.box_lower, found.box_upper)]
        else:
            walls = [run.walls(number) for number in (frames[0], frames[-1])]
            bounds += [bounds_of(wall.points) for wall in walls if wall is not None and len(wall.points)]
    found.lower, found.upper = union(bounds)
    found.is_beyond = not look.range and 0 <= low < usual < high / MUCH_ABOVE
    found.colour_range = ends_of_colours(low, usual if found.is_beyond else high, look.range)
    extent = float(np.linalg.norm(found.upper - found.lower))
    found.tube_radius = TUBE_SHARE * np.mean(radii) if radii else 0.004 * extent
    set_forces(found, forces, look.weakest)
    found.view = view_of(found, look)
    return found


def ends_of_colours(low, high, wanted):
    if wanted:
        return tuple(wanted)
    if low < high:
        return (0.0 if 0 < low < NEAR_ZERO * high else low), high
    return (low, low + 1.0) if np.isfinite(low) else (0.0, 1.0)


def set_forces(found, forces, weakest):
    """Colours and thickness go from 0 to near the largest forces; single peaks have the last colour."""
    forces = np.concatenate([some[some > 0] for some in forces]) if forces else np.empty(0)
    if len(forces):
        found.has_forces = True
        found.least_force = weakest * forces.mean()
        found.top_force = float(np.quantile(forces, TOP_QUANTILE, method="higher"))
        found.has_stronger = forces.max() > found.top_force


def strong_contacts(contacts, least):
    """Ends and forces of the contacts to be drawn, the strongest last. Without forces all are, as thin tubes."""
    if contacts is None:
        return np.empty((0, 2, 3)), np.empty(0)
    ends, force = contacts
    if force is None:
        return ends, np.zeros(len(ends))
    force = np.abs(force)
    kept = np.flatnonzero((force >= least) & (force > 0))
    kept = kept[np.argsort(force[kept])]
    return ends[kept], force[kept]


def bounds_of(points, reach=0.0):
    return (points - reach).min(axis=0), (points + reach).max(axis=0)


def union(boxes):
    if not boxes:
        return np.full(3, -1.0), np.full(3, 1.0)
    return np.min([lower for lower, _ in boxes], axis=0), np.max([upper for _, upper in boxes], axis=0)


def view_of(found, look):
    """A view that puts everything into the part of the picture that bars and time leave free."""
    share = 1 - (BAR_SHARE if look.field != "none" or found.has_forces else 0)
    centre = (found.lower + found.upper) / 2
    half = np.maximum((found.upper - found.lower) / 2, 1e-12 * (1 + np.abs(centre).max()))
    if found.planar:
        towards, up = np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0])
    else:
        azimuth, elevation = np.radians(look.view)
        towards = np.array([np.cos(elevation) * np.sin(azimuth), -np.cos(elevation) * np.cos(azimuth),
                            np.sin(elevation)])
        up = np.array([0.0, 0.0, 1.0]) if abs(towards[2]) < 0.999 else np.array([0.0, 1.0, 0.0])
    right = np.cross(up, towards)
    right /= np.linalg.norm(right)
    above = np.cross(towards, right)
    # Half extents of the box as seen: a corner is centre +- half in every axis.
    width, height = np.abs(right) @ half, np.abs(above) @ half
    aspect = look.size[0] / look.size[1]
    return View(centre, centre + 4 * np.linalg.norm(half) * towards, towards, up, (1 - share, -FOOT_SHARE),
                1.04 * max(height / (1 - FOOT_SHARE), width / (aspect * share)))
