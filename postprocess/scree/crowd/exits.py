"""Where exits lie in the plan: which side of their line is outside, and the pocket that the program adds behind it."""
import numpy as np

from scree.geometry import contains

STEP = 0.25         # [m] of looking behind a line
NEAR = 0.02         # [m] ends of lines lie on walls to within this


def outward(door, rings):
    """Unit vector from an exit's line away from the floor before it, and how deep the area behind it is [m]; of a polygon from
    the middle of the floor."""
    if not rings:
        return np.array([0.0, 1.0]), 0.0
    outer = [corners for is_hole, corners in rings if not is_hole]
    middle = np.mean([(corners.min(axis=0) + corners.max(axis=0)) / 2 for corners in outer], axis=0)
    away = door.middle - middle
    if door.is_line:
        along = door.corners[1] - door.corners[0]
        normal = np.array([along[1], -along[0]]) / (np.linalg.norm(along) or 1.0)
        # Behind the line is a pocket of half a metre and more, before it the floor goes on for longer.
        steps = np.arange(STEP, 6.0, STEP)[:, None]
        depth = [sum(np.any([contains(corners, door.middle + side * steps * normal) for corners in outer], axis=0)) for side in (1, -1)]
        is_first = depth[0] < depth[1] if depth[0] != depth[1] else np.dot(normal, away) >= 0
        return (normal, STEP * depth[0]) if is_first else (-normal, STEP * depth[1])
    return away / (np.linalg.norm(away) or 1.0), 0.0


def without_pockets(rings, exits):
    """Rings of a floor without the pockets behind lines of exits: the wall is where the line is."""
    for door in exits:
        normal, depth = outward(door, rings) if door.is_line else (None, 0.0)
        if depth > 0:
            rings = [(is_hole, _cut(corners, door.corners, normal, depth)) for is_hole, corners in rings]
    return rings


def _cut(ring, line, normal, depth):
    """The ring with the ends of the line in place of the corners of the pocket; the ring itself if it has no such corners."""
    along = line[1] - line[0]
    length = np.linalg.norm(along)
    behind, aside = (ring - line[0]) @ normal, (ring - line[0]) @ along / length
    pocket = (behind > NEAR) & (behind < depth + 2 * STEP) & (aside > -NEAR) & (aside < length + NEAR)
    # A pocket has its two far corners, one after the other.
    if pocket.sum() != 2:
        return ring
    first = next(k for k in np.flatnonzero(pocket) if not pocket[k - 1])
    if not pocket[(first + 1) % len(ring)]:
        return ring
    rest = np.roll(ring, -first, axis=0)[2:]
    ends = line if aside[first] < length / 2 else line[::-1]
    keep = [end for end, other in zip(ends, (rest[-1], rest[0])) if np.linalg.norm(end - other) > NEAR]
    return np.vstack([*keep, rest])
