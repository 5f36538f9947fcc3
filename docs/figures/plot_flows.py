#!/usr/bin/python3
"""Draws what `scree verify flows --csv flows.csv` found beside LAMMPS, and how it depends on stiffness; prints the table in Markdown.

    plot_flows.py flows.csv [more.csv] --output docs/flows.png [--reference tests/reference/flows/lammps.csv]

Left: means over seeds over those of LAMMPS, with standard errors; the bars of LAMMPS are its own. Right: cases that ran with
several stiffnesses, over that of LAMMPS too, against the duration of a contact; the line is fitted to each, and its end at 0
stands beside rigid contact: filled with the usual step, hollow with a quarter of it.
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

ROOT = Path(__file__).resolve().parents[2]
COLOURS = {"rigid": "tab:red", "elastic": "tab:purple", "dem": "tab:blue"}
STIFFENING = {"dem": 1, "dem 4k": 4, "dem 16k": 16, "dem 64k": 64}


def read(paths, law=None):
    """{(case, quantity): {law: {seed: value}}}"""
    found = defaultdict(lambda: defaultdict(dict))
    for path in paths:
        if not path.is_file():
            sys.exit(f"plot_flows.py: {path} does not exist")
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(line for line in file if not line.startswith("#"))
            needed = {"case", "seed", "quantity", "value"} | (set() if law else {"law"})
            if not needed <= set(reader.fieldnames or []):
                sys.exit(f"plot_flows.py: {path} has not the columns of a table of flows")
            for row in reader:
                found[row["case"], row["quantity"]][law or row["law"]][row["seed"]] = float(row["value"])
    return found


def mean_and_error(values):
    values = np.array(list(values))
    return values.mean(), values.std(ddof=1) / len(values)**0.5 if len(values) > 1 else 0.0


def text_of(values):
    value, error = mean_and_error(values)
    if len(values) < 2:
        return f"{value:.4g}"
    digits = max(0, 1 - int(np.floor(np.log10(error)))) if error > 0 else 4
    return f"{value:.{digits}f} +- {error:.{digits}f}"


def at_infinite_stiffness(of_law):
    """Of each seed that ran with all stiffnesses, the straight line over the duration of contacts at 0."""
    seeds = set.intersection(*(set(of_law.get(law, {})) for law in STIFFENING))
    x = np.array(list(STIFFENING.values()))**-0.5
    return [np.polyfit(x, [of_law[law][seed] for law in STIFFENING], 1)[1] for seed in sorted(seeds)]


def print_table(found, reference):
    laws = ["rigid", "rigid dt/4", "dem 1/0", "elastic 16k", "elastic", "dem", "LAMMPS"]
    print(f"| case | quantity | {' | '.join(laws)} |\n|{'---|' * (len(laws) + 2)}")
    for (case, quantity), of_law in found.items():
        values = {law: list(seeds.values()) for law, seeds in of_law.items()}
        values["dem 1/0"] = at_infinite_stiffness(of_law)
        values["LAMMPS"] = list(reference.get((case, quantity), {}).get("LAMMPS", {}).values())
        print(f"| {case} | {quantity} | {' | '.join(text_of(values[law]) if values.get(law) else '' for law in laws)} |")


def draw(found, reference, output):
    compared = [key for key in found if key in reference and key[0] not in ("binary", "ternary", "cradle")]
    if not compared:
        sys.exit("plot_flows.py: no quantity that LAMMPS has too")
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 2.5 + 0.25 * len(compared)), width_ratios=(3, 2), layout="constrained")
    for place, key in enumerate(reversed(compared)):
        base, error = mean_and_error(reference[key]["LAMMPS"].values())
        left.barh(place, 2 * error / abs(base), left=1 - error / abs(base), height=0.7, color="0.85")
        for offset, (law, colour) in zip((-0.2, 0, 0.2), COLOURS.items()):
            if law in found[key]:
                value, error = mean_and_error(found[key][law].values())
                left.errorbar(value / base, place + offset, xerr=error / abs(base), fmt="o", markersize=4, color=colour,
                              label=law if place == 0 else None)
    left.axvline(1, color="0.5", linewidth=0.8)
    left.set_yticks(range(len(compared)), [f"{case}: {quantity}" for case, quantity in reversed(compared)], fontsize="small")
    left.set_xlabel("over LAMMPS")
    left.legend(frameon=False)
    several = [key for key in compared if set(STIFFENING) <= set(found[key]) and "[d]" not in key[1]]
    for k, key in enumerate(several):
        base, _ = mean_and_error(reference[key]["LAMMPS"].values())
        points = [(factor**-0.5, *mean_and_error(found[key][law].values())) for law, factor in STIFFENING.items()]
        x, y, error = np.array(points).T
        colour = f"C{k}"
        right.errorbar(x, y / base, yerr=error / abs(base), fmt="o", markersize=4, color=colour, label=f"{key[0]}: {key[1]}")
        right.plot([0, 1], np.polyval(np.polyfit(x, y / base, 1), [0, 1]), color=colour, linewidth=0.8)
        for law, place, fill in (("rigid", -0.1, colour), ("rigid dt/4", -0.05, "none")):
            if law in found[key]:
                value, error = mean_and_error(found[key][law].values())
                right.errorbar(place, value / base, yerr=error / abs(base), fmt="s", markersize=5, color=colour, markerfacecolor=fill)
    right.set(xlabel="duration of a contact over that of the decks\n(squares: rigid, hollow with dt/4)", ylabel="over LAMMPS")
    if several:
        right.legend(fontsize="x-small", frameon=False)
    figure.savefig(output, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path, nargs="+", help="CSV files written by scree verify flows")
    parser.add_argument("--reference", type=Path, default=ROOT / "tests/reference/flows/lammps.csv")
    parser.add_argument("--output", type=Path, help="picture to write (default: beside the table)")
    options = parser.parse_args()
    found, reference = read(options.table), read([options.reference], "LAMMPS")
    print_table(found, reference)
    try:
        draw(found, reference, options.output or options.table[0].with_suffix(".png"))
    except OSError as error:
        sys.exit(f"plot_flows.py: {error}")


if __name__ == "__main__":
    main()
