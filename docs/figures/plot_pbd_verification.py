#!/usr/bin/python3
"""Draws the convergence of first-order methods: error against step size, and error against work.

    plot_pbd_verification.py pbd.csv --output pbd.png [--error error_end]

`scree verify pbd --csv` writes the table: case,method,parameter,h,error_max,error_end,evaluations. `evaluations`
counts constraint projections, the fair measure when methods take a different number of sweeps per step.
"""
import argparse
import csv
import sys
from collections import defaultdict
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

NUMBERS = ("h", "error_max", "error_end", "evaluations")


def read_cases(path):
    """{case: {method label: {column: array in order of falling h}}}"""
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        missing = [name for name in ("case", "method", "parameter", *NUMBERS) if name not in (reader.fieldnames or [])]
        if missing:
            sys.exit(f"{path}: no column {', '.join(missing)}")
        rows = list(reader)
    if not rows:
        sys.exit(f"{path}: no rows")
    series = defaultdict(lambda: defaultdict(list))
    for row in rows:
        parameter = row["parameter"].strip()
        label = row["method"] if parameter in ("", "-") else f"{row['method']}, {parameter}"
        series[row["case"]][label].append([float(row[name]) for name in NUMBERS])
    return {case: {label: dict(zip(NUMBERS, np.array(sorted(values, reverse=True)).T))
                   for label, values in methods.items()}
            for case, methods in series.items()}


def draw_guide(panel, x, y):
    """A dashed line of slope 1 beneath the data in the log-log plane."""
    low, high = min(x), max(x)
    factor = 0.5 * min(y[k] / x[k] for k in range(len(x)))
    panel.plot([low, high], [factor * low, factor * high], "k--", linewidth=0.8)
    panel.annotate("slope 1", (high, factor * high), fontsize="small", ha="right", va="top")


def draw(cases, error, output):
    figure, panels = plt.subplots(len(cases), 2, squeeze=False, figsize=(11, 4.2 * len(cases)), layout="constrained")
    for (case, methods), (by_step, by_work) in zip(cases.items(), panels):
        markers = "osD^v<>Ph*X"
        for k, (label, columns) in enumerate(methods.items()):
            shown = columns[error] > 0      # a logarithmic axis cannot show an exact result
            style = {"marker": markers[k % len(markers)], "markersize": 4, "linewidth": 1.2, "label": label}
            by_step.loglog(columns["h"][shown], columns[error][shown], **style)
            by_work.loglog(columns["evaluations"][shown], columns[error][shown], **style)
        points = [(h, e) for columns in methods.values() for h, e in zip(columns["h"], columns[error]) if e > 0]
        if points:
            draw_guide(by_step, *zip(*points))
        by_step.set(title=case, xlabel="step h [s]", ylabel=f"{error} [m]")
        by_work.set(title=case, xlabel="constraint evaluations [-]", ylabel=f"{error} [m]")
        by_work.legend(fontsize="small", frameon=False)
        for panel in (by_step, by_work):
            panel.grid(which="both", alpha=0.2)
    figure.savefig(output, dpi=120)
    print(output)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path, help="CSV file written by scree verify pbd")
    parser.add_argument("--error", choices=("error_max", "error_end"), default="error_max",
                        help="largest over the path, or at the end")
    parser.add_argument("--output", type=Path, help="picture to write (default: beside the table)")
    options = parser.parse_args()
    if not options.table.is_file():
        sys.exit(f"plot_pbd_verification.py: {options.table} does not exist")
    draw(read_cases(options.table), options.error, options.output or options.table.with_suffix(".png"))


if __name__ == "__main__":
    main()
