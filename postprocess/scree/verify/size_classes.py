"""Size classes of the neighbour list: every pair is found, whatever their number, and results do not depend on it."""
import numpy as np

from scree.results.record import Trajectory
from scree.verify.checks import Row

CHOICES = (1, 2, 3, 8, "auto")


def deck_of(classes, end_time, **grains):
    """Spheres at rest or flying, without gravity, in a box of 4 cm."""
    return {"simulation": {"dimension": 3, "scheme": "dem", "end_time": end_time, "seed": 2},
            "domain": {"lower": [0, 0, 0], "upper": [0.04, 0.04, 0.04], "periodic": [False, False, True], "outside": "keep"},
            "time": {"step": 1e-5}, "dem": {"law": "hertz"},
            "materials": {"stone": {"density": 2650, "young_modulus": 1e7, "poisson_ratio": 0.25}},
            "pairs": {"stone-stone": {"friction": 0.5, "restitution": 0.5}}, "neighbors": {"classes": classes},
            "particles": {"grains": {"material": "stone"} | grains},
            "output": {"h5md": {"every_steps": 10**9}, "checkpoint": {"wall_time": 0}}}


def nearest(positions, places):
    """For each of the places (..., D): the number of the nearest position, and how far it is [m]."""
    distances = np.linalg.norm(places[..., None, :] - positions, axis=-1)
    return distances.argmin(axis=-1), distances.min(axis=-1)


def find_reference_pairs(laboratory, table):
    """Of radii 0.5, 2 and 8 mm: all pairs of the reference within 0.2 mm, found by comparing all, and no others."""
    within, smallest = 2e-4, 5e-4
    expected = {tuple(map(int, line[:2])) for line in laboratory.table("practice/size_classes_pairs.csv", "id_a,id_b,gap_m")}
    start = laboratory.source / "tests/reference/practice/size_classes_start.csv"
    decks = []
    for classes in CHOICES:
        deck = deck_of(classes, 1e-5, source={"type": "file", "path": str(start.resolve())})
        deck["domain"]["periodic"] = [False] * 3        # open: the reference knows no images
        deck["analysis"] = {"contact_tolerance": 1.001 * within / (2 * smallest)}
        deck["output"]["vtk"] = {"every_steps": 10**9, "precision": "double", "obstacles": False}
        decks.append(deck)
    rows = []
    for classes, course in zip(CHOICES, laboratory.run_all(decks)):
        contacts = course.results.contacts()
        ends = contacts["ends"][contacts["gap"] < within]
        ids, distance = nearest(course.bodies().position, ends)
        pairs = {tuple(sorted(pair)) for pair in ids[distance.max(axis=1) < 1e-9].tolist()}     # others are with walls
        rows += [Row("pairs of the reference", f"classes = {classes}", len(expected), len(pairs & expected), 0.5),
                 Row("other pairs", f"classes = {classes}", 0, len(pairs - expected), 0.5)]
    table.add("pairs within 0.2 mm", rows)


def compare_runs(laboratory, table):
    """Radii of a sieve curve, 1:12, that fly about: the same bits for every number of classes."""
    grains = {"random_speed": 0.05, "source": {"type": "random", "count": 2000}, "radius": {
        "distribution": "sieve", "sizes": ["0.8 mm", "2 mm", "5 mm", "10 mm"], "fractions": [0.3, 0.4, 0.3]}}
    ends = [course.bodies() for course in laboratory.run_all([deck_of(classes, 60 * 1e-5, **grains) for classes in CHOICES])]
    for classes, end in zip(CHOICES, ends):
        same = all(np.array_equal(getattr(end, name), getattr(ends[0], name)) for name in ("position", "velocity", "spin"))
        table.demand("size classes: 60 steps of 2000 spheres, 1:12", same,
                     f"classes = {classes} ends in another state than classes = 1")


def weigh_sieve_classes(laboratory, table):
    """Shares of the mass of 3000 spheres of a sieve curve. The bound is three times what chance does."""
    course = laboratory.run(deck_of("auto", 1e-5, source={"type": "random", "count": 3000}, radius={
        "distribution": "sieve", "sizes": ["0.5 mm", "1 mm", "2 mm"], "fractions": [0.4, 0.6]}))
    with Trajectory(course.results.folder / "case.h5") as record:
        radius, mass = record.radius(0), record.field("mass", 0)
    table.add("3000 spheres by sieve", [Row("share below 1 mm", "log", 0.4, mass[2 * radius < 1e-3].sum() / mass.sum(), 0.05)])


def size_class_cases(_laboratory):
    return [find_reference_pairs, compare_runs, weigh_sieve_classes]
