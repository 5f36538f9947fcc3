"""A drawn frame with its text: time, scale bar, colour bars. In .pdf and .svg the text is vectors."""
import matplotlib.lines
import matplotlib.patches
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from scree import style
from scree.pictures.survey import BAR_SHARE, FOOT_SHARE

DPI = 100
LONG_TITLE = 12         # letters beside which there is no place for a unit
SCALE_SHARE = 0.2       # of the width, the longest scale bar


class Page:
    """One figure, redrawn for every frame."""

    def __init__(self, run, frames, survey, look):
        self.look = look
        width, height = look.size
        self.text_size = 72 / DPI * height / 36
        self.figure = Figure(figsize=(width / DPI, height / DPI), dpi=DPI)
        FigureCanvasAgg(self.figure)
        self.image = self.figure.figimage(np.full((height, width, 3), 255, np.uint8), zorder=-1)
        self.time_text = time_text(run.times, frames)
        self.clock = self._text(0.02 * height / width, 0.02, "", va="bottom")
        bars = []
        if survey.has_forces:
            largest = survey.top_force
            factor, unit = style.scaled(largest, "N") if survey.force_unit == "N" else (1.0, survey.force_unit)
            bars.append(("contact force", unit, style.FORCE_COLOURS, (0, factor * largest),
                         "max" if survey.has_stronger else "neither"))
        if look.field != "none":
            bars.append((look.field.replace("_", " "), run.unit(look.field), look.colours, survey.colour_range,
                         "max" if survey.is_beyond else "neither"))
        # The drawing ends where bars and foot begin.
        for corner, *size in (((1 - BAR_SHARE, 0), BAR_SHARE if bars else 0, 1), ((0, 0), 1, FOOT_SHARE)):
            self.figure.add_artist(matplotlib.patches.Rectangle(corner, *size, color="white", linewidth=0, zorder=-0.5))
        for k, bar in enumerate(bars):
            self._add_bar(*bar, bottom=0.10 + k * 0.84 / len(bars), height=0.84 / len(bars) - 0.12)
        self._add_scale(2 * survey.view.half_height / height, 1 - (BAR_SHARE if bars else 0.02))

    def show(self, time, pixels):
        self.image.set_data(pixels)
        self.clock.set_text(self.time_text(time))

    def pixels(self):
        """(height, width, 3), uint8."""
        self.figure.canvas.draw()
        return np.asarray(self.figure.canvas.buffer_rgba())[..., :3].copy()

    def save(self, path):
        style.save(self.figure, path)

    def _add_bar(self, name, unit, colours, ends, extend, bottom, height):
        axes = self.figure.add_axes((1 - BAR_SHARE + 0.025, bottom, 0.025, height))
        ticks = style.round_ticks(*ends)
        shades = matplotlib.cm.ScalarMappable(matplotlib.colors.Normalize(*ends), style.colour_map(colours))
        bar = self.figure.colorbar(shades, cax=axes, extend=extend, extendfrac=0.03)
        bar.set_ticks(ticks, labels=style.tick_texts(ticks))
        bar.outline.set_linewidth(0.6)
        bar.outline.set_edgecolor(style.INK)
        bar.ax.tick_params(labelsize=0.85 * self.text_size, color=style.INK, labelcolor=style.INK, width=0.6,
                           length=0.25 * self.text_size)
        bar.ax.minorticks_off()
        title = style.label(name, unit)
        if len(title) > LONG_TITLE:
            title = title.replace(" [", "\n[")
        self._text(1 - BAR_SHARE + 0.02, bottom + height + 0.025, title, size=0.95, va="bottom")

    def _add_scale(self, metres_per_pixel, right):
        """A bar of round length below the drawing, on the right."""
        width, height = self.look.size
        length = style.round_below(SCALE_SHARE * width * metres_per_pixel)
        factor, unit = style.scaled(length, "m")
        end = width * right
        begin, y = end - length / metres_per_pixel, 0.028 * height
        tick = 0.006 * height
        x, y = np.array([begin, begin, begin, end, end, end]), y + tick * np.array([-1, 1, 0, 0, 1, -1])
        self.figure.add_artist(matplotlib.lines.Line2D(x / width, y / height, color=style.INK, solid_joinstyle="miter",
                                                       linewidth=1.6 * self.text_size / 18))
        self._text((begin - 0.012 * height) / width, y[2] / height, f"{round(factor * length, 6):g} {unit}", ha="right",
                   va="center_baseline")

    def _text(self, x, y, text, size=1.0, **place):
        return self.figure.text(x, y, text, fontsize=size * self.text_size, color=style.INK, **place)


def time_text(times, frames):
    """A function that writes a time with the digits that distinguish neighbouring frames, the same for all frames."""
    largest = max(abs(times[number]) for number in frames)
    factor, unit = style.scaled(largest, "s") if largest < 0.1 else (1.0, "s")
    gaps = np.diff(np.unique(times))
    gap = factor * float(np.median(gaps) if len(gaps) else largest)
    digits = 0
    while digits < 6 and abs(round(gap, digits) - gap) > 0.005 * gap:
        digits += 1
    return lambda time: f"t = {factor * time:.{digits}f} {unit}"
