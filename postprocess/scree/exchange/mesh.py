"""Surfaces of triangles: STL files, and which of their triangles hang together, are flat, closed or convex."""
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scree.errors import ExchangeError, ProgramMissing, RunError
from scree.exchange.scene import numbers
from scree.program import ask

HEADER, RECORD = 84, 50    # bytes of a binary file: its head, which ends in the number of triangles, and each of them
FLAT = 2e-6                # of the size of the scene: corners are known to half of that


@dataclass
class Mesh:
    """Triangles of an STL file: corners (n, 3, 3) [m], `solid` (n,) the index into `names` of the solid that each
    belongs to; `triangles` (n, 3) the numbers of their corners among `points` (m, 3), each place once."""
    corners: np.ndarray
    solid: np.ndarray
    names: list

    def __post_init__(self):
        self.points, inverse = np.unique(self.corners.reshape(-1, 3), axis=0, return_inverse=True)
        self.triangles = inverse.reshape(-1, 3)
        self.lower, self.upper = self.points.min(0), self.points.max(0)
        self.tolerance = FLAT * float((self.upper - self.lower).max())
        a, b, c = (self.corners[:, k] for k in range(3))
        self.area_vectors = np.cross(b - a, c - a) / 2

    def parts(self, chosen):
        """Lists of those of the triangles `chosen` that hang together by their corners."""
        t = self.triangles[chosen]
        label = _joined(len(self.points), np.concatenate([t[:, :2], t[:, 1:]]))
        return _grouped(chosen, label[t[:, 0]])

    def patches(self, chosen):
        """The same for those that have an edge in common and lie in a plane, to the tolerance."""
        _, of_edge, counts = self._edges(chosen)
        order, first = np.argsort(of_edge, kind="stable"), np.cumsum(counts) - counts
        a, b = (order[first[counts == 2] + k] % len(chosen) for k in (0, 1))
        size = np.linalg.norm(self.area_vectors, axis=1, keepdims=True)
        normals = np.divide(self.area_vectors, size, out=np.zeros_like(self.area_vectors), where=size > 0)[chosen]
        at = self.corners[chosen]
        off = np.abs(np.einsum("nck,nk->nc", at[b] - at[a][:, :1], normals[a]))
        flat = off.max(1, initial=0) <= self.tolerance
        return _grouped(chosen, _joined(len(chosen), np.stack([a[flat], b[flat]], 1)))

    def is_closed(self, chosen):
        """Whether each of their edges has two triangles, which run along it in both directions."""
        directed, of_edge, counts = self._edges(chosen)
        forward = np.bincount(of_edge, directed[:, 0] < directed[:, 1])
        return bool((counts == 2).all() and (forward == 1).all())

    def volume(self, chosen):
        """Inside of a closed surface; negative where its triangles are clockwise from outside [m3]."""
        return float(_tetrahedra(self.corners[chosen], self.lower).sum())

    def centre(self, chosen):
        """Of the volume inside of a closed surface [m]."""
        at = self.corners[chosen]
        volumes = _tetrahedra(at, self.lower)
        return self.lower + ((at - self.lower).sum(1) / 4 * volumes[:, None]).sum(0) / volumes.sum()

    def is_convex(self, chosen):
        """Whether all corners of a closed surface are behind the planes of all its triangles, to the tolerance."""
        points = self.points[np.unique(self.triangles[chosen])]
        sign = np.sign(self.volume(chosen))
        for some in np.array_split(chosen, len(chosen) // 256 + 1):
            size = np.linalg.norm(self.area_vectors[some], axis=1)
            out = sign * self.area_vectors[some] / np.where(size > 0, size, 1)[:, None]
            beyond = points @ out.T - np.einsum("nk,nk->n", self.corners[some, 0], out)
            if (beyond > self.tolerance).any():
                return False
        return True

    def _edges(self, chosen):
        """Directed edges (3 n, 2) of triangles, for each the number of its edge without direction, and how many run
        along each of those."""
        t = self.triangles[chosen]
        directed = np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]])
        _, of_edge, counts = np.unique(np.sort(directed, axis=1), axis=0, return_inverse=True, return_counts=True)
        return directed, of_edge.reshape(-1), counts


def read_stl(path, content, scale=1.0):
    """The mesh of an STL file, text or binary, mended as walls of scree are; lengths are multiplied with `scale` to be m.
    Triangles with two corners at one place are left out."""
    if is_binary_stl(content, or_longer=True):
        n = int.from_bytes(content[HEADER - 4:HEADER], "little")
        records = np.frombuffer(content[HEADER:HEADER + RECORD * n], dtype=[("numbers", "<f4", (4, 3)), ("more", "<u2")])
        corners = records["numbers"][:, 1:].astype(float)
        solid, names = np.zeros(len(corners), int), [""]
        for k in np.flatnonzero(~np.isfinite(corners).all((1, 2)))[:1]:
            raise ExchangeError(f"{path}: triangle {k + 1} has a corner that is not a number")
    else:
        corners, solid, names = _text(path, content.decode("utf-8", errors="replace").splitlines())
    a, b, c = (corners[:, k] for k in range(3))
    whole = (a != b).any(1) & (b != c).any(1) & (c != a).any(1)
    if not whole.any():
        raise ExchangeError(f"{path}: no triangles in the file")
    return Mesh(*_mended(path, scale * corners[whole], solid[whole], names))


def _mended(path, corners, solid, names):
    """What `scree shape --repair` makes of it: there is one notion of a mended mesh."""
    with tempfile.TemporaryDirectory(prefix="scree-") as folder:
        before, after = Path(folder) / "before.stl", Path(folder) / "after.stl"
        before.write_text("".join(stl_text(str(k), corners[solid == k]) for k in range(len(names))))
        try:
            about = json.loads(ask("shape", before, "--keep-inner-shells", "--json", "--repair", "--output", after))
        except (ProgramMissing, RunError) as error:
            raise ExchangeError(str(error).removeprefix("scree: ").replace(str(before), str(path))) from None
        if about["mended"]:
            corners, solid, numbers_of = _text(path, after.read_text().splitlines())
            solid = np.array([int(name) for name in numbers_of])[solid]
            if not about["outward"]:    # as most of them were
                corners = corners[:, ::-1]
        return corners, solid, names


def is_binary_stl(content, or_longer=False):
    """By its length; `or_longer`: bytes beyond it may follow, if there is a byte 0, which no text has."""
    length = HEADER + RECORD * int.from_bytes(content[HEADER - 4:HEADER], "little")
    return len(content) == length or (or_longer and len(content) > length > HEADER and b"\0" in content[:length])


def stl_text(name, corners):
    """A mesh as the text of an STL file; its normals are left to the reader."""
    lines = [f"solid {name}"]
    for triangle in corners:
        corner_lines = [f"vertex {x:.17g} {y:.17g} {z:.17g}" for x, y, z in triangle]
        lines += ["facet normal 0 0 0", "outer loop", *corner_lines, "endloop", "endfacet"]
    return "\n".join([*lines, f"endsolid {name}"]) + "\n"


def _text(path, lines):
    corners, solid, names, corner = [], [], [], []
    for number, line in enumerate(lines, start=1):
        words = line.split()
        word = words[0].lower() if words else ""
        if word == "solid":
            names.append(" ".join(words[1:]))
        elif not names or word.startswith(("#", "//", ";")):
            continue
        elif word == "facet":
            corner = []
        elif word == "vertex":
            corner.append(numbers(path, number, words[1:], 3))
        elif word == "endfacet":
            if len(corner) != 3:
                raise ExchangeError(f"{path}:{number}: a facet with {len(corner)} corners, expected 3")
            corners.append(corner)
            solid.append(len(names) - 1)
            corner = []
        elif word not in ("outer", "endloop", "endsolid", ""):
            raise ExchangeError(f"{path}:{number}: {words[0]!r} is no word of an STL file")
    if corner:
        raise ExchangeError(f"{path}: the file ends within a facet")
    if not names and any(line.strip() for line in lines):
        first = next(number for number, line in enumerate(lines, start=1) if line.strip())
        raise ExchangeError(f"{path}:{first}: neither an STL file of text, in which solids begin with \"solid\", nor a "
                            f"whole binary one, which has {HEADER} bytes and {RECORD} for each triangle")
    return np.array(corners).reshape(-1, 3, 3), np.array(solid, int), names


def _tetrahedra(corners, apex):
    a, b, c = (corners[:, k] - apex for k in range(3))
    return np.einsum("nk,nk->n", a, np.cross(b, c)) / 6


def _joined(n, pairs):
    """For each of n things the lowest number among those that pairs (m, 2) connect it with."""
    label = np.arange(n)
    while True:
        a, b = label[pairs[:, 0]], label[pairs[:, 1]]
        lowest = label.copy()
        np.minimum.at(lowest, np.maximum(a, b), np.minimum(a, b))
        while (lowest[lowest] != lowest).any():
            lowest = lowest[lowest]
        if (lowest == label).all():
            return label
        label = lowest


def _grouped(values, label):
    """Values with one label together, in their order."""
    order = np.argsort(label, kind="stable")
    groups = np.split(values[order], np.flatnonzero(np.diff(label[order])) + 1)
    return sorted(groups, key=lambda group: group[0])
