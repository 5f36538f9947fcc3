"""`cmake --install` into a folder that is then moved: programs, decks, reference data and Python work from there."""
import os
import shutil
import subprocess
import sys

import pytest

from scree_program import check, check_in, program


def test_an_installed_tree_can_be_moved(folder):
    build = program().parent.parent
    if shutil.which("cmake") is None or not (build / "cmake_install.cmake").exists():
        pytest.skip("this is no build folder, or there is no cmake")
    done = subprocess.run(["cmake", "--install", build, "--prefix", folder / "first"], capture_output=True, text=True)
    check(done.returncode == 0, "cmake --install", done.stderr)
    tree = (folder / "first").rename(folder / "second")
    installed = sorted(path.name for path in (tree / "bin").iterdir())
    check(installed == ["scree", "scree_bench", "scree_replay", "scree_verify"], "programs", installed)
    check((tree / "share/doc/scree/python.md").exists() and (tree / "share/doc/scree/LICENSE").exists(), "documents and licence")

    def run(name, *words):
        return subprocess.run([tree / "bin" / name, *words], cwd=folder, capture_output=True, text=True)

    deck = tree / "share/scree/inputs/granular/pour.toml"
    done = run("scree", "run", deck, "--set", "simulation.end_time=0.01", "--set", "output.h5md.every=0.01")
    check(done.returncode == 0 and (folder / "results/pour/pour.h5").exists(), "a deck runs", done.stderr)
    done = run("scree_verify", "boxes")
    check(done.returncode == 0, "scree_verify finds decks and reference data", done.stdout + done.stderr)
    check_in("all hold", done.stdout, "and checks them")
    done = run("scree", "bench", "--list")
    check(done.returncode == 0, "scree finds scree_bench beside it", done.stderr)
    environment = os.environ | {"PYTHONPATH": str(tree / "share/scree/postprocess"), "PATH": f"{tree}/bin:{os.environ['PATH']}"}
    environment.pop("SCREE", None)
    done = subprocess.run([sys.executable, "-c", "import scree; print(scree.program(), scree.Results('results/pour').trajectory.n_frames)"],
                          cwd=folder, env=environment, capture_output=True, text=True)
    check(done.stdout.split() == [str(tree / "bin/scree"), "2"], "the installed package reads results", done.stdout + done.stderr)
