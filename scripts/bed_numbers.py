"""Describes a bed of equal spheres on a flat floor, from positions and velocities alone: the same function for every code.

    from bed_numbers import bed_numbers
    numbers = bed_numbers(x, widths=(0.16, 0.16), diameter=0.01)
    numbers.height, numbers.solid_fraction, numbers.coordination

The bed is periodic along x and y, its floor is the plane z = 0. Needs numpy and scipy.
"""
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree


@dataclass(frozen=True)
class BedNumbers:
    """height: twice that of the centres' mean [m]. The others are of the bulk, three diameters and more from floor and
    height: solid_fraction, that of the space between the two levels, and coordination, contacts per sphere."""
    height: float
    solid_fraction: float
    coordination: float


def slab_fraction(z, diameter, low, high, area):
    """Share of low < z < high that spheres with centres at heights z fill, cut exactly."""
    def below(level):
        h = np.clip(level - (z - diameter / 2), 0, diameter)
        return (np.pi * h**2 * (1.5 * diameter - h) / 3).sum()
    return (below(high) - below(low)) / (area * (high - low))


def bed_numbers(x, widths, diameter, gap=0.01):
    """BedNumbers of spheres with centres x (n, 3). Pairs closer than `gap` diameters count as contacts."""
    z = x[:, 2]
    height = 2 * z.mean()
    low, high = 3 * diameter, height - 3 * diameter
    box = np.array([*widths, np.inf])
    cells = np.mod(x, box)
    tree = cKDTree(np.where(cells >= box, 0, cells), boxsize=[*widths, 0])
    pairs = tree.query_pairs((1 + gap) * diameter, output_type="ndarray")
    contacts = np.bincount(pairs.ravel(), minlength=len(z)) + (z < (0.5 + gap) * diameter)
    inside = (z > low) & (z < high)
    fraction = slab_fraction(z, diameter, low, high, widths[0] * widths[1])
    return BedNumbers(height, fraction, contacts[inside].mean() if inside.any() else np.nan)
