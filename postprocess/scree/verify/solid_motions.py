"""Convex bodies that slide, roll, topple and fly: closed forms, and small integrations."""
import math
from functools import partial

import numpy as np

from scree.verify.checks import Row
from scree.verify.numbers import at_zero_step, norm, runge_kutta
from scree.verify.solids import G, SolidDeck, axes_of, leaning, orientations, turned, up

DENSITY = 1000
CLOSED_FORM = 1e-6      # share by which limits of runs may differ from closed forms
X, Y, Z = np.eye(3)


def cubes_on_slope(laboratory, table):
    """Cubes on a slope, two of them turned on it: a = g (sin - mu cos), and rest from mu = tan on."""
    tangent, time, dt = 0.5, 0.5, 5e-3
    cosine = 1 / math.sqrt(1 + tangent**2)
    frictions = (0.45, 0.499, 0.5, 0.501, 0.45, 0.501)
    deck = SolidDeck([-5, -5, -5], [10, 20, 10], dt, round(time / dt))
    deck.slope(tangent)
    deck.box("cube", [1, 1, 1], 1e-3)
    for i, mu in enumerate(frictions):
        deck.material(f"m{i}", DENSITY)
        deck.pair(f"m{i}", "floor", mu, 0)
        deck.place(f"m{i}", [0, 2.5 * i, 0.5], orientation=turned(3, 0 if i < 4 else 0.5), shape="cube")
    end, rows = laboratory.run(deck).bodies(), []
    for i, mu in enumerate(frictions):
        variant, a = f"mu = {mu}{'' if i < 4 else ', turned'}", max(0.0, G * cosine * (tangent - mu))
        missed = "friction just holds: sweeps end at a residual of 2e-12 to 1e-11, above the tolerance of 1e-12" if mu == tangent else ""
        rows += [Row("a [m/s2]", variant, a, end.velocity[i, 0] / time, 1e-8 * (a if a > 1e-9 else 1), missed=missed),
                 Row("spin [rad/s]", variant, 0, norm(end.spin[i]), 1e-8)]
    table.add("cubes on a slope", rows)


def rolling_capsule(laboratory, table):
    """A capsule across a slope rolls as a body with I = k m r^2: a = g sin / (1 + k), or slips."""
    tangent, time, dt, r, length = 0.5, 0.5, 1e-3, 0.1, 0.5
    cosine = 1 / math.sqrt(1 + tangent**2)
    sine = tangent * cosine
    middle, ends = length, 4 / 3 * r    # volumes over pi r^2
    k = (0.5 * middle + 0.4 * ends) / (middle + ends)
    frictions = (0.6, 0.1)
    deck = SolidDeck([-2] * 3, [4] * 3, dt, round(time / dt))
    deck.slope(tangent)
    deck.shape("rod", type="capsule", length=length, width=2 * r)
    for i, mu in enumerate(frictions):
        deck.material(f"m{i}", DENSITY)
        deck.pair(f"m{i}", "floor", mu, 0)
        deck.place(f"m{i}", [0, 1.5 * i, r], orientation=turned(3, math.pi / 2), shape="rod")
    end, rows = laboratory.run(deck).bodies(), []
    for i, mu in enumerate(frictions):
        rolls = mu > tangent * k / (1 + k)
        a = G * sine / (1 + k) if rolls else G * (sine - mu * cosine)
        turn = a if rolls else mu * G * cosine / k
        rows += [Row("u at 0.5 s [m/s]", f"mu = {mu}", a * time, end.velocity[i, 0], CLOSED_FORM * G * time),
                 Row("r omega at 0.5 s [m/s]", f"mu = {mu}", turn * time, r * end.spin[i, 1], CLOSED_FORM * G * time)]
    table.add("capsule on a slope", rows)


def falling_plate(laboratory, table):
    """A plate that falls and spins about its axis of most inertia: z(t) of steps with the velocity at their end."""
    dt, time, height, spin, rise = 5e-3, 1, 8, 3, 2
    deck = SolidDeck([-5] * 3, [10] * 3, dt, round(time / dt))
    deck.gravity(-G * Z)
    deck.material("body", DENSITY)
    deck.box("plate", [2, 1, 0.02], 1e-3)
    deck.place("body", height * Z, velocity=rise * Z, spin=spin * Z, orientation=turned(3, 0), shape="plate")
    course = laboratory.run(deck)
    end, turn = course.bodies(), orientations(course)[0]
    table.add("falling plate", [
        Row("height [m]", "after 1 s", height + rise * time - 0.5 * G * time * (time + dt), end.position[0, 2], CLOSED_FORM * height),
        Row("velocity [m/s]", "after 1 s", rise - G * time, end.velocity[0, 2], CLOSED_FORM),
        Row("angle [rad]", "after 1 s", spin * time, 2 * math.atan2(turn[3], turn[0]), CLOSED_FORM * spin),
        Row("spin [rad/s]", "after 1 s", spin, end.spin[0, 2], CLOSED_FORM * spin)])


def free_deck(size, spin, dt, time):
    """A brick that spins without gravity."""
    reach = 2 * norm(size)
    deck = SolidDeck([-reach] * 3, [reach] * 3, dt, round(time / dt))
    deck.material("body", DENSITY)
    deck.box("brick", size, 1e-3 * min(size))
    deck.place("body", [0, 0, 0], spin=spin, orientation=turned(3, 0), shape="brick")
    deck.measure("energy", every_steps=10**9)
    return deck


def moments_in_runs(laboratory, size):
    """Principal moments of inertia of a brick [kg m2], as its energy has them when it spins about each of its axes."""
    courses = laboratory.run_all([free_deck(size, axis, 1e-3, 1e-3) for axis in np.eye(3)])
    return np.array([2 * course.scalars["energy_kinetic"][0] for course in courses])


def free_brick(laboratory, table):
    """A brick 1:2:5 tumbles from a spin about its middle axis; energy and angular momentum are kept."""
    size, time = [1, 2, 5], 10
    moments, rows = moments_in_runs(laboratory, size), []
    steps = (0.01,) if laboratory.quick else (0.01, 0.005, 0.001)
    for dt, course in zip(steps, laboratory.run_all([free_deck(size, [0.01, 10, 0.01], dt, time) for dt in steps])):
        def momentum(frame, course=course):
            axes = axes_of(orientations(course, frame)[0])
            return axes.T @ (moments * (axes @ course.bodies(frame).spin[0]))

        energy = course.scalars["energy_kinetic"]
        variant, start = f"10 s, dt = {1000 * dt:g} ms", momentum(0)
        rows += [Row("energy / start - 1 [-]", variant, 0, energy[-1] / energy[0] - 1, 1e-9),
                 Row("angular momentum off [-]", variant, 0, norm(momentum(-1) - start) / norm(start), 1e-11)]
    table.add("free brick 1:2:5", rows)


def turn_of_free_body(moments, spin, time):
    """Euler's equations in body axes and the turn of the body: its quaternion after `time`."""
    def rate(state):
        (qw, qx, qy, qz), w = state[:4], state[4:]
        change = 0.5 * np.array([-qx * w[0] - qy * w[1] - qz * w[2], qw * w[0] + qy * w[2] - qz * w[1],
                                 qw * w[1] + qz * w[0] - qx * w[2], qw * w[2] + qx * w[1] - qy * w[0]])
        spin_up = [(moments[(k + 1) % 3] - moments[(k + 2) % 3]) / moments[k] * w[(k + 1) % 3] * w[(k + 2) % 3] for k in range(3)]
        return np.concatenate([change, spin_up])

    return runge_kutta(rate, np.array([1, 0, 0, 0, *spin], float), time, 5000)[:4]


def free_tops(laboratory, table):
    """Where the long axis of free bodies points after a second, in the limit of small steps: of a brick with three moments by Runge-Kutta;
    of a square prism, its axis goes round the angular momentum at |L| / I1."""
    time, rows = 1, []

    def compare(name, size, spin, exact):
        courses = laboratory.run_all([free_deck(size, spin, dt, time) for dt in (8e-3, 4e-3, 2e-3, 1e-3)])
        found = at_zero_step([axes_of(orientations(course)[0])[2] for course in courses], 2)
        rows.extend(Row(f"axis, {'xyz'[k]} [-]", name, exact[k], found[k], CLOSED_FORM) for k in range(3))

    def moments_of(size):
        return (np.dot(size, size) - np.square(size)) / 12

    brick, tumbling = [1, 2, 5], [1, 6, 0.5]
    compare("brick 1:2:5", brick, tumbling, axes_of(turn_of_free_body(moments_of(brick), tumbling, time))[2])
    prism, spin = [1, 1, 2], [3, 0, 10]
    moments = moments_of(prism)
    momentum = moments * spin
    angle, way = norm(momentum) / moments[0] * time, momentum / norm(momentum)
    compare("prism 1:1:2", prism, spin, math.cos(angle) * Z + math.sin(angle) * np.cross(way, Z) + (1 - math.cos(angle)) * (way @ Z) * way)
    table.add("free tops, limit", rows)


def spinning_top(laboratory, table):
    """A capsule rolls on its round end in steady precession: e, the vector from the centre of the end to that of the body (l apart), keeps the
    angle theta to the vertical z and turns about it at Omega. With the end of radius r rolling, omega = Omega z + s e,
    v = (Omega l - s r) z x e, and the change of angular momentum is the torque of the floor if
        s (I3 Omega + m Omega r a) = m Omega^2 l a + m g l - (I3 - I1) Omega^2 cos(theta),  a = l cos(theta) + r"""
    r, l, theta, w, time = 0.05, 0.05, 0.35, 5, 0.4
    middle, ends = 2 * l, 4 / 3 * r     # volumes over pi r^2
    i3 = (0.5 * middle + 0.4 * ends) / (middle + ends) * r**2
    # A hemisphere is 3/8 r beyond the end of the cylinder and has (2/5 - 9/64) m r^2 about its own centre.
    far = l + 3 / 8 * r
    i1 = (middle * (r**2 / 4 + middle**2 / 12) + ends * ((0.4 - 9 / 64) * r**2 + far**2)) / (middle + ends)
    a = l * math.cos(theta) + r
    s = (w * w * l * a + G * l - (i3 - i1) * w * w * math.cos(theta)) / (w * (i3 + r * a))
    e = np.array([math.sin(theta), 0, math.cos(theta)])
    decks = []
    for dt in (1e-3, 5e-4, 2.5e-4, 1.25e-4):
        deck = SolidDeck([-1] * 3, [2] * 3, dt, round(time / dt))
        deck.slope(0)
        deck.material("body", DENSITY)
        deck.pair("floor", "body", 1, 0)
        deck.shape("top", type="capsule", length=2 * l, width=2 * r)
        deck.place("body", r * Z + l * e, velocity=(w * l - s * r) * np.cross(Z, e), spin=w * Z + s * e,
                   orientation=leaning(3, math.pi / 2 - theta), shape="top")
        decks.append(deck)
    axes = [axes_of(orientations(course)[0])[0] for course in laboratory.run_all(decks)]
    table.add("spinning top, limit", [
        Row("lean [rad]", "after 0.4 s", theta, float(at_zero_step([math.acos(axis[2]) for axis in axes], 1)), CLOSED_FORM),
        Row("angle gone round [rad]", "after 0.4 s", w * time, float(at_zero_step([math.atan2(axis[1], axis[0]) for axis in axes], 1)),
            CLOSED_FORM * w * time)])


def toppled(inertia, a, b, rho, angle, time):
    """Angle and rate of a box that topples about a round edge, from rest: with the vector (X, Y) from the centre of the edge to that of the
    box, X = b sin(phi) - a cos(phi), Y = a sin(phi) + b cos(phi),
        (I/m + X^2 + (Y + rho)^2) phi'' = (g + rho phi'^2) X"""
    def rate(state):
        phi, change = state
        x, y = b * math.sin(phi) - a * math.cos(phi), a * math.sin(phi) + b * math.cos(phi)
        return np.array([change, (G + rho * change**2) * x / (inertia + x**2 + (y + rho)**2)])

    return runge_kutta(rate, np.array([angle, 0.0]), time, 5000)


def toppling(laboratory, table, dimension):
    width, height, rho, time = 0.4, 1, 0.01, 0.3
    a, b = width / 2 - rho, height / 2 - rho
    start = math.atan2(a, b) + 0.2
    exact = toppled((width**2 + height**2) / 12, a, b, rho, start, time)
    decks = []
    for dt in (1e-3, 5e-4, 2.5e-4, 1.25e-4):
        deck = SolidDeck([-4] * dimension, [8] * dimension, dt, round(time / dt))
        deck.slope(0)
        deck.material("body", DENSITY)
        deck.pair("floor", "body", 1, 0)
        deck.box("box", [width, *[0.5] * (dimension - 2), height], rho)
        at = (b * math.sin(start) - a * math.cos(start)) * np.eye(dimension)[0]
        at += (rho + a * math.sin(start) + b * math.cos(start)) * up(dimension)
        deck.place("body", at, orientation=leaning(dimension, -start), shape="box")
        decks.append(deck)
    courses = laboratory.run_all(decks)
    axes = [axes_of(orientations(course)[0])[0] for course in courses]
    spins = [course.bodies().spin[0] for course in courses]
    angle = at_zero_step([math.atan2(-axis[-1], axis[0]) for axis in axes], 1)
    rate = at_zero_step([-spin[0] if dimension == 2 else spin[1] for spin in spins], 1)
    table.add(f"toppling box {dimension}D, limit", [
        Row("angle [rad]", "after 0.3 s", exact[0], float(angle), CLOSED_FORM * exact[0]),
        Row("rate [rad/s]", "after 0.3 s", exact[1], float(rate), CLOSED_FORM * exact[1])])


def solid_motion_cases(_laboratory):
    return [cubes_on_slope, rolling_capsule, falling_plate, free_brick, free_tops, spinning_top, partial(toppling, dimension=2),
            partial(toppling, dimension=3)]
