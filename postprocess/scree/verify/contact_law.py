"""The elastic contact of the scheme "nonsmooth" against the damped oscillator, from steps that follow a contact to steps far longer than
one: restitution, duration, energy, rest."""
import math

import numpy as np

from scree.verify.checks import Checks
from scree.verify.grain_deck import GrainDeck
from scree.verify.numbers import impact_damping, runge_kutta, shortest

RADIUS, DENSITY, STIFFNESS, G = 0.005, 2500, 6500, 9.81     # SI
MASS = 4 * math.pi / 3 * DENSITY * RADIUS**3
STARTS = (2.0, 2.31, 2.5, 2.87)     # steps before two touch
X, _, Z = np.eye(3)
PITCH = 8 * RADIUS                  # of cases side by side


def speed_for(dt):
    """Speed at which nothing moves by more than a small part of a radius in a step: the law is linear [m/s]."""
    return min(0.1, 0.05 * RADIUS / dt)


def elastic_deck(dt, steps, restitutions, friction=0):
    """Without gravity; a material g0, g1, ... for each restitution."""
    deck = GrainDeck([-0.5] * 3, [1.5] * 3, dt, steps)
    # Without gravity the residual of bodies that all move alike is that of round-off.
    deck.tables["solver"]["tolerance"] = 1e-6 if dt * math.sqrt(STIFFNESS / MASS) > 30 else 1e-11
    deck.pair_keys = {"stiffness": STIFFNESS}
    for k, e in enumerate(restitutions):
        deck.material(f"g{k}", DENSITY)
        deck.pair(f"g{k}", f"g{k}", friction, e)
    return deck


def rebounds_of_balls(laboratory, restitutions, dt):
    """Spheres meet floors of their own: (restitution, duration of the contact [s]) for each of `restitutions` and STARTS. The duration
    counts the steps in which the floor acts."""
    speed = speed_for(dt)
    longest = max(impact_damping(e).duration for e in restitutions) / math.sqrt(STIFFNESS / MASS)
    deck = elastic_deck(dt, math.ceil(max(STARTS) + 1.2 * longest / dt) + 8, restitutions)
    names = []
    for i in range(len(restitutions)):
        for j, start in enumerate(STARTS):
            place = PITCH * np.array([i, j, 0])
            names.append(f"floor{i}x{j}")
            deck.obstacle(names[-1], f"g{i}", type="box", lower=list(place - 2 * RADIUS), upper=list(place + [2 * RADIUS, 2 * RADIUS, 0]))
            deck.add(f"g{i}", place + (RADIUS + start * dt * speed) * Z, RADIUS, velocity=-speed * Z)
    deck.measure("wall_force")
    course = laboratory.run(deck)
    after = course.bodies().velocity[:, 2] / speed
    forces = np.array([course.scalars[f"wall_force_force_{name}_z"] for name in names])
    acts = np.abs(forces * dt / MASS) > 1e-12 * speed
    return np.stack([after, acts.sum(axis=1) * dt], axis=-1).reshape(len(restitutions), len(STARTS), 2)


def check_one_ball(laboratory, table):
    bound, restitutions = 0.01, (1.0, 0.8, 0.5, 0.2, 0.05)
    shares = (1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 300.0, 1e3)     # omega dt
    table.show("One sphere on a floor: restitution and duration of the contact, over what the damped oscillator has")
    table.show(f"{'e':>9} {'omega dt':>9} {'e found':>14} {'worst error':>14} {'duration':>10}")
    omega = math.sqrt(STIFFNESS / MASS)
    found = [rebounds_of_balls(laboratory, restitutions, omega_dt / omega) for omega_dt in shares]
    for k, e in enumerate(restitutions):
        exact = impact_damping(e).duration / omega
        for omega_dt, balls in zip(shares, found):
            errors = balls[k, :, 0] - e
            worst = float(errors[len(errors) - 1 - np.argmax(np.abs(errors[::-1]))])
            duration = float(balls[k, :, 1].mean())
            table.show(f"{shortest(e):>9} {shortest(omega_dt):>9} {e + worst:>14.9f} {worst / e:>14.1e} {duration / exact:>10.4f}")
            table.record("one sphere", e, omega_dt, "restitution", e + worst, e)
            table.record("one sphere", e, omega_dt, "duration [s]", duration, exact)
            table.count(abs(worst) <= bound * e, f"one sphere, e = {e}, omega dt = {omega_dt}: restitution {e + worst:.6f}")


def exact_three(e):
    """Velocities after sphere 1 hits 2 and 3, which touch: contacts that push only. In units of mass, stiffness and speed."""
    # The pair of two equal spheres has half the mass, hence sqrt(2) the frequency.
    damping = 2 * impact_damping(e).share * math.sqrt(0.5)

    def rate(state):    # places, velocities
        x1, x2, x3, v1, v2, v3 = state
        first = max(0.0, x1 - x2 + damping * (v1 - v2)) if x1 > x2 else 0.0
        second = max(0.0, x2 - x3 + damping * (v2 - v3)) if x2 > x3 else 0.0
        return np.array([v1, v2, v3, -first, first - second, second])

    return runge_kutta(rate, np.array([0, 0, 0, 1.0, 0, 0]), 20, 10_000)[3:]


def three_balls(laboratory, restitutions, omega_dt):
    """Velocities of the spheres over that of the impact, (restitutions, STARTS, 3)."""
    dt = omega_dt / math.sqrt(2 * STIFFNESS / MASS)
    speed = speed_for(dt)
    deck = elastic_deck(dt, round(30 + 40 / omega_dt), restitutions)
    for i in range(len(restitutions)):
        for j, start in enumerate(STARTS):
            for ball in range(3):
                along = 2 * RADIUS * ball - (start * dt * speed if ball == 0 else 0)
                deck.add(f"g{i}", along * X + PITCH * np.array([0, i, j]), RADIUS, velocity=speed * X if ball == 0 else None)
    return laboratory.run(deck).bodies().velocity[:, 0].reshape(len(restitutions), len(STARTS), 3) / speed


def check_three_balls(laboratory, table):
    bound, restitutions = 0.01, (1.0, 0.8, 0.5, 0.2)    # the bound: of the speed of the impact
    shares = (0.01, 0.1, 0.3, 1.0, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 1e3)      # omega dt
    table.show("Three spheres in a row, two of which touch: velocities after, over that of the impact, and energy")
    table.show(f"{'e':>9} {'omega dt':>9} {'first':>9} {'second':>9} {'third':>9} {'energy':>9}")

    def line(e, label, v, energy):
        table.show(f"{shortest(e):>9} {label:>9} {v[0]:>9.4f} {v[1]:>9.4f} {v[2]:>9.4f} {energy:>9.4f}")

    found = [three_balls(laboratory, restitutions, omega_dt) for omega_dt in shares]
    for k, e in enumerate(restitutions):
        soft = exact_three(e)
        rigid = np.array([1 - 2 * (1 + e) / 3, (1 + e) / 3, (1 + e) / 3])
        line(e, "soft", soft, soft @ soft)
        for omega_dt, velocities in zip(shares, found):
            mean, energy = velocities[k].mean(axis=0), float((velocities[k]**2).sum(axis=1).max())
            line(e, shortest(omega_dt), mean, energy)
            for i in range(3):
                table.record("three spheres", e, omega_dt, f"velocity of {i + 1}", float(mean[i]), float(soft[i]))
            table.record("three spheres", e, omega_dt, "energy", energy, float(soft @ soft))
            table.count(energy <= 1 + 1e-6, f"three spheres, e = {e}, omega dt = {omega_dt}: energy {energy:.6f}")
            expected = soft if omega_dt <= 0.1 else rigid if omega_dt >= 100 else None
            if expected is not None:
                for i in range(3):
                    table.count(abs(mean[i] - expected[i]) <= bound,
                                f"three spheres, e = {e}, omega dt = {omega_dt}: sphere {i + 1} has {mean[i]:.4f}")
        line(e, "rigid", rigid, rigid @ rigid)


def check_rest(laboratory, table):
    """A sphere that cannot turn is dropped on a floor and pulled along it: where it comes to rest."""
    bound = 1e-6
    table.show("A sphere at rest under m g and 0.1 m g along the floor: overlap and stretch, over F/k")
    table.show(f"{'omega dt':>9} {'overlap':>14} {'stretch':>14}")
    overlap = MASS * G / STIFFNESS
    stretch = 0.1 * overlap * 7 / 2
    for omega_dt in (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0):
        dt = omega_dt / math.sqrt(STIFFNESS / MASS)
        deck = elastic_deck(dt, round(300 + 300 / omega_dt), [0.3], friction=0.5)
        deck.tables["solver"]["tolerance"] = 1e-11
        deck.gravity([0.1 * G, 0, -G])
        deck.floor("g0")
        deck.add("g0", RADIUS * Z, RADIUS, rotates=False)
        place = laboratory.run(deck).bodies().position[0]
        found = (float((RADIUS - place[2]) / overlap), float(place[0] / stretch))
        table.show(f"{shortest(omega_dt):>9} {found[0]:>14.9f} {found[1]:>14.9f}")
        for quantity, share in zip(("overlap", "stretch"), found):
            table.record("rest", 0.3, omega_dt, quantity, share, 1)
            table.count(abs(share - 1) <= bound, f"rest, omega dt = {omega_dt}: {share:.9f} of F/k")


def verify(laboratory, _group, csv, show):
    table = Checks(show, ("case", "e", "omega_dt", "quantity", "found", "exact"))
    check_one_ball(laboratory, table)
    check_three_balls(laboratory, table)
    check_rest(laboratory, table)
    return table.finish(csv)
