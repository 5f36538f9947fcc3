"""Stacks of disks with friction as a constraint (scheme "dem", friction = "dae"), with its velocities projected and without, beside a
prototype that shares no code with scree (tests/reference/dae/cannonball.csv). Decks: stack3, stack6 and stack10 of inputs/verification."""
import math
from functools import cached_property

import numpy as np

from scree.deck import Deck
from scree.verify.numbers import residue

STIFFNESS, MU = 1e5, 0.5            # [N/m], -
TIME_STEP, END, SAMPLE = 2e-4, 3, 0.1    # [s]
# Share of critical damping of a pair; at the floor, which deforms as much but does not move, the same damping is less.
DAMPING = {"body": 0.2, "floor": 0.2 / math.sqrt(2)}
SETTLED = 2 / 3     # share of a run after which its energy is at the floor
COMPARABLE = 1e-15  # kinetic energy [J] below which the prototype and this code differ by what restitution and geometry round to
FLOOR = 1e-24       # kinetic energy [J] below which a stack is at rest
TITLES = ("disks", "projection", "integrator", "mu", "time_step[s]", "time[s]", "kinetic_energy[J]", "contacts", "sticking", "x_top[m]",
          "y_top[m]", "slip[m/s]")


def restitution_of(damping):
    return math.exp(-math.pi * damping / math.sqrt(1 - damping * damping))


def stack_deck(laboratory, n, projection, *, mu=MU, end=END, integrator="gear"):
    deck = Deck(laboratory.source / f"inputs/verification/stack{n}.toml")
    deck["simulation.scheme"], deck["simulation.end_time"], deck["time.step"] = "dem", end, TIME_STEP
    deck["dem"] = {"law": "linear", "friction": "dae", "integrator": integrator, "projection": projection == "velocity"}
    for other, damping in DAMPING.items():
        deck.tables["pairs"][f"body-{other}"] = {"stiffness": STIFFNESS, "restitution": restitution_of(damping), "friction": mu}
    deck["output"] = {"h5md": {"every": SAMPLE}, "certificate": {"every_steps": 1}, "checkpoint": {"wall_time": 0}}
    return deck


class Settling:
    """What became of a stack: samples every 0.1 s, without the start."""

    def __init__(self, course):
        self._course = course
        steps = round(SAMPLE / TIME_STEP)
        certificate = course.certificate
        self.n_steps = len(certificate["step"]) - 1
        self._last = slice(steps, None, steps)
        self.time = course.scalars["time"][1:]
        self.kinetic = course.scalars["energy_kinetic"][1:]
        self.contacts, self.sticking = (certificate[name][self._last].astype(int) for name in ("contacts", "sticking"))
        # Largest of sticking contacts since the last sample [m/s].
        self.slip = certificate["slip"][1:].reshape(-1, steps).max(axis=1)
        self.n_released = int(round(certificate["releases"][1:].sum()))

    @cached_property
    def top(self):
        """Centre of the uppermost disk [m]."""
        return self._course.field("position")[1:, -1]

    def at(self, time):
        """Number of the sample of this time."""
        return int(np.argmin(np.abs(self.time - time)))

    @property
    def late(self):
        return self.kinetic[self.time >= SETTLED * self.time[-1] - 1e-9]


def magnitude(value):
    """The next power of ten: what is left without projection is the outcome of many small slips, and differs with the order of sums."""
    return 10.0 ** round(math.log10(value)) if value > 0 else value


def published(laboratory, n):
    """{projection: rows of (time [s], kinetic energy [J], sticking contacts, height of the top [m])}."""
    rows = {"velocity": [], "none": []}
    for words in laboratory.table("dae/cannonball.csv", "disks,stabilised,t,kinetic_energy,n_static,n_contacts,x_top,y_top"):
        if int(words[0]) == n:
            rows["velocity" if words[1] == "1" else "none"].append((float(words[2]), float(words[3]), int(words[4]), float(words[7])))
    return rows


def compare_stack(laboratory, table, n):
    expected = published(laboratory, n)
    both = {}
    for projection, course in zip(("velocity", "none"), laboratory.run_all([stack_deck(laboratory, n, p) for p in ("velocity", "none")])):
        both[projection] = found = Settling(course)
        for k, time in enumerate(found.time):
            table.record(n, projection, "gear", f"{MU:g}", f"{TIME_STEP:g}", f"{time:.10g}", f"{found.kinetic[k]:.6e}", found.contacts[k],
                         found.sticking[k], f"{found.top[k][0]:.12g}", f"{found.top[k][1]:.12g}", f"{found.slip[k]:.3e}")
    projected, drifting = both["velocity"], both["none"]
    table.show(f"stack of {n} disks, mu = {MU:g}, k = {STIFFNESS:g} N/m, steps of {TIME_STEP:g} s: kinetic energy [J] (in brackets: published)")
    table.show(f"{'time [s]':>8} {'projected':>12} {'(published)':>12} {'sticking':>10} {'not projected':>14} {'(published)':>12}")
    for (time, kinetic, _, _), (_, of_drifting, _, _) in zip(expected["velocity"], expected["none"]):
        k, left = projected.at(time), drifting.kinetic[drifting.at(time)]
        table.show(f"{time:>8g} {residue(projected.kinetic[k], FLOOR):>12.1e} {f'({kinetic:.1e})':>12} {projected.sticking[k]:>10} "
                   f"{left if time < SETTLED * END else magnitude(left):>14.1e} {f'({of_drifting:.1e})':>12}")
        if kinetic > COMPARABLE:
            table.count(0.5 * kinetic < projected.kinetic[k] < 2 * kinetic,
                        f"{n} disks: kinetic energy {projected.kinetic[k]:.3g} J at t = {time:g} s, published {kinetic:.3g} J")
    floor, drifting_floor = projected.late.max(), drifting.late.min()
    table.show(f"energy floors: {residue(floor, FLOOR):.0e} J projected, {magnitude(drifting_floor):.0e} J not; contacts let go "
               f"{projected.n_released} times in {projected.n_steps} steps, projected")
    _, _, sticking, height = expected["velocity"][-1]
    name = f"{n} disks"
    slip, most_slip = projected.slip.max(), 1e-15
    for quantity, value, least, most, shown in (
            ("energy floor, projected [J]", floor, 0, FLOOR, residue(floor, FLOOR)),
            ("energy floor, not projected [J]", drifting_floor, 1e-13, math.inf, magnitude(drifting_floor)),
            ("height of the top [m]", projected.top[-1][1], height - 1e-5, height + 1e-5, projected.top[-1][1]),
            ("sticking contacts", projected.sticking[-1], sticking, sticking, projected.sticking[-1]),
            ("slip where it sticks [m/s]", slip, 0, most_slip, residue(slip, most_slip))):
        holds = least <= value <= most
        line = f"{name}: {quantity} = {shown:.10g}, expected {least:.10g} to {most:.10g}"
        table.show(("ok     " if holds else "FAILED ") + line)
        table.count(holds, line)
    table.show("")


def compare_settling(laboratory, table):
    """All sizes; the quick form the smallest one."""
    for n in (3,) if laboratory.quick else (3, 6, 10):
        compare_stack(laboratory, table, n)
