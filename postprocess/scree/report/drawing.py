"""The plan of a floor as SVG, in metres with y downwards; the page draws people on a canvas above it."""
from html import escape

import numpy as np

from scree import style
from scree.crowd.plan import outward

LETTER = 0.66           # width of a letter over the size of the text


class View:
    """What part of the plane all floors show, and sizes of text in it [m]."""

    def __init__(self, plan):
        lower, upper = plan.bounds()
        size = max(*(upper - lower), 1e-3)
        self.text = 0.018 * size
        corners = [lower - 0.015 * size, upper + 0.015 * size]
        for door in plan.exits:
            at, across = self.label_of(plan, door)
            half = np.array([LETTER * self.text * len(door.name) / 2, self.text])
            along = np.array([across * half[0], 0])
            corners += [at + along - half, at + along + half]
        corners.append(corners[0] - [0, 1.2 * self.text])      # for the scale bar
        corners.append(np.minimum.reduce(corners) - [0, 1.6 * self.text])
        self.lower, self.upper = np.minimum.reduce(corners), np.maximum.reduce(corners)

    def label_of(self, plan, door):
        """Where the name of an exit stands, outside of its floor, and on which side of that place the text lies: -1, 0, 1."""
        direction, depth = outward(door, plan.levels[door.floor].rings)
        across = int(np.sign(direction[0])) if abs(direction[0]) > 0.7 else 0
        return door.middle + direction * (depth + (0.6 if across else 1.0) * self.text), across

    def at(self, points):
        points = np.asarray(points, dtype=float)
        return np.stack([points[..., 0] - self.lower[0], self.upper[1] - points[..., 1]], axis=-1)

    @property
    def size(self):
        return self.upper - self.lower

    def path(self, rings):
        """Rings as the text of an SVG path, to be filled even-odd."""
        return "".join("M" + "L".join(f"{x:.3f} {y:.3f}" for x, y in self.at(corners).tolist()) + "Z" for _, corners in rings)


def floor_svg(plan, number, view, colours, with_exits=True, content=""):
    """One floor: area, connectors that join it, walls, exits and their names, a scale bar. `content` lies above the area and
    below the walls, clipped to the area."""
    level = plan.levels[number]
    width, height = view.size
    areas = [other for other in plan.levels if number in other.floors]
    outline = view.path([ring for area in areas for ring in area.rings])
    clip = f"clip-{number}-{abs(hash(content)) % 10**8}" if content else ""
    parts = []
    if content:
        parts.append(f'<clipPath id="{clip}"><path clip-rule="evenodd" d="{outline}"/></clipPath>')
    parts += [f'<path class="floor" d="{view.path(area.rings)}"/>' for area in areas]
    for area in areas:
        if area.kind != "floor" and area.polygon is not None:
            parts.append(f'<path class="connector" d="{view.path([(False, area.polygon)])}"/>')
    if content:
        parts.append(f'<g clip-path="url(#{clip})">{content}</g>')
    parts += [f'<path class="walls" d="{view.path(area.rings)}"/>' for area in areas]
    for area in areas:
        if area.kind != "floor" and area.polygon is not None:
            x, y = view.at(area.polygon.mean(axis=0))
            parts.append(_text(x, y, area.name, view, "middle", "connector-name"))
    if with_exits:
        for door in plan.exits:
            if door.floor == number:
                parts.append(exit_svg(plan, door, view, colours))
    parts.append(_scale_bar(view))
    return (f'<svg class="plan" viewBox="0 0 {width:.3f} {height:.3f}" role="img" '
            f'aria-label="plan{" of " + escape(level.name) if level.name else ""}">{"".join(parts)}</svg>')


def exit_svg(plan, door, view, colours):
    never_open = not door.times()
    corners = view.at(door.corners)
    shape = "M" + "L".join(f"{x:.3f} {y:.3f}" for x, y in corners.tolist()) + ("" if door.is_line else "Z")
    at, across = view.label_of(plan, door)
    x, y = view.at(at)
    anchor = {-1: "end", 0: "middle", 1: "start"}[across]
    size = 0.45 * view.text
    mx, my = view.at(door.middle)
    mark = (f'<path class="cross" d="M{mx - size:.3f} {my - size:.3f}l{2 * size:.3f} {2 * size:.3f}'
            f'M{mx - size:.3f} {my + size:.3f}l{2 * size:.3f} {-2 * size:.3f}"/>')
    return (f'<g class="exit{" closed" if never_open else ""}" data-exit="{escape(door.name)}"><title>{escape(door.name)}: '
            f'{escape(door.text())}</title><path class="{"line" if door.is_line else "area"}" style="--colour:{colours.get(door.name, "#444")}" '
            f'd="{shape}"/>{mark}{_text(x, y, door.name, view, anchor, "exit-name")}</g>')


def _text(x, y, text, view, anchor, kind):
    return (f'<text class="{kind}" x="{x:.3f}" y="{y + 0.35 * view.text:.3f}" font-size="{view.text:.3f}" '
            f'text-anchor="{anchor}">{escape(text)}</text>')


def _scale_bar(view):
    length = style.round_below(0.25 * view.size[0])
    x, y = 0.6 * view.text, view.size[1] - 0.6 * view.text
    return (f'<path class="scale" d="M{x:.3f} {y - 0.3 * view.text:.3f}v{0.3 * view.text:.3f}h{length:.3f}v{-0.3 * view.text:.3f}"/>'
            + _text(x + length + 0.4 * view.text, y - 0.2 * view.text, f"{length:g} m", view, "start", "scale-text"))


def map_image(pixels, grid, view):
    """A map (data URI) where it lies."""
    x, y = view.at([grid.lower[0], grid.upper[1]])
    width, height = grid.upper - grid.lower
    return (f'<image href="{pixels}" x="{x:.3f}" y="{y:.3f}" width="{width:.3f}" height="{height:.3f}" '
            'preserveAspectRatio="none"/>')
