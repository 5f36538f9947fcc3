#!/usr/bin/python3
"""Prints results of `scree bench` as Markdown tables: those of docs/performance/PROCESSOR/measured.md.

    benchmark_tables.py cost_2d.json strong/results.json > measured.md

A table per file and case; seconds with a unit that suits the column, three digits. Columns that a case writes to files only
are left out.
"""
import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "postprocess"))
from scree.commands.plot.scaling import read_results  # noqa: E402
from scree.errors import ResultsError  # noqa: E402
from timings import processor_text  # noqa: E402

SMALLER_UNITS = ((1, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
LARGER_UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""))


def unit_of(values, unit):
    """Factor and name of the unit that shows the middle one of the values best; rates and bytes get decimal prefixes."""
    middle = sorted(abs(value) for value in values)[len(values) // 2]
    if unit == "s":
        return next(((factor, name) for factor, name in SMALLER_UNITS if middle >= factor), SMALLER_UNITS[-1])
    if unit in ("1/s", "B/s", "B"):
        factor, prefix = next(((factor, prefix) for factor, prefix in LARGER_UNITS if middle >= factor), LARGER_UNITS[-1])
        return factor, prefix + unit.removeprefix("1")
    return 1, unit


def text_of(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.3g}"


def column(name, values, unit):
    """Heading and cells; None where a row has no such value. Times to a tolerance stay in seconds: their columns are read beside
    each other."""
    numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    factor, unit = unit_of(numbers, unit) if numbers and not name.startswith("seconds_to_") else (1, unit)
    words = name.removesuffix("_s").replace("_", " ").split()
    heading = " ".join(words) + (f" [{unit}]" if unit not in ("-", "", *words) else "")
    return heading, ["" if value is None else text_of(value / factor if value in numbers and factor != 1 else value)
                     for value in values]


def table_of(rows):
    """Lines of a Markdown table of rows of one case."""
    shown = {name for row in rows for name in row["size"]}    # distinguishes rows
    hidden = {name for row in rows for name in row["only_in_files"]} - shown
    units = {name: unit for row in rows for name, unit in row["units"].items()}
    columns = []

    def add(group):
        for name in dict.fromkeys(name for row in rows for name in row[group]):
            if name not in hidden:
                columns.append(column(name, [row[group].get(name) for row in rows], units.get(name, "-")))

    add("keys")
    add("size")
    columns.append(column("ranks", [row["ranks"] for row in rows], "-"))
    columns.append(column(rows[0]["work"], [row["seconds"] for row in rows], "s"))
    columns.append(("spread", [f"{100 * row.get('spread', 0):.0f} %" for row in rows]))
    add("values")
    columns.append(("shares", [", ".join(f"{name} {100 * share:.0f} %" for name, share in row["phases"].items())
                               for row in rows]))
    lines = ["| " + " | ".join(heading for heading, _ in columns) + " |", "|" + len(columns) * "---|"]
    return lines + ["| " + " | ".join(cells) + " |" for cells in zip(*(cells for _, cells in columns))]


def tables_of(path):
    content = read_results(path)
    machine = content["machine"]
    program, *arguments = content["command"].split(" ")
    lines = [f"## {path.parent.name + '/' if path.stem == 'results' else ''}{path.stem}", "",
             "    " + " ".join([Path(program).name, *arguments]), "",
             f"{content['date']}, commit {machine['commit']}, {processor_text(machine)}, {machine['compiler']}, "
             f"load at the start {machine['load_at_start']:.2f}."]
    for measured in machine["measured"]:
        parts = [f"triad {measured['triad_one_rank'] / 1e9:.1f} GB/s"]
        if "latency_8_B" in measured:
            parts = [f"triad {measured['triad_one_rank'] / 1e9:.1f} GB/s alone, {measured['triad_each_rank'] / 1e9:.1f} each",
                     f"message of 8 B {1e6 * measured['latency_8_B']:.2f} us", f"1 MiB {1e6 * measured['latency_1_MiB']:.0f} us",
                     f"allreduce {1e6 * measured['allreduce_8_B']:.2f} us"]
        lines.append(f"Ranks {measured['ranks']}: {', '.join(parts)}.")
    for case in dict.fromkeys(row["case"] for row in content["rows"]):
        lines += ["", f"### {case}", ""] + table_of([row for row in content["rows"] if row["case"] == case])
    return lines + [""]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=Path, help="results.json of scree bench, or files of scree_bench --json")
    for path in parser.parse_args().results:
        print("\n".join(tables_of(path)))


if __name__ == "__main__":
    try:
        main()
    except ResultsError as error:
        sys.exit(f"benchmark_tables.py: {error}")
