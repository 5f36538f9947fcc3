"""Spheres that attract: JKR contact, liquid bridges, constant pulls; what hangs, sticks and falls."""
import math
from functools import partial

import numpy as np

from scree.deck import Deck
from scree.verify.checks import Row
from scree.verify.grain_deck import GrainDeck

G = 9.81
RUBBER = (1e7, 0.25)
WORK_OF_ADHESION = 0.1                                  # [J/m2]
REDUCED_RADIUS = 0.5e-3                                 # [m]
REDUCED_MODULUS = 1e7 / (2 * (1 - 0.25 * 0.25))         # E* of rubber on rubber [Pa]
RADIUS = 0.5e-3                                         # of spheres that hang [m]
DENSITY = 2500
WEIGHT = 4 / 3 * math.pi * RADIUS**3 * DENSITY * G      # [N]
Z = np.eye(3)[2]


def jkr(end):
    return {"cohesion": {"type": "jkr", "work_of_adhesion": WORK_OF_ADHESION, "jkr_end": end}}


def parting_spheres(radius, overlap, velocity, dt, steps, cohesion):
    """Two spheres so heavy that their force changes nothing approach from a gap, or go apart from an overlap."""
    deck = GrainDeck([-0.01] * 3, [0.01] * 3, dt, steps)
    deck.soft(law="hertz")
    deck.allow_overlap()
    deck.material("rubber", 1e20, RUBBER)
    deck.pair_keys = cohesion
    deck.pair("rubber", "rubber", 0, 1)
    deck.add("rubber", [0, 0, 0], radius)
    deck.add("rubber", [2 * radius - overlap, 0, 0], radius, velocity=[velocity, 0, 0])
    deck.measure("stress")
    return deck


def forces_of_spheres(laboratory, deck, radius, overlap, velocity):
    """Normal force of their contact after each step, the first entry at the start; 0 without one [N]. It is what the mean stress of the
    contact says: volume x stress over the distance of the centres."""
    scalars = laboratory.run(deck).scalars
    volume = 0.02**3
    distance = 2 * radius - overlap + velocity * deck.dt * np.arange(deck.steps + 1)
    return scalars["stress_contact_xx"] * volume / distance


def jkr_force(laboratory, table):
    """The force of each row of the reference, on the way in and out: to 1e-9 F_c. Its contact ends at the largest pull, as LAMMPS's
    does."""
    speed, dt, before, radius = 0.01, 1e-6, 1e-8, 2 * REDUCED_RADIUS
    lines = laboratory.table("practice/jkr_force.csv", "branch,overlap_m,force_closed_N,force_lammps_N")
    pull_off = 1.5 * math.pi * WORK_OF_ADHESION * REDUCED_RADIUS
    rows = []
    for branch, sign in (("approach", -1), ("retreat", 1)):
        points = np.array([[float(word) for word in line[1:3]] for line in lines if line[0] == branch])
        table.demand("JKR force", len(points) > 90, f"{branch} has few rows")
        overlap, force = points.T
        start = overlap[0] + sign * before
        steps = np.rint(np.abs(overlap - start) / (speed * dt)).astype(int)
        deck = parting_spheres(radius, start, sign * speed, dt, int(steps.max()), jkr("load"))
        found = forces_of_spheres(laboratory, deck, radius, start, sign * speed)[steps]
        all_rows = [Row("force [F_c]", branch, expected / pull_off, now / pull_off, 1e-9,
                        missed="the file has ten digits")
                    for expected, now in zip(force, found)]
        rows.append(max(reversed(all_rows), key=lambda row: row.share))
    table.add("JKR force", rows)


def bridge(laboratory, table):
    """A liquid bridge pulls as its closed form says while two heavy spheres part, and breaks where it says."""
    radius, tension, volume, speed, dt, overlap, angle = 1e-3, 0.072, 1e-11, 0.1, 1e-6, 1e-8, math.pi / 6
    end = (1 + 0.5 * angle) * math.cbrt(volume)
    deck = parting_spheres(radius, overlap, speed, dt, round(1.1 * end / (speed * dt)), {"cohesion": {
        "type": "bridge", "surface_tension": tension, "contact_angle": "30 deg", "volume": volume}})
    force = forces_of_spheres(laboratory, deck, radius, overlap, speed)
    last = int(np.flatnonzero(force)[-1])
    max_force = 2 * math.pi * radius * tension * math.cos(angle)
    rows = []
    for step in range(500, last + 1, 500):
        gap = speed * dt * step - overlap
        s = gap * math.sqrt(radius / volume)
        rows.append(Row("force [F_c]", f"gap {gap:.3g} m", -1 / (1 + 1.05 * s + 2.5 * s * s), force[step] / max_force, 1e-9))
    rows.append(Row("breaks at [m]", "", end, speed * dt * last - overlap, speed * dt))
    table.add("liquid bridge", rows)


class PullingDeck(GrainDeck):
    """Soft or rigid spheres of 1 mm with a pull between them and an obstacle, each of a material of its own."""

    def __init__(self, soft, dt, time):
        super().__init__([-0.01, -0.01, -0.2], [0.01, 0.01, 0.2], dt, round(time / dt))
        self.gravity([0, 0, -G])
        self.tables["output"]["certificate"] = {"every_steps": 10**9}
        self.pair_keys = {"stiffness": 200} if soft else {}
        if soft:
            self.soft(law="linear")

    def pulled(self, kind, pull_off):
        """A material that all obstacles pull with this force [N]."""
        name = f"grain{len(self.tables['materials'])}"
        self.material(name, DENSITY)
        keys, cohesion = dict(self.pair_keys), {"type": "force", "pull_off": pull_off}
        if kind == "dmt":
            cohesion = {"type": "dmt", "work_of_adhesion": pull_off / (2 * math.pi * RADIUS)}
        self.pair_keys = keys | {"cohesion": cohesion}
        self.pair(name, name, 0.5, 0.5)
        self.pair(name, "wall", 0.5, 0.5)
        self.pair_keys = keys
        return name

    def wall(self, normal):
        self.material("wall", DENSITY)
        self.plane("wall", "wall", [0, 0, 0], normal)


def places_along(n):
    """Places along y that do not meet."""
    return [4 * RADIUS * (k - (n - 1) / 2) for k in range(n)]


def ceiling(laboratory, table, soft):
    """Below a ceiling: hangs if the pull-off force is more than the weight."""
    time, dt = (0.01, 5e-8) if soft else (0.1, 1e-3)
    # Of a soft sphere where the contact pushes with what the pull has too much. The first half step knows no contact yet; it must be so
    # short that the sphere does not swing out of this little overlap.
    overlap = 0.001 * WEIGHT / 200 if soft else 0
    cases = [(kind, factor) for kind in ("force", "dmt") for factor in (1.001, 0.999)]
    deck = PullingDeck(soft, dt, time)
    deck.wall(-Z)
    for y, (kind, factor) in zip(places_along(len(cases)), cases):
        deck.place(deck.pulled(kind, factor * WEIGHT), [0, y, -RADIUS + overlap], RADIUS)
    fall, rows = 0.5 * G * time**2, []
    for (kind, factor), place in zip(cases, laboratory.run(deck).bodies().position):
        drop, variant = overlap - RADIUS - place[2], f"{kind} {factor}"
        # What falls leaves the contact a little late.
        rows.append(Row("drop [m]", variant, 0, drop, 1e-9) if factor > 1 else Row("drop [m]", variant, fall, drop, 0.2 * fall))
    table.add("ceiling, soft" if soft else "ceiling, rigid", rows)


def vertical_wall(laboratory, table, soft):
    """At a vertical wall that does not press: stays if mu F_c is more than the weight."""
    time, mu = 0.1, 0.5
    # A spring that takes up a weight at once swings to more than it.
    off = 0.05 if soft else 0.001
    factors = (1 + off, 1 - off)
    deck = PullingDeck(soft, 5e-6 if soft else 1e-3, time)
    deck.wall([1, 0, 0])
    for y, factor in zip(places_along(len(factors)), factors):
        pull = factor * WEIGHT / mu
        deck.place(deck.pulled("force", pull), [RADIUS - (pull / 200 if soft else 0), y, 0], RADIUS, rotates=False)
    rows = []
    for factor, velocity in zip(factors, laboratory.run(deck).bodies().velocity):
        free = max(0.0, 1 - factor) * G * time
        rows.append(Row("speed [m/s]", f"mu F_c / m g = {factor:g}", free, -velocity[2], 0.05 * free if free > 0 else 1e-6))
    table.add("vertical wall, soft" if soft else "vertical wall, rigid", rows)


def chain(laboratory, table):
    """Spheres that hang on each other: part at the top if their weight is more than the pull-off force."""
    time, n, factors, rows = 0.05, 6, (1.01, 0.99), []
    for dt in (1e-3, 0.125e-3):
        deck = PullingDeck(False, dt, time)
        deck.wall(-Z)
        for y, factor in zip(places_along(len(factors)), factors):
            material = deck.pulled("force", factor * n * WEIGHT)
            for k in range(n):
                deck.add(material, [0, y, -(2 * k + 1) * RADIUS], RADIUS)
        fall = 0.5 * G * time**2
        for factor, heights in zip(factors, laboratory.run(deck).bodies().position[:, 2].reshape(len(factors), n)):
            drop, variant = -RADIUS - heights[0], f"F_c = {factor} n m g, dt {dt:g} s"
            rows += [Row("drop [m]", variant, 0, drop, 1e-7) if factor > 1 else Row("drop [m]", variant, fall, drop, 0.2 * fall),
                     Row("length [m]", variant, 2 * RADIUS * (n - 1), heights[0] - heights[-1], 1e-6)]
    table.add("hanging chain, rigid", rows)


def sticking(laboratory, table):
    """A JKR sphere that hits a plane sticks below the speed whose energy a separation takes, else leaves with what is left. The constants
    are integrals of the force over the overlap, from the end of a contact to 0, to seven digits."""
    radius, dt, gap, time = REDUCED_RADIUS, 2e-9, 1e-9, 5e-4
    mass = 4 / 3 * math.pi * radius**3 * DENSITY
    unit = (WORK_OF_ADHESION**5 * radius**4 / REDUCED_MODULUS**2)**(1 / 3)
    cases = [(end, loss, factor) for end, loss in (("displacement", 7.092196), ("load", 3.502602)) for factor in (0.9, 1.1)]
    deck = GrainDeck([-0.01] * 3, [0.01] * 3, dt, round(time / dt))
    deck.soft(law="hertz")
    deck.tables["output"]["certificate"] = {"every_steps": 10**9}
    deck.material("floor", DENSITY, RUBBER)
    deck.floor("floor")
    speeds = [math.sqrt(2 * loss * unit / mass) for _, loss, _ in cases]
    for k, (y, speed, (end, _, factor)) in enumerate(zip(places_along(len(cases)), speeds, cases)):
        deck.material(f"rubber{k}", DENSITY, RUBBER)
        deck.pair_keys = jkr(end)
        deck.pair(f"rubber{k}", "floor", 0, 1)
        deck.pair_keys = {}
        deck.add(f"rubber{k}", [0, y, radius + gap], radius, velocity=-factor * speed * Z)
    end_of_run, rows = laboratory.run(deck).bodies(), []
    for k, (speed, (end, _, factor)) in enumerate(zip(speeds, cases)):
        variant = f"{end}, {factor} v_s"
        if factor < 1:
            rows.append(Row("leaves [-]", variant, 0, float(end_of_run.position[k, 2] - radius > 2e-6), 0.5))
        else:
            rows.append(Row("speed [v_s]", variant, math.sqrt(factor**2 - 1), end_of_run.velocity[k, 2] / speed, 1e-4))
    table.add("sticking, JKR", rows)


def column(laboratory, table):
    """The column of the shipped deck beside LAMMPS: stands or falls, and how far it runs."""
    rows = []
    for line in laboratory.table("practice/cohesive_column.csv", "bond_number,bodies,mean_x,mean_z,x_q50,x_q90,top"):
        deck = Deck(laboratory.source / "inputs/granular/cohesive_column.toml")
        deck["pairs.grain-grain.cohesion.bond_number"] = float(line[0])
        deck["measures.energy.balance"] = False
        deck["output"] = {"h5md": {"every_steps": 10**9}}
        expected = float(line[2])
        mean = float(laboratory.run(deck).bodies().position[:, 0].mean())
        rows.append(Row("mean x [m]", f"Bond number {line[0]}", expected, mean, 0.08 * expected))
    table.add("cohesive column", rows)


def cohesion_cases(laboratory):
    hanging = [partial(case, soft=soft) for case in (ceiling, vertical_wall) for soft in (False, True)]
    return [jkr_force, bridge, *hanging, chain, sticking] + [column] * (not laboratory.quick)
