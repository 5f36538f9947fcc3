"""What all parts of the campaign share: a case of its own seed, runs under limits, what every run owes its user, and the
table at the end.

A part is a module with NAME, a function prepare(workshop), and a function attempt(case), which returns "ok" or "refused" and
reports with case.finding(...) what should not be. Case k of seed s is made of Random("NAME s k"): it is the same whatever ran before it.
"""
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import sys
import threading
import time
import traceback
from pathlib import Path
from random import Random

import scree_program
from scree_program import Process

DOCUMENTED = {0, 1, 2, 3, 4, 5}    # docs/conventions.md, "Exit codes"
BAD_INPUT, INTERRUPTED = 2, 4
SANITIZED = "ASAN_OPTIONS" in os.environ    # as tests/CMakeLists.txt says: shadow memory has terabytes of addresses, and all takes long
MEMORY = 4 << 30                # address space of each process: absurd input may not take the machine with it [bytes]
TIME_LIMIT = 1200 if SANITIZED else 120     # a run that takes longer hangs; all of them are made to end within seconds [s]
LONGEST_MESSAGE = 4000          # characters

# What no user may be shown, in the words of those who print it.
DEBRIS = ["terminate called", "Traceback", "PETSC ERROR", "HDF5-DIAG", "Process received signal", "Signal:", "Segmentation",
          "AddressSanitizer", "runtime error:", "Assertion", "bad_alloc", "std::", "vector::", "basic_string", "length_error",
          "HDF5:", "MPI_ABORT", "MPI_ERR", "stack smashing", "corrupted size", "double free", "free():", "malloc", "json.exception", "boost::", "toml::"]
MPIRUN = re.compile(r"^-{20,}\n.*?^-{20,}\n|^\[[^\n]*\n|^mpirun[^\n]*\n", re.MULTILINE | re.DOTALL)


# The C library's last words when HDF5 has ruined the heap over damaged metadata: a run that is refused may end with them.
HEAP = re.compile(r"^(munmap_chunk|free|malloc|realloc|double free|corrupted)[^\n]*\n?", re.MULTILINE)
CRASH = "ended in a crash of the library that reads it"


def without_last_words(result) -> str:
    """Standard error of a run that is refused without what the C library adds."""
    is_refused = result.code == BAD_INPUT and re.search(r"^scree(_replay)?: ", result.stderr, re.MULTILINE)
    return HEAP.sub("", result.stderr) if is_refused else result.stderr


def words_of(result) -> str:
    """Standard error without what mpirun and the C library add."""
    return MPIRUN.sub("", without_last_words(result))


def message_of(result) -> str:
    """The error message: from "scree: " on; empty if there is none."""
    words = words_of(result)
    place = re.search(r"^scree(_replay)?: ", words, re.MULTILINE)
    return words[place.start():].strip() if place else ""


class Case:
    """One attempt of a part: its random numbers, its folder, and what it found."""

    def __init__(self, part, seed, number, folder, workshop):
        self.part, self.seed, self.number, self.folder, self.workshop = part, seed, number, Path(folder), workshop
        self.random = Random(f"{part} {seed} {number}")
        self.kind = ""                  # of what was tried: counted in the table
        self.findings = []
        self.commands = []

    def finding(self, text, evidence=""):
        self.findings.append((text, str(evidence)))

    def run(self, *arguments, ranks=1, name="scree", folder=None, timeout=TIME_LIMIT, limits=(), bare=False):
        """Runs a program under limits; judges what holds for every end. `limits`: more options of prlimit; `bare`: one
        rank without mpirun."""
        process = self.start(*arguments, ranks=ranks, name=name, folder=folder, limits=limits, bare=bare,
                             environment=scree_program.END_AT_ONCE)
        result = process.finish(timeout)
        self.judge(result)
        return result

    def start(self, *arguments, ranks=1, name="scree", folder=None, limits=(), bare=False, environment=None):
        launcher = [] if bare and ranks == 1 else ["mpirun", "-n", ranks]
        settings = [f"{key}={value}" for key, value in (environment or {}).items()]
        # Whoever runs the campaign in the background ignores SIGINT, and so would what is started here.
        process = Process(["env", "--default-signal=INT,TERM,USR1", *settings, "prlimit", f"--as={'unlimited' if SANITIZED else MEMORY}", "--core=0", *limits, *launcher,
                           scree_program.program(name), *arguments], folder or self.folder)
        self.commands.append(f"cd {shlex.quote(str(folder or self.folder))} && {shlex.join(process.command)}")
        return process

    def judge(self, result):
        """What every run owes its user: an end, a documented exit code, one message that is fit to read."""
        if result.timed_out:
            self.finding("hangs", result)
            return
        said = without_last_words(result)
        debris = [word for word in DEBRIS if word in said or word in result.stdout]
        if result.code not in DOCUMENTED:
            self.finding(f"exit code {result.code}", result)
        if debris:
            self.finding(f"shows {debris[0]!r}", result)
        elif result.code in (2, 3) or (result.code == 1 and "compare" not in result.command):   # compare: the two differ
            self.judge_message(result)

    def judge_message(self, result):
        words = words_of(result)
        n_messages = len(re.findall(r"^scree(?:_replay)?: ", words, re.MULTILINE))
        message = message_of(result)
        if n_messages != 1:
            self.finding(f"{n_messages} messages with exit code {result.code}", result)
        elif len(message) > LONGEST_MESSAGE:
            self.finding(f"a message of {len(message) // 1000} thousand characters", result.stderr[:2000])
        elif re.search(r"[\x00-\x08\x0b-\x1f\x7f]", message):
            self.finding("control characters in a message", repr(message))

    def same(self, first, second, claim):
        """Two ends of one thing: the same exit code and the same message. Runs out of time are not compared."""
        if first.timed_out or second.timed_out or INTERRUPTED in (first.code, second.code):
            return True
        if first.code != second.code:
            self.finding(f"{claim}: exit codes {first.code} and {second.code}", f"{first}\n{second}")
            return False
        # Whether HDF5 crashes over damaged metadata or sees them depends on what lies in memory.
        crashed = CRASH in message_of(first) or CRASH in message_of(second)
        if message_of(first) != message_of(second) and not crashed:
            self.finding(f"{claim}: another message", f"{message_of(first)}\n{message_of(second)}")
            return False
        return True


class Workshop:
    """Where cases work: scratch, and what is kept of findings."""

    def __init__(self, scratch, keep, reproduce):
        self.scratch, self.keep, self.reproduce = Path(scratch), Path(keep), reproduce

    def folder(self, name) -> Path:
        """An empty folder."""
        folder = self.scratch / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder


class Tally:
    """Counts of one part, by kind."""

    def __init__(self, part):
        self.part, self.counts, self.signatures = part, {}, {}

    def add(self, case, outcome):
        row = self.counts.setdefault(case.kind or "-", {"tried": 0, "refused": 0, "ok": 0, "findings": 0})
        row["tried"] += 1
        row["findings" if case.findings else outcome] += 1

    def total(self, what) -> int:
        return sum(row[what] for row in self.counts.values())


def run_case(part, seed, number, workshop):
    """One case, findings kept with their files. Returns the case and its outcome."""
    folder = workshop.folder(f"{part.NAME}.{seed}.{number}")
    case = Case(part.NAME, seed, number, folder, workshop)
    try:
        outcome = part.attempt(case)
    except Exception as error:      # a fault of the campaign is a finding too: nothing passes unseen
        case.finding(f"the campaign failed: {type(error).__name__}: {error}", traceback.format_exc())
        outcome = "ok"
    if case.findings:
        _keep(case, workshop)
    shutil.rmtree(folder, ignore_errors=True)
    return case, outcome


def _keep(case, workshop):
    place = workshop.keep / f"{case.part}.{case.seed}.{case.number}"
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(case.folder, place, symlinks=True, ignore_dangling_symlinks=True)
    again = f"{workshop.reproduce} --part {case.part} --seed {case.seed} --case {case.number}"
    text = [f"# {again}", *case.commands, ""]
    for words, evidence in case.findings:
        text += [f"== {words}", evidence, ""]
    (place / "finding.txt").write_text("\n".join(text), errors="backslashreplace")


def run_part(part, seed, workshop, first=0, count=None, until=None, jobs=1, verbose=False):
    """Cases first, first + 1, ...: `count` of them, or as many as begin before the time `until`."""
    part.prepare(workshop)
    tally = Tally(part.NAME)
    lock = threading.Lock()
    numbers = iter(range(first, first + count) if count is not None else range(first, sys.maxsize))

    def work(core):
        # Ranks of one case wait for each other by yielding: on a core of their own they do not take the time of other cases.
        if getattr(part, "ON_ONE_CORE", False):
            os.sched_setaffinity(0, {core})
        while until is None or time.monotonic() < until:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            case, outcome = run_case(part, seed, number, workshop)
            with lock:
                tally.add(case, outcome)
                for words, _ in case.findings:
                    tally.signatures.setdefault(words, []).append(number)
                    print(f"{part.NAME} {seed} {number} ({case.kind}): {words}", flush=True)
                if verbose and not case.findings:
                    print(f"{part.NAME} {seed} {number} ({case.kind}): {outcome}", flush=True)

    cores = sorted(os.sched_getaffinity(0))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for job in [pool.submit(work, cores[k % len(cores)]) for k in range(jobs)]:
            job.result()
    # A generator whose decks are mostly refused tries nothing.
    tried, refused = tally.total("tried"), tally.total("refused")
    if tried >= 20 and refused > getattr(part, "MAX_REFUSED", 1) * tried:
        tally.signatures[f"{refused} of {tried} cases are refused"] = [first]
        tally.counts["refused too often"] = {"tried": 0, "refused": 0, "ok": 0, "findings": 1}
    return tally


def table(tallies) -> str:
    """Counts of all parts, a row for each kind of case."""
    rows = [("part", "kind", "tried", "refused", "ok", "findings")]
    for tally in tallies:
        rows += [(tally.part, kind, *(str(row[what]) for what in ("tried", "refused", "ok", "findings")))
                 for kind, row in sorted(tally.counts.items())]
        if len(tally.counts) != 1:
            rows.append((tally.part, "all", *(str(tally.total(what)) for what in ("tried", "refused", "ok", "findings"))))
    widths = [max(len(row[k]) for row in rows) for k in range(6)]
    return "".join("  ".join([row[0].ljust(widths[0]), row[1].ljust(widths[1]),
                              *(row[k].rjust(widths[k]) for k in range(2, 6))]) + "\n" for row in rows)


# ---- what runs leave

def files_of(folder) -> dict:
    """Every file below a folder: relative name -> bytes."""
    folder = Path(folder)
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and not path.is_symlink()}


def summary_of(results) -> dict:
    path = Path(results) / "summary.json"
    return json.loads(path.read_text()) if path.is_file() else {}
