"""The Python package scree: decks that are read, changed and written; runs; parameter studies; results and plots; installing it."""
import os
import re
import subprocess
import sys
import tomllib

import numpy as np
import pytest
import matplotlib

matplotlib.use("Agg")

import scree
from scree_program import check, check_close, check_in, program, python_command, run_ok, source_folder

FALL = {"simulation": {"dimension": 2, "scheme": "nonsmooth", "end_time": "0.1 s", "seed": 3},
        "domain": {"lower": [0, -1], "upper": [2, 2]},
        "time": {"step": 0.005},
        "physics": {"gravity": [0, -9.81]},
        "materials": {"glass": {"density": 2500}},
        "pairs": {"glass-glass": {"friction": 0.5, "restitution": 0}},
        "solver": {"type": "nsgs"},
        "obstacles": {"floor": {"type": "plane", "point": [0, 0], "normal": [0, 1], "material": "glass"}},
        "particles": {"balls": {"material": "glass", "random_speed": 0.1, "radius": {"distribution": "constant", "value": 0.05},
                                "source": {"type": "lattice", "spacing": 0.3,
                                           "region": {"lower": [0.5, 0.0], "upper": [1.5, 0.6]}}}},
        "measures": {"motion": {"type": "speed"}},
        "analysis": {"every": 0.05},
        "output": {"h5md": {"every": 0.05}, "vtk": {"every": 0.05}}}


@pytest.fixture(autouse=True)
def in_folder(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SCREE", str(program()))


def test_all_decks_stay_what_they_are():
    """Read and written again, every shipped deck has the same tables, and its keys are known."""
    paths = sorted(source_folder().glob("inputs/**/*.toml"))
    check(len(paths) > 40, "there are decks", len(paths))
    for path in paths:
        deck = scree.Deck(path)
        check(tomllib.loads(deck.toml()) == deck.tables, f"{path.name} is the same after writing", deck)
        for key in deck.keys():
            again = deck.copy()
            again[key] = deck[key]
            check(again == deck, f"{path.name}: {key} is a known key with this value")


def test_a_written_deck_is_the_same_run(folder):
    """Files beside a deck are still found from another folder, so `scree info` resolves both alike."""
    path = source_folder() / "inputs/convex/wall.toml"
    scree.Deck(path).write(folder / "wall.toml")

    def resolved(deck):
        text = run_ok("info", deck).stdout
        return [line for line in text.splitlines() if not line.startswith("#") and "path = " not in line]

    check(resolved(path) == resolved(folder / "wall.toml"), "the same settings")
    check(len(tomllib.loads((folder / "wall.toml").read_text())["particles"]) == 3, "all groups")


def test_keys():
    deck = scree.Deck(FALL)
    deck["pairs.glass-glass.friction"] = np.float64(0.25)
    deck["stages.0.duration"] = 1.5
    deck["stages.1.name"] = 'a "quoted" name'
    deck['materials."a.b".density'] = 1
    del deck["solver.type"]
    again = tomllib.loads(deck.toml())
    check(again["pairs"]["glass-glass"]["friction"] == 0.25 and "type" not in again["solver"], "set and removed", again)
    check(again["stages"] == [{"duration": 1.5}, {"name": 'a "quoted" name'}], "stages grow one by one", again["stages"])
    check(again["materials"]["a.b"] == {"density": 1}, "names with dots", again["materials"])
    check("friction" in deck.known_keys("pairs.glass-glass") and "point" in deck.known_keys("obstacles.floor"), "known keys")
    check("time.step" in deck._ipython_key_completions_(), "completion")
    check(deck.get("time.stop") is None and "time.step" in deck, "get and in")
    for key, message in (("time.stop", "did you mean 'step'"), ("tme.step", "did you mean 'time'"),
                         ("measures.motion.tolerance", "unknown key 'tolerance'"), ("stages.7.name", "2 entries")):
        with pytest.raises(scree.DeckError, match=re.escape(message)):
            deck[key] = 1
    with pytest.raises(scree.DeckError, match="cannot stand in a deck"):
        deck["time.step"] = object()
        deck.toml()
    with pytest.raises(scree.DeckError, match="nowhere.toml"):
        scree.Deck("nowhere.toml")


def test_run_and_results(folder):
    deck = scree.Deck(FALL)
    deck["output.name"] = "fall"
    deck["simulation.end_time"] = "0.3 s"
    results = scree.run(deck, ranks=2, progress=False)
    check(results.folder == scree.Results("results/fall").folder and results.summary["status"] == "done", "it ran", results)
    bodies = results.bodies(-1)
    check(bodies["velocity"].shape == bodies["position"].shape == (len(bodies["id"]), 2), "arrays of bodies", bodies.keys())
    check_close(results.scalars["motion_mean_speed"][-1], np.linalg.norm(bodies["velocity"], axis=1).mean(), "the same speeds",
                relative=1e-12)
    check(results.certificate["solved"][1:].all(), "every step was solved")
    # Balls of the lowest row fell by 0.1 m and lie on the floor.
    contacts = results.contacts(-1)
    check(contacts["ends"].shape == (len(contacts["gap"]), 2, 3) and len(contacts["gap"]) > 0, "contacts", contacts)
    ends, at_floor = contacts["ends"], contacts["id_b"] < 0
    check(at_floor.any() and np.abs(ends[at_floor, 1, 1]).max() < 1e-6, "from centres to the floor", contacts)
    reach = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    check(np.abs(reach - contacts["gap"] - np.where(at_floor, 0.05, 0.1)).max() < 1e-6, "a radius or two, and the gap", contacts)
    check_in("motion_mean_speed", repr(results), "the results say what they have")
    with pytest.raises(scree.RunError, match="holds results already") as stop:
        scree.run(deck, progress=False)
    check(stop.value.code == 2, "exit code")
    scree.run(deck, overwrite=True, progress=False)
    with pytest.raises(scree.RunError, match="^deck.toml:.*friction"):
        scree.run(FALL | {"pairs": {"glass-glass": {"friction": -1, "restitution": 0}}}, progress=False)
    axes = scree.plots.bodies(results, colour="velocity")
    check(axes.get_xlabel() == "x [m]" and len(axes.collections) == 1, "a plot of bodies")
    check([panel.get_ylabel() for panel in scree.plots.scalars(results, "motion*")] == ["motion [m/s]"], "a plot of scalars")


def test_sweep(folder):
    deck = scree.Deck(FALL)
    study = scree.sweep(deck, {"particles.balls.random_speed": [0.1, 0.2], "time.step": "0.005:0.01:0.005"}, seeds=2, progress=False)
    found = study["motion_mean_speed"]
    check(list(found["time.step"]) == [0.005, 0.01, 0.005, 0.01] and list(found["runs"]) == 4 * [2], "four points", found)
    speeds = [run.scalars["motion_mean_speed"][-1] for run in study.results(3).values()]
    check(len(speeds) == 2, "two runs of a point")
    check_close(found["mean"][3], np.mean(speeds), "their mean", relative=1e-12)
    check(study.unit("motion_mean_speed") == "m/s" and "motion_max_speed" in study.quantities, "units and quantities")
    axes = scree.plots.sweep(study, "motion_mean_speed", key="time.step")
    check(axes.get_ylabel() == "motion_mean_speed [m/s]" and len(axes.containers) == 2, "a line for each value of the other key")
    with pytest.raises(scree.ResultsError, match="no quantity 'speed'"):
        study["speed"]
    with pytest.raises(scree.DeckError, match="did you mean 'step'"):
        scree.sweep(deck, {"time.stop": [1]})
    script = python_command("plot", "sweep", "results/deck_sweep")
    said = subprocess.run([*script, "--quantity", "motion_mean_speed"], capture_output=True, text=True, check=True).stdout.strip()
    check((folder / said).stat().st_size > 1000, "the script draws the same", said)
    check_in("motion_max_speed", subprocess.run(script, capture_output=True, text=True, check=True).stdout, "and lists quantities")


def test_it_can_be_installed(folder):
    """pip puts the package into an environment of its own; numpy and the others are those of the system."""
    if subprocess.run([sys.executable, "-c", "import venv, ensurepip, setuptools, wheel"], capture_output=True).returncode != 0:
        pytest.skip("python3-venv, python3-setuptools or python3-wheel is not installed")
    subprocess.run(["cp", "-r", source_folder() / "postprocess", folder / "source"], check=True)
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", "environment"], check=True)
    python = folder / "environment/bin/python"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-build-isolation", "--no-deps", "./source"], check=True, env=environment)
    script = "import scree; print(scree.__file__); print(scree.run(scree.Deck('fall.toml'), progress=False).summary['status'])"
    scree.Deck(FALL).write(folder / "fall.toml")
    said = subprocess.run([python, "-c", script], check=True, capture_output=True, text=True, env=environment).stdout.split()
    check("environment" in said[0] and said[1] == "done", "the installed package runs a deck", said)
    drawn = subprocess.run([python, "-m", "scree.commands", "plot", "scalars", "results/fall"], capture_output=True, text=True, env=environment)
    check(drawn.stdout == "results/fall/fall_scalars.png\n" and (folder / drawn.stdout.strip()).exists(), "and has the commands that draw", drawn)


def test_the_example_of_the_documentation(folder):
    """docs/python.md, shortened: the angle of repose over friction, drawn with error bars."""
    text = (source_folder() / "docs/python.md").read_text(encoding="utf-8")
    example = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    example = example.replace('"inputs', f'"{source_folder()}/inputs').replace("] = 200", '] = 60; deck["stages.0.duration"] = "0.5 s"')
    example = example.replace("0.1:0.7:0.2", "0.1:0.5:0.4").replace("seeds=3", "seeds=2")
    names = {}
    exec(example, names)
    check(names["study"].keys == ["pairs.glass-glass.friction"] and len(names["study"]["heap_angle"]["mean"]) == 2, "two points")
    check((folder / "results/repose.png").stat().st_size > 5000, "a picture")


def test_a_circle_of_imports_is_found(folder):
    """tests/style/check_imports.py sees one through three modules, one of which imports inside of a function, and leaves trees alone."""
    package = folder / "postprocess" / "scree"
    package.mkdir(parents=True)
    texts = {"__init__": "", "one": "from scree import two\n", "two": "import scree.three\n", "three": "def f():\n    from scree.one import g\n",
             "four": "from scree import one\nfrom scree.two import h\n"}
    for name, text in texts.items():
        (package / f"{name}.py").write_text(text)
    words = [sys.executable, source_folder() / "tests/style/check_imports.py", "--source", folder]
    done = subprocess.run(words, capture_output=True, text=True)
    circle = ("a circle of imports: postprocess/scree/one.py:1 imports scree.two; postprocess/scree/two.py:1 imports scree.three; "
              "postprocess/scree/three.py:2 imports scree.one\n")
    assert (done.returncode, done.stdout) == (1, circle + "5 Python modules checked, 1 problems\n")
    (package / "three.py").write_text("")
    assert subprocess.run(words, capture_output=True, text=True).returncode == 0
