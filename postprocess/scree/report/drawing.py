"""The plan of a floor as SVG, in metres with y downwards; the page draws people on a canvas above it."""
import zlib
from html import escape

import numpy as np

from scree import style
from scree.crowd.labels import SMALL, connector_labels, corners_of_names, exit_label

OF_ONE, OF_SEVERAL = 0.018, 0.025       # size of texts over the size of the plan: of several floors each is drawn smaller


class View:
    """What part of the plane all floors show, and sizes of text in it [m]."""

    def __init__(self, plan):
        lower, upper = plan.bounds()
        size = max(*(upper - lower), 1e-3)
        self.text = size * (OF_ONE if len(plan.floors) < 2 else OF_SEVERAL)
        corners = [lower - 0.015 * size, upper + 0.015 * size, *corners_of_names(plan, self.text)]
        corners.append(corners[0] - [0, 1.2 * self.text])      # for the scale bar
        corners.append(np.minimum.reduce(corners) - [0, 1.6 * self.text])
        self.lower, self.upper = np.minimum.reduce(corners), np.maximum.reduce(corners)

    def at(self, points):
        points = np.asarray(points, dtype=float)
        return np.stack([points[..., 0] - self.lower[0], self.upper[1] - points[..., 1]], axis=-1)

    @property
    def size(self):
        return self.upper - self.lower

    def path(self, rings):
        """Rings as the text of an SVG path, to be filled even-odd."""
        return "".join("M" + "L".join(f"{x:.3f} {y:.3f}" for x, y in self.at(corners).tolist()) + "Z" for _, corners in rings)


def floor_svg(plan, number, view, colours, moves=True, content=""):
    """One floor: area, connectors that join it, walls, exits, names, a scale bar. `moves`: the page's script closes exits and
    connectors as time goes on. `content` lies above the area whose people are shown here and below the walls, clipped to it."""
    level = plan.levels[number]
    width, height = view.size
    areas = [other for other in plan.levels if number in other.floors]
    parts = []
    if content:
        outline = view.path([ring for k in plan.shown_on(number) for ring in plan.levels[k].rings])
        clip = f"clip-{number}-{zlib.crc32(content.encode())}"
        parts.append(f'<clipPath id="{clip}"><path clip-rule="evenodd" d="{outline}"/></clipPath>')
    parts += [f'<path class="{"floor" if area.kind == "floor" else "connector"}" d="{view.path(area.rings)}"/>' for area in areas]
    if content:
        parts.append(f'<g clip-path="url(#{clip})">{content}</g>')
    parts += [f'<path class="walls" d="{view.path(area.rings)}"/>' for area in areas]
    parts += [connector_svg(other, label, number, view, moves) for other, label in connector_labels(plan, number, SMALL * view.text)]
    parts += [exit_svg(plan, door, view, colours, moves) for door in plan.exits if door.floor == number]
    parts.append(_scale_bar(view))
    return (f'<svg class="plan" viewBox="0 0 {width:.3f} {height:.3f}" role="img" '
            f'aria-label="plan{" of " + escape(level.name) if level.name else ""}">{"".join(parts)}</svg>')


def connector_svg(level, label, floor, view, moves):
    """Name of a connector, and a cross at its end on a floor, which shows when it is closed."""
    closes = np.isfinite(level.closed_from)
    data = f' data-closes="{level.closed_from:g}"' if moves and closes else ""
    mark = _cross(level.lines[floor].mean(axis=0), view) if floor in level.lines else ""
    when = f": closed from {level.closed_from:g} s" if closes else ""
    return (f'<g class="connector-end{" closed" if level.is_closed(0.0) else ""}"{data}>'
            f'<title>{escape(level.name)}, {level.kind}{when}</title>'
            f'{mark}{_text(label, view, "connector-name", SMALL)}</g>')


def exit_svg(plan, door, view, colours, moves):
    never_open = not door.times()
    corners = view.at(door.corners)
    shape = "M" + "L".join(f"{x:.3f} {y:.3f}" for x, y in corners.tolist()) + ("" if door.is_line else "Z")
    data = f' data-exit="{escape(door.name)}"' if moves else ""
    return (f'<g class="exit{" closed" if never_open else ""}"{data}><title>{escape(door.name)}: '
            f'{escape(door.text())}</title><path class="{"line" if door.is_line else "area"}" style="--colour:{colours.get(door.name, "#444")}" '
            f'd="{shape}"/>{_cross(door.middle, view)}{_text(exit_label(plan, door, view.text), view, "exit-name")}</g>')


def _cross(at, view):
    (x, y), size = view.at(at), 0.45 * view.text
    return (f'<path class="cross" d="M{x - size:.3f} {y - size:.3f}l{2 * size:.3f} {2 * size:.3f}'
            f'M{x - size:.3f} {y + size:.3f}l{2 * size:.3f} {-2 * size:.3f}"/>')


def _text(label, view, kind, share=1.0):
    (x, y), size = view.at(label.at), share * view.text
    anchor = {-1: "end", 0: "middle", 1: "start"}[label.across]
    return (f'<text class="{kind}" x="{x:.3f}" y="{y + 0.35 * size:.3f}" font-size="{size:.3f}" '
            f'text-anchor="{anchor}">{escape(label.text)}</text>')


def _scale_bar(view):
    length = style.round_below(0.25 * view.size[0])
    x, y, size = 0.6 * view.text, view.size[1] - 0.6 * view.text, view.text
    return (f'<path class="scale" d="M{x:.3f} {y - 0.3 * size:.3f}v{0.3 * size:.3f}h{length:.3f}v{-0.3 * size:.3f}"/>'
            f'<text class="scale-text" x="{x + length + 0.4 * size:.3f}" y="{y + 0.15 * size:.3f}" font-size="{size:.3f}">{length:g} m</text>')


def map_image(pixels, grid, view):
    """A map (data URI) where it lies."""
    x, y = view.at([grid.lower[0], grid.upper[1]])
    width, height = grid.upper - grid.lower
    return (f'<image href="{pixels}" x="{x:.3f}" y="{y:.3f}" width="{width:.3f}" height="{height:.3f}" '
            'preserveAspectRatio="none"/>')
