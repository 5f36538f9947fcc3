"""Friction and solid fraction of sheared periodic domains over the inertial number: mu(I) and phi(I).

    scree plot rheology results/rheology                  a point for each stage of each run
    scree plot rheology results/a results/b --skip 0.3 --output rheology.pdf --style paper
    scree plot rheology results/rheology --reference tests/reference/practice/simple_shear.csv

A run needs [domain.deformation] with a shear rate, and the measures "cell", "stress" and "solid_fraction". Means are over a stage
but its first part (--skip). Bars: standard errors from eight parts of it. I = shear rate * d * sqrt(density / normal stress), d: mean diameter.
"""
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from scree import Results, style
from scree.commands import parser_of
from scree.errors import ResultsError

PARTS = 8


def grains(results):
    """Mean diameter [m] and density [kg/m3]."""
    groups = list(results.deck["particles"].values())
    density = {results.deck["materials"][group["material"]]["density"] for group in groups}
    if len(density) != 1:
        raise ResultsError(f"{results.folder}: grains of {len(density)} densities have no one inertial number")
    sizes = [group["radius"] for group in groups]
    if not all("value" in size or ("min" in size and "max" in size) for size in sizes):
        raise ResultsError(f"{results.folder}: the mean diameter follows from radii that are constant or uniform")
    return float(np.mean([2 * size["value"] if "value" in size else size["min"] + size["max"] for size in sizes])), density.pop()


def stages(shear_rate, strain):
    """First and last row of each time of one asked-for rate: a rate that jumps by more than a hundredth is another."""
    jumps = 1 + np.flatnonzero(np.abs(np.diff(shear_rate)) > 0.01 * np.abs(shear_rate[1:]))
    bounds = [0, *jumps, len(shear_rate)]
    return [(a, b) for a, b in zip(bounds, bounds[1:]) if b - a >= 2 * PARTS and abs(strain[b - 1] - strain[a]) > 0.5]


def mean_and_error(values):
    parts = [part.mean() for part in np.array_split(values, PARTS)]
    return values.mean(), np.std(parts, ddof=1) / np.sqrt(PARTS)


def points(results, skip):
    """One row per stage: I, mu, its error, solid fraction, its error, normal stress [Pa], shear rate [1/s]."""
    deformation = results.deck.get("domain", {}).get("deformation", {})
    flow, gradient = deformation.get("flow", "none"), deformation.get("gradient", "none")
    if flow == "none":
        raise ResultsError(f"{results.folder}: its deck has no sheared domain")
    scalars, cell, stress = results.scalars, results.measure("cell"), results.measure("stress")
    diameter, density = grains(results)
    rate = scalars[f"{cell}_shear_rate"]
    along = "".join(sorted(flow + gradient))
    normal = scalars[f"{stress}_contact_{gradient}{gradient}"] + scalars[f"{stress}_kinetic_{gradient}{gradient}"]
    tangential = scalars[f"{stress}_contact_{flow}{gradient}"] + scalars[f"{stress}_kinetic_{along}"]
    solid = scalars[f"{results.measure('solid_fraction')}_solid_fraction"]
    rows = []
    for first, last in stages(rate, scalars[f"{cell}_shear_strain"]):
        first += int(skip * (last - first))
        n, t = normal[first:last], np.abs(tangential[first:last])
        parts = [b.mean() / a.mean() for a, b in zip(np.array_split(n, PARTS), np.array_split(t, PARTS))]
        mean_rate = abs(rate[first:last].mean())
        rows.append([mean_rate * diameter * np.sqrt(density / n.mean()), t.mean() / n.mean(), np.std(parts, ddof=1) / np.sqrt(PARTS),
                     *mean_and_error(solid[first:last]), n.mean(), mean_rate])
    if not rows:
        raise ResultsError(f"{results.folder}: no stage has enough samples of a strain of more than a half")
    return np.array(rows)


def main(words):
    parser = parser_of("plot rheology", __doc__)
    parser.add_argument("results", nargs="+", help="results folders")
    parser.add_argument("--skip", type=style.finite, default=0.4, help="share of each stage that is left out at its beginning (default: 0.4)")
    parser.add_argument("--reference", type=Path, help="table with the columns inertial_number, mu and solid_fraction to draw beside")
    style.add_options(parser, "NAME_rheology.png in the first folder")
    options = parser.parse_args(words)
    if not 0 <= options.skip < 1:
        raise ResultsError(f"--skip is {options.skip:g}, not in [0, 1)")
    runs = [Results(folder) for folder in options.results]
    with style.context(options.style):
        figure, axes = plt.subplots(1, 2, figsize=style.size(0.45))
        print("run,shear_rate,normal_stress,inertial_number,mu,mu_error,solid_fraction,solid_fraction_error")
        for run in runs:
            rows = points(run, options.skip)
            for i, mu, mu_error, solid, solid_error, normal, rate in rows:
                print(f"{run.name},{rate:.4g},{normal:.4g},{i:.4g},{mu:.4f},{mu_error:.4f},{solid:.4f},{solid_error:.4f}")
            axes[0].errorbar(rows[:, 0], rows[:, 1], rows[:, 2], fmt="o", label=run.name)
            axes[1].errorbar(rows[:, 0], rows[:, 3], rows[:, 4], fmt="o", label=run.name)
        if options.reference:
            table = np.genfromtxt(options.reference, delimiter=",", names=True)
            table = table[table["friction"] > 0] if "friction" in table.dtype.names else table
            axes[0].plot(table["inertial_number"], table["mu"], "-", label=options.reference.stem)
            axes[1].plot(table["inertial_number"], table["solid_fraction"], "-", label=options.reference.stem)
        axes[0].set(xscale="log", xlabel="inertial number I [-]", ylabel="friction of the flow [-]")
        axes[1].set(xscale="log", xlabel="inertial number I [-]", ylabel="solid fraction [-]")
        axes[0].legend()
        output = options.output or runs[0].folder / f"{runs[0].name}_rheology.png"
        style.save(figure, output)
    print(output)
