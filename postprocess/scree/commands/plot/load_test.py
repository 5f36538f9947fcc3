"""Draws tests of granular samples under driven walls: the decks oedometer, triaxial and shear_cell of inputs/granular.

    scree plot load-test results/oedometer                     stress over strain, solid fraction
    scree plot load-test results/triaxial                      deviator stress and volume over axial strain
    scree plot load-test results/shear_cell                    friction and height over time
    scree plot load-test results/oedometer --output oedometer.pdf --style paper

Which test it is follows from the names of the walls in the deck. Strains count from where a sample first carries its load.
"""
import matplotlib.pyplot as plt
import numpy as np

from scree import Results, style
from scree.commands import parser_of
from scree.errors import ResultsError

OPPOSITE = (("left", "right"), ("front", "back"), ("bottom", "top"))


def first_loaded(load, target):
    """Row from which on a wall carries its load."""
    rows = np.flatnonzero((target > 0) & (load >= 0.9 * target))
    if len(rows) == 0:
        raise ResultsError("no wall has carried its load in this run")
    return rows[0]


def gap(results, pair, axis, positions):
    """Distance between two facing planes over time [m]."""
    walls = results.deck["obstacles"]
    return walls[pair[1]]["point"][axis] - walls[pair[0]]["point"][axis] - sum(positions.get(name, 0) for name in pair)


def columns(results, what, walls):
    return {name: results.scalars[f"{results.measure('driven')}_{what}_{name}"] for name in walls}


def oedometer(results, axes):
    walls, plate = results.deck["obstacles"], {"plate"}
    position, load, target = (columns(results, what, plate)["plate"] for what in ("position", "load", "target"))
    area = (walls["right"]["point"][0] - walls["left"]["point"][0]) * (walls["back"]["point"][1] - walls["front"]["point"][1])
    height = walls["plate"]["point"][2] - position
    first = first_loaded(load, target)
    strain = 1 - height[first:] / height[first]
    axes[0].plot(100 * strain, load[first:] / area / 1e3)
    axes[0].set(xlabel="axial strain [%]", ylabel="stress on the plate [kPa]")
    if fractions := [name for name in results.scalars.names if name.endswith("solid_fraction")]:
        axes[1].plot(100 * strain, results.scalars[fractions[0]][first:])
    axes[1].set(xlabel="axial strain [%]", ylabel="solid fraction [-]")


def triaxial(results, axes):
    walls = [name for pair in OPPOSITE for name in pair]
    positions, load, target = (columns(results, what, walls) for what in ("position", "load", "target"))
    gaps = [gap(results, pair, axis, positions) for axis, pair in enumerate(OPPOSITE)]
    volume = gaps[0] * gaps[1] * gaps[2]
    stress = [0.5 * (load[a] + load[b]) * length / volume for (a, b), length in zip(OPPOSITE, gaps)]
    # The axial walls have a speed in the last stage, and no target.
    first = np.flatnonzero(target["top"] == 0)
    first = first[0] if len(first) else len(volume) - 1
    strain = 100 * (1 - gaps[2][first:] / gaps[2][first])
    axes[0].plot(strain, (stress[2] - 0.5 * (stress[0] + stress[1]))[first:] / 1e3, label="deviator")
    axes[0].plot(strain, (0.5 * (stress[0] + stress[1]))[first:] / 1e3, label="at the sides")
    axes[0].set(xlabel="axial strain [%]", ylabel="stress [kPa]")
    axes[0].legend()
    axes[1].plot(strain, 100 * (volume[first:] / volume[first] - 1))
    axes[1].set(xlabel="axial strain [%]", ylabel="change of volume [%]")


def shear_cell(results, axes):
    lid = {"lid"}
    position, load, target = (columns(results, what, lid)["lid"] for what in ("position", "load", "target"))
    force = results.scalars[f"{results.measure('wall_force')}_force_floor_x"]
    time = results.scalars["time"]
    pressed = np.arange(len(load)) >= first_loaded(load, target)
    axes[0].plot(time[pressed], np.abs(force[pressed]) / load[pressed])
    axes[0].set(xlabel="time [s]", ylabel="shear force / load [-]")
    axes[1].plot(time, 1e3 * (results.deck["obstacles"]["lid"]["point"][1] - position))
    axes[1].set(xlabel="time [s]", ylabel="height of the lid [mm]")


def main(words):
    parser = parser_of("plot load-test", __doc__)
    parser.add_argument("results", help="results folder")
    style.add_options(parser, "NAME_load.png in the folder")
    options = parser.parse_args(words)
    results = Results(options.results)
    walls = results.deck.get("obstacles", {})
    tests = {"plate": oedometer, "top": triaxial, "lid": shear_cell}
    found = [draw for wall, draw in tests.items() if walls.get(wall, {}).get("motion", {}).get("type") == "driven"]
    if len(found) != 1:
        raise ResultsError(f"{results.folder}: no wall named plate, top or lid is driven")
    with style.context(options.style):
        figure, axes = plt.subplots(1, 2, figsize=style.size(0.45))
        found[0](results, axes)
        output = options.output or results.folder / f"{results.name}_load.png"
        style.save(figure, output)
    print(output)
