"""How plots and pictures look: one place for colours, fonts, sizes, round numbers and units.

    from scree import style
    with style.context("paper"):            # or "screen"; every function of scree.plots takes style="paper"
        figure, axes = plt.subplots()
    style.save(figure, "figure.pdf")        # .pdf and .svg are vectors, .png is pixels

Colours can be distinguished with any colour vision: lines have those of Okabe and Ito, fields run through viridis.
"""
import argparse
import math
import re
from pathlib import Path

import matplotlib
import matplotlib.colors
import numpy as np

from scree.errors import ResultsError

# M. Okabe and K. Ito, Color Universal Design, 2008. Their yellow is left out: it is too pale for lines on white.
LINE_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
FIELD_COLOURS = "viridis"           # for values from low to high
SIGNED_COLOURS = "RdBu_r"           # for values about 0
INK = (0.18, 0.20, 0.24)            # text, walls
PALE_INK = (0.62, 0.65, 0.70)       # frames, grids
# For forces of contacts, from pale to dark: weak ones stay in the background.
FORCE_COLOURS = matplotlib.colors.ListedColormap(matplotlib.colormaps["inferno_r"](np.linspace(0.12, 0.92, 256)),
                                                 "forces")
ROUND_STEPS = (1, 2, 5, 10)         # of ticks, times a power of ten

COLUMN = 3.35       # of a journal [inch], 85 mm
SCREEN = 8.0        # [inch]

_COMMON = {
    "axes.prop_cycle": matplotlib.cycler(linestyle=["-", "--", ":"]) * matplotlib.cycler(color=LINE_COLOURS),
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.3, "axes.axisbelow": True,
    "axes.edgecolor": INK, "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK, "ytick.color": INK,
    "image.cmap": FIELD_COLOURS, "legend.frameon": False, "legend.fontsize": "small", "axes.titlesize": "medium",
    "figure.constrained_layout.use": True, "axes.formatter.limits": (-3, 4), "axes.formatter.use_mathtext": True,
}
STYLES = {
    "screen": {**_COMMON, "figure.figsize": (SCREEN, 4.8), "figure.dpi": 120, "font.size": 11, "lines.linewidth": 1.6},
    "paper": {**_COMMON, "figure.figsize": (COLUMN, 2.4), "figure.dpi": 300, "font.size": 8, "lines.linewidth": 1.0,
              "lines.markersize": 3.5, "axes.linewidth": 0.6, "xtick.major.width": 0.6, "ytick.major.width": 0.6,
              "grid.linewidth": 0.5, "legend.fontsize": 7},
}


def context(style="screen"):
    """Settings of matplotlib for a `with` statement: "screen", 203 mm wide, or "paper", a column of 85 mm in 8
    point."""
    if style not in STYLES:
        raise ResultsError(f"there is no style {style!r}; there are: {', '.join(STYLES)}")
    return matplotlib.rc_context(STYLES[style])


def size(height):
    """Size of a figure [inch]: as wide as the style of now has it, its height as a share of that."""
    width = matplotlib.rcParams["figure.figsize"][0]
    return width, height * width


def add_options(parser, default):
    """Options --output and --style of a command that draws one picture; `default`: words for where it goes without
    --output."""
    parser.add_argument("--output", type=Path, help=f"picture to write, .png, .pdf or .svg (default: {default})")
    parser.add_argument("--style", choices=STYLES, default="screen",
                        help="screen (default), or paper: a column of 85 mm in 8 point")


def finite(text):
    """The `type` of options that are numbers: nan and inf are refused."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"{text!r} is no finite number")
    return number


def require_order(parser, options):
    """Refuses --range and --between whose ends are not in their order."""
    for name in ("range", "between"):
        low, high = getattr(options, name, None) or (0.0, 1.0)
        if high < low or name == "range" and high == low:
            parser.error(f"--{name} {low:g} {high:g}: the lower end comes first" + (", and the other is above it" if name == "range" else ""))


def save(figure, path):
    """Writes a figure; the ending says as what: .pdf and .svg are vectors with text that can be edited, .png is
    pixels."""
    path = Path(path)
    endings = figure.canvas.get_supported_filetypes()
    if path.suffix.lower().lstrip(".") not in endings:
        raise ResultsError(f"{path}: no picture format has the ending {path.suffix!r}; there are: "
                           + ", ".join(f".{ending}" for ending in endings))
    path.parent.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context({"pdf.fonttype": 42, "svg.fonttype": "none"}):
        figure.savefig(path)


def colour_map(colours):
    """A colour map of matplotlib from its name, or as it is."""
    return matplotlib.colormaps[colours] if isinstance(colours, str) else colours


def round_ticks(low, high, most=6):
    """At most `most` multiples of 1, 2 or 5 times a power of ten from low to high."""
    if not high > low:
        return [low]
    for step in _round_numbers((high - low) / most):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            break
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return [round(k * step, digits) for k in range(first, last + 1)]


def round_below(value):
    """The largest of 1, 2 or 5 times a power of ten that is not above a value."""
    return max(number for number in _round_numbers(value / 10) if number <= value * (1 + 1e-9))


def _round_numbers(least):
    """Rising round numbers around `least` and somewhat more."""
    power = math.floor(math.log10(least))
    return [float(f"{lead}e{exponent}") for exponent in range(power, power + 3) for lead in ROUND_STEPS[:-1]]


def tick_texts(ticks):
    """The same number of digits for all ticks; powers of ten where plain numbers would be long."""
    largest = max(abs(tick) for tick in ticks)
    step = min((b - a for a, b in zip(ticks, ticks[1:])), default=largest) or 1.0
    if largest and not 1e-3 <= largest < 1e5:
        power = math.floor(math.log10(largest) + 1e-9)
        digits = max(0, power - math.floor(math.log10(step) + 1e-9))
        lead = [f"{tick / 10.0**power:.{digits}f}" for tick in ticks]
        return ["0" if tick == 0 else f"${text}\\times10^{{{power}}}$" for tick, text in zip(ticks, lead)]
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return [f"{tick:.{digits}f}" for tick in ticks]


def unit_text(unit):
    """A unit for the eye: "m s-1" (H5MD) and "m/s" (tables) become m/s, "kg/m3" kg/m³. "" if there is none."""
    above, below = [], []
    for place, part in enumerate(unit.replace("(", "").replace(")", "").split("/")):
        for name, power in re.findall(r"([^\W\d_]+)(-?\d+)?|1", part):
            power = int(power or 1)
            if name:
                (below if (power < 0) != (place > 0) else above).append((name, abs(power)))
    raised = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

    def product(factors):
        return " ".join(name + (str(power).translate(raised) if power > 1 else "") for name, power in factors)

    if not below:
        return product(above)
    return f"{product(above) or '1'}/" + (f"({product(below)})" if len(below) > 1 else product(below))


def label(name, unit):
    """Name and unit, for an axis or a colour bar."""
    text = unit_text(unit)
    return f"{name} [{text}]".strip() if text else name


def scaled(largest, unit):
    """Factor and unit in which numbers up to `largest` in m, s or N are easy to read: (1000.0, "mm")."""
    prefixes = ((1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))
    if unit == "s":
        prefixes = prefixes[2:]
    for size, prefix in prefixes if largest else ((1.0, ""),):
        if abs(largest) >= size * (1 - 1e-9):
            break
    return 1 / size, prefix + unit
