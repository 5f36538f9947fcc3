"""What scree_replay says about options and files that cannot be used: one message, exit code 2, no file touched."""
import shutil

import h5py
import numpy as np

from refusal import BAD_INPUT, refused
from scree_program import check, check_in, run_ok, scree


def generate(folder, *arguments, name="stack.hdf5"):
    run_ok("--generate", "stack", "--size", "3", "-o", name, *arguments, name="scree_replay", folder=folder)
    return name


def refused_replay(folder, *arguments, words, ranks=(1, 3)):
    refused(folder, *arguments, words=words, ranks=ranks, name="scree_replay")


def refused_option(folder, *arguments, words):
    """Mistakes that the reader of the command line finds."""
    result = scree(*arguments, name="scree_replay", folder=folder)
    check(result.code == BAD_INPUT, f"exit code {BAD_INPUT}", result)
    for word in words:
        check_in(word, result.stderr, "the message")


def test_solvers_and_their_keys(folder):
    name = generate(folder)
    refused_replay(folder, name, "--solver", "nsg", words=['"nsg"', 'did you mean "nsgs"', "ipm"])
    refused_replay(folder, name, "--set", "auto.max_swps=3", words=["max_swps"], ranks=(2,))
    refused_replay(folder, name, "--set", "nsgs.max_sweeps=3", words=["nsgs"], ranks=(1,))
    refused_replay(folder, name, "--petsc", "-scree_kps_type cg", words=["-scree_kps_type"], ranks=(1,))


def test_files_that_are_not_there_or_not_problems(folder):
    name = generate(folder)
    (folder / "text.hdf5").write_text("no HDF5\n")
    refused_replay(folder, words=["name one FCLIB file", "--generate"])
    # The first file would be solved and would get a solution.
    refused_replay(folder, name, "nowhere.hdf5", "--write-solution", words=["nowhere.hdf5"])
    refused_replay(folder, name, "text.hdf5", "--write-solution", words=["text.hdf5"])


def test_numbers_of_a_file(folder):
    good = generate(folder)
    for group, place, value, words in (("vectors/mu", 2, -0.5, ["vectors/mu", "2"]),
                                       ("vectors/f", 4, np.nan, ["vectors/f", "4"])):
        shutil.copy(folder / good, folder / "bad.hdf5")
        with h5py.File(folder / "bad.hdf5", "a") as file:
            file[f"fclib_global/{group}"][place] = value
        refused_replay(folder, good, "bad.hdf5", "--write-solution", "--csv", "out.csv", words=["bad.hdf5", *words])


def test_starts_that_a_file_has_not(folder):
    name = generate(folder)
    refused_replay(folder, name, "--start", "solution", words=[name, "no solution to start from"])
    refused_replay(folder, name, "--start", "guess", words=[name, "no guess to start from"], ranks=(2,))


def test_forms(folder):
    name = generate(folder, "--form", "local")
    refused_replay(folder, name, "--form", "global", words=[name, "local form"])


def test_files_that_exist_are_kept(folder):
    name = generate(folder)
    other = generate(folder, name="other.hdf5")
    refused_replay(folder, "--generate", "wall", "--size", "2", "-o", name, words=[name, "exists already", "--force"])
    refused_replay(folder, name, "--convert", "local", "-o", other, words=[other, "exists already"])
    refused_replay(folder, name, "--convert", "local", "-o", name, "--force", words=["to be converted"], ranks=(2,))
    for option in ("--csv", "--json"):
        refused_replay(folder, other, option, name, words=[option, name, "HDF5"], ranks=(2,))
    refused_replay(folder, "--generate", "wall", "--size", "2", "-o", "no/wall.hdf5", words=["no folder no"])
    refused_replay(folder, "--generate", "wall", "--size", "2", "-o", ".", "--force", words=["is a folder"], ranks=(2,))
    shutil.copy(folder / name, folder / "made.hdf5.global")
    refused_replay(folder, "--generate", "wall", "--size", "2", "--form", "local", "-o", "made.hdf5",
                   words=["made.hdf5.global exists already"])
    before = (folder / name).read_bytes()
    run_ok("--generate", "wall", "--size", "2", "-o", name, "--force", name="scree_replay", folder=folder)
    check((folder / name).read_bytes() != before, "--force replaces")


def test_text_that_would_be_lost(folder):
    name = generate(folder)
    (folder / "notes.txt").write_text("time[s],overlap\n0,1\n")
    for option in ("--csv", "--json"):
        refused_replay(folder, name, option, "notes.txt", words=[option, "notes.txt", "--force"], ranks=(2,))
        refused_replay(folder, name, option, "no/out", words=["no folder no"], ranks=(1,))
        refused_replay(folder, name, option, "/dev/null", words=["/dev/null is a folder or a device"], ranks=(1,))
        for _ in range(2):
            run_ok(name, option, "out", name="scree_replay", folder=folder)
        other = "--json" if option == "--csv" else "--csv"
        refused_replay(folder, name, other, "out", words=["out", "--force"], ranks=(1,))
        run_ok(name, other, "out", "--force", name="scree_replay", folder=folder)
        (folder / "out").unlink()
    refused_replay(folder, name, "--csv", "out", "--json", "./out", words=["two outputs"])


def test_a_file_is_named_once(folder):
    name = generate(folder)
    refused_replay(folder, name, name, words=[name, "more than once"])


def test_write_protected_files_get_no_solution(folder):
    """Not even by the superuser, whom the system lets write."""
    (folder / "kept").mkdir()
    for protected in ("kept/stack.hdf5", "kept"):
        name = generate(folder, name="kept/stack.hdf5") if protected != "kept" else "kept/stack.hdf5"
        mode = (folder / protected).stat().st_mode
        (folder / protected).chmod(mode & ~0o222)
        try:
            refused_replay(folder, name, "--write-solution", "--force", words=[name, "Permission denied"])
        finally:
            (folder / protected).chmod(mode)


def test_what_cannot_be_generated(folder):
    refused_replay(folder, "--generate", "wal", "--size", "2", "-o", "a.hdf5", words=['"wal"', "wall", "pile"])
    refused_replay(folder, "--generate", "arch", "--size", "1", "-o", "a.hdf5", words=["arch", "size 1", "below 3"])
    refused_replay(folder, "--generate", "wall", "-o", "a.hdf5", words=["--size"], ranks=(1,))
    refused_replay(folder, "--generate", "wall", "--size", "2", words=["-o"], ranks=(1,))
    refused_replay(folder, "b.hdf5", "--generate", "wall", "--size", "2", "-o", "a.hdf5", words=["takes none"], ranks=(1,))


def test_options_that_contradict_each_other(folder):
    name = generate(folder)
    refused_replay(folder, "--generate", "wall", "--size", "2", "-o", "a.hdf5", "--tolerance", "1e-3",
                   words=["--tolerance does not go with --generate"], ranks=(1,))
    refused_replay(folder, name, "--convert", "local", "-o", "a.hdf5", "--solver", "nsgs",
                   words=["--solver does not go with --convert"], ranks=(1,))
    refused_option(folder, name, "--tolerance", "0", words=["--tolerance", "0"])
    refused_option(folder, name, "--tolerance", "1e-3,-1", words=["--tolerance", "-1"])
    for value in ("inf", "nan", "1e999"):
        refused_option(folder, name, "--tolerance", value, words=["--tolerance", value])
    refused_option(folder, "--generate", "wall", "--size", "2", "-o", "a.hdf5", "--seed=-1", words=["--seed", "-1"])
    check(not (folder / "a.hdf5").exists(), "no file for a seed that is none")
    refused_option(folder, name, "--max-time", "0", words=["--max-time"])
    refused_option(folder, name, "--measure", "siconos", words=["--measure", "fclib", "natural"])
    refused_option(folder, name, "--start", "1", words=["--start", "guess"])
    refused_option(folder, name, "--seed", "3", words=["--seed", "--generate"])
    refused_replay(folder, name, "-o", "a.hdf5", words=["--generate or --convert"], ranks=(1,))
