#!/usr/bin/python3
"""Draws columns of a run's time series over time, one panel per unit; several runs are overlaid.

    plot_scalars.py results/attraction                               all columns
    plot_scalars.py results/attraction --columns max_overlap --log
    plot_scalars.py results/a results/b --columns kinetic_energy --output compare.png
"""
import argparse
import fnmatch
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from scree_results import Results, ResultsError

AXES = ("time", "step")


def chosen_columns(runs, patterns):
    """Columns of the first run that match one of `patterns` (shell style), in the order of the table."""
    scalars = runs[0].scalars
    if not patterns:
        return [name for name in scalars.names if name not in AXES]
    for pattern in patterns:
        if not fnmatch.filter(scalars.names, pattern):
            raise ResultsError(f"no column matches {pattern!r}; there are: {', '.join(scalars.names)}")
    return [name for name in scalars.names if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]


def draw(runs, columns, log, output):
    units = list(dict.fromkeys(runs[0].scalars.units[name] for name in columns))
    figure, panels = plt.subplots(len(units), 1, sharex=True, squeeze=False, layout="constrained",
                                  figsize=(8, 1.2 + 2.8 * len(units)))
    for unit, panel in zip(units, panels[:, 0]):
        for name in (name for name in columns if runs[0].scalars.units[name] == unit):
            for run in runs:
                label = name if len(runs) == 1 else f"{name} ({run.folder.name})"
                panel.plot(run.scalars["time"], run.scalars[name], label=label, linewidth=1.4)
        if log:
            panel.set_yscale("log")
        panel.set_ylabel(f"[{unit}]")
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small", frameon=False)
    panels[-1, 0].set_xlabel(runs[0].scalars.label("time"))
    figure.savefig(output, dpi=120)
    print(output)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", help="results folders")
    parser.add_argument("--columns", nargs="+", metavar="NAME", help="columns to draw; * and ? match as in a shell")
    parser.add_argument("--log", action="store_true", help="logarithmic values")
    parser.add_argument("--output", type=Path, help="picture to write (default: NAME_scalars.png in the first folder)")
    options = parser.parse_args()
    runs = [Results(folder) for folder in options.results]
    output = options.output or runs[0].folder / f"{runs[0].name}_scalars.png"
    draw(runs, chosen_columns(runs, options.columns), options.log, output)


if __name__ == "__main__":
    try:
        main()
    except ResultsError as error:
        sys.exit(f"plot_scalars.py: {error}")
