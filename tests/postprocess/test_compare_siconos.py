"""compare-siconos.py judges impulses by its own arithmetic, and its tables say what its rows say."""
import csv
import importlib.util
import os
import subprocess
import sys

import h5py
import numpy as np
import pytest

from scree_program import check, check_close, check_in, source_folder


def script_path():
    return (source_folder() / "scripts/compare-siconos.py").resolve()


def load_script():
    spec = importlib.util.spec_from_file_location("compare_siconos", script_path())
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_script(folder, *arguments, path=None):
    environment = dict(os.environ) if path is None else os.environ | {"PYTHONPATH": str(path)}
    return subprocess.run([sys.executable, script_path(), *arguments], text=True, capture_output=True, timeout=100,
                          cwd=folder, env=environment)


def write_matrix(group, name, dense, storage):
    """Triplets with i the row and p the column, or compressed rows."""
    matrix = group.create_group(name)
    row, column = np.nonzero(dense)
    x = dense[row, column]
    if storage == "triplets":
        p, nz = column, len(x)
    else:
        p, nz = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=len(dense))))), -2
    for key, value in (("m", dense.shape[0]), ("n", dense.shape[1]), ("nz", nz), ("nzmax", len(x))):
        matrix[key] = np.array([value], dtype=np.int32)
    matrix["p"], matrix["i"], matrix["x"] = p.astype(np.int32), (row if nz >= 0 else column).astype(np.int32), x


def write_sliding_mass(path, form):
    """A mass of 2 kg that falls with 1 m/s, slides with 3 m/s and is slowed by mu = 0.5: u = (0, 2.5, 0)."""
    with h5py.File(path, "w") as file:
        group = file.create_group("fclib_" + form)
        group["spacedim"] = np.array([3], dtype=np.int32)
        group["vectors/mu"] = [0.5]
        if form == "local":
            write_matrix(group, "W", np.diag([0.5, 0.5, 0.5]), "rows")
            group["vectors/q"] = [-1.0, 3.0, 0.0]
        else:
            write_matrix(group, "M", np.diag([2.0, 2, 2]), "triplets")
            H = np.roll(np.eye(3), 1, axis=0)  # axes in another order, so that H is not its transpose
            write_matrix(group, "H", H, "triplets")
            group["vectors/f"] = 2 * H @ [-1.0, 3.0, 0.0]
            group["vectors/w"] = [0.0, 0.0, 0.0]


def test_residuals_are_those_of_the_definition(folder):
    module = load_script()
    problem = object.__new__(module.Problem)
    problem.mu, problem.W, problem.q = np.array([0.5]), np.diag([0.5, 0.5, 0.5]), np.array([-1.0, 3.0, 0.0])
    absolute, relative = problem.residuals(np.array([2.0, -1.0, 0.0]))
    check(absolute < 1e-15 and relative < 1e-15, "the solution has no residual", (absolute, relative))
    # r = 0: x = -u^ = (1 - 1.5, -3, 0), nearest point a = (-0.5 + 1.5) / 1.25 = 0.8 of (a, -a / 2, 0).
    absolute, relative = problem.residuals(np.zeros(3))
    check_close(absolute, np.hypot(0.8, 0.4) / np.sqrt(10), "res of no impulse", relative=1e-12)
    check_close(relative, absolute, "rel of no impulse", relative=1e-12)
    # Sticking inside the cone, open, and without friction.
    problem.mu, problem.q = np.array([0.5]), np.array([-1.0, 0.1, 0.0])
    check(problem.residuals(np.array([2.0, -0.2, 0.0]))[0] < 1e-15, "sticking")
    problem.q = np.array([1.0, 5.0, 0.0])
    check(problem.residuals(np.zeros(3))[0] < 1e-15, "open")
    problem.mu, problem.q = np.array([0.0]), np.array([-1.0, 5.0, 0.0])
    check(problem.residuals(np.array([2.0, 0.0, 0.0]))[0] < 1e-15, "without friction")
    problem.q = np.array([1.0, 0.0, 0.0])
    check(problem.residuals(np.zeros(3))[0] == 0, "open without friction or sliding")
    check_close(problem.residuals(np.array([1.0, 0.0, 0.0]))[0], 1.0, "an impulse on it", relative=1e-12)
    check(problem.residuals(np.array([np.nan, 0.0, 0.0]))[0] == np.inf, "no number")


def test_without_siconos_it_says_so_and_does_nothing(folder):
    (folder / "absent/siconos").mkdir(parents=True)
    (folder / "absent/siconos/__init__.py").write_text("raise ImportError('no such module')\n")
    write_sliding_mass(folder / "mass.hdf5", "local")
    result = run_script(folder, "mass.hdf5", "--results", "rows.csv", path=folder / "absent")
    check(result.returncode == 0, "nothing to do is no failure", result)
    check_in("python3-siconos", result.stderr, "what is missing")
    check(not (folder / "rows.csv").exists(), "no rows")


def test_tables_and_rows_follow_from_the_results(folder):
    (folder / "rows.csv").write_text(
        "file,form,contacts,velocities,solver,tolerance,solved,seconds\n"
        "a/one.hdf5,local,1,,NSGS,0.0001,1,0.5\n"
        "a/two.hdf5,global,1,3,W_NSGS,0.0001,1,0.25\n"
        "a/two.hdf5,global,1,3,G_ADMM,0.0001,0,7\n"
        "a/one.hdf5,local,1,,NSGS,1e-08,0,\n")
    (folder / "replay.csv").write_text('file,solver,seconds_to_0.0001,seconds_to_1e-08\n"b/one.hdf5",auto,0.125,2\n'
                                       '"b/two.hdf5",auto,,\n')
    result = run_script(folder, "--results", "rows.csv", "--scree", "replay.csv", "--times", "times.csv")
    check(result.returncode == 0, "it runs", result)
    lines = [line.split() for line in result.stdout.splitlines()]
    check(["NSGS", "1", "0.500", "|", "1", "0.500", "0.125"] in lines, "local", result.stdout)
    check(["NSGS", "2", "0.750", "|", "1", "0.500", "0.125"] in lines, "both forms", result.stdout)
    check(["G_ADMM", "0", "0.000", "|", "0", "0.000", "0.000"] in lines, "not solved", result.stdout)
    check(["alone:", "one.hdf5"] in lines and ["not,", "but", "others:", "two.hdf5"] in lines, "who alone", result.stdout)
    with open(folder / "times.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    check([(row["file"], row["solver"], row["seconds_to_0.0001"], row["seconds_to_1e-08"]) for row in rows] ==
          [("one.hdf5", "NSGS", "0.5", ""), ("two.hdf5", "NSGS", "0.25", ""), ("two.hdf5", "G_ADMM", "", "")],
          "one row per file and solver", rows)


def test_siconos_solves_what_it_is_given(folder):
    module = load_script()
    if module.MISSING:
        pytest.skip("Siconos is not installed")
    for form in ("local", "global"):
        write_sliding_mass(folder / f"{form}.hdf5", form)
        problem = module.Problem(folder / f"{form}.hdf5")
        check(np.allclose(problem.W.toarray(), 0.5 * np.eye(3)), "W of the " + form, problem.W)
        check(np.allclose(problem.q, [-1, 3, 0]), "q of the " + form, problem.q)
    with h5py.File(folder / "other.hdf5", "w") as file:
        file.create_group("something")
    arguments = ("local.hdf5", "global.hdf5", "other.hdf5", "--results", "rows.csv", "--tolerances", "1e-8",
                 "--solvers", "NSGS,W_NSGS,G_NSGS_WR", "--max-time", "5")
    result = run_script(folder, *arguments)
    check_in("other.hdf5: left out: neither", result.stderr, "files that are no problems")
    with open(folder / "rows.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    check([(row["file"], row["solver"], row["solved"]) for row in rows] ==
          [("local.hdf5", "NSGS", "1"), ("global.hdf5", "W_NSGS", "1"), ("global.hdf5", "G_NSGS_WR", "1")], "rows", rows)
    before = (folder / "rows.csv").read_text()
    run_script(folder, *arguments)
    check((folder / "rows.csv").read_text() == before, "what is there is not solved again")
