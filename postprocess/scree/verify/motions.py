"""Slip, roll and bounce of bodies on a floor, rigid and soft."""
import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from scree.verify.checks import Row
from scree.verify.grain_deck import GrainDeck, hertz_overlap

G = 9.81                # [m/s2]
DENSITY = 2500          # [kg/m3]
INERTIA_RATIO = {2: 0.5, 3: 0.4}        # I / (m r^2)
KIND = {2: "disk", 3: "sphere"}


@dataclass(frozen=True)
class Contacts:
    """Rigid grains, or soft ones on a rigid floor. These sink in until it carries them, without a rebound: the impulse of the floor is
    then that of the weight, and so is the limit of friction. `bound`: of errors, as a share of the largest speed; `rings`: how long
    springs swing when a body begins to roll [s]."""
    dt: float
    bound: float
    rings: float = 0
    elasticity: tuple | None = None

    def name(self, of):
        return f"{of}, soft" if self.elasticity else of


RIGID = Contacts(1e-3, 1e-8)
SOFT = Contacts(1e-4, 5e-3, 8e-3, (1e9, 0.3))


def on_floor(dimension, along, radius, lane):
    """A place on the floor at x = `along`; in 3D each body has a lane of its own, so that they are on different ranks."""
    return np.array([along, radius] if dimension == 2 else [along, (3 + 4 * lane) * radius, radius], float)


def rolling(spin):
    """Spin in the sense of rolling towards +x over a floor below."""
    return -spin[..., 0] if spin.shape[-1] == 1 else spin[..., 1]


class FloorDeck(GrainDeck):
    """A floor along a slope of tangent `slope`, down towards +x."""

    def __init__(self, dimension, contacts, length, steps, slope=0):
        upper = np.full(dimension, 2.0)
        upper[0] = length
        super().__init__(np.zeros(dimension), upper, contacts.dt, steps)
        self.contacts = contacts
        across = G / math.sqrt(1 + slope * slope)
        g = np.zeros(dimension)
        g[-1], g[0] = -across, slope * across
        self.gravity(g)
        if contacts.elasticity:
            self.soft()
        self.material("floor", DENSITY, (math.inf, 0) if contacts.elasticity else None)
        self.floor("floor")

    def body_material(self, name):
        self.material(name, DENSITY, self.contacts.elasticity)


def slide_to_roll(laboratory, table, contacts, dimension):
    """Launched without spin at u0: slips with u = u0 - mu g t and r omega = mu g t / k, k = I / (m r^2), until
    t = u0 / (mu g (1 + 1/k)); rolls with u = u0 / (1 + k) from then on. Soft bodies start where the floor carries their weight."""
    r, mu, k, dt = 0.1, 0.3, INERTIA_RATIO[dimension], contacts.dt
    n_steps, n_slipping = round(0.35 / dt), round(0.08 / dt)
    launch = (1, 2, 3)
    deck = FloorDeck(dimension, contacts, 4, n_steps)
    deck.body_material("body")
    deck.pair("body", "floor", mu, 0)
    # The faster ones start ahead: nobody meets in the plane.
    for i, u0 in enumerate(launch):
        place = on_floor(dimension, 0.3 + 0.4 * i, r, i)
        if contacts.elasticity:
            place[-1] -= hertz_overlap(DENSITY, r, contacts.elasticity, G, dimension)
        deck.place("body", place, r, velocity=u0 * np.eye(dimension)[0])
    every = round(1e-3 / dt)
    deck.record_every(every)
    series = laboratory.run(deck).series
    u, turn = series.velocity[:, :, 0], r * rolling(series.spin)
    slipping = n_slipping // every
    rows = []
    for i, u0 in enumerate(launch):
        bound, variant, slipped = contacts.bound * u0, f"u0 = {u0} m/s", n_slipping * dt
        off = np.abs(u[1:, i] - turn[1:, i]) > bound
        rolls_from = every * dt * (np.flatnonzero(off)[-1] + 1) if off.any() else 0.0
        rolls = u0 / (mu * G * (1 + 1 / k))
        rows += [Row("u at 0.08 s [m/s]", variant, u0 - mu * G * slipped, u[slipping, i], bound),
                 Row("r omega at 0.08 s [m/s]", variant, mu * G * slipped / k, turn[slipping, i], bound),
                 Row("u rolling [m/s]", variant, u0 / (1 + k), u[-1, i], bound),
                 Row("r omega rolling [m/s]", variant, u0 / (1 + k), turn[-1, i], bound),
                 Row("rolls from [s]", variant, rolls, rolls_from, dt + contacts.bound * rolls + contacts.rings)]
    table.add(contacts.name(f"slide to roll, {KIND[dimension]}"), rows)


def spin_down(laboratory, table, contacts, dimension):
    """Spins on a floor without friction, against a resistance to rolling: omega = omega_0 - mu_r g t / (k r), then rest."""
    r, mu_r, k, omega = 0.1, 0.1, INERTIA_RATIO[dimension], 8
    n_steps = round(0.2 / contacts.dt)
    deck = FloorDeck(dimension, contacts, 4, 3 * n_steps)
    deck.body_material("body")
    deck.pair("body", "floor", 0, 0, mu_r)
    deck.add("body", on_floor(dimension, 1, r, 0), r, spin=[omega] if dimension == 2 else [0, omega, 0])
    deck.record_every(n_steps)
    deck.measure("energy", every_steps=3 * n_steps)
    course = laboratory.run(deck)
    found = course.series.spin[:, 0, 0 if dimension == 2 else 1]
    bound = contacts.bound * omega
    table.add(contacts.name(f"rolling resistance, {KIND[dimension]}"), [
        Row("omega at 0.2 s [1/s]", "mu_r = 0.1", omega - mu_r * G / (k * r) * n_steps * contacts.dt, found[1], bound),
        Row("omega at 0.6 s [1/s]", "mu_r = 0.1", 0, found[3], bound)])
    if contacts.elasticity:
        return
    spun = 0.5 * k * course.bodies().mass[0] * r**2 * omega**2
    table.add(f"rolling resistance, {KIND[dimension]}", [
        Row("energy recorded as rolling [J]", "mu_r = 0.1", spun, course.scalars["energy_rolling"][-1], contacts.bound * spun)])


def incline(laboratory, table, contacts, dimension):
    """On a slope of tan theta = 0.5 for half a second, from rest: with k = I / (m r^2) it rolls with a = g sin / (1 + k) if
    mu >= tan theta k / (1 + k), otherwise it slips with a = g (sin - mu cos) and turns with mu g cos / (r k); one that cannot turn
    stays if mu >= tan theta."""
    r, tangent, k, time = 0.1, 0.5, INERTIA_RATIO[dimension], 0.5
    cosine = 1 / math.sqrt(1 + tangent**2)
    sine = tangent * cosine
    roll_limit = tangent * k / (1 + k)
    cases = (("locked, mu = 0.51", 0.51, False), ("locked, mu = 0.49", 0.49, False), ("mu = 0.6", 0.6, True),
             ("mu just enough", 1.001 * roll_limit, True), ("mu too small", 0.5 * roll_limit, True))
    deck = FloorDeck(dimension, contacts, 5, round(time / contacts.dt), tangent)
    for i, (_, mu, rotates) in enumerate(cases):    # the faster ones start ahead
        deck.body_material(f"m{i}")
        deck.pair(f"m{i}", "floor", mu, 0)
        deck.add(f"m{i}", on_floor(dimension, 0.3 + 0.5 * i, r, i % 4), r, rotates=rotates)
    end = laboratory.run(deck).bodies()
    bound, rows = contacts.bound * G * time, []
    for i, (name, mu, rotates) in enumerate(cases):
        if mu >= (roll_limit if rotates else tangent):
            u = time * G * sine / (1 + k) if rotates else 0
            turn = u
        else:
            u = time * G * (sine - mu * cosine)
            turn = time * mu * G * cosine / k if rotates else 0
        rows += [Row("u at 0.5 s [m/s]", name, u, end.velocity[i, 0], bound),
                 Row("r omega at 0.5 s [m/s]", name, turn, r * rolling(end.spin[i]), bound)]
    table.add(contacts.name(f"slope, {KIND[dimension]}"), rows)


def top_of_flight(height, speed, dt):
    """Where a body that rises comes to in steps that take the velocity at their end, with the first that does not rise."""
    n = np.ceil(speed / (G * dt))
    return height + dt * (n * speed - G * dt * n * (n + 1) / 2)


def bounce(laboratory, table):
    """A sphere dropped from h bounces to e^2 h, e^4 h, ... A step of dt meets the floor up to one step early and free fall in steps is off
    by g dt/2: the speed v of an impact is off by at most 3/2 g dt, and the sphere turns up to (1 + e) v dt above the floor, so each height
    H' = e^2 H is off by at most e^2 (3 v dt) + (1 + e) v dt, v^2 = 2 g H."""
    r, height, dt, n_bounces, restitutions = 0.05, 0.5, 2e-4, 3, (0.5, 0.8, 0.95)
    fall = math.sqrt(2 * height / G)
    longest = fall * (1 + 2 * 0.95 + 2 * 0.95**2 + 0.95**3) + 0.01      # until the third top of the liveliest
    deck = FloorDeck(3, Contacts(dt, 0), 2, round(longest / dt))
    for i, e in enumerate(restitutions):
        deck.body_material(f"m{i}")
        deck.pair(f"m{i}", "floor", 0.3, e)
        place = on_floor(3, 0.5 + 0.4 * i, r, 4)
        place[2] += height
        deck.add(f"m{i}", place, r)
    deck.record_every(50)    # ten times and more in a flight
    series = laboratory.run(deck).series
    rows = []
    for i, e in enumerate(restitutions):
        v, last = series.velocity[:, i, 2], height
        rises = np.flatnonzero((v[:-1] > 0) & (v[1:] <= 0))
        tops = top_of_flight(series.position[rises, i, 2], v[rises], dt) - r
        for b, top in enumerate(np.append(tops, np.full(n_bounces, np.nan))[:n_bounces]):
            speed = math.sqrt(2 * G * last)
            rows.append(Row("height over last height [-]", f"e = {e}, bounce {b + 1}", e * e, top / last,
                            (3 * e * e + 1 + e) * speed * dt / last))
            last = top
    table.add("bouncing, sphere", rows)


def free_fall(laboratory, table):
    """Velocity Verlet is exact for constant accelerations, for any step."""
    r, v0, height, time = 0.1, 3, 1, 0.4
    deck = FloorDeck(3, SOFT, 4, round(time / SOFT.dt))
    deck.body_material("body")
    deck.add("body", on_floor(3, 0.5, r, 0) + [0, 0, height], r, velocity=[v0, 0, 0])
    end = laboratory.run(deck).bodies()
    table.add("free fall, soft", [
        Row("height [m]", "after 0.4 s", r + height - 0.5 * G * time**2, end.position[0, 2], 1e-10 * height),
        Row("velocity [m/s]", "after 0.4 s", -G * time, end.velocity[0, 2], 1e-10)])


def _slip_and_roll(contacts):
    return [partial(case, contacts=contacts, dimension=dimension) for case in (slide_to_roll, spin_down, incline) for dimension in (3, 2)]


def motion_cases(_laboratory):
    """Rigid bodies."""
    return [*_slip_and_roll(RIGID), bounce]


def soft_motion_cases(_laboratory):
    """Soft bodies."""
    return [free_fall, *_slip_and_roll(SOFT)]
