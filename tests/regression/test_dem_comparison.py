"""Small versions of inputs/granular/comparison, with fewer, larger and softer grains: they run to their ends, the same on 1 and on
3 ranks, bit by bit, and do roughly what LIGGGHTS and MUSEN did at full size."""
from pathlib import Path

import numpy as np

from scree_program import check, check_close, check_in, run_ok, source_folder
from scree.results import Results, Scalars
from scree.verify import dosta_numbers

# An eighth of the grains. Larger ones do not fit as densely between the walls, so their layers start a little thicker.
TWICE_THE_SIZE = ["particles.large.radius.value=0.004", "particles.large.source.solid_fraction=0.53",
                  "particles.large.source.region.upper=[0.1, 0.03, -0.0368]",
                  "particles.small.radius.value=0.002", "particles.small.source.solid_fraction=0.53",
                  "particles.small.source.region.lower=[-0.1, -0.03, -0.0368]",
                  "particles.small.source.region.upper=[0.1, 0.03, -0.0162]"]


def run_small(folder, name, changes):
    """Results of one rank, after a comparison with three."""
    deck = source_folder() / "inputs/granular/comparison" / f"{name}.toml"
    options = [word for change in changes for word in ("--set", change)]
    for n in (1, 3):
        run_ok("-q", "run", deck, "--set", f"output.directory=on{n}", *options, ranks=n, folder=folder)
    result = run_ok("compare", folder / "on1" / name, folder / "on3" / name, folder=folder)
    check_in("bitwise equal", result.stdout, f"{name}: the same on 1 and 3 ranks")
    return Results(folder / "on1" / name)


def reference(name) -> Scalars:
    return Scalars(source_folder() / Path("tests/reference/granular/dem_codes", f"{name}.csv"))


def test_small_silo_empties_as_beverloo_scales_the_other_codes(folder):
    d = 0.012
    run = run_small(folder, "silo", ["particles.grains.radius.value=0.006", "materials.grain.young_modulus=1e7", "time.step=1e-4",
                                     "stages.0.duration=0.15", "stages.1.duration=0.35", "output.vtk.every=10"])
    t, n = dosta_numbers.discharge(run)
    check(n[0] == run.scalars["n_bodies"][0], "nothing leaves before the orifice opens", n[0])
    # Beverloo: (D - 1.4 d)^2.5 / d^3, with the number of LIGGGHTS for D = 60 mm and d = 4 mm. Some 120 grains leave between: 9 % of scatter.
    table = reference("silo")
    known = dosta_numbers.discharge_rate(table["time"], table["large_liggghts"])
    scaled = known * ((0.06 - 1.4 * d) / (0.06 - 1.4 * 0.004))**2.5 * (0.004 / d)**3
    check_close(dosta_numbers.discharge_rate(t, n, 0.1, 0.35), scaled, "grains per second", relative=0.25)


def test_small_drum_carries_its_bed_as_in_the_other_codes(folder):
    run = run_small(folder, "drum", ["materials.m1.young_modulus=2e6", "materials.m2.young_modulus=1e6", "time.step=6e-5",
                                     "simulation.end_time=0.4", *TWICE_THE_SIZE])
    t, counts, _ = dosta_numbers.mixing(run)
    check_close(t[-1], 0.3, "the last frame", absolute=1e-6)
    bodies = run.bodies(-1)
    small = np.count_nonzero(bodies["radius"] < 0.003)
    large = len(bodies["radius"]) - small
    table = reference("drum")
    row = np.abs(table["time"] - 0.3).argmin()
    names = ("zone1_small", "zone1_large", "zone2_small", "zone2_large")
    for k, (name, total, of) in enumerate(zip(names, (small, large, small, large), (30000, 8000, 30000, 8000))):
        check_close(counts[-1, k] / total, table[f"musen_{name}"][row] / of, f"share of the grains in {name}", absolute=0.08)


def test_small_impact_reaches_the_floor_as_in_the_other_codes(folder):
    run = run_small(folder, "impact", ["particles.bed.radius.value=0.002", "materials.m1.young_modulus=1e8", "materials.steel.young_modulus=2.1e10",
                                       "time.step=8e-6", "simulation.end_time=0.045"])
    t, z = dosta_numbers.ball_path(run)
    falls = t < 0.018       # the bed is 3 cm deep at most
    path = dosta_numbers.BALL_START - 5 * t - 0.5 * 9.81 * t**2
    check(falls.sum() >= 17 and np.abs(z - path)[falls].max() < 1e-4, "it falls freely onto the bed", np.abs(z - path)[falls])
    table = reference("impact")
    known = table["liggghts_25k"]
    check_close(z.min(), known.min(), "the deepest place [m]", absolute=0.008)
    check_close(t[z.argmin()], table["time"][known.argmin()], "its time [s]", absolute=0.005)
