#!/usr/bin/env python3
"""What a fixed set of runs comes to, in a file: for changes that may change no result.

    scripts/state-hashes.sh record before.txt       # before the change
    scripts/state-hashes.sh compare before.txt      # after it; names the runs that differ

The runs: every shipped deck, cut down to some bodies and steps, and decks made at random, with the seeds of the campaign. A line
of the file holds the name of a run, its exit code, the state hash of summary.json, and a hash of all its tables (CSV) together. Floating
point depends on the machine: compare on the one that recorded. Exit code 0: nothing differs; 1: something does.
"""
import argparse
import concurrent.futures
import hashlib
import re
import sys
import tempfile
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import mutated_decks    # noqa: E402
import random_decks    # noqa: E402
import scree_program    # noqa: E402
from decks import toml    # noqa: E402
from harness import summary_of    # noqa: E402

BODIES, STEPS = 400, 60
RANDOM_DECKS, SEED = 80, 1
TIMES = re.compile(r"wall_[^,]*")      # columns that differ from run to run


def decks():
    """(name, text, whether it is a shipped one) of every run."""
    for name, text in mutated_decks.shipped(BODIES, STEPS).items():
        yield name, text, True
    for k in range(RANDOM_DECKS):
        deck, _ = random_decks.made(Random(f"random {SEED} {k}"))
        yield f"random {SEED} {k}", toml(deck), False


def hash_of_tables(results):
    """All tables below a folder, without columns of wall time."""
    total = hashlib.sha256()
    for path in sorted(Path(results).rglob("*.csv")):
        rows = [line.split(",") for line in path.read_text().splitlines()]
        kept = [k for k, title in enumerate(rows[0]) if not TIMES.match(title)] if rows else []
        total.update(str(path.relative_to(results)).encode())
        total.update("\n".join(",".join(row[k] for k in kept if k < len(row)) for row in rows).encode())
    return total.hexdigest()[:16]


def line_of(run):
    name, text, is_shipped = run
    with tempfile.TemporaryDirectory(prefix="state-hash-") as folder:
        folder = Path(folder)
        if is_shipped:
            mutated_decks.copy_files_beside(name, folder)
        (folder / "deck.toml").write_text(text)
        result = scree_program.scree("-q", "run", "deck.toml", "--set", "output.directory=results", folder=folder)
        summaries = [summary_of(path.parent).get("state_hash") for path in sorted(folder.rglob("summary.json"))]
        return f"{name}: {result.code} {' '.join(map(str, summaries)) or '-'} {hash_of_tables(folder)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["record", "compare"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--bin", default=None, help="folder of the programs (default: build/release/bin)")
    parser.add_argument("--source", default=str(scree_program.source_folder()), help="root of the repository, for its decks")
    parser.add_argument("--jobs", type=int, default=2, help="runs at the same time (default: 2)")
    chosen = parser.parse_args()
    scree_program.use(chosen.bin or f"{chosen.source}/build/release/bin", chosen.source)
    with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
        lines = list(pool.map(line_of, decks()))
    if chosen.action == "record":
        chosen.file.write_text("\n".join(lines) + "\n")
        print(f"{len(lines)} runs recorded in {chosen.file}")
        return 0
    before = chosen.file.read_text().splitlines()
    differing = [(a, b) for a, b in zip(before, lines) if a != b]
    for a, b in differing:
        print(f"before {a}\nnow    {b}")
    if len(before) != len(lines):
        print(f"{len(before)} runs recorded, {len(lines)} now")
    print(f"{len(lines)} runs, {len(differing)} differ")
    return 1 if differing or len(before) != len(lines) else 0


if __name__ == "__main__":
    sys.exit(main())
