"""Verifications: decks that the program runs, and their numbers against closed forms, published and reference results
(docs/verification.md). `scree verify NAME` starts them.

A case is a function of a module here: it writes decks, has the Laboratory run them on any number of ranks, and adds rows to a table.
Each row has the number that is expected, where that comes from, and the bound of its error.
"""
import importlib
from dataclasses import dataclass

from scree.verify.laboratory import Extent, Laboratory


@dataclass(frozen=True)
class Verification:
    """`module`: has verify(laboratory, group, csv, show); `groups`: of its cases; `long`: it heeds an Extent."""
    module: str
    summary: str
    groups: tuple = ()
    long: bool = False


VERIFICATIONS = {
    "grains": Verification("grains", "rigid and soft grains with inertia: impacts, slip and roll, stacks, balances",
                           ("impacts", "motions", "stacks", "balances", "soft")),
    "boxes": Verification("boxes", "convex bodies: slopes, tents, stacks, dominoes, free and spinning bodies",
                          ("motions", "stacks", "dominoes")),
    "cards": Verification("cards", "houses of cards of five storeys, beside published outcomes", ("tables", "faces", "converged")),
    "rigs": Verification("rigs", "meshes, driven walls, size classes, cohesion, deforming domains",
                         ("cohesion", "meshes", "classes", "driven", "cells")),
    "friction": Verification("friction_schemes", "dry friction: slope, oscillator and stacks with every scheme; when three disks stand; how stacks settle",
                             ("compare", "threshold", "settling")),
    "pbd": Verification("pbd", "position-based dynamics: two experiments, methods and steps", ("sliding", "disks40")),
    "slope": Verification("cube_on_slope", "exact friction: a cube on a slope, the published table of interior points"),
    "flows": Verification("flows", "dense flows with rigid, elastic and soft contact, and with LAMMPS",
                          ("impacts", "layers", "chute", "collapse", "drum", "silo", "janssen", "shear"), long=True),
    "dosta": Verification("dosta", "the published comparison of DEM codes: silo, drum, impact at full stiffness; --full runs them, hours",
                          ("impact", "drum", "silo"), long=True),
    "crowd": Verification("crowd", "people: head-on pairs, pushing columns, convergence in the time step, optimality of steps, files, wall "
                          "forces, doors", ("s1", "s2", "s3", "s4", "s6", "s7", "doors")),
    "contact-law": Verification("contact_law", "elastic contact at any step: restitution, duration, energy, rest"),
}


def verify(name, group="all", *, quick=False, ranks=1, csv=None, source=".", extent=Extent(), show=print):
    """Runs a verification, or one group of its cases; returns whether every check holds, and whether a run was stopped before its end.
    `csv`: table to write; `source`: folder that holds inputs/ and tests/reference/; `show` gets the lines of the report."""
    module = importlib.import_module(f"scree.verify.{VERIFICATIONS[name].module}")
    with Laboratory(ranks, quick, source, extent) as laboratory:
        holds = module.verify(laboratory, group, csv, show)
        return holds, laboratory.stopped
