#!/usr/bin/python3
"""Draws columns of a run's time series over time, one panel per unit, profiles as maps; several runs are overlaid.

    plot_scalars.py results/attraction                               what was measured
    plot_scalars.py results/attraction --all                         how the method fared too: dt, sweeps, residual, ...
    plot_scalars.py results/attraction --columns max_overlap --log
    plot_scalars.py results/a results/b --columns kinetic_energy --output compare.pdf --style paper
"""
import argparse
import sys

import matplotlib

matplotlib.use("Agg")

from scree.errors import ResultsError  # noqa: E402
from scree import Results, plots, style  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", help="results folders")
    parser.add_argument("--columns", nargs="+", metavar="NAME", help="columns to draw; * and ? match as in a shell")
    parser.add_argument("--all", action="store_true", help="columns of the method too")
    parser.add_argument("--log", action="store_true", help="logarithmic values")
    style.add_options(parser, "NAME_scalars.png in the first folder")
    options = parser.parse_args()
    runs = [Results(folder) for folder in options.results]
    output = options.output or runs[0].folder / f"{runs[0].name}_scalars.png"
    style.save(plots.scalars(runs, options.columns, options.log, options.all, options.style)[0].figure, output)
    print(output)


if __name__ == "__main__":
    try:
        main()
    except ResultsError as error:
        sys.exit(f"plot_scalars.py: {error}")
