#!/usr/bin/python3
"""Reduces and draws the three cases of the published comparison of DEM codes (inputs/granular/comparison).

    dem_comparison.py silo results/silo              discharge rate; grains above the orifice over time
    dem_comparison.py drum results/drum              grains in two quadrants, mixing index; over time
    dem_comparison.py impact results/impact          deepest place of the ball; its height over time
    dem_comparison.py silo results/silo --reference tests/reference/granular/dem_codes/silo.csv --columns "large_*"
    dem_comparison.py start 25KParticles.txt --radius 0.001 --output bed.csv     a published start state as a file for decks

Times count from the start of the process: the opening of the orifice, the first turn, the ball at z = 0.06 m.
"""
import argparse
import fnmatch
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "postprocess"))
from scree import Results, style  # noqa: E402
from scree.errors import ResultsError  # noqa: E402
from scree.results import Scalars  # noqa: E402
from scree.verify.dosta_numbers import BALL_START, ball_path, discharge, discharge_rate, mixing  # noqa: E402

def silo(results, options):
    t, n = discharge(results)
    print(f"{n[0]:.0f} grains at the opening, {n[-1]:.0f} after {t[-1]:.3g} s")
    print(f"discharge rate {discharge_rate(t, n, *options.window):.0f} 1/s")
    return "grains above the orifice", [("scree", t, n)]


def drum(results, _):
    t, counts, index = mixing(results)
    for k in (0, len(t) - 1):
        print(f"t = {t[k]:.3g} s: zone 1 {counts[k, 0]} small, {counts[k, 1]} large; zone 2 {counts[k, 2]} small, "
              f"{counts[k, 3]} large; Lacey's index {index[k]:.3f}")
    names = ("zone1_small", "zone1_large", "zone2_small", "zone2_large")
    return "grains in a zone", [(f"scree_{name}", t, counts[:, k]) for k, name in enumerate(names)]


def impact(results, _):
    t, z = ball_path(results)
    k = z.argmin()
    print(f"deepest {z[k] - BALL_START:.4f} m at t = {t[k]:.4g} s; {z[-1] - BALL_START:.4f} m at t = {t[-1]:.4g} s")
    return "height of the ball [m]", [("scree", t, z)]


def start_csv(source, radius=None):
    """Text of a CSV file from a published start state: rows of x y z [m], or of radius x y z below a line of titles. With `radius`
    only grains of that radius are taken: one kind of the drum, the bed without the ball."""
    rows = []
    for number, line in enumerate(Path(source).read_text(encoding="utf-8").splitlines(), 1):
        try:
            row = [float(word) for word in line.split()]
        except ValueError as error:
            if number == 1:
                continue
            raise ResultsError(f"{source}:{number}: not numbers: {line.strip()!r}") from error
        if row and len(row) not in (3, 4):
            raise ResultsError(f"{source}:{number}: {len(row)} numbers, not x y z or radius x y z")
        if row:
            rows.append(row)
    if not rows or len({len(row) for row in rows}) != 1:
        raise ResultsError(f"{source}: rows of different lengths, or none")
    titles = ["radius", "x", "y", "z"][-len(rows[0]):]
    if radius is not None:
        if len(titles) == 3:
            raise ResultsError(f"{source} has no radii, so --radius cannot choose")
        rows = [row for row in rows if abs(row[0] - radius) < 1e-3 * radius]
        if not rows:
            raise ResultsError(f"{source} has no grain of radius {radius:g} m")
    return "\n".join([",".join(titles), *(",".join(map(repr, row)) for row in rows)]) + "\n"


def draw(label, curves, options):
    with style.context(options.style):
        figure, axes = plt.subplots()
        for name, t, values in curves:
            axes.plot(t, values, label=name)
        if options.reference:
            table = Scalars(options.reference)
            names = [name for name in table.names if name != "time" and fnmatch.fnmatch(name, options.columns)]
            if not names:
                raise ResultsError(f"{options.reference} has no column like {options.columns!r}; there are: {', '.join(table.names)}")
            for name in names:
                axes.plot(table["time"], table[name], label=name, linewidth=0.8)
        axes.set(xlabel="t [s]", ylabel=label)
        axes.legend()
        style.save(figure, options.output)
    print(options.output)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=("silo", "drum", "impact", "start"))
    parser.add_argument("source", help="results folder; for start: a published file")
    parser.add_argument("--reference", type=Path, help="table of curves to draw beside, as in tests/reference/granular/dem_codes")
    parser.add_argument("--columns", default="*", help="which of its columns; * and ? match as in a shell")
    parser.add_argument("--window", nargs=2, type=float, default=(0.5, 3.5), metavar=("FROM", "TO"),
                        help="silo: times between which the rate is taken [s] (default: 0.5 3.5)")
    parser.add_argument("--radius", type=float, help="start: take grains of this radius only [m]")
    parser.add_argument("--output", type=Path, help="picture to write (default: NAME_CASE.png in the folder); for start: the CSV file")
    parser.add_argument("--style", choices=style.STYLES, default="screen")
    options = parser.parse_args()
    if options.case == "start":
        if not options.output:
            parser.error("start needs --output FILE.csv")
        options.output.write_text(start_csv(options.source, options.radius), encoding="utf-8")
        return
    results = Results(options.source)
    options.output = options.output or results.folder / f"{results.name}_{options.case}.png"
    draw(*{"silo": silo, "drum": drum, "impact": impact}[options.case](results, options), options)


if __name__ == "__main__":
    try:
        main()
    except (ResultsError, OSError) as error:
        sys.exit(f"dem_comparison.py: {error}")
