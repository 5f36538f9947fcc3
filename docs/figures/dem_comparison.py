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
import numpy as np  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "postprocess"))
from scree import Results, style  # noqa: E402
from scree.errors import ResultsError  # noqa: E402
from scree.results import Scalars  # noqa: E402

BALL_START = 0.06       # height of the ball at time 0 of the impact [m]
BALL_SPEED = 5.0        # its speed then [m/s]


def of_deck(results, *keys):
    """A value of the deck of a run."""
    value = results.deck
    try:
        for key in keys:
            value = value[key]
    except (KeyError, IndexError):
        raise ResultsError(f"{results.folder}: its deck has no {'.'.join(map(str, keys))}; is it a run of this case?") from None
    return value


def discharge(results):
    """(t, n): time since the orifice opened [s], and grains that have not passed it yet."""
    start = of_deck(results, "stages", 0, "duration")
    scalars = results.scalars
    t = scalars["time"] - start
    now = t >= -1e-9
    if not now.any():
        raise ResultsError(f"{results.folder}: the run ended before the orifice opened, at {start:g} s")
    passed = scalars["orifice_n_bodies"]
    return t[now], scalars["n_bodies"][0] - passed[now]


def discharge_rate(t, n, low=0.5, high=3.5):
    """Grains per second: slope of the line through (t, n) between two times, while more than 2 % of the grains are left."""
    used = (t >= low) & (t <= high) & (n > 0.02 * n[0])
    if used.sum() < 3:
        raise ResultsError(f"no discharge rate: fewer than three rows between {low:g} s and {high:g} s with grains left")
    return -np.polyfit(t[used], n[used], 1)[0]


def zone_counts(x, small):
    """Small and large grains in zone 1 (x > 0, z > 0) and in zone 2 (x < 0, z < 0)."""
    zones = (x[:, 0] > 0) & (x[:, 2] > 0), (x[:, 0] < 0) & (x[:, 2] < 0)
    return [np.count_nonzero(zone & kind) for zone in zones for kind in (small, ~small)]


def lacey_index(x, small, cell=0.02, least=10):
    """Lacey's mixing index from shares by number in cubic cells with at least `least` grains: 0 for kinds apart, 1 for a random
    mixture. P. M. C. Lacey, J. Appl. Chem. 4 (1954) 257, with the variances weighted by the grains of a cell."""
    _, where, total = np.unique(np.floor(x / cell).astype(int), axis=0, return_inverse=True, return_counts=True)
    where = where.ravel()
    share = np.bincount(where, weights=small) / total
    used = total >= least
    if not used.any():
        raise ResultsError(f"no mixing index: no cell of {cell:g} m has {least} grains")
    mean = np.average(share[used], weights=total[used])
    apart = mean * (1 - mean)
    mixed = apart * used.sum() / total[used].sum()
    found = np.average((share[used] - mean)**2, weights=total[used])
    if apart <= mixed:
        raise ResultsError("no mixing index: there is one kind of grains only")
    return (apart - found) / (apart - mixed)


def mixing(results):
    """(t, counts (n, 4), index (n)): time since the drum turns [s], what zone_counts and lacey_index say of each frame."""
    start = of_deck(results, "obstacles", "drum", "motion", "start")
    trajectory = results.trajectory
    frames = [k for k, t in enumerate(trajectory.times) if t >= start - 1e-9]
    if not frames:
        raise ResultsError(f"{results.folder}: no frame after the drum starts to turn, at {start:g} s")
    counts, index = [], []
    for k in frames:
        x, radius = trajectory.positions(k), trajectory.radius(k)
        small = radius < 0.5 * (radius.min() + radius.max())
        counts.append(zone_counts(x, small))
        index.append(lacey_index(x, small))
    return trajectory.times[frames] - start, np.array(counts), np.array(index)


def ball_path(results):
    """(t, z): time since the ball was at z = 0.06 m [s], and the height of its centre [m], frame by frame from then on."""
    trajectory = results.trajectory
    ball = trajectory.ids(0)[trajectory.radius(0).argmax()]
    z = np.array([trajectory.positions(k)[trajectory.ids(k) == ball, 2][0] for k in range(trajectory.n_frames)])
    # The ball flies freely from its start to 0.06 m, where it has BALL_SPEED: z0 = 0.06 + v0 s + g s^2 / 2, v0 = 5 - g s.
    g = -of_deck(results, "physics", "gravity", 2)
    lead = (BALL_SPEED - np.sqrt(BALL_SPEED**2 - 2 * g * (z[0] - BALL_START))) / g
    t = trajectory.times - lead
    now = t >= -1e-9
    if not now.any():
        raise ResultsError(f"{results.folder}: the run ended before the ball was at {BALL_START} m")
    return t[now], z[now]


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
