"""Commands of scree on several ranks without a start of MPI for each: command_server.cpp reads them from pipes."""
import atexit
import os
import select
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from scree_program import Failure, Process, program

# Other verbs may become another program; "planted" is the server's own (tests/badinput/test_refusals.py).
VERBS = ("run", "check", "restart", "info", "compare", "sweep", "planted")
TEXTS = 4        # of an answer
_servers = {}    # by number of ranks


class ServerEnded(Exception):
    """The command ended all ranks, as a crash does."""


@dataclass
class Answer:
    """How a command ended on one rank; `message`: of the error that ended it."""
    code: int
    message: str
    stdout: str
    stderr: str


class CommandServer:
    def __init__(self, ranks):
        self.folder = Path(tempfile.mkdtemp(prefix="scree-commands-"))
        self._commands = [self._pipe(f"commands.{rank}") for rank in range(ranks)]
        self._answers = [self._pipe(f"answers.{rank}") for rank in range(ranks)]
        self._process = Process(["mpirun", "-n", ranks, program("scree_commands"), self.folder], None)

    def answers(self, *arguments, folder, timeout) -> list:
        """An Answer of each rank. Raises ServerEnded, or Failure after `timeout` seconds."""
        words = [str(word) for word in arguments]
        command = "".join(f"{text}\0" for text in (len(words), Path(folder).resolve(), *words)).encode()
        for pipe in self._commands:
            os.write(pipe, command)
        deadline = time.monotonic() + timeout
        return [self._answer(pipe, deadline, words) for pipe in self._answers]

    def end(self):
        """Ends all ranks: there are no more commands."""
        for pipe in self._commands:
            os.close(pipe)
        self._process.finish(timeout=10)
        for pipe in self._answers:
            os.close(pipe)
        shutil.rmtree(self.folder)

    def _pipe(self, name) -> int:
        os.mkfifo(self.folder / name)
        return os.open(self.folder / name, os.O_RDWR)    # does not wait for the other end

    def _answer(self, pipe, deadline, words) -> Answer:
        read = b""
        while read.count(b"\0") < TEXTS:
            if select.select([pipe], [], [], 0.05)[0]:
                read += os.read(pipe, 1 << 16)
            elif not self._process.running():
                raise ServerEnded
            elif time.monotonic() > deadline:
                raise Failure(f"scree {' '.join(words)} takes too long\n{self._process.finish(timeout=0)}")
        code, *texts = read.decode(errors="backslashreplace").split("\0")[:TEXTS]
        return Answer(int(code), *texts)


def answers(*arguments, ranks, folder, timeout=60):
    """How `scree <arguments>` ends on each rank: a list of Answer; None if only a job of its own can show it: the verb is
    not one of VERBS, the server is not built, or it did not survive the command."""
    verb = next((str(word) for word in arguments if not str(word).startswith("-")), "")
    if verb not in VERBS or not is_built():
        return None
    if ranks not in _servers:
        _servers[ranks] = CommandServer(ranks)
    try:
        return _servers[ranks].answers(*arguments, folder=folder, timeout=timeout)
    except ServerEnded:
        _servers.pop(ranks).end()
        return None
    except Failure:
        _servers.pop(ranks).end()
        raise


def is_built() -> bool:
    return program().with_name("scree_commands").exists()


@atexit.register
def _end_all():
    while _servers:
        _servers.popitem()[1].end()
