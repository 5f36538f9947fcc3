"""STL scenes as walls, and closed convex solids of them as bodies.

scree has no walls of triangles. What its shapes are exactly is taken: a closed box along the axes is a `box`, and of a
surface whose flat faces all go across the whole scene each is a `plane` where it bounds the scene, else a `plate`. Any
other surface becomes a table of [obstacles] without a type, that `scree check` asks for.
"""
import itertools
import re

import numpy as np

from scree.errors import ExchangeError
from scree.exchange.mesh import read_stl
from scree.exchange.scene import Scene


def read(path, content, scale=1.0, bodies=False):
    """Walls of a scene; with `bodies` the closed convex solids are bodies, but for a box that holds the scene."""
    mesh = read_stl(path, content, scale)
    nothing, vectors = np.zeros(0), np.zeros((0, 3))
    scene = Scene(path.stem, nothing.astype(int), nothing.astype(int), vectors, nothing, nothing, vectors, vectors,
                  mesh.lower, mesh.upper, (False,) * 3, box_is_bounds=True)
    parts = mesh.parts(np.arange(len(mesh.corners)))
    for part in parts:
        box = _box(mesh, part)
        holds_others = box is not None and len(parts) > 1 and _is_whole(mesh, box)
        if bodies and not holds_others and mesh.is_closed(part) and mesh.is_convex(part):
            outward = 1 if mesh.volume(part) > 0 else -1
            scene.solids[_name(mesh, part, scene.solids)] = mesh.centre(part), mesh.corners[part][:, ::outward]
            continue
        walls = [box] if box else [_across(mesh, patch) for patch in mesh.patches(part)]
        if all(walls):
            for wall in walls:
                scene.walls[_name(mesh, part, scene.walls)] = {"material": "wall"} | wall
        else:
            name = _name(mesh, part, scene.walls)
            scene.walls[name], scene.unknown[name] = {"material": "wall"}, _extent(mesh, part)
    if not scene.solids and len(scene.unknown) == len(scene.walls):
        what = [f"{name}: {wall}" for name, wall in scene.unknown.items()]
        raise ExchangeError(f"{path}: none of its surfaces is a wall that scree has, such as boxes along the axes and "
                            "flat faces across the whole scene; closed convex solids can be bodies. There are "
                            + "; ".join(what[:5] + ["..."] * (len(what) > 5)))
    return scene


def _extent(mesh, part):
    lower, upper = (np.round(end(mesh.corners[part].reshape(-1, 3), 0), 9).tolist() for end in (np.min, np.max))
    return f"surface of {len(part)} triangles from {lower} to {upper} m"


def _box(mesh, part):
    """Table of a closed box along the axes: one that reaches from end to end of the scene holds it; of others the
    normals decide the side."""
    at = mesh.corners[part]
    lower, upper = at.min((0, 1)), at.max((0, 1))
    on_face = [(np.abs(at - end) <= mesh.tolerance).all(1).any(1) for end in (lower, upper)]
    room, volume = np.prod(upper - lower), mesh.volume(part)
    fills = room > 0 and abs(abs(volume) - room) <= mesh.tolerance * np.sum(room / (upper - lower)) * 2
    if not fills or not (on_face[0] | on_face[1]).all() or not mesh.is_closed(part):
        return None
    box = {"type": "box", "lower": lower.tolist(), "upper": upper.tolist()}
    return box | {"side": "inside" if _is_whole(mesh, box) or volume < 0 else "outside"}


def _is_whole(mesh, box):
    """Whether a box reaches from end to end of the scene."""
    return bool((np.abs([box["lower"] - mesh.lower, box["upper"] - mesh.upper]) <= mesh.tolerance).all())


def _across(mesh, patch):
    """Table of a flat patch that is the whole section of its plane with the box of the scene; None if it is not."""
    vectors = mesh.area_vectors[patch]
    largest = np.argmax(np.linalg.norm(vectors, axis=1))
    normal = vectors[largest] / np.linalg.norm(vectors[largest])
    point = mesh.corners[patch[largest], 0]
    if (np.abs((mesh.corners[patch] - point) @ normal) > mesh.tolerance).any():
        return None
    area = np.linalg.norm(vectors, axis=1).sum()
    section = _section(mesh, point, normal)
    if abs(area - section) > 1e-6 * section or np.linalg.norm(vectors.sum(0)) < (1 - 1e-6) * area:
        return None
    corners = np.array(list(itertools.product(*zip(mesh.lower, mesh.upper))))
    heights = (corners - point) @ normal
    for inward in (1.0, -1.0) if (np.abs(heights) > mesh.tolerance).any() else ():    # a flat scene has two sides
        if (inward * heights >= -mesh.tolerance).all():
            return {"type": "plane", "point": point.tolist(), "normal": (0 + inward * normal).tolist()}
    return {"type": "plate", "point": point.tolist(), "normal": (0 + normal).tolist()}


def _section(mesh, point, normal):
    """Area of a plane within the box of the scene [m2]."""
    corners = np.array(list(itertools.product(*zip(mesh.lower, mesh.upper))))
    heights = (corners - point) @ normal
    on_plane = np.abs(heights) <= mesh.tolerance
    ends = [(a, b) for a, b in itertools.combinations(range(8), 2) if bin(a ^ b).count("1") == 1]
    cuts = [corners[a] + heights[a] / (heights[a] - heights[b]) * (corners[b] - corners[a]) for a, b in ends
            if not on_plane[a] and not on_plane[b] and (heights[a] > 0) != (heights[b] > 0)]
    at = np.array([*corners[on_plane], *cuts]).reshape(-1, 3)
    if len(at) < 3:
        return 0.0
    at = at - at.mean(0)
    u = at[np.argmax(np.linalg.norm(at, axis=1))]
    u = u / np.linalg.norm(u)
    v = np.cross(normal, u)
    at = at[np.argsort(np.arctan2(at @ v, at @ u))]
    return float(np.linalg.norm(np.cross(at, np.roll(at, -1, axis=0)).sum(0)) / 2)


def _name(mesh, part, taken):
    """Name of its solid, made fit for a key of a deck; with a number if it is taken."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", mesh.names[mesh.solid[part[0]]])[:40].strip("_") or "solid"
    names = itertools.chain([name], (f"{name}_{k}" for k in itertools.count(2)))
    return next(free for free in names if free not in taken)
