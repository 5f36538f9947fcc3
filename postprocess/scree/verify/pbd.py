"""Position-based dynamics: the two experiments of S. Plunder, S. Merino-Aceituno, "Convergence proof for first-order position-based
dynamics", arXiv:2310.01215 (2023), with the program (PBD, PNGS, PBD with memory) and the methods that it is compared with in numpy. Decks:
sliding and disks40 of inputs/verification; reference: tests/reference/pbd."""
import math
from dataclasses import dataclass

import numpy as np

from scree.deck import Deck
from scree.verify.checks import Checks
from scree.verify.grain_deck import duration
from scree.verify.pbd_reference import FRAME, N_DISKS, DisksPath, Errors, expected_errors, sliding_exact
from scree.verify.position_methods import (SLIDING_DISTANCE, SLIDING_START, HalfSpaces, Jacobi, Penalty, disk_pairs, sliding_balls)

END = {"sliding": 3, "disks40": 4}  # [s]
N_CONSTRAINTS = {"sliding": 2, "disks40": N_DISKS * (N_DISKS - 1) // 2}
FIRST_ORDER = (0.9, 1.1)


@dataclass(frozen=True)
class Series:
    """A method on a case over several steps [s], coarsest first, of which the quick form takes `n_quick`. `one_list`: candidates are all
    pairs, found once; then the order of the contacts is fixed, as in the reference. `band`: largest relative difference of error_max and
    error_end from errors.csv; `order`: of the one fitted to error_max over the finest three steps."""
    case: str
    method: str
    parameter: str      # tolerance of PNGS and PGS, rate of the penalty [1/s], share of the multipliers that warm PBD keeps
    one_list: bool
    steps: tuple
    n_quick: int
    band: float = None
    order: tuple = None

    @property
    def label(self):
        return self.method + (" one list" if self.one_list else "")

    @property
    def name(self):
        return f"{self.case}, {self.label}" + (f" {self.parameter}" if self.parameter else "")

    @property
    def reference(self):
        """The method in numpy; None: the program runs it. A function of the step."""
        value = float(self.parameter or 0)
        return {"PGS": lambda h: HalfSpaces(value), "PGS-dual": lambda h: HalfSpaces(value, dual=True), "Jacobi": lambda h: Jacobi(),
                "penalty": lambda h: Penalty(value * h)}.get(self.method)


def _steps(first, last):
    return tuple(float(f"1e-{k}") for k in range(first, last + 1))


# sliding: two constraints, visited in the same order as by the prototype of the reference: the same numbers, but for the rounding of the
# stopping test. Order of PBD: 0.98 to 1.03 fitted by the prototype.
# disks40: Gauss-Seidel methods of the program depend on the order of the pairs, which there comes from blocks. Constants of PBD lie up to
# 25 % apart for different orders (prototype, eight orders); those of warm PBD by a factor of three, so they have no band, but see
# check_warm_start(). The methods in numpy go through the pairs as the prototype does, and differ only by the error of the reference
# trajectory. The reference's own fit for Jacobi is 0.895.
ALL_SERIES = (
    Series("sliding", "PBD", "", False, _steps(2, 5), 4, 0.01, (0.98, 1.03)),
    Series("sliding", "PNGS", "1e-10", False, _steps(2, 4), 2, 0.01, FIRST_ORDER),
    Series("sliding", "PNGS", "1e-06", False, _steps(2, 5), 2, 0.02),
    Series("sliding", "PGS", "1e-10", False, _steps(2, 3), 1, 0.01),
    Series("sliding", "PGS-dual", "1e-10", False, _steps(2, 3), 1, 0.01),
    Series("sliding", "warm PBD", "1", False, _steps(2, 5), 3, None, FIRST_ORDER),
    Series("sliding", "warm PBD", "0.9", False, _steps(2, 5), 3, None, FIRST_ORDER),
    Series("sliding", "Jacobi", "", False, _steps(2, 5), 3, None, FIRST_ORDER),
    Series("sliding", "penalty", "1000", False, _steps(2, 4), 3, 0.01),
    Series("sliding", "penalty", "10000", False, _steps(2, 4), 3, 0.01),
    Series("sliding", "penalty", "100000", False, _steps(3, 5), 2, 0.01),
    Series("disks40", "PBD", "", True, _steps(2, 5), 4, 0.25, FIRST_ORDER),
    Series("disks40", "PBD", "", False, _steps(2, 5), 4, 0.25, FIRST_ORDER),
    Series("disks40", "PNGS", "1e-10", True, _steps(2, 4), 2, 0.25, FIRST_ORDER),
    Series("disks40", "PNGS", "1e-05", True, _steps(2, 4), 2, 0.25),
    Series("disks40", "PGS", "1e-10", False, _steps(2, 3), 1, 0.01),
    Series("disks40", "PGS-dual", "1e-10", False, _steps(2, 3), 1, 0.01),
    Series("disks40", "warm PBD", "1", True, _steps(2, 5), 3, None, FIRST_ORDER),
    Series("disks40", "warm PBD", "0.9", True, _steps(2, 5), 3, None, FIRST_ORDER),
    Series("disks40", "warm PBD", "0.9", False, _steps(2, 5), 2, None, (0.85, 1.2)),
    Series("disks40", "warm PBD", "0.7", True, _steps(3, 4), 2),
    Series("disks40", "Jacobi", "", False, _steps(2, 5), 3, 0.01, (0.85, 1.1)),
    Series("disks40", "penalty", "100", False, _steps(2, 4), 3, 0.01),
    Series("disks40", "penalty", "1000", False, _steps(3, 4), 2, 0.01),
    Series("disks40", "penalty", "10000", False, _steps(4, 5), 1, 0.01),
)


# ---- runs


@dataclass(frozen=True)
class Path:
    """Positions (frames, bodies, D) [m], of sliding after each step, of the disks every 0.01 s, with the start; sweeps per step, a warm pass
    included; steps that did not converge."""
    x: np.ndarray
    sweeps: float
    n_unconverged: int


def deck_of(series, h, source):
    deck = Deck(source / f"inputs/verification/{series.case}.toml")
    n_steps = round(END[series.case] / h)
    deck["time.step"], deck["simulation.end_time"] = h, duration(n_steps, h)
    if series.one_list:     # no body moves a quarter of this in the whole run
        deck["neighbors.skin"] = 8
    converged = series.method == "PNGS"
    if converged:
        tolerance = float(series.parameter)
        deck["pbd.sweeps"], deck["pbd.relative_tolerance"], deck["pbd.absolute_tolerance"] = "converged", tolerance, 0.01 * tolerance
    if series.method == "warm PBD":
        deck["pbd.warm_start"] = float(series.parameter)
    of_point = series.case == "sliding"
    deck["measures"], deck["analysis"] = {"extent": {"type": "extent"}}, {"every_steps": 1 if of_point else n_steps}
    deck["output"] = {"h5md": {"every_steps": n_steps if of_point else round(FRAME / h)},
                      "certificate": {"every_steps": 1 if converged else n_steps}, "checkpoint": {"wall_time": 0}}
    return deck


def path_of_deck(series, h, laboratory):
    course = laboratory.run(deck_of(series, h, laboratory.source))
    if series.case == "sliding":
        x = np.stack([course.scalars[f"extent_center_{axis}"] for axis in "xyz"], axis=-1)[:, None]
    else:
        x = course.field("position")
    if series.method != "PNGS":
        return Path(x, 2 if series.method == "warm PBD" else 1, 0)
    return Path(x, course.certificate["sweeps"][1:].mean(), int((course.certificate["sweeps_converged"][1:] == 0).sum()))


def path_in_numpy(series, h, laboratory):
    method, n_steps = series.reference(h), round(END[series.case] / h)
    if series.case == "sliding":
        x, constraints, every = np.array([[math.sin(SLIDING_START), math.cos(SLIDING_START), 0]]), sliding_balls(), 1
        way = lambda x: np.array([[0, -h, 0]])
    else:
        start = laboratory.source / "inputs/verification/disks40_initial.csv"
        rows = [line for line in start.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
        x, constraints, every = np.loadtxt(rows[1:], delimiter=",")[:, 1:], disk_pairs(N_DISKS), round(FRAME / h)
        way = lambda x: -h * x
    frames, sweeps, n_unconverged = [x], 0, 0
    for step in range(1, n_steps + 1):
        x, n = method.step(constraints, x, way(x))
        sweeps, n_unconverged = sweeps + n, n_unconverged + (n == 0)
        if step % every == 0:
            frames.append(x)
    return Path(np.array(frames), sweeps / n_steps, n_unconverged)


@dataclass(frozen=True)
class Outcome:
    """`evaluations`: constraints that were looked at in the whole run, all in each sweep. `overlap`: of disks, largest at the end [m].
    `depth_ratio`, `side_ratio`: of sliding, depth below the circle and sideways distance at 1 s over (C^2 - 1)/4 h cos(theta) and 1/C of
    it."""
    error: Errors
    sweeps: float
    evaluations: float
    n_unconverged: int
    overlap: float = 0
    depth_ratio: float = 0
    side_ratio: float = 0


def outcome_of(series, h, laboratory, disks):
    path = (path_in_numpy if series.reference else path_of_deck)(series, h, laboratory)
    n_steps = round(END[series.case] / h)
    counted = path.sweeps, path.sweeps * n_steps * N_CONSTRAINTS[series.case], path.n_unconverged
    if series.case == "disks40":
        gaps = disk_pairs(N_DISKS).at(path.x[-1])[0]
        return Outcome(disks.errors(path.x), *counted, overlap=max(0, -gaps.min()))
    x = path.x[:, 0]
    error = np.linalg.norm(x - sliding_exact(h * np.arange(n_steps + 1)), axis=1)
    place, C = x[round(1 / h)], SLIDING_DISTANCE
    radius = math.hypot(place[0], place[1])
    depth = (C * C - 1) / 4 * h * place[1] / radius
    return Outcome(Errors(error.max(), error[-1]), *counted, depth_ratio=(1 - radius) / depth, side_ratio=abs(place[2]) * C / depth)


# ---- report


class Report(Checks):
    """Shows what is found, keeps the table, counts checks."""

    def __init__(self, show, expected):
        super().__init__(show, ("case", "method", "parameter", "h", "error_max", "error_end", "evaluations"))
        self.expected = expected
        show("Errors in m against the exact solution (sliding) and the reference trajectory (disks40). \"max:ref\" and \"end:ref\"\n"
             "are errors over those of the reference, which visits the contacts in its own order: they have to be 1 within the band.\n")
        show(f"{'case':<8} {'method':<17} {'param.':<7} {'h [s]':>6} {'error_max':>10} {'error_end':>10} {'max/h':>9} {'sweeps':>7} "
             f"{'evaluations':>11} {'max:ref':>7} {'end:ref':>7} {'band':>5}")

    def add(self, series, h, outcome):
        error, expected = outcome.error, self.expected.get((series.case, series.method, series.parameter, h))
        self.record(series.case, series.label, series.parameter, h, float(error.max), float(error.end), float(outcome.evaluations))
        ratios = (error.max / expected.max, error.end / expected.end) if expected else ()
        of_max, of_end = (f"{ratio:.3f}" for ratio in ratios) if ratios else ("-", "-")
        band = f"{100 * series.band:g} %" if series.band and ratios else "-"
        self.show(f"{series.case:<8} {series.label:<17} {series.parameter or '-':<7} {h:>6g} {error.max:>10.3e} {error.end:>10.3e} "
                  f"{error.max / h:>9.3g} {outcome.sweeps:>7.4g} {outcome.evaluations:>11.4g} {of_max:>7} {of_end:>7} {band:>5}")
        name = f"{series.name}, h = {h:g}"
        self.count(outcome.n_unconverged == 0, f"{name}: {outcome.n_unconverged} steps reached the most sweeps before the tolerance")
        if series.band:
            for ratio, what in zip(ratios, ("error_max", "error_end")):
                self.count(abs(ratio - 1) <= series.band, f"{name}: {what} is outside the band")


def fitted_order(steps, outcomes):
    """Slope of log(error) against log(h) by least squares, over the finest three steps."""
    return np.polyfit(np.log(steps[-3:]), np.log([outcome.error.max for outcome in outcomes[-3:]]), 1)[0]


def check_sliding_depth(report, h, finest):
    """One alternating sweep over both spheres leaves the point below the circle by (C^2 - 1)/4 h cos(theta), and to the side by 1/C of that
    (docs/verification.md)."""
    at = f"at 1 s over its closed form, h = {h:g}"
    report.require("sliding, PBD: depth " + at, finest.depth_ratio, 0.99, 1.01)
    report.require("sliding, PBD: sideways offset " + at, finest.side_ratio, 0.99, 1.01)


def check_overlap_law(report, series, found):
    """For a fixed order of the pairs the overlap that remains at the end is proportional to h."""
    coarse, fine = list(found)[-2:]
    report.require(f"{series.name}: overlap/h at the end, h = {coarse:g} over h = {fine:g}", found[coarse].overlap / (10 * found[fine].overlap),
                   0.99, 1.01)


def check_warm_start(report, series, pbd, warm):
    """What the memory of a share s of the multipliers does to PBD with the same order of the pairs: the overlap that remains is 1 - s of that
    of PBD, and the largest error is smaller: 2.7 to 7 times with s of 0.9 or more, for seven orders (plain loop over the pairs,
    docs/verification.md)."""
    h, forgotten = list(warm)[-1], 1 - float(series.parameter)
    report.require(f"{series.name}: overlap at the end over that of PBD, h = {h:g}", warm[h].overlap / pbd[h].overlap,
                   0.98 * forgotten - 1e-9, 1.02 * forgotten + 1e-9)
    if forgotten <= 0.15:
        report.require(f"{series.name}: error_max of PBD over that, h = {h:g}", pbd[h].error.max / warm[h].error.max, 2.5, 12)


def verify(laboratory, group, csv, show):
    report, disks = Report(show, expected_errors(laboratory)), DisksPath(laboratory)
    asked = [series for series in ALL_SERIES if group in ("all", series.case)]
    runs = [(series, h) for series in asked for h in (series.steps[:series.n_quick] if laboratory.quick else series.steps)]
    found = {series: {} for series in asked}
    for (series, h), outcome in zip(runs, laboratory.each(lambda run: outcome_of(*run, laboratory, disks), runs)):
        report.add(series, h, outcome)
        found[series][h] = outcome
    show("")
    pbd = None      # stands before those that are compared with it
    for series, of_steps in found.items():
        if series.order and len(of_steps) >= 3:
            report.require(f"{series.name}: order over the finest three steps", fitted_order(list(of_steps), list(of_steps.values())),
                           *series.order)
        if (series.case, series.method) == ("sliding", "PBD"):
            check_sliding_depth(report, *list(of_steps.items())[-1])
        if not series.one_list:
            continue
        if series.method == "PBD":
            pbd = of_steps
            check_overlap_law(report, series, of_steps)
        if series.method == "warm PBD":
            check_warm_start(report, series, pbd, of_steps)
    if group != "sliding":
        report.require("disks40: distance of the reference path from the frames of the prototype [um]", 1e6 * disks.disagreement, 0, 5)
    return report.finish(csv)
