"""Draws a field of [output.continuum]: as a profile over its axis, or as a map of a layer of a grid.

    scree plot continuum results/chute                              velocity_x, last frame -> results/chute/chute_velocity_x.png
    scree plot continuum results/chute --field contact_stress_zz --between 2 4     mean of frames
    scree plot continuum results/silo --field pressure --layer y 0.05              map of the layer next to y = 0.05 m

Components of vectors and tensors are named by their axes: velocity_x, contact_stress_xz.
"""
import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from scree import style
from scree.commands import parser_of
from scree.errors import ResultsError
from scree.results import Results, read_fields

UNITS = {"density": "kg/m3", "velocity": "m/s", "contact_stress": "Pa", "kinetic_stress": "Pa", "pressure": "Pa",
         "temperature": "m2/s2", "temperature_corrected": "m2/s2", "wall_force": "N/m3"}


def component(fields, name):
    """Values of a field, or of the component that its name ends in."""
    if name in fields:
        values = fields[name]
        if values.shape[-1] in (3, 9) and values.ndim > len(fields.cell):
            raise ResultsError(f"{name} has components: give {name}_x or {name}_xy")
        return values, name
    field, _, letters = name.rpartition("_")
    if field not in fields or not letters or any(letter not in "xyz" for letter in letters):
        raise ResultsError(f"there is no field {name!r}; there are: {', '.join(fields.names)}")
    place = 0
    for letter in letters:
        place = 3 * place + "xyz".index(letter)
    if fields[field].ndim == len(fields.cell) or fields[field].shape[-1] != 3 ** len(letters):
        raise ResultsError(f"{field} has no component {letters!r}")
    return fields[field][..., place], field


def mean_of(frames, name):
    """Mean over frames, and the first frame; frames where a cell has no value (nan) do not count for it."""
    first = read_fields(frames[0][1])
    values = np.array([component(read_fields(path), name)[0] for _, path in frames])
    count = np.isfinite(values).sum(axis=0)
    total = np.where(np.isfinite(values), values, 0).sum(axis=0)
    return first, np.where(count > 0, total / np.maximum(count, 1), np.nan)


def draw(results, options, output):
    frames = results.vtk_frames("continuum")
    if not frames:
        raise ResultsError(f"{results.folder} has no such fields; was [output.continuum] in the deck?")
    if options.between:
        low, high = options.between
        frames = [frame for frame in frames if low <= frame[0] <= high]
        if not frames:
            raise ResultsError(f"there is no frame between {low:g} and {high:g} s")
    else:
        frames = frames[-1:]
    fields, values = mean_of(frames, options.field)
    unit = UNITS.get(component(fields, options.field)[1], "-")
    label = f"{options.field} [{unit}]"
    axes_of_data = range(len(fields.cell))
    long = [k for k in axes_of_data if values.shape[len(fields.cell) - 1 - k] > 1]
    figure, axes = plt.subplots(figsize=(5, 4.5), layout="constrained")
    if len(long) == 1:
        k = long[0]
        axes.plot(values.ravel(), fields.middles(k), "-")
        axes.set(xlabel=label, ylabel=f"{'xyz'[k]} [m]")
        axes.grid(alpha=0.3)
    else:
        if len(long) == 3:
            axis = "xyz".index(options.layer[0]) if options.layer else 1
            middles = fields.middles(axis)
            place = float(options.layer[1]) if options.layer else 0.5 * (middles[0] + middles[-1])
            values = np.take(values, np.abs(middles - place).argmin(), axis=2 - axis)
            long = [k for k in long if k != axis]
        values = values.reshape([values.shape[i] for i in range(values.ndim) if values.shape[i] > 1])
        a, b = long
        extent = (fields.lower[a], fields.upper[a], fields.lower[b], fields.upper[b])
        picture = axes.imshow(values, origin="lower", extent=extent, interpolation="nearest")
        figure.colorbar(picture, ax=axes, shrink=0.8, label=label)
        axes.set(xlabel=f"{'xyz'[a]} [m]", ylabel=f"{'xyz'[b]} [m]")
    times = [time for time, _ in frames]
    axes.set_title(f"t = {times[0]:g} s" if len(times) == 1 else
                   f"mean of {len(times)} frames from {times[0]:g} to {times[-1]:g} s", fontsize="medium")
    figure.savefig(output, dpi=150)
    plt.close(figure)
    print(output)
    if np.isfinite(values).any():
        print(f"largest value: {np.nanmax(values):.4g}")


def main(words):
    parser = parser_of("plot continuum", __doc__)
    parser.add_argument("results", type=Path, help="results folder")
    parser.add_argument("--field", default="velocity_x", help="field, or component of one (default velocity_x)")
    parser.add_argument("--between", type=style.finite, nargs=2, metavar=("FROM", "TO"), help="mean of frames of these times [s]")
    parser.add_argument("--layer", nargs=2, metavar=("AXIS", "PLACE"),
                        help="layer of a grid in space that is drawn (default: y, in the middle)")
    parser.add_argument("--output", type=Path, help="picture to write (default: NAME_FIELD.png in the folder)")
    options = parser.parse_args(words)
    style.require_order(parser, options)
    if options.layer:
        try:
            style.finite(options.layer[1])
        except argparse.ArgumentTypeError as error:
            parser.error(f"--layer: {error}")
        if options.layer[0] not in ("x", "y", "z"):
            parser.error(f"--layer: {options.layer[0]!r} is no axis; x, y or z")
    results = Results(options.results)
    draw(results, options, options.output or results.folder / f"{results.name}_{options.field}.png")
