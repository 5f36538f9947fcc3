"""compare-peers.py: what it says of beds and silos is right where the answer is known; codes that are not there are left out."""
import contextlib
import importlib.util
import io
import json
import shutil
import sys

import numpy as np
import pytest

from bed_numbers import bed_numbers
from scree_program import check, check_close, program, source_folder

SIDE, LAYERS, D = 8, 12, 0.01


def load_script():
    spec = importlib.util.spec_from_file_location("compare_peers", source_folder() / "scripts/compare-peers.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["compare_peers"] = module    # its data classes ask for it
    spec.loader.exec_module(module)
    return module


def cubic_bed(spacing):
    sites = np.stack(np.meshgrid(np.arange(SIDE), np.arange(SIDE), np.arange(LAYERS), indexing="ij"), -1).reshape(-1, 3)
    return (sites + [0, 0, 0.5]) * spacing


def test_numbers_of_a_cubic_bed(folder):
    """Spheres that touch on a simple cubic lattice: six contacts each, pi/6 of the space; periodic faces count, and a lattice
    that is 2 % wider has no contacts."""
    bed = bed_numbers(cubic_bed(D), (SIDE * D, SIDE * D), D)
    check_close(bed.height, LAYERS * D, "height is that of the lattice", absolute=1e-12)
    check_close(bed.solid_fraction, np.pi / 6, "solid fraction is that of a cubic lattice", absolute=1e-9)
    check_close(bed.coordination, 6, "each sphere of the bulk has six contacts", absolute=0)
    wide = bed_numbers(cubic_bed(1.02 * D), (SIDE * 1.02 * D, SIDE * 1.02 * D), D)
    check_close(wide.coordination, 0, "gaps of 2 % are no contacts", absolute=0)


def test_floor_force(folder):
    """Hertz: F = 4/3 E* sqrt(R) d^1.5 with E* = E / (2 (1 - nu^2)), of each sphere that is lower than its radius."""
    script = load_script()
    depth = 1e-5
    z = np.array([D / 2 - depth, D / 2 - depth, D / 2 + depth])
    expected = 2 * 4 / 3 * 1e7 / (2 * (1 - 0.09)) * np.sqrt(D / 2) * depth**1.5
    check_close(script.hertz_floor_force(z), expected, "the force of two spheres", absolute=1e-12 * expected)


def test_rate_of_a_silo(folder):
    """LIGGGHTS's own lines: 40 spheres leave, one each 10 ms from 0.2 s after the opening on; none may be lost before it."""
    script = load_script()
    opened, end, start = 1000, 13000, script.silo(50)
    steps = [*range(0, opened + 1, 200), *range(opened, end + 1, 200)]
    lines = [(step, 50 - min(40, max(0, (step - opened) // 200 - 20))) for step in steps]
    text = "Step Atoms \n" + "".join(f"{step:8} {count:8} \n" for step, count in lines) + "Ave neighs/atom = 1 \n"
    (folder / "output.txt").write_text(text)
    state = script.silo_state("liggghts", start, [opened, end - opened], folder)
    check(state["remain"] == 10, "40 of 50 have left", state)
    check_close(state["rate"], (30 - 0) / 0.35, "between 0.15 s and 0.5 s 30 leave", relative=1e-12)
    (folder / "output.txt").write_text(text.replace(f"{opened:8}       50", f"{opened:8}       49"))
    with pytest.raises(script.Failure, match="49 spheres are in the closed silo of 50"):
        script.silo_state("liggghts", start, [opened, end - opened], folder)


def test_floor_with_an_outlet(folder):
    """Triangles of the ring from 3 to 9.5 diameters, seen from above counterclockwise; 64 sides for a circle lose 0.2 %."""
    load_script().write_annulus(folder / "floor.stl")
    words = [line.split() for line in (folder / "floor.stl").read_text().splitlines()]
    a, b, c = np.array([line[1:] for line in words if line[0] == "vertex"], dtype=float).reshape(-1, 3, 3).swapaxes(0, 1)
    areas = np.cross(b - a, c - a)[:, 2] / 2
    check(areas.min() > 0 and not a[:, 2].any(), "all lie in z = 0 and look up")
    check_close(areas.sum(), np.pi * (0.095**2 - 0.03**2), "they cover the ring", relative=2e-3)


def words_for(folder):
    return ["--bin", str(program().parent), "--out", str(folder / "peers"), "--tasks", "pour"]


def test_loop_times_of_peers(folder):
    """The lines of LAMMPS 2022 and LIGGGHTS 3.8; all stages count."""
    script = load_script()
    lammps = "Loop time of 9 on 1 procs for 5 steps with 8 atoms\nLoop time of 0.2533 on 2 procs for 200 steps with 4096 atoms\n"
    check_close(script.loop_seconds(lammps), 9.2533, "LAMMPS", relative=1e-12)
    check(script.loop_seconds("Loop time of 11.5 on 1 procs for 20 steps with 4 atoms, finish time Mon\n") == 11.5, "LIGGGHTS")
    with pytest.raises(script.Failure):
        script.loop_seconds("ERROR: Lost atoms")


def test_repetitions_are_interleaved(folder):
    """Every code once, then again; the median counts, and a code that fails leaves the others alone."""
    script = load_script()
    options = script.parse([*words_for(folder), "--repetitions", "3", "--seconds", "0.5"])
    order, seconds = [], {"a": [3.0, 1.0, 2.0], "b": [5.0, 5.0, 5.5]}

    def run_once(task, code, start, ranks, _):
        order.append(code)
        if code == "c":
            raise script.Failure("c is broken")
        return seconds[code][order.count(code) - 1], 7.0, {"height": len(order)}

    script.run_once = run_once
    with contextlib.redirect_stderr(io.StringIO()):
        rows, all_well = script.measure("pour", ["a", "b", "c"], script.pour(), 1, options)
    check(order == ["a", "b", "c", "a", "b", "a", "b"] and not all_well, "one of each, then the next; c only once", order)
    check([row["code"] for row in rows] == ["a", "b"], "rows of what ran", rows)
    check_close(rows[0]["wall"], 2.0 / 0.5, "the median per simulated second", relative=1e-12)
    check_close(rows[0]["spread"], 1.0, "spread", relative=1e-12)
    check_close(rows[1]["spread"], 0.1, "spread", relative=1e-12)


def test_what_cannot_be_compared(folder):
    script = load_script()
    for words, expected in ((["--repetitions", "0"], "must be positive"), (["--bodies", "5000"], "multiples of 4096"),
                            (["--seconds", "nan"], "--seconds at least"), (["--silo-seconds", "1", "0"], "--silo-seconds too"),
                            (["--silo-bodies", "0"], "must be positive"), (["--bin", "nowhere"], "there is no scree in"),
                            (["--codes", "lamps"], "invalid choice: 'lamps'")):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), pytest.raises(SystemExit) as stop:
            script.parse([*words_for(folder), *words])
        check(stop.value.code == 2 and expected in said.getvalue(), f"{words} are refused", said.getvalue())
    path = folder / "peers.json"
    path.write_text(json.dumps({"processor": "another", "rows": []}))
    with pytest.raises(SystemExit) as stop:
        script.kept_rows(path, "this one")
    check("another processor" in stop.value.code, "rows of two processors are not mixed", stop.value)


# One layer of 120 spheres that do not touch: those above the outlet leave, the others stay.
SHALLOW = ["--silo-bodies", "120", "--silo-seconds", "0.1", "0.5", "--ranks", "1", "--repetitions", "1"]


def check_shallow_silo(script, row):
    x = script.silo(120).x
    above = (np.hypot(x[:, 0], x[:, 1]) < 0.03).sum()
    check(above == 16 and row["remain"] == 120 - above, f"{row['code']}: what is above the outlet leaves", row)


@pytest.mark.skipif(shutil.which("liggghts") is None, reason="liggghts is not installed")
def test_shallow_silo_of_liggghts(folder):
    script = load_script()
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        script.main([*words_for(folder), "--tasks", "silo", "--codes", "liggghts", *SHALLOW])
    rows = json.loads((folder / "peers/peers.json").read_text())["rows"]
    check(len(rows) == 1, "a row", rows)
    check_shallow_silo(script, rows[0])


def test_codes_that_are_absent_are_left_out(folder):
    script = load_script()
    script.PEERS = {name: ("no-such-program", *rest) for name, (_, *rest) in script.PEERS.items()}
    said, printed = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(printed):
        try:
            script.main([*words_for(folder), "--tasks", "pour", "silo", "--seconds", "0.01", *SHALLOW])
        except SystemExit as stop:
            raise AssertionError(said.getvalue()) from stop
    check("lammps is left out" in said.getvalue() and "apt-get install liggghts" in said.getvalue(), "absent codes are named")
    kept = json.loads((folder / "peers/peers.json").read_text())
    check(kept["processor"] in printed.getvalue() and "family" in kept["processor"], "the processor is named", kept)
    rows = kept["rows"]
    check([row["code"] for row in rows] == 2 * ["scree-dem", "scree-nonsmooth"], "the codes that are there have their rows")
    for row in rows[2:]:
        check_shallow_silo(script, row)
    for row in rows[:2]:
        # 10 ms of free fall from rest: nothing has touched, v = g t.
        check_close(row["kinetic"], 0.5 * 9.81 * 0.01**2 / 0.01, "spheres fall freely", absolute=0.01 * row["kinetic"])
        check_close(row["floor"], 0, "nobody rests on the floor yet", absolute=1e-12)
        check(0 < row["wall"] * row["simulated"] < row["program"], "steps take less than the program", row)
    for task in ("pour", "silo"):
        check(printed.getvalue().count(f"\n| {task} |") == 2, f"the table of {task} has both rows", printed.getvalue())
