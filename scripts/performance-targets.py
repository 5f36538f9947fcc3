#!/usr/bin/python3
"""Times the targets of speed with the programs of this build and of an older one, in turn, and prints them side by side.

    scripts/performance.sh --quick                               this and nothing else, with the programs of the release build
    scripts/performance.sh --quick --before /old/build/bin       beside the programs of an older build
    scripts/performance-targets.py --bin build/release/bin --targets start pbd --repetitions 5

Each repetition starts every program once, before and now in turn. The median counts; spread is (largest - least) / median.
What is timed: of runs of decks the timer "step" of the slowest rank (no start, no output); of cases of scree_bench their
seconds of a step; of piles the wall seconds of a solve to a residual; of "start" the wall time of the whole program.

Without --before the older numbers are those stored in --stored for this processor, if there are any: numbers of another
processor say nothing. Results go to targets.json in the folder of this processor below --out, with the older numbers.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "postprocess"))
from benchmark_tables import text_of, unit_of  # noqa: E402
from scree.commands.plot.scaling import FORMAT, read_results  # noqa: E402
from scree.errors import ResultsError  # noqa: E402
from timings import TimingError, machine_of, processor_folder, processor_text, spread_of, step_seconds  # noqa: E402

FILE = "targets.json"
TIME_LIMIT = 600    # of a program [s]


@dataclass
class Aim:
    """What a row should reach: times faster than before, and on two ranks than on one."""
    over_before: float | None = None
    over_one_rank: float | None = None


@dataclass
class Launch:
    """A program that is started once per repetition. seconds: {name of a row: seconds, None: not reached}."""
    ranks: int
    work: str                                # what the seconds are of
    aims: dict                               # name of a row -> Aim, in the order of the table
    command: list                            # after the program
    program: str = "scree_bench"
    seconds: object = field(default=None)    # of (folder, wall seconds of the program)


def deck(name, path, end, ranks, aim):
    """The steps of a shipped deck until `end` [s]."""
    command = ["run", str(ROOT / path), "--force", "--set", f"simulation.end_time={end}", "--set", "output.directory=out",
               "--set", "output.name=run"]
    return Launch(ranks, "run", {name: aim}, command, "scree", lambda folder, _: {name: step_seconds(folder / "out/run/summary.json")})


def bench(arguments, ranks, work, aims, name_of, seconds_of=lambda row: row["seconds"]):
    """Rows of a case of scree_bench."""
    def seconds(folder, _):
        rows = read_results(folder / "rows.json")["rows"]
        found = {name_of(row): seconds_of(row) for row in rows}
        missing = [name for name in aims if name not in found]
        if missing:
            raise TimingError(f"scree_bench {arguments[0]} has no row {', '.join(missing)}")
        return {name: found[name] for name in aims}
    return Launch(ranks, work, aims, [*arguments, "--json", "rows.json"], seconds=seconds)


def piles(size, solver, tolerance, aims):
    """Solves of settled piles; the names of the rows end in their compliance."""
    names = dict(zip((0, 0.01), aims))
    arguments = ["friction", "--case", "settled", "--bodies", str(size), "--solvers", solver, "--tolerances", tolerance,
                 "--compliance", ",".join(("rigid", "1e-2")[:len(aims)]), "--max-time", "10"]
    column = f"seconds_to_{float(tolerance):g}"
    return bench(arguments, 1, "solve", aims, lambda row: names.get(row["keys"]["compliance"]),
                 lambda row: row["values"][column] if row["values"][column] != "" else None)


def start():
    """A tiny run, from the command to its end: the median of some."""
    name = "start of a tiny run"
    command = ["run", str(ROOT / "inputs/verification/cradle.toml"), "--force", "--set", "simulation.end_time=0.001",
               "--set", "output.directory=out"]
    return Launch(1, "program", {name: Aim(1.67)}, command, "scree", lambda _, wall: {name: wall})


def bodies_of(row):
    return row["size"]["bodies"]


def both(launch, aims):
    """On one and on two ranks."""
    return [launch(ranks, aim) for ranks, aim in zip((1, 2), aims)]


TARGETS = {
    "pour": both(lambda ranks, aim: deck("pour of 4096", "inputs/granular/pour.toml", 1, ranks, aim), (Aim(2.2), Aim(None, 1.4))),
    "rest": [bench(["nonsmooth", "--bodies", "4096", "--settling-time", "0.5", "--steps", "20", "--repetitions", "3"], 1, "step",
                   {"bed of 4096 at rest (nonsmooth)": Aim(4)}, lambda row: "bed of 4096 at rest (nonsmooth)")],
    "silo": [deck("filling silo of 5000 (nonsmooth)", "inputs/granular/hopper.toml", 0.3, 1, Aim(3))],
    "piles": [piles(5000, "nsgs", "1e-4", {"pile of 5000, rigid, nsgs to 1e-4": Aim(2.5)}),
              piles(1000, "auto", "1e-8", {"pile of 1000, rigid, auto to 1e-8": Aim(),
                                           "pile of 1000, compliance 1e-2, auto to 1e-8": Aim()})],
    "crowd": [bench(["crowd", "--agents", "10000", "--densities", "1,3", "--columns", "0", "--warm-up", "50", "--steps", "20",
                     "--repetitions", "3"], 1, "step",
                    {"crowd of 10 000, 1 /m2": Aim(1.67), "crowd of 10 000, 3 /m2": Aim(1.67)},
                    lambda row: f"crowd of 10 000, {row['keys']['density']:g} /m2")],
    "dem": both(lambda ranks, aims: bench(["dem", "--bodies", "4096,131072", "--settling-time", "0.1", "--repetitions", "3",
                                           "--seconds", "0.2"], ranks, "step", aims,
                                          lambda row: f"dem of {bodies_of(row)}"),
                ({"dem of 4096": Aim(), "dem of 131072": Aim()}, {"dem of 4096": Aim(None, 1.4), "dem of 131072": Aim()})),
    "pbd": both(lambda ranks, aim: bench(["pbd", "--dimensions", "3", "--bodies", "10000", "--seconds", "0.1", "--repetitions",
                                          "3"], ranks, "step", {"pbd of 10 000, 3D": aim}, lambda row: "pbd of 10 000, 3D"),
                (Aim(), Aim(None, 1.5))),
    "start": [start()],
}


def launch_once(launch, programs):
    """Seconds by name of a row."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        starter = ["mpirun", "-n", str(launch.ranks)] if launch.ranks > 1 else []
        command = [*starter, str(programs / launch.program), *launch.command]
        try:
            began = time.monotonic()
            process = subprocess.run(command, cwd=folder, text=True, capture_output=True, stdin=subprocess.DEVNULL,
                                     timeout=TIME_LIMIT, check=False)
            wall = time.monotonic() - began
        except OSError as error:
            raise TimingError(f"{command[0]}: {error.strerror}") from error
        except subprocess.TimeoutExpired as error:
            raise TimingError(f"{' '.join(command)} takes more than {TIME_LIMIT} s") from error
        if process.returncode != 0:
            raise TimingError(f"{' '.join(command)} ended with {process.returncode}:\n{(process.stderr or process.stdout)[-800:]}")
        try:
            return launch.seconds(folder, wall)
        except KeyError as error:
            raise TimingError(f"{launch.program} {launch.command[0]} has no {error} in its results") from error


def commit_of(programs):
    """What the program says of itself."""
    process = subprocess.run([programs / "scree", "--version"], text=True, capture_output=True, check=False)
    found = re.search(r"commit ([^,)\s]+)", process.stdout)
    return found.group(1) if found else "unknown"


def row_of(target, program, commit, launch, seconds):
    """A row as in results of scree bench; without seconds: not reached in every repetition."""
    reached = None not in seconds
    row = {"case": "targets", "mode": "fixed", "ranks": launch.ranks, "work": launch.work, "complete": reached,
           "seconds": statistics.median(seconds) if reached else None, "keys": {"target": target, "program": program},
           "size": {}, "values": {"commit": commit, "repetitions": len(seconds)}, "phases": {}, "spreads": {}, "notes": [],
           "units": {"target": "-", "program": "-", "commit": "-", "repetitions": "-"}, "only_in_files": []}
    return row | ({"spread": spread_of(seconds)} if reached else {})


def measure(launches, builds, repetitions):
    """Rows of all launches with each build, {"before": (folder, commit), "now": ...}; failures are reported and have no row.
    A build of an older program may lack what a launch needs."""
    rows = []
    for number, launch in enumerate(launches, start=1):
        print(f"{number} of {len(launches)}: {', '.join(launch.aims)}, ranks {launch.ranks}", file=sys.stderr)
        seconds = {program: {target: [] for target in launch.aims} for program in builds}
        failed = set()
        for _ in range(repetitions):
            for program, (folder, _) in builds.items():
                if program in failed:
                    continue
                try:
                    for target, value in launch_once(launch, folder).items():
                        seconds[program][target].append(value)
                except (TimingError, ResultsError) as error:
                    print(f"performance-targets.py: {program}: {error}", file=sys.stderr)
                    failed.add(program)
        rows += [row_of(target, program, builds[program][1], launch, values)
                 for program, of_program in seconds.items() if program not in failed for target, values in of_program.items()]
    return rows


def stored_rows(path):
    """Older numbers of this processor: those that stand there as "before", else those that were "now" then."""
    if not path.exists():
        return []
    rows = read_results(path)["rows"]
    rows = [row for row in rows if row["keys"]["program"] == "before"] or rows
    return [row | {"keys": row["keys"] | {"program": "before"}} for row in rows]


def time_text(row):
    if row is None:
        return "-"
    if row["seconds"] is None:
        return "not reached"
    factor, unit = unit_of([row["seconds"]], "s")
    return f"{text_of(row['seconds'] / factor)} {unit}"


def ratio_text(above, below):
    return f"{above['seconds'] / below['seconds']:.2f}" if above and below and above["seconds"] and below["seconds"] else "-"


def table_of(rows, launches):
    """Lines of Markdown."""
    found = {(row["keys"]["program"], row["keys"]["target"], row["ranks"]): row for row in rows}

    def spread(row):
        return f"{100 * row['spread']:.0f} %" if row and "spread" in row else "-"

    cells = [["target", "ranks", "of a", "before", "spread", "now", "spread", "before / now", "aim", "1 rank / 2 ranks", "aim"]]
    for launch in launches:
        for target, aim in launch.aims.items():
            before, now = (found.get((program, target, launch.ranks)) for program in ("before", "now"))
            one = found.get(("now", target, 1)) if launch.ranks == 2 else None
            cells.append([target, str(launch.ranks), launch.work, time_text(before), spread(before), time_text(now), spread(now),
                          ratio_text(before, now), f"{aim.over_before:g}" if aim.over_before else "", ratio_text(one, now) if one
                          else "", f"{aim.over_one_rank:g}" if aim.over_one_rank else ""])
    widths = [max(map(len, column)) for column in zip(*cells)]
    cells.insert(1, ["-" * width for width in widths])
    return ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in cells]


def origin(rows, program):
    commits = dict.fromkeys(row["values"]["commit"] for row in rows if row["keys"]["program"] == program)
    return ", ".join(commits)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="folder of the built programs")
    parser.add_argument("--before", type=Path, help="folder of the programs of an older build")
    parser.add_argument("--targets", nargs="+", choices=list(TARGETS), default=list(TARGETS))
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--out", type=Path, default=ROOT / "results/performance", help="a folder per processor below it")
    parser.add_argument("--stored", type=Path, default=ROOT / "docs/performance", help="older numbers, likewise")
    options = parser.parse_args(arguments)
    if options.repetitions < 1:
        parser.error("--repetitions must be positive")
    for option, folder in (("--bin", options.bin), ("--before", options.before)):
        if folder and not all((folder / name).exists() for name in ("scree", "scree_bench")):
            parser.error(f"{option}: there is no scree or no scree_bench in {folder}")
    options.bin = options.bin.resolve()
    options.before = options.before and options.before.resolve()
    return options


def main(arguments=None):
    options = parse(arguments)
    os.environ.setdefault("SCREE_PYTHON", sys.executable)    # of scree_bench: the one that has what this script has
    began = time.monotonic()
    machine = machine_of(options.bin)
    ranks = len(os.sched_getaffinity(0))
    launches = [launch for name in options.targets for launch in TARGETS[name] if launch.ranks <= ranks]
    builds = {"before": (options.before, commit_of(options.before))} if options.before else {}
    builds["now"] = (options.bin, commit_of(options.bin))
    stored = options.stored / processor_folder(machine) / FILE
    old = [] if options.before else stored_rows(stored)
    new = measure(launches, builds, options.repetitions)

    folder = options.out / processor_folder(machine)
    folder.mkdir(parents=True, exist_ok=True)
    results = {"format": FORMAT, "format_version": 1, "date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
               "command": f"performance-targets.py --targets {' '.join(options.targets)} --repetitions {options.repetitions}",
               "settings": {"targets": options.targets, "repetitions": options.repetitions}, "machine": machine,
               "rows": old + new}
    path = folder / FILE
    path.with_suffix(".part").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    path.with_suffix(".part").replace(path)

    print(f"\nOn {processor_text(machine)}; medians of {options.repetitions}, in turn; {time.monotonic() - began:.0f} s.")
    if options.before:
        print(f"Before: commit {builds['before'][1]}. Now: commit {builds['now'][1]}.\n")
    elif old:
        print(f"Before: commit {origin(old, 'before')}, as stored in {stored}. Now: commit {builds['now'][1]}.\n")
    else:
        print(f"Now: commit {builds['now'][1]}. No older numbers of this processor: give an older build with --before.\n")
    print("\n".join(table_of(old + new, launches)))
    print(f"\n{path}")
    wanted = sum(len(launch.aims) for launch in launches) * len(builds)
    if len(new) < wanted:
        sys.exit(1)


if __name__ == "__main__":
    try:
        main()
    except (TimingError, ResultsError) as error:
        sys.exit(f"performance-targets.py: {error}")
