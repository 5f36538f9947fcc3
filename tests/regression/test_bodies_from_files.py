"""Bodies that another program, or scree itself, has written: what a run takes of them, and what it says about the rest."""
import json

from decks import grains, lattice, uniform
from refusal import refused
from scree_program import check, check_in, read_arrays, run_ok

LATTICE = {"radius": uniform("5 cm", "6 cm"), "source": lattice(0.13, [0, 0], [2, 0.6])}
DUMP = {"type": "file", "path": "dump.lammpstrj"}


def write(folder, name, stones, end="0.3 s"):
    path = folder / name
    path.write_text(grains({
        "simulation.seed": 2, "domain.upper": [2, 2], "domain.periodic": [True, False], "particles.stones": stones,
        "pairs.stone-stone": {"friction": 0.5, "restitution": 0.3, "stiffness": "1e7 N/m"}, "output.h5md.every": "50 ms"},
        scheme="dem", end=end, step="0.1 ms"))
    return path


def log_of(folder, name):
    return (folder / "results" / name / f"{name}.log").read_text()


def test_scree_reads_what_it_wrote(folder):
    run_ok("run", write(folder, "first.toml", LATTICE), folder=folder)
    record = folder / "results/first/first.h5"
    deck = write(folder, "second.toml", {"source": {"type": "file", "path": str(record)}}, end="10 ms")
    hashes = set()
    for ranks in (1, 3):
        run_ok("run", deck, "--force", folder=folder, ranks=ranks)
        hashes.add(json.loads((folder / "results/second/summary.json").read_text())["state_hash"])
    check(len(hashes) == 1, "the same bits on any number of ranks", hashes)
    before, after = read_arrays(record), read_arrays(folder / "results/second/second.h5")
    for name in ("velocity", "angular_velocity", "orientation"):
        check((before[f"particles/all/{name}/value"][-1] == after[f"particles/all/{name}/value"][0]).all(),
              f"{name} is taken as it was")
    log = log_of(folder, "second")
    check_in("deepest overlap at the start: body", log, "soft contact is reported")
    check_in("up to 0.03 is accepted", log, "and how much of it is accepted")
    check_in("first.h5: not taken: image, mass, type", log, "what is not taken is named")
    deck = write(folder, "strict.toml", {"source": {"type": "file", "path": str(record), "overlap_limit": 1e-5}})
    refused(folder, "run", deck, words=("overlaps", "up to 1e-05 is accepted", "simulation.allow_overlap = true"))


def test_a_dump_of_lammps_is_read_and_what_is_left_out_is_said(folder):
    (folder / "dump.lammpstrj").write_text(
        "ITEM: UNITS\nlj\nITEM: TIMESTEP\n500\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS pp ff pp\n0 3\n0 2\n-1 1\n"
        "ITEM: ATOMS id type x y z radius vx vy vz omegaz\n7 1 2.5 1 0 0.1 1 0 0 3\n3 2 1 1.5 0 0.1 0 0 0 0\n")
    deck = write(folder, "dump.toml", {"source": DUMP}, end="1 ms")
    run_ok("run", deck, folder=folder, ranks=2)
    start = read_arrays(folder / "results/dump/dump.h5")
    check((start["particles/all/position/value"][0] == [[1, 1.5], [0.5, 1]]).all(), "bodies in the order of ids, wrapped",
          start["particles/all/position/value"][0])
    check((start["particles/all/velocity/value"][0] == [[0, 0], [1, 0]]).all(), "velocities are taken")
    log = log_of(folder, "dump")
    for words in ("numbered from 0 in the order of their ids", 'its units are "lj"', "not taken: type, z, vz",
                  "its box goes from (0, 0) to (3, 2) m, the domain of the run from (0, 0) to (2, 2) m"):
        check_in(words, log, "what the log says")
    deck = write(folder, "both.toml", {"velocity": [0, 1], "source": DUMP})
    refused(folder, "run", deck, words=("gives velocities", "velocities = false"))
