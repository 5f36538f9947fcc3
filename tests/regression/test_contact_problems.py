"""Contact problems of a run as FCLIB files: which steps, what is in them, the same on any number of ranks and after a
restart, and the way back to bodies and obstacles that docs/how-to/contact-problems.md shows."""
import csv
import re

import h5py
import numpy as np

from decks import grains, lattice, uniform
from scree_program import check, check_close, check_in, run_ok, source_folder

DECK = {
    "domain": {"lower": [0, -0.5], "upper": [1, 2]}, "solver": {"type": "nsgs", "tolerance": 1e-6},
    "decomposition.block_cells": 2, "pairs.stone-stone.friction": 0.4,
    "particles.grains": {"radius": uniform("3 cm", "5 cm"), "source": lattice(0.1, [0, 0], [1, 0.6]), "velocity": [0.5, -1],
                         "random_speed": 1},
    "obstacles.bin": {"type": "box", "lower": [0, -0.4], "upper": [1, 2], "side": "inside"}}
UNSOLVED = ("--set", "solver.tolerance=1e-12", "--set", "solver.max_sweeps=3")
HALF = ("--set", "simulation.end_time=0.06")


def run(folder, where, *arguments, ranks=1):
    """Runs the deck; returns its results folder where/grains."""
    (folder / "grains.toml").write_text(grains(DECK | {"output.fclib.every_steps": 5}))
    run_ok("-q", "run", "grains.toml", "--set", f"output.directory={where}", *arguments, ranks=ranks, folder=folder)
    return folder / where / "grains"


def problems_in(results, kind="fclib"):
    """The files of one kind: step -> content."""
    files = {path.name: path.read_bytes() for path in sorted(results.iterdir()) if ".hdf5" in path.name}
    names = {name: re.fullmatch(r"grains\.(fclib|failed)_(\d{9})\.hdf5", name) for name in files}
    check(all(names.values()), "names are NAME.fclib_STEP.hdf5 or NAME.failed_STEP.hdf5", list(names))
    return {int(match[2]): files[name] for name, match in names.items() if match[1] == kind}


def unsolved_steps(results):
    """What the certificate says."""
    with open(results / "grains.certificate.csv", newline="") as file:
        return [int(row["step[-]"]) for row in csv.DictReader(file) if float(row["solved[-]"]) == 0 and int(row["step[-]"]) > 0]


def opened(path):
    return h5py.File(path)


def dense(group):
    matrix = np.zeros((group["m"][0], group["n"][0]))
    np.add.at(matrix, (group["i"][:], group["p"][:]), group["x"][:])
    return matrix


def check_consistent(file, group, with_impulses=True):
    """v and u of a group follow from its r by the equations of the file. Returns r."""
    M, H = dense(file["fclib_global/M"]), dense(file["fclib_global/H"])
    f, w = (file["fclib_global/vectors"][name][:] for name in "fw")
    v, u, r = (file[group][name][:] for name in "vur")
    check(not with_impulses or np.abs(r).max() > 0, f"{group} has impulses")
    for left, right, terms in ((M @ v, H @ r + f, (M @ v, H @ r, f)), (u, H.T @ v + w, (H.T @ v, w))):
        scale = max(np.abs(term).max() for term in terms)
        check_close(np.abs(left - right).max(), 0, f"{group} solves the equations of motion", absolute=1e-13 * scale)
    return r


def test_every_fifth_step_on_any_number_of_ranks(folder):
    alone = problems_in(run(folder, "on1"))
    check(list(alone) == [5, 10, 15, 20], "every fifth step, and none for the start", list(alone))
    check(len(set(alone.values())) == 4, "each step has a problem of its own")
    check(problems_in(folder / "on1/grains", "failed") == {}, "all were solved")
    for ranks in (2, 3):
        check(problems_in(run(folder, f"on{ranks}", ranks=ranks)) == alone, f"the same bytes on {ranks} ranks")
    by_time = problems_in(run(folder, "by_time", "--set", "output.fclib.every_steps=2", "--set", "output.name=grains"))
    check(list(by_time) == list(range(2, 21, 2)) and by_time[10] == alone[10], "a file does not depend on the others")
    (folder / "grains.toml").write_text(grains(DECK | {"output.fclib.every": "25 ms"}))
    run_ok("-q", "run", "grains.toml", "--force", ranks=2, folder=folder)
    check(problems_in(folder / "results/grains") == alone, "the same at every 25 ms")


def test_what_is_in_a_file(folder):
    whole = run(folder, "whole", ranks=2)
    parts_of_box = set()
    for path in whole.glob("grains.fclib_*.hdf5"):
        with opened(path) as file:
            *_, b, part = file["scree/contact_key"][:].T
            parts_of_box |= set(part[b == -2])
    check(len(parts_of_box) > 1, "a box is touched at several parts", parts_of_box)
    with opened(whole / "grains.fclib_000000020.hdf5") as file:
        solution = check_consistent(file, "solution")
        guess = check_consistent(file, "guesses/1")
        check(list(file["guesses/number_of_guesses"]) == [1], "the warm start is the only guess")
        check((guess != solution).any(), "the solve did something to the warm start")
        r = solution.reshape(-1, 2)
        mu = file["fclib_global/vectors/mu"][:]
        check((r[:, 0] >= 0).all() and (np.abs(r[:, 1]) <= mu * r[:, 0] * (1 + 1e-12)).all(), "impulses obey Coulomb")
        u = file["solution/u"][:].reshape(-1, 2)
        check_close((r[:, 0] * u[:, 0]).sum(), 0, "contacts that part carry nothing", absolute=1e-3 * r[:, 0].sum())
        a, b, part = file["scree/contact_key"][:].T
        ids = file["scree/body_id"][:]
        check(set(a) | set(b[b >= 0]) <= set(ids) and (a < b)[b >= 0].all(), "keys name bodies, the smaller id first")
        check({-1, -2} == set(b[b < 0]), "both obstacles are touched, counted from -1", b)
        check(set(part[b == -1]) == {0} and (part[b >= 0] == 0).all(), "other contacts have one part", part)
        check(b"step 20, t = 0.095" in file["fclib_global/info/description"][()], "the description says when")
    with opened(run(folder, "bare", "--set", "output.fclib.guess=false", "--set", "output.fclib.solution=false")
                / "grains.fclib_000000020.hdf5") as file:
        check(set(file) == {"fclib_global", "scree"}, "neither guess nor solution if not asked for", list(file))


def test_info_describes_a_file(folder):
    path = run(folder, "whole") / "grains.fclib_000000020.hdf5"
    one, two = (run_ok("-q", "info", path, ranks=ranks).stdout for ranks in (1, 2))
    check(one == two, "two ranks say the same", f"{one}\n{two}")
    for word in ("FCLIB, global form, 2D", "180 velocities", "time step 0.005 s", "a solution", "guesses: 1", "grains",
                 "step 20"):
        check_in(word, one, "the description")
    check(re.search(r"^  mu +\d+: 0\.4 to 0\.4$", one, re.MULTILINE), "the range of mu", one)
    check(re.search(r"^  M +180 x 180, 180 entries: ", one, re.MULTILINE), "the size of M", one)


def test_a_restart_writes_the_same_files(folder):
    whole = problems_in(run(folder, "whole", *UNSOLVED))
    unsolved = problems_in(folder / "whole/grains", "failed")
    steps = unsolved_steps(folder / "whole/grains")
    check(len(steps) > 12 and list(unsolved) == steps[:10], "the first ten that were not solved", (steps, list(unsolved)))
    both = [step for step in whole if step in unsolved]
    check(both and all(unsolved[step] == whole[step] for step in both), "a step that is due and unsolved: the same problem")
    some = (*UNSOLVED, "--set", "output.fclib.on_failure=14")
    results = run(folder, "halves", *some, *HALF, "--set", "output.checkpoint.every_steps=5", "--set",
                  "output.checkpoint.keep=9", ranks=3)
    so_far = [step for step in steps if step <= 12]
    check(list(problems_in(results, "failed")) == so_far and 5 < len(so_far) < 14, "those of the first part", so_far)
    for checkpoint in (12, 5):
        run_ok("-q", "restart", f"halves/grains/checkpoint/grains_{checkpoint:09}.scree", "--set",
               "simulation.end_time=0.1", ranks=2, folder=folder)
        check(problems_in(results) == whole, f"the files of the whole run, from step {checkpoint}")
        failed = problems_in(results, "failed")
        check(list(failed) == steps[:14], "failures before a restart count", list(failed))
        check(all(failed[step] == content for step, content in unsolved.items()), "and are the same")
    (results / "grains.fclib_000000030.hdf5.part").write_bytes(b"half")
    run_ok("-q", "restart", "halves/grains/checkpoint/grains_000000005.scree", "--set", "simulation.end_time=0.06",
           folder=folder)
    check(list(problems_in(results)) == [5, 10] and list(problems_in(results, "failed")) == so_far,
          "what is later than the checkpoint is gone")


def test_problems_that_were_not_solved(folder):
    results = run(folder, "some", *UNSOLVED, "--set", "output.fclib.on_failure=2")
    steps = unsolved_steps(results)[:2]
    check(list(problems_in(results, "failed")) == steps, "the first two", steps)
    with opened(results / f"grains.failed_{steps[1]:09}.hdf5") as file:
        check("solution" not in file and list(file["guesses/number_of_guesses"]) == [2], "what was reached is a guess")
        start, reached = (check_consistent(file, f"guesses/{k}", with_impulses=k == 2) for k in (1, 2))
        check((start != reached).any(), "the second guess is where the solver got to")
    run(folder, "some", "--force", "--set", "output.fclib.every_steps=7")
    check(problems_in(results, "failed") == {} and list(problems_in(results)) == [7, 14],
          "--force takes the files of the run before")
    check(problems_in(run(folder, "none", *UNSOLVED, "--set", "output.fclib.on_failure=0"), "failed") == {}, "none if 0")
    (folder / "grains.toml").write_text(grains(DECK))
    run_ok("-q", "run", "grains.toml", *UNSOLVED, folder=folder)
    check(len(problems_in(folder / "results/grains", "failed")) == 10 and not problems_in(folder / "results/grains"),
          "ten without the table, and no others")


def test_the_way_back_in_the_documents(folder):
    results = run(folder, "whole")
    text = (source_folder() / "docs/how-to/contact-problems.md").read_text()
    code = next(block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "contact_key" in block)
    name = "results/grains/grains.fclib_000000020.hdf5"
    check_in(name, code, "the document reads this file")
    path = results / "grains.fclib_000000005.hdf5"      # bodies are far apart then
    with opened(path) as file:
        M, v_free = dense(file["fclib_global/M"]), file["scree/free_velocity"][:].ravel()
        given = (M @ (file["solution/v"][:] - v_free)).reshape(len(v_free) // 3, 3)
        ids = file["scree/body_id"][:]
    names = {}
    exec(compile(code.replace(f'"{name}"', repr(str(path))), "contact-problems.md", "exec"), names)
    error = np.abs(names["on_bodies"] - given).max()
    check_close(error, 0, "H r is what bodies gained", absolute=1e-13 * np.abs(given).max())
    r, a, b = names["r"], names["a"], names["b"]
    floor = b == -1
    check(names["on_obstacle"] > 0, "the floor carries something")
    check_close(names["on_obstacle"], r[floor, 0].sum(), "that of the floor", relative=1e-14)
    # The floor's normal is y: where it alone touches a body it lifts it by r_N.
    alone = [c for c in np.flatnonzero(floor) if (a == a[c]).sum() + (b == a[c]).sum() == 1]
    for c in alone:
        check_close(names["on_bodies"][ids == a[c]][0, 1], r[c, 0], f"lift of body {a[c]}", relative=1e-12)
    check(len(alone) > 0, "there is such a body")
