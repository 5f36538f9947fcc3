#!/usr/bin/env python3
"""What a fixed set of runs comes to, in a folder: for changes that may change no result.

    scripts/state-hashes.sh record before                          # before the change
    scripts/state-hashes.sh compare before                         # after it; says what differs, and where
    scripts/state-hashes.sh compare before --renames words.toml    # after a change of words: the table says which (recorded_runs.py)

The runs: every shipped deck, cut down to some bodies and steps, and decks made at random, with the seeds of the campaign. Compared are
exit codes, messages, state hashes, all tables (CSV), frames (H5MD, paths of people, XDMF, for ParaView), contact problems, checkpoints, the
resolved deck and what summaries say of the run, not of the machine. On several ranks (--ranks) frames for ParaView are left out: they show
who had which body. Floating point depends on the machine: compare on the one that recorded. Exit code 0: nothing differs; 1: something does.
"""
import argparse
import concurrent.futures
import fnmatch
import json
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import mutated_decks    # noqa: E402
import random_decks    # noqa: E402
import scree_program    # noqa: E402
from decks import toml    # noqa: E402
from harness import words_of    # noqa: E402
from recorded_runs import Renames, differences    # noqa: E402

BODIES, STEPS = 400, 60
RANDOM_DECKS, SEED = 80, 1
OUTPUTS = ("h5md", "vtk")   # of every shipped deck, besides its own
MAX_LINES = 20             # about one run


def with_frames(text):
    """A deck that writes frames, the first, one on its way and the last, with cells of navigation that no exit is too narrow for."""
    tables = tomllib.loads(text)
    if "cell" in tables.get("navigation", {}):
        tables["navigation"]["cell"] = 0.5
    for output in OUTPUTS:
        given = tables.setdefault("output", {}).setdefault(output, {})
        given.pop("every", None)
        given["every_steps"] = STEPS // 2
    return toml(tables)


def decks():
    """(name, text, whether it is a shipped one) of every run."""
    for name, text in mutated_decks.shipped(BODIES, STEPS).items():
        yield name, with_frames(text), True
    for k in range(RANDOM_DECKS):
        deck, _ = random_decks.made(Random(f"random {SEED} {k}"))
        yield f"random/{k}", toml(deck), False


def run_into(folder, run, ranks):
    """Runs a deck; `folder` then holds how it ended, and its results."""
    name, text, is_shipped = run
    with tempfile.TemporaryDirectory(prefix="state-hash-") as scratch:
        scratch = Path(scratch)
        if is_shipped:
            mutated_decks.copy_files_beside(name, scratch)
            for beside in (scree_program.source_folder() / "inputs" / name).parent.glob("*/"):
                shutil.copytree(beside, scratch / beside.name)
        (scratch / "deck.toml").write_text(text)
        result = scree_program.scree("-q", "run", "deck.toml", "--set", "output.directory=results", ranks=ranks, folder=scratch)
        folder.mkdir(parents=True)
        (folder / "end.json").write_text(json.dumps({"code": result.code, "message": words_of(result)}))
        if (scratch / "results").is_dir():
            shutil.copytree(scratch / "results", folder, dirs_exist_ok=True)


def run_all(runs, folder, ranks, jobs):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in [pool.submit(run_into, folder / run[0], run, ranks) for run in runs]:
            done.result()


def record(folder, runs, options):
    if folder.exists():
        sys.exit(f"{folder} is there already")
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    run_all(runs, part, options.ranks, options.jobs)
    (part / "runs.json").write_text(json.dumps({"ranks": options.ranks, "runs": [run[0] for run in runs]}))
    part.rename(folder)
    print(f"{len(runs)} runs recorded in {folder}")
    return 0


def compare(folder, runs, options):
    recorded = json.loads((folder / "runs.json").read_text())
    recorded["runs"] = fnmatch.filter(recorded["runs"], options.only or "*")
    renames = Renames.read(options.renames) if options.renames else Renames()
    n_differ = 0
    with tempfile.TemporaryDirectory(prefix="state-hash-") as now:
        now, names = Path(now), [run[0] for run in runs]
        run_all([run for run in runs if run[0] in recorded["runs"]], now, recorded["ranks"], options.jobs)
        for name in recorded["runs"]:
            if name not in names:
                found = ["there is no such deck now"]
            else:
                found = differences(folder / name, now / name, renames, recorded["ranks"])
            n_differ += bool(found)
            for line in found[:MAX_LINES] + [f"and {len(found) - MAX_LINES} more"] * (len(found) > MAX_LINES):
                print(f"{name}: {line}")
    others = [f"{name}: not recorded" for name in names if name not in recorded["runs"]]
    others += [] if options.only else renames.unused()
    print("".join(f"{line}\n" for line in others) + f"{len(recorded['runs'])} runs, {n_differ} differ")
    return 1 if n_differ or others else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["record", "compare"])
    parser.add_argument("folder", type=Path, help="what is recorded")
    parser.add_argument("--renames", type=Path, metavar="FILE", help="compare: names that are other ones now (TOML, see recorded_runs.py)")
    parser.add_argument("--only", metavar="PATTERN", help="only runs whose names match, such as 'granular/*'")
    parser.add_argument("--ranks", type=int, default=1, help="record: ranks of each run; compare takes as many (default: 1)")
    parser.add_argument("--bin", default=None, help="folder of the programs (default: build/release/bin)")
    parser.add_argument("--source", default=str(scree_program.source_folder()), help="root of the repository, for its decks")
    parser.add_argument("--jobs", type=int, default=2, help="runs at the same time (default: 2)")
    options = parser.parse_args()
    scree_program.use(options.bin or f"{options.source}/build/release/bin", options.source)
    runs = [run for run in decks() if fnmatch.fnmatch(run[0], options.only or "*")]
    if options.action == "record":
        return record(options.folder, runs, options)
    if not (options.folder / "runs.json").is_file():
        sys.exit(f"{options.folder} holds no recorded runs: record them with the programs of before")
    return compare(options.folder, runs, options)


if __name__ == "__main__":
    sys.exit(main())
