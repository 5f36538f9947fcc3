#!/usr/bin/python3
"""Draws the runs of `scree_verify dae`: drift from constraints and energy of pendulums, or motion with dry friction.

    plot_dae_verification.py pendulum.csv --output pendulum.png

`scree_verify dae CASE --csv` writes the table. Pendulums have a row of panels for each gravity, step and
integrator, with a line for each projection; slope and oscillator a row for each start, with the exact motion, the
one with switching inside steps and the one with friction against sign(v).
"""
import argparse
import csv
import os
import sys
from collections import defaultdict
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

PENDULUM = ("bodies", "g", "projection", "integrator", "dt", "t", "body", "g_max", "Gv_max", "energy")
FRICTION = ("dt", "integrator", "t", "x_exact", "v_exact", "x_switch", "v_switch", "x_sign", "v_sign")
# Below this, constraint errors are round-off; a logarithmic axis cannot show zero.
LEAST = 1e-18


def read_rows(path):
    """Column names and rows of the table; ends the program if it is none of scree_verify dae."""
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        names = reader.fieldnames or []
        rows = list(reader)
    if not all(name in names for name in PENDULUM) and not all(name in names for name in FRICTION):
        sys.exit(f"{path}: these are not the columns of scree_verify dae: {', '.join(names)}")
    if not rows:
        sys.exit(f"{path}: no rows")
    return names, rows


def series_of(rows, key_names, columns):
    """{key: {column: array}}, in the order of the table."""
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in key_names)].append([float(row[name]) for name in columns])
    return {key: dict(zip(columns, np.array(values).T)) for key, values in groups.items()}


def draw_pendulums(rows):
    once = [row for row in rows if row["body"] == "1"]      # constraints and energy are those of the whole system
    series = series_of(once, ("bodies", "g", "dt", "integrator", "projection"), ("t", "g_max", "Gv_max", "energy"))
    systems = list(dict.fromkeys(key[:-1] for key in series))
    figure, panels = plt.subplots(len(systems), 3, squeeze=False, figsize=(13, 3.6 * len(systems)), layout="constrained")
    for system, (position, velocity, energy) in zip(systems, panels):
        bodies, gravity, dt, integrator = system
        for key, columns in series.items():
            if key[:-1] != system:
                continue
            t = columns["t"]
            position.semilogy(t, np.maximum(columns["g_max"], LEAST), label=key[-1])
            velocity.semilogy(t, np.maximum(columns["Gv_max"], LEAST))
            energy.plot(t, columns["energy"] - columns["energy"][0])
        position.set(title=f"{bodies} {'body' if bodies == '1' else 'bodies'}, g = {gravity}, dt = {dt}, {integrator}", ylabel="largest |g| [m2]")
        velocity.set(ylabel="largest |G v| [m2/s]")
        energy.set(ylabel="change of energy [J]")
        position.legend(fontsize="small", frameon=False)
        # Runs that blow up, or are about to, would hide all others.
        of_system = [columns for key, columns in series.items() if key[:-1] == system]
        tame = [columns for columns in of_system if columns["g_max"].max() < 1] or of_system
        most = 1.2 * max(abs(columns["energy"] - columns["energy"][0]).max() for columns in tame) or 1
        energy.set_ylim(-most, most)
        position.set_ylim(LEAST / 2, 10)
        velocity.set_ylim(LEAST / 2, 10)
    return figure, panels


def draw_friction(names, rows):
    own = tuple(names[:names.index("dt")])
    series = series_of(rows, (*own, "dt", "integrator"), FRICTION[2:])
    figure, panels = plt.subplots(len(series), 2, squeeze=False, figsize=(11, 2.8 * len(series)), layout="constrained")
    for (key, columns), pair in zip(series.items(), panels):
        for panel, quantity, unit in zip(pair, "xv", ("m", "m/s")):
            for kind, style, label in (("exact", "k-", "exact"), ("switch", "C0o", "switching"), ("sign", "C3-", "sign(v)")):
                panel.plot(columns["t"], columns[f"{quantity}_{kind}"], style, markersize=2, linewidth=1, label=label)
            panel.set(ylabel=f"{quantity} [{unit}]")
        pair[0].set(title=", ".join(f"{name} = {float(value):g}" for name, value in zip((*own, "dt"), key)))
        pair[0].legend(fontsize="small", frameon=False)
    return figure, panels


def save(figure, output):
    """The picture is complete or absent: written under another name and renamed."""
    unfinished = output.with_name(f".{output.stem}.{os.getpid()}{output.suffix}")
    try:
        figure.savefig(unfinished, dpi=120)
        unfinished.replace(output)
    finally:
        unfinished.unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path, help="CSV file written by scree_verify dae")
    parser.add_argument("--output", type=Path, help="picture to write (default: beside the table)")
    options = parser.parse_args()
    if not options.table.is_file():
        sys.exit(f"plot_dae_verification.py: {options.table} does not exist")
    names, rows = read_rows(options.table)
    figure, panels = draw_pendulums(rows) if "projection" in names else draw_friction(names, rows)
    for panel in panels.flat:
        panel.set_xlabel("t [s]")
        panel.grid(alpha=0.2)
    output = options.output or options.table.with_suffix(".png")
    try:
        save(figure, output)
    except (OSError, ValueError) as error:
        sys.exit(f"plot_dae_verification.py: {output}: {error}")
    print(output)


if __name__ == "__main__":
    main()
