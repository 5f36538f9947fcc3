"""Surfaces of bodies with shapes, made from the shapes that a checkpoint keeps and the orientations of a frame."""
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from scree.results.poly_data import PolyData
from scree.results import read_checkpoint

N_AROUND, N_BANDS = 24, 12          # of round corners


@dataclass
class Shape:
    """A convex body: all points within `rounding` of its core, in lengths of its circumscribed radius and in the frame
    in which the deck describes it. `vertices` (n, D), in the plane counter-clockwise; `faces`: lists of vertices,
    counter-clockwise from outside (3D)."""
    vertices: np.ndarray
    faces: list
    rounding: float

    @cached_property
    def surface(self):
        """Points (n, D) and triangles (m, 3)."""
        return self._ring() if self.vertices.shape[1] == 2 else self._hull()

    def _ring(self):
        n = len(self.vertices)
        angles = np.linspace(0, 2 * np.pi, N_AROUND, endpoint=False)
        if n > 1:
            side = np.roll(self.vertices, -1, axis=0) - self.vertices       # counter-clockwise
            normal = np.arctan2(-side[:, 0], side[:, 1])
            angles = np.sort(np.concatenate([angles, normal - 1e-9, normal + 1e-9]) % (2 * np.pi))
        directions = np.column_stack([np.cos(angles), np.sin(angles)])
        points = self.vertices[np.argmax(directions @ self.vertices.T, axis=1)] + self.rounding * directions
        places = np.arange(1, len(points) - 1)
        return points, np.column_stack([0 * places, places, places + 1])

    def _hull(self):
        if len(self.vertices) <= 2 or self.rounding > 0.03:
            down = np.pi * np.arange(N_BANDS + 1) / N_BANDS
            around = 2 * np.pi * np.arange(N_AROUND) / N_AROUND
            down, around = (grid.ravel() for grid in np.meshgrid(down, around, indexing="ij"))
            sphere = np.column_stack([np.cos(down), np.sin(down) * np.cos(around), np.sin(down) * np.sin(around)])
            points = [vertex + self.rounding * sphere for vertex in self.vertices]
        else:
            points = []
        for face in self.faces:     # corners of faces, moved out with them
            corners = self.vertices[face]
            normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
            points.append(corners + self.rounding * normal / np.linalg.norm(normal))
        return convex_hull(np.unique(np.concatenate(points).round(9), axis=0))


def convex_hull(points):
    """Corners (n, 3) and triangles (m, 3) of the convex hull of points in space, seen from outside counter-clockwise.
    One point after another is added to a tetrahedron; first all are moved by 1e-7 of the extent at random, so that no
    four lie in a plane."""
    random = np.random.default_rng(1)
    x = points + 1e-7 * np.ptp(points, axis=0).max() * random.standard_normal(points.shape)
    first = [int(np.argmin(x[:, 0]))]
    for _ in range(3):      # farthest from the point, line and plane so far
        basis = np.linalg.qr((x[first[1:]] - x[first[0]]).T)[0] if len(first) > 1 else np.zeros((3, 0))
        rest = x - x[first[0]]
        first.append(int(np.argmax(np.linalg.norm(rest - rest @ basis @ basis.T, axis=1))))
    a, b, c, d = first
    if np.linalg.det(x[[b, c, d]] - x[a]) < 0:
        b, c = c, b
    triangles = np.array([(a, c, b), (a, b, d), (b, c, d), (c, a, d)])

    def planes(corners):
        normal = np.cross(x[corners[:, 1]] - x[corners[:, 0]], x[corners[:, 2]] - x[corners[:, 0]])
        return normal, np.einsum("ij,ij->i", normal, x[corners[:, 0]])

    normal, offset = planes(triangles)
    for point in np.setdiff1d(random.permutation(len(x)), first, assume_unique=True):
        seen = normal @ x[point] > offset
        if not seen.any():
            continue
        edges = triangles[seen][:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
        inner = np.isin(edges @ (len(x), 1), edges @ (1, len(x)))        # the neighbour across is seen too
        added = np.column_stack([edges[~inner], np.full(np.count_nonzero(~inner), point)])
        more_normal, more_offset = planes(added)
        triangles, normal, offset = (np.concatenate([old[~seen], new]) for old, new in
                                     ((triangles, added), (normal, more_normal), (offset, more_offset)))
    kept, places = np.unique(triangles, return_inverse=True)
    return x[kept], places.reshape(-1, 3)


def of_run(results):
    """The shapes of a run by their number in the field `shape`, 0 being the sphere; None if its checkpoints know none."""
    checkpoints = results.checkpoints()
    if not checkpoints:
        return None
    arrays, attributes = read_checkpoint(checkpoints[-1])
    if "provenance/shapes" not in arrays:
        return None
    text = arrays["provenance/shapes"]
    return of_text(text.decode() if isinstance(text, bytes) else str(text), int(attributes["numbers@dimension"]))


def of_text(text, dimension):
    """Shapes from the text of a checkpoint, the sphere before them: a line for each, its name and then its numbers, lists
    after their lengths."""
    shapes = [Shape(np.zeros((1, dimension)), [], 1.0)]
    for line in text.splitlines():
        words = iter(line.split()[1:])

        def take(n=1):
            return [next(words) for _ in range(n)]

        def count():
            return int(next(words))

        vertices = np.array(take(dimension * count()), dtype=float).reshape(-1, dimension)
        faces = [[int(word) for word in take(count())] for _ in range(count())]
        rounding = float(next(words))
        take(1 + (1 if dimension == 2 else 3) + 2)      # volume, moments, inscribed and circumscribed radius
        described_axes = np.array(take(dimension**2), dtype=float).reshape(dimension, dimension)
        shapes.append(Shape(vertices @ described_axes.T, faces, rounding))
    return shapes


def placed(shapes, bodies):
    """The surfaces of all bodies as PolyData; each triangle has the place of its "body"."""
    turns = rotations(bodies.fields["orientation"])
    numbers = bodies.fields["shape"]
    points, triangles, owners, n_points = [], [], [], 0
    for number in np.unique(numbers):
        here = np.flatnonzero(numbers == number)
        corners, cells = shapes[number].surface
        corners = np.pad(corners, ((0, 0), (0, 3 - corners.shape[1])))
        turned = np.einsum("nij,pj->npi", turns[here], corners)
        points.append((bodies.positions[here, None] + bodies.radii[here, None, None] * turned).reshape(-1, 3))
        triangles.append((cells + n_points + len(corners) * np.arange(len(here))[:, None, None]).reshape(-1, 3))
        owners.append(np.repeat(here, len(cells)))
        n_points += len(points[-1])
    return PolyData(np.concatenate(points), triangles=np.concatenate(triangles),
                    cell_fields={"body": np.concatenate(owners)})


def rotations(orientation):
    """Matrices (n, 3, 3) that turn body axes to world axes, from quaternions w, x, y, z or from angles about z."""
    orientation = np.asarray(orientation, dtype=float).reshape(len(orientation), -1)
    if orientation.shape[1] == 1:
        half = 0.5 * orientation[:, 0]
        orientation = np.column_stack([np.cos(half), 0 * half, 0 * half, np.sin(half)])
    w, x, y, z = orientation.T
    return np.moveaxis(np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                                 [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                                 [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]), 2, 0)
