"""Density of people from trajectories: each person is spread evenly over a disk of 1 m2, as in [output.fields]."""
from dataclasses import dataclass

import numpy as np

DISK = np.sqrt(1 / np.pi)       # radius of the disk of 1 m2 [m]
PLACES = 5                      # within a cell, along an axis, that a centre is rounded to
# Bounds between the walkway levels of service A to F [1/m2]: J. J. Fruin, Pedestrian planning and design, 1971.
LEVELS_OF_SERVICE = (0.31, 0.43, 0.72, 1.08, 2.15)
LEVEL_COLOURS = ("#2c7bb6", "#7fc3dd", "#c7e8c3", "#fdd48a", "#f28a52", "#c9252b")


class Grid:
    """Square cells at multiples of `cell` that cover a box and what the disks of people in it reach [m]."""

    def __init__(self, lower, upper, cell):
        self.cell = cell
        first = np.floor((np.asarray(lower) - DISK) / cell).astype(int)
        last = np.ceil((np.asarray(upper) + DISK) / cell).astype(int)
        self.nx, self.ny = (last - first).tolist()
        self.lower, self.upper = first * cell, last * cell
        self._disks = disk_weights(cell)
        self._reach = (self._disks.shape[-1] - 1) // 2

    def density(self, positions):
        """(ny, nx) [1/m2]: adds up to the number of people whose disks are in the box."""
        found = np.zeros(self.ny * self.nx)
        if len(positions):
            at = (np.asarray(positions) - self.lower) / self.cell
            cell = np.floor(at).astype(int)
            place = np.minimum((PLACES * (at - cell)).astype(int), PLACES - 1)
            weights = self._disks[place[:, 1], place[:, 0]]             # (n, 2 reach + 1, 2 reach + 1)
            around = np.arange(-self._reach, self._reach + 1)
            x = cell[:, None, 0] + around
            y = cell[:, None, 1] + around
            valid = ((x >= 0) & (x < self.nx))[:, None, :] & ((y >= 0) & (y < self.ny))[:, :, None] & (weights > 0)
            index = y[:, :, None] * self.nx + x[:, None, :]
            found = np.bincount(index[valid], weights[valid], minlength=len(found))
        return found.reshape(self.ny, self.nx) / self.cell**2


def disk_weights(cell):
    """Shares of a disk in the cells around that of its centre: (PLACES, PLACES, n, n), by the place of the centre in its cell,
    y first. Each adds up to 1."""
    reach = int(np.ceil(DISK / cell))
    fine = 24
    middle = (np.arange((2 * reach + 1) * fine) + 0.5) / fine - reach       # of points, in cells from the corner of the cell
    result = np.empty((PLACES, PLACES, 2 * reach + 1, 2 * reach + 1))
    for j in range(PLACES):
        for i in range(PLACES):
            x, y = middle - (i + 0.5) / PLACES, middle - (j + 0.5) / PLACES
            inside = (x[None, :]**2 + y[:, None]**2) * cell**2 <= DISK**2
            share = inside.reshape(2 * reach + 1, fine, 2 * reach + 1, fine).mean(axis=(1, 3))
            result[j, i] = share / share.sum()
    return result


@dataclass
class DensityMaps:
    """Maps (ny, nx) over the whole run."""
    grid: Grid
    mean: np.ndarray        # over time [1/m2]
    highest: np.ndarray     # largest mean over a window; these follow each other [1/m2]
    above: np.ndarray       # time with more than `limit` [s]


def density_maps(paths, levels, grid, limit, window=10.0, end=None, max_fps=5.0):
    """Maps of a level, or of several as one, over the frames up to `end` (default: the last) of a trajectory, of which at most
    `max_fps` a second are read. One frame stands for the time until the next."""
    stride = max(1, int(np.ceil(paths.fps / max_fps - 1e-9)))
    seconds = stride / paths.fps
    last = int(round(end * paths.fps)) if end is not None else int(paths.frames[-1]) if len(paths.frames) else 0
    frames = np.arange(0, last + 1, stride)
    total, above = np.zeros((grid.ny, grid.nx)), np.zeros((grid.ny, grid.nx))
    highest, block, in_block = np.zeros_like(total), np.zeros_like(total), 0
    per_block = max(1, round(window / seconds))
    for frame in frames:
        rows = paths.rows(frame)
        here = np.isin(paths.level_of_row[rows], levels)
        found = grid.density(paths.position_of_row[rows][here])
        total += found
        above += seconds * (found > limit)
        block += found
        in_block += 1
        if in_block == per_block:
            highest = np.maximum(highest, block / per_block)
            block, in_block = np.zeros_like(total), 0
    if len(frames) < per_block:
        highest = block / max(in_block, 1)
    return DensityMaps(grid, total / max(len(frames), 1), highest, above)
