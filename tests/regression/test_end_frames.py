"""The end of a run: every output has a frame of it, however the run ends; a run in pieces leaves the files of a run in
one; inlets and refused steps say what became of them."""
import csv
import json
import re
import signal
import time

import h5py

from decks import grains, plane, uniform
from refusal import failed
from scree_program import check, check_in, check_same_arrays, run_ok, scree, start
from small_deck import write_deck

GRAINS = {
    "particles.grains": {"radius": uniform("2 cm", "4 cm"),
                         "source": {"type": "random", "count": 40, "region": {"lower": [0, 0.1], "upper": [1, 0.9]}}},
    "obstacles.left": plane([0, 0], [1, 0]), "obstacles.right": plane([1, 0], [-1, 0]),
    "analysis.every": "40 ms", "measures.contacts": {"type": "coordination"},
    "measures.down": {"type": "flow", "point": [0, 0.4], "normal": [0, -1]},
    "output": {"certificate": {"every": "40 ms"}, "vtk": {"every": "40 ms"}, "h5md": {"every": "40 ms"},
               "checkpoint": {"every": "50 ms", "keep": 100}}}
STEPS = {"nonsmooth": "5 ms", "dem": "0.1 ms"}
STAGE = '[[stages]]\nname = "fill"\nuntil = {{ bodies_at_least = {}, max_time = "5 s" }}\n'
RAIN = """
[inlets.rain]
type = "pour"
radius = { distribution = "constant", value = "10 cm" }
rate = 10
count = 40
max_delay = "100 s"
region = { lower = [1, 2.5], upper = [5, 3.5] }
"""


def summary_of(results):
    return json.loads((results / "summary.json").read_text())


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def frames_of(results, series):
    text = (results / f"vtk/{results.name}_{series}.pvd").read_text()
    return [float(t) for t in re.findall(r'timestep="([^"]+)"', text)]


def record_of(results):
    with h5py.File(results / f"{results.name}.h5", "r") as file:
        return [float(t) for t in file["particles/all/position/time"]]


def check_end(results, what, tables=("scalars", "certificate")):
    """Every output has the end of the run, once."""
    end = summary_of(results)["time_s"]
    times = {name: [float(row[0]) for row in rows_of(results / f"{results.name}.{name}.csv")[1:]] for name in tables}
    times["particles"], times["contacts"] = frames_of(results, "particles"), frames_of(results, "contacts")
    times["h5"] = record_of(results)
    for name, list_of_times in times.items():
        check(list_of_times == sorted(set(list_of_times)), f"{what}: {name}: every time once", list_of_times)
        check(abs(list_of_times[-1] - end) < 1e-9, f"{what}: {name}: the last frame is the end, t = {end} s", list_of_times)
    return end


def check_same_files(whole, pieces, what):
    check_in("are bitwise equal", run_ok("compare", whole, pieces).stdout, f"{what}: compared")
    names = sorted(path.relative_to(whole) for path in whole.rglob("*") if path.suffix in (".csv", ".pvd", ".pvtp", ".xdmf"))
    others = sorted(path.relative_to(pieces) for path in pieces.rglob("*") if path.suffix in (".csv", ".pvd", ".pvtp", ".xdmf"))
    check(names == others and len(names) > 10, f"{what}: the same files", set(names) ^ set(others))
    for name in names:
        check((whole / name).read_bytes() == (pieces / name).read_bytes(), f"{what}: {name} is the same")
    check_same_arrays(whole / f"{whole.name}.h5", pieces / f"{whole.name}.h5", f"{what}: the record",
                      ignore=("parameters/resolved_deck",))


def test_the_end_time_needs_no_multiple(folder):
    for name, step in STEPS.items():
        deck = folder / f"{name}.toml"
        deck.write_text(grains(GRAINS, scheme=name, step=step, end="0.15 s"))
        run_ok("-q", "run", deck, folder=folder, ranks=2)
        results = folder / "results" / name
        check(abs(check_end(results, name) - 0.15) < 1e-9, f"{name}: it ends at 0.15 s")
        on_schedule = folder / f"{name}_on.toml"
        on_schedule.write_text(grains(GRAINS, scheme=name, step=step, end="0.12 s"))
        run_ok("-q", "run", on_schedule, folder=folder)
        check_end(folder / "results" / f"{name}_on", f"{name}, an end that the schedule has, too")
        check(len(frames_of(folder / "results" / f"{name}_on", "particles")) == 4, f"{name}: no frame twice")


def test_a_run_in_pieces_leaves_the_files_of_one_in_one(folder):
    for name, step in STEPS.items():
        deck = folder / f"{name}.toml"
        deck.write_text(grains(GRAINS, scheme=name, step=step, end="0.2 s"))
        run_ok("-q", "run", deck, "--set", "output.directory=whole", folder=folder, ranks=2)
        ends = []
        for end in ("0.055", "0.13", "0.2"):    # the checkpoints are of frames beside the schedule
            run_ok("-q", "run", deck, "--resume", "--set", "output.directory=pieces", f"simulation.end_time={end}",
                   folder=folder, ranks=2)
            ends.append(check_end(folder / "pieces" / name, f"{name} to {end} s"))
        check(ends == sorted(set(ends)), "it went on", ends)
        check_same_files(folder / "whole" / name, folder / "pieces" / name, name)
        # Nothing is left to do: nothing changes.
        before = (folder / "pieces" / name / f"{name}.scalars.csv").read_bytes()
        run_ok("-q", "run", deck, "--resume", "--set", "output.directory=pieces", folder=folder, ranks=2)
        check((folder / "pieces" / name / f"{name}.scalars.csv").read_bytes() == before, f"{name}: the last row stays")


def test_a_condition_ends_a_run(folder):
    more = RAIN + STAGE.format(131) + '[measures.inlets]\ntype = "inlets"\n[measures.contacts]\ntype = "coordination"\n'
    for warm_start in ("0.9", "0"):    # with 0 forces are known only of steps that were asked for them
        deck = write_deck(folder, ("warm_start = 0.9", f"warm_start = {warm_start}"), ("end_time = 1", "end_time = 9"), more=more)
        rare = [f"{table}.every=0.25" for table in ("analysis", "output.vtk", "output.h5md", "output.certificate")]
        result = run_ok("run", deck, "--force", "--set", *rare, folder=folder, ranks=2)
        results = folder / "results/small"
        end = check_end(results, "until")
        check(1.1 <= end < 9, "it ends when 11 bodies have come", end)
        rows = rows_of(results / "small.scalars.csv")
        last = dict(zip(rows[0], map(float, rows[-1])))
        check(last["inlets_made_rain[-]"] == 11, "the measure of inlets counts", last)
        check(last["contacts_coordination[-]"] > 1, "the last row knows the contacts that carry load", last)
        check_in("made 11 of its 40 bodies", result.stderr, "what did not come any more is reported")


def test_a_signal_and_the_limit_of_time_end_a_run(folder):
    deck = folder / "grains.toml"
    deck.write_text(grains(GRAINS, end="0.2 s"))
    run_ok("-q", "run", deck, "--set", "output.directory=whole", folder=folder)
    result = scree("-q", "run", deck, "--max-wall-time", "0.001", folder=folder, ranks=2)
    check(result.code == 4, "stopped by the limit", result)
    results = folder / "results/grains"
    check_end(results, "limit of wall time")
    check(summary_of(results)["steps"] < 40, "it was stopped")
    process = start("-q", "run", deck, "--resume", "--set", "simulation.end_time=1000", folder=folder)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and len(rows_of(results / "grains.scalars.csv")) < 4:
        time.sleep(0.05)
    process.send(signal.SIGUSR1)
    check(process.finish().code == 4, "stopped by a signal")
    check_end(results, "signal")


def test_crowds_have_their_end_in_fields_and_h5md(folder):
    deck = folder / "hall.toml"
    deck.write_text("""\
[simulation]
dimension = 2
scheme = "crowd"
end_time = "40 s"
[time]
step = "0.05 s"
[walkable]
wkt = "POLYGON((0 0, 8 0, 8 5, 0 5, 0 0))"
[exits.east]
line = [[8, 2], [8, 3]]
[populations.crowd]
region = [[2, 0.5], [7, 0.5], [7, 4.5], [2, 4.5]]
count = 12
[output.h5md]
every = "1 s"
[output.vtk]
every = "1 s"
[output.fields]
every = "1 s"
[analysis]
every = "1 s"
""")
    run_ok("-q", "run", deck, folder=folder, ranks=2)
    results = folder / "results/hall"
    check(summary_of(results)["bodies"] == 0, "everybody has left")
    end = check_end(results, "crowd", tables=("scalars", "certificate"))
    check(end < 39 and abs(frames_of(results, "fields")[-1] - end) < 1e-9, "fields, too", end)
    for stop in ("1.35", "2.95", "40"):
        run_ok("-q", "run", deck, "--resume", "--set", "output.directory=pieces", f"simulation.end_time={stop}",
               folder=folder, ranks=2)
    check_same_files(results, folder / "pieces/hall", "crowd")


def test_an_inlet_without_room_says_so(folder):
    full = RAIN.replace("rate = 10", "rate = 400").replace("upper = [5, 3.5]", "upper = [1.5, 3]").replace("count = 40", "count = 4000")
    result = run_ok("run", write_deck(folder, more=full), folder=folder, ranks=2)
    check(re.search(r'inlet "rain" made \d+ of the 399 bodies due .* instead of 400: the others found no free place in '
                    r"the region \(1, 2.5\) to \(1.5, 3\) m", result.stderr) or
          re.search(r'inlet "rain" made \d+ of the 400 bodies due', result.stderr), "a warning with the reason", result)
    inlet = summary_of(folder / "results/small")["inlets"]["rain"]
    check(inlet["count"] == 4000 and inlet["rate_per_s"] == 400, "the summary has what was asked for", inlet)
    check(0 < inlet["made"] < 100 and inlet["waiting"] == inlet["due"] - inlet["made"], "and what came", inlet)
    check(abs(inlet["achieved_rate_per_s"] - inlet["made"]) < 1e-6, "in 1 s", inlet)


def test_a_refused_step_of_pbd_leaves_the_state_before_it(folder):
    deck = write_deck(folder, ("overlap_limit = 0", 'overlap_limit = 0.5\non_overlap = "stop"'), ("sweeps = 3", "sweeps = 8"))
    failed(folder, "run", deck, "--force", code=3, words=["step ", "overlap_limit = 0.5"])
    checkpoints = sorted((folder / "results/small/checkpoint").glob("*.scree"))
    check(len(checkpoints) > 0, "a checkpoint is there")
    step = int(checkpoints[-1].stem.rpartition("_")[2])
    check(step > 0, "of the last step that was good", step)
    run_ok("-q", "run", deck, "--set", "output.directory=before", f"simulation.end_time={step * 0.02:.6f}",
           folder=folder, ranks=2)
    result = scree("compare", sorted((folder / "before/small/checkpoint").glob("*.scree"))[-1], checkpoints[-1])
    different = [line.split()[0] for line in result.stdout.splitlines() if line.startswith("  ") and "bitwise equal" not in line]
    # The refused step may have listed neighbours more widely, and more than once: lists and what a next step would start
    # its multipliers from are its own. All that the state consists of is that of the step before.
    check(all(re.match("reference_|lattice_|memory_", name) for name in different), "it is the state that a run to there ends with",
          result)
    check("  position" in result.stdout and "  velocity" in result.stdout, "positions and velocities were compared", result)
    failed(folder, "restart", checkpoints[-1], code=3, words=["step ", "overlap_limit = 0.5"])
