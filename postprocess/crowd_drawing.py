"""Shared by the scripts that draw crowds: floor plans, colours, the runs of an ensemble, published measurements."""
import csv
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline

from scree import style
from scree.results import Results, ResultsError

plt.rcParams.update(style.STYLES["screen"])
WALL = style.INK
FLOOR = (0.965, 0.968, 0.975)
# Bounds between the walkway levels of service A to F [1/m2]: J. J. Fruin, Pedestrian planning and design, 1971.
LEVELS_OF_SERVICE = (0.31, 0.43, 0.72, 1.08, 2.15)
LEVEL_COLOURS = ("#2c7bb6", "#7fc3dd", "#c7e8c3", "#fdd48a", "#f28a52", "#c9252b")
REFERENCES = Path(__file__).resolve().parents[1] / "tests" / "reference" / "crowd"


def runs_of(folders):
    """The runs in results folders; an ensemble, a folder with seed_N in it, is all of its runs."""
    runs = []
    for folder in map(Path, folders):
        members = [member for member in folder.glob("seed_*") if member.is_dir()] if folder.is_dir() else []
        members.sort(key=lambda member: (len(member.name), member.name))
        runs += [Results(member) for member in members] or [Results(folder)]
    return runs


def draw_walkable(axes, rings, floor=FLOOR):
    """Draws walls as lines around the walkable area and returns these; `rings` as Paths.walkable, None if empty."""
    if not rings:
        return None
    corners, codes = [], []
    for is_hole, ring in rings:
        x, y = ring.T
        is_clockwise = np.dot(x, np.roll(y, -1)) < np.dot(y, np.roll(x, -1))
        if is_clockwise != is_hole:
            ring = ring[::-1]       # holes have the opposite orientation
        corners.append(np.vstack([ring, ring[:1]]))
        codes += [Outline.MOVETO] + [Outline.LINETO] * (len(ring) - 1) + [Outline.CLOSEPOLY]
    outline = Outline(np.concatenate(corners), codes)
    if floor is not None:
        axes.add_patch(PathPatch(outline, facecolor=floor, edgecolor="none", zorder=0))
    return axes.add_patch(PathPatch(outline, facecolor="none", edgecolor=WALL, linewidth=1.1, zorder=3))


def bounds_of(rings, positions):
    """Corners of the box around a plan, or around positions without one."""
    points = np.concatenate([corners for _, corners in rings]) if rings else np.asarray(positions).reshape(-1, 2)
    if len(points) == 0:
        raise ResultsError("there is nobody and no floor plan to draw")
    return points.min(axis=0), points.max(axis=0)


def map_axes(lower, upper, width=9.0):
    """A figure whose axes show a part of the plane true to scale [m]."""
    size = np.maximum(upper - lower, 1e-9)
    height = np.clip(width * size[1] / size[0], 2.5, 12.0)
    figure, axes = plt.subplots(figsize=(width, height + 0.6), layout="constrained")
    margin = 0.02 * size.max()
    axes.set_xlim(lower[0] - margin, upper[0] + margin)
    axes.set_ylim(lower[1] - margin, upper[1] + margin)
    axes.set_aspect("equal")
    axes.grid(False)
    axes.set_xlabel("x [m]")
    axes.set_ylabel("y [m]")
    return figure, axes


def colours_of(names):
    """A colour for each name, the same in all pictures with the same names."""
    palette = style.LINE_COLOURS
    return {name: palette[k % len(palette)] for k, name in enumerate(sorted(set(names)))}


def reference(name, folder=REFERENCES):
    """A table of measurements: columns by name, numbers where possible; None without the file."""
    path = Path(folder) / f"{name}.csv"
    if not path.is_file():
        return None
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    columns = {}
    for title in rows[0]:
        values = [row[title] for row in rows]
        try:
            columns[title] = np.array([float(value) for value in values])
        except ValueError:
            columns[title] = values
    return columns


def save(figure, output):
    style.save(figure, output)
    plt.close(figure)
    print(output)
