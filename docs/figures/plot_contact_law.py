#!/usr/bin/python3
"""Draws what `scree verify contact-law --csv law.csv` found: elastic contacts against the length of the step.

    plot_contact_law.py law.csv [--output docs/contact-law.png]

Left: error of the restitution of one ball on a floor. Middle: duration of its contact, in steps in which it acts. Right: velocities of
three balls in a row and their energy; lines at the left edge are soft contact followed in small steps.
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


def read(path):
    """{(case, quantity, e): [(omega dt, found, exact), ...]}"""
    if not path.is_file():
        sys.exit(f"plot_contact_law.py: {path} does not exist")
    found = defaultdict(list)
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if not {"case", "e", "omega_dt", "quantity", "found", "exact"} <= set(reader.fieldnames or []):
            sys.exit(f"plot_contact_law.py: {path} has not the columns of a table of contact-law")
        for row in reader:
            numbers = tuple(float(row[name]) for name in ("omega_dt", "found", "exact"))
            found[row["case"], row["quantity"], float(row["e"])].append(numbers)
    return found


def draw(found, output):
    figure, (error, duration, three) = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
    for (case, quantity, e), rows in found.items():
        step, value, exact = np.array(rows).T
        if (case, quantity) == ("one sphere", "restitution"):
            error.loglog(step, np.maximum(np.abs(value / exact - 1), 1e-16), "o-", markersize=3, label=f"e = {e:g}")
        if (case, quantity) == ("one sphere", "duration [s]"):
            duration.loglog(step, value / exact, "o-", markersize=3, label=f"e = {e:g}")
        if case == "three spheres" and e == 0.5:
            line, = three.semilogx(step, value, "o-", markersize=3, label="energy" if quantity == "energy" else quantity)
            three.axhline(exact[0], xmax=0.15, color=line.get_color(), linewidth=0.8)
    error.axhline(0.01, color="0.6", linewidth=0.8)
    error.set(xlabel="omega dt", ylabel="error of the restitution", ylim=(1e-16, 1))
    duration.set(xlabel="omega dt", ylabel="duration of the contact over exact")
    three.set(xlabel="omega dt", ylabel="over the speed (energy) of the impact, e = 0.5")
    for axes in (error, duration, three):
        axes.legend(fontsize="small", frameon=False)
    figure.savefig(output, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path, help="CSV written by scree verify contact-law")
    parser.add_argument("--output", type=Path, help="picture to write (default: beside the table)")
    options = parser.parse_args()
    try:
        draw(read(options.table), options.output or options.table.with_suffix(".png"))
    except OSError as error:
        sys.exit(f"plot_contact_law.py: {error}")


if __name__ == "__main__":
    main()
