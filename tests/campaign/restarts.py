"""(f) Every shipped deck, stopped at three moments and gone on with on other numbers of ranks: all files but logs, timers and command
lines are in the end those of a run without a stop.

Case k is deck k, in the order of their names. A deck is shortened to what it does in SECONDS; the last part ends there.
"""
import re
import shutil

from harness import INTERRUPTED, summary_of
from same_files import same_files
from scree_program import source_folder

NAME = "restarts"
SECONDS = 4             # of real time in the whole run; up to 20 see more
TIME_LIMIT = 600
RANKS = (1, 2, 3, 4)
# Whose bits depend on who owns which body (docs/architecture.md): these stay on one rank.
OF_THE_RANKS = re.compile(r'^type = "(admm|auto|ipm|newton|proximal)"|"dae"', re.MULTILINE)
# What ships too large to start within seconds, and what makes it smaller.
SMALLER = {"scaling/disks_1e7": ["particles.disks.source.count=100000", "particles.disks.source.region.lower=[-0.314,-0.28]",
                                 "particles.disks.source.region.upper=[0.314,0.28]"]}
ENDS = ("status", "exit_code", "end_time_s")    # of a summary: how a run ended
# Energy balances, which cost time in "dem", are kept.
MORE = {"granular/wet_heap": ["measures.energy.balance=true"], "granular/cohesive_column": ["measures.energy.balance=true"]}


def decks() -> list:
    """Names of all shipped decks below inputs/, without .toml."""
    inputs = source_folder() / "inputs"
    return [str(path.relative_to(inputs).with_suffix("")) for path in sorted(inputs.rglob("*.toml"))]


def prepare(workshop):
    """Nothing is needed."""


def attempt(case):
    names = decks()
    return stop_and_go_on(case, names[case.number % len(names)])


def stop_and_go_on(case, name, seconds=SECONDS):
    """Runs the shipped deck whole, then with stops, and compares."""
    case.kind = name
    changes = [word for change in SMALLER.get(name, []) + MORE.get(name, []) for word in ("--set", change)]
    whole = _whole(case, name, [*changes, "--max-wall-time", seconds])
    if whole is None:
        return "ok"
    summary = summary_of(whole)
    end = ["--set", f"simulation.end_time={summary['time_s']!r}"]
    if summary["exit_code"] == 0:
        differing = _in_parts(case, name, whole, changes, changes, seconds)
    else:
        # Where the limit of time stopped it is the end of the last part.
        differing = _in_parts(case, name, whole, changes, changes + end, seconds, but=ENDS)
        if differing:   # steps that are cut may know the end of the run: to be sure, both have it from their start on
            whole = _whole(case, name, changes + end)
            differing = _in_parts(case, name, whole, changes + end, changes + end, seconds) if whole else []
    if differing:
        case.finding(f"{name}: {differing[0][:300]}", "\n".join(differing))
    return "ok"


def _deck(name):
    return source_folder() / "inputs" / f"{name}.toml"


def _ranks(name):
    return (1,) if OF_THE_RANKS.search(_deck(name).read_text()) else RANKS


def _whole(case, name, changes):
    """Results of the run without stops; nothing if there are none."""
    shutil.rmtree(case.folder / "whole", ignore_errors=True)
    whole = case.run("-q", "run", _deck(name), *changes, "--set", "output.directory=whole", ranks=case.random.choice(_ranks(name)),
                     timeout=TIME_LIMIT)
    results = [path.parent for path in case.folder.glob("whole/*/summary.json")]
    if whole.code in (0, INTERRUPTED) and len(results) == 1:
        return results[0]
    case.finding(f"{name}: exit code {whole.code}", whole)
    return None


def _in_parts(case, name, whole, first_changes, changes, seconds, but=()):
    """What differs from the whole after stops; the changes of the deck are those of the first part, then of the others."""
    rng = case.random
    parts = case.folder / "parts" / whole.name
    shutil.rmtree(parts.parent, ignore_errors=True)
    n_ranks, n_stops = 0, 0
    for limit in (1e-6, rng.uniform(0.1, 0.4) * seconds, rng.uniform(0.1, 0.4) * seconds, None):
        ranks = _ranks(name)
        n_ranks = rng.choice([n for n in ranks if n != n_ranks] or ranks)
        now = changes if n_stops else first_changes
        arguments = ["run", _deck(name), "--resume", *now, "--set", "output.directory=parts"]
        checkpoints = sorted(parts.glob("checkpoint/*.scree"))
        if checkpoints and rng.random() < 0.5:
            arguments = ["restart", checkpoints[-1], *now[-2:]]
        stop = [] if limit is None else ["--max-wall-time", f"{limit:.6g}"]
        part = case.run("-q", *arguments, *stop, ranks=n_ranks, timeout=TIME_LIMIT)
        n_stops += part.code == INTERRUPTED
        if part.code != INTERRUPTED:
            break
    if part.code != 0:
        case.finding(f"{name}: exit code {part.code} after {n_stops} stops", part)
    elif n_stops == 0 and summary_of(whole)["steps"] > 1:
        case.finding(f"{name}: was not stopped", part)
    return same_files(whole, parts, but)
