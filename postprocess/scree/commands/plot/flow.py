"""Draws flows of a crowd: over time for each exit and each measure "line_flow", or against the width of a door.

    scree plot flow results/hall                                        -> results/hall/hall_flow.png
    scree plot flow results/hall --window 5
    scree plot flow results/w08 results/w10 results/w12 --widths 0.8 1.0 1.2 --output door.png
    scree plot flow --doors doors.csv --output doors.png

With --widths the flow of a run is that of all of its exits together between the 10th and the 90th percentile of the
departures, or, with --columns, the mean of a column of its scalars from --from on; measurements are drawn beside it.
A folder of an ensemble has one width for all of its runs. With --doors flows are those of a table that
`scree verify crowd --case doors --csv doors.csv` wrote.
"""
import csv
import fnmatch
import re
from pathlib import Path

import numpy as np

from scree import style
from scree.commands import parser_of
from scree.commands.crowd_drawing import plt, reference, runs_of, save
from scree.crowd.pictures import colours_of
from scree.errors import ResultsError

MARKERS = "osD^vP*"


def flow_columns(run, patterns):
    """Columns of the scalars that are flows, or those requested."""
    if not (run.folder / f"{run.name}.scalars.csv").exists():
        return []
    scalars = run.scalars
    if patterns:
        found = [name for name in scalars.names if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]
        if not found:
            raise ResultsError(f"no column matches {' '.join(patterns)}; there are: {', '.join(scalars.names)}")
        return found
    return [name for name in scalars.names if name.endswith("_flow") and scalars.units[name] == "1/s"]


def departures(run):
    return run.agents.exits() if (run.folder / f"{run.name}.agents.csv").exists() else {}


def draw_over_time(runs, patterns, window, output):
    figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
    curves = []
    for run in runs:
        prefix = "" if len(runs) == 1 else f"{run.folder.name}: "
        for name, left in ({} if patterns else departures(run)).items():
            times = np.linspace(0, left[-1] + window, 600)
            # The number in the window before each time; at first the window is shorter.
            count = (np.searchsorted(left, times, side="right")
                     - np.searchsorted(left, times - window, side="right"))
            flow = count / np.clip(times, 1e-9, window)
            flow[times < min(1.0, window)] = np.nan
            curves.append((prefix + name, times, flow, "-"))
        for name in flow_columns(run, patterns):
            curves.append((prefix + name, run.scalars["time"], run.scalars[name], "--"))
    if not curves:
        raise ResultsError(f"{runs[0].folder} has neither departures in {runs[0].name}.agents.csv nor a measure of "
                           "the type \"line_flow\"")
    colours = colours_of([label for label, *_ in curves])
    for label, times, flow, style in curves:
        axes.plot(times, flow, style, color=colours[label], label=label, linewidth=1.4)
    axes.set_xlabel("time [s]")
    axes.set_ylabel("flow [1/s]")
    axes.set_title(f"flow through exits: mean over the last {window:g} s", fontsize="medium")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", frameon=False)
    save(figure, output)


def steady_flow(run, patterns, begin):
    """The flow of a run as one number [1/s]; nan if too few have left."""
    if patterns:
        time = run.scalars["time"]
        columns = flow_columns(run, patterns)
        return float(np.nansum([np.nanmean(run.scalars[name][time >= begin]) for name in columns]))
    left = np.sort(run.agents["left"][run.agents.has_left])
    first, last = int(0.1 * len(left)), int(0.9 * len(left)) - 1
    if last <= first or left[last] <= left[first]:
        return np.nan
    return (last - first) / (left[last] - left[first])


def picture_of_widths():
    """A figure with flow over width, and what is published."""
    figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
    table = reference("bottleneck_flow")
    if table is not None:
        experiments = list(dict.fromkeys(table["experiment"]))
        for k, experiment in enumerate(experiments):
            rows = np.array(table["experiment"], dtype=object) == experiment
            axes.plot(table["width[m]"][rows], table["flow[1/s]"][rows], MARKERS[k % len(MARKERS)], color="0.55",
                      markerfacecolor="none", markersize=5, label=experiment, zorder=1)
    axes.set_xlabel("width [m]")
    axes.set_ylabel("flow [1/s]")
    axes.grid(alpha=0.3)
    return figure, axes


def save_widths(figure, axes, output):
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.legend(fontsize="small", frameon=False)
    save(figure, output)


def draw_doors(path, output):
    figure, axes = picture_of_widths()
    lines = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            door = re.fullmatch(r"door (\S+) m wide, (\S+) m deep: flow \[1/s\]", row.get("what") or "")
            if not door:
                continue
            least, most = map(float, row["required"].split(" to "))
            lines.setdefault(float(door[2]), []).append((float(door[1]), float(row["measured"]), least, most))
    if not lines:
        raise ResultsError(f"{path} has no doors: make it with scree verify crowd --case doors --csv")
    bands = sorted({(width, least, most) for rows in lines.values() for width, _, least, most in rows})
    axes.fill_between(*np.array(bands).T, color="tab:red", alpha=0.12, linewidth=0, label="required", zorder=0)
    for (depth, rows), style in zip(sorted(lines.items()), ("-", "--", ":", "-.")):
        widths, flows, *_ = np.array(sorted(rows)).T
        axes.plot(widths, flows, "o" + style, color="tab:red", markersize=4, label=f"scree, {depth:g} m deep", zorder=3)
    print(f"{path}: {sum(map(len, lines.values()))} doors")
    save_widths(figure, axes, output)


def draw_over_width(folders, widths, patterns, begin, output):
    figure, axes = picture_of_widths()
    for width, folder in zip(widths, folders):
        flows = np.array([steady_flow(run, patterns, begin) for run in runs_of([folder])])
        flows = flows[np.isfinite(flows)]
        if len(flows) == 0:
            raise ResultsError(f"{folder}: too few have left for a flow")
        spread = flows.std(ddof=1) if len(flows) > 1 else 0.0
        axes.errorbar(width, flows.mean(), spread, fmt="o", color="tab:red", markersize=6, capsize=3, zorder=3,
                      label="scree" + (", mean and standard deviation" if spread > 0 else "") if folder == folders[0]
                      else None)
        print(f"{folder}: width {width:g} m, flow {flows.mean():.4g} 1/s, {flows.mean() / width:.4g} 1/(m s)")
    save_widths(figure, axes, output)


def main(words):
    parser = parser_of("plot flow", __doc__)
    parser.add_argument("results", nargs="*", help="results folders of runs or of ensembles")
    parser.add_argument("--columns", nargs="+", metavar="NAME", help="columns of the scalars; * and ? match as in a shell")
    parser.add_argument("--window", type=style.finite, default=10, help="time that a flow of an exit is a mean over [s] (default 10)")
    parser.add_argument("--widths", type=style.finite, nargs="+", help="width of each run's door [m]")
    parser.add_argument("--from", type=style.finite, default=0, dest="begin", metavar="T", help="with --columns and --widths: "
                        "rows from this time on [s] (default 0)")
    parser.add_argument("--doors", type=Path, metavar="CSV", help="table of scree verify crowd, in place of results folders")
    parser.add_argument("--output", type=Path, help="picture to write (default: NAME_flow.png in the first folder)")
    options = parser.parse_args(words)
    if options.window <= 0:
        parser.error("--window is a time above 0")
    if options.widths and len(options.widths) != len(options.results):
        parser.error(f"--widths needs one width for each of the {len(options.results)} folders")
    if bool(options.doors) == bool(options.results):
        parser.error("needs either results folders or --doors")
    if options.doors:
        draw_doors(options.doors, options.output or options.doors.with_suffix(".png"))
        return
    runs = runs_of(options.results)
    output = options.output or Path(options.results[0]) / f"{runs[0].name}_flow.png"
    if options.widths:
        draw_over_width(options.results, options.widths, options.columns, options.begin, output)
    else:
        draw_over_time(runs, options.columns, options.window, output)
