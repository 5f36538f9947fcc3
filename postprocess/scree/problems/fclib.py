"""Writes a problem in the global layout of FCLIB as src/io/fclib.hpp has it, with the group /scree."""
import os

import h5py
import numpy as np

from .problem import SPEED, TIME_STEP


def contact_order(problem):
    """Numbers of contacts: by body a (b if a is none), then by the ids of both and the number."""
    return sorted(range(len(problem.pairs)),
                  key=lambda c: (next(body for body in problem.pairs[c] if body >= 0), *problem.pairs[c], c))


def mass_entries(problem):
    """(row, column, value) of M by rows, without zeros."""
    q = problem.q
    return [(i * q + k // q, i * q + k % q, x) for i, block in enumerate(problem.mass) for k, x in enumerate(block) if x != 0]


def jacobian_entries(problem, order):
    """(row, column, value) of H, the transpose of the Jacobian, by columns, without zeros."""
    D, q = problem.dimension, problem.q
    entries = []
    for place, contact in enumerate(order):
        sides = sorted((body, side) for side, body in enumerate(problem.pairs[contact]) if body >= 0)
        for k in range(D):
            for body, side in sides:
                entries += [(body * q + j, place * D + k, x) for j, x in enumerate(problem.jacobian[contact][side][k]) if x != 0]
    return entries


def free_momentum(problem):
    """f = M v_free."""
    q = problem.q
    f = []
    for block, velocity in zip(problem.mass, problem.free_velocity):
        for j in range(q):
            total = 0.0
            for k in range(q):
                total += block[j * q + k] * velocity[k]
            f.append(total)
    return f


class Writer:
    """Datasets with the checksums of HDF5."""

    def __init__(self, file):
        self.file = file

    def vector(self, name, values, dtype=np.float64):
        array = np.asarray(values, dtype=dtype)
        return self.file.create_dataset(name, data=array, chunks=array.shape, maxshape=array.shape, fletcher32=True)

    def integer(self, name, value):
        self.vector(name, [value], np.int32)

    def matrix(self, name, entries, m, n):
        for key, value in (("nzmax", len(entries)), ("m", m), ("n", n), ("nz", len(entries))):
            self.integer(f"{name}/{key}", value)
        rows, columns, values = zip(*entries)
        self.vector(f"{name}/p", columns, np.int32)
        self.vector(f"{name}/i", rows, np.int32)
        self.vector(f"{name}/x", values)

    def text(self, name, text):
        data = text.encode() + b"\0"        # C takes the bytes as they are
        self.file.create_dataset(name, data=np.array(data, dtype=f"S{len(data)}"))

    def extra(self, name, values, unit, dtype=np.float64):
        self.vector(f"/scree/{name}", values, dtype).attrs["unit"] = np.bytes_(unit)


def write_fclib(problem, path, title, description):
    """The file appears under `path` when it is complete."""
    part = f"{path}.part"
    order = contact_order(problem)
    n, m = len(problem.mass) * problem.q, len(order) * problem.dimension
    try:
        with h5py.File(part, "w") as file:
            writer = Writer(file)
            writer.integer("/fclib_global/spacedim", problem.dimension)
            writer.matrix("/fclib_global/M", mass_entries(problem), n, n)
            writer.matrix("/fclib_global/H", jacobian_entries(problem, order), n, m)
            writer.vector("/fclib_global/vectors/f", free_momentum(problem))
            writer.vector("/fclib_global/vectors/w", [x for c in order for x in problem.bias[c]])
            writer.vector("/fclib_global/vectors/mu", [problem.mu[c] for c in order])
            for name, text in (("title", title), ("description", description), ("math_info", "a solution exists")):
                writer.text(f"/fclib_global/info/{name}", text)
            scree = file.create_group("/scree")
            scree.attrs["version"] = 1
            scree.attrs["time_step"], scree.attrs["velocity_floor"] = TIME_STEP, SPEED
            writer.extra("body_id", range(len(problem.mass)), "-", np.int64)
            writer.extra("free_velocity", problem.free_velocity, "m/s, rad/s")
            writer.extra("contact_key", [(*problem.pairs[c], c) for c in order], "-", np.int64)
            writer.extra("contact_body", [problem.pairs[c] for c in order], "-", np.int32)
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.remove(part)
