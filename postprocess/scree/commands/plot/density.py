"""Draws a map of a field of [output.fields]: density, speed, load ..., at a time or averaged over time, with walls.

    scree plot density results/hall                             density, mean over time -> results/hall/hall_density.png
    scree plot density results/hall --time 20                   the frame nearest to 20 s
    scree plot density results/hall --between 10 40 --levels    level of service of the mean density (Fruin 1971)
    scree plot density results/hall --field load --range 0 4500

Vector fields are drawn by their length. Without maps of [output.fields] the density comes from the trajectory (--from-paths
asks for that), on cells of --cell. Of a building all floors are drawn, side by side.
"""
from pathlib import Path

import matplotlib
import numpy as np

from scree import style
from scree.commands import parser_of
from scree.commands.crowd_drawing import save
from scree.crowd.curves import column_name
from scree.crowd.density import Grid
from scree.crowd.pictures import colour_bar, draw_floor, draw_levels_of_service, draw_map, floors_figure, levels_bar, plan_or_box
from scree.crowd.plan import plan_of
from scree.errors import ResultsError
from scree.results import Results, read_fields

UNITS = {"density": "1/m2", "speed": "m/s", "flux": "1/(m s)", "load": "N/m", "exposure": "s", "travel_time": "s"}


def chosen_frames(frames, results, options):
    if not frames:
        raise ResultsError(f"{results.folder} has no maps (vtk/{results.name}_fields.pvd); was [output.fields] in the deck?")
    if options.time is not None:
        return [min(frames, key=lambda frame: abs(frame[0] - options.time))]
    low, high = options.between or (-np.inf, np.inf)
    frames = [frame for frame in frames if low <= frame[0] <= high]
    if not frames:
        raise ResultsError(f"there is no frame between {low:g} and {high:g} s")
    return frames


def mean_map(frames, field):
    """Mean of a field over frames, cell by cell; frames where a cell has no value (nan) do not count for it."""
    total = count = first = None
    for _, path in frames:
        fields = read_fields(path)
        values = fields[field]
        if values.ndim == 3:
            values = np.linalg.norm(values, axis=2)
        if total is None:
            first, total, count = fields, np.zeros_like(values), np.zeros_like(values)
        if values.shape != total.shape:
            raise ResultsError(f"{path} is of another grid than the frames before")
        valid = np.isfinite(values)
        total[valid] += values[valid]
        count += valid
    with np.errstate(invalid="ignore"):
        return first, np.where(count > 0, total / np.maximum(count, 1), np.nan)


def fields_of_level(results, level, plan):
    """Frames (time, path) of the maps of a floor or a connector."""
    return results.vtk_frames("fields" if len(plan.levels) == 1 else f"fields_{column_name(level.name)}")


def maps_of_files(results, plan, options):
    """(times, one (extent, values) for each floor) from [output.fields]. A floor shows the connectors of which it is the lower
    end: densities add up, of other fields the largest counts."""
    of_levels, times = [], []
    for level in plan.levels:
        frames = chosen_frames(fields_of_level(results, level, plan), results, options)
        grid, values = mean_map(frames, options.field)
        of_levels.append(((grid.lower[0], grid.upper[0], grid.lower[1], grid.upper[1]), values))
        times = [time for time, _ in frames]
    found = []
    for number in range(len(plan.floors)):
        maps = [of_levels[k] for k in plan.shown_on(number)]
        extent, values = maps[0]
        for other_extent, other in maps[1:]:
            if other_extent != extent:
                raise ResultsError("the maps of floors and connectors are of different grids; --from-paths needs none")
            both = np.nan_to_num(values) + np.nan_to_num(other)
            values = both if options.field == "density" else np.fmax(values, other)
        found.append((extent, values))
    return times, found


def maps_of_paths(results, plan, options):
    """The same for the density, from the places of people in the trajectory."""
    paths = results.paths
    times = paths.frames / paths.fps
    if options.time is not None:
        frames = paths.frames[np.abs(times - options.time).argmin():][:1]
    else:
        low, high = options.between or (-np.inf, np.inf)
        frames = paths.frames[(times >= low) & (times <= high)]
    if len(frames) == 0:
        raise ResultsError("there is no frame between these times")
    grid = Grid(*plan.bounds(), options.cell)
    total = [np.zeros((grid.ny, grid.nx)) for _ in plan.floors]
    for frame in frames:
        rows = paths.rows(frame)
        level, position = paths.level_of_row[rows], paths.position_of_row[rows]
        for number, values in enumerate(total):
            values += grid.density(position[np.isin(level, plan.shown_on(number))])
    extent = (grid.lower[0], grid.upper[0], grid.lower[1], grid.upper[1])
    return (frames / paths.fps).tolist(), [(extent, values / len(frames)) for values in total]


def draw(results, options, output):
    has_plan = (results.folder / f"{results.name}.trajectory.h5").exists()
    paths = results.paths if has_plan else None
    plan = plan_of(results.deck, paths, closings=results.closings)
    has_files = bool(fields_of_level(results, plan.levels[0], plan))
    if options.from_paths or (not has_files and has_plan and options.field == "density"):
        if not has_plan:
            raise ResultsError(f"{results.folder} has no trajectory; was [output.trajectory] in the deck?")
        times, maps = maps_of_paths(results, plan, options)
    else:
        times, maps = maps_of_files(results, plan, options)
    plan = plan_or_box(plan, [corner for (left, right, bottom, top), _ in maps for corner in ((left, bottom), (right, top))])
    figure, floors = floors_figure(plan)
    low, high = options.range or (min(np.nanmin(values, initial=np.inf) for _, values in maps),
                                  max(np.nanmax(values, initial=-np.inf) for _, values in maps))
    for number, (axes, (extent, values)) in enumerate(zip(floors, maps)):
        outline = draw_floor(axes, plan, number, time=times[0] if len(times) == 1 else None, floor=None)
        if options.levels:
            picture = draw_levels_of_service(axes, values, extent, outline)
        else:
            picture = draw_map(axes, values, extent, outline, options.colours, (low, high))
    if options.levels:
        levels_bar(figure, picture, floors)
    else:
        unit = next((unit for start, unit in UNITS.items() if options.field.startswith(start)), None)
        colour_bar(figure, picture, floors, options.field + (f" [{unit}]" if unit else ""))
    figure.suptitle(f"{options.field} at {times[0]:g} s" if len(times) == 1 else
                    f"{options.field}, mean of {len(times)} frames from {times[0]:g} to {times[-1]:g} s", fontsize="medium")
    save(figure, output)
    if any(np.isfinite(values).any() for _, values in maps):
        print(f"largest value: {max(np.nanmax(values) for _, values in maps):.4g}")


def main(words):
    parser = parser_of("plot density", __doc__)
    parser.add_argument("results", type=Path, help="results folder")
    parser.add_argument("--field", default="density", help="field of the maps (default density)")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--time", type=style.finite, help="draw the frame nearest to this time [s]")
    which.add_argument("--between", type=style.finite, nargs=2, metavar=("FROM", "TO"), help="mean over these times [s] only")
    parser.add_argument("--levels", action="store_true", help="colours of the levels of service A to F (density only)")
    parser.add_argument("--range", type=style.finite, nargs=2, metavar=("LOW", "HIGH"), help="values of the ends of the colours")
    parser.add_argument("--colours", default="viridis", help="colour map of matplotlib (default viridis)")
    parser.add_argument("--from-paths", action="store_true", help="density from the trajectory, not from [output.fields]")
    parser.add_argument("--cell", type=style.finite, default=0.5, help="of maps from the trajectory [m] (default 0.5)")
    parser.add_argument("--output", type=Path, help="picture to write, .png, .pdf or .svg (default: NAME_FIELD.png in the folder)")
    options = parser.parse_args(words)
    if options.colours not in matplotlib.colormaps:
        parser.error(f"there is no colour map {options.colours!r}; try viridis, plasma, cividis, turbo")
    if (options.levels or options.from_paths) and options.field != "density":
        parser.error("--levels and --from-paths are for the field density")
    if options.levels and options.range:
        parser.error("--range has no effect with --levels, whose bounds are those of the levels")
    style.require_order(parser, options)
    if not options.cell > 0:
        parser.error("--cell is a length above 0")
    results = Results(options.results)
    draw(results, options, options.output or results.folder / f"{results.name}_{options.field}.png")
