"""Arcs and ellipses as straight lines that enclose the area of the curve exactly.

Corners on the curve would cut a segment off. The inner corners of an arc of radius r and angle T in n parts of d = T / n are
moved out to r' = f r, so that the fan over the polyline has the area r2 T / 2 of the sector:

    sin(d) (2 f + (n - 2) f2) = T    for an arc with fixed ends,    n sin(2 pi / n) f2 = 2 pi    for a whole turn.    (C.1)
"""
import math

import numpy as np

FULL_TURN = 2 * math.pi


def parts_of(radius, angle, tolerance):
    """Into how many parts an arc is cut so that no chord is farther than the tolerance from it; at least one for 45 degrees."""
    step = 2 * math.acos(max(1 - tolerance / radius, math.cos(math.pi / 8))) if tolerance < radius else math.pi / 4
    return max(2, math.ceil(abs(angle) / min(step, math.pi / 4)))


def ellipse(centre, major, minor, start, angle, tolerance):
    """Points of centre + cos(t) major + sin(t) minor for t from start over `angle`: all of an open arc, whose ends are on
    the curve; the corners of a whole turn once each."""
    size = max(np.hypot(*major), np.hypot(*minor))
    n = parts_of(size, angle, tolerance)
    d = angle / n
    if abs(abs(angle) - FULL_TURN) < 1e-12:
        n, factor = max(n, 8), None
        d = math.copysign(FULL_TURN / n, angle)
        factor = np.full(n, math.sqrt(d / math.sin(d)))
        t = start + d * np.arange(n)
    else:
        a, target = n - 2, d * n / math.sin(d)    # a f2 + 2 f = T / sin(d)
        f = target / 2 if a == 0 else (math.sqrt(1 + a * target) - 1) / a
        factor = np.array([1.0, *[f] * (n - 1), 1.0])
        t = start + d * np.arange(n + 1)
    return np.asarray(centre) + factor[:, None] * (np.cos(t)[:, None] * major + np.sin(t)[:, None] * minor)


def arc(centre, radius, start, angle, tolerance):
    """Points of an arc of a circle, from the angle `start` [rad] over `angle`; negative angles go clockwise."""
    return ellipse(centre, np.array([radius, 0.0]), np.array([0.0, radius]), start, angle, tolerance)


def bulged(p, q, bulge, tolerance):
    """Points of the arc from p to q with the bulge of DXF, the tangent of a quarter of its angle; q is the last."""
    p, q = np.asarray(p, float), np.asarray(q, float)
    chord = q - p
    if bulge == 0 or not chord.any():
        return np.array([p, q])
    centre = (p + q) / 2 + (1 - bulge * bulge) / (4 * bulge) * np.array([-chord[1], chord[0]])
    start = math.atan2(*(p - centre)[::-1])
    points = arc(centre, float(np.hypot(*(p - centre))), start, 4 * math.atan(bulge), tolerance)
    points[0], points[-1] = p, q
    return points
