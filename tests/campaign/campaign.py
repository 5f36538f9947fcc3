#!/usr/bin/env python3
"""A campaign against the programs: decks, files, kills and physics made at random from seeds, judged by properties.

    scripts/campaign.sh                                  # half an hour, all parts
    scripts/campaign.sh --minutes 60 --seed 7
    scripts/campaign.sh --full --seed 7 --jobs 5         # so many cases of each part as a release needs: an hour or less
    scripts/campaign.sh --part decks --count 200         # so many cases of one part
    scripts/campaign.sh --part decks --seed 7 --case 31  # one case again
    scripts/campaign.sh --pairs --full --jobs 2          # every pair of features of a deck, and every triple of a core

Each finding is printed with its part, seed and number; its files, the commands and what they said are kept in the folder
--keep. Exit code 0: no finding; 1: some.
"""
import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "support"), str(Path(__file__).resolve().parents[2] / "postprocess")]

import damaged_files    # noqa: E402
import harness    # noqa: E402
import kills    # noqa: E402
import mutated_decks    # noqa: E402
import pairs    # noqa: E402
import pairs_report    # noqa: E402
import physics    # noqa: E402
import random_decks    # noqa: E402
import restarts    # noqa: E402
import scree_program    # noqa: E402

PARTS = {part.NAME: part for part in (mutated_decks, damaged_files, kills, random_decks, physics, restarts, pairs)}
USUAL = [name for name in PARTS if name != "pairs"]     # which has an array of its own to go through
# Shares of the time: cases of one part take longer than those of another.
SHARES = {"decks": 0.4, "damage": 0.15, "kills": 0.15, "random": 0.15, "physics": 0.1, "restarts": 0.05}
# Cases of each part that are tried before a release.
FULL = {"decks": 1000, "damage": 500, "kills": 60, "random": 150, "physics": 300,
        "restarts": len(restarts.decks())}


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30, help="time for all parts together (default: 30)")
    parser.add_argument("--seed", type=int, default=None, help="of all random numbers (default: from the clock)")
    parser.add_argument("--part", action="append", choices=list(PARTS), help="only this part; may be repeated")
    parser.add_argument("--pairs", action="store_true", help="the covering array of the deck language: --part pairs with the seed 1")
    parser.add_argument("--count", type=int, help="so many cases of each part, however long they take")
    parser.add_argument("--full", action="store_true",
                        help=", ".join(f"{number} {part}" for part, number in FULL.items()) + ", however long they take")
    parser.add_argument("--first", type=int, default=0, help="with --full: from this case on, of a campaign that was stopped")
    parser.add_argument("--case", type=int, help="one case again; with --part and --seed")
    parser.add_argument("--jobs", type=int, default=1, help="cases at the same time (default: 1)")
    parser.add_argument("--bin", default=None, help="folder of the programs (default: build/release/bin)")
    parser.add_argument("--source", default=str(scree_program.source_folder()), help="root of the repository")
    parser.add_argument("--keep", default="campaign-findings", help="folder for what is found (default: campaign-findings)")
    parser.add_argument("--verbose", action="store_true", help="a line for every case")
    chosen = parser.parse_args()
    if chosen.pairs:
        chosen.part, chosen.seed = ["pairs"], 1 if chosen.seed is None else chosen.seed
    if chosen.case is not None and (chosen.seed is None or len(chosen.part or []) != 1):
        parser.error("--case goes with --seed and one --part")
    chosen.seed = int(time.time()) if chosen.seed is None else chosen.seed
    chosen.bin = chosen.bin or f"{chosen.source}/build/release/bin"
    return chosen


def main():
    chosen = options()
    scree_program.use(chosen.bin, chosen.source)
    print(f"seed {chosen.seed}, programs of {chosen.bin}, findings go to {chosen.keep}", flush=True)
    tallies = []
    with tempfile.TemporaryDirectory(prefix="campaign-") as scratch:
        workshop = harness.Workshop(scratch, chosen.keep, "scripts/campaign.sh")
        names = chosen.part or USUAL
        whole = sum(SHARES.get(name, 1) for name in names)
        for name in names:
            if chosen.case is not None:
                bounds = {"first": chosen.case, "count": 1}
            elif chosen.full:
                n_cases = FULL[name] if name in FULL else PARTS[name].n_rows(chosen.seed)
                bounds = {"first": chosen.first, "count": n_cases - chosen.first}
            elif chosen.count is not None:
                bounds = {"count": chosen.count}
            else:
                bounds = {"until": time.monotonic() + 60 * chosen.minutes * SHARES.get(name, 1) / whole}
            tallies.append(harness.run_part(PARTS[name], chosen.seed, workshop, jobs=chosen.jobs, verbose=chosen.verbose,
                                            **bounds))
    n_findings = sum(tally.total("findings") for tally in tallies)
    print(f"\nseed {chosen.seed}\n{harness.table(tallies)}")
    if "pairs" in names and chosen.case is None:
        wrong = pairs_report.wrong_refusals(tempfile.mkdtemp(), jobs=chosen.jobs) if chosen.full else []
        n_findings += len(wrong)
        print("\n".join([*pairs.report(chosen.seed), *(f"refusals: {line}" for line in wrong)]))
    for tally in tallies:
        for words, numbers in sorted(tally.signatures.items(), key=lambda item: -len(item[1])):
            print(f"{tally.part}: {len(numbers)} x {words}; again: scripts/campaign.sh --part {tally.part} "
                  f"--seed {chosen.seed} --case {numbers[0]}")
    print("no finding" if n_findings == 0 else f"{n_findings} cases with findings: see {chosen.keep}")
    sys.exit(1 if n_findings else 0)


if __name__ == "__main__":
    main()
