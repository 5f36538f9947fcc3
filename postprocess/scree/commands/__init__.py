"""Commands of the program that Python answers: `scree render`, `scree plot`, ...; `python3 -m scree.commands` has them too.

A command is a module with a function main(words), which takes what follows the name of the command, prints, and raises a ScreeError for
what cannot be. The program's table of them is src/run/python_commands.cpp.
"""
import argparse
import sys
from importlib import import_module

from scree.errors import ScreeError

COMMANDS = ("render", "animate", "plot", "report", "coarse-grain", "verify", "exchange")


def run(words):
    """Runs a command with its words; returns the exit code."""
    name = words[0] if words else ""
    if name not in COMMANDS:
        return refused("", f"no command {name!r}; there are: {', '.join(COMMANDS)}" if name else f"name a command: {', '.join(COMMANDS)}")
    try:
        import_module(f"scree.commands.{name.replace('-', '_')}").main(words[1:])
    except (ScreeError, OSError) as error:
        if isinstance(error.__context__, ModuleNotFoundError):
            raise error.__context__     # another interpreter may have it
        return refused(name, error)
    return 0


def refused(name, message):
    """Says what is wrong as the program does with bad input; returns its exit code."""
    print(f"scree: {name + ': ' if name else ''}{message}", file=sys.stderr)
    return 2


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, as the program does."""

    def error(self, message):
        self.exit(refused(self.prog.removeprefix("scree "), f"{message} (--help says more)"))


def parser_of(name, about):
    """A parser of the options of a command, whose help is `about`."""
    return Parser(prog=f"scree {name}", description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
