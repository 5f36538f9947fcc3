"""Runs with people that are interrupted: half a run and the rest, by `scree restart` and by `scree run --resume`, on
another number of ranks, leave the files of the run that never stopped; ensembles go on where they were."""
import json
import shutil
import signal
import time

from crowd_hall import DECK, MODELS
from scree_program import check, check_in, check_same_arrays, run_ok, source_folder, start

OUTPUT = """
[output.trajectory]
fps = 5
[output.fields]
every = "1 s"
cell = "0.5 m"
[output.checkpoint]
every = "{every}"
keep = 100
[analysis]
every = "0.5 s"
[measures.inside]
type = "count"
[measures.west]
type = "line_flow"
line = [[0.5, 3], [0.5, 5]]
window = "2 s"
[measures.middle]
type = "window"
polygon = [[6, 2], [10, 2], [10, 6], [6, 6]]
"""
WHOLE, HALF = "12 s", "5.35 s"    # the door to the west is shut, and the density is not found anew right then


def _write(folder, name="hall", every="2 s", count=150, limit=20, end=WHOLE, **changes):
    deck = folder / f"{name}.toml"
    text = DECK.format(count=count, limit=limit, end=end) + OUTPUT.format(every=every)
    for old, new in changes.items():
        text = text.replace(old, new)
    deck.write_text(text)
    return deck


def _summary(results):
    return json.loads((results / "summary.json").read_text())


def _check_same(whole, results, what):
    """All files that do not say how the run was done have the same content."""
    name = whole.name
    result = run_ok("compare", whole, results)
    check_in("bitwise equal", result.stdout, f"{what}: the comparison looked at something")
    files = sorted(path.relative_to(whole) for path in whole.rglob("*") if path.suffix in (".csv", ".vti", ".pvti", ".pvd"))
    check(len(files) > 15, f"{what}: there are files to compare", files)
    for file in files:
        check((results / file).exists(), f"{what}: {file} is there")
        check((results / file).read_bytes() == (whole / file).read_bytes(), f"{what}: {file} is the same",
              f"{whole / file}\n{results / file}")
    check_same_arrays(whole / f"{name}.trajectory.h5", results / f"{name}.trajectory.h5", f"{what}: the trajectory")
    a, b = _summary(whole), _summary(results)
    check(a["state_hash"] == b["state_hash"], f"{what}: the same state at the end")
    for summary in (a, b):
        summary["evacuation"].pop("certificate_worst", None)    # of the steps since the restart
    check(a["evacuation"] == b["evacuation"], f"{what}: the same summary", f"{a['evacuation']}\n{b['evacuation']}")


def _check_halves(folder, model, deck, first, second, n_back=1):
    changes = MODELS[model]

    def run(*arguments, ranks):
        return run_ok("-q", *arguments, ranks=ranks, folder=folder)

    run("run", deck, "--set", "output.directory=whole", *changes, ranks=1)
    whole = folder / "whole" / deck.stem
    for way in ("restart", "resume"):
        results = folder / way / deck.stem
        directory = "output.directory=" + way
        run("run", deck, "--set", directory, f'simulation.end_time="{HALF}"', *changes, ranks=first)
        check(_summary(results)["state_hash"] != _summary(whole)["state_hash"], f"{model}: half of the run is not the whole")
        if way == "restart":
            checkpoint = sorted(results.glob("checkpoint/*.scree"))[-1]
            run("restart", checkpoint, "--set", f'simulation.end_time="{WHOLE}"', ranks=second)
        else:
            run("run", deck, "--resume", "--set", directory, *changes, ranks=second)
        _check_same(whole, results, f"{model}, {way}")
    # Back to checkpoints of the run that never stopped: what is later is removed and made again.
    saved = sorted(whole.glob("checkpoint/*.scree"))
    check(len(saved) >= 5, "there are checkpoints", saved)
    for k, state in enumerate(saved[:n_back]):
        copy = folder / f"back{k}"
        shutil.copytree(folder / "whole", copy)
        run("restart", copy / deck.stem / "checkpoint" / state.name, "--set", f'output.directory="{copy}"', ranks=1 + k % 3)
        _check_same(whole, copy / deck.stem, f"{model}, back to {state.name}")


def test_projection(folder):
    _check_halves(folder, "projection", _write(folder), 1, 3, n_back=4)


def test_pbd(folder):
    _check_halves(folder, "pbd", _write(folder), 3, 2)


def test_solver_of_contact_problems(folder):
    _check_halves(folder, "nsgs", _write(folder), 2, 1)


def test_few_people(folder):
    _check_halves(folder, "projection", _write(folder, count=4, limit=3), 3, 2)


def test_a_signal_stops_a_run_that_goes_on_later(folder):
    deck = _write(folder, count=300, limit=30, end="20 s")
    run_ok("-q", "run", deck, "--set", "output.directory=whole", ranks=2, folder=folder)
    process = start("-q", "run", deck, "--set", "output.directory=stopped", ranks=3, folder=folder)
    results = folder / "stopped" / "hall"
    for _ in range(600):
        time.sleep(0.05)
        if list(results.glob("checkpoint/*.scree")):    # of the start or later
            break
    process.send(signal.SIGUSR1)
    result = process.finish()
    check(result.code in (0, 4), "the run stops in good order, or had ended", result)
    if result.code == 4:
        run_ok("-q", "run", deck, "--resume", "--set", "output.directory=stopped", ranks=1, folder=folder)
    _check_same(folder / "whole" / "hall", results, "stopped by a signal")


def test_an_ensemble_skips_what_has_ended_and_goes_on_with_what_has_not(folder):
    deck = _write(folder, count=60, limit=5, end="8 s", **{"seed = 11": "seed = 11\nensemble = 2"})
    run_ok("run", deck, "--set", "output.directory=whole", ranks=2, folder=folder)
    whole = folder / "whole" / "hall"
    report = json.loads((whole / "ensemble.json").read_text())
    check(report["seeds"] == [11, 12], "seeds are one after the other", report)
    check(_summary(whole / "seed_11")["state_hash"] != _summary(whole / "seed_12")["state_hash"], "seeds matter")

    # The second run is lost after its first checkpoint. A run goes on in the folder where it began: the copy is the other.
    shutil.copytree(whole, folder / "before")
    before = folder / "before"
    for path in (whole / "ensemble.json", whole / "ensemble.csv", whole / "seed_12" / "summary.json"):
        path.unlink()
    for state in sorted((whole / "seed_12").glob("checkpoint/*.scree"))[1:]:
        state.unlink()
    result = run_ok("run", deck, "--resume", "--set", "output.directory=whole", ranks=3, folder=folder)
    check(result.stderr.count("has ended already") == 1, "what has ended is not done again", result)
    for file in ("ensemble.json", "ensemble.csv"):
        check((before / file).read_bytes() == (whole / file).read_bytes(), f"{file} is the same")
    for seed in (11, 12):
        check(_summary(before / f"seed_{seed}")["state_hash"] == _summary(whole / f"seed_{seed}")["state_hash"],
              f"seed {seed} ends in the same state")


def test_shipped_buildings_on_any_ranks(folder):
    """Several floors, a stair that smoke closes at 60 s, escalators, trains, families: the same bytes on 1, 2 and 3 ranks."""
    for name, end in (("office_tower", 65), ("school", 15), ("station_two_levels", 46)):
        texts = []
        for ranks in (1, 2, 3):
            output = folder / f"on{ranks}"
            run_ok("run", source_folder() / f"inputs/crowd/{name}.toml", "--set", f"simulation.end_time={end}", "--set",
                   f'output.directory="{output}"', folder=folder, ranks=ranks)
            texts.append((output / name / f"{name}.agents.csv").read_bytes())
        check(len(texts[0].splitlines()) > 10, f"{name}: somebody has left")
        check(texts[0] == texts[1] == texts[2], f"{name}: the same agents.csv on 1, 2 and 3 ranks")
