"""Impacts of two spheres, or of one and a floor: what rigid spheres do, and boxes of separate impacts.

Source of cases and materials: Y. C. Chung and J. Y. Ooi, Granular Matter 13 (2011) 643, tests 3 to 8, in their rigid form.
"""
import math
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from scree.results.poly_data import read_poly_data
from scree.verify.checks import Row
from scree.verify.grain_deck import GrainDeck
from scree.verify.numbers import norm

DOWN = np.array([0, 0, -1.0])                           # towards the plane that spheres fall on
OBLIQUE = np.array([2.0 / 3, -1.0 / 3, 2.0 / 3])        # off the axes, so that nothing is zero by chance
ASIDE = np.array([1.0 / 3, -2.0 / 3, -2.0 / 3])         # at right angles to it
X, Y = np.eye(3)[:2]
STILL = np.zeros(3)
IMPACT_BOUND = 1e-8     # share of the largest speed of a sphere, radius times spin included, that the result may be off by


@dataclass
class Movement:
    """Velocity [m/s] and spin [rad/s] of a sphere."""
    velocity: np.ndarray = field(default_factory=lambda: STILL)
    spin: np.ndarray = field(default_factory=lambda: STILL)


@dataclass
class Sphere:
    radius: float
    density: float
    start: Movement = field(default_factory=Movement)

    @property
    def mass(self):
        return self.density * (4 / 3 * math.pi * self.radius**3)


@dataclass
class Impact:
    """Sphere a meets sphere b, or a plane at rest if there is none. `normal`: from a to b; `mu`, `e`: friction and restitution."""
    variant: str
    normal: np.ndarray
    a: Sphere
    b: Sphere | None
    mu: float
    e: float

    @property
    def inverse_mass(self):
        return 1 / self.a.mass + (1 / self.b.mass if self.b else 0)

    @property
    def approach(self):
        """Speed [m/s]."""
        return float((self.a.start.velocity - (self.b.start.velocity if self.b else 0)) @ self.normal)

    def slip(self, of_a, of_b):
        """Velocity of the surface of b over that of a, along both."""
        surface_a = of_a.velocity + np.cross(of_a.spin, self.a.radius * self.normal)
        surface_b = of_b.velocity + np.cross(of_b.spin, -self.b.radius * self.normal) if self.b else STILL
        relative = surface_b - surface_a
        return relative - relative @ self.normal * self.normal

    @property
    def slip_at_start(self):
        return self.slip(self.a.start, self.b.start if self.b else Movement())


class RigidImpact:
    """What rigid spheres do: the normal velocity of approach v_n reverses to e v_n, J_n = (1 + e) v_n m*, and friction takes away
    the slip v_s of the surfaces or as much of it as Coulomb's law lets it, J_t = min(mu J_n, 2/7 v_s m*). Impulse balance,
    spheres of I = 2/5 m r^2. `a`, `b`: Movements afterwards; `tangent`: direction of the slip of b over a; `slips`: to the end."""

    def __init__(self, impact):
        n, approach, slip = impact.normal, impact.approach, impact.slip_at_start
        slip_speed = norm(slip)
        # Where nothing slips, the way in which the spin of a moves its surface.
        way = slip if slip_speed > 1e-9 * approach else np.cross(impact.a.start.spin, n)
        self.tangent = way / norm(way) if norm(way) > 0 else STILL
        normal_impulse = (1 + impact.e) * approach / impact.inverse_mass
        to_stop = 2 * slip_speed / 7 / impact.inverse_mass
        self.slips = impact.mu * normal_impulse < to_stop
        on_b = normal_impulse * n
        if slip_speed > 0:
            on_b = on_b - slip * (min(impact.mu * normal_impulse, to_stop) / slip_speed)
        self.a = _after(impact.a, -on_b, n)
        self.b = _after(impact.b, on_b, -n) if impact.b else None


def _after(sphere, impulse, side):
    torque = np.cross(sphere.radius * side, impulse)
    return Movement(sphere.start.velocity + impulse / sphere.mass,
                    sphere.start.spin + torque / (0.4 * sphere.mass * sphere.radius**2))


def last_arrival(impacts, gap):
    """When the slowest sphere has closed its gap [s]."""
    return gap / min(impact.approach for impact in impacts)


def impact_deck(impacts, gap, dt, steps, elasticity=None, pair_keys=None):
    """All impacts of a case in one box: bodies in the order of impacts, a before b. `gap`: to close [m]; `elasticity`: of soft
    spheres; `pair_keys`: further keys of all pairs."""
    on_floor = impacts[0].b is None
    spheres = [sphere for impact in impacts for sphere in (impact.a, impact.b) if sphere]
    largest = max(sphere.radius for sphere in spheres)
    fastest = max(norm(sphere.start.velocity) for sphere in spheres)
    skin = max(2.4 * largest, 3 * fastest * dt)
    # One cell after the other along x; each pair lies across a face of one, so that every way of sharing cells among ranks parts
    # a pair.
    pitch = 1.01 * (2 * largest + skin)
    deck = GrainDeck([0, 0, 0], [pitch * (len(impacts) + 1), pitch, pitch], dt, steps)
    deck.tables["neighbors"]["skin"] = skin
    deck.pair_keys = pair_keys or {}
    if on_floor:
        deck.material("floor", 1, (math.inf, 0) if elasticity else None)
        deck.floor("floor")
    for k, impact in enumerate(impacts):
        a, b = impact.a, impact.b
        x = np.array([pitch * (k + 1), 0.5 * pitch, a.radius + gap])
        apart = (a.radius + (b.radius if b else 0) + gap) * impact.normal
        if b:
            x[2] = 0.5 * pitch
            x -= 0.5 * apart
        deck.material(f"a{k}", a.density, elasticity)
        deck.add(f"a{k}", x, a.radius, a.start.velocity, a.start.spin)
        if b:
            deck.material(f"b{k}", b.density, elasticity)
            deck.add(f"b{k}", x + apart, b.radius, b.start.velocity, b.start.spin)
        deck.pair(f"a{k}", f"b{k}" if b else "floor", impact.mu, impact.e)
    return deck


def watch_ranks(laboratory, deck):
    """Records the ranks of bodies, for demand_split_pair()."""
    if laboratory.ranks > 1:
        deck.tables["output"]["vtk"] = {"every_steps": 10**9, "contacts": False, "obstacles": False}


def demand_split_pair(laboratory, table, name, impacts, course):
    """On more than one rank some pair has to have its spheres on two."""
    if laboratory.ranks == 1 or not impacts[0].b:
        return
    bodies = read_poly_data(course.results.vtk_frames("particles")[0][1]).point_fields
    ranks = bodies["rank"][np.argsort(bodies["id"])]
    table.demand(name, bool(np.any(ranks[::2] != ranks[1::2])), "no pair has its spheres on two ranks")


def _run_impacts(laboratory, table, name, impacts):
    gap = 0.05 * impacts[0].a.radius
    # The fastest closes its gap in the first step, the others when they come to it.
    dt = 1.01 * gap / max(impact.approach for impact in impacts)
    # One step more than it takes: without rebound a step closes the gap and the next takes what speed is left.
    steps = math.ceil((dt + last_arrival(impacts, gap)) / dt)
    deck = impact_deck(impacts, gap, dt, steps)
    watch_ranks(laboratory, deck)
    course = laboratory.run(deck)
    demand_split_pair(laboratory, table, name, impacts, course)
    table.demand(name, course.is_solved, "a step misses the tolerance of the solver")
    found, rows, body = course.bodies(), [], 0
    for impact in impacts:
        expected = RigidImpact(impact)
        for which, sphere, movement in (("", impact.a, expected.a), (", b", impact.b, expected.b)):
            if sphere:
                rows += _rows_of_sphere(impact, impact.variant + which, sphere, movement, expected.tangent,
                                        Movement(found.velocity[body], found.spin[body]))
                body += 1
    table.add(name, rows)


def _rows_of_sphere(impact, variant, sphere, expected, tangent, found):
    # What impulses change by 1e-8 can be much faster than what they leave.
    speed = max(norm(sphere.start.velocity), sphere.radius * norm(sphere.start.spin), norm(impact.a.start.velocity))
    off = norm(found.velocity - expected.velocity)

    def along(quantity, axis):
        return Row(f"{quantity} [m/s]", variant, float(expected.velocity @ axis), float(found.velocity @ axis), IMPACT_BOUND * speed,
                   off)

    if impact.mu == 0:
        return [along("v_n", impact.normal)]
    across = np.cross(impact.normal, tangent)
    return [along("v_n", impact.normal), along("v_t", tangent),
            Row("spin [rad/s]", variant, float(expected.spin @ across), float(found.spin @ across), IMPACT_BOUND * speed / sphere.radius,
                norm(found.spin - expected.spin))]


def chung_3(density):
    return [Impact(f"e = {e:g}", DOWN, Sphere(2.5e-3, density, Movement(3.9 * DOWN)), None, 0, e) for e in (0.2, 0.4, 0.6, 0.8, 1.0)]


def chung_4(density):
    def velocity(angle):
        return 3.9 * (math.cos(math.radians(angle)) * DOWN + math.sin(math.radians(angle)) * Y)

    return [Impact(f"{angle} deg", DOWN, Sphere(2.5e-3, density, Movement(velocity(angle))), None, 0.092, 0.98)
            for angle in range(5, 86, 5)]


def chung_5(density):
    return [Impact(f"v_t = {v:g} m/s", DOWN, Sphere(1e-5, density, Movement(5 * DOWN + v * Y)), None, 0.3, 1)
            for v in (0.1 + 20.9 * i / 20 for i in range(21))]


def _spins():
    return [0.175 + (21 - 0.175) * i / 19 for i in range(20)]    # [rad/s]


def chung_6(density):
    return [Impact(f"spin {spin:.4g} rad/s", DOWN, Sphere(0.1, density, Movement(0.2 * DOWN, spin * X)), None, 0.4, 0.5)
            for spin in _spins()]


def chung_7(density):
    return [Impact(f"{spin:.4g} rad/s", OBLIQUE, Sphere(0.1, density, Movement(0.2 * OBLIQUE, spin * ASIDE)),
                   Sphere(0.1, density, Movement(-0.2 * OBLIQUE, -spin * ASIDE)), 0.4, 0.5) for spin in _spins()]


def chung_8(density):
    return [Impact(f"spin {spin:.4g} rad/s", OBLIQUE, Sphere(0.1, density, Movement(0.2 * OBLIQUE, spin * ASIDE)),
                   Sphere(0.5, 1000 * density), 0.4, 0.5) for spin in _spins()]


def _unequal():
    """Without rebound a pair stays in touch and turns about itself: its impact has to be central."""
    impacts = []
    for ratio in (1.0, 10.0, 1e3, 1e6):
        for e in (0.0, 0.5, 1.0):
            turns = 1 if e > 0 else 0
            a = Sphere(0.01, 2500, Movement(OBLIQUE, turns * (30 * ASIDE + 20 * OBLIQUE)))
            b = Sphere(0.01, 2500 * ratio, Movement(-0.3 * OBLIQUE, turns * 50 * ASIDE))
            impacts.append(Impact(f"masses 1:{ratio:g}, e = {e:g}", OBLIQUE, a, b, 0.3, e))
    return impacts


def impact_cases(_laboratory):
    """Rigid spheres against impulse balances."""
    gears = [replace(impact, variant=f"{metal}, {impact.variant}") for metal, density in (("Al", 2700.0), ("Cu", 8900.0))
             for impact in chung_7(density)]
    boxes = {"Chung 3, normal, plane": chung_3(4000), "Chung 4, oblique, plane": chung_4(4000), "Chung 5, tangential, plane": chung_5(7850),
             "Chung 6, spinning, plane": chung_6(2700), "Chung 7, gears": gears, "Chung 8, spinning, sphere": chung_8(2700),
             "two bodies, unequal": _unequal()}
    return [partial(_run_impacts, name=name, impacts=impacts) for name, impacts in boxes.items()]
