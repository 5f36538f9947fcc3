"""Draws how a crowd leaves: how many are inside and have left by each exit over time, and who walked where.

    scree plot evacuation results/concourse                    -> concourse_evacuation.png and concourse_paths.png in it
    scree plot evacuation results/ensemble --band 5 95         all runs seed_N: their median and the band around it
    scree plot evacuation results/a results/b --output compare.png

Curves need NAME.agents.csv and NAME.evacuation.csv, which every run with people writes; paths need NAME.trajectory.h5
([output.trajectory] in the deck).
"""
from pathlib import Path

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.ticker import MaxNLocator

from scree import style
from scree.commands import parser_of
from scree.commands.crowd_drawing import plt, runs_of, save
from scree.crowd.curves import count_until, has, inside_at, last_time
from scree.crowd.pictures import colour_bar, draw_floor, exit_colours, floors_figure, plan_or_box
from scree.crowd.plan import plan_of

MAX_LINES = 20000      # of paths that a file of vectors keeps: more are pixels in it


def draw_curves(runs, band, output):
    times = np.linspace(0, last_time(runs) * 1.02, 800)
    inside = [inside_at(run, times) for run in runs]
    exits = [run.agents.exits() for run in runs]
    names = sorted({name for by_exit in exits for name in by_exit})
    colours = exit_colours(plan_of(runs[0].deck), names)
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
    """Paths of at most `most` people, evenly chosen by id, coloured by time, and where they began; floors side by side."""
    paths = run.paths
    plan = plan_or_box(plan_of(run.deck, paths, closings=run.closings), paths.position_of_row)
    lower, upper = plan.bounds()
    figure, floors = floors_figure(plan)
    step = max(1, -(-len(paths.ids) // most))
    chosen = np.isin(paths.id_of_row, paths.ids[::step])
    order = np.lexsort((paths.frame_of_row[chosen], paths.id_of_row[chosen]))
    person, position, level, time = (values[chosen][order] for values in (
        paths.id_of_row, paths.position_of_row, paths.level_of_row, paths.time_of_row))
    goes_on = (np.diff(person) == 0) & (np.diff(level) == 0)
    # Periodic: no line across.
    goes_on &= (np.abs(np.diff(position, axis=0)) <= (upper - lower) / 2).all(axis=1)
    begins = np.concatenate([[True], np.diff(person) != 0])
    scale = plt.Normalize(time.min(), time.max())
    for number, axes in enumerate(floors):
        draw_floor(axes, plan, number)
        shown = np.isin(level, plan.shown_on(number))
        steps = goes_on & shown[1:]
        lines = LineCollection(np.stack([position[:-1][steps], position[1:][steps]], axis=1), array=time[1:][steps], norm=scale,
                               cmap="viridis", linewidth=0.7, alpha=0.8, zorder=2, capstyle="round",
                               rasterized=goes_on.sum() > MAX_LINES)
        axes.add_collection(lines)
        axes.plot(*position[begins & shown].T, ".", color="0.35", markersize=2, zorder=2)
    colour_bar(figure, lines, floors, "time [s]")
    if step > 1:
        figure.suptitle(f"paths of {len(paths.ids[::step])} of {len(paths.ids)} persons", fontsize="medium")
    save(figure, output)


def main(words):
    parser = parser_of("plot evacuation", __doc__)
    parser.add_argument("results", nargs="+", help="results folders of runs or of ensembles")
    parser.add_argument("--band", type=style.finite, nargs=2, default=(10, 90), metavar=("LOW", "HIGH"),
                        help="percentiles of several runs that the band reaches between (default 10 90)")
    parser.add_argument("--paths", type=int, default=500, metavar="N", help="draw at most N paths (default 500; 0: none)")
    parser.add_argument("--output", type=Path, help="picture of the curves (default: NAME_evacuation.png in the first "
                        "folder); that of paths lies beside it")
    options = parser.parse_args(words)
    if not 0 <= options.band[0] < options.band[1] <= 100:
        parser.error("--band takes two percentiles, the lower one first")
    runs = runs_of(options.results)
    name = runs[0].name
    output = options.output or Path(options.results[0]) / f"{name}_evacuation.png"
    draw_curves(runs, options.band, output)
    if options.paths > 0 and has(runs[0], ".trajectory.h5") and len(runs[0].paths.ids):
        stem = output.stem.removesuffix("_evacuation")
        draw_paths(runs[0], options.paths, output.with_name(f"{stem}_paths{output.suffix}"))
