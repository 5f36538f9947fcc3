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
from scree.crowd.plan import Level, Plan, outward
from scree.results import ResultsError

WALL = style.INK
FLOOR = (0.965, 0.968, 0.975)
CONNECTOR = (0.89, 0.91, 0.95)
CLOSED = (0.69, 0.0, 0.13)
FRUIN = "level of service (Fruin 1971, walkways), bounds in 1/m2"
MARGIN = 0.02           # around a plan, over its size
HIGHEST = 12.0          # of a figure [inch]


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
    """Corners of what is drawn: the plan, the names of exits beside it, and the scale bar below."""
    lower, upper = plan.bounds()
    size = max(*(upper - lower), 1e-9)
    text = text_size(plan)
    corners = [lower - MARGIN * size, upper + MARGIN * size]
    for door in plan.exits:
        at, across = place_of_name(plan, door)
        half = np.array([0.33 * text * len(door.name), 0.8 * text])
        middle = at + [across * half[0], 0]
        corners += [middle - half, middle + half]
    lower, upper = np.minimum.reduce(corners), np.maximum.reduce(corners)
    return lower - [0, 2.2 * text], upper


def text_size(plan):
    """Height of the names of exits [m]."""
    lower, upper = plan.bounds()
    return 0.02 * max(*(upper - lower), 1e-9)


def place_of_name(plan, door):
    """Where the name of an exit stands, and on which side of that place the text lies: -1 left, 0 around it, 1 right."""
    direction, depth = outward(door, plan.levels[door.floor].rings)
    across = int(np.sign(direction[0])) if abs(direction[0]) > 0.7 else 0
    return door.middle + direction * (depth + (0.5 if across else 0.9) * text_size(plan)), across


def floors_figure(plan, width=9.0):
    """A figure with axes for each floor, side by side, all true to the same scale and without ticks: [axes]."""
    import matplotlib.pyplot as plt

    lower, upper = bounds_with_names(plan)
    size = np.maximum(upper - lower, 1e-9)
    n = max(len(plan.floors), 1)
    columns = min(n, max(1, round(np.sqrt(1.6 * n * size[1] / size[0])))) if n > 1 else 1
    rows = -(-n // columns)
    height = np.clip(width / columns * size[1] / size[0] * rows, 2.5, HIGHEST)
    figure, grid = plt.subplots(rows, columns, figsize=(width, height + 0.4), layout="constrained", squeeze=False)
    places = list(grid.ravel())
    for axes in places:
        axes.set_xlim(lower[0], upper[0])
        axes.set_ylim(lower[1], upper[1])
        axes.set_aspect("equal")
        axes.set_axis_off()
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
    are closed or not as they are then, without it those that never open are closed. `floor`: colour of the area, None for none.
    Returns the outline of all areas, to clip what is drawn on them; None without any."""
    areas = [level for level in plan.levels if number in level.floors]
    rings = [ring for level in areas for ring in level.rings]
    outline = outline_of(rings)
    if outline is None:
        return None
    for level in areas if floor is not None else []:
        if (area := outline_of(level.rings)) is not None:
            colour = floor if level.kind == "floor" else CONNECTOR
            axes.add_patch(PathPatch(area, facecolor=colour, edgecolor="none", zorder=0))
    for level in areas:
        if (area := outline_of(level.rings)) is not None:
            dashed = "-" if level.kind == "floor" else (0, (4, 2))
            axes.add_patch(PathPatch(area, facecolor="none", edgecolor=WALL, linewidth=1.0, linestyle=dashed, zorder=3))
        if level.kind != "floor" and level.polygon is not None:
            axes.text(*level.polygon.mean(axis=0), level.name, fontsize="small", ha="center", va="center", zorder=5, alpha=0.8)
    draw_exits(axes, plan, number, colours or {}, time)
    scale_bar(axes)
    return outline


def draw_exits(axes, plan, number, colours, time=None):
    """Exits of a floor as thick lines with their names; closed ones are crossed out."""
    for door in (door for door in plan.exits if door.floor == number):
        is_closed = not (door.times() if time is None else door.is_open(time))
        colour = style.PALE_INK if is_closed else colours.get(door.name, WALL)
        corners = door.corners if door.is_line else np.vstack([door.corners, door.corners[:1]])
        axes.plot(*corners.T, color=colour, linewidth=3.5 if door.is_line else 1.5, linestyle="-", solid_capstyle="butt", zorder=4)
        if not door.is_line:
            axes.fill(*door.corners.T, color=colour, alpha=0.25, zorder=1)
        if is_closed:
            axes.plot(*door.middle, "x", color=CLOSED, markersize=9, markeredgewidth=2, zorder=5)
        at, across = place_of_name(plan, door)
        axes.text(*at, door.name + (" (closed)" if is_closed else ""), fontsize="small", va="center", zorder=5,
                  ha={-1: "right", 0: "center", 1: "left"}[across], color=CLOSED if is_closed else WALL)


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
    bar = figure.colorbar(picture, ax=axes, spacing="uniform", shrink=0.8, label=FRUIN)
    edges = np.asarray(picture.norm.boundaries)
    bar.set_ticks((edges[:-1] + edges[1:]) / 2, labels="ABCDEF")
    bar.set_ticks(LEVELS_OF_SERVICE, labels=[f"{bound:g}" for bound in LEVELS_OF_SERVICE], minor=True)
    return bar


def _clip(picture, axes, outline):
    if outline is not None:
        picture.set_clip_path(outline, transform=axes.transData)


def colours_of(names):
    """A colour for each name, in this order, the same in all pictures of the same names."""
    return {name: style.LINE_COLOURS[k % len(style.LINE_COLOURS)] for k, name in enumerate(dict.fromkeys(names))}


def exit_colours(plan, names=()):
    """Colours of the exits of a plan in the order of the deck, then of other names in alphabetical order."""
    return colours_of([*(door.name for door in plan.exits), *sorted(set(names))])


def shades(colours, low, high):
    """A colour scale for numbers."""
    return matplotlib.cm.ScalarMappable(matplotlib.colors.Normalize(low, high), style.colour_map(colours))
