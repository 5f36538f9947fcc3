"""Draws performance profiles of solvers (Dolan and More, 2002): the share of all problems that a solver solves within tau
times the time of the fastest one, a panel per tolerance.

    scree plot performance-profile solves.csv [more.csv...]           files of scree_replay --csv; rows of several runs are merged
    scree plot performance-profile solves.csv --profile profile.csv   also writes the profiles as a table
    scree plot performance-profile profile.csv                        such a table
    scree plot performance-profile solves.csv --table                 also prints how many are solved, and in what time

Rows of results need the columns file, solver and seconds_to_TOLERANCE (empty: not solved), so that times of other programs
can be added. Times below 1 ms count as 1 ms: shorter ones measure the clock.
"""
import csv
import math
from pathlib import Path

import matplotlib.pyplot as plt

from scree.commands import parser_of
from scree.errors import ResultsError

LEAST_SECONDS = 1e-3
TIME = "seconds_to_"


def read_rows(path):
    try:
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror}") from error
    if not rows:
        raise ResultsError(f"{path}: no rows")
    return rows


def write_profiles(profiles, path):
    """Columns tolerance, tau and one per solver, tolerance by tolerance."""
    lines = []
    for tolerance, solvers in profiles.items():
        for points in zip(*solvers.values()):
            values = [points[0][0], *(share for _, share in points)]
            lines.append(",".join([f"{tolerance:g}", *(repr(value).removesuffix(".0") for value in map(float, values))]))
    path.write_text("\n".join([",".join(["tolerance", "tau", *next(iter(profiles.values()))]), *lines, ""]), encoding="utf-8")


def read_profiles(rows):
    """{tolerance: {solver: [(tau, share), ...]}} of what write_profiles() wrote."""
    solvers = [name for name in rows[0] if name not in ("tolerance", "tau")]
    profiles = {}
    for row in rows:
        of_tolerance = profiles.setdefault(float(row["tolerance"]), {solver: [] for solver in solvers})
        for solver in solvers:
            of_tolerance[solver].append((float(row["tau"]), float(row[solver])))
    return profiles


def times_of(rows, path):
    """{tolerance: {(file, solver): seconds}}; infinite: not solved."""
    columns = [name for name in rows[0] if name.startswith(TIME)]
    missing = [name for name in ("file", "solver") if name not in rows[0]] + ([] if columns else [TIME + "TOLERANCE"])
    if missing:
        raise ResultsError(f"{path}: no column {', '.join(missing)}; nor is it a profile (tolerance, tau)")
    seen = set()
    for solve in ((row["file"], row["solver"]) for row in rows):
        if solve in seen:
            raise ResultsError(f"{path}: {solve[0]} has more than one row of solver {solve[1]}")
        seen.add(solve)
    return {float(column.removeprefix(TIME)): {(row["file"], row["solver"]): float(row[column] or math.inf)
                                               for row in rows}
            for column in columns}


def profile_of(times):
    """{solver: [(tau, share), ...]} from {(file, solver): seconds}; a file that is missing was not solved."""
    files = list(dict.fromkeys(file for file, _ in times))
    solvers = list(dict.fromkeys(solver for _, solver in times))
    ratios = {solver: [] for solver in solvers}
    for file in files:
        seconds = {solver: max(LEAST_SECONDS, times.get((file, solver), math.inf)) for solver in solvers}
        best = min(seconds.values())
        for solver in solvers:
            if math.isfinite(seconds[solver]):
                ratios[solver].append(seconds[solver] / best)
    taus = sorted({1.0}.union(*ratios.values()))
    return {solver: [(tau, sum(ratio <= tau for ratio in ratios[solver]) / len(files)) for tau in taus]
            for solver in solvers}


def print_table(times):
    """Solved files and summed seconds, over all that a solver solves and over those that all solve."""
    print(f"{'tolerance':>9} {'solver':>12} {'solved':>11} {'seconds':>9} {'common':>7} {'seconds':>9}")
    for tolerance, of_tolerance in sorted(times.items(), reverse=True):
        files = list(dict.fromkeys(file for file, _ in of_tolerance))
        solvers = list(dict.fromkeys(solver for _, solver in of_tolerance))
        common = [file for file in files
                  if all(math.isfinite(of_tolerance.get((file, solver), math.inf)) for solver in solvers)]
        for solver in solvers:
            solved = [seconds for (_, of), seconds in of_tolerance.items() if of == solver and math.isfinite(seconds)]
            print(f"{tolerance:>9.0e} {solver:>12} {f'{len(solved)} of {len(files)}':>11} {sum(solved):>9.3f} "
                  f"{len(common):>7} {sum(of_tolerance[file, solver] for file in common):>9.3f}")


def draw(profiles, output):
    figure, panels = plt.subplots(1, len(profiles), squeeze=False, sharey=True, layout="constrained",
                                  figsize=(5.5 * len(profiles), 4.2))
    for (tolerance, solvers), panel in zip(sorted(profiles.items(), reverse=True), panels[0]):
        last = max(tau for points in solvers.values() for tau, _ in points)
        for solver, points in solvers.items():
            taus, shares = zip(*points)
            panel.step([*taus, max(10, 1.2 * last)], [*shares, shares[-1]], where="post", linewidth=1.4, label=solver)
        panel.set(title=f"to {tolerance:g}", xlabel="time over that of the fastest, tau [-]", ylim=(0, 1.02))
        panel.set_xscale("log")
        panel.set_xlim(1, max(10, 1.2 * last))
        panel.grid(which="both", alpha=0.2)
    panels[0, 0].set_ylabel("share of all problems [-]")
    panels[0, -1].legend(fontsize="small", frameon=False, loc="lower right")
    figure.savefig(output, dpi=120)
    print(output)


def main(words):
    parser = parser_of("plot performance-profile", __doc__)
    parser.add_argument("tables", nargs="+", type=Path, help="CSV files of scree_replay: one profile, or results")
    parser.add_argument("--table", action="store_true", help="also print sums, of results")
    parser.add_argument("--profile", type=Path, help="also write the profiles to this CSV file")
    parser.add_argument("--output", type=Path, help="picture to write (default: beside the first table)")
    options = parser.parse_args(words)

    first = read_rows(options.tables[0])
    if "tau" in first[0]:
        if len(options.tables) > 1 or options.table:
            raise ResultsError(f"{options.tables[0]} is a profile: to put runs together or to add up, give what --csv wrote")
        profiles = read_profiles(first)
    else:
        times = {}
        for path in options.tables:
            for tolerance, of_tolerance in times_of(read_rows(path), path).items():
                times.setdefault(tolerance, {}).update(of_tolerance)
        if options.table:
            print_table(times)
        profiles = {tolerance: profile_of(of_tolerance) for tolerance, of_tolerance in times.items()}
    if options.profile:
        write_profiles(profiles, options.profile)
    draw(profiles, options.output or options.tables[0].with_suffix(".png"))
