"""What the walls of a drawing enclose, where no layer has the walkable area. Walls are lines, doors are openings between their ends.

Walls, and lines across openings up to a width, cut the plane into faces. Enclosed is what is not outside of all of them; people get
from face to face through openings.
"""
from dataclasses import dataclass

import numpy as np

from scree.exchange.outlines import area_of, inner_point, nested, places_of
from scree.geometry import contains

NARROW = 0.3        # m: nobody gets through a narrower opening, which is a slip of the pen
WALL_END = 0.6      # m: edges of solid walls that may be their ends at a door are no longer
BESIDE = 1e-3       # m from an edge
LEAST_PART = 0.1    # m2: nobody stands in a smaller one
OUTSIDE = -1        # the face around all walls


@dataclass
class Enclosed:
    """`polygons` [outer, hole, ...]; `openings` (p, q) on their border, which close them; `parts` that no opening joins, the largest
    first, as (area [m2], a place in it)."""
    polygons: list
    openings: list
    parts: list


def enclosed(walls, solids, opening, marks=(), around=None, tolerance=1e-6):
    """What walls (paths) and solid walls (rings) enclose if openings up to a width are closed. `marks`: points; then only what one gets
    to from them, and None if one is outside of all walls; there with `around`, a ring, all within it that one gets to. Lengths in m."""
    segments = [pair for path in walls for pair in zip(path, path[1:])]
    segments += [pair for ring in solids for pair in zip(ring, np.roll(ring, -1, axis=0))]
    segments = np.array(segments, float).reshape(-1, 2, 2)
    nodes, edges, _ = _graph(segments, tolerance)
    across = _lines_across(nodes, edges, solids, opening)
    nodes, edges, parents = _graph(np.concatenate([segments, across]), tolerance)
    faces = _Faces(nodes, edges, parents >= len(segments))
    starts = {faces.at(np.asarray(mark, float)) for mark in marks}
    if OUTSIDE in starts and around is None:
        return None
    chosen = faces.reached(starts, OUTSIDE in starts) if marks else set(faces.rings)
    within = {k for k in faces.rings if any(contains(ring, faces.place(k))[0] for ring in solids)}
    rooms = chosen - within
    chosen = rooms | {k for k in within if rooms & (near := faces.beside(k)) and near <= rooms | within}    # columns stay obstacles of the area
    rings, openings = faces.border(chosen)
    if OUTSIDE in chosen:
        rings, openings = [np.asarray(around), *rings], []
    return Enclosed(nested(rings), openings, faces.parts(rooms - {OUTSIDE}))


def _graph(segments, tolerance):
    """Segments cut where they meet: places (n, 2), edges by numbers of places (m, 2), and the first segment that each is of."""
    p, u = segments[:, 0], segments[:, 1] - segments[:, 0]
    length = np.hypot(*u.T)
    ends, parents = [np.zeros((0, 2))], []
    for k in np.flatnonzero(length > tolerance):
        normal = np.array([-u[k, 1], u[k, 0]]) / length[k]
        corners = segments - p[k]
        off, along = corners @ normal, corners @ u[k] / length[k]
        crosses = off[:, 0] * off[:, 1] < 0
        share = off[crosses, 0] / (off[crosses, 0] - off[crosses, 1])
        cuts = np.concatenate([along[np.abs(off) <= tolerance], along[crosses, 0] + share * (along[crosses, 1] - along[crosses, 0])])
        cuts = np.sort(cuts[(cuts > tolerance) & (cuts < length[k] - tolerance)])
        cuts = np.concatenate([[0.0], cuts[np.diff(cuts, prepend=0.0) > tolerance], [length[k]]])
        points = p[k] + cuts[:, None] * u[k] / length[k]
        ends.append(np.stack([points[:-1], points[1:]], axis=1).reshape(-1, 2))
        parents += [k] * (len(points) - 1)
    ends = np.concatenate(ends)
    _, first, number = np.unique(places_of(ends, 2 * tolerance), return_index=True, return_inverse=True)
    edges = np.sort(number.reshape(-1, 2), axis=1)
    edges, once = np.unique(edges, axis=0, return_index=True)
    is_edge = edges[:, 0] != edges[:, 1]
    return ends[first], edges[is_edge], np.array(parents, int)[once[is_edge]]


def _lines_across(nodes, edges, solids, opening):
    """Lines (n, 2, 2) across openings: from each end of a wall to the nearest other end that is not behind it, and straight on to the
    nearest wall."""
    degree = np.bincount(edges.ravel(), minlength=len(nodes))
    tips = [(nodes[v], nodes[v] - nodes[edges[e, 0] + edges[e, 1] - v], e) for e in range(len(edges)) for v in edges[e] if degree[v] == 1]
    for ring in solids:
        ring = ring if area_of(ring) > 0 else ring[::-1]
        for p, q in zip(ring, np.roll(ring, -1, axis=0)):
            if 0 < np.hypot(*(q - p)) <= WALL_END:
                tips.append(((p + q) / 2, np.array([q[1] - p[1], p[0] - q[0]]), None))
    a, b = nodes[edges[:, 0]], nodes[edges[:, 1]]
    ends = np.array([tip for tip, _, _ in tips]).reshape(-1, 2)
    found = []
    for tip, out, own in tips:
        out = out / np.hypot(*out)
        share = np.clip(((tip - a) * (b - a)).sum(axis=1) / ((b - a) ** 2).sum(axis=1), 0, 1)
        on_walls = a + share[:, None] * (b - a)
        if own is not None:
            on_walls = np.delete(on_walls, own, axis=0)
        for points, least in ((ends, 0.0), (on_walls, 0.7)):
            way = points - tip
            far = np.hypot(*way.T)
            ahead = (far > 0) & (far <= opening * (1 + 1e-9)) & (way @ out >= (least - 1e-9) * far)
            if ahead.any():
                found.append((tip, points[ahead][np.argmin(far[ahead])]))
    return np.array(found).reshape(-1, 2, 2)


class _Faces:
    """The faces of a graph: `rings` of their borders by number, without what only hangs in them. Half edge 2 e runs along edge e, 2 e + 1
    back; each has its face on its left, OUTSIDE for the face around all."""

    def __init__(self, nodes, edges, is_opening):
        self.nodes = nodes
        while True:
            self._take(edges, is_opening)
            keeps = self.face[::2] != self.face[1::2]     # others hang in a face, or join walls in it
            if keeps.all():
                break
            edges, is_opening = edges[keeps], is_opening[keeps]

    def _take(self, edges, is_opening):
        self.edges, self.is_opening = edges, is_opening
        self.start = edges.ravel()
        self.end = edges[:, ::-1].ravel()
        way = self.nodes[self.end] - self.nodes[self.start]
        angle = np.arctan2(way[:, 1], way[:, 0])
        self.around = {}    # half edges from a node, counter-clockwise
        for h in np.lexsort((angle, self.start)):
            self.around.setdefault(self.start[h], []).append(h)
        cycle, cycles, first_of = np.full(len(self.start), -1), [], []
        for first in range(len(self.start)):
            if cycle[first] < 0:
                walk, h = [], first
                while cycle[h] < 0:
                    cycle[h] = len(cycles)
                    walk.append(h)
                    h = self._next(h)
                cycles.append(self.nodes[self.start[walk]])
                first_of.append(self.start[first])
        areas = [area_of(ring) for ring in cycles]
        self.rings = {k: ring for k, ring in enumerate(cycles) if areas[k] > 0}
        # The outer border of walls that hang together lies in the face around all of them.
        piece = self._pieces()
        by_area = sorted(self.rings, key=areas.__getitem__)
        boxes = {k: (ring.min(axis=0), ring.max(axis=0)) for k, ring in self.rings.items()}
        face_of = np.arange(len(cycles))
        for k, ring in enumerate(cycles):
            if areas[k] <= 0:
                face_of[k] = next((j for j in by_area if piece[first_of[j]] != piece[first_of[k]] and (boxes[j][0] <= ring[0]).all() and (boxes[j][1] >= ring[0]).all()
                                   and contains(self.rings[j], ring[:1])[0]), OUTSIDE)
        self.face = face_of[cycle] if len(cycles) else cycle
        self.areas = np.bincount(face_of[face_of >= 0], np.array(areas)[face_of >= 0], len(cycles))

    def _pieces(self):
        """A number for each node, the same for those that edges join."""
        piece = np.full(len(self.nodes), -1)
        for first in self.around:
            heap = [first] if piece[first] < 0 else []
            while heap:
                node = heap.pop()
                if piece[node] < 0:
                    piece[node] = first
                    heap += [self.end[h] for h in self.around[node]]
        return piece

    def _next(self, h, is_taken=lambda h: True):
        """The half edge after h along the border on its left."""
        there = self.around[self.end[h]]
        k = there.index(h ^ 1)
        return next(there[k - turn] for turn in range(1, len(there) + 1) if is_taken(there[k - turn]))

    def at(self, point):
        """The face that a point is in."""
        inside = [k for k, ring in self.rings.items() if contains(ring, point[None])[0]]
        return min(inside, key=lambda k: area_of(self.rings[k]), default=OUTSIDE)

    def place(self, face):
        """A point in a face, not in others that lie in its ring: in the middle, or else beside its longest edge."""
        ring = self.rings[face]
        point = inner_point(ring)
        if self.at(point) == face:
            return point
        way = np.roll(ring, -1, axis=0) - ring
        k = int(np.argmax(np.hypot(*way.T)))
        return ring[k] + way[k] / 2 + BESIDE * np.array([-way[k, 1], way[k, 0]]) / np.hypot(*way[k])

    def _joined(self):
        """Pairs of faces that a wide enough opening joins."""
        a, b = self.edges.T
        wide = self.is_opening & (np.hypot(*(self.nodes[a] - self.nodes[b]).T) >= NARROW)
        return [(f, g) for f, g in zip(self.face[::2][wide], self.face[1::2][wide])]

    def reached(self, starts, may_leave=False):
        """The faces that one gets to from some."""
        found, pairs = set(starts), [pair for pair in self._joined() if may_leave or OUTSIDE not in pair]
        while more := {face for pair in pairs if found & set(pair) for face in pair} - found:
            found |= more
        return found

    def beside(self, face):
        """The faces that share an edge with a face."""
        return set(self.face[np.flatnonzero(self.face == face) ^ 1])

    def border(self, chosen):
        """The rings around faces, and the openings (p, q) in them that are not slips of the pen."""
        inside = np.isin(self.face, list(chosen))
        is_border = inside & ~inside[np.arange(len(inside)) ^ 1]
        rings, left = [], set(np.flatnonzero(is_border))
        while left:
            first = h = min(left)
            walk = []
            while h in left:
                left.remove(h)
                walk.append(h)
                h = self._next(h, is_border.__getitem__)
            rings.append(_corners(self.nodes[self.start[walk]]))
        ways = [(self.nodes[self.start[h]], self.nodes[self.end[h]]) for h in np.flatnonzero(is_border) if self.is_opening[h // 2]]
        return rings, [(p, q) for p, q in ways if np.hypot(*(q - p)) >= NARROW]

    def parts(self, chosen):
        """Parts of faces that no opening joins: (area, place), the largest first."""
        parts, left = [], set(chosen)
        while left:
            part = self.reached({left.pop()}) & chosen
            left -= part
            largest = max(part, key=self.areas.__getitem__)
            parts.append((self.areas[list(part)].sum(), self.place(largest)))
        parts = [part for part in parts if part[0] > LEAST_PART]
        return sorted(parts, key=lambda part: -part[0])


def _corners(ring):
    """A ring without places on its edges."""
    before, after = ring - np.roll(ring, 1, axis=0), np.roll(ring, -1, axis=0) - ring
    turn = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    return ring[np.abs(turn) > 1e-9 * np.hypot(*before.T) * np.hypot(*after.T)]
