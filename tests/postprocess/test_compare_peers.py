"""compare-peers.py: what it says of beds is right where the answer is known, and codes that are not there are left out."""
import contextlib
import importlib.util
import io
import json

import numpy as np

from bed_numbers import bed_numbers
from scree_program import check, check_close, program, source_folder

SIDE, LAYERS, D = 8, 12, 0.01


def load_script():
    spec = importlib.util.spec_from_file_location("compare_peers", source_folder() / "scripts/compare-peers.py")
    module = importlib.util.module_from_spec(spec)
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


def test_codes_that_are_absent_are_left_out(folder):
    script = load_script()
    script.PEERS = {name: ("no-such-program", *rest) for name, (_, *rest) in script.PEERS.items()}
    said, printed = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(printed):
        script.main(["--bin", str(program().parent), "--out", str(folder / "peers"), "--tasks", "pour", "--ranks", "1", "--seconds",
                     "0.01", "--repetitions", "1"])
    check("lammps is left out" in said.getvalue() and "apt-get install liggghts" in said.getvalue(), "absent codes are named")
    rows = json.loads((folder / "peers/peers.json").read_text())
    check([row["code"] for row in rows] == ["scree-dem", "scree-nonsmooth"], "the codes that are there have their rows")
    for row in rows:
        # 10 ms of free fall from rest: nothing has touched, v = g t.
        check_close(row["kinetic"], 0.5 * 9.81 * 0.01**2 / 0.01, "spheres fall freely", absolute=0.01 * row["kinetic"])
        check_close(row["floor"], 0, "nobody rests on the floor yet", absolute=1e-12)
        check(np.isfinite([row["wall"], row["cpu"]]).all(), "times are there")
    check(printed.getvalue().count("\n| pour |") == 2, "the table has both rows")
