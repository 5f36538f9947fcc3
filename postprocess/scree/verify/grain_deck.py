"""Decks of grains, written case by case."""
import math

import numpy as np

from scree.verify.numbers import shortest

# Share of a step by which a run is longer than its steps, so that none of them is cut: what is left at the end is no step.
SPARE = 5e-7


def duration(steps, dt):
    """Of a run or stage of so many whole steps [s]."""
    return (steps + SPARE) * dt


def constant(value):
    """A distribution with one value."""
    return {"distribution": "constant", "value": value}


def vector(values):
    return [float(value) for value in values]


def hertz_overlap(density, radius, elasticity, g, dimension=3):
    """Overlap at which a rigid plane carries a sphere, or a disk of 1 m, by Hertz's force 4/3 E* sqrt(r) d^(3/2) [m]."""
    modulus, ratio = elasticity
    volume = 4 / 3 * math.pi * radius**3 if dimension == 3 else math.pi * radius**2
    return (0.75 * density * volume * g * (1 - ratio**2) / (modulus * math.sqrt(radius)))**(2 / 3)


class GrainDeck:
    """The tables of a case: rigid grains with the solver "nsgs" unless soft() is called. Pairs of materials that are not given
    have neither friction nor restitution. `steps`: steps of `dt` (None: stages
    end the run); records the bodies at the start and at the end."""

    def __init__(self, lower, upper, dt, steps):
        self.dimension, self.dt, self.steps = len(lower), dt, steps
        self.pair_keys = {}     # further keys of all pairs
        self.files = {}         # texts of files that sources name
        self.tables = {
            "simulation": {"dimension": len(lower), "scheme": "nonsmooth"},
            "domain": {"lower": vector(lower), "upper": vector(upper), "outside": "keep"},
            "time": {"step": dt}, "decomposition": {"block_cells": 1}, "solver": {"type": "nsgs", "tolerance": 1e-12},
            "neighbors": {}, "materials": {}, "pairs": {}, "particles": {}, "obstacles": {}, "measures": {},
            "output": {"h5md": {"every_steps": 10**9}, "checkpoint": {"wall_time": 0}}}

    def gravity(self, g):
        self.tables["physics"] = {"gravity": vector(g)}

    def soft(self, **keys):
        """The scheme "dem" with these keys."""
        self.tables["simulation"]["scheme"] = "dem"
        self.tables["dem"] = keys
        del self.tables["solver"]

    def allow_overlap(self):
        self.tables["simulation"]["allow_overlap"] = True

    def record_every(self, steps=1):
        """Records the bodies every so many steps."""
        self.tables["output"]["h5md"]["every_steps"] = steps

    def measure(self, name, every_steps=1, **keys):
        """A measure, sampled every so many steps like all others."""
        self.tables["analysis"] = self.tables.get("analysis", {}) | {"every_steps": every_steps}
        self.tables["measures"][name] = {"type": name, **keys}

    def material(self, name, density, elasticity=None):
        """`elasticity`: (Young's modulus [Pa], Poisson's ratio) of soft bodies; math.inf is rigid."""
        keys = {"density": density}
        if elasticity:
            modulus, ratio = elasticity
            keys |= {"young_modulus": "rigid"} if math.isinf(modulus) else {"young_modulus": modulus, "poisson_ratio": ratio}
        self.tables["materials"][name] = keys

    def pair(self, a, b, friction, restitution, rolling=0):
        self.tables["pairs"][f"{a}-{b}"] = {"friction": friction, "restitution": restitution, "rolling_friction": rolling} | self.pair_keys

    def add(self, material, position, radius, velocity=None, spin=None, **keys):
        """A body. Bodies get the ids 0, 1, ... in the order of these calls."""
        position = np.asarray(position, float)
        source = {"type": "lattice", "spacing": 2 * radius,
                  "region": {"lower": vector(position - radius), "upper": vector(position + radius)}}
        if velocity is not None:
            keys["velocity"] = vector(velocity)
        if spin is not None:
            keys["angular_velocity"] = vector(spin)
        self.group(material, radius, source, **keys)

    def place(self, material, position, radius=None, velocity=None, spin=None, orientation=None, **keys):
        """As add(), for a body that may overlap others and obstacles at the start, and for one of a `shape`: `orientation` is the angle
        [rad] in the plane, a unit quaternion (w, x, y, z) in space."""
        self.allow_overlap()
        axes = "xyz"[:self.dimension]
        columns = [(axes, position), ([f"v{axis}" for axis in axes], velocity),
                   (["omegaz"] if self.dimension == 2 else [f"omega{axis}" for axis in axes], spin),
                   (["angle"] if self.dimension == 2 else ["qw", "qx", "qy", "qz"], orientation)]
        given = [(titles, np.atleast_1d(values)) for titles, values in columns if values is not None]
        name = f"place{len(self.files)}.csv"
        self.files[name] = "".join(",".join(words) + "\n" for words in zip(*(
            [(title, shortest(value)) for titles, values in given for title, value in zip(titles, values)])))
        self.group(material, radius, {"type": "file", "path": name}, **keys)

    def group(self, material, radius, source, **keys):
        if radius is not None:
            keys["radius"] = constant(radius)
        self.tables["particles"][f"g{len(self.tables['particles'])}"] = {"material": material, "source": source} | keys

    def obstacle(self, name, material, **keys):
        self.tables["obstacles"][name] = {"material": material} | keys

    def plane(self, name, material, point, normal, **keys):
        self.obstacle(name, material, type="plane", point=vector(point), normal=vector(normal), **keys)

    def floor(self, material):
        """A plane through the origin, along the last axis."""
        up = np.eye(self.dimension)[-1]
        self.plane("floor", material, 0 * up, up)

    def complete(self, folder):
        """The tables, with all pairs; writes the files that they name into a folder."""
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="utf-8")
        for table in self.tables["particles"].values():
            if table["source"].get("path") in self.files:
                table["source"]["path"] = str(folder / table["source"]["path"])
        if self.steps is not None:
            self.tables["simulation"]["end_time"] = duration(self.steps, self.dt)
        materials, pairs = list(self.tables["materials"]), self.tables["pairs"]
        for k, a in enumerate(materials):
            for b in materials[k:]:
                if f"{a}-{b}" not in pairs and f"{b}-{a}" not in pairs:
                    pairs[f"{a}-{b}"] = {"friction": 0, "restitution": 0} | self.pair_keys
        return self.tables
