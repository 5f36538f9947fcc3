"""`cmake --install` into a folder that is then moved: programs, decks, reference data, Python, manual pages, completions and headers of
plug-ins work from there, and nothing names the folders in which it was built."""
import json
import os
import re
import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest

from scree_program import check, check_in, program, source_folder

PROGRAMS = ["scree", "scree_bench", "scree_replay"]
EXAMPLE = "share/doc/scree/examples/plugin"


@pytest.fixture(scope="module")
def tree(shared_folder):
    """An installed tree that was moved."""
    build = program().parent.parent
    if shutil.which("cmake") is None or not (build / "cmake_install.cmake").exists():
        pytest.skip("this is no build folder, or there is no cmake")
    run(shared_folder, "cmake", "--install", build, "--prefix", shared_folder / "first")
    return (shared_folder / "first").rename(shared_folder / "second")


def run(folder, *words, code=0, **environment):
    """Runs a command in `folder` and returns what it printed."""
    command = [str(word) for word in words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=os.environ | environment)
    check(done.returncode == code, f"exit code {code} of {' '.join(command)}", done.stdout + done.stderr)
    return done.stdout if code == 0 else done.stderr


def test_an_installed_tree_can_be_moved(folder, tree):
    check(sorted(path.name for path in (tree / "bin").iterdir()) == PROGRAMS, "programs")
    check((tree / "share/doc/scree/python.md").exists() and (tree / "share/doc/scree/LICENSE").exists(), "documents and licence")
    deck = tree / "share/scree/inputs/granular/pour.toml"
    run(folder, tree / "bin/scree", "run", deck, "--set", "simulation.end_time=0.01", "--set", "output.h5md.every=0.01")
    check((folder / "results/pour/pour.h5").exists(), "a deck runs")
    if "without" not in run(folder, tree / "bin/scree", "--version"):
        check(list((folder / "results/pour/vtk").rglob("*.vtp")), "and writes frames with the library beside it")
    check_in("all hold", run(folder, tree / "bin/scree", "verify", "grains", "--case", "stacks"), "scree verify runs decks")
    check_in("all hold", run(folder, tree / "bin/scree", "verify", "slope", "--quick"), "and finds reference data")
    run(folder, tree / "bin/scree", "bench", "--list")
    environment = {"PYTHONPATH": str(tree / "share/scree/postprocess"), "PATH": f"{tree}/bin:{os.environ['PATH']}", "SCREE": ""}
    said = run(folder, sys.executable, "-c",
               "import scree; print(scree.program(), scree.Results('results/pour').trajectory.n_frames)", **environment)
    check(said.split() == [str(tree / "bin/scree"), "2"], "the installed package reads results", said)
    drawn = run(folder, tree / "bin/scree", "plot", "scalars", "results/pour").strip()
    check(drawn == "results/pour/pour_scalars.png" and (folder / drawn).exists(), "the installed program draws", drawn)
    run(folder, tree / "bin/scree", "report", "results/pour", "--no-picture")
    check_in("4096 spheres", (folder / "results/pour/report.html").read_text(), "the installed program writes a report")


def test_libraries_that_most_runs_do_not_need_are_not_loaded_at_the_start(tree):
    needed = run(tree, "ldd", tree / "bin/scree")
    check("libvtk" not in needed and "libpetsc" not in needed, "neither VTK nor PETSc", needed)


def test_installed_files_name_no_folder_of_the_build(tree):
    folders = [str(source_folder().resolve()).encode(), str(program().parent.parent.resolve()).encode()]
    files = [tree / "bin" / name for name in PROGRAMS] + sorted(tree.rglob("*.so")) + sorted(tree.rglob("*.cmake")) + sorted(tree.rglob("*.hpp"))
    check(len(files) > 60, "programs, CMake files and headers", len(files))
    for path in files:
        content = path.read_bytes()
        check(not any(name in content for name in folders), f"{path.relative_to(tree)} names no folder of the build")


def test_a_manual_page_and_a_completion_of_each_program_are_current(tree):
    full = "without" not in run(tree, tree / "bin/scree", "--version")
    for name in PROGRAMS:
        for option, kept, installed in (("--man", f"docs/man/{name}.1", f"share/man/man1/{name}.1"),
                                        ("--completion", f"packaging/completions/{name}", f"share/bash-completion/completions/{name}")):
            text = (source_folder() / kept).read_text()
            check((tree / installed).read_text() == text, f"{installed} is {kept}")
            if full:
                check(run(tree, tree / "bin" / name, option) == text, f"{kept} is what `{name} {option}` prints (renew it so)")


def complete(tree, *words):
    """What bash offers for the last of some words."""
    script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _$1; printf "%s\\n" "${COMPREPLY[@]}"')
    return run(tree / "share/scree/inputs/granular", "bash", "-c", script, "bash",
               tree / "share/bash-completion/completions" / words[0], *words, PATH=f"{tree}/bin:{os.environ['PATH']}").split()


def test_bash_completes_verbs_options_values_and_decks(tree):
    check("restart" in complete(tree, "scree", "re"), "a verb")
    check(complete(tree, "scree", "run", "--max") == ["--max-wall-time"], "an option of the verb")
    check("pour.toml" in complete(tree, "scree", "-q", "check", "po"), "a deck")
    check(complete(tree, "scree", "restart", "po") == [], "no deck where a checkpoint is due")
    check(complete(tree, "scree", "run", "--from", "po") == [], "nor for --from")
    check("pour.toml" in complete(tree, "scree_replay", "--json", "po"), "any file for --json")
    check(complete(tree, "scree_replay", "--start", "g") == ["guess"], "a value of an option")
    check("pour.toml" in complete(tree, "scree", "exchange", "import", "po"), "a file of another program")
    check("--columns" in complete(tree, "scree", "plot", "scalars", "--col"), "an option of a kind of plot")
    for verb in ("run", "sweep", "restart", "check", "info", "compare", "report", "render", "verify", "bench", "list"):
        help_text = run(tree, tree / "bin/scree", verb, "--help")
        options = set(re.findall(r"^  (?:-\w,? ?)?(--[a-z-]+)", help_text, re.MULTILINE))
        check("--help" in options and options <= set(complete(tree, "scree", verb, "-")), f"all options of {verb}", options)


@pytest.fixture(scope="module")
def plugin(tree, shared_folder):
    """The example of docs/plugins.md, compiled with the installed tree alone."""
    folder = shared_folder / "plugin"
    shutil.copytree(tree / EXAMPLE, folder)
    configure = ["cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={tree}",
                 "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Werror"]
    run(folder, *configure)
    run(folder, "cmake", "--build", folder / "build", "-j2")
    run(folder, "ctest", "--test-dir", folder / "build")
    read = "".join(path.read_text() for path in (folder / "build").rglob("*.cpp.o.d"))
    check_in(f"{tree}/include/scree/geometry/obstacle.hpp", read, "the compiler read installed headers")
    check(f"{source_folder().resolve()}/src" not in read, "and none of the source of scree")
    return folder


def test_a_plugin_from_outside_gives_a_deck_shape_force_measure_and_output(folder, tree, plugin):
    scree, deck, library = tree / "bin/scree", plugin / "pipe.toml", plugin / "build/ring_pipe.so"
    check_in('"ring_pipe"', run(folder, scree, "run", deck, code=2), "without SCREE_PLUGINS the shape is refused")
    run(folder, scree, "run", deck, SCREE_PLUGINS=str(library))
    rows = np.genfromtxt(folder / "results/pipe/pipe.scalars.csv", delimiter=",", names=True, deletechars="")
    columns = {name.split("[")[0]: rows[name] for name in rows.dtype.names}
    mass = 1000 * 4 / 3 * np.pi * 0.05**3
    check(abs(columns["mass_mass"][0] - mass) < 1e-12 * mass, "the measure: mass of the ball", columns["mass_mass"])
    speed = (10 - 2 / mass) * 0.1
    check(abs(columns["speed_max_speed"][1] - speed) < 1e-12, "the force: speed after 0.1 s", (speed, columns["speed_max_speed"]))
    with h5py.File(folder / "results/pipe/pipe.h5") as file:
        position = file["particles/all/position/value"][-1, 0]
    check(np.abs(position - [0.3, 0, -0.05]).max() < 1e-5, "the shape: rest at the lowest point", position)
    dump = (folder / "results/pipe/pipe.dump_500").read_text().splitlines()
    check(dump[:4] == ["ITEM: TIMESTEP", "500", "ITEM: NUMBER OF ATOMS", "1"], "the output: the head of the last frame", dump)
    check(np.abs(np.array(dump[-1].split(), float) - [0, 1, 0.3, 0, -0.05, 0.05]).max() < 1e-5, "and its body", dump)
    summary = json.loads((folder / "results/pipe/summary.json").read_text())
    check_in("ring_pipe.so", summary["provenance"]["plugins"], "the summary names the plug-in")
    reference = run(folder, scree, "info", "--reference", SCREE_PLUGINS=str(library))
    check_in("radius of the pipe", reference, "the reference has its keys")
    check_in("updraft", run(folder, scree, "list", "forces", SCREE_PLUGINS=str(library)), "scree list has its kinds")


def test_plugins_that_do_not_fit_are_refused_with_a_reason(folder, tree, plugin):
    scree, deck, library = tree / "bin/scree", plugin / "pipe.toml", plugin / "build/ring_pipe.so"

    def refused(path, *words):
        said = run(folder, scree, "check", deck, code=2, SCREE_PLUGINS=str(path))
        check(said.count("\n") == 1, "one line", said)
        for word in words:
            check_in(word, said, f"the message says {word}")

    refused(folder / "none.so", "SCREE_PLUGINS", "no file", "none.so")
    (folder / "text.so").write_text("no library")
    refused(folder / "text.so", "text.so")
    refused(f"{library}:{library}", "named twice")
    # The same sources with headers of another version, and a kind whose name is taken.
    include = tree / "include/scree"
    compiler = ["mpicxx", "-std=c++20", "-shared", "-fPIC", "-DSCREE_EXTERNAL_PLUGIN"]
    other = folder / "other"
    other.mkdir()
    header = (include / "scree_interface.hpp").read_text()
    (other / "scree_interface.hpp").write_text(header.replace("SCREE_INTERFACE_HASH ", "SCREE_INTERFACE_HASH 9_"))
    source = plugin / "updraft.cpp"
    run(folder, *compiler, f"-I{other}", f"-I{include}", source, "-o", folder / "newer.so")
    refused(folder / "newer.so", "built for another scree", "scree_interface_9_")
    (folder / "taken.cpp").write_text(source.read_text().replace("ForceField, updraft,", "ForceField, drag,"))
    run(folder, *compiler, f"-I{include}", folder / "taken.cpp", "-o", folder / "taken.so")
    refused(folder / "taken.so", "taken.so", '"drag"')
