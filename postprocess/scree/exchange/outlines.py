"""Outlines of floor plans: rings of corners (n, 2), open paths that are chained into rings, and what lies in what."""
from dataclasses import dataclass

import numpy as np

from scree.geometry import contains

SAME = 1e-9         # of the size of a drawing: ends this near to each other are one place
ASIDE = 1e-6        # m beside an edge
CHUNK = 2**20       # pairs of edges that are looked at together


@dataclass
class Chained:
    """What became of paths: closed `rings`, `open` paths, `closed` gaps as (length, place), and how many paths were there
    `twice` or had no length (`empty`)."""
    rings: list
    open: list
    closed: list
    twice: int = 0
    empty: int = 0


class Junction(Exception):
    """More than two paths end at a place, so that a ring could go on in several ways."""

    def __init__(self, place, count):
        super().__init__(f"{count} lines end at one place")
        self.place, self.count = place, count


def area_of(ring):
    """Area of a ring [m2]: positive if it goes counter-clockwise."""
    x, y = (np.asarray(ring) - ring[0]).T
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y) / 2)


def fan_area(ring):
    """Sum of the areas of the triangles over the first corner, each as positive: 0 only if all corners are on a line."""
    x, y = (np.asarray(ring) - ring[0]).T
    return float(np.abs(x * np.roll(y, -1) - np.roll(x, -1) * y).sum() / 2)


def without_repeats(points, tolerance):
    """A ring without corners that are nearer than the tolerance to the one before."""
    points = np.asarray(points, float).reshape(-1, 2)
    kept = list(points[:1])
    for point in points[1:]:
        if np.hypot(*(point - kept[-1])) > tolerance:
            kept.append(point)
    while len(kept) > 1 and np.hypot(*(kept[0] - kept[-1])) <= tolerance:
        kept.pop()
    return np.array(kept)


def chain(paths, gap, tolerance):
    """Paths (n, 2) joined at their ends. Ends within the tolerance are one place; then loose ends up to `gap` apart are
    joined by a straight line, the nearest first. Raises Junction."""
    kept, empty, twice = _distinct(paths, tolerance)
    ends = np.array([path[k] for path in kept for k in (0, -1)]).reshape(-1, 2)
    places = places_of(ends, tolerance)
    met = np.bincount(places, minlength=1)
    for place in np.flatnonzero(met > 2)[:1]:
        raise Junction(ends[np.flatnonzero(places == place)[0]], int(met[place]))
    rings, loose = _walk(kept, places)
    done = Chained(rings, [], [], twice, empty)
    if loose:
        _close(loose, gap, done)
    done.rings = [without_repeats(ring, tolerance) for ring in done.rings]
    return done


def _distinct(paths, tolerance):
    """Paths that have a length and are there once, in any direction; how many have none, and how many are there again."""
    kept, seen, empty = [], set(), 0
    digits = 1 / max(tolerance, 1e-300)
    for path in paths:
        path = np.asarray(path, float)
        if np.hypot(*np.diff(path, axis=0).T).sum() <= tolerance:
            empty += 1
            continue
        key = tuple(map(tuple, np.round(path * digits)))
        key = min(key, key[::-1])
        if key not in seen:
            seen.add(key)
            kept.append(path)
    return kept, empty, len(paths) - empty - len(kept)


def places_of(points, tolerance):
    """A number for each point, the same for those within the tolerance of each other."""
    number = np.arange(len(points))
    order = np.argsort(points[:, 0], kind="stable") if len(points) else number
    for i, a in enumerate(order):
        for b in order[i + 1:]:
            if points[b, 0] - points[a, 0] > tolerance:
                break
            if np.hypot(*(points[b] - points[a])) <= tolerance:
                number[number == number[b]] = number[a]
    return number


def _walk(paths, places):
    """Rings, and paths that stay open, of paths whose ends 2 k and 2 k + 1 lie at numbered places with at most two ends."""
    at = {}
    for end, place in enumerate(places):
        at.setdefault(place, []).append(end)
    used, rings, loose = set(), [], []
    starts = [end for ends in at.values() if len(ends) == 1 for end in ends] + list(range(0, 2 * len(paths), 2))
    for start in starts:
        if start // 2 in used:
            continue
        pieces, end = [], start
        while True:
            used.add(end // 2)
            path = paths[end // 2]
            pieces.append(path if end % 2 == 0 else path[::-1])
            other = [e for e in at[places[end ^ 1]] if e != end ^ 1]
            if not other or other[0] // 2 in used:
                break
            end = other[0]
        whole = np.concatenate([pieces[0], *(piece[1:] for piece in pieces[1:])])
        (rings if places[end ^ 1] == places[start] else loose).append(whole)
    return rings, loose


def _close(loose, gap, done):
    """Joins loose ends, the nearest first; sorts the paths into rings and open ones."""
    ends = np.array([path[k] for path in loose for k in (0, -1)])
    apart = np.hypot(*(ends[:, None] - ends[None]).transpose(2, 0, 1))
    a, b = np.nonzero(np.triu(apart <= gap, 1))
    places = np.arange(len(ends))
    taken = set()
    for k in np.argsort(apart[a, b], kind="stable"):
        if not {a[k], b[k]} & taken:
            taken |= {a[k], b[k]}
            places[b[k]] = places[a[k]]
            done.closed.append((float(apart[a[k], b[k]]), ends[a[k]]))
    # A line across each gap: the two ends differ, so it is an edge of its own.
    bridged = [np.concatenate([path, ends[[other]]]) if (other := _partner(places, 2 * k + 1)) is not None else path
               for k, path in enumerate(loose)]
    rings, done.open = _walk(bridged, places)
    done.rings += rings


def _partner(places, end):
    """The end that was joined to this one, with a smaller number; None without."""
    partners = [e for e in np.flatnonzero(places == places[end]) if e != end]
    return partners[0] if partners else None


def nearest_end(path, others):
    """Of the two ends of an open path the one that has another loose end nearest: (place, that end, distance). Ends of
    `others` and of the path itself count."""
    best = (path[0], path[-1], float(np.hypot(*(path[0] - path[-1]))))
    for other in others:
        if other is path:
            continue
        for mine in (path[0], path[-1]):
            for theirs in (other[0], other[-1]):
                distance = float(np.hypot(*(mine - theirs)))
                if distance < best[2]:
                    best = (mine, theirs, distance)
    return best


def crossing(a, b=None):
    """A place where edges of a ring cross or touch edges of the same ring that are no neighbours, or, of two rings, where
    they properly cross each other; None without."""
    p, q = np.asarray(a, float), np.roll(a, -1, axis=0)
    r, s = (p, q) if b is None else (np.asarray(b, float), np.roll(b, -1, axis=0))
    n, m = len(p), len(r)
    for first in range(0, n, max(1, CHUNK // m)):
        i = np.arange(first, min(n, first + max(1, CHUNK // m)))
        d1, d2 = _side(p[i], q[i], r), _side(p[i], q[i], s)
        d3, d4 = _side(r, s, p[i]).T, _side(r, s, q[i]).T
        hit = (d1 * d2 < 0) & (d3 * d4 < 0)
        if b is None:
            touch = (d1 * d2 <= 0) & (d3 * d4 <= 0) & _boxes_meet(p[i], q[i], r, s)
            apart = (i[:, None] - np.arange(m)) % n
            hit |= touch & (apart != 0) & (apart != 1) & (apart != n - 1)
        for k, j in np.argwhere(hit)[:1]:
            u, v = q[i[k]] - p[i[k]], s[j] - r[j]
            across = u[0] * v[1] - u[1] * v[0]
            t = 0.0 if across == 0 else ((r[j] - p[i[k]])[0] * v[1] - (r[j] - p[i[k]])[1] * v[0]) / across
            return p[i[k]] + t * u
    return None


def _side(p, q, points):
    """Twice the area of each triangle p, q, point: (edges, points)."""
    u = q - p
    return u[:, None, 0] * (points[None, :, 1] - p[:, None, 1]) - u[:, None, 1] * (points[None, :, 0] - p[:, None, 0])


def _boxes_meet(p, q, r, s):
    low, high, low2, high2 = np.minimum(p, q), np.maximum(p, q), np.minimum(r, s), np.maximum(r, s)
    return ((low[:, None] <= high2[None]) & (low2[None] <= high[:, None])).all(axis=2)


def inner_point(ring):
    """A point in a ring: the middle of its widest span at half the height between two corners."""
    ys = np.unique(np.asarray(ring)[:, 1])
    k = int(np.argmax(np.diff(ys)))
    y = (ys[k] + ys[k + 1]) / 2
    (x1, y1), (x2, y2) = np.asarray(ring).T, np.roll(ring, -1, axis=0).T
    cut = (y1 > y) != (y2 > y)
    at = np.sort(x1[cut] + (y - y1[cut]) / (y2[cut] - y1[cut]) * (x2[cut] - x1[cut]))
    widest = int(np.argmax(at[1::2] - at[::2]))
    return np.array([(at[2 * widest] + at[2 * widest + 1]) / 2, y])


def nested(rings):
    """Polygons as [outer, hole, ...] of rings: one within another that it does not cross is its hole, and so on with
    islands in holes. Rings that cross each other are two polygons, whose union counts."""
    order = sorted(range(len(rings)), key=lambda k: -abs(area_of(rings[k])))
    parent, depth = {}, {}
    for place, k in enumerate(order):
        point = inner_point(rings[k])
        around = [j for j in order[:place] if contains(rings[j], point)[0] and crossing(rings[k], rings[j]) is None]
        parent[k] = around[-1] if around else None
        depth[k] = 0 if not around else depth[around[-1]] + 1
    polygons = {k: [rings[k]] for k in order if depth[k] % 2 == 0}
    for k in order:
        if depth[k] % 2 == 1:
            polygons[parent[k]].append(rings[k])
    return [polygons[k] for k in sorted(polygons)]


def area_of_polygons(polygons):
    """Of polygons [outer, hole, ...] that do not overlap [m2]."""
    return sum(abs(area_of(outer)) - sum(abs(area_of(hole)) for hole in holes) for outer, *holes in polygons)


def is_within(polygons, points):
    """Whether points (n, 2) lie in any of polygons [outer, hole, ...]."""
    found = np.zeros(len(np.atleast_2d(points)), bool)
    for outer, *holes in polygons:
        inside = contains(outer, points)
        if not inside.any():
            continue
        for hole in holes:
            inside &= ~contains(hole, points)
        found |= inside
    return found


def takes_nothing(ring, polygons, others=()):
    """Whether a ring has no area in polygons [outer, hole, ...] that other rings leave free. All edges near the ring are cut
    where they meet; every part of the ring that would be free has such a piece on its border, so a point on each side of the
    middle of each piece decides. Parts that are thinner than two ASIDE do not count."""
    lower, upper = bounds(ring)
    near = [other for other in others if (other.min(0) <= upper).all() and (other.max(0) >= lower).all()]
    rings = [ring, *(r for polygon in polygons for r in polygon), *near]
    p, q = np.concatenate(rings), np.concatenate([np.roll(r, -1, axis=0) for r in rings])
    meets = ((np.minimum(p, q) <= upper) & (np.maximum(p, q) >= lower)).all(axis=1)
    points = _beside_pieces(p[meets], q[meets])
    points = points[contains(ring, points)]
    free = is_within(polygons, points)
    for other in near:
        free[free] = ~contains(other, points[free])
    return not free.any()


def _beside_pieces(p, q):
    """Points on both sides of the middle of each piece that edges are cut into by each other."""
    u = q - p
    length = np.hypot(*u.T)
    p, q, u, length = p[length > 0], q[length > 0], u[length > 0], length[length > 0]
    normal = np.column_stack([-u[:, 1], u[:, 0]]) / length[:, None]
    found = []
    for k in range(len(p)):
        from_here = (p - p[k]) @ normal[k], (q - p[k]) @ normal[k]    # how far the ends of all edges are from this line
        along = (p - p[k]) @ u[k] / length[k] ** 2, (q - p[k]) @ u[k] / length[k] ** 2
        crosses = from_here[0] * from_here[1] < 0
        share = from_here[0][crosses] / (from_here[0][crosses] - from_here[1][crosses])
        cuts = [along[0][crosses] + share * (along[1][crosses] - along[0][crosses])]
        cuts += [a[np.abs(d) < ASIDE] for a, d in zip(along, from_here)]
        cuts = np.concatenate([[0.0, 1.0], *cuts])
        cuts = np.unique(cuts[(cuts >= 0) & (cuts <= 1)])
        is_long = np.diff(cuts) * length[k] > 4 * ASIDE    # beside shorter ones a point may lie beyond a corner
        middle = p[k] + ((cuts[1:] + cuts[:-1]) / 2)[is_long, None] * u[k]
        found += [middle + ASIDE * normal[k], middle - ASIDE * normal[k]]
    return np.concatenate(found) if found else np.zeros((0, 2))


def distance_to(ring, point):
    """How far a point is from the border of a ring."""
    p, q = np.asarray(ring, float), np.roll(ring, -1, axis=0)
    share = np.clip(((point - p) * (q - p)).sum(axis=1) / np.maximum(((q - p) ** 2).sum(axis=1), 1e-300), 0, 1)
    return float(np.hypot(*(p + share[:, None] * (q - p) - point).T).min())


def bounds(points):
    """Lower and upper corner of points (n, 2)."""
    points = np.asarray(points)
    return points.min(axis=0), points.max(axis=0)


def rectangle(lower, upper):
    """The ring of a rectangle along the axes, counter-clockwise."""
    return np.array([[lower[0], lower[1]], [upper[0], lower[1]], [upper[0], upper[1]], [lower[0], upper[1]]], float)
