#!/usr/bin/python3
"""Boxes by Siconos: Moreau-Jean steps, contacts found by Bullet, friction by its nsgs to the tolerance given.

    boxes_siconos.py SCENE TOLERANCE STEP STEPS

Prints the wall seconds of the steps and how many were not solved; writes end.txt: centre and turn of each box.
"""
import contextlib
import os
import sys
import time

os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})    # before numpy and Siconos start threads

import h5py
import numpy as np
import siconos.kernel as kernel
import siconos.numerics as numerics
from siconos.io.mechanics_run import MechanicsHdf5Runner
from siconos.mechanics.collision.tools import Contactor

SIZE = 20.0    # edges of the boxes at rest whose faces are the planes [m]


def main(scene, tolerance, step, n_steps):
    with open(scene, encoding="utf-8") as file:
        n_planes, n_boxes, density, friction = (float(word) for word in file.readline().split())
        planes = np.loadtxt(file, max_rows=int(n_planes), ndmin=2)
        boxes = np.loadtxt(file, ndmin=2)
    assert len(boxes) == n_boxes
    with MechanicsHdf5Runner(mode="w", io_filename="boxes.hdf5") as io:
        io.add_Newton_impact_friction_nsl("friction", mu=friction, e=0.0)
        io.add_primitive_shape("slab", "Box", (SIZE, SIZE, SIZE))
        for i, plane in enumerate(planes):
            io.add_object(f"plane{i}", [Contactor("slab")], translation=plane[:3] - SIZE / 2 * plane[3:])
        for size in np.unique(boxes[:, :3], axis=0):
            io.add_primitive_shape(f"box{size}", "Box", size)
        for i, box in enumerate(boxes):
            edges = box[:3]
            mass = density * edges.prod()
            inertia = mass / 12 * ((edges**2).sum() - edges**2)
            io.add_object(f"body{i:05}", [Contactor(f"box{edges}")], translation=box[3:6], orientation=box[6:10],
                          velocity=[0] * 6, mass=mass, inertia=np.diag(inertia))
    options = kernel.solver_options_create(numerics.SICONOS_FRICTION_3D_NSGS)
    options.iparam[numerics.SICONOS_IPARAM_MAX_ITER] = 10_000
    options.dparam[numerics.SICONOS_DPARAM_TOL] = tolerance
    with MechanicsHdf5Runner(mode="r+", io_filename="boxes.hdf5") as io, open(os.devnull, "w", encoding="utf-8") as nowhere:
        began = time.monotonic()
        with contextlib.redirect_stdout(nowhere):
            io.run(t0=0, T=n_steps * step, h=step, theta=0.50001, Newton_max_iter=1, solver_options=options, verbose=False,
                   with_timer=False, output_frequency=n_steps)
        seconds = time.monotonic() - began
    with h5py.File("boxes.hdf5", "r") as file:
        rows = file["data/dynamic"][:]
        solved = file["data/solv"][:]
    last = rows[rows[:, 0] == rows[:, 0].max()]
    np.savetxt("end.txt", last[np.argsort(last[:, 1])][:, 2:9], fmt="%.17g")
    print(f"steps took {seconds:.9g} s")
    print(f"unsolved {int((solved[:, 2] > tolerance).sum())}")


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
