"""Builds without VTK or crowds (preset minimal) say what they lack: decks that ask for VTK files run, people are refused."""
import json
import shutil

import pytest

from refusal import refused
from scree_program import check, check_in, run_ok, source_folder
from small_deck import write_deck

ADVICE = ["[output.vtk]", "SCREE_VTK=OFF", "NAME.xdmf"]


def lacks(what):
    return f"without {what}" in run_ok("--version").stdout


def test_the_version_says_whether_vtk_and_crowds_are_there(folder):
    said = run_ok("--version").stdout
    check(("VTK 9" in said) != ("without VTK" in said), "VTK", said)
    check(("with crowds" in said) != ("without crowds" in said), "crowds", said)


def test_nothing_is_missing_in_a_build_with_vtk(folder):
    if lacks("VTK"):
        pytest.skip("a build without VTK")
    deck = write_deck(folder)
    check(json.loads(run_ok("check", deck, "--json").stdout)["missing_outputs"] == [], "check")
    run_ok("run", deck, "--set", "simulation.end_time=0.1", folder=folder)
    check(json.loads((folder / "results/small/summary.json").read_text())["missing_outputs"] == [], "summary")


def test_a_deck_that_asks_for_vtk_runs_without_it_and_is_told_once(folder):
    if not lacks("VTK"):
        pytest.skip("a build with VTK")
    deck = write_deck(folder)
    reported = run_ok("check", deck).stdout
    for words in ADVICE:
        check_in(words, reported, "check says what is missing and what to do")
    check(json.loads(run_ok("check", deck, "--json").stdout)["missing_outputs"] == ["vtk"], "so does check --json")
    run = run_ok("run", deck, "--set", "simulation.end_time=0.1", ranks=2, folder=folder)
    for words in ADVICE:
        check((run.stdout + run.stderr).count(words) == 1, f"the run says {words} once", run)
    check_in("small.xdmf", run.stdout + run.stderr, "it ends with the file to open")
    results = folder / "results/small"
    check((results / "small.xdmf").exists() and not (results / "vtk").exists(), "H5MD without VTK")
    summary = json.loads((results / "summary.json").read_text())
    check(summary["missing_outputs"] == ["vtk"] and summary["status"] == "done", "the summary has them", summary["missing_outputs"])


def test_grains_of_every_scheme_run_without_crowds_and_vtk(folder):
    if not lacks("crowds"):
        pytest.skip("a build with crowds")
    for deck, end in (("quickstart/attraction", 0.1), ("verification/cradle", 0.3), ("granular/pour", 0.01), ("granular/bed", 0.001)):
        run_ok("run", source_folder() / "inputs" / f"{deck}.toml", "--set", f"simulation.end_time={end}", ranks=2, folder=folder)
        summary, = folder.rglob("summary.json")
        check(json.loads(summary.read_text())["status"] == "done", deck, summary.read_text())
        shutil.rmtree(folder / "results")


def test_people_are_refused_without_crowds(folder):
    if not lacks("crowds"):
        pytest.skip("a build with crowds")
    refused(folder, "check", source_folder() / "inputs/crowd/corridor.toml",
            words=['"crowd" needs a build with SCREE_CROWD=ON'])
