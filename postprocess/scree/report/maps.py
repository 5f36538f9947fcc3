"""Maps of a crowd in a report: mean density, level of service, time above a density."""
from html import escape

import numpy as np

from scree.crowd.density import LEVEL_COLOURS, LEVELS_OF_SERVICE, Grid, density_maps
from scree.report.charts import class_bar, classed, colour_bar, coloured, png
from scree.report.drawing import floor_svg, map_image

FINE, COARSE = 0.25, 0.5       # cells [m]
SMALL_PLAN = 40.0               # [m] plans up to this have fine cells
DENSITY_COLOURS = "YlGnBu"      # pale is little, as the page is
EXPOSURE_COLOURS = "inferno_r"


def maps(runs, plan, view, limit, window):
    """The maps as HTML: over all runs with a trajectory, highest densities as means over `window` [s]."""
    with_paths = [run for run in runs if run.part("paths") is not None and len(run.paths.frames)]
    lower, upper = plan.bounds()
    grid = Grid(lower, upper, FINE if max(upper - lower) <= SMALL_PLAN else COARSE)
    of_floors = []
    for floor in range(len(plan.floors)):
        some = [density_maps(run.paths, plan.shown_on(floor), grid, limit, window, run.last_time if run.has_ended else None)
                for run in with_paths]
        of_floors.append((np.mean([one.mean for one in some], axis=0), np.max([one.highest for one in some], axis=0),
                          np.mean([one.above for one in some], axis=0)))
    top_mean, top_highest, top_above = (max(float(one[k].max()) for one in of_floors) for k in range(3))
    runs_text = f" of {len(with_paths)} runs" if len(with_paths) > 1 else ""
    service = ("Level of service (J. J. Fruin, Pedestrian planning and design, 1971: walkways) of the highest density: the largest of the "
               f"means over {window:g} s, which follow each other{',' + runs_text if runs_text else ''}. Highest: {top_highest:.2f} 1/m².")
    kinds = [("mean density", f"Mean over time{runs_text}. Highest: {top_mean:.2f} 1/m².",
              lambda one: coloured(one[0], DENSITY_COLOURS, 0, top_mean or 1),
              colour_bar(DENSITY_COLOURS, 0, top_mean or 1, "mean density [1/m²]")),
             ("level of service", service,
              lambda one: classed(one[1], LEVELS_OF_SERVICE, LEVEL_COLOURS),
              class_bar("ABCDEF", LEVELS_OF_SERVICE, LEVEL_COLOURS, "level of service; bounds in 1/m²")),
             ("exposure", f"Time with more than {limit:g} 1/m²{', mean of the runs' if runs_text else ''}. Longest: {top_above:.1f} s.",
              lambda one: coloured(one[2], EXPOSURE_COLOURS, 0, top_above or 1),
              colour_bar(EXPOSURE_COLOURS, 0, top_above or 1, f"time above {limit:g} 1/m² [s]"))]
    found = []
    for name, text, pixels, bar in kinds:
        figures = "".join(
            f'<figure class="map">{caption(plan, k)}'
            + floor_svg(plan, k, view, {}, False, map_image(png(pixels(of_floors[k])), grid, view)) + "</figure>"
            for k in range(len(plan.floors)))
        found.append(f'<div class="mapset" data-map="{name}"><h3>{name.capitalize()}</h3><div class="floors" data-n="{len(plan.floors)}">'
                     f'{figures}</div>{bar}<p class="note">{escape(text)}</p></div>')
    return ("".join(found) + f'<p class="note">Each person is spread evenly over a disk of 1 m²; cells of {grid.cell:g} m; from the places of '
            "people in the trajectory, at most five times a second. Where nobody ever was there is no colour."
            f"{where_people_count(plan)}</p>")


def where_people_count(plan):
    """On which floor people between floors count, in a sentence; empty for one floor."""
    kinds = {level.kind for level in plan.levels} - {"floor"}
    found = [" People on a connector count on its lower floor."] if kinds - {"lift"} else []
    return "".join(found + [" People in a lift count on the floor to which it goes."] * ("lift" in kinds))


def caption(plan, floor):
    """Name and elevation of a floor of several."""
    level = plan.levels[floor]
    return f"<figcaption>{escape(level.name)}, {level.elevation:g} m</figcaption>" if level.name else ""
