"""Walls as the deck describes them, for runs that wrote none for ParaView."""
import numpy as np

from scree.results.poly_data import PolyData

N_AROUND = 64       # of round walls


def of_deck(deck, box):
    """Walls of a resolved deck as PolyData (None without any), and the names of those that cannot be drawn: walls that
    move, that stages bring or take away, or of kinds that are not known here."""
    changing = {name for stage in deck.get("stages", []) for key in ("add_obstacles", "remove_obstacles")
                for name in stage.get(key, [])}
    pieces, left_out = [], []
    for name, wall in deck.get("obstacles", {}).items():
        draw = KINDS.get(wall["type"])
        made = draw(wall, box) if draw and "motion" not in wall and name not in changing else None
        if made is None:
            left_out.append(name)
        else:
            pieces.append(made)
    if not pieces:
        return None, left_out
    points, lines, triangles, n = [], [], [], 0
    for x, cells in pieces:
        (lines if cells.shape[1] == 2 else triangles).append(cells + n)
        points.append(np.pad(x, ((0, 0), (0, 3 - x.shape[1]))))
        n += len(x)
    lines, triangles = (np.concatenate([np.empty((0, corners), int), *cells])
                        for cells, corners in ((lines, 2), (triangles, 3)))
    return PolyData(np.concatenate(points), lines, triangles), left_out


def _chain(points, closed):
    points = np.asarray(points, dtype=float)
    n = len(points)
    first = np.arange(n if closed else n - 1)
    return points, np.column_stack([first, (first + 1) % n])


def _plane(wall, box):
    """What of a plane lies in the domain: a line, or a polygon as a fan."""
    point, normal = np.array(wall["point"], float), np.array(wall["normal"], float)
    corners = np.array(np.meshgrid(*zip(box.lower, box.upper), indexing="ij")).reshape(len(point), -1).T
    height = (corners - point) @ normal
    cut = []
    for i, a in enumerate(corners):
        for j, b in enumerate(corners[:i]):
            if np.sum(a != b) == 1 and height[i] * height[j] <= 0 and height[i] != height[j]:     # an edge of the box
                cut.append(a + (b - a) * height[i] / (height[i] - height[j]))
    cut += list(corners[np.abs(height) <= 1e-12 * (1 + np.abs(height).max())])
    if not cut:
        return np.empty((0, len(point))), np.empty((0, 2), int)
    cut = np.unique(np.round(cut, 12), axis=0)
    if len(point) == 2:
        return cut, np.array([[0, len(cut) - 1]])
    across, up = _across(normal)
    from_centre = cut - cut.mean(axis=0)
    cut = cut[np.argsort(np.arctan2(from_centre @ up, from_centre @ across))]
    place = np.arange(1, len(cut) - 1)
    return cut, np.column_stack([0 * place, place, place + 1])


def _box(wall, _):
    lower, upper = np.array(wall["lower"], float), np.array(wall["upper"], float)
    if len(lower) == 2:
        return _chain([lower, (upper[0], lower[1]), upper, (lower[0], upper[1])], True)
    corners = np.array([[(lower, upper)[i >> k & 1][k] for k in range(3)] for i in range(8)])
    faces = ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5))
    return corners, np.array([triangle for a, b, c, d in faces for triangle in ((a, b, c), (a, c, d))])


def _polygon(wall, _):
    rings = [wall["points"], *(hole["points"] for hole in wall.get("holes", {}).values())]
    chains, n = [], 0
    for ring in rings:
        points, lines = _chain(ring, True)
        chains.append((points, lines + n))
        n += len(points)
    return np.concatenate([points for points, _ in chains]), np.concatenate([lines for _, lines in chains])


def _disk(wall, _):
    around = 2 * np.pi * np.arange(N_AROUND) / N_AROUND
    circle = np.column_stack([np.cos(around), np.sin(around)])
    return _chain(np.array(wall["center"], float) + wall["radius"] * circle, True)


def _sphere(wall, _):
    down = np.pi * np.arange(N_AROUND // 2 + 1) / (N_AROUND // 2)
    return _turned(np.array(wall["center"], float), np.array([0.0, 0.0, 1.0]), wall["radius"] * np.cos(down),
                   wall["radius"] * np.sin(down))


def _cylinder(wall, box):
    a, b = np.array(wall["a"], float), np.array(wall["b"], float)
    axis = (b - a) / np.linalg.norm(b - a)
    ends = np.array([0, np.linalg.norm(b - a)])
    if wall.get("endless"):
        corners = np.array(np.meshgrid(*zip(box.lower, box.upper))).reshape(3, -1).T
        ends = np.array([((corners - a) @ axis).min(), ((corners - a) @ axis).max()])
    radii = wall["radius"] * np.ones(2)
    if not wall.get("endless") and (wall.get("caps") or wall.get("side") != "inside"):
        ends, radii = ends[[0, 0, 1, 1]], np.array([0, *radii, 0])
    return _turned(a, axis, ends, radii)


def _cone(wall, _):
    a, b = np.array(wall["a"], float), np.array(wall["b"], float)
    length = np.linalg.norm(b - a)
    return _turned(a, (b - a) / length, np.array([0, length]), np.array([wall["radius_a"], wall["radius_b"]]))


def _plate(wall, box):
    hole, outer = wall.get("hole_radius", 0.0), wall.get("outer_radius")
    if not isinstance(outer, (int, float)):
        return _plane(wall, box) if not hole else None
    normal = np.array(wall["normal"], float)
    normal /= np.linalg.norm(normal)
    return _turned(np.array(wall["point"], float), normal, np.zeros(2), np.array([hole, outer]))


def _turned(origin, axis, along, radii):
    """The surface that circles of these radii at these places along an axis span."""
    across, up = _across(axis)
    around = 2 * np.pi * np.arange(N_AROUND) / N_AROUND
    circle = np.outer(np.cos(around), across) + np.outer(np.sin(around), up)
    points = origin + along[:, None, None] * axis + radii[:, None, None] * circle
    i, k = (grid.ravel() for grid in np.meshgrid(np.arange(len(along) - 1), np.arange(N_AROUND), indexing="ij"))
    a, b, up_a, up_b = (N_AROUND * (i + di) + (k + dk) % N_AROUND for di in (0, 1) for dk in (0, 1))
    return points.reshape(-1, 3), np.concatenate([np.column_stack([a, b, up_a]), np.column_stack([b, up_b, up_a])])


def _across(axis):
    """Two unit vectors across an axis and each other."""
    helper = np.eye(3)[np.argmin(np.abs(axis))]
    across = np.cross(axis, helper)
    across /= np.linalg.norm(across)
    up = np.cross(axis, across)
    return across, up / np.linalg.norm(up)


KINDS = {"plane": _plane, "box": _box, "segment": lambda wall, _: _chain([wall["a"], wall["b"]], False),
         "polyline": lambda wall, _: _chain(wall["points"], wall.get("closed", False)), "polygon": _polygon,
         "disk": _disk, "sphere": _sphere, "cylinder": _cylinder, "cone": _cone, "plate": _plate}
