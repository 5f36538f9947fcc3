"""Charts and maps as SVG, for screen and paper."""
import base64
import math
import struct
import zlib
from dataclasses import dataclass
from html import escape

import numpy as np

from scree import style

WIDTH, HEIGHT = 720, 270
LEFT, RIGHT, TOP, BOTTOM = 62, 12, 10, 42
MAX_POINTS = 1200          # of a line: more cannot be seen
DASHES = ("", "6 3", "2 2")


@dataclass
class Line:
    """A line of a chart, and the band around it if there is one: (low, high) at the same x."""
    name: str
    x: np.ndarray
    y: np.ndarray
    band: tuple = None
    is_step: bool = False
    colour: str = None


def chart(lines, x_label, y_label, identity="", log=False, from_zero=True, x_range=None):
    """A chart as HTML: an <svg> and its legend. With `identity` the page draws a cursor in it."""
    lines = [line for line in lines if np.isfinite(line.y).any()]
    if not lines:
        return '<p class="missing">There are no values to draw.</p>'
    for k, line in enumerate(lines):
        line.colour = line.colour or style.LINE_COLOURS[k % len(style.LINE_COLOURS)]
    x0, x1 = x_range or (min(np.min(line.x) for line in lines), max(np.max(line.x) for line in lines))
    x1 = x1 if x1 > x0 else x0 + 1
    transform = (lambda y: np.log10(np.where(y > 0, y, np.nan))) if log else np.asarray
    values = np.concatenate([transform(np.asarray(part, dtype=float)) for line in lines
                             for part in (line.y, *(line.band or ()))])
    values = values[np.isfinite(values)]
    if len(values) == 0:
        return '<p class="missing">There are no values above 0 to draw.</p>'
    y0, y1 = values.min(), values.max()
    if from_zero and not log:
        y0, y1 = min(y0, 0.0), max(y1, 0.0)
    y1 = y1 if y1 > y0 else y0 + (abs(y0) or 1.0)
    margin = 0.04 * (y1 - y0)
    y0, y1 = (y0 if from_zero and y0 == 0 else y0 - margin), y1 + margin

    def at(x, y):
        return (LEFT + (np.asarray(x, dtype=float) - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT),
                HEIGHT - BOTTOM - (np.asarray(y, dtype=float) - y0) / (y1 - y0) * (HEIGHT - TOP - BOTTOM))

    parts = [_axes(at, x0, x1, y0, y1, x_label, y_label, log)]
    for line in lines:
        if line.band is not None:
            low, high = (transform(np.asarray(side, dtype=float)) for side in line.band)
            keep = _kept(line.x, (low + high) / 2)
            x, low, high = _stepped(line, line.x[keep], low[keep], high[keep])
            (xa, ya), (xb, yb) = at(x, low), at(x, high)
            for piece in _pieces(low + high):
                points = _points(np.concatenate([xa[piece], xb[piece][::-1]]), np.concatenate([ya[piece], yb[piece][::-1]]))
                parts.append(f'<polygon points="{points}" fill="{line.colour}" fill-opacity="0.2"/>')
    for k, line in enumerate(lines):
        y = transform(np.asarray(line.y, dtype=float))
        keep = _kept(line.x, y)
        x, y = _stepped(line, line.x[keep], y[keep])
        dash = _dash(k)
        for piece in _pieces(y):
            parts.append(f'<polyline points="{_points(*at(x[piece], y[piece]))}" fill="none" stroke="{line.colour}" '
                         f'stroke-width="1.6" stroke-linejoin="round"{dash}/>')
    cursor = ""
    if identity:
        cursor = (f' id="{identity}" data-x0="{x0:.9g}" data-x1="{x1:.9g}" data-left="{LEFT}" data-right="{WIDTH - RIGHT}"')
        parts.append(f'<line class="cursor" x1="{LEFT}" x2="{LEFT}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
    legend = ""
    if len(lines) > 1 or lines[0].name:
        legend = '<ul class="legend">' + "".join(f"<li>{_sample(line, k)}{escape(line.name)}</li>" for k, line in enumerate(lines)) + "</ul>"
    return f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"{cursor}>{"".join(parts)}</svg>{legend}'


def _dash(k):
    """Of the k-th line: colours come again with dashes."""
    dash = DASHES[k // len(style.LINE_COLOURS) % len(DASHES)]
    return f' stroke-dasharray="{dash}"' if dash else ""


def _sample(line, k):
    return (f'<svg class="sample" viewBox="0 0 22 8"><line x1="0" x2="22" y1="4" y2="4" stroke="{line.colour}" stroke-width="3"'
            f'{_dash(k)}/></svg>')


def _axes(at, x0, x1, y0, y1, x_label, y_label, log):
    parts = []
    ticks = style.round_ticks(x0, x1, 9)
    for tick, text in zip(ticks, style.tick_texts(ticks)):
        x, _ = at(tick, y0)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
                     f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 15}" text-anchor="middle">{_plain(text)}</text>')
    ticks, texts = _powers(y0, y1) if log else _round(y0, y1)
    for tick, text in zip(ticks, texts):
        _, y = at(x0, tick)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
                     f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">{escape(x_label)}</text>'
                 f'<text transform="translate(13 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">'
                 f'{escape(y_label)}</text>')
    return "".join(parts)


def _round(low, high):
    """Ticks of an axis and their texts."""
    ticks = style.round_ticks(low, high, 6)
    return ticks, [_plain(text) for text in style.tick_texts(ticks)]


def _powers(low, high):
    """The same of an axis of logarithms: powers of ten, of a short one their multiples, too."""
    ticks = [tick for tick in style.round_ticks(low, high, 6) if tick == round(tick)]
    if len(ticks) >= 3:
        return ticks, [f"10<tspan dy='-4' font-size='8'>{tick:g}</tspan>" for tick in ticks]
    values = [factor * 10.0**power for power in range(math.floor(low), math.ceil(high) + 1) for factor in (1, 2, 5)]
    values = [value for value in values if low <= math.log10(value) <= high]
    return [math.log10(value) for value in values], [f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e") for value in values]


def _plain(text):
    """A tick without the mathematics of matplotlib."""
    return text.replace("$", "").replace("\\times10^{", "e").replace("}", "")


def _kept(x, y):
    """Which points of a long line are drawn: the lowest and the highest of each of many parts."""
    n = len(x)
    if n <= MAX_POINTS:
        return np.arange(n)
    parts = np.array_split(np.arange(n), MAX_POINTS // 2)
    chosen = {0, n - 1}
    for part in parts:
        finite = part[np.isfinite(y[part])]
        chosen |= {part[0]} if len(finite) == 0 else {finite[np.argmin(y[finite])], finite[np.argmax(y[finite])]}
    return np.array(sorted(chosen))


def _stepped(line, x, *values):
    if not line.is_step:
        return x, *values
    return np.repeat(x, 2)[1:], *(np.repeat(value, 2)[:-1] for value in values)


def _pieces(y):
    """Slices between gaps of a line."""
    finite = np.concatenate([[False], np.isfinite(y), [False]])
    edges = np.flatnonzero(np.diff(finite.astype(int)))
    return [slice(a, b) for a, b in edges.reshape(-1, 2)]


def _points(x, y):
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x.tolist(), y.tolist()))


def png(pixels):
    """A data URI of pixels (height, width, 4), uint8."""
    height, width, _ = pixels.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1).tobytes()

    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    data = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))
    return "data:image/png;base64," + base64.b64encode(data).decode()


def coloured(values, colours, low, high):
    """Pixels of a map, its first row the highest; transparent where a value is not above `low`."""
    shades = style.colour_map(colours)(np.clip((values - low) / ((high - low) or 1.0), 0, 1), bytes=True)
    shades[~(values > low)] = 0
    return np.ascontiguousarray(shades[::-1])


def classed(values, bounds, colours):
    """The same for classes between bounds."""
    palette = np.array([[int(colour[k:k + 2], 16) for k in (1, 3, 5)] + [255] for colour in colours], np.uint8)
    shades = palette[np.digitize(values, bounds)]
    shades[~(values > 0)] = 0
    return np.ascontiguousarray(shades[::-1])


def colour_bar(colours, low, high, title):
    """A horizontal bar as HTML."""
    ticks = style.round_ticks(low, high, 6)
    stops = ",".join("rgb({},{},{})".format(*style.colour_map(colours)(s, bytes=True)[:3]) for s in np.linspace(0, 1, 12))
    marks = "".join(f'<span style="left:{100 * (tick - low) / ((high - low) or 1):.2f}%">{_plain(text)}</span>'
                    for tick, text in zip(ticks, style.tick_texts(ticks)))
    return (f'<div class="bar"><b>{escape(title)}</b><div style="background:linear-gradient(to right,{stops})"></div>'
            f'<p>{marks}</p></div>')


def class_bar(names, bounds, colours, title):
    """A bar of classes with the bounds between them."""
    boxes = "".join(f'<i style="background:{colour}">{escape(name)}</i>' for name, colour in zip(names, colours))
    share = 100 / len(names)
    marks = "".join(f'<span style="left:{share * (k + 1):.2f}%">{bound:g}</span>' for k, bound in enumerate(bounds))
    return f'<div class="bar classes"><b>{escape(title)}</b><div>{boxes}</div><p>{marks}</p></div>'
