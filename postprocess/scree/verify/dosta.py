"""The published comparison of DEM codes (Dosta et al. 2024; inputs/granular/comparison) at full stiffness, beside LIGGGHTS and MUSEN.

Cases take minutes to hours. `--full` runs them one after another in a folder that stays; after a stop the same command goes on. Without it
the folder is only looked at. Either way each case is reported: how far it got, and the rows of which enough has run.
"""
import math
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from scree.deck import Deck
from scree.errors import ResultsError, RunError
from scree.results import Results, Scalars
from scree.verify.checks import Checks
from scree.verify.dosta_numbers import BALL_START, ball_path, discharge, discharge_rate, mixing, rebound

FOLDER = Path("results/dosta")


@dataclass(frozen=True)
class Case:
    """A run of a deck of inputs/granular/comparison with some of its keys changed. `end`: of the run [s]; `path`: of its Results, gives
    (t, values); `measure`: of these, yields rows (quantity, found, least, most), those that t allows; `columns`: of the table of the codes,
    which are measured alike."""
    name: str
    deck: str
    end: float
    path: object
    measure: object
    columns: tuple
    keys: dict = field(default_factory=dict, hash=False)

    def deck_for(self, laboratory):
        deck = Deck(laboratory.source / f"inputs/granular/comparison/{self.deck}.toml")
        for key, value in self.keys.items():
            deck[key] = value
        return deck


def row_without_band(quantity, found):
    """A row without a band."""
    return quantity, found, -math.inf, math.inf


def rate_of(least, most):
    """Rows of a silo: rate from 0.5 to 3.5 s after the opening."""
    def rows(t, left):
        if t[-1] >= 3.5 or left[-1] < 0.02 * left[0]:
            yield "grains per second, 0.5 to 3.5 s", discharge_rate(t, left), least, most
        elif t[-1] > 0.6:
            yield row_without_band(f"grains per second, 0.5 to {t[-1]:.2f} s", discharge_rate(t, left))
    return rows


def drum_rows(t, small):
    """Small grains in zone 2 rise, are all carried away, and come back."""
    for name, find, low, high, least, most in (
            ("first maximum", np.max, 0, 1, 18000, math.inf), ("time of the first minimum [s]", np.argmin, 0.8, 2.2, 1.3, 1.7),
            ("second maximum", np.max, 1.8, 3.2, 13000, 20000), ("time of the second minimum [s]", np.argmin, 2.8, 4.2, 3.1, 3.7)):
        within = (t >= low - 1e-9) & (t <= high + 1e-9)
        if t[-1] >= high - 1e-9:
            found = find(small[within])
            yield f"small grains in zone 2: {name}", t[within][found] if find is np.argmin else found, least, most


def shallow_rows(t, z):
    """A bed so shallow that the sphere meets the floor."""
    if t[-1] >= 0.04:
        yield "time of the deepest place [s]", t[z.argmin()], 0.029, 0.031
        yield row_without_band("deepest place [m]", z.min() - BALL_START)
    if t[-1] >= 0.055:
        yield "rebound at 0.05 s [m/s]", rebound(t, z), 0.9 * 1.90, 1.1 * 1.90


def chaotic_rows(t, z):
    if t[-1] >= 0.06:
        yield row_without_band("deepest place [m]", z.min() - BALL_START)
        yield row_without_band("rebound at 0.05 s [m/s]", rebound(t, z))


def deep_rows(t, z):
    """A bed that stops the sphere."""
    if t[-1] >= 0.099 - 1e-9:
        yield "place at 0.099 s [m]", np.interp(0.099, t, z) - BALL_START, -0.096, -0.085


def small_in_zone_2(results):
    t, counts, _ = mixing(results)
    return t, counts[:, 2]


SMALL_ORIFICE = {"obstacles.hopper.a": [0, 0, -0.0593008], "obstacles.hopper.b": [0, 0, 0.0206992], "obstacles.hopper.radius_a": 0.02,
                 "obstacles.slide.point": [0, 0, -0.0593008], "obstacles.slide.outer_radius": 0.022,
                 "measures.orifice.point": [0, 0, -0.0593008], "outlets.below.region.upper": [0.102, 0.102, -0.0893008],
                 "particles.grains.source.region.lower": [-0.1, -0.1, 0.0207], "particles.grains.source.region.upper": [0.1, 0.1, 0.2147]}
M2 = {"materials.grain.density": 2000, "materials.grain.young_modulus": "0.5 GPa", "pairs.grain-grain.friction": 0.4,
      "pairs.grain-grain.restitution": 0.4, "time.step": "2 us"}

# Bands, written down before the first full run. Silo: all published codes are within 5 % of 23 200 1/s through the large orifice; the small
# one within 5 % of MUSEN. Drum and impact: what both codes share, and 10 % of the mean of 1.96 and 1.83 m/s.
CASES = (
    Case("impact 25k", "impact", 0.1, ball_path, shallow_rows, ("liggghts_25k", "musen_25k")),
    Case("impact 50k", "impact", 0.1, ball_path, chaotic_rows, ("liggghts_50k", "musen_50k"),
         {"particles.bed.source.region.upper": [0.05, 0.03, -0.0241321]}),
    Case("impact 100k", "impact", 0.1, ball_path, deep_rows, ("liggghts_100k", "musen_100k"),
         {"particles.bed.source.region.upper": [0.05, 0.03, 0.041979]}),
    Case("drum", "drum", 5.1, small_in_zone_2, drum_rows, ("liggghts_zone2_small", "musen_zone2_small")),
    Case("silo large M1", "silo", 5.3, discharge, rate_of(0.95 * 23200, 1.05 * 23200), ("large_liggghts", "large_musen")),
    Case("silo small M1", "silo", 5.3, discharge, rate_of(0.95 * 7737, 1.05 * 7737), ("small_musen",), SMALL_ORIFICE),
    Case("silo large M2", "silo", 5.3, discharge, rate_of(-math.inf, math.inf), (), M2),
    Case("silo small M2", "silo", 5.3, discharge, rate_of(-math.inf, math.inf), (), SMALL_ORIFICE | M2))

# Rows that are known not to hold: why.
MISSED = {}


class ComparisonTable(Checks):
    """Shows how far cases got, and their rows."""

    def __init__(self, show):
        super().__init__(show, ("case", "quantity", "found", "codes", "least", "most", "holds"))

    def add(self, case, rows, of_codes):
        """`of_codes`: the same rows of each code."""
        known = [dict((row[0], row[1]) for row in code) for code in of_codes]
        for quantity, found, least, most in rows:
            codes = ", ".join(f"{code[quantity]:.4g}" for code in known if quantity in code)
            has_band = least > -math.inf or most < math.inf
            holds = least <= found <= most
            missed = MISSED.get((case, quantity), "") if has_band else ""
            word = "reported" if not has_band else "yes" if holds else "missed" if missed else "NO"
            band = f"{least:.4g} to {most:.4g}" if has_band else ""
            self.show(f"    {quantity:<48} {found:>10.4g}   codes {codes:<16} {band:<20} {word}")
            self.record(case, quantity, float(found), codes, float(least), float(most), word)
            if has_band:
                self.count(holds, f"{case}: {quantity} = {found:.4g}, expected {band}", missed)


def progress(folder, end):
    """(time that a run has reached [s], words), (None, words) before it begins."""
    try:
        results = Results(folder)
        reached = float(results.scalars["time"][-1])
    except (ResultsError, OSError, IndexError):
        return None, "not begun"
    if not (folder / "summary.json").exists():
        return reached, f"{reached:.4f} of {end:g} s, running or killed"
    summary = results.summary
    reached = summary["time_s"]
    words = f"{reached:.4f} of {end:g} s"
    if summary["status"] == "done":
        return reached, words + ", ended"
    pace = summary["wall_s"] * (end - reached) / max(reached * summary["steps_this_run"] / summary["steps"], 1e-12)
    return reached, f"{words}, stopped; {pace / 3600:.1f} h more at its pace"


def show_case(case, folder, codes, table):
    """How far a case got, and what its rows are so far."""
    reached, words = progress(folder, case.end)
    table.show(f"{case.name:<16} {words}")
    if reached is None:
        return
    try:
        t, values = case.path(Results(folder))
    except ResultsError:
        return      # the process has not begun
    of_codes = []
    for name in case.columns:
        there = np.isfinite(codes[name])
        of_codes.append(list(case.measure(codes["time"][there], codes[name][there])))
    table.add(case.name, case.measure(t, values), of_codes)


def verify(laboratory, group, csv, show):
    laboratory.extent = replace(laboratory.extent, folder=laboratory.extent.folder or FOLDER)
    table = ComparisonTable(show)
    show(f"Dosta et al. 2024, full stiffness: runs in {laboratory.extent.folder}\n")
    for case in CASES:
        if group not in ("all", case.deck) or not laboratory.extent.has(case.name):
            continue
        name = case.name.replace(" ", "_")
        if laboratory.extent.full:
            try:
                laboratory.keep(case.deck_for(laboratory), name)
            except RunError as error:
                table.count(False, f"{case.name}: {error}")
        codes = Scalars(laboratory.source / f"tests/reference/granular/dem_codes/{case.deck}.csv")
        show_case(case, laboratory.extent.folder / name, codes, table)
    show("" if laboratory.extent.full else "\n--full goes on with them, hours; --rows 'impact 25k' chooses, --minutes stops.")
    return table.finish(csv)
