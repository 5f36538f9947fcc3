"""Commands of the program that Python answers: one table in the program, one in the package; where they start, with what, and how they end."""
import subprocess

from scree.commands import COMMANDS
from scree.commands.plot import KINDS
from scree_program import check, check_in, python_command, run_ok, scree, without_launcher


def ended(*words):
    return subprocess.run(python_command(*words), capture_output=True, text=True)


def test_the_program_has_the_commands_of_the_package(folder):
    lines = run_ok("--help").stdout.splitlines()
    verbs = [line.split()[0] for line in lines[lines.index("Subcommands:") + 1:] if line.startswith("  ") and line[2] != " "]
    first = verbs.index(COMMANDS[0])
    check(tuple(verbs[first:first + len(COMMANDS)]) == COMMANDS, "the help lists them in their order", verbs)


def test_the_program_hands_all_words_on(folder):
    """Also its own options before the command, and dashes that it does not know."""
    for words in (("render", "no such run", "--time", "-1"), ("-q", "render", "no such run", "--time=-1")):
        result = without_launcher(*words, folder=folder).finish()
        check((result.code, result.stderr) == (2, "scree: render: no such run does not exist\n"), "one message with exit code 2", result)


def test_on_several_ranks_one_answers(folder):
    result = scree("plot", "--help", ranks=2, folder=folder)
    check(result.code == 0 and result.stdout.count("usage: scree plot") == 1, "one help", result)


def test_each_command_and_kind_has_a_help():
    for words in [(name,) for name in COMMANDS] + [("plot", kind) for kind in KINDS] + [("exchange", "import"), ("exchange", "export")]:
        result = ended(*words, "--help")
        check(result.returncode == 0 and result.stdout.startswith(f"usage: scree {' '.join(words)} "), f"help of {words}", result)
    check(all(f"    {kind} " in ended("plot").stdout for kind in KINDS), "plot alone lists the kinds")


def test_what_is_no_command_is_refused():
    for words, message in (((), "scree: name a command: render, "), (("rendr",), "scree: no command 'rendr'; there are: render, "),
                           (("plot", "scalar"), "scree: plot: no plot 'scalar'; there are: scalars, "),
                           (("plot", "sweep", "here"), "scree: plot: here is not the folder of a study"),
                           (("report", "--megabytes", "0", "here"), "--megabytes is from 1 to 1000")):
        result = ended(*words)
        check(result.returncode == 2, f"exit code of {words}", result)
        check_in(message, result.stderr, "the message")
