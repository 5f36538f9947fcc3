"""Driven walls: `scree verify rigs --case driven` holds on one rank and on two (with --full three), and a plate that presses on a bed with given
pressures comes to rest where the same plate meets them at constant speed."""
import csv
import random

import numpy as np
import pytest
from scree_program import check, run_ok, source_folder, verified

_AREA = 1.6e-3
_DECK = """[simulation]
dimension = 3
scheme = "dem"
end_time = 0.45
allow_overlap = true
[time]
step = 1e-5
[domain]
lower = [-0.001, -0.001, -0.001]
upper = [0.041, 0.041, 0.05]
[physics]
gravity = [0, 0, -9.81]
[materials.glass]
density = 2500
young_modulus = 5e7
poisson_ratio = 0.2
[materials.wall]
density = 2500
young_modulus = 5e7
poisson_ratio = 0.2
[pairs]
"glass-glass" = {{ friction = 0.5, restitution = 0.3 }}
"glass-wall" = {{ friction = 0.0, restitution = 0.3 }}
[particles.grains]
material = "glass"
source = {{ type = "file", path = "start.csv" }}
[obstacles.box]
type = "box"
side = "inside"
lower = [0, 0, 0]
upper = [0.04, 0.04, 0.06]
material = "wall"
[obstacles.plate]
type = "plane"
point = [0, 0, 0.0398]
normal = [0, 0, -1]
material = "wall"
motion = {{ type = "driven", axis = [0, 0, -1], pressure = 1e3, area = 1.6e-3, max_speed = 0.01 }}
[analysis]
every = 2.5e-3
[measures.plate]
type = "driven"
[output]
name = "{name}"
"""
_STAGE = """[[stages]]
name = "{name}"
drive = [{{ obstacle = "plate", {order} }}]
{end}
"""


def test_closed_forms(folder, full):
    one, others = (verified(folder / f"driven{ranks}.csv", "rigs", "--case", "driven", ranks=ranks) for ranks in (1, 3 if full else 2))
    check(len(one) == len(others) == 56, "as many rows on more ranks", (one, others))


def _start(folder, seed):
    """The places of tests/reference/oedometer, shifted by up to 10 nm."""
    shift = random.Random(seed)
    lines = (source_folder() / "tests/reference/oedometer/start.csv").read_text().split()
    with open(folder / "start.csv", "w") as file:
        print(lines[0], file=file)
        for line in lines[1:]:
            *place, radius, number = line.split(",")
            print(*(repr(float(x) + shift.uniform(-1e-8, 1e-8)) for x in place), radius, number, sep=",", file=file)


def _plate(folder, name, stages):
    """Height [m], stress [Pa] and stage of the plate over time."""
    (folder / f"{name}.toml").write_text(_DECK.format(name=name).replace("end_time = 0.45\n", "") + "".join(stages))
    run_ok("-q", "run", f"{name}.toml", folder=folder)
    with open(folder / "results" / name / f"{name}.scalars.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    column = {key: np.array([float(row[key]) for row in rows]) for key in rows[0]}
    return 0.0398 - column["plate_position_plate[m]"], column["plate_load_plate[N]"] / _AREA, column["stage[-]"]


def _height_of_liggghts(pressure):
    """Of the plate under that stress [m], on the way down."""
    with open(source_folder() / "tests/reference/oedometer/liggghts.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if float(row["time"]) <= 0.45]
    return np.interp(pressure, [float(row["stress"]) for row in rows], [float(row["plate_z"]) for row in rows])


def test_states_lie_on_the_curve_of_constant_speed(folder, full):
    """A plate with 5, 10 and 20 kPa, and the same plate at 10 mm/s, from the same starts. Runs whose starts differ by 10 nm differ by 10
    to 20 % in stress at a height, so one pair says little: means of four. The 3 % are of the design note; the 0.1 mm beside LIGGGHTS,
    which amount to one and a half deviations of a run, were set after heights had been seen."""
    if not full:
        pytest.skip("eight runs, a minute on two cores: --full")
    pressures = (5e3, 1e4, 2e4)
    wait = 'until = { load_within = 0.01, of = ["plate"], kinetic_energy = 1e-9, max_time = 0.6 }'
    stages = [_STAGE.format(name=f"{p:g}", order=f"pressure = {p}", end=wait) for p in pressures]
    ratios, heights = [], []
    for seed in range(1, 5):
        _start(folder, seed)
        height, stress, _ = _plate(folder, f"speed{seed}", [_STAGE.format(name="down", order="speed = 0.01", end="duration = 0.45")])
        driven_height, driven_stress, stage = _plate(folder, f"loads{seed}", stages)
        last = [np.flatnonzero(stage == k)[-1] for k in range(len(pressures))]
        ratios.append(driven_stress[last] / np.interp(-driven_height[last], -height, stress))
        heights.append(driven_height[last])
    for k, pressure in enumerate(pressures):
        ratio = np.array(ratios)[:, k]
        off = np.mean(np.array(heights)[:, k]) - _height_of_liggghts(pressure)
        print(f"{pressure:g} Pa: load over that at constant speed {np.mean(ratio):.3f} ({min(ratio):.3f} to {max(ratio):.3f}); "
              f"plate {1e6 * off:+.0f} um above that of LIGGGHTS")
        check(abs(np.mean(ratio) - 1) < 0.03, f"{pressure:g} Pa on the curve of constant speed", ratio)
        check(abs(off) < 1e-4, f"height under {pressure:g} Pa beside LIGGGHTS", off)


def test_rigid_oedometer(folder):
    """The deck of the oedometer with rigid grains runs to its end, and the plate carries its load in 95 of 100 steps. Bounds were set before."""
    deck = (source_folder() / "inputs/granular/oedometer.toml").read_text().replace('"20 us"', '"200 us"').replace('"dem"', '"nonsmooth"')
    (folder / "rigid.toml").write_text("\n".join(line for line in deck.split("\n") if not line.startswith(("young", "poisson"))))
    small = ["particles.grains.source.count=100", "obstacles.plate.point=[0, 0, 0.03]",
             "particles.grains.source.region.upper=[0.03, 0.03, 0.028]", "stages.0.duration=0.05", "output.certificate.every_steps=1"]
    run_ok("-q", "run", "rigid.toml", *(word for change in small for word in ("--set", change)), folder=folder)
    with open(folder / "results/rigid/rigid.certificate.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    with open(folder / "results/rigid/rigid.scalars.csv", newline="") as file:
        stages = [float(row["stage[-]"]) for row in csv.DictReader(file)]
    check(max(stages) == 4, "all stages were reached", max(stages))
    residual = np.array([float(row["load_residual[-]"]) for row in rows])
    print(f"{len(rows)} steps, {np.mean(residual > 1e-3):.3f} of them miss the load by more than 0.001, at most {max(residual):.2g}")
    check(np.mean(residual > 1e-3) < 0.05, "the load is met", np.mean(residual > 1e-3))
    check(max(float(row["max_overlap[m]"]) for row in rows) < 1e-4, "bodies hardly overlap")
