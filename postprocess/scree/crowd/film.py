"""Films of crowds. All that stands is drawn once by matplotlib; people are painted on copies of these pixels by numpy.

    film = Film(plan, paths, colours=by_exit, radius=radii)
    for pixels in film.pictures(times): ...                 # (height, width, 3), uint8
"""
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg

from scree.crowd.pictures import draw_floor, floors_figure, plan_or_box

DPI = 120
RIM = (0.25, 0.25, 0.25)
LEAST_RADIUS = 1.2      # of a person [pixels]: smaller ones would not be seen


class Film:
    """`colours(ids, rows)`: RGB from 0 to 1 of people in the rows of a frame; `radius(ids)` [m]; `decorate(figure, axes)` adds
    legends; `exit_colours` by name; `width` of the pictures [pixels]."""

    def __init__(self, plan, paths, colours, radius, decorate=None, exit_colours=None, width=1080):
        self.plan, self.paths = plan_or_box(plan, paths.position_of_row), paths
        self._colours, self._radius, self._decorate, self._exit_colours = colours, radius, decorate, exit_colours or {}
        self._width = width
        self._backgrounds = {}
        self._font = None

    def pictures(self, times, text=None):
        """Yields the pixels at each of the times [s]; between two frames of the trajectory people are on the straight line.
        `text(time, n)` is written above."""
        for time in times:
            yield self.picture(time, text)

    def picture(self, time, text=None):
        background, to_pixels = self._background(time)
        pixels = background.copy()
        ids, level, position, rows = people_at(self.paths, time)
        colours, radius = np.asarray(self._colours(ids, rows), dtype=float).reshape(-1, 3), np.asarray(self._radius(ids), dtype=float)
        for floor, (matrix, offset) in enumerate(to_pixels):
            here = np.isin(level, self.plan.shown_on(floor)) if len(self.plan.levels) > 1 else slice(None)
            paint_disks(pixels, position[here] * matrix + offset, np.maximum(radius[here] * matrix[0], LEAST_RADIUS), colours[here])
        return self._written(pixels, text(time, len(ids)) if text else f"t = {time:.1f} s, {len(ids)} persons")

    def _background(self, time):
        """What stands, and of each floor factor and offset from m to pixels. Again when an exit or a connector opens or closes."""
        is_open = (*(door.is_open(time) for door in self.plan.exits), *(level.is_closed(time) for level in self.plan.levels))
        if is_open not in self._backgrounds:
            self._backgrounds[is_open] = self._drawn(time)
        return self._backgrounds[is_open]

    def _drawn(self, time):
        import matplotlib.pyplot as plt

        figure, floors = floors_figure(self.plan, self._width / DPI)
        figure.set_dpi(DPI)
        figure.get_layout_engine().set(rect=(0, 0, 1, 1 - 0.3 / figure.get_figheight()))    # room for the time
        for number, axes in enumerate(floors):
            draw_floor(axes, self.plan, number, self._exit_colours, time)
        if self._decorate:
            self._decorate(figure, floors)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        pixels = np.asarray(canvas.buffer_rgba())[..., :3].copy()
        to_pixels = []
        for axes in floors:
            (x0, y0), (x1, y1) = axes.transData.transform([(0, 0), (1, 1)])
            to_pixels.append((np.array([x1 - x0, y0 - y1]), np.array([x0, pixels.shape[0] - y0])))
        plt.close(figure)
        return pixels, to_pixels

    def _written(self, pixels, text):
        from PIL import Image, ImageDraw, ImageFont

        if self._font is None:
            path = Path(matplotlib.get_data_path()) / "fonts/ttf/DejaVuSans.ttf"
            self._font = ImageFont.truetype(str(path), round(0.15 * DPI))
        strip = Image.fromarray(pixels[:round(0.28 * DPI)])
        ImageDraw.Draw(strip).text((0.1 * DPI, 0.06 * DPI), text, font=self._font, fill=(46, 51, 61))
        pixels[:strip.height] = np.asarray(strip)
        return pixels


def people_at(paths, time):
    """Ids, levels, places (n, 2) and rows of those who are there at a time. Who is in the next frame too is on the way there."""
    at = time * paths.fps
    frame = int(np.floor(at + 1e-6))
    rows = paths.rows(frame)
    ids, position = paths.id_of_row[rows], paths.position_of_row[rows]
    share = at - frame
    if share > 1e-6 and len(ids):
        after = paths.rows(frame + 1)
        others = paths.id_of_row[after]
        if len(others):
            place = np.minimum(np.searchsorted(others, ids), len(others) - 1)
            step = paths.position_of_row[after][place] - position
            goes_on = (others[place] == ids) & (np.abs(step).max(axis=1) < 5 / paths.fps + 1)    # no jump through a periodic face
            position = position + np.where(goes_on[:, None], share * step, 0.0)
    return ids, paths.level_of_row[rows], position, np.arange(rows.start, rows.stop)


def paint_disks(pixels, centres, radii, colours, rim=RIM):
    """Paints disks with smooth edges on pixels (height, width, 3) of uint8. `centres` and `radii` in pixels, y downwards,
    `colours` from 0 to 1. Where disks meet, whole pixels cover parts of pixels."""
    if len(centres) == 0:
        return
    height, width, _ = pixels.shape
    reach = int(np.ceil(radii.max() + 1))
    around = np.arange(-reach, reach + 1)
    corner = np.floor(centres).astype(int)
    x = corner[:, 0, None] + around                     # (n, k)
    y = corner[:, 1, None] + around
    distance = np.sqrt((x + 0.5 - centres[:, 0, None])[:, None, :]**2 + (y + 0.5 - centres[:, 1, None])[:, :, None]**2)
    cover = np.clip(radii[:, None, None] + 0.5 - distance, 0, 1)
    valid = ((x >= 0) & (x < width))[:, None, :] & ((y >= 0) & (y < height))[:, :, None] & (cover > 0)
    who, row, column = np.nonzero(valid)
    index = y[who, row] * width + x[who, column]
    cover, distance = cover[valid], distance[valid]
    share_of_rim = np.clip(distance - radii[who] + 1.2, 0, 1)[:, None] * np.where(radii > 3, 0.7, 0.0)[who, None]
    paint = 255 * (colours[who] * (1 - share_of_rim) + np.asarray(rim) * share_of_rim)
    flat = pixels.reshape(-1, 3)
    for chosen in (cover < 1, cover >= 1):
        part = cover[chosen, None]
        flat[index[chosen]] = np.rint(flat[index[chosen]] * (1 - part) + paint[chosen] * part).astype(np.uint8)
