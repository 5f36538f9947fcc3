"""Starts scree_bench on a number of ranks and reads what it prints."""
import ctypes
import json
import os
import signal
import subprocess
import tempfile

from .machine import n_processors

PLACEHOLDER = "{ranks}"
MAX_LINES = 8          # of what a failed program wrote
SET_PARENT_DEATH_SIGNAL = 1     # prctl


class InputError(Exception):
    """An option, a folder or a launcher that cannot be used: exit code 2."""


class RunError(Exception):
    """A program that failed: exit code 1."""


def counted(ranks):
    return f"{ranks} rank{'' if ranks == 1 else 's'}"


def message_in(errors):
    """What a failed program has to say: its own message, or the last lines of all that was written."""
    lines = errors.splitlines()
    for line in lines:
        if line.startswith("scree: "):
            return line.removeprefix("scree: ")
    return "\n".join([line for line in lines if line.strip(" -")][-MAX_LINES:]) or "no message"


def end_with_parent():
    """In the program that starts: it ends with this one."""
    ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)


def message_of(line):
    """(kind, value) of a line of scree_bench; None: a launcher has something to say."""
    try:
        message = json.loads(line)
    except ValueError:
        return None
    return next(iter(message.items())) if isinstance(message, dict) and len(message) == 1 else None


class Launcher:
    """`mpirun -n {ranks}` or the like, and the program to start."""

    def __init__(self, words, program):
        if PLACEHOLDER not in words:
            raise InputError(f'--launcher "{words}": write {PLACEHOLDER} where the number of ranks belongs')
        self.words, self.program = words, program

    def run(self, ranks, arguments, what, take):
        """Calls take(kind, value) with what the program prints. Throws if it fails, with `what` in the message."""
        words = [word.replace(PLACEHOLDER, str(ranks)) for word in self.words.split()]
        environment = dict(os.environ)
        if ranks <= n_processors():
            environment["OMPI_MCA_mpi_yield_when_idle"] = "0"
        kinds = set()
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
            try:
                with subprocess.Popen([*words, self.program, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=errors, env=environment, encoding="utf-8", errors="replace",
                                      preexec_fn=end_with_parent) as process:
                    try:
                        for line in process.stdout:
                            if message := message_of(line):
                                kinds.add(message[0])
                                self.hand_over(message, line, what, take)
                    except BaseException:
                        process.terminate()
                        raise
                code = process.returncode
            except OSError as error:
                code = 127
                errors.write(f"{words[0]}: {error.strerror}\n")
            errors.seek(0)
            self.require_success(code, kinds, errors.read(), counted(ranks), what)

    def hand_over(self, message, line, what, take):
        try:
            take(*message)
        except (KeyError, TypeError, ValueError) as error:
            raise RunError(f'{what}: {self.program} prints "{line.strip()}", which is not understood: {error}') from error

    def require_success(self, code, kinds, errors, ranks, what):
        if code == 0 and "done" in kinds:
            return
        reason = message_in(errors)
        if not kinds and "scree: " not in errors:
            raise InputError(f'{ranks} could not be started with "{self.words}":\n{reason}')
        text = f"{what} on {ranks}: {reason}"
        if code == 2:
            raise InputError(text)
        raise RunError(f"{text} (exit code {code if code >= 0 else 128 - code})")
