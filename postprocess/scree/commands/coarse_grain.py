"""Writes continuum fields of a frame of a run, computed from its bodies and contacts ([output.vtk]), as CSV.

    scree coarse-grain results/chute --axis z --width 4e-3 --area 0.005 --from 0 --to 0.08
    scree coarse-grain results/chute --frame 3 --axis z --width 4e-3 --area 0.005 --from 0 --to 0.08 --output fields.csv

The equations are those of [output.continuum]; this is for runs that did not ask for it. Space only.
"""
from pathlib import Path

import numpy as np

from scree.coarse_grain import Gauss, coarse_grain, frame_of
from scree.commands import parser_of
from scree.results import Results


def table_of(fields):
    """Columns by name: components of vectors and tensors one by one."""
    columns = {}
    for name, values in fields.items():
        flat = values.reshape(len(values), -1)
        letters = {1: [""], 3: ["_x", "_y", "_z"], 9: ["_" + a + b for a in "xyz" for b in "xyz"]}[flat.shape[1]]
        columns.update({name + letter: flat[:, k] for k, letter in enumerate(letters)})
    return columns


def main(words):
    parser = parser_of("coarse-grain", __doc__)
    parser.add_argument("results", type=Path, help="results folder")
    parser.add_argument("--frame", type=int, default=-1, help="number of the frame (default: the last)")
    parser.add_argument("--axis", choices="xyz", default="z", help="axis of the profile (default z)")
    parser.add_argument("--width", type=float, required=True, help="standard deviation of the Gauss [m]")
    parser.add_argument("--area", type=float, required=True, help="area across the axis [m2]")
    parser.add_argument("--from", dest="low", type=float, required=True, help="first point [m]")
    parser.add_argument("--to", dest="high", type=float, required=True, help="last point [m]")
    parser.add_argument("--points", type=int, default=50, help="number of points (default 50)")
    parser.add_argument("--period", type=float, help="period along the axis [m]")
    parser.add_argument("--output", type=Path, help="file to write (default: NAME_fields.csv in the folder)")
    options = parser.parse_args(words)
    if not (options.width > 0 and options.area > 0 and options.points > 0):
        parser.error("--width, --area and --points must be positive")
    results = Results(options.results)
    axis = "xyz".index(options.axis)
    periods = [options.period if k == axis else None for k in range(3)]
    points = np.linspace(options.low, options.high, options.points)
    fields = coarse_grain(*frame_of(results, options.frame), Gauss(options.width), points, periods, axis, options.area)
    columns = {options.axis: points, **table_of(fields)}
    output = options.output or results.folder / f"{results.name}_fields.csv"
    np.savetxt(output, np.column_stack(list(columns.values())), delimiter=",", header=",".join(columns), comments="")
    print(f"{len(points)} points in {output}")
