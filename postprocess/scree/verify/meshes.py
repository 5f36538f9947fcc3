"""Walls of triangles: spheres roll over them as on a plane, belts, containers, a hopper and a drum."""
import math

import numpy as np

from scree.deck import Deck
from scree.verify.checks import Row
from scree.verify.grain_deck import GrainDeck
from scree.verify.numbers import norm

G = 9.81    # [m/s2]
SCHEMES = {"nonsmooth": False, "dem": True}     # whether bodies are soft


def between(a, b, n):
    """n + 1 numbers from a to b, with both ends as they are."""
    return [b if i == n else a + (b - a) * i / n for i in range(n + 1)]


class Sheets:
    """The text of an OBJ file with sheets of triangles."""

    def __init__(self):
        self.lines, self.n_corners = [], 0

    def add(self, n, place):
        """n x n squares with the corners place(i, j), i and j from 0 to n, cut along diagonals that alternate. Corners run
        counter-clockwise where i x j points to the front."""
        self.lines += ["v {} {} {}".format(*map(float, place(i, j))) for j in range(n + 1) for i in range(n + 1)]
        for j in range(n):
            for i in range(n):
                a, b, c, d = (self.n_corners + 1 + (j + v) * (n + 1) + i + u for v in (0, 1) for u in (0, 1))
                self.lines += [f"f {a} {b} {d}", f"f {a} {d} {c}"] if (i + j) % 2 == 0 else [f"f {a} {b} {c}", f"f {b} {d} {c}"]
        self.n_corners += (n + 1)**2
        return self

    def add_box(self, lower, upper, n):
        """The surface of a box, each face cut into 2 n^2 triangles; faces share their corners to the last bit."""
        cuts = [between(a, b, n) for a, b in zip(lower, upper)]
        for axis in range(3):
            for is_upper in (False, True):
                u, v = (axis + (1 if is_upper else 2)) % 3, (axis + (2 if is_upper else 1)) % 3

                def place(i, j, axis=axis, side=-1 if is_upper else 0, u=u, v=v):
                    x = [0.0] * 3
                    x[axis], x[u], x[v] = cuts[axis][side], cuts[u][i], cuts[v][j]
                    return x

                self.add(n, place)
        return self

    @property
    def text(self):
        return "\n".join(self.lines) + "\n"


def floor_of_triangles(n):
    cuts = between(-1.5, 1.5, n)
    return Sheets().add(n, lambda i, j: (cuts[i], cuts[j], 0)).text


def mesh(path, side="both"):
    """Keys of an obstacle."""
    return {"type": "mesh", "file": path, "scale": 1, "side": side}


PLANE = {"type": "plane", "point": [0, 0, 0], "normal": [0, 0, 1]}


def ride_deck(soft, floor, launch, time):
    """One sphere on a floor that is given as it is before it is turned by 0.3 rad about y; gravity turns with it."""
    angle, radius, dt = 0.3, 0.05, 1e-4 if soft else 1e-3
    up, along = np.array([math.sin(angle), 0, math.cos(angle)]), np.array([math.cos(angle), 0, -math.sin(angle)])
    deck = GrainDeck([-2] * 3, [2] * 3, dt, round(time / dt))
    deck.gravity(-G * up)
    if soft:
        deck.soft()
    deck.material("stone", 2500, (1e7, 0.3) if soft else None)
    deck.pair("stone", "stone", 0.3, 0.5)
    # On no line of the meshes.
    start = -0.713 * along + (radius + 1e-6) * up + [0, 0.0171, 0]
    deck.add("stone", start, radius, velocity=launch[0] * along + [0, launch[1], 0])
    deck.obstacle("floor", "stone", rotate={"axis": [0, 1, 0], "angle": angle}, **floor)
    return deck


def roll(laboratory, table):
    """A sphere that slides, then rolls at 5/7 of its speed, over a floor of any triangles goes as on a plane."""
    launch, time, cuts = np.array([1.0, 0.1, 0]), 0.8, (1, 10, 100)
    floors = [PLANE] + [mesh(laboratory.file(f"floor{n}.obj", floor_of_triangles(n))) for n in cuts]
    rows = []
    for scheme, soft in SCHEMES.items():
        whole, *others = [course.bodies() for course in laboratory.run_all([ride_deck(soft, floor, launch, time) for floor in floors])]
        rows.append(Row("speed / launch", f"{scheme}, plane", 5 / 7, norm(whole.velocity[0]) / norm(launch), 0.02 if soft else 1e-3))
        for n, other in zip(cuts, others):
            off = norm(other.position[0] - whole.position[0]) / (time * norm(launch))
            rows.append(Row("off the plane's path / run", f"{scheme}, {2 * n * n} triangles", 0, off, 1e-12))
    table.add("rolling over a mesh", rows)


def belt(laboratory, table):
    """A sphere put down on a belt of speed U slips until its lowest point has that speed: it then rolls with u = 2/7 U, as friction gave it
    mu g t of speed and 5/2 mu g t of spin."""
    speed = 0.7
    # The belt's velocity is given in the world, where the floor is turned: its part along the floor counts.
    along = speed * math.cos(0.3)
    floors = {"plane": PLANE, "mesh": mesh(laboratory.file("belt.obj", floor_of_triangles(10)))}
    variants = [(scheme, name) for scheme in SCHEMES for name in floors]
    decks = [ride_deck(SCHEMES[scheme], floors[name] | {"surface_velocity": [speed, 0, 0]}, (0, 0, 0), 0.6) for scheme, name in variants]
    rows = [Row("speed / belt", f"{scheme}, {name}", 2 / 7, norm(course.bodies().velocity[0]) / along, 0.02 if SCHEMES[scheme] else 1e-3)
            for (scheme, name), course in zip(variants, laboratory.run_all(decks))]
    table.add("sphere on a belt", rows)


def shaken_deck(soft, container):
    """1000 spheres in a container, 0.1 s (soft) or 0.2 s."""
    deck = GrainDeck([-0.05] * 3, [0.25] * 3, 1e-4 if soft else 1e-3, 1000 if soft else 200)
    deck.gravity([1, 0.5, -G])
    if soft:
        deck.soft()
    else:
        deck.tables["solver"]["tolerance"] = 1e-8
    deck.material("glass", 2500, (5e6, 0.2) if soft else None)
    deck.pair("glass", "glass", 0.4, 0.5)
    deck.group("glass", 0.006, {"type": "lattice", "count": 1000, "region": {
        "lower": [0.01, 0.01, 0.001], "upper": [0.19, 0.19, 0.19]}}, random_speed=0.3)
    deck.obstacle("box", "glass", **container)
    return deck


def fill_box(laboratory, table):
    lower, upper, cuts = [0, 0, 0], [0.2, 0.2, 0.2], (1, 20)
    containers = [{"type": "box", "lower": lower, "upper": upper, "side": "inside"}]
    containers += [mesh(laboratory.file(f"box{n}.obj", Sheets().add_box(lower, upper, n).text), "inside") for n in cuts]
    rows = []
    for scheme in ("dem",) if laboratory.quick else ("dem", "nonsmooth"):
        soft = SCHEMES[scheme]
        whole, *others = [course.bodies().position[:, 2] for course in
                          laboratory.run_all([shaken_deck(soft, container) for container in containers])]
        for n, other in zip(cuts, others):
            # Rigid contact problems are solved to 1e-8, so paths may part by more than rounding.
            rows.append(Row("height of any sphere [m]", f"{scheme}, {12 * n * n} triangles", 0, np.abs(other - whole).max(),
                            1e-9 if soft else 1e-6))
    table.add("1000 spheres in a box of triangles", rows)


def discharge_rate(course, n):
    """Grains per second between 85 and 25 % full, from the net number that went through the orifice."""
    above, time = n - course.scalars["flow_n_bodies"], course.scalars["time"]
    full, nearly_empty = n * 85 // 100, n * 25 // 100
    return (full - nearly_empty) / (time[np.argmax(above <= nearly_empty)] - time[np.argmax(above <= full)])


def discharge(laboratory, table):
    """From the same start as two other codes: LAMMPS (cone) and LIGGGHTS (facets), tests/reference/practice."""
    of_cone, of_facets, n = 1342, 1309, 3336
    walls = {"cone": {"cone": {"type": "cone", "a": [0, 0, 0], "b": [0, 0, 0.025], "radius_a": 0.015, "radius_b": 0.04},
                      "shaft": {"type": "cone", "a": [0, 0, 0.025], "b": [0, 0, 0.13], "radius_a": 0.04, "radius_b": 0.04}},
             "facets": {"hopper": mesh(str((laboratory.source / "inputs/granular/meshes/hopper.stl").resolve()))}}
    del walls["facets"]["hopper"]["side"]
    tube = {"tube": {"type": "cone", "a": [0, 0, 0.13], "b": [0, 0, 0.19], "radius_a": 0.04, "radius_b": 0.04}}
    start = str((laboratory.source / "tests/reference/practice/hopper_start.csv").resolve())
    decks = [{"simulation": {"dimension": 3, "scheme": "dem", "end_time": 2.3, "allow_overlap": True}, "time": {"step": 5e-5},
              "domain": {"lower": [-0.05, -0.05, -0.15], "upper": [0.05, 0.05, 0.2]}, "physics": {"gravity": [0, 0, -9.81]},
              "materials": {"glass": {"density": 2500, "young_modulus": 5e6, "poisson_ratio": 0.2}},
              "pairs": {"glass-glass": {"friction": 0.5, "restitution": 0.5}},
              "particles": {"grains": {"material": "glass", "source": {"type": "file", "path": start}}},
              "obstacles": wall | tube, "outlets": {"below": {"region": {"lower": [-0.05, -0.05, -0.15], "upper": [0.05, 0.05, -0.08]}}},
              "analysis": {"every_steps": 20}, "measures": {"flow": {"type": "flow", "point": [0, 0, 0], "normal": [0, 0, -1]}},
              "output": {"certificate": {"every_steps": 10**9}, "checkpoint": {"wall_time": 0}}} for wall in walls.values()]
    cone, facets = (discharge_rate(course, n) for course in laboratory.run_all(decks))
    table.add("discharge of a hopper", [
        Row("grains per second", "64 facets, of scree's cone", cone, facets, 0.02 * cone),
        Row("grains per second", "cone, of LAMMPS", of_cone, cone, 0.04 * of_cone),
        Row("grains per second", "64 facets, of LIGGGHTS", of_facets, facets, 0.04 * of_facets)])


def drum_of_facets():
    """A closed drum of 64 facets, as wide inside as the round one, that reaches beyond the periodic faces."""
    n, turn, ends = 64, 2 * math.pi / 64, (-0.02, 0.1)
    radius = 0.2 * math.sqrt(turn / math.sin(turn))
    lines = [f"v {radius * math.cos(turn * k)} {y} {radius * math.sin(turn * k)}" for k in range(n) for y in ends]
    lines += [f"v 0 {y} 0" for y in ends]
    for k in range(n):
        a, c = 2 * k + 1, 2 * ((k + 1) % n) + 1
        b, d = a + 1, c + 1
        lines += [f"f {a} {b} {d}", f"f {a} {d} {c}", f"f {a} {c} {2 * n + 1}", f"f {d} {b} {2 * n + 2}"]
    return "\n".join(lines) + "\n"


def seen_of_drum(course):
    """Of the wall of a drum that turns at 1 rad/s about y, from 2 s on: torque of the grains on it, mean over time [N m]; and of the
    grains within a diameter of it in the lowest half radius, the mean of their speed over that of the wall there."""
    flows, radius = 2, 0.2      # [s] steadily from then on
    late = course.scalars["time"] >= flows
    torque = course.scalars["drum_torque_drum_y"][late].mean()
    series = course.series
    x, v = series.position[late], series.velocity[late]
    of_wall = np.stack([x[..., 2], 0 * x[..., 0], -x[..., 0]], axis=-1)
    square = np.einsum("...k,...k", of_wall, of_wall)
    near = (np.sqrt(square) >= radius - 2 * course.field("radius")[0, 0]) & (x[..., 2] <= -radius / 2)
    return torque, float((np.einsum("...k,...k", v, of_wall)[near] / square[near]).mean())


def drum(laboratory, table):
    """inputs/granular/drum.toml, with its cylinder and with facets in place of it."""
    decks = []
    for wall in ({}, mesh(laboratory.file("drum.obj", drum_of_facets()), "inside")):
        deck = Deck(laboratory.source / "inputs/granular/drum.toml")
        deck["analysis"] = {"every_steps": 5}
        deck["output"] = {"h5md": {"every_steps": 5}}
        if wall:
            kept = {key: deck[f"obstacles.drum.{key}"] for key in ("material", "motion")}
            deck["obstacles.drum"] = wall | kept
        decks.append(deck)
    (torque, share), (torque_of_facets, share_of_facets) = map(seen_of_drum, laboratory.run_all(decks))
    slips = "the bed slips on this smooth wall from time to time, on the cylinder as on facets"
    table.add("drum of 64 facets", [
        Row("torque [N m]", "64 facets, of the cylinder", torque, torque_of_facets, 0.03 * abs(torque)),
        *(Row("layer at the wall, speed / wall", wall, 0.9, found, 0, max(0, 0.9 - found), slips)
          for wall, found in (("cylinder", share), ("64 facets", share_of_facets)))])


def mesh_cases(laboratory):
    return [roll, belt, fill_box] + [discharge, drum] * (not laboratory.quick)
