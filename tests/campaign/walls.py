"""Where walls of the covering array are while they move, and whether a body went through one."""
import math

import numpy as np


class Moved:
    """Place of a wall at a time, from its motion as docs/decks.md describes it. `driven`: of a driven wall, its position [m] or [rad]
    at a time along each of its directions."""

    def __init__(self, wall, driven=()):
        self.motion = wall.get("motion", {"type": "none"})
        self.driven = list(zip([self.motion, *self.motion.get("further", [])], driven))
        self.turning = next((direction for direction, _ in self.driven if "torque" in direction), self.motion)

    def own(self, place, time):
        """Points (n, D) in the wall's own axes: where the deck has its shape."""
        move, angle = self._at(time, place.shape[1])
        if angle:
            pivot = np.array(self.turning.get("center", self.turning.get("point")))
            return (place - move - pivot) @ self._turn(angle, place.shape[1]) + pivot
        return place - move

    def _at(self, time, dimension):
        """Displacement and angle."""
        motion, still = self.motion, np.zeros(dimension)
        kind = motion["type"]
        if kind == "driven":
            axes = [(np.array(direction["axis"], float), position(time)) for direction, position in self.driven if "torque" not in direction]
            return (sum((position * axis / np.linalg.norm(axis) for axis, position in axes), still),
                    sum(position(time) for direction, position in self.driven if "torque" in direction))
        elapsed = max(0.0, time - motion.get("start", 0.0))
        wave = math.sin(2 * math.pi * motion.get("frequency", 0.0) * time + motion.get("phase", 0.0))
        if kind == "translate":
            return np.array(motion["velocity"]) * elapsed, 0.0
        if kind == "rotate":
            return still, motion["rate"] * elapsed
        if kind == "oscillate":
            return np.array(motion["amplitude"]) * wave, 0.0
        if kind == "swing":
            return still, motion["amplitude"] * wave
        if kind == "table":
            return (np.array([np.interp(time, motion["times"], column) for column in np.transpose(motion["positions"])]),
                    float(np.interp(time, motion["times"], motion["angles"])))
        return still, 0.0

    def _turn(self, angle, dimension):
        """The rotation matrix; rows of points times it are turned back."""
        c, s = math.cos(angle), math.sin(angle)
        if dimension == 2:
            return np.array([[c, -s], [s, c]])
        x, y, z = np.array(self.turning["axis"], float) / np.linalg.norm(self.turning["axis"])
        cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        return np.eye(3) + s * cross + (1 - c) * cross @ cross


def depth(wall, place):
    """How deep points are in a solid wall as the deck has it; negative outside, -inf for a wall that has no inside."""
    kind = wall["type"]
    if kind == "plane":
        return -(place - wall["point"]) @ np.array(wall["normal"])
    if kind in ("disk", "sphere"):
        return wall["radius"] - np.linalg.norm(place - wall["center"], axis=1)
    if kind in ("box", "mesh"):
        lower, upper = (wall["lower"], wall["upper"]) if kind == "box" else ([0.6, 0.6, 0.3], [1.4, 1.4, 0.5])
        return np.minimum(place - lower, np.array(upper) - place).min(axis=1)
    if kind == "cylinder":
        along, across = place[:, 0], wall["radius"] - np.linalg.norm(place[:, 1:] - wall["a"][1:], axis=1)
        return np.minimum(across, np.minimum(along - wall["a"][0], wall["b"][0] - along))
    if kind == "polygon":       # convex, counter-clockwise
        corners = np.array(wall["points"])
        edges = np.roll(corners, -1, axis=0) - corners
        normals = np.stack([edges[:, 1], -edges[:, 0]], axis=1) / np.linalg.norm(edges, axis=1)[:, None]
        return -((place[:, None, :] - corners) * normals).sum(axis=2).max(axis=1)
    return np.full(len(place), -np.inf)


def crossed(wall, before, after):
    """Which straight ways of points go through a wall without thickness."""
    through = np.zeros(len(before), bool)
    if wall["type"] in ("segment", "polyline"):
        points = np.array(wall["points"] if "points" in wall else [wall["a"], wall["b"]])
        for a, b in zip(points, points[1:]):
            through |= (_side(a, b, before) != _side(a, b, after)) & (_side(before, after, a) != _side(before, after, b))
    elif wall["type"] == "plate":
        normal = np.array(wall["normal"]) / np.linalg.norm(wall["normal"])
        s, t = (before - wall["point"]) @ normal, (after - wall["point"]) @ normal
        other_side = (s > 0) != (t > 0)
        share = np.where(other_side, s / np.where(other_side, s - t, 1.0), 0.0)
        through = other_side & (np.linalg.norm(before + share[:, None] * (after - before) - wall["point"], axis=1) < wall["outer_radius"])
    elif wall["type"] == "cone":    # upright; outside of its ends nothing is crossed
        low, high = wall["a"][2], wall["b"][2]
        sides = []
        for place in (before, after):
            size = wall["radius_a"] + (place[:, 2] - low) / (high - low) * (wall["radius_b"] - wall["radius_a"])
            sides.append(np.linalg.norm(place[:, :2] - wall["a"][:2], axis=1) < size)
        through = (sides[0] != sides[1]) & (np.minimum(before[:, 2], after[:, 2]) > low) & (np.maximum(before[:, 2], after[:, 2]) < high)
    return through


def _side(a, b, c):
    """Whether c is to the left of the way from a to b."""
    d, e = b - a, c - a
    return d[..., 0] * e[..., 1] - d[..., 1] * e[..., 0] > 0
