"""Draws speed and specific flow against density, from measures of one or several runs, beside published ones.

    scree plot fundamental-diagram results/rho_*                          -> fundamental_diagram.png in the first folder
    scree plot fundamental-diagram results/rho_* --measures front --from 10 --output diagram.png

A measure is any [measures.NAME] with columns NAME_density and NAME_speed: the types "window" (in 1/m2) and
"one_dimensional" (in 1/m, single files: drawn beside those only). Small dots are rows, large ones means of runs; the
flow of a mean is the mean of the rows' products.
"""
from pathlib import Path

import numpy as np

from scree import style
from scree.commands import parser_of
from scree.commands.crowd_drawing import plt, reference, runs_of, save
from scree.crowd.pictures import colours_of
from scree.errors import ResultsError

FREE_SPEED = 1.34       # m/s, of Weidmann's curve
JAM_DENSITY = 5.4       # 1/m2
STEEPNESS = 1.913       # 1/m2


def weidmann(density):
    """v = 1.34 (1 - exp(-1.913 (1/rho - 1/5.4))): U. Weidmann, Transporttechnik der Fussgaenger, 1993."""
    return FREE_SPEED * (1 - np.exp(-STEEPNESS * (1 / density - 1 / JAM_DENSITY)))


def measures_of(run, wanted):
    """Names of the measures of a run that have density and speed."""
    scalars = run.scalars
    names = [name.removesuffix("_density") for name in scalars.names if name.endswith("_density")]
    names = [name for name in names if f"{name}_speed" in scalars]
    missing = [name for name in wanted or () if name not in names]
    if missing or not names:
        raise ResultsError(f"{run.folder}: no columns {missing[0] if missing else 'NAME'}_density and "
                           f"{missing[0] if missing else 'NAME'}_speed; measures with both: {', '.join(names) or 'none'}")
    return wanted or names


def samples(runs, wanted, begin):
    """(label, unit, densities, speeds) of every measure of every run; rows without anybody are left out."""
    found = []
    for run in runs:
        for name in measures_of(run, wanted):
            density, speed = run.scalars[f"{name}_density"], run.scalars[f"{name}_speed"]
            valid = (run.scalars["time"] >= begin) & np.isfinite(density) & np.isfinite(speed) & (density > 0)
            found.append((name, run.scalars.units[f"{name}_density"], density[valid], speed[valid], run.folder))
    units = {unit for _, unit, *_ in found}
    if len(units) > 1:
        raise ResultsError(f"densities in {' and in '.join(sorted(units))} do not share a diagram: choose with --measures")
    return found, units.pop()


def draw_references(speed_panel, flow_panel, unit):
    if unit == "1/m":
        table = reference("single_file")
        if table is not None:
            rho = table["density[1/m]"]
            speed_panel.fill_between(rho, table["speed_p10[m/s]"], table["speed_p90[m/s]"], color="0.85", linewidth=0,
                                     zorder=0, label="single file, 10 to 90 %")
            speed_panel.plot(rho, table["speed_p50[m/s]"], "-", color="0.45", zorder=1, label="single file, median")
            flow_panel.plot(rho, rho * table["speed_p50[m/s]"], "-", color="0.45", zorder=1)
        return
    rho = np.linspace(0.05, JAM_DENSITY, 300)
    speed_panel.plot(rho, weidmann(rho), "-", color="0.35", linewidth=1.2, zorder=1, label="Weidmann 1993")
    flow_panel.plot(rho, rho * weidmann(rho), "-", color="0.35", linewidth=1.2, zorder=1)
    table = reference("corridor_unidirectional")
    if table is not None:
        rho, middle = table["density[1/m2]"], table["speed_p50[m/s]"]
        low, high = table["speed_p10[m/s]"], table["speed_p90[m/s]"]
        speed_panel.errorbar(rho, middle, [middle - low, high - middle], fmt="s", color="0.55", markersize=4, capsize=2,
                             linewidth=0.8, zorder=1, label="corridor of 3 m, median, 10 to 90 %")
        flow_panel.plot(rho, rho * middle, "s", color="0.55", markersize=4, zorder=1)
    table = reference("corridor_runs")
    if table is not None:
        rho, speed = table["density[1/m2]"], table["speed[m/s]"]
        speed_panel.plot(rho, speed, "^", color="0.55", markerfacecolor="none", markersize=5, zorder=1,
                         label="corridor of 1.8 m, steady states")
        flow_panel.plot(rho, table["specific_flow[1/(m s)]"], "^", color="0.55", markerfacecolor="none", markersize=5,
                        zorder=1)


def draw(runs, wanted, begin, output):
    found, unit = samples(runs, wanted, begin)
    if not any(len(density) for _, _, density, _, _ in found):
        raise ResultsError(f"no row from {begin:g} s on has anybody in a window")
    figure, (speed_panel, flow_panel) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    draw_references(speed_panel, flow_panel, unit)
    colours = colours_of([name for name, *_ in found])
    labelled = set()
    for name, _, density, speed, folder in found:
        if len(density) == 0:
            continue
        for panel, values in ((speed_panel, speed), (flow_panel, density * speed)):
            panel.plot(density, values, ".", color=colours[name], markersize=2.5, alpha=0.35, zorder=2)
            panel.plot(density.mean(), values.mean(), "o", color=colours[name], markeredgecolor="white", markersize=7,
                       zorder=3, label=None if name in labelled else name)
        labelled.add(name)
        print(f"{folder}: {name}: density {density.mean():.4g} {unit}, speed {speed.mean():.4g} m/s, "
              f"flow {(density * speed).mean():.4g}, {len(density)} rows")
    speed_panel.set_ylabel("speed [m/s]")
    flow_panel.set_ylabel("specific flow [1/(m s)]" if unit == "1/m2" else "flow [1/s]")
    for panel in (speed_panel, flow_panel):
        panel.set_xlabel(f"density [{unit}]")
        panel.set_xlim(left=0)
        panel.set_ylim(bottom=0)
        panel.grid(alpha=0.3)
    speed_panel.legend(fontsize="small", frameon=False)
    save(figure, output)


def main(words):
    parser = parser_of("plot fundamental-diagram", __doc__)
    parser.add_argument("results", nargs="+", help="results folders of runs or of ensembles")
    parser.add_argument("--measures", nargs="+", metavar="NAME", help="measures to draw (default: all with density and speed)")
    parser.add_argument("--from", type=style.finite, default=0, dest="begin", metavar="T", help="rows from this time on [s] (default 0)")
    parser.add_argument("--output", type=Path, help="picture to write (default: fundamental_diagram.png in the first folder)")
    options = parser.parse_args(words)
    output = options.output or Path(options.results[0]) / "fundamental_diagram.png"
    draw(runs_of(options.results), options.measures, options.begin, output)
