"""Momentum, energy and force of many grains, and of two soft ones."""
import math
from functools import partial

import numpy as np

from scree.verify.checks import Row
from scree.verify.grain_deck import GrainDeck

G = 9.81    # [m/s2]


def momentum_of(bodies, radius):
    """Linear and angular momentum of all spheres, the latter about the origin, each with the sum of its magnitudes."""
    p = bodies.mass[:, None] * bodies.velocity
    angular = np.cross(bodies.position, p) + (0.4 * bodies.mass * radius**2)[:, None] * bodies.spin
    return [(part.sum(axis=0), np.linalg.norm(part, axis=1).sum()) for part in (p, angular)]


def collision(laboratory, table, name, mu, spacing, steps, correction, angular_bound):
    """Two clusters of spheres run into each other, spinning, with restitution. Impulses act on both bodies alike, so linear momentum is
    kept to round-off. Angular momentum is where they act at the same point: with friction at a gap, levers that end at the surfaces
    leave gap x friction, and moving overlapping bodies apart leaves mass x displacement x slip."""
    r, dt = 0.01, 5e-4
    reach = 4 * spacing * r
    deck = GrainDeck([-0.5] * 3, [0.5] * 3, dt, steps)
    deck.material("body", 2500)
    deck.pair("body", "body", mu, 0.6)
    deck.tables["solver"]["tolerance"] = 1e-8
    if not correction:
        deck.tables["nonsmooth"] = {"correction": "none"}
    # Layers of the second cluster touch those of the first where their spacing is 2 r.
    for side in (-1.0, 1.0):
        low = -reach if side < 0 else 0
        deck.group("body", r, {"type": "lattice", "spacing": spacing * r, "region": {
            "lower": [low, -reach / 2, -reach / 2], "upper": [low + reach, reach / 2, reach / 2]}},
            velocity=[-side, 0.3 * side, 0.1], angular_velocity=[40 * side, 20, 7], random_speed=0.3)
    course = laboratory.run(deck)
    table.demand(name, course.certificate["contacts"].max() > 20, "hardly anybody collides")
    start, end = (momentum_of(course.bodies(frame), r) for frame in (0, -1))
    moved, turned = (float(np.linalg.norm(b[0] - a[0])) / a[1] for a, b in zip(start, end))
    table.add(name, [Row("linear momentum [-]", "change / sum of m |v|", 0, moved, 1e-12),
                     Row("angular momentum [-]", "change / sum of |L|", 0, turned, angular_bound)])


def stirred_box(dt, steps, elasticity=None):
    """200 spheres fall into a box with a paddle that turns, a wall that pushes and a floor that shakes."""
    deck = GrainDeck([0, 0, -0.1], [0.5, 0.25, 0.7], dt, steps)
    deck.gravity([0, 0, -G])
    deck.material("body", 2500, elasticity)
    deck.material("wall", 2500 if elasticity else 1, elasticity)
    deck.pair("body", "body", 0.4, 0.5, 0.02)
    deck.pair("body", "wall", 0.3, 0.7, 0.02)
    deck.group("body", 0.02, {"type": "lattice", "count": 200, "jitter": 0.05, "region": {
        "lower": [0.02, 0, 0.05], "upper": [0.3, 0.25, 0.7]}}, random_speed=0.3, angular_velocity=[3, 0, 1])
    deck.plane("floor", "wall", [0, 0, 0], [0, 0, 1], motion={"type": "oscillate", "amplitude": [0, 0, 0.005], "frequency": 5})
    deck.plane("left", "wall", [0, 0, 0], [1, 0, 0], motion={"type": "translate", "velocity": [0.05, 0.02, 0]})
    deck.plane("right", "wall", [0.5, 0, 0], [-1, 0, 0])
    deck.plane("front", "wall", [0, 0, 0], [0, 1, 0])
    deck.plane("back", "wall", [0, 0.25, 0], [0, -1, 0])
    deck.obstacle("paddle", "wall", type="box", lower=[0.33, 0.05, 0.07], upper=[0.45, 0.2, 0.09],
                  motion={"type": "rotate", "point": [0.39, 0.12, 0.08], "axis": [0, 1, 0], "rate": 6})
    return deck


class EnergyBalance:
    """What a run with the measure `energy` in every step shows of its energy balance [J]. `worst`: largest imbalance after any step;
    `turned_over`: kinetic energy that came and went; `start`; `dissipated`: least of friction, impact and |work of walls|."""

    def __init__(self, scalars):
        self.worst = np.abs(scalars["energy_imbalance"][1:]).max()
        self.turned_over = np.abs(np.diff(scalars["energy_kinetic"])).sum()
        self.start = scalars["energy_start"][-1]
        self.least_part = min(scalars["energy_friction"][-1], scalars["energy_impact"][-1], abs(scalars["energy_wall_work"][-1]))


def energy(laboratory, table):
    """The energy balance of 200 rigid spheres in a stirred box closes to round-off."""
    name = "energy, 200 spheres"
    deck = stirred_box(1e-3, 300)
    deck.tables["solver"]["tolerance"] = 1e-3
    deck.measure("energy")
    seen = EnergyBalance(laboratory.run(deck).scalars)
    table.demand(name, seen.least_part > 1e-3 * seen.turned_over, "walls, friction or impacts play no part")
    table.add(name, [Row("imbalance / turned over [-]", "worst of all steps", 0, seen.worst / seen.turned_over, 1e-10)])


def bed(laboratory, table):
    """A bed of spheres that has come to rest: the floor carries its weight, and in every step before what the walls give is the change
    of momentum and the weight."""
    r, dt, tolerance, width = 0.01, 2e-3, 1e-4, 0.06
    deck = GrainDeck([0, 0, 0], [width, width, 0.3], dt, 300)
    deck.gravity([0, 0, -G])
    deck.tables["solver"]["tolerance"] = tolerance
    deck.material("body", 2500)
    deck.material("floor", 1)
    deck.pair("body", "body", 0.5, 0)
    deck.pair("body", "floor", 0.5, 0)
    deck.floor("floor")
    for k in range(2):
        axis = np.eye(3)[k]
        deck.plane(f"wall{k}near", "floor", 0 * axis, axis)
        deck.plane(f"wall{k}far", "floor", width * axis, -axis)
    deck.group("body", r, {"type": "lattice", "count": 30, "jitter": 0.02, "region": {"lower": [0, 0, 0], "upper": [0.06, 0.06, 0.25]}})
    deck.record_every()
    deck.measure("wall_force")
    course = laboratory.run(deck)
    series, scalars = course.series, course.scalars
    momentum = np.einsum("fb,fbk->fk", series.mass, series.velocity)
    weight = float(np.sum(series.mass[0] * G))
    on_walls = np.array([sum(scalars[name] for name in scalars if name.startswith("wall_force_force_") and name.endswith(f"_{axis}"))
                         for axis in "xyz"]).T
    force = -on_walls[1:]
    given = dt * force - [0, 0, dt * weight] - np.diff(momentum, axis=0)
    table.add("bed at rest, 30 spheres", [
        Row("momentum of a step [-]", "worst, / weight dt", 0, np.linalg.norm(given, axis=1).max() / (weight * dt), 1e-10),
        Row("force of walls / weight [-]", "at the end", 1, force[-1, 2] / weight, tolerance)])


def balance_cases(_laboratory):
    return [partial(collision, name=name, mu=mu, spacing=spacing, steps=steps, correction=correction, angular_bound=bound)
            for name, mu, spacing, steps, correction, bound in (("collision, smooth", 0, 2.2, 60, False, 1e-10),
                                                                ("collision, touching", 0.4, 2, 1, True, 1e-10),
                                                                ("collision, rough", 0.4, 2.2, 60, True, 1e-3))] + [energy, bed]


def pair_and_wall(dt, dem, pair_keys):
    """Two spheres meet at an angle, spinning; then one of them meets a wall that moves. 4 ms."""
    r = 2e-3
    deck = GrainDeck([-0.1] * 3, [0.1] * 3, dt, round(4e-3 / dt))
    deck.soft(**dem)
    deck.material("glass", 2500, (5e7, 0.2))
    deck.pair_keys = pair_keys
    deck.pair("glass", "glass", 0.3, 0.6)
    deck.add("glass", [0, 0, 0], r, [0.5, 0.1, 0], [10, 20, 30])
    deck.add("glass", [2.025 * r, 0.5 * r, 0.05 * r], r, [-0.5, 0, 0])
    deck.plane("wall", "glass", [-3e-3, 0, 0], [1, 0, 0], motion={"type": "translate", "velocity": [0.2, 0.1, 0]})
    return deck


def closes(laboratory, table, name, variant, steps, bounds, deck_of, scale):
    """Rows of runs with three steps: what is missing in the energy balance as a share of scale(balance), and with which power of the
    step it falls from the first to the last. `bounds`: of the first share, and of the power about 2."""
    decks = [deck_of(dt) for dt in steps]
    for deck in decks:
        deck.measure("energy", balance=True)
    rows, missing = [], []
    for dt, course in zip(steps, laboratory.run_all(decks)):
        seen = EnergyBalance(course.scalars)
        missing.append(seen.worst / scale(seen))
        rows.append(Row(f"missing at {dt:g} s [-]", variant, 0, missing[-1], bounds[0] * (dt / steps[0])**2))
        table.demand(name, seen.least_part > 0, "walls, friction or impacts play no part")
    rows.append(Row("order [-]", variant, 2, math.log(missing[0] / missing[2]) / math.log(steps[0] / steps[2]), bounds[1]))
    table.add(name, rows)


def soft_stirred_box(dt):
    deck = stirred_box(dt, round(0.3 / dt), (5e6, 0.3))
    deck.soft()
    return deck


def soft_energy_cases(_laboratory):
    """The energy balance of soft contact closes with the square of the step."""
    laws = {"whole": ({}, {}), "increments": ({"tangential": "increments"}, {}), "rescaled": ({"tangential": "rescaled"}, {}),
            "no pull": ({"attraction": False}, {}), "linear": ({"law": "linear"}, {"stiffness": 1e4})}
    pairs = [partial(closes, name="energy, soft pair", variant=variant, steps=(8e-6, 2e-6, 5e-7), bounds=(5e-3, 0.25),
                     deck_of=partial(pair_and_wall, dem=dem, pair_keys=keys), scale=lambda seen: seen.start)
             for variant, (dem, keys) in laws.items()]
    return [*pairs, partial(closes, name="energy, 200 soft spheres", variant="whole", steps=(8e-5, 4e-5, 2e-5), bounds=(1e-3, 0.5),
                            deck_of=soft_stirred_box, scale=lambda seen: seen.turned_over)]
