"""How programs start: what the command line alone answers does not wait for MPI, and a process that no launcher started
needs no daemon, while the settings of the user hold."""
import itertools
import re

import pytest

from scree.commands import COMMANDS
from scree_program import check, check_in, run_ok, scree, source_folder, without_launcher
from small_deck import write_deck

NO_MPI = {"OMPI_MCA_pml": "no_such_layer"}    # MPI_Init fails
PROGRAMS = ("scree", "scree_bench", "scree_replay")


def alone(*arguments, **options):
    return without_launcher(*arguments, **options).finish(timeout=60)


def test_help_version_lists_and_mistakes_need_no_mpi(folder):
    deck = write_deck(folder)
    check(alone("-q", "run", deck, folder=folder, **NO_MPI).code not in (0, 2), "MPI cannot start, and what the user has set holds")
    for arguments, word in ((("--help",), "run a deck"), (("run", "--help"), "--resume"), (("--version",), "HDF5"),
                            (("list",), "schemes"), (("info", "--schema"), "simulation"), (("info", "--reference"), "simulation"),
                            (("bench", "--help"), "--ranks"), (("bench", "--list"), "sweeps")):
        result = alone(*arguments, folder=folder, **NO_MPI)
        check(result.code == 0 and result.stderr == "", "it is answered without MPI", result)
        check_in(word, result.stdout, "the answer")
    for arguments, word in (((), "subcommand"), (("frobnicate",), "subcommand"), (("run", deck, "--frob"), "--frob"),
                            (("list", "frobs"), "frobs")):
        result = alone(*arguments, folder=folder, **NO_MPI)
        check(result.code == 2 and word in result.stderr, "a mistake is reported without MPI", result)


def test_every_program_tells_help_once_and_without_mpi(folder):
    for name, ranks in itertools.product(PROGRAMS, (None, 1, 2)):
        if ranks:
            result = scree("--help", name=name, ranks=ranks, folder=folder, timeout=60)
        else:
            result = alone("--help", name=name, folder=folder, **NO_MPI)
        check(result.code == 0 and result.stdout.count("Usage:") == 1 and result.stderr == "", f"{name} --help, {ranks} ranks", result)
    for name in PROGRAMS:
        result = scree("--frob", name=name, ranks=2, folder=folder, timeout=60)
        check(result.code == 2 and result.stderr.count("Run with --help") == 1, f"{name}: a mistake is reported once", result)


def verbs_in(text):
    """Of a help."""
    _, _, listed = text.partition("Subcommands:\n")
    return [line.split()[0] for line in listed.split("\n\n")[0].splitlines() if line.startswith("  ") and line[2] != " "]


def example_of_python(text, verb):
    """The first line of a help that calls the command with words; without those that say what it does."""
    calls = re.findall(rf"^ +(scree {verb} \S.*?)(?: {{2,}}.*)?$", text, re.MULTILINE)
    check(calls, f"scree {verb}: the help has an example", text)
    return calls[0]


def test_every_help_ends_with_an_example_of_its_own(folder):
    seen = []
    for name in PROGRAMS:
        verbs = verbs_in(alone("--help", name=name, folder=folder).stdout)
        check(verbs or name == "scree_replay", f"{name} has verbs", verbs)
        for verb in ([], *([verb] for verb in verbs)):
            text = alone(*verb, "--help", name=name, folder=folder).stdout
            if verb and verb[0] in COMMANDS:    # of Python: several examples, each with what it does
                example = example_of_python(text, verb[0])
            else:
                head, _, example = text.rstrip().rpartition("Example:\n  ")
                check(head and "\n" not in example, f"{name} {verb}: the help ends with an example of one line", text)
            words = example.split()
            after = words[words.index(name) + 1:]
            check(not verb or after[0] == verb[0], f"it is one of {name} {verb}", text)
            offered = text if verb or not verbs else text + alone(after[0], "--help", name=name, folder=folder).stdout
            for word in after:
                check(not word.startswith("--") or word in offered, f"{name} {verb} has the option {word}", text)
                check(not word.startswith("inputs/") or (source_folder() / word).exists(), f"{word} exists", text)
            seen.append(example)
    check(len(seen) > 25 and len(set(seen)) == len(seen), "each has its own", seen)


def test_a_run_without_a_launcher_starts_no_daemon_and_has_the_same_bits(folder):
    deck = write_deck(folder)
    run_ok("-q", "run", deck, "--set", "output.directory=launched", folder=folder, ranks=2)
    # Open MPI's daemon: this one says that it was called.
    bin_folder, marker = folder / "bin", folder / "daemon_was_called"
    bin_folder.mkdir()
    (bin_folder / "orted").write_text(f"#!/bin/sh\ntouch {marker}\nexit 1\n")
    (bin_folder / "orted").chmod(0o755)
    result = alone("-q", "run", deck, folder=folder, OPAL_BINDIR=str(bin_folder))
    check(result.code == 0 and not marker.exists(), "it runs without a daemon", result)
    check_in("are bitwise equal", run_ok("compare", "launched/small", "results/small", folder=folder).stdout, "compared")
    result = alone("-q", "run", deck, "--force", folder=folder, OPAL_BINDIR=str(bin_folder), OMPI_MCA_ess_singleton_isolated="0")
    check(result.code != 0 and marker.exists(), "who asks for the daemon gets it", result)


@pytest.mark.parametrize("variable", ["TMPDIR", "OMPI_MCA_orte_tmpdir_base"])
def test_processes_side_by_side_leave_each_other_alone(folder, variable):
    """Open MPI would give all of them the same folder for files that they write together."""
    deck = write_deck(folder)
    temporary = folder / "temporary"
    no_daemon = {"OPAL_BINDIR": str(folder)}    # the daemon is not there
    side_by_side = [without_launcher("-q", "run", deck, "--set", f"output.directory=side{k}", "--set", "output.h5md.every=0.01",
                                     folder=folder, **{variable: str(temporary)}, **no_daemon) for k in range(4)]
    for process in side_by_side:
        result = process.finish(timeout=60)
        check(result.code == 0 and "mca_" not in result.stderr, "it ends without a complaint of MPI", result)
    check(list(temporary.iterdir()) == [], "nothing is left where the system has temporary files", list(temporary.iterdir()))
