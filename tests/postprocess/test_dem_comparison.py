"""Reductions of the published comparison of DEM codes give what made-up runs were made of, and say what is wrong with others."""
import subprocess
import sys

import h5py
import numpy as np

import dem_comparison
from scree.errors import ResultsError
from scree_program import check, check_close, check_in, source_folder
from scree.results import Results, Scalars
from scree.verify import dosta_numbers


def make_run(folder, deck, rows=(), titles="orifice_n_bodies[-]"):
    folder.mkdir(exist_ok=True)
    (folder / "case.resolved.toml").write_text(deck)
    lines = [f"time[s],step[-],n_bodies[-],{titles}", *(",".join(map(repr, map(float, row))) for row in rows)]
    (folder / "case.scalars.csv").write_text("\n".join(lines) + "\n")
    return Results(folder)


def add_frames(folder, times, frames, radius):
    """An H5MD file of positions (frame, body, 3)."""
    with h5py.File(folder / "case.h5", "w") as file:
        file.create_group("h5md")
        group = file.create_group("particles/all")
        group["position/value"], group["position/time"] = np.array(frames), np.array(times)
        group["position/step"] = np.arange(len(times))
        group["id"], group["radius"] = np.arange(len(radius)), np.array(radius)


def failure(function, *arguments):
    try:
        function(*arguments)
    except ResultsError as error:
        return str(error)
    return ""


def test_the_discharge_rate_is_the_slope_after_the_opening(folder):
    rows = [(0.1 * k, k, 1000, 250 * max(0, 0.1 * k - 0.3)) for k in range(44)]
    run = make_run(folder / "silo", "[[stages]]\nduration = 0.3\n", rows)
    t, n = dosta_numbers.discharge(run)
    check_close(t[0], 0, "times count from the opening", absolute=1e-9)
    check_close(n[0], 1000, "all grains are there at first", absolute=1e-9)
    check_close(dosta_numbers.discharge_rate(t, n), 250, "the rate", absolute=1e-6)
    check_in("no discharge rate", failure(dosta_numbers.discharge_rate, t[:3], n[:3]), "a run that is too short")
    other = make_run(folder / "other", "[physics]\ngravity = [0, 0, -9.81]\n", rows)
    check_in("no stages.0.duration", failure(dosta_numbers.discharge, other), "a run of another case")


def test_lacey_index_is_0_apart_and_1_mixed():
    random = np.random.default_rng(1)
    x = random.uniform(0, 0.2, (20000, 3))
    apart = x[:, 0] < 0.1       # a face between cells
    mixed = random.permutation(apart)
    check_close(dosta_numbers.lacey_index(x, apart), 0, "kinds side by side", absolute=1e-9)
    check_close(dosta_numbers.lacey_index(x, mixed), 1, "the same kinds shuffled", absolute=0.02)
    check_in("one kind", failure(dosta_numbers.lacey_index, x, np.ones(len(x), bool)), "one kind alone")


def test_zones_are_the_quadrants_where_the_wall_rises_and_the_opposite_one(folder):
    x = np.array([[1, 0, 1], [1, 0, -1], [-1, 0, -1], [-1, 0, 1], [-2, 0, -2]]) * 0.01
    counts = dosta_numbers.zone_counts(x, np.array([True, True, True, True, False]))
    check(counts == [1, 0, 1, 1], "small and large in zone 1, small and large in zone 2", counts)
    run = make_run(folder / "drum", "[obstacles.drum.motion]\nstart = 0.1\n")
    random = np.random.default_rng(1)
    many = random.uniform(-0.05, 0.05, (4000, 3))
    add_frames(run.folder, [0, 0.1, 0.2], [many, many, many * [-1, 1, 1]], [0.001, 0.002] * 2000)
    t, counts, index = dosta_numbers.mixing(run)
    check(np.allclose(t, [0, 0.1]), "frames before the turn are left out", t)
    check(counts.shape == (2, 4) and counts[0, 0] == np.count_nonzero((many[::2, 0] > 0) & (many[::2, 2] > 0)), "counts", counts)
    check(index.shape == (2,) and (index > 0.9).all(), "mixed kinds", index)


def test_the_path_of_the_ball_counts_from_its_published_start(folder):
    run = make_run(folder / "impact", "[physics]\ngravity = [0, 0, -9.81]\n")
    times = np.arange(0, 0.05, 0.005)
    z = 0.158038 - 4.8038 * times - 0.5 * 9.81 * times**2
    add_frames(run.folder, times, [[[0.01, 0, -0.08], [0, 0, height]] for height in z], [0.001, 0.01])
    t, found = dosta_numbers.ball_path(run)
    check_close(t[0], 0, "time 0", absolute=1e-6)
    check_close(found[0], 0.06, "the ball is at its published start then", absolute=1e-6)
    check(len(t) == 6 and np.all(np.diff(found) < 0), "and goes on", found)


def test_published_starts_become_files_for_decks(folder):
    bed = folder / "25KParticles.txt"
    bed.write_text("r x y z\n0.001\t0\t0.01\t-0.08\n0.01 0 0 0.06\n\n")
    check(dem_comparison.start_csv(bed, 0.001) == "radius,x,y,z\n0.001,0.0,0.01,-0.08\n", "the bed without the ball")
    silo = folder / "silo.txt"
    silo.write_text("0.01 0.02 0.03\n")
    check(dem_comparison.start_csv(silo) == "x,y,z\n0.01,0.02,0.03\n", "positions alone")
    check_in("no radii", failure(dem_comparison.start_csv, silo, 0.001), "no radii to choose by")
    check_in("no grain of radius", failure(dem_comparison.start_csv, bed, 0.005), "no such grain")
    silo.write_text("0.01 0.02 0.03\n0.01 left 0.03\n")
    check_in("silo.txt:2", failure(dem_comparison.start_csv, silo), "a word among numbers has its line named")


def test_the_program_draws_a_run_beside_the_reference(folder):
    rows = [(0.1 * k, k, 1000, 250 * max(0, 0.1 * k - 0.3)) for k in range(44)]
    make_run(folder / "silo", "[[stages]]\nduration = 0.3\n", rows)
    program = source_folder() / "docs/figures/dem_comparison.py"
    table = source_folder() / "tests/reference/granular/dem_codes/silo.csv"
    done = subprocess.run([sys.executable, program, "silo", folder / "silo", "--reference", table, "--columns", "large_*"],
                          capture_output=True, text=True, check=False)
    check(done.returncode == 0 and (folder / "silo/case_silo.png").stat().st_size > 5000, "a picture", done)
    check_in("discharge rate 250 1/s", done.stdout, "the rate is reported")
    done = subprocess.run([sys.executable, program, "drum", folder / "silo"], capture_output=True, text=True, check=False)
    check(done.returncode == 1 and "no obstacles.drum" in done.stderr, "the wrong case is named", done)


def test_reference_curves_are_whole():
    tables = {name: Scalars(source_folder() / f"tests/reference/granular/dem_codes/{name}.csv") for name in ("silo", "drum", "impact")}
    large = tables["silo"]["large_liggghts"]
    check(large[0] == 100000 and (np.diff(large) <= 0).all(), "grains only leave the silo", large)
    for code in ("liggghts", "musen"):
        for kind, most in (("small", 30000), ("large", 8000)):
            both = tables["drum"][f"{code}_zone1_{kind}"] + tables["drum"][f"{code}_zone2_{kind}"]
            check((both <= most).all(), "two zones hold no more grains than there are", both.max())
        for bed in ("25k", "50k", "100k"):
            check(tables["impact"][f"{code}_{bed}"].min() >= -0.0902431 + 0.01 - 1e-3, "the ball stays above the floor")
