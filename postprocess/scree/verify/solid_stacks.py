"""Tents of cards, stacks of cubes and a wall of bricks: what stands, and what falls."""
import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from scree.deck import Deck
from scree.verify.checks import Row
from scree.verify.solids import G, SolidDeck, axes_of, leaning, orientations, turned, up

LEAN = math.radians(65)


@dataclass(frozen=True)
class Tent:
    name: str
    length: float       # [m], as the others
    thickness: float
    rounding: float

    @property
    def along(self):
        return self.length / 2 - self.rounding

    @property
    def across(self):
        return self.thickness / 2 - self.rounding

    @property
    def height(self):
        """Of the centres."""
        return self.along * math.sin(LEAN) + self.across * math.cos(LEAN) + self.rounding

    @property
    def holding_friction(self):
        """The least friction that holds a tent of two cards. A card's weight and the other's push, which friction on the floor must hold,
        turn about the foot; cot(lean)/2 - t/(2 L) for sharp edges."""
        return (self.along * math.cos(LEAN) - self.across * math.sin(LEAN)) / (2 * self.along * math.sin(LEAN) + self.rounding)

    def deck(self, dimension, mu, dt):
        """Two cards, 5 s."""
        deck = SolidDeck([-4 * self.length] * dimension, [8 * self.length] * dimension, dt, round(5 / dt))
        deck.slope(0)
        deck.tables["solver"] = {"type": "auto", "tolerance": 1e-6}
        deck.tables["nonsmooth"] = {"on_overlap": "warn"}
        deck.material("card", 500)
        deck.pair("card", "card", mu, 0)
        deck.pair("card", "floor", mu, 0)
        deck.box("card", [self.length, *[self.length / 2] * (dimension - 2), self.thickness], self.rounding)
        for side in (-1.0, 1.0):
            at = side * (self.along * math.cos(LEAN) + self.across * math.sin(LEAN) + self.rounding) * np.eye(dimension)[0]
            deck.place("card", at + self.height * up(dimension), orientation=leaning(dimension, -side * LEAN), shape="card")
        deck.record_every(20)
        return deck


TENTS = (Tent("2.5 m", 2.5, 0.05, 1e-3), Tent("0.1 m", 0.1, 1e-3, 5e-5))


def tents(laboratory, table, dimension):
    """Falls with 0.98 of the friction that holds it and stands with 1.03 of it. What falls is followed until it has sunk by half of its
    height: the rest counts neither for the steps that are solved."""
    rows, shares = [], (0.98, 1.03)
    for tent in TENTS:
        for dt in (5e-3,) if laboratory.quick else (5e-3, 1e-2):
            courses = laboratory.run_all([tent.deck(dimension, share * tent.holding_friction, dt) for share in shares])
            unsolved = 0
            for share, course in zip(shares, courses):
                sunk = 1 - course.series.position[:, 0, -1] / tent.height
                last = int(np.argmax(sunk > 0.5)) if (sunk > 0.5).any() else len(sunk) - 1
                unsolved += np.sum(1 - course.certificate["solved"][1:20 * last + 1])
                variant = f"{tent.name}, {share:g} mu_c, {1000 * dt:g} ms"
                rows.append(Row("falls by / height [-]", variant, 1, sunk.max(), 0.5) if share < 1 else
                            Row("stands: sinks by / height [-]", variant, 0, max(0.0, sunk.max()), 1e-3))
            rows.append(Row("steps not solved [-]", f"{tent.name}, {1000 * dt:g} ms", 0, float(unsolved), 0))
    table.add(f"tent of two cards, {dimension}D", rows)


def stack(laboratory, table, dimension, n, stays):
    """n cubes of 1 m on top of each other for 5 s. What is left of speed, offset and tilt is in proportion to the tolerance of the solver,
    and grows with n. `stays`: offset and tilt are held against their bounds."""
    dt, since, until = 0.01, 4, 5
    deck = SolidDeck([-5] * dimension, [*[5] * (dimension - 1), n + 5], dt, round(until / dt))
    deck.slope(0)
    deck.tables["solver"] = {"type": "auto", "tolerance": 1e-10}
    deck.material("cube", 1000)
    deck.pair("cube", "cube", 0.5, 0)
    deck.pair("cube", "floor", 0.5, 0)
    deck.box("cube", [1] * dimension, 1e-3)
    for i in range(n):
        deck.place("cube", (i + 0.5) * up(dimension), orientation=turned(dimension, 0), shape="cube")
    deck.measure("speed")
    course = laboratory.run(deck)
    late = course.scalars["time"] > since + dt / 2
    rows = [Row("late speed [m/s]", "after 4 s", 0, course.scalars["speed_max_speed"][late].max(), 2e-8, is_residue=True),
            Row("steps not solved [-]", "5 s", 0, float(np.sum(1 - course.certificate["solved"][1:])), 0)]
    if stays:
        offset = np.linalg.norm(course.bodies().position[:, :-1], axis=1).max()
        tilt = np.linalg.norm(axes_of(orientations(course))[:, -1, :-1], axis=1).max()
        rows += [Row("offset [m]", "after 5 s", 0, offset, 1e-9, is_residue=True),
                 Row("tilt [rad]", "after 5 s", 0, tilt, 1e-9, is_residue=True)]
    table.add(f"stack of {n} cubes, {dimension}D", rows)


def brick_wall(laboratory, table):
    """The deck wall.toml, whose last body is the sphere: at rest without its speed, and hit."""
    decks = []
    for duration in (2, 1):
        deck = Deck(laboratory.source / "inputs/convex/wall.toml")
        deck["simulation.end_time"] = duration
        deck["analysis"], deck["measures"] = {"every_steps": 1}, {"energy": {"type": "energy"}}
        deck["output"] = {"h5md": {"every_steps": 10**9}, "checkpoint": {"wall_time": 0}}
        decks.append(deck)
    decks[0]["particles.ball.velocity"] = [0, 0, 0]
    rest, hit = laboratory.run_all(decks)
    moved, farthest = (np.linalg.norm((course.bodies().position - course.bodies(0).position)[:-1], axis=1).max() for course in (rest, hit))
    worst = np.abs(hit.scalars["energy_imbalance"][1:]).max()
    table.demand("wall of bricks", farthest > 0.2, "the sphere moves no brick")
    table.add("wall of bricks", [
        Row("at rest: moved [m]", "after 2 s", 0, moved, 2e-3),
        Row("at rest: steps not solved [-]", "2 s", 0, float(np.sum(1 - rest.certificate["solved"][1:])), 4),
        Row("impact: imbalance / kinetic [-]", "worst of 1 s", 0, worst / hit.scalars["energy_kinetic"][1:].max(), 1e-10)])


def solid_stack_cases(laboratory):
    high = [partial(stack, dimension=3, n=30, stays=False)] * (not laboratory.quick)
    return [partial(tents, dimension=2), partial(tents, dimension=3), partial(stack, dimension=2, n=10, stays=True),
            partial(stack, dimension=3, n=10, stays=True), *high, brick_wall]
