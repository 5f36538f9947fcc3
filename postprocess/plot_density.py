#!/usr/bin/python3
"""Draws a map of a field of [output.fields]: density, speed, load ..., at a time or averaged over time, with walls.

    plot_density.py results/hall                             density, mean over time -> results/hall/hall_density.png
    plot_density.py results/hall --time 20                   the frame nearest to 20 s
    plot_density.py results/hall --between 10 40 --levels    level of service of the mean density (Fruin 1971)
    plot_density.py results/hall --field load --range 0 4500

Vector fields are drawn by their length.
"""
import argparse
import sys
from pathlib import Path

from crowd_drawing import LEVEL_COLOURS, LEVELS_OF_SERVICE, bounds_of, draw_walkable, map_axes, save
import matplotlib
import numpy as np
from matplotlib.colors import BoundaryNorm, ListedColormap

from scree.results import Results, ResultsError, read_fields

UNITS = {"density": "1/m2", "speed": "m/s", "flux": "1/(m s)", "load": "N/m", "exposure": "s", "travel_time": "s"}


def chosen_frames(results, options):
    frames = results.vtk_frames("fields")
    if not frames:
        raise ResultsError(f"{results.folder} has no maps (vtk/{results.name}_fields.pvd); was [output.fields] in the deck?")
    if options.time is not None:
        return [min(frames, key=lambda frame: abs(frame[0] - options.time))]
    low, high = options.between or (-np.inf, np.inf)
    frames = [frame for frame in frames if low <= frame[0] <= high]
    if not frames:
        raise ResultsError(f"there is no frame between {low:g} and {high:g} s")
    return frames


def mean_map(frames, field):
    """Mean of a field over frames, cell by cell; frames where a cell has no value (nan) do not count for it."""
    total = count = first = None
    for _, path in frames:
        fields = read_fields(path)
        values = fields[field]
        if values.ndim == 3:
            values = np.linalg.norm(values, axis=2)
        if total is None:
            first, total, count = fields, np.zeros_like(values), np.zeros_like(values)
        if values.shape != total.shape:
            raise ResultsError(f"{path} is of another grid than the frames before")
        valid = np.isfinite(values)
        total[valid] += values[valid]
        count += valid
    with np.errstate(invalid="ignore"):
        return first, np.where(count > 0, total / np.maximum(count, 1), np.nan)


def draw(results, options, output):
    frames = chosen_frames(results, options)
    grid, values = mean_map(frames, options.field)
    has_plan = (results.folder / f"{results.name}.trajectory.h5").exists()
    walkable = results.paths.walkable if has_plan else []
    figure, axes = map_axes(*bounds_of(walkable, [grid.lower, grid.upper]))
    extent = (grid.lower[0], grid.upper[0], grid.lower[1], grid.upper[1])
    if options.levels:
        top = max(3.0, np.nanmax(values, initial=0.0))
        norm = BoundaryNorm((0, *LEVELS_OF_SERVICE, top), len(LEVEL_COLOURS))
        picture = axes.imshow(values, origin="lower", extent=extent, cmap=ListedColormap(LEVEL_COLOURS), norm=norm,
                              interpolation="nearest", zorder=1)
        edges = np.array((0, *LEVELS_OF_SERVICE, top))
        bar = figure.colorbar(picture, ax=axes, spacing="uniform", shrink=0.8, label="level of service, bounds in 1/m2")
        bar.set_ticks((edges[:-1] + edges[1:]) / 2, labels="ABCDEF")
        bar.set_ticks(LEVELS_OF_SERVICE, labels=[f"{bound:g}" for bound in LEVELS_OF_SERVICE], minor=True)
    else:
        low, high = options.range or (None, None)
        picture = axes.imshow(values, origin="lower", extent=extent, cmap=options.colours, vmin=low, vmax=high,
                              interpolation="nearest", zorder=1)
        unit = next((unit for start, unit in UNITS.items() if options.field.startswith(start)), None)
        figure.colorbar(picture, ax=axes, shrink=0.8, label=options.field + (f" [{unit}]" if unit else ""))
    walls = draw_walkable(axes, walkable, floor=None)
    if walls is not None:
        picture.set_clip_path(walls)
    times = [time for time, _ in frames]
    axes.set_title(f"{options.field} at {times[0]:g} s" if len(times) == 1 else
                   f"{options.field}, mean of {len(times)} frames from {times[0]:g} to {times[-1]:g} s", fontsize="medium")
    save(figure, output)
    if np.isfinite(values).any():
        print(f"largest value: {np.nanmax(values):.4g}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="results folder")
    parser.add_argument("--field", default="density", help="field of the maps (default density)")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--time", type=float, help="draw the frame nearest to this time [s]")
    which.add_argument("--between", type=float, nargs=2, metavar=("FROM", "TO"), help="mean over these times [s] only")
    parser.add_argument("--levels", action="store_true", help="colours of the levels of service A to F (density only)")
    parser.add_argument("--range", type=float, nargs=2, metavar=("LOW", "HIGH"), help="values of the ends of the colours")
    parser.add_argument("--colours", default="viridis", help="colour map of matplotlib (default viridis)")
    parser.add_argument("--output", type=Path, help="picture to write (default: NAME_FIELD.png in the folder)")
    options = parser.parse_args()
    if options.colours not in matplotlib.colormaps:
        parser.error(f"there is no colour map {options.colours!r}; try viridis, plasma, cividis, turbo")
    if options.levels and options.field != "density":
        parser.error("--levels is for the field density")
    results = Results(options.results)
    draw(results, options, options.output or results.folder / f"{results.name}_{options.field}.png")


if __name__ == "__main__":
    try:
        main()
    except ResultsError as error:
        sys.exit(f"plot_density.py: {error}")
