"""(c) Runs that are killed, stopped, held up, or run out of disk at random moments, then go on with `--resume` on another number
of ranks: in the end every file is as the undisturbed run has it."""
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import random_decks
from decks import toml
from harness import INTERRUPTED, TIME_LIMIT, message_of
from random_decks import equal
from scree_program import run_ok

NAME = "kills"

SCHEMES = ("pbd", "nonsmooth", "dem", "crowd")
# Steps, so that a run takes a second or so beyond its start.
STEPS = {"pbd": 600, "nonsmooth": 250, "dem": 1500, "crowd": 150}
MAX_DISTURBANCES = 3
IN_GOOD_ORDER = ("usr1", "int", "term")     # signals that a run answers with a checkpoint and exit code 4
FAILED = 1


def prepare(workshop):
    """The undisturbed runs, and how long they take here and now."""
    global BASE, SECONDS
    BASE, SECONDS = workshop.folder("kills-base"), {}
    for scheme in SCHEMES:
        (BASE / f"{scheme}.toml").write_text(toml(deck_of(scheme)))
        SECONDS[scheme] = run_ok("-q", "run", f"{scheme}.toml", folder=BASE, ranks=2).seconds


def deck_of(scheme):
    """Every kind of file is written, and often."""
    deck = random_decks.plain(scheme)
    deck["simulation"]["end_time"] = STEPS[scheme] * deck["time"]["step"]
    often = STEPS[scheme] // 30
    deck["output"] = {"name": scheme, "checkpoint": {"every_steps": often}, "h5md": {"every_steps": often},
                      "vtk": {"every_steps": 2 * often}}
    if scheme == "crowd":
        deck["output"]["trajectory"] = {"fps": 10}
    return deck


def attempt(case):
    rng = case.random
    scheme = rng.choice(SCHEMES)
    how = rng.choice(list(DISTURBANCES))
    case.kind = how
    deck = case.folder / f"{scheme}.toml"
    deck.write_text((BASE / deck.name).read_text())
    results = case.folder / "results"
    if how == "disk":
        return full_disk(case, scheme, deck)
    arguments = ["-q", "run", deck.name, "--resume", "--set", "output.directory=results"]
    for _ in range(rng.randrange(1, MAX_DISTURBANCES + 1)):
        # Without mpirun too: it ends ranks in its own way, and has exit codes of its own.
        n_ranks, bare = rng.choice([(1, True), (1, False), (2, False), (2, False), (3, False)])
        before = newest(results)
        process = case.start(*arguments, ranks=n_ranks, bare=bare)
        time.sleep(rng.uniform(0, 1.1) * SECONDS[scheme])
        ranks = ranks_of(process)
        if process.running():
            DISTURBANCES[how](rng, process)
        result = process.finish(TIME_LIMIT)
        wait_until_gone(ranks)
        judge_end(case, how, result, bare, newest(results) != before)
        if result.code == 0 or case.findings:
            break
    complete(case, scheme, arguments, results)
    return "ok"


def complete(case, scheme, arguments, results):
    """Goes on to the end without disturbance, and compares."""
    result = case.run(*arguments, ranks=case.random.choice([1, 2, 3]))
    if result.code != 0:
        case.finding(f"cannot go on: exit code {result.code}", result)
        return
    equal(case, BASE / "results" / scheme, results / scheme, f"after {case.kind}")
    left = [path.name for path in results.rglob("*") if path.name.endswith((".part", ".tmp"))]
    if left:
        case.finding("unfinished files are left behind", left)


def newest(folder):
    """When something was last written below a folder; nothing if there is none."""
    return max((path.stat().st_mtime_ns for path in folder.rglob("*")), default=None)


def judge_end(case, how, result, bare, has_begun):
    if result.timed_out:
        case.finding("hangs", result)
    elif how == "hold" and result.code != 0:
        case.finding(f"held up, then exit code {result.code}", result)
    elif how in IN_GOOD_ORDER and (bare or how == "usr1") and has_begun and result.code not in (0, INTERRUPTED):
        # Before it has begun to write a program may not be there yet to answer.
        case.finding(f"{how} ends with exit code {result.code}", result)


# ---- what is done to a run

def ranks_of(process) -> list:
    """Process ids of the ranks: what mpirun started."""
    found = []
    for pid in process.pids():
        try:
            name = Path(f"/proc/{pid}/comm").read_text().strip()
        except OSError:
            continue
        if name.startswith("scree"):
            found.append(pid)
    return found


def wait_until_gone(pids):
    """An mpirun that is stopped twice may end before its ranks do, and these hold the lock of the folder."""
    for _ in range(200):
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            return
        time.sleep(0.05)


def send(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def kill_all(rng, process):
    send(process.pids(), signal.SIGKILL)


def kill_one(rng, process):
    ranks = ranks_of(process)
    send(rng.sample(ranks, min(1, len(ranks))), signal.SIGKILL)


def terminate(rng, process):
    process.send(signal.SIGTERM)


def interrupt(rng, process):
    process.send(signal.SIGINT)


def usr1(rng, process):
    process.send(signal.SIGUSR1)


def twice(rng, process):
    """Ctrl-C, and again while the first one is being answered."""
    process.send(signal.SIGINT)
    time.sleep(rng.uniform(0, 0.5))
    process.send(signal.SIGINT)


def hold(rng, process):
    """Some ranks, or all, are stopped for a moment."""
    ranks = ranks_of(process)
    chosen = rng.sample(ranks, rng.randrange(1, len(ranks) + 1)) if ranks else []
    send(chosen, signal.SIGSTOP)
    time.sleep(rng.uniform(0.05, 0.5))
    send(chosen, signal.SIGCONT)


DISTURBANCES = {"kill all": kill_all, "kill one": kill_one, "term": terminate, "int": interrupt, "usr1": usr1, "int twice": twice,
                "hold": hold, "disk": None}


# ---- a disk that fills up

def full_disk(case, scheme, deck):
    """A small file system of its own, where this is allowed; a limit on the size of files where it is not."""
    rng = case.random
    results = case.folder / "disk"
    results.mkdir()
    arguments = ["-q", "run", deck.name, "--resume", "--set", "output.directory=disk"]
    needed = sum(path.stat().st_size for path in (BASE / "results" / scheme).rglob("*") if path.is_file())
    room = int(needed * rng.uniform(0.05, 0.9)) // 4096 * 4096 + 4096
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={room}", "tmpfs", results], capture_output=True).returncode == 0
    try:
        limits = [] if mounted else [f"--fsize={max(4096, room // 8)}"]
        result = case.run(*arguments, ranks=rng.choice([1, 2, 3]), limits=limits)
        if result.code not in (0, FAILED, 2):
            case.finding(f"a full disk ends with exit code {result.code}", result)
        elif result.code and not re.search(r"space|large|full|written|write", message_of(result)):
            case.finding("a full disk is not named", result)
        if mounted:
            subprocess.run(["mount", "-o", "remount,size=200m", results], check=True, capture_output=True)
        complete(case, scheme, arguments, results)
    finally:
        if mounted:
            subprocess.run(["umount", "-l", results], check=False, capture_output=True)
    return "ok"
