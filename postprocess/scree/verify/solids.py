"""Decks of bodies with shapes, and how bodies are turned."""
import math

import numpy as np

from scree.verify.grain_deck import GrainDeck, vector

G = 9.81    # [m/s2]


def up(dimension):
    return np.eye(dimension)[-1]


def turned(dimension, angle, axis=2):
    """The turn by `angle` [rad] about axis `axis`; in the plane counter-clockwise."""
    if dimension == 2:
        return angle
    quaternion = np.zeros(4)
    quaternion[0], quaternion[1 + axis] = math.cos(0.5 * angle), math.sin(0.5 * angle)
    return quaternion


def leaning(dimension, angle):
    """The turn by `angle` [rad] of x towards the last axis."""
    return turned(2, angle) if dimension == 2 else turned(3, -angle, 1)


def axes_of(orientation):
    """The axes of bodies with these orientations (..., 4), or angles (...) in the plane: (..., axis, component)."""
    orientation = np.asarray(orientation, float)
    if orientation.shape[-1:] != (4,):
        c, s = np.cos(orientation), np.sin(orientation)
        return np.stack([np.stack([c, s], axis=-1), np.stack([-s, c], axis=-1)], axis=-2)
    w, x, y, z = np.moveaxis(orientation, -1, 0)
    rows = ((w * w + x * x - y * y - z * z, 2 * (x * y + w * z), 2 * (x * z - w * y)),
            (2 * (x * y - w * z), w * w - x * x + y * y - z * z, 2 * (y * z + w * x)),
            (2 * (x * z + w * y), 2 * (y * z - w * x), w * w - x * x - y * y + z * z))
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


class SolidDeck(GrainDeck):
    """The tables of a case of bodies with shapes."""

    def shape(self, name, **keys):
        self.tables.setdefault("shapes", {})[name] = keys

    def box(self, name, size, rounding):
        """Of these outer extents [m]."""
        self.shape(name, type="box", size=vector(size), rounding_radius=rounding)

    def slope(self, tangent):
        """A floor of a material "floor", down towards +x by a slope of this tangent."""
        across = G / math.sqrt(1 + tangent**2)
        self.gravity([tangent * across, *[0] * (self.dimension - 2), -across])
        self.material("floor", 1)
        self.floor("floor")


def orientations(course, frame=-1):
    """How bodies are turned, in the order of ids."""
    return np.asarray(course.field("orientation")[frame])
