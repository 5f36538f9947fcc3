"""Plans of crowds as figures of matplotlib: floors side by side, walls, connectors, exits with their names, a scale bar.

    figure, floors = floors_figure(plan)
    draw_floor(floors[0], plan, 0)
"""
import matplotlib
import numpy as np
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline

from scree import style
from scree.crowd.density import LEVEL_COLOURS, LEVELS_OF_SERVICE
from scree.crowd.labels import SMALL, connector_labels, connector_text, corners_of_names, exit_label, exit_text
from scree.crowd.plan import Level, Plan
from scree.errors import ResultsError

WALL = style.INK
FLOOR = (0.965, 0.968, 0.975)
CONNECTOR = (0.89, 0.91, 0.95)
CONNECTOR_NAME = (0.36, 0.39, 0.44)
CLOSED = (0.69, 0.0, 0.13)
FRUIN = "level of service (Fruin 1971, walkways),\nbounds in 1/m2"
MARGIN = 0.02           # around a plan, over its size
WIDTH, HIGHEST = 9.0, 12.0      # of a figure [inch]


def plan_or_box(plan, positions):
    """A plan that has an extent: that of the places of people where the plan has none."""
    if plan.bounds() is not None:
        return plan
    points = np.asarray(positions, dtype=float).reshape(-1, 2)
    if len(points) == 0:
        raise ResultsError("there is nobody and no floor plan to draw")
    low, high = points.min(axis=0), points.max(axis=0)
    box = np.array([low, (high[0], low[1]), high, (low[0], high[1])])
    return BoxedPlan([Level("", [], [0])], plan.exits, box)


class BoxedPlan(Plan):
    """A plan of which only the extent is known."""

    def __init__(self, levels, exits, box):
        super().__init__(levels, exits)
        self.box = box

    def bounds(self):
        return self.box.min(axis=0), self.box.max(axis=0)


def bounds_with_names(plan):
    """Corners of what is drawn: the plan, the names of exits and connectors beside it, and the scale bar below."""
    lower, upper = plan.bounds()
    size = max(*(upper - lower), 1e-9)
    text = text_size(plan)
    corners = [lower - MARGIN * size, upper + MARGIN * size, *corners_of_names(plan, text)]
    lower, upper = np.minimum.reduce(corners), np.maximum.reduce(corners)
    return lower - [0, 2.2 * text], upper


def rows_and_columns(plan):
    """How floors are arranged."""
    lower, upper = plan.bounds()
    size = np.maximum(upper - lower, 1e-9)
    n = max(len(plan.floors), 1)
    columns = min(n, max(1, round(np.sqrt(1.6 * n * size[1] / size[0])))) if n > 1 else 1
    return -(-n // columns), columns


def text_size(plan, width=WIDTH):
    """Height of the names of exits [m], about, of a text that is 0.14 inch high in the figure."""
    lower, upper = plan.bounds()
    rows, columns = rows_and_columns(plan)
    return 0.14 * max((upper - lower) * (columns / width, rows / HIGHEST))


def floors_figure(plan, width=WIDTH):
    """A figure with axes for each floor, side by side, all true to the same scale and without ticks: [axes]."""
    import matplotlib.pyplot as plt

    lower, upper = bounds_with_names(plan)
    size = np.maximum(upper - lower, 1e-9)
    rows, columns = rows_and_columns(plan)
    height = np.clip(width / columns * size[1] / size[0] * rows, 2.5, HIGHEST)
    figure, grid = plt.subplots(rows, columns, figsize=(width, height + 0.4), layout="constrained", squeeze=False)
    places = list(grid.ravel())
    for axes in places:
        axes.set_xlim(lower[0], upper[0])
        axes.set_ylim(lower[1], upper[1])
        axes.set_aspect("equal")
        axes.set_axis_off()
    n = max(len(plan.floors), 1)
    for axes, floor in zip(places, plan.floors):
        if floor.name and n > 1:
            axes.set_title(f"{floor.name}, {floor.elevation:g} m", fontsize="medium")
    return figure, places[:n]


def outline_of(rings):
    """Rings as one path with holes; None of no rings."""
    if not rings:
        return None
    corners, codes = [], []
    for is_hole, ring in rings:
        x, y = np.asarray(ring).T
        is_clockwise = np.dot(x, np.roll(y, -1)) < np.dot(y, np.roll(x, -1))
        ring = ring[::-1] if is_clockwise != is_hole else ring       # holes have the opposite orientation
        corners.append(np.vstack([ring, ring[:1]]))
        codes += [Outline.MOVETO] + [Outline.LINETO] * (len(ring) - 1) + [Outline.CLOSEPOLY]
    return Outline(np.concatenate(corners), codes)


def draw_floor(axes, plan, number, colours=None, time=None, floor=FLOOR):
    """Draws a floor with the connectors that join it, its exits and a scale bar. `colours`: of exits by name; `time` [s]: exits
    and connectors are closed or not as they are then, without it those that never open are closed. `floor`: colour of the area,
    None for none. Returns the outline of the areas whose people are shown here, to clip what is drawn on them; None without any."""
    areas = [level for level in plan.levels if number in level.floors]
    outline = outline_of([ring for k in plan.shown_on(number) for ring in plan.levels[k].rings])
    if outline is None:
        return None
    for level in areas:
        shape = outline_of(level.rings)
        if shape is None:
            continue
        is_floor = level.kind == "floor"
        if floor is not None or not is_floor:
            axes.add_patch(PathPatch(shape, facecolor=floor if is_floor else CONNECTOR, edgecolor="none", zorder=0))
        axes.add_patch(PathPatch(shape, facecolor="none", edgecolor=WALL, linewidth=1.0, linestyle="-" if is_floor else (0, (4, 2)),
                                 zorder=3))
    draw_connectors(axes, plan, number, time)
    draw_exits(axes, plan, number, colours or {}, time)
    scale_bar(axes)
    return outline


def draw_connectors(axes, plan, number, time=None):
    """Names of the connectors of a floor; closed ones are crossed out at their end."""
    for level, label in connector_labels(plan, number, SMALL * text_size(plan), lambda level: connector_text(level, time)):
        is_closed = level.is_closed(time or 0.0)
        if is_closed and number in level.lines:
            cross(axes, level.lines[number].mean(axis=0))
        write(axes, label, CLOSED if is_closed else CONNECTOR_NAME, "x-small")


def draw_exits(axes, plan, number, colours, time=None):
    """Exits of a floor as thick lines with their names; closed ones are crossed out. Without a time the names say when exits are
    open, if not always."""
    for door in (door for door in plan.exits if door.floor == number):
        is_closed = not (door.times() if time is None else door.is_open(time))
        colour = style.PALE_INK if is_closed else colours.get(door.name, WALL)
        corners = door.corners if door.is_line else np.vstack([door.corners, door.corners[:1]])
        axes.plot(*corners.T, color=colour, linewidth=3.5 if door.is_line else 1.5, linestyle="-", solid_capstyle="butt", zorder=4)
        if not door.is_line:
            axes.fill(*door.corners.T, color=colour, alpha=0.25, zorder=1)
        if is_closed:
            cross(axes, door.middle)
        write(axes, exit_label(plan, door, text_size(plan), exit_text(door, time)), CLOSED if is_closed else WALL)


def cross(axes, at):
    """A mark of what is closed."""
    axes.plot(*at, "x", color=CLOSED, markersize=9, markeredgewidth=2, zorder=5)


def write(axes, label, colour, size="small"):
    """A name in the plan, pale behind so that it can be read on people and maps."""
    axes.text(*label.at, label.text, fontsize=size, va="center", zorder=7, ha={-1: "right", 0: "center", 1: "left"}[label.across],
              color=colour, bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.6, "pad": 0.5})


def scale_bar(axes):
    """A bar of round length in the lower left corner."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    length = style.round_below(0.25 * (right - left))
    margin = 0.012 * max(right - left, top - bottom)
    x, y, tick = left + margin, bottom + margin, 0.6 * margin
    axes.plot([x, x, x + length, x + length], [y + tick, y, y, y + tick], color=WALL, linewidth=1.2, linestyle="-", zorder=6)
    axes.text(x + length + margin, y, f"{length:g} m", fontsize="small", va="center", zorder=6)


def draw_map(axes, values, extent, clip=None, colours="viridis", value_range=(None, None)):
    """A map (ny, nx) on axes, clipped to an outline. `extent`: left, right, bottom, top [m]. Returns the image."""
    picture = axes.imshow(values, origin="lower", extent=extent, cmap=colours, vmin=value_range[0], vmax=value_range[1],
                          interpolation="nearest", zorder=1)
    _clip(picture, axes, clip)
    return picture


def draw_levels_of_service(axes, values, extent, clip=None):
    """A map of densities in the colours of the levels of service A to F. Returns the image, for levels_bar()."""
    top = max(3.0, float(np.nanmax(values, initial=0.0)))
    norm = BoundaryNorm((0, *LEVELS_OF_SERVICE, top), len(LEVEL_COLOURS))
    picture = axes.imshow(values, origin="lower", extent=extent, cmap=ListedColormap(LEVEL_COLOURS), norm=norm,
                          interpolation="nearest", zorder=1)
    _clip(picture, axes, clip)
    return picture


def levels_bar(figure, picture, axes):
    """The colour bar of levels of service, with their letters and the densities between them."""
    bar = colour_bar(figure, picture, axes, FRUIN, spacing="uniform")
    edges = np.asarray(picture.norm.boundaries)
    bar.set_ticks((edges[:-1] + edges[1:]) / 2, labels="ABCDEF")
    bar.set_ticks(LEVELS_OF_SERVICE, labels=[f"{bound:g}" for bound in LEVELS_OF_SERVICE], minor=True)
    bar.ax.yaxis.labelpad += 12    # the numbers are wider than the letters, by which the title is placed
    return bar


def colour_bar(figure, picture, axes, title, **options):
    """A colour bar beside axes; below them where its title is longer than the figure is high, as that of a long plan is."""
    text = figure.text(0, 0, title)
    is_long = text.get_window_extent().width > 0.9 * figure.bbox.height
    text.remove()
    place = {"location": "bottom", "aspect": 40} if is_long else {"shrink": 0.8}
    return figure.colorbar(picture, ax=axes, label=title, **place, **options)


def _clip(picture, axes, outline):
    if outline is not None:
        picture.set_clip_path(outline, transform=axes.transData)


def colours_of(names):
    """A colour for each name, in this order, the same in all pictures of the same names."""
    return {name: style.LINE_COLOURS[k % len(style.LINE_COLOURS)] for k, name in enumerate(dict.fromkeys(names))}


def exit_colours(plan, names=()):
    """Colours of the exits of a plan in the order of the deck, then of other names in alphabetical order."""
    return colours_of([*(door.name for door in plan.exits), *sorted(set(names) - {""})])


def shades(colours, low, high):
    """A colour scale for numbers."""
    return matplotlib.cm.ScalarMappable(matplotlib.colors.Normalize(low, high), style.colour_map(colours))
