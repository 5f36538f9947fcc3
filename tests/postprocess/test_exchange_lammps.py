"""Exchange with LAMMPS and LIGGGHTS: what a run writes as a data file is read again bit by bit, and runs; files of theirs are
read; what cannot be taken is named."""
import re
import subprocess

import numpy as np
import pytest

import scree
from scree import exchange
from scree_program import check, check_close, check_in, program, python_command, source_folder

POUR = {"simulation": {"dimension": 3, "scheme": "nonsmooth", "end_time": 0.05, "seed": 2},
        "domain": {"lower": [0, 0, -0.1], "upper": [0.1, 0.1, 0.3], "periodic": [True, True, False]},
        "time": {"step": 0.005}, "physics": {"gravity": [0, 0, -9.81]},
        "materials": {"glass": {"density": 2500}, "iron": {"density": 7800}},
        "pairs": {"glass-glass": {"friction": 0.5, "restitution": 0}, "glass-iron": {"friction": 0.5, "restitution": 0},
                  "iron-iron": {"friction": 0.5, "restitution": 0}},
        "solver": {"type": "nsgs"},
        "particles": {name: {"material": name, "random_speed": 0.3,
                             "radius": {"distribution": "uniform", "min": 0.003, "max": 0.005},
                             "source": {"type": "lattice", "count": 500,
                                        "region": {"lower": [0, 0, low], "upper": [0.1, 0.1, low + 0.1]}}}
                      for name, low in (("glass", 0.0), ("iron", 0.12))},
        "output": {"name": "pour", "h5md": {"every": 0.05}}}

DATA = """\
LAMMPS data file via write_data, version 23 Jun 2022, timestep = 10, units = {units}

3 atoms
2 atom types
0 bonds

-1 1 xlo xhi
-1 1 ylo yhi
0 4 zlo zhi
{more}
Masses

1 1
2 1

Atoms # {style}

7 2 0.2 7800 0.25 -0.5 1 0 0 0
3 1 0.1 2500 0.5 0.5 2 0 0 0
5 1 0.3 2500 -0.5 0.5 3 0 -1 0

Velocities

3 1 2 3 4 5 6
7 -1 0 0 0 0 0.5
"""

DUMP = """\
ITEM: TIMESTEP
0
ITEM: NUMBER OF ATOMS
1
ITEM: BOX BOUNDS pp pp ff
0 9
0 9
0 9
ITEM: ATOMS id type x y z radius
1 1 5 5 5 5
ITEM: TIMESTEP
100
ITEM: NUMBER OF ATOMS
2
ITEM: BOX BOUNDS pp ff pp
0 2
-1 1
0 4
ITEM: ATOMS id type xs ys z diameter mass vx vy vz omegax fx
2 1 0.25 0.5 1 0.2 0.01 1 2 3 4 9
1 2 0.5 0.75 2 0.1 0.001 0 0 0 0 9
"""


@pytest.fixture(autouse=True)
def in_folder(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SCREE", str(program()))


def script(*words):
    return subprocess.run(python_command("exchange", *words), capture_output=True, text=True)


def test_there_and_back(folder):
    """1000 spheres: exported, read again and run for no time at all they are where they were, to the last bit."""
    results = scree.run(POUR, progress=False)
    said = script("export", "results/pour")
    check(said.returncode == 0 and said.stdout.strip() == "results/pour/pour.data", "the script writes the last frame", said)
    bodies, packing = results.bodies(-1), exchange.read("results/pour/pour.data")
    check(len(packing.ids) == 1000 and (packing.ids == bodies["id"] + 1).all(), "all spheres, ids from 1 on")
    check((packing.types == bodies["type"] + 1).all(), "types of bodies")
    for mine, theirs in ((packing.x, "position"), (packing.velocity, "velocity"), (packing.spin, "angular_velocity")):
        check((mine == bodies[theirs]).all(), f"{theirs}: the same bits")
    check((packing.radius == bodies["radius"]).all(), "radii: the same bits")
    check_close(np.unique(packing.density.round(6)).tolist()[0], 2500, "density of glass", relative=1e-9)

    path = exchange.write_deck(packing, folder, "nonsmooth")
    with pytest.raises(scree.RunError, match="step"):
        scree.run(path, progress=False)
    deck = scree.Deck(path)
    check(deck["materials.type1.density"] == 2500 and deck["materials.type2.density"] == 7800, "densities without round-off", deck)
    deck["time.step"] = 0.005
    deck["physics.gravity"] = [0, 0, -9.81]
    deck["simulation.end_time"] = 0.005
    deck["domain.periodic"] = [True, True, False]
    deck["solver.type"] = "nsgs"
    deck["simulation.allow_overlap"] = True
    deck["output.h5md.every"] = 1
    deck["output.name"] = "again"
    for pair in ("type1-type1", "type1-type2", "type2-type2"):
        deck[f"pairs.{pair}"] = {"friction": 0.5, "restitution": 0}
    start = scree.run(deck, progress=False).bodies(0)
    wrapped = bodies["position"].copy()
    wrapped[:, :2] %= 0.1
    order = np.lexsort(start["position"].T), np.lexsort(wrapped.T)
    check_close(np.abs(start["position"][order[0]] - wrapped[order[1]]).max(), 0, "they start where they were", absolute=1e-15)
    check((start["velocity"][order[0]] == bodies["velocity"][order[1]]).all(), "with the same velocities")


def test_a_data_file(folder):
    (folder / "some.data").write_text(DATA.format(units="si", style="sphere", more=""))
    packing = exchange.read("some.data")
    check(packing.ids.tolist() == [3, 5, 7] and packing.types.tolist() == [1, 1, 2], "in order of ids", packing)
    check(packing.radius.tolist() == [0.05, 0.15, 0.1] and packing.x[2].tolist() == [0.25, -0.5, 1], "radii and centres", packing)
    check(packing.velocity.tolist() == [[1, 2, 3], [0, 0, 0], [-1, 0, 0]], "velocities", packing)
    check(packing.spin[0].tolist() == [4, 5, 6], "spins", packing)
    check(packing.left_out == ["Masses"] and packing.upper.tolist() == [1, 1, 4], "box, and what was left out", packing)
    (folder / "some.data").write_text(DATA.format(units="cgs", style="sphere", more=""))
    packing = exchange.read("some.data")
    check_close(packing.radius[2], 1e-3, "centimetres", relative=1e-15)
    check(packing.density[2] == 7.8e6 and packing.velocity[0, 2] == 0.03 and packing.spin[0, 2] == 6, "g/cm3, cm/s, 1/s", packing)


def test_the_last_frame_of_a_dump(folder):
    (folder / "dump.some").write_text(DUMP)
    packing = exchange.read("dump.some")
    check(packing.x.tolist() == [[1, 0.5, 2], [0.5, 0, 1]], "scaled and plain columns", packing)
    check(packing.radius.tolist() == [0.05, 0.1], "radii from diameters", packing)
    check(packing.periodic == (True, False, True), "faces", packing)
    check_close(packing.density[1], 0.01 / (4 / 3 * np.pi * 1e-3), "density from the mass", relative=1e-12)
    check(packing.left_out == ["fx"] and packing.spin[1].tolist() == [4, 0, 0], "what was left out", packing)
    packing.density[:], packing.types[:] = [1, 2], 1
    with pytest.raises(exchange.ExchangeError, match="type 1 has densities from 1 to 2"):
        exchange.write_deck(packing, "refused")
    said = script("import", "dump.some", "--folder", "decks")
    check(said.returncode == 0 and (folder / "decks/dump_type2.csv").exists(), "a deck with a table for each type", said)


def test_what_is_refused(folder):
    whole = DATA.format(units="si", style="sphere", more="")
    for text, message in ((DATA.format(units="lj", style="sphere", more=""), "units = lj"),
                          (DATA.format(units="si", style="atomic", more=""), "atom_style atomic"),
                          ("LIGGGHTS Description" + whole[whole.index("\n"):], ":1: YADE writes radii where"),
                          (DATA.format(units="si", style="sphere", more="0 0 0 xy xz yz"), ":10: the box is triclinic"),
                          (whole.replace("3 1 0.1", "3 1 x"), ":19: numbers are wanted"),
                          (whole.replace("3 1 0.1 2500", "3 1 0.1"), ":19: id type diameter"),
                          (whole.replace("3 atoms", "4 atoms"), "3 lines of atoms"),
                          (whole.replace("7 2 0.2", "7 2 0.0"), "body 7 has no radius"),
                          (whole.replace("7 2 0.2", "7 2.5 0.2"), ":18: type 2.5 is no whole number"),
                          (whole.replace("7 2 0.2", "5 2 0.2"), "id 5 occurs twice"),
                          (whole.replace("0 4 zlo zhi", ""), "a data file has the lines"),
                          (DUMP.replace("diameter", "charge"), "no column radius or diameter"),
                          (DUMP.rsplit("\n", 2)[0], "ends early"),
                          (DUMP[:DUMP.rindex("-1 1")], ":17: 2 numbers are wanted"),
                          (DUMP.replace("ITEM: BOX BOUNDS pp ff pp", "ITEM: BOX BOUNDS xy xz yz pp ff pp"), "triclinic")):
        (folder / "bad").write_text(text)
        with pytest.raises(exchange.ExchangeError, match=re.escape(message)):
            exchange.read("bad")
    said = script("import", "nowhere.data")
    check(said.returncode == 2, "exit code of bad input", said)
    check_in("scree: exchange: nowhere.data: No such file", said.stderr, "and says why")


def test_densities_of_a_dump_with_six_digits_are_one(folder):
    cases = source_folder() / "tests/reference/cases/grains"
    for name in ("mass", "density"):
        packing = exchange.read(cases / f"dump_six_digits/{name}.dump")
        check("density = 2500.0" in exchange.write_deck(packing, folder).read_text(), "one density, the one that was meant", packing.density)
    packing.density[:4] = 2500.11    # 4.4e-5 from the others
    with pytest.raises(exchange.ExchangeError, match="type 1 has densities from 2499.99 to 2500.11"):
        exchange.write_deck(packing, folder, overwrite=True)
    packing = exchange.read(cases / "dump_tutorial_columns/tutorial.dump")
    check(packing.density is None and packing.left_out == ["fx", "fy", "fz", "ix", "iy", "iz"], "what is left out", packing.left_out)
