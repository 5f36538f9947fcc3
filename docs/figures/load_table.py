#!/usr/bin/python3
"""Load imbalance of runs, as in the table of docs/performance.md: fullest rank over the mean, average over steps / worst list.

    mpirun -n N scree run inputs/scaling/moving_heap.toml --set output.name=A     # one name for each setting
    docs/figures/load_table.py results/A results/B     # folders, or their summary.json
"""
import argparse
import json
import sys
from pathlib import Path

COLUMNS = {"bodies and pairs": "bodies_and_pairs", "pairs by colour": "pairs_by_colour", "computing": "computing"}


def row_of(path):
    """The line of a run: load imbalance of each column, then how often the load was rebalanced and how many bodies moved."""
    path = Path(path)
    file = path / "summary.json" if path.is_dir() else path
    with open(file, encoding="utf-8") as stream:
        summary = json.load(stream)
    load = summary["load"]
    evenness = [f"{load[key]['mean']:.2f} / {load[key]['worst']:.2f}" for key in COLUMNS.values()]
    name = file.parent.name or str(file)
    return [f"{name} ({load['weights']})", *evenness, str(summary["rebalances"]), str(summary["bodies_migrated"])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", help="result folders or summary.json files")
    try:
        rows = [row_of(path) for path in parser.parse_args().results]
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"load_table.py: no summary of a run: {error}")
    head = ["run", *COLUMNS, "rebalanced", "bodies migrated"]
    for row in [head, ["---"] * len(head), *rows]:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
