"""Columns and a pyramid of rigid grains: what contacts carry, and when a pyramid stands."""
import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from scree.verify.checks import Row
from scree.verify.grain_deck import GrainDeck

G = 9.81    # [m/s2]


@dataclass(frozen=True)
class Column:
    """Spheres or disks on top of each other, touching."""
    name: str
    dimension: int = 3
    n: int = 10
    seconds: float = 1
    solver: str = "nsgs"
    tolerance: float = 1e-10


def column(laboratory, table, c):
    """Every contact carries what lies above it."""
    r, dt = 5e-3, 1e-3
    d = 2 * r
    up = np.eye(c.dimension)[-1]
    across = 1 - up
    deck = GrainDeck(0 * up, 8 * r * across + (c.n + 2) * d * up, dt, round(c.seconds / dt))
    deck.gravity(-G * up)
    deck.tables["solver"] = {"type": c.solver, "tolerance": c.tolerance}
    deck.tables["output"]["vtk"] = {"every_steps": 10**9, "precision": "double", "obstacles": False}
    deck.material("floor", 1)
    deck.material("body", 2500)
    deck.pair("body", "body", 0.5, 0)
    deck.pair("body", "floor", 0.5, 0)
    deck.floor("floor")
    deck.group("body", r, {"type": "lattice", "spacing": d, "region": {
        "lower": list(3 * r * across), "upper": list(5 * r * across + c.n * d * up)}})
    course = laboratory.run(deck)
    end, contacts = course.bodies(), course.results.contacts()
    upper_body = (contacts["ends"][:, :, c.dimension - 1].max(axis=1) / d).astype(int)
    forces = np.full(c.n, -math.inf)
    forces[upper_body] = contacts["normal_force"]
    carried = (c.n - np.arange(c.n)) * end.mass * G
    worst = int(np.argmax(np.abs(forces - carried)))
    weight = c.n * end.mass[0] * G
    # An error of the residual in each of n contacts at once moves forces by n times as much, and by the step.
    allowed = c.n * c.tolerance
    creep = allowed * G * dt
    variant = f"{c.solver} {c.tolerance:g}"
    closest = np.linalg.norm(np.diff(end.position, axis=0), axis=1).min()
    table.add(c.name, [
        Row("steps not solved [-]", variant, 0, float(np.sum(1 - course.certificate["solved"][1:])), 0),
        Row("force / weight of all [-]", variant, (c.n - worst) / c.n, forces[worst] / weight, allowed),
        Row("fastest [m/s]", variant, 0, np.linalg.norm(end.velocity, axis=1).max(), creep),
        Row("closest / diameter [-]", variant, 1, closest / d, creep * c.seconds / d)])


def sinking(mu):
    """Two disks on a rough floor and a third on both, all touching, none turns. With N, mu N at the contacts of 60 degrees and mu at
    the floor, and k = (1 - sqrt(3) mu) / (sqrt(3) + mu), the lower ones part with
        a = g ((k - mu)/2 - mu) / (1 + (k - mu) / (2 sqrt(3)))
    and the upper one sinks with a / sqrt(3). It stands if and only if a <= 0, which is mu >= (sqrt(15) - 2 sqrt(3)) / 3 = 0.136294."""
    root = math.sqrt(3)
    k = (1 - root * mu) / (root + mu) - mu
    return max(0.0, G * (k / 2 - mu) / (1 + k / (2 * root)) / root)


def pyramid(laboratory, table):
    r, dt, n_steps, name = 0.5, 1e-2, 100, "pyramid of three disks"
    frictions = (0.0, 0.1, 0.1355, 0.137, 0.2)
    pitch = 8 * np.eye(2)[0]    # of pyramids side by side
    deck = GrainDeck([-4, 0], [8 * len(frictions) - 4, 4], dt, n_steps)
    deck.gravity([0, -G])
    deck.material("floor", 1)
    deck.floor("floor")
    top = r + math.sqrt(3) * r
    for k, mu in enumerate(frictions):
        deck.material(f"body{k}", 1000)
        deck.pair(f"body{k}", f"body{k}", mu, 0)
        deck.pair(f"body{k}", "floor", mu, 0)
        for place in ([-r, r], [r, r], [0, top]):
            deck.add(f"body{k}", k * pitch + place, r, rotates=False)
    deck.record_every()
    series, rows = laboratory.run(deck).series, []
    for k, mu in enumerate(frictions):
        variant, body = f"mu = {mu:g}", 3 * k + 2
        rows.append(Row("sinks at first [m/s2]", variant, sinking(mu), -series.velocity[1, body, 1] / dt, 1e-8 * G))
        sunk = top - series.position[-1, body, 1]
        if sinking(mu) == 0:
            rows.append(Row("sunk after 1 s [m]", variant, 0, sunk, 1e-8))
        else:
            table.demand(name, sunk > 0.9 * min(sinking(mu) / 2, 2 * r), f"{variant}: it has sunk by {sunk:.3g} m only")
    table.add(name, rows)


def stack_cases(_laboratory):
    columns = (Column("column of 10 spheres"), Column("column of 10 disks", dimension=2),
               Column("column of 60, sweeps", n=60, seconds=0.5, tolerance=1e-6),
               Column("column of 60, auto", n=60, seconds=0.5, solver="auto", tolerance=1e-6))
    return [*(partial(column, c=c) for c in columns), pyramid]
