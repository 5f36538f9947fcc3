"""What Python tests of the built programs share: running them, checks, scratch folders, readers.

A test file is a list of functions, run by pytest:

    from scree_program import check, scree

    def test_a_wrong_key_is_named(folder):
        (folder / "deck.toml").write_text("[simulation]\\nend = 1\\n")
        result = scree("check", folder / "deck.toml", ranks=2)
        check(result.code == 2, "exit code of bad input is 2", result)

`folder` is an empty folder of the test's own (tests/conftest.py). `ctest -R <name> -V` runs one file, and so does
`pytest-3 tests/regression/test_x.py [--bin build/release/bin] [-k part_of_a_name]`.
"""
import csv
import itertools
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
from dataclasses import dataclass
from pathlib import Path

# For runs that fail: mpirun else waits a second or two to see whether all ranks are gone.
END_AT_ONCE = {"OMPI_MCA_odls_base_sigkill_timeout": "0"}
_numbers = itertools.count()
_ROOT = Path(__file__).resolve().parents[2]
_folders = {"bin": None, "source": _ROOT}


class Failure(AssertionError):
    """A check that did not hold."""


def use(bin_folder, source=_ROOT):
    """Says where the programs and the repository are."""
    _folders.update(bin=bin_folder, source=source)


def source_folder() -> Path:
    """Root of the repository."""
    return Path(_folders["source"])


def program(name="scree") -> Path:
    """Path of a built program; skips the test when it was not built."""
    path = Path(_folders["bin"]).resolve() / name
    if not path.exists():
        raise unittest.SkipTest(f"{name} is not built")    # pytest knows it; scripts can do without pytest
    return path


@dataclass
class Result:
    """How a run ended. `code` is the exit code of mpirun, which is the program's; `timed_out` runs were killed."""
    command: list
    code: int
    stdout: str
    stderr: str
    seconds: float
    timed_out: bool = False

    def __str__(self):
        ending = "killed at its time limit" if self.timed_out else f"exit code {self.code}"
        return (f"$ {' '.join(self.command)}\n{ending} after {self.seconds:.1f} s\n"
                f"--- stdout\n{self.stdout}\n--- stderr\n{self.stderr}")


class Process:
    """A started run; `send` signals mpirun, which hands USR1 and USR2 on to every rank."""

    def __init__(self, command, folder, more=None):
        self.command = [str(word) for word in command]
        self.start = time.monotonic()
        environment = _environment() | (more or {})
        # Jobs at the same time must not share a folder of sessions: see `sessions` in tests/CMakeLists.txt.
        self._sessions = None
        if "SCREE_SESSIONS" in environment and {"mpirun", "verify"} & set(self.command):
            self._sessions = f"{environment['SCREE_SESSIONS']}/{os.getpid()}.{next(_numbers)}"
            environment["OMPI_MCA_orte_tmpdir_base"] = self._sessions
        # A session of its own: every process of the run can be found and ended, also ranks that mpirun lost.
        self._popen = subprocess.Popen(self.command, cwd=folder, env=environment, text=True,
                                       errors="backslashreplace", stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)

    def send(self, number):
        self._popen.send_signal(number)

    def pids(self) -> list:
        """Process ids of mpirun and of all ranks that are there now."""
        return pids_of_session(self._popen.pid)

    def running(self) -> bool:
        return self._popen.poll() is None

    def finish(self, timeout=300) -> Result:
        """Waits; ends all processes of the run when `timeout` seconds have passed."""
        timed_out = False
        try:
            out, err = self._popen.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            timed_out = True
            for pid in pids_of_session(self._popen.pid):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            out, err = self._popen.communicate()
        if self._sessions:
            shutil.rmtree(self._sessions, ignore_errors=True)
        return Result(self.command, self._popen.returncode, out, err, time.monotonic() - self.start, timed_out)


def python_command(*words) -> list:
    """What starts a command of the Python package as the program does: `scree render results/a` is python_command("render", "results/a")."""
    return [sys.executable, source_folder() / "postprocess/scree/commands/__main__.py", *map(str, words)]


def start(*arguments, ranks=1, name="scree", folder=None) -> Process:
    """Starts `scree <arguments>` on `ranks` ranks, in `folder` if given."""
    return Process(["mpirun", "-n", ranks, program(name), *arguments], folder)


def without_launcher(*arguments, name="scree", folder=None, **more) -> Process:
    """Starts `scree <arguments>` as one types it, without mpirun: signals reach the program itself, also in a test that
    ignores them. `more`: variables of the environment."""
    return Process(["env", "--default-signal=INT,TERM,USR1", program(name), *arguments], folder, more)


def scree(*arguments, ranks=1, name="scree", folder=None, timeout=300) -> Result:
    """Runs `scree <arguments>` to its end; `name` chooses another of the built programs."""
    result = start(*arguments, ranks=ranks, name=name, folder=folder).finish(timeout)
    if result.timed_out:
        raise Failure(f"a run took longer than {timeout} s\n{result}")
    return result


def verify(*arguments, ranks=1, folder=None, timeout=600) -> Result:
    """Runs `scree verify <arguments>` to its end; it starts the ranks of its runs itself."""
    process = without_launcher("verify", *arguments, "--ranks", ranks, folder=folder, SCREE_PYTHON=sys.executable)
    result = process.finish(timeout)
    if result.timed_out:
        raise Failure(f"a verification took longer than {timeout} s\n{result}")
    return result


def verified(table, *arguments, **options) -> list:
    """The rows of the table of a verification, all checks of which hold but for those that are known not to, as dicts."""
    __tracebackhide__ = True
    result = verify(*arguments, "--csv", table, **options)
    check(result.code == 0 and re.search("all( others)? hold$", result.stdout, re.M), "the report says that all checks hold", result)
    with open(table, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def wait_for(condition, claim, seconds=60):
    """Until condition() holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < deadline, claim)
        time.sleep(0.02)


def run_ok(*arguments, **options) -> Result:
    """As scree(), for a run that has to end with exit code 0."""
    __tracebackhide__ = True
    result = scree(*arguments, **options)
    check(result.code == 0, "the run ends with exit code 0", result)
    return result


def findings(deck, *arguments, **options) -> list[str]:
    """What `scree check` finds in a deck that it takes."""
    __tracebackhide__ = True
    return json.loads(run_ok("check", "--json", deck, *arguments, **options).stdout)["findings"]


def check(condition, claim, evidence=""):
    """Fails the test unless `condition` holds; `claim` says what should be true, `evidence` what was seen."""
    __tracebackhide__ = True    # of pytest: it shows the line of the test
    if not condition:
        raise Failure(f"not true: {claim}\n{evidence}")


def check_close(value, expected, claim, relative=0.0, absolute=0.0):
    """Fails the test unless |value - expected| <= absolute + relative |expected|; NaN is never close."""
    __tracebackhide__ = True
    error = abs(value - expected)
    bound = absolute + relative * abs(expected)
    check(math.isfinite(value) and error <= bound, claim,
          f"found {value!r}, expected {expected!r}, difference {error:.3g}, allowed {bound:.3g}")


def check_in(text, within, claim):
    """Fails the test unless `text` occurs in the string `within`."""
    __tracebackhide__ = True
    check(text in within, claim, f"looked for: {text}\nin: {within}")


def rows_of(path) -> list:
    """A table of results (scalars, certificate): a dict for each row, column without its unit -> number."""
    with open(path, newline="") as file:
        return [{title.partition("[")[0]: float(value) for title, value in row.items()} for row in csv.DictReader(file)]


def read_arrays(path) -> dict:
    """Every dataset of an HDF5 file (a checkpoint, say): full name without the first slash -> array."""
    import h5py

    arrays = {}
    with h5py.File(path, "r") as file:
        file.visititems(lambda name, item: arrays.__setitem__(name, item[()]) if isinstance(item, h5py.Dataset) else None)
    return arrays


def check_same_arrays(path_a, path_b, claim, ignore=()):
    """Fails unless two HDF5 files hold the same datasets, byte for byte, except those named in `ignore`."""
    import numpy

    __tracebackhide__ = True
    a, b = read_arrays(path_a), read_arrays(path_b)
    check(a.keys() == b.keys(), f"{claim}: same datasets", f"only in one file: {sorted(a.keys() ^ b.keys())}")
    for name in sorted(a.keys() - set(ignore)):
        x, y = numpy.asarray(a[name]), numpy.asarray(b[name])
        same = x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
        if not same and x.dtype == y.dtype == object:    # variable-length text
            same = x.shape == y.shape and bool((x == y).all())
        first = numpy.argwhere(x != y)[:1].tolist() if x.shape == y.shape else []
        check(same, f"{claim}: {name} is the same", "".join(
            f"{path}: {values.dtype}{values.shape} {''.join(f'{i}: {values[tuple(i)]!r}' for i in first)}\n"
            for path, values in ((path_a, x), (path_b, y))))


def _environment() -> dict:
    """This process's environment and, where it says nothing, the exports of scripts/environment.sh and its own Python."""
    environment = dict(os.environ)
    for line in (_ROOT / "scripts" / "environment.sh").read_text().splitlines():
        if line.startswith("export "):
            name, value = line.removeprefix("export ").split("=", 1)
            environment.setdefault(name, value)
    environment.setdefault("SCREE_PYTHON", sys.executable)     # which has the packages of the tests
    return environment


def pids_of_session(session) -> list:
    """Processes of a session: mpirun and its ranks."""
    pids = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            # After the name in brackets: state, parent, process group, session.
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:      # it ended meanwhile
            continue
        if int(fields[3]) == session:
            pids.append(int(entry.name))
    return pids
