#!/usr/bin/python3
"""Compares the default agents with experiments: flow through bottlenecks, speed against density in corridors and single files.

    calibrate-crowd.py                                     all widths and densities, 3 seeds: some minutes
    calibrate-crowd.py --quick                             part of them with one seed: what the tests run
    calibrate-crowd.py --set agents.person.creep_speed=0.2  another creep speed
    calibrate-crowd.py --csv table.csv

Every number is a mean over seeds. Exit code 1: one is outside its band; 2: a run failed.

- Bottlenecks: 150 persons in a room of 10 m x 8 m (250 in 12 m x 10 m from a width of 1.9 m on) walk through a bottleneck 4 m
  long; shorter ones are in `scree verify crowd --case doors`. The flow is taken at its middle between the 20th and the 80th percentile of those who pass. Band: 1.3 to 2.4 persons per second and metre
  (the experiments in tests/reference/crowd/bottleneck_flow.csv), and 1.6 to 2.4 for the slope of the straight line
  through all widths. If somebody has not passed after 600 s, the run has stalled.
- Corridors: 5 m wide, periodic; mean speed of all over the second half of 60 s. Bands: 10th and 90th percentile of
  tests/reference/crowd/corridor_unidirectional.csv.
- Single file: 40 persons in a periodic corridor 0.7 m wide (two fit side by side into the 0.8 m of the experiments) who do not turn
  or step aside (crowd.turning_angle = 0, crowd.spreading = 0: in the experiments nobody overtook). Bands: those of tests/reference/crowd/single_file.csv, up to
  2.5 per metre: disks of that size cannot form a file at its last density, 2.72 per metre.
- Doors: the room of NIST TN 1822, test 5.2, 8 m x 5 m with 100 persons and a door 1 m wide and 1 m deep, with default agents and with agents
  who do not turn aside and slow down for all in their way. No band: the first flow is that of
  experiments, the second one meets the test (at most 1.33 persons per second and metre).
"""
import argparse
import csv
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "tests/reference/crowd"
WIDTHS = (0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.5, 3.0)
DENSEST_FILE = 2.5     # [1/m]
FLOW = (1.3, 2.4)      # per metre of width [1/(m s)]
SLOPE = (1.6, 2.4)     # [1/(m s)]
QUICK = {"neck": (0.8, 1.2, 2.0, 3.0), "corridor": (1.0, 2.0, 3.0, 4.0), "file": (0.71, 1.11, 1.71, 2.29), "door": ()}

HEAD = """\
[simulation]
title = "Calibration of crowds"
dimension = 2
scheme = "crowd"
seed = {seed}
end_time = {end}
[time]
step = 0.05
"""
RING = HEAD + """\
[domain]
lower = [0, -0.5]
upper = [{length}, {beyond}]
periodic = [true, false]
[walkable]
polygon = [[-1, 0], [{past}, 0], [{past}, {width}], [-1, {width}]]
[crowd]
direction = [1, 0]
{populations}
[analysis]
every = 0.5
[measures.all]
type = "window"
method = "classic"
lower = [0, 0]
upper = [{length}, {width}]
"""
NECK = HEAD + """\
[walkable]
polygon = [[0, 0], [{x}, 0], [{x}, {low}], [{x2}, {low}], [{x2}, 0], [{x3}, 0], [{x3}, {y}], [{x2}, {y}], [{x2}, {high}],
           [{x}, {high}], [{x}, {y}], [0, {y}]]
[exits.end]
line = [[{x3}, 0], [{x3}, {y}]]
[populations.crowd]
count = {count}
region = [[0.3, 0.3], [{start}, 0.3], [{start}, {top}], [0.3, {top}]]
[analysis]
every = 0.1
[measures.neck]
type = "line_flow"
line = [[{middle}, {low}], [{middle}, {high}]]
"""


class Failed(Exception):
    """A run failed."""


@dataclass
class Case:
    """One run: the varied parameter, the deck, its other keys, and how its number is computed from columns."""
    kind: str
    at: float
    seed: int
    deck: str
    changes: tuple
    evaluate: object


def population(name, count, x, y):
    corners = ", ".join(f"[{a:.6f}, {b:.6f}]" for a, b in ((x[0], y[0]), (x[1], y[0]), (x[1], y[1]), (x[0], y[1])))
    return f"[populations.{name}]\ncount = {count}\nregion = [{corners}]\n"


def ring(kind, density, seed, *, length, width, populations, changes=()):
    end = 60
    deck = RING.format(seed=seed, end=end, length=f"{length:.6f}", past=f"{length + 1:.6f}", beyond=width + 0.5, width=width,
                       populations=populations)

    def mean_speed(columns):
        return float(columns["all_speed"][columns["time"] > end / 2].mean())
    return Case(kind, density, seed, deck, changes, mean_speed)


def corridor(density, seed):
    length = 60.0 if density <= 1.5 else 24.0     # enough persons for their mean desired speed
    walkers = population("walkers", round(density * 5 * length), (0, length), (0, 5))
    return ring("corridor", density, seed, length=length, width=5.0, populations=walkers)


def single_file(density, seed):
    count = 40
    spacing = 1 / density
    # One behind the other; where they would touch, alternately a little to the left and to the right.
    aside = np.sqrt(max(0.4**2 - spacing**2, 0)) / 2
    file = ""
    for k in range(count):
        x, y = (k + 0.5) * spacing, 0.35 + (aside if k % 2 else -aside)
        file += population(f"walker_{k}", 1, (x - 5e-4, x + 5e-4), (y - 5e-4, y + 5e-4))
    return ring("file", density, seed, length=count * spacing, width=0.7, populations=file,
                changes=("crowd.turning_angle=0", "crowd.spreading=0"))


def neck(width, seed, *, kind="neck", at=None, room=None, deep=4.0, beyond=4.0, changes=()):
    x, y, count = room or ((10.0, 8.0, 150) if width < 1.9 else (12.0, 10.0, 250))
    deck = NECK.format(seed=seed, end=600, x=x, y=y, x2=x + deep, x3=x + deep + beyond, low=y / 2 - width / 2,
                       high=y / 2 + width / 2, count=count, start=x - (1 if room else 2), top=y - 0.3,
                       middle=x + deep / 2)

    def flow(columns):
        passed = columns["neck_net"]
        if passed.max() < count:
            raise Failed(f"stall: {count - passed.max():.0f} of {count} persons do not get through")
        first, last = (int(np.argmax(passed >= share * count)) for share in (0.2, 0.8))
        return float((passed[last] - passed[first]) / (columns["time"][last] - columns["time"][first]))
    return Case(kind, width if at is None else at, seed, deck, changes, flow)


DOORS = {1.0: ("as it is", ()),
         2.0: ("cautious: turning_angle = 0, spreading = 0, headway_width = moving_width = 1, creep_speed = 0.1 m/s",
               ("crowd.turning_angle=0", "crowd.spreading=0", "crowd.headway_width=1", "crowd.moving_width=1",
                "agents.person.creep_speed=0.1"))}


def door(which, seed):
    return neck(1.0, seed, kind="door", at=which, room=(8.0, 5.0, 100), deep=1.0, beyond=2.0, changes=DOORS[which][1])


def run(case, options, folder):
    """Number of the run; raises Failed."""
    folder.mkdir()
    (folder / "deck.toml").write_text(case.deck)
    settings = [word for key in (*options.set, *case.changes) for word in ("--set", key)]
    result = subprocess.run([options.bin / "scree", "run", "deck.toml", *settings], cwd=folder, text=True,
                            capture_output=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"})
    if result.returncode != 0:
        raise Failed(f"exit code {result.returncode}: {result.stderr.strip()[-400:]}")
    with open(folder / "results/deck/deck.scalars.csv", newline="") as file:
        header, *rows = csv.reader(file)
    table = np.array(rows, dtype=float)
    columns = {name.split("[")[0]: table[:, k] for k, name in enumerate(header)}
    value = case.evaluate(columns)
    shutil.rmtree(folder)
    return value


def band_of(table, density):
    with open(REFERENCE / f"{table}.csv", newline="") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            if float(row[next(iter(row))]) == density:
                return float(row["speed_p10[m/s]"]), float(row["speed_p90[m/s]"])
    raise KeyError(density)


def densities(table):
    with open(REFERENCE / f"{table}.csv", newline="") as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))[1:]
    return tuple(float(row[0]) for row in rows)


class Report:
    """Rows of the table, printed as they are computed."""

    def __init__(self):
        self.rows = []
        self.missed = 0

    def row(self, kind, at, values, band):
        mean, spread = float(np.mean(values)), float(np.ptp(values))
        inside = band is None or band[0] <= mean <= band[1]
        self.missed += not inside
        limits = "" if band is None else f"{band[0]:6.2f} .. {band[1]:5.2f}"
        print(f"  {at:>8}  {mean:7.3f}  {spread:6.3f}  {limits:>15}  {'' if inside else 'OUTSIDE'}", flush=True)
        self.rows.append((kind, at, mean, spread, *(band or ("", "")), "yes" if inside else "no"))


def head(title, first):
    print(f"\n{title}\n  {first:>8}  {'mean':>7}  {'spread':>6}  {'band':>15}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin", help="folder of scree")
    parser.add_argument("--quick", action="store_true", help="part of the widths and densities, one seed")
    parser.add_argument("--only", choices=tuple(QUICK), help="one of the experiments")
    parser.add_argument("--seeds", type=int, help="runs of each, with seeds 1, 2, ... (3; 1 if --quick)")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a key of all decks")
    parser.add_argument("--csv", type=Path, help="write the table")
    options = parser.parse_args()
    options.bin = options.bin.resolve()
    if not (options.bin / "scree").exists():
        parser.error(f"there is no {options.bin / 'scree'}: say where it is with --bin")
    seeds = range(1, 1 + (options.seeds or (1 if options.quick else 3)))
    full = {"neck": WIDTHS, "corridor": densities("corridor_unidirectional"), "file": tuple(rho for rho in densities("single_file") if rho <= DENSEST_FILE), "door": tuple(DOORS)}
    points = {kind: at if options.only in (None, kind) else () for kind, at in (QUICK if options.quick else full).items()}
    make = {"neck": neck, "corridor": corridor, "file": single_file, "door": door}
    cases = [make[kind](at, seed) for kind, ats in points.items() for at in ats for seed in seeds]

    failures = []
    values = {}
    with tempfile.TemporaryDirectory(prefix="calibrate-crowd-") as scratch, ThreadPoolExecutor(options.jobs) as pool:
        started = [(case, pool.submit(run, case, options, Path(scratch) / str(k))) for k, case in enumerate(cases)]
        for case, future in started:
            try:
                value = future.result()
                values.setdefault((case.kind, case.at), []).append(value)
            except Failed as failure:
                failures.append(f"{case.kind} at {case.at:g}, seed {case.seed}: {failure}")

    report = Report()
    if points["neck"]:
        head("Necks: width [m], flow [1/s]", "width")
    widths = [b for b in points["neck"] if ("neck", b) in values]
    for b in widths:
        report.row("neck", b, values["neck", b], (FLOW[0] * b, FLOW[1] * b))
    if len(widths) > 1:
        flows = [float(np.mean(values["neck", b])) for b in widths]
        report.row("neck", "slope", [float(np.polyfit(widths, flows, 1)[0])], SLOPE)
    for kind, table, title, unit in (("corridor", "corridor_unidirectional", "Corridor", "1/m2"),
                                     ("file", "single_file", "Single file", "1/m")):
        if points[kind]:
            head(f"{title}: density [{unit}], speed [m/s]", "density")
        for density in points[kind]:
            if (kind, density) in values:
                report.row(kind, density, values[kind, density], band_of(table, density))
    if points["door"]:
        head("Room with a door of 1 m: flow [1/s]", "people")
        for which in points["door"]:
            if ("door", which) in values:
                report.row("door", f"{which:g}", values["door", which], None)
                print(f"            {DOORS[which][0]}")

    if options.csv:
        with open(options.csv, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["case", "at", "mean", "spread", "least", "most", "inside"])
            writer.writerows(report.rows)
    print()
    for failure in failures:
        print(f"FAILED {failure}")
    print(f"{len(report.rows)} numbers, {report.missed} outside of their bands, {len(failures)} failed runs")
    return 2 if failures else (1 if report.missed else 0)


if __name__ == "__main__":
    sys.exit(main())
