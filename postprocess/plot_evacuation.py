#!/usr/bin/python3
"""Draws how a crowd leaves: how many are inside and have left by each exit over time, and who walked where.

    plot_evacuation.py results/concourse                    -> concourse_evacuation.png and concourse_paths.png in it
    plot_evacuation.py results/ensemble --band 5 95         all runs seed_N: their median and the band around it
    plot_evacuation.py results/a results/b --output compare.png

Curves need NAME.agents.csv and NAME.evacuation.csv, which every run with people writes; paths need NAME.trajectory.h5
([output.trajectory] in the deck).
"""
import argparse
import sys
from pathlib import Path

from crowd_drawing import bounds_of, colours_of, draw_walkable, map_axes, plt, runs_of, save
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.ticker import MaxNLocator

from scree.results import ResultsError


def has(run, ending):
    return (run.folder / f"{run.name}{ending}").exists()


def times_of_entry(run):
    """When people came in, also those who have not left, if the run has a trajectory."""
    agents = run.agents
    times = [agents["entered"]]
    if has(run, ".trajectory.h5"):
        paths = run.paths
        inside = ~np.isin(paths.ids, agents["id"].astype(np.int64))
        first = np.full(len(paths.ids), np.inf)
        np.minimum.at(first, np.searchsorted(paths.ids, paths.id_of_row), paths.time_of_row)
        times.append(first[inside])
    return np.sort(np.concatenate(times))


def inside_at(run, times):
    """How many are inside at each of the times: as counted by the run, or from the lists of single people."""
    if not has(run, ".evacuation.csv"):
        return count_until(times_of_entry(run), times) - count_until(np.sort(run.agents["left"]), times)
    row = np.searchsorted(run.evacuation["time"], times, side="right") - 1
    return np.where(row < 0, np.nan, run.evacuation["inside"][np.maximum(row, 0)])


def count_until(events, times):
    """How many of the events, in order, have happened at each of the times."""
    return np.searchsorted(events, times, side="right").astype(float)


def last_time(runs):
    ends = [run.agents["left"].max() for run in runs if len(run.agents)]
    ends += [run.paths.time_of_row.max() for run in runs if has(run, ".trajectory.h5") and len(run.paths.frames)]
    ends += [run.evacuation["time"].max() for run in runs if has(run, ".evacuation.csv") and len(run.evacuation["time"])]
    if not ends or max(ends) == 0:
        raise ResultsError(f"{runs[0].folder}: nobody has left and there is no trajectory")
    return max(ends)


def draw_curves(runs, band, output):
    times = np.linspace(0, last_time(runs) * 1.02, 800)
    inside = [inside_at(run, times) for run in runs]
    exits = [run.agents.exits() for run in runs]
    names = sorted({name for by_exit in exits for name in by_exit})
    colours = colours_of(names)
    figure, (upper, lower) = plt.subplots(2, 1, sharex=True, layout="constrained", figsize=(8, 6.4))
    nobody = np.zeros(0)
    curves = [(upper, "inside", "0.15", inside)]
    curves += [(lower, name, colours[name], [count_until(by_exit.get(name, nobody), times) for by_exit in exits])
               for name in names]
    for panel, label, colour, values in curves:
        if len(runs) == 1:
            panel.step(times, values[0], where="post", color=colour, label=label, linewidth=1.4)
            continue
        low, middle, high = np.percentile(values, [band[0], 50, band[1]], axis=0)
        panel.fill_between(times, low, high, color=colour, alpha=0.22, linewidth=0, step="post")
        panel.step(times, middle, where="post", color=colour, linewidth=1.4,
                   label=f"{label}, median of {len(runs)} runs")
    if len(runs) > 1:
        upper.fill_between([], [], [], color="0.15", alpha=0.22, label=f"{band[0]:g} to {band[1]:g} % of the runs")
    upper.set_ylabel("persons inside")
    lower.set_ylabel("persons who have left")
    lower.set_xlabel("time [s]")
    for panel in (upper, lower):
        panel.set_ylim(bottom=0)
        panel.yaxis.set_major_locator(MaxNLocator(integer=True))
        panel.grid(alpha=0.3)
        if panel.get_legend_handles_labels()[0]:
            panel.legend(fontsize="small", frameon=False)
    save(figure, output)


def draw_paths(run, most, output):
    """Paths of at most `most` people, evenly chosen by id, coloured by time, and where they began."""
    paths = run.paths
    figure, axes = map_axes(*bounds_of(paths.walkable, paths.position_of_row))
    draw_walkable(axes, paths.walkable)
    step = max(1, -(-len(paths.ids) // most))
    chosen = set(paths.ids[::step].tolist())
    if paths.walkable:
        size = np.ptp(np.concatenate([corners for _, corners in paths.walkable]), axis=0)
    else:
        size = np.full(2, np.inf)
    pieces, times, starts = [], [], []
    for person, time, position in paths.tracks():
        if person not in chosen:
            continue
        starts.append(position[0])
        steps = np.stack([position[:-1], position[1:]], axis=1)
        through_a_face = (np.abs(np.diff(position, axis=0)) > size / 2).any(axis=1)    # periodic: no line across
        pieces.append(steps[~through_a_face])
        times.append(time[1:][~through_a_face])
    lines = LineCollection(np.concatenate(pieces), array=np.concatenate(times), cmap="viridis", linewidth=0.7,
                           alpha=0.8, zorder=2, capstyle="round")
    axes.add_collection(lines)
    axes.plot(*np.array(starts).T, ".", color="0.35", markersize=2, zorder=2)
    figure.colorbar(lines, ax=axes, label="time [s]", shrink=0.8)
    if step > 1:
        axes.set_title(f"paths of {len(chosen)} of {len(paths.ids)} persons", fontsize="medium")
    save(figure, output)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", help="results folders of runs or of ensembles")
    parser.add_argument("--band", type=float, nargs=2, default=(10, 90), metavar=("LOW", "HIGH"),
                        help="percentiles of several runs that the band reaches between (default 10 90)")
    parser.add_argument("--paths", type=int, default=500, metavar="N", help="draw at most N paths (default 500; 0: none)")
    parser.add_argument("--output", type=Path, help="picture of the curves (default: NAME_evacuation.png in the first "
                        "folder); that of paths lies beside it")
    options = parser.parse_args()
    if not 0 <= options.band[0] < options.band[1] <= 100:
        parser.error("--band takes two percentiles, the lower one first")
    runs = runs_of(options.results)
    name = runs[0].name
    output = options.output or Path(options.results[0]) / f"{name}_evacuation.png"
    draw_curves(runs, options.band, output)
    if options.paths > 0 and has(runs[0], ".trajectory.h5") and len(runs[0].paths.ids):
        stem = output.stem.removesuffix("_evacuation")
        draw_paths(runs[0], options.paths, output.with_name(f"{stem}_paths.png"))


if __name__ == "__main__":
    try:
        main()
    except ResultsError as error:
        sys.exit(f"plot_evacuation.py: {error}")
