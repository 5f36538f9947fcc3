"""Houses of 40 cards in five storeys: which stand, how many cards fall and when, beside outcomes that Chen, Ly and Wojtan (2024) published
(tests/reference/convex). Deck: inputs/convex/cards.toml."""
import math
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from scree.deck import Deck
from scree.errors import ResultsError
from scree.verify.checks import Checks

# Where cards are at the start (scripts/convex-scenes.py): {geometry: length of its bridges [m]}. Outcomes of the first are held against the
# published ones.
GEOMETRIES = {"tight": 2.198027915989854, "generator": 2.5}
STATED = "tight"
TOP = slice(28, 30)     # of 30 leaning cards the last two are the top storey
FALLEN = 0.25 * 2.5 * math.sin(math.radians(65))    # a card that sinks by more has fallen [m]
# Deepest overlap of cards of 20 mm: both roundings, the cores are apart. A normal that jumps between faces lets cards fall into each other.
MAX_OVERLAP = 2e-3
TITLES = ("geometry", "normals", "mu", "dt", "tolerance", "outcome", "fallen", "t_top", "t_others", "unsolved", "overlap", "contacts", "published")


class Outcome(IntEnum):
    """In the order of Tables 18 and 19 of the source, which has these letters: the house stands; only the top two cards fall; they fall and
    take others along; it falls as a whole."""
    S, PC, CC, TC = range(4)


def outcome_of(top, others):
    """What became of a house whose cards fell at these times [s], infinity for those that did not. The tables' classes were judged by eye;
    this rule stands in for the eye: the top took others along where these fell more than 50 ms after the first of the top, and fewer than
    nine tenths of all did."""
    later, nearly_all = 0.05, 0.9
    n_fallen = np.isfinite(top).sum() + np.isfinite(others).sum()
    if n_fallen == 0:
        return Outcome.S
    if not np.isfinite(others).any():
        return Outcome.PC
    alone = n_fallen < nearly_all * (len(top) + len(others))
    return Outcome.CC if min(others) > min(top) + later and alone else Outcome.TC


@dataclass(frozen=True)
class House:
    geometry: str
    friction: float
    dt: float
    tolerance: float
    normals: str = "closest_points"

    @property
    def of_faces(self):
        return self.normals == "faces"

    @property
    def name(self):
        return (f"{self.geometry}{', faces' if self.of_faces else ''}, mu {self.friction:g}, dt {1000 * self.dt:g} ms, "
                f"tolerance {self.tolerance:g}")

    def deck(self, source):
        deck = Deck(source / "inputs/convex/cards.toml")
        for kind in ("tents", "bridges"):
            deck[f"particles.{kind}.source.path"] = str((source / f"inputs/convex/cards_{self.geometry}_{kind}.csv").resolve())
        deck["shapes.bridge.size"] = [GEOMETRIES[self.geometry], 1.25, 0.02]
        deck["pairs"] = {"paper-paper": {"friction": self.friction, "restitution": 0}}
        deck["time.step"], deck["solver.tolerance"], deck["nonsmooth.normals"] = self.dt, self.tolerance, self.normals
        deck["output"] = {"h5md": {"every_steps": 1}, "certificate": {"every_steps": 1}, "checkpoint": {"wall_time": 0}}
        return deck


class Fall:
    """What became of a house: when cards fell [s], share of steps that were not solved, deepest overlap [m], most contacts, seconds of
    computing."""

    def __init__(self, course):
        certificate, height = course.certificate, course.field("position")[:, :, 2]
        fell = np.where(height[0] - height > FALLEN, np.asarray(certificate["time"])[:, None], np.inf).min(axis=0)
        self.top, self.others = fell[TOP], np.delete(fell, TOP)
        self.outcome = outcome_of(self.top, self.others)
        self.n_fallen = int(np.isfinite(fell).sum())
        self.unsolved = float(np.mean(certificate["solved"][1:] < 1))
        self.overlap, self.contacts = certificate["max_overlap"][1:].max(), int(certificate["contacts"][1:].max())
        self.seconds = course.results.summary["wall_s"]


@dataclass(frozen=True)
class Cell:
    """Of a published table."""
    dt: float
    friction: float
    tolerance: float
    outcome: Outcome


def published(laboratory):
    cells = []
    for number in (18, 19):
        name = f"convex/house_of_cards_t{number}.csv"
        for words in laboratory.table(name, "dt,mu,eps_p,1e-2,1e-3,1e-4,1e-5"):
            for tolerance, letters in zip((1e-2, 1e-3, 1e-4, 1e-5), words[3:]):
                if letters not in Outcome.__members__:
                    raise ResultsError(f"{name}: '{letters}' is none of {', '.join(Outcome.__members__)}")
                cells.append(Cell(float(words[0]), float(words[1]), tolerance, Outcome[letters]))
    return cells


class HouseTable(Checks):
    """The rows of all runs, and what the outcomes must be."""

    def __init__(self, laboratory, show):
        super().__init__(show, TITLES)
        self.laboratory, self.published = laboratory, published(laboratory)
        self.near, self.standing = [], []   # of published cells, of houses with friction 0.6: which agree
        show("Houses of 40 cards for 3 s, geometries of scripts/convex-scenes.py. S: stands; PC: the top two cards fall; CC: they take others "
             "along; TC: collapse.")
        show("Normals: of closest points, or of faces, as in programs that take the axis of least overlap.")
        show("Published: the letters of Tables 18 (10 ms) and 19 (5 ms) for this friction and tolerance.\n")
        show(f"{'geometry':<10} {'normals':<8} {'mu':>4} {'dt':>7} {'tolerance':>9} {'outcome':>8} {'fallen':>7} {'t top':>8} {'t others':>9} "
             f"{'not solved':>10} {'overlap':>9} {'contacts':>9} {'seconds':>8}  published")

    def run(self, houses):
        """Runs houses and adds their rows; returns their outcomes."""
        courses = self.laboratory.each(lambda house: Fall(self.laboratory.run(house.deck(self.laboratory.source))), houses)
        return [self._add(house, fall) for house, fall in zip(houses, courses)]

    def _add(self, house, fall):
        cells = [cell for cell in self.published if abs(cell.dt - house.dt) < 1e-9 and abs(cell.friction - house.friction) < 1e-9
                 and abs(cell.tolerance / house.tolerance - 1) < 1e-9]
        if house.dt < 7e-3 and house.geometry == STATED and not house.of_faces:
            self.near += [abs(fall.outcome - cell.outcome) <= 1 for cell in cells]
        letters = " ".join(cell.outcome.name for cell in cells)
        normals, first_top, first_other = "faces" if house.of_faces else "closest", float(min(fall.top)), float(min(fall.others))
        self.show(f"{house.geometry:<10} {normals:<8} {house.friction:>4g} {1000 * house.dt:>4g} ms {house.tolerance:>9.0e} "
                  f"{fall.outcome.name:>8} {fall.n_fallen:>7} {first_top:>8.3f} {first_other:>9.3f} {100 * fall.unsolved:>9.2f}% "
                  f"{1000 * fall.overlap:>6.2f} mm {fall.contacts:>9} {fall.seconds:>8.1f}  {letters or '-'}")
        self.record(house.geometry, normals, house.friction, house.dt, house.tolerance, fall.outcome.name, fall.n_fallen, first_top,
                    first_other, fall.unsolved, float(fall.overlap), fall.contacts, letters)
        self.count(fall.unsolved <= 0.01, f"{house.name}: {100 * fall.unsolved:.2f} % of steps not solved, at most 1 % may be")
        if not house.of_faces:
            self.count(fall.overlap < MAX_OVERLAP, f"{house.name}: cards of 20 mm overlap by {1000 * fall.overlap:.2f} mm")
        # The trend of the tables: 0.4 is mixed.
        if house.friction < 0.35:
            self.count(fall.outcome >= Outcome.CC, f"{house.name}: {fall.outcome.name}, expected a collapse")
        if house.friction > 0.45:
            self.count(fall.outcome <= Outcome.PC, f"{house.name}: {fall.outcome.name}, expected the top two to fall at most")
        if house.friction > 0.55:
            self.standing.append(fall.outcome == Outcome.S)
        return fall.outcome


FRICTIONS = (0.2, 0.3, 0.4, 0.5, 0.6)


def run_tables(table, quick):
    """Frictions, steps and tolerances of the tables. At friction 0.6 three of four stand; of the published cells at 5 ms at least 80 % are
    met within one class."""
    steps, tolerances = ((5e-3,), (1e-4,)) if quick else ((1e-2, 5e-3), (1e-4, 1e-5))
    table.run([House(geometry, friction, dt, tolerance) for geometry in GEOMETRIES for dt in steps for friction in FRICTIONS
               for tolerance in tolerances])
    table.require("share of houses with friction 0.6 that stand", np.mean(table.standing), 0.75, 1)
    table.require(f"share of {len(table.near)} published cells at 5 ms within one class, geometry {STATED}", np.mean(table.near), 0.8, 1)


def run_faces(table, quick):
    """The same house with normals of faces, which need twice the friction at the top of a tent."""
    table.run([House(STATED, friction, dt, 1e-4, "faces") for dt in ((5e-3,) if quick else (1e-2, 5e-3)) for friction in FRICTIONS])


def run_converged(table):
    """What happens with friction 0.3 and 0.6 does not depend on tolerance or step."""
    missed = {("generator", 0.3): "the top two fall first, and whether 33 or 38 of 40 cards follow, CC or TC, is up to late chance hits"}
    for geometry in GEOMETRIES:
        for friction in (0.3, 0.6):
            outcomes = table.run([House(geometry, friction, dt, tolerance) for dt in (1e-2, 5e-3, 2.5e-3) for tolerance in (1e-4, 1e-6)])
            table.count(max(outcomes) == min(outcomes), f"{geometry}, mu {friction}: the outcome depends on step and tolerance: "
                        f"{' '.join(o.name for o in outcomes)}", missed.get((geometry, friction), ""))


def verify(laboratory, group, csv, show):
    table = HouseTable(laboratory, show)
    if group in ("all", "tables"):
        run_tables(table, laboratory.quick)
    if group == "faces" or (group == "all" and not laboratory.quick):
        run_faces(table, laboratory.quick)
    if group == "converged" or (group == "all" and not laboratory.quick):
        run_converged(table)
    show("")
    return table.finish(csv)
