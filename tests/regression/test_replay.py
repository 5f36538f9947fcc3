"""scree_replay as a user meets it: problems made and solved, checked against their files, on any number of ranks; tables,
solutions in files, profiles."""
import csv
import json
import os
import re

import h5py
import numpy as np
import pytest

from refusal import BAD_INPUT
from scree_program import check, check_close, check_in, run_ok, scree, source_folder

UNSOLVED = 3
SIZES = {"pile": 20, "jammed": 2}      # others: 4


def replay(folder, *arguments, ranks=1, code=0):
    result = scree(*arguments, ranks=ranks, name="scree_replay", folder=folder)
    check(result.code == code, f"exit code {code}", result)
    return result


def generate(folder, family, *arguments, size=4, name=None, ranks=1):
    name = name or f"{family}.hdf5"
    replay(folder, "--generate", family, "--size", size, "-o", name, *arguments, ranks=ranks)
    return name


def solves(folder, *arguments, ranks=1, code=0):
    """The rows of a run, from its JSON."""
    replay(folder, *arguments, "--json", "out.json", ranks=ranks, code=code)
    return json.loads((folder / "out.json").read_text())["solves"]


def families(dimension):
    result = scree("--generate", "none", "--size", 1, "--dimension", dimension, "-o", "none.hdf5", name="scree_replay")
    return re.search(r"there are (.*)", result.stderr)[1].split(", ")


def larger(residual):
    return max(residual["fclib_absolute"], residual["fclib_relative"])


def arrays_of(path):
    arrays = {}
    with h5py.File(path, "r") as file:
        file.visititems(lambda name, item: arrays.__setitem__(name, item[()]) if isinstance(item, h5py.Dataset) else None)
    return arrays


def test_every_family_is_made_and_solved(folder):
    for dimension in (2, 3):
        names = families(dimension)
        check(len(names) >= 6, "there are families", names)
        files = [generate(folder, family, "--dimension", dimension, size=SIZES.get(family, 4),
                          name=f"{family}{dimension}.hdf5", ranks=1 + k % 2) for k, family in enumerate(names)]
        rows = solves(folder, *files, "--tolerance", "1e-8", ranks=2)
        check([row["file"] for row in rows] == files, "a row for each file", rows)
        for row in rows:
            check(row["converged"] and row["confirmed"], "solved, and the file confirms it", row)
            check(row["dimension"] == dimension and row["contacts"] > 0, "sizes", row)
            check(row["form"] == row["solved_as"] == "global", "with bodies", row)
            check(larger(row["residual"]) <= 1e-8 and larger(row["checked"]) <= 1.001e-8, "both residuals", row)


def test_files_do_not_depend_on_ranks(folder):
    for form in ("global", "local"):
        contents = []
        for ranks in (1, 3):
            name = generate(folder, "tower", "--form", form, "--seed", "7", size=2, name=f"{form}{ranks}.hdf5", ranks=ranks)
            contents.append((folder / name).read_bytes())
        check(contents[0] == contents[1], f"the same {form} file from 1 and 3 ranks")
    check(sorted(path.name for path in folder.iterdir()) == [f"{form}{n}.hdf5" for form in ("global", "local") for n in (1, 3)],
          "nothing else is left", list(folder.iterdir()))


def test_the_same_residual_on_any_number_of_ranks(folder):
    name = generate(folder, "wall", size=4)
    rows = [solves(folder, name, "--solver", "nsgs", "--tolerance", "1e-6", ranks=ranks)[0] for ranks in (1, 2, 3)]
    for row in rows:
        check(row["residual"] == rows[0]["residual"], "sweeps are the same to the last bit", rows)
        check(row["counts"] == rows[0]["counts"], "as many of them", rows)
        check_close(larger(row["checked"]), larger(row["residual"]), "the file's own residual", relative=1e-6)
    for row in (solves(folder, name, "--solver", "auto,newton", "--tolerance", "1e-8", ranks=ranks) for ranks in (1, 3)):
        check(all(solve["confirmed"] for solve in row), "others to their tolerance", row)


def test_local_form(folder):
    """By elimination, from a file in local form, and from a converted one: the same problem."""
    whole = generate(folder, "arch", size=7)
    made = generate(folder, "arch", "--form", "local", size=7, name="made.hdf5")
    replay(folder, whole, "--convert", "local", "-o", "converted.hdf5", ranks=2)
    check((folder / made).read_bytes() == (folder / "converted.hdf5").read_bytes(), "made and converted files are equal")
    rows = [*solves(folder, whole, made, "converted.hdf5", "--form", "local", "--solver", "nsgs", "--tolerance", "1e-10"),
            *solves(folder, whole, "--form", "local", "--solver", "nsgs", "--tolerance", "1e-10", ranks=3)]
    check([row["form"] for row in rows] == ["global", "local", "local", "global"], "forms of the files", rows)
    for row in rows:
        check(row["solved_as"] == "local" and row["confirmed"], "solved as W and q", row)
    # Elimination and file differ in the last bits of W, and sweeps with momentum then in their number.
    check(rows[1]["counts"] == rows[2]["counts"], "as many sweeps with both files", rows)
    check(rows[0]["counts"] == rows[3]["counts"], "as many sweeps on 1 and 3 ranks", rows)
    replay(folder, made, "--tolerance", "1e-10", "--write-solution")
    replay(folder, whole, "--tolerance", "1e-10", "--write-solution")
    one, other = (arrays_of(folder / name) for name in (made, whole))
    check(np.abs(one["solution/u"] - other["solution/u"]).max() < 1e-8, "the same velocities")
    check("solution/v" in other and "solution/v" not in one, "velocities of bodies where there are bodies", one.keys())
    W = np.zeros((3 * one["fclib_local/vectors/mu"].size,) * 2)
    p, i, x = (one[f"fclib_local/W/{name}"] for name in "pix")
    for row in range(W.shape[0]):
        W[row, i[p[row]:p[row + 1]]] = x[p[row]:p[row + 1]]
    check(np.abs(W @ one["solution/r"] + one["fclib_local/vectors/q"] - one["solution/u"]).max() < 1e-12, "u = W r + q")


def matrix(arrays, name):
    """A matrix of triplets, dense."""
    full = np.zeros((arrays[f"{name}/m"][0], arrays[f"{name}/n"][0]))
    np.add.at(full, (arrays[f"{name}/i"], arrays[f"{name}/p"]), arrays[f"{name}/x"])
    return full


def add_constraints(path, columns, b):
    """Bilateral ones: G has a column for each list of (row, value)."""
    with h5py.File(path, "a") as file:
        group = file["fclib_global"]
        entries = [(row, column, value) for column, rows in enumerate(columns) for row, value in rows]
        rows, places, values = zip(*entries)
        sizes = {"m": group["M/n"][0], "n": len(columns), "nz": len(entries), "nzmax": len(entries)}
        for name, value in sizes.items():
            group[f"G/{name}"] = np.array([value], dtype=np.int32)
        group["G/i"], group["G/p"] = np.array(rows, dtype=np.int32), np.array(places, dtype=np.int32)
        group["G/x"], group["vectors/b"] = np.array(values), np.array(b)


def test_bilateral_constraints(folder):
    """A body of a stack is made to rise as given; constraints that repeat each other are refused, other files go on."""
    for dimension in ("2", "3"):
        name = generate(folder, "stack", "--dimension", dimension, name=f"held{dimension}.hdf5")
        q, up = (3, 1) if dimension == "2" else (6, 2)
        add_constraints(folder / name, [[(q + k, 1.0)] for k in range(q)], [-1e-3 * (k == up) for k in range(q)])
        for ranks in (1, 2):
            row, = solves(folder, name, "--tolerance", "1e-9", "--write-solution", ranks=ranks)
            check(row["confirmed"] and row["constraints"] == q and row["solved_as"] == "local", "solved", row)
            check_in("bilateral", row["why_local"], "why not with bodies")
            arrays = arrays_of(folder / name)
            M, H, G = (matrix(arrays, f"fclib_global/{x}") for x in "MHG")
            f, w, b = (arrays[f"fclib_global/vectors/{x}"] for x in "fwb")
            v, u, r, l = (arrays[f"solution/{x}"] for x in "vurl")
            for claim, error in (("momentum", M @ v - H @ r - G @ l - f), ("constraints", G.T @ v + b),
                                 ("relative velocities", H.T @ v + w - u)):
                check(np.abs(error).max() < 1e-10, f"{claim} of the solution", error)
        replay(folder, name, "--convert", "local", "-o", f"local{dimension}.hdf5")
        check(solves(folder, f"local{dimension}.hdf5", "--tolerance", "1e-9")[0]["confirmed"], "the same without bodies")
    good = generate(folder, "stack", size=2)
    bad = generate(folder, "stack", size=2, name="bad.hdf5")
    add_constraints(folder / bad, [[(0, 1.0), (7, 2.0)], [(0, 2.0), (7, 4.0)]], [0.0, 0.0])
    for ranks in (1, 3):
        first, second = solves(folder, bad, good, ranks=ranks, code=BAD_INPUT)
        check_in("[M, -G; G^T, 0] of 14 rows is singular", first["failure"], "why the first one is refused")
        check(not first["converged"] and second["confirmed"], "the other one is solved", second)
        first, second = solves(folder, "held3.hdf5", good, "--form", "global", ranks=ranks, code=BAD_INPUT)
        check_in("cannot be solved in global form", first["failure"], "why the first one is refused")


def test_compliance_belongs_to_the_problem(folder):
    name = generate(folder, "tower", size=2)
    u = []
    for compliance in (0, 1e-4):
        with h5py.File(folder / name, "a") as file:
            if compliance:
                file["scree/compliance"] = np.full((file["fclib_global/vectors/mu"].shape[0], 2), compliance)
        for form, ranks in (("global", 2), ("local", 1)):
            row, = solves(folder, name, "--form", form, "--tolerance", "1e-10", "--write-solution", ranks=ranks)
            check(row["confirmed"], "solved and confirmed", row)
            u.append(arrays_of(folder / name)["solution/u"])
    check(np.abs(u[0] - u[1]).max() < 1e-8 and np.abs(u[2] - u[3]).max() < 1e-8, "the same in both forms")
    check(np.abs(u[0] - u[2]).max() > 1e-6, "compliant contacts move otherwise")


def test_a_solution_is_a_start(folder):
    name = generate(folder, "tower", size=2)
    before = arrays_of(folder / name)
    replay(folder, name, "--solver", "auto,nsgs", "--tolerance", "1e-7", "--write-solution", ranks=2)
    after = arrays_of(folder / name)
    check({f"solution/{x}" for x in "vur"} == after.keys() - before.keys(), "the solution is new", after.keys())
    check(all(np.array_equal(before[key], after[key]) for key in before), "the rest is as it was")
    for ranks in (1, 3):
        for row in solves(folder, name, "--solver", "nsgs,auto", "--start", "solution", "--tolerance", "1e-7", ranks=ranks):
            check(row["confirmed"] and row["reached"][0]["iteration"] == 0, "it is found at once", row)
    check("/guesses" not in after, "no guess")
    with h5py.File(folder / name, "a") as file:
        file["guesses/number_of_guesses"] = np.array([1], dtype=np.int32)
        file.copy("solution", "guesses/1")
    row = solves(folder, name, "--solver", "nsgs", "--start", "guess", "--tolerance", "1e-7")[0]
    check(row["counts"]["sweeps"] == 0, "a guess that solves it", row)


def test_files_of_the_same_name(folder):
    for place in ("one", "two"):
        (folder / place).mkdir()
        generate(folder, "stack", size=2, name=f"{place}/stack.hdf5")
    other = generate(folder, "sliding", size=2, name="one/other.hdf5")
    rows = solves(folder, "one/stack.hdf5", "two/stack.hdf5", other)
    check([row["file"] for row in rows] == ["one/stack.hdf5", "two/stack.hdf5", "other.hdf5"], "kept apart", rows)


def test_a_factorisation_that_has_too_little_memory(folder):
    """Costs its own file only."""
    large = generate(folder, "wall", size=20)
    small = generate(folder, "stack", size=2)
    os.environ["PETSC_OPTIONS"] = "-mat_mumps_icntl_23 1"
    try:
        first, second = solves(folder, large, small, ranks=2, code=UNSOLVED)
    finally:
        del os.environ["PETSC_OPTIONS"]
    check_in("too little memory", first["failure"], "why the first one is not solved")
    check(not first["confirmed"] and second["confirmed"], "the other one is", second)


def test_links_to_files_are_followed(folder):
    (folder / "far").mkdir()
    name = generate(folder, "tower", size=2, name="far/tower.hdf5")
    before = (folder / name).read_bytes()
    (folder / "link.hdf5").symlink_to(name)
    replay(folder, "link.hdf5", "--write-solution", ranks=2)
    check((folder / "link.hdf5").is_symlink(), "the link is still one")
    check((folder / name).read_bytes() != before, "its target has the solution")


def test_what_is_not_solved(folder):
    """Fails to the least tolerance, keeps the larger, and is written only by force."""
    name = generate(folder, "wall", size=5)
    before = (folder / name).read_bytes()
    arguments = (name, "--solver", "nsgs", "--set", "nsgs.max_sweeps=100", "--tolerance", "1e-12,1e-2", "--write-solution")
    for ranks in (1, 2):
        result = replay(folder, *arguments, "--csv", "out.csv", ranks=ranks, code=UNSOLVED)
        check_in("no solution was written", result.stderr, "a warning")
        check((folder / name).read_bytes() == before, "the file is as it was")
        row, = csv.DictReader((folder / "out.csv").open(newline=""))
        check(row["converged"] == row["confirmed"] == "0" and row["seconds_to_1e-12"] == "", "not solved", row)
        check(float(row["seconds_to_0.01"]) > 0 and row["failure"] == "", "but to the larger tolerance", row)
        check_close(float(row["checked_absolute"]), float(row["fclib_absolute"]), "the residual of the result", relative=1e-6)
        check_in("1e-02     nsgs |      1 of 1", result.stdout, "the summary")
        check_in("1e-12     nsgs |      0 of 1", result.stdout, "the summary")
    row, = solves(folder, *arguments, code=UNSOLVED)
    check([(entry["agrees"], entry["solved"]) for entry in row["reached"]] == [(False, False), (True, True)],
          "each tolerance is confirmed by itself", row["reached"])
    replay(folder, *arguments, "--force", code=UNSOLVED)
    check((folder / name).read_bytes() != before, "--force writes")
    kept = (folder / name).read_bytes()
    replay(folder, *arguments, code=UNSOLVED)
    check((folder / name).read_bytes() == kept, "and is not needed to leave it")


def test_tables_and_profiles_add_up(folder):
    files = [generate(folder, "wall", size=3), generate(folder, "stack", size=5), generate(folder, "sliding", size=3)]
    chosen = ("nsgs", "ipm", "auto")
    result = replay(folder, *files, "--solver", ",".join(chosen), "--tolerance", "1e-3", "--tolerance", "1e-6", "--set",
                    "nsgs.max_sweeps=30", "--set", "ipm.max_steps=60", "--csv", "out.csv", "--json", "out.json",
                    code=UNSOLVED)
    run_ok("plot", "performance-profile", "out.csv", "--profile", "profile.csv", folder=folder)
    said = json.loads((folder / "out.json").read_text())
    rows = list(csv.DictReader((folder / "out.csv").open(newline="")))
    check([(row["file"], row["solver"]) for row in rows] == [(file, solver) for file in files for solver in chosen],
          "a row for each file and solver", rows)
    check(said["ranks"] == 1 and said["measure"] == "fclib" and said["tolerances"] == [1e-3, 1e-6], "the head", said)
    for row, solve in zip(rows, said["solves"], strict=True):
        check(solve["file"] == row["file"] and solve["converged"] == (row["converged"] == "1"), "JSON and CSV agree", solve)
        times = [entry["seconds"] for entry in solve["reached"] if entry["solved"]]
        check(times == sorted(times) and all(time <= solve["seconds"]["solve"] * 1.01 for time in times),
              "times to tolerances", solve)
        check(bool(times) == (row["seconds_to_0.001"] != ""), "JSON and CSV have the same times", row)
        check(solve["trace"] and solve["trace"][-1][1] <= solve["seconds"]["solve"], "the trace", solve["trace"][-1])
    profile = list(csv.DictReader((folder / "profile.csv").open(newline="")))
    for tolerance, column in ((1e-3, "seconds_to_0.001"), (1e-6, "seconds_to_1e-06")):
        part = [row for row in profile if float(row["tolerance"]) == tolerance]
        solved = {solver: sum(row["solver"] == solver and row[column] != "" for row in rows) for solver in chosen}
        check(sum(solved.values()) > 0, "something is solved", solved)
        for solver in chosen:
            check_close(float(part[-1][solver]), solved[solver] / len(files), f"share that {solver} solves", absolute=1e-12)
            summary, = [entry for entry in said["summary"]
                        if entry["solver"] == solver and entry["tolerance"] == tolerance]
            times = [float(row[column]) for row in rows if row["solver"] == solver and row[column]]
            check(summary["solved"] == solved[solver] and summary["files"] == len(files), "the summary counts", summary)
            check_close(summary["seconds"], sum(times), "summed seconds", relative=1e-2)
        check(part[0]["tau"] == "1", "from the fastest on", part)
        check(sum(float(part[0][solver]) for solver in chosen) >= 1 - 1e-12, "each file has a fastest solver", part)
    check(any(row["converged"] == "0" for row in rows) and any(row["converged"] == "1" for row in rows), "some of both", rows)
    for line in result.stdout.splitlines():
        check(len(line) <= 160, "lines of a wide terminal", line)


def test_the_natural_residual_as_measure(folder):
    name = generate(folder, "stack", size=4)
    row, = solves(folder, name, "--measure", "natural", "--tolerance", "1e-9", ranks=2)
    check(row["confirmed"] and row["residual"]["natural"] <= 1e-9, "reached", row)
    check_close(larger(row["checked"]), larger(row["residual"]), "the FCLIB measures are reported as well", relative=0.5)


def test_long_traces_are_thinned_out(folder):
    name = generate(folder, "wall", size=5)
    row, = solves(folder, name, "--solver", "nsgs", "--set", "nsgs.max_sweeps=2500", "--tolerance", "1e-15", code=UNSOLVED)
    trace = row["trace"]
    check(100 < len(trace) <= 200, "samples", len(trace))
    check(trace[0][0] == 0 and trace[-1][0] == row["counts"]["sweeps"], "from the first to the last", (trace[0], trace[-1]))
    check(all(one[0] < other[0] for one, other in zip(trace, trace[1:])), "each once, in order", trace)


def test_all_solvers(folder):
    name = generate(folder, "sliding", size=2)
    listed = [line.split()[0] for line in run_ok("list", "solvers", "--laboratory").stdout.splitlines()[1:] if line.strip()]
    rows = solves(folder, "--solver", "all", name, "--tolerance", "1e-5")
    check([row["solver"] for row in rows] == listed, "every one that is registered", rows)
    check(all(row["confirmed"] for row in rows), "and each solves it", rows)


def test_problems_of_the_collection(folder):
    """Local and global, finite elements, rigid bodies, unsymmetric masses, scales far from 1."""
    collection = source_folder().parent / "shared/fclib"
    if not collection.is_dir():
        pytest.skip("../shared/fclib is not there")
    files = [collection / f"{name}.hdf5" for name in (
        "Tiny__FC3D_Example1", "Tiny__GFC3D_Example0", "Tiny__GFC3D_Example00_badly_scaled", "Tiny__GFC3D_OneContact",
        "Rover__Rover1039", "OneObject__OneObject-i1028-138", "LMGC__CubeH8", "LMGC__GFC3D-i00501-4-00000",
        "Rods__GFC3D_TwoRods1", "BulletBoxes__n60-nc61-s1-i0049", "BulletSpheres__n200-nc151-s1-i0039")]
    for ranks in (1, 3):
        rows = solves(folder, *files, "--tolerance", "1e-8", ranks=ranks)
        check(len(rows) == len(files) and all(row["confirmed"] for row in rows), "all are solved and confirmed", rows)
        forms = {row["file"].split("__")[0]: (row["form"], row["solved_as"]) for row in rows}
        check(forms["BulletSpheres"] == ("global", "global") and forms["Rover"] == ("local", "local") and
              forms["LMGC"] == ("global", "local"), "how they are solved", forms)
