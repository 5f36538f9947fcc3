"""The record NAME.h5: what it holds once, how its numbers are stored, and when NAME.xdmf shows it."""
import signal

import numpy as np

from decks import grains, plane, uniform
from scree_program import check, check_in, run_ok, scree, wait_for, without_launcher
from scree.results import Trajectory
from small_deck import long_deck

INTERRUPTED = 4
GRAINS = {
    "particles.grains": {"radius": uniform("1 cm", "2 cm"),
                         "source": {"type": "random", "count": 400, "region": {"lower": [0, 0.1], "upper": [1, 0.9]}}},
    "obstacles.left": plane([0, 0], [1, 0]), "obstacles.right": plane([1, 0], [-1, 0]),
    "output": {"h5md": {"every": "10 ms"}, "checkpoint": {"every": "50 ms"}}}


def record(folder, name, *settings, ranks=1):
    """The results folder of a run of these grains."""
    deck = folder / "grains.toml"
    deck.write_text(grains(GRAINS))
    more = [word for setting in settings for word in ("--set", setting)]
    run_ok("-q", "run", deck, *more, "--set", f"output.directory={name}", folder=folder, ranks=ranks)
    return folder / name / "grains"


def test_mass_is_stored_once_and_can_be_started_from(folder):
    results = record(folder, "all")
    with Trajectory(results / "grains.h5") as trajectory:
        mass, radius = (trajectory._group[name] for name in ("mass", "radius"))
        check(mass.shape == (400,) and radius.shape == (400,), "one mass and one radius per body", list(mass))
        check(trajectory.unit("mass") == "kg", "the unit", trajectory.unit("mass"))
        check(np.allclose(trajectory.field("mass", -1), 2500 * np.pi * trajectory.radius(0)**2, rtol=1e-14), "masses of disks")
        check(trajectory.n_frames == 11, "frames", trajectory.n_frames)
    deck = folder / "again.toml"
    deck.write_text(grains(GRAINS | {"particles.grains": {"source": {"type": "file", "path": str(results / "grains.h5"),
                                                                    "overlap_limit": 0.1}}}))
    run_ok("-q", "run", deck, "--set", "simulation.end_time=0.01", folder=folder, ranks=2)


def test_compressed_and_short_numbers_are_those_of_the_plain_record(folder):
    plain = record(folder, "plain")
    packed = record(folder, "packed", "output.h5md.compression=9", ranks=2)
    check_in("are bitwise equal", run_ok("compare", plain, packed).stdout, "compressed")
    record(folder, "pieces", "output.h5md.compression=9", "simulation.end_time=0.055")
    latest = sorted((folder / "pieces/grains/checkpoint").glob("*.scree"))[-1]
    run_ok("-q", "restart", latest, "--set", "simulation.end_time=0.1", folder=folder, ranks=2)
    check_in("are bitwise equal", run_ok("compare", plain, folder / "pieces/grains").stdout, "in pieces")
    short = record(folder, "short", 'output.h5md.precision="single"', "output.h5md.compression=9", ranks=2)
    size = {results: (results / "grains.h5").stat().st_size for results in (plain, packed, short)}
    check(size[short] < size[packed] < size[plain], "sizes", size)
    with Trajectory(plain / "grains.h5") as a, Trajectory(short / "grains.h5") as b:
        for name in ("position", "velocity", "mass", "angular_velocity"):
            check(b.field(name, -1).dtype == np.float32, f"{name} has 32 bits")
            check((b.field(name, -1) == a.field(name, -1).astype(np.float32)).all(), f"{name} is the rounded one")


def shows_all(results):
    with Trajectory(results / "small.h5") as trajectory:
        shown = (results / "small.xdmf").read_text().count("<Topology")
        check(shown == trajectory.n_frames > 1, "all frames are shown", (shown, trajectory.n_frames))


def test_what_shows_the_record_to_paraview_is_written_at_the_end_however_it_comes(folder):
    deck = long_deck(folder)
    often = ("--set", "output.h5md.every=1", "--set", "output.checkpoint.every=1")
    for name, number in (("stopped", signal.SIGTERM), ("killed", signal.SIGKILL)):
        results = folder / name / "small"
        xdmf = results / "small.xdmf"
        command = ("-q", "run", deck, *often, "--set", f"output.directory={name}")
        process = without_launcher(*command, folder=folder)
        wait_for(lambda: len(list(results.glob("checkpoint/*.scree"))) > 1, "the run goes on")
        check(not xdmf.exists(), "none while the run goes on")
        process.send(number)
        code = process.finish(timeout=60).code
        check((code == INTERRUPTED) == (name == "stopped") == xdmf.exists(), f"{name}: exit code {code}")
        if name == "stopped":
            shows_all(results)
        result = scree(*command, "--resume", "--max-wall-time", "0.1", folder=folder, ranks=2)
        check(result.code == INTERRUPTED, "it goes on", result)
        shows_all(results)
