"""Points in rings of corners, for plans that are drawn and plans that are read."""
import numpy as np

AT_ONCE = 2**16     # pairs of points and edges that are looked at together: they stay in the cache


def contains(ring, points):
    """Whether points (n, 2) lie in a ring of corners (m, 2), by the even-odd rule; of points on its edges some do. O(n m)."""
    x, y = np.atleast_2d(points).T
    (x1, y1), (x2, y2) = (ends[:, :, None] for ends in (np.asarray(ring, float).T, np.roll(ring, -1, axis=0).T))
    slope = (x2 - x1) / np.where(y2 == y1, 1, y2 - y1)
    found = np.zeros(len(x), bool)
    step = max(1, AT_ONCE // len(x1))
    for first in range(0, len(x), step):
        a, b = x[first:first + step], y[first:first + step]
        crossed = ((y1 > b) != (y2 > b)) & (a < x1 + (b - y1) * slope)
        found[first:first + step] = np.logical_xor.reduce(crossed, axis=0)
    return found
