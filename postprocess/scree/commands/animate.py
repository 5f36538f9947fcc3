"""Draws a crowd over time from NAME.trajectory.h5: people as disks, walls, exits, all floors, time; as PNG files or as a film.

    scree animate results/hall                            -> results/hall/pictures/hall_0000.png, ...
    scree animate results/hall --film hall.mp4 --speed 2  25 pictures a second, twice as fast as it happened; needs ffmpeg
    scree animate results/hall --gif --fps 10 --every 2   -> results/hall/hall.gif: a picture of every second frame
    scree animate results/hall --colour exit --between 5 20

Radii and exits come from NAME.agents.csv. Those who have not left are grey, and drawn with --radius where the run has not ended.
With --speed people are on straight lines between the frames of the trajectory.
"""
from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image
from matplotlib.patches import Patch

from scree import style
from scree.commands import crowd_drawing, parser_of  # noqa: F401  (its style of drawing)
from scree.crowd.film import Film
from scree.crowd.pictures import colour_bar, exit_colours, shades
from scree.crowd.plan import plan_of
from scree.errors import ResultsError
from scree.pictures.film_files import write_film_file
from scree.results import Results

UNKNOWN = (0.6, 0.6, 0.6)
SMOOTH_FPS, FRAME_FPS = 25, 10


class People:
    """Radius and colour of the exit of people, where known."""

    def __init__(self, results, radius, colours):
        self._ids, self._radius, self._colours, self._default = np.zeros(0, np.int64), np.zeros(0), np.zeros((0, 3)), radius
        if (results.folder / f"{results.name}.agents.csv").exists():
            agents = results.agents
            order = np.argsort(agents["id"])
            self._ids, self._radius = agents["id"][order].astype(np.int64), agents["radius"][order]
            self._colours = np.array([matplotlib.colors.to_rgb(colours.get(agents["exit"][k], UNKNOWN)) for k in order]).reshape(-1, 3)

    def _find(self, ids):
        place = np.minimum(np.searchsorted(self._ids, ids), max(len(self._ids) - 1, 0))
        return place, self._ids[place] == ids if len(self._ids) else np.zeros(len(ids), dtype=bool)

    def radii(self, ids):
        place, known = self._find(ids)
        radii = np.full(len(ids), float(self._default))
        radii[known] = self._radius[place[known]]
        return radii

    def exit_colours(self, ids, _):
        place, known = self._find(ids)
        found = np.tile(UNKNOWN, (len(ids), 1))
        found[known] = self._colours[place[known]]
        return found


def chosen_times(paths, options):
    """Times of the pictures: those of frames, or evenly spaced ones for a film of some speed."""
    if len(paths.frames) == 0:
        raise ResultsError("the trajectory has no frame with anybody in it")
    low, high = options.between or (0, np.inf)
    if options.speed:
        first, last = max(low, paths.frames[0] / paths.fps), min(high, paths.frames[-1] / paths.fps)
        times = np.arange(first, last + 1e-9, options.speed / options.fps)
    else:
        times = np.arange(paths.frames[0], paths.frames[-1] + 1) / paths.fps
        times = times[(times >= low) & (times <= high)][::options.every]
    if len(times) == 0:
        raise ResultsError("there is no frame between these times")
    return times


def make_film(results, options):
    paths = results.paths
    plan = plan_of(results.deck, paths, closings=results.closings)
    names = results.agents["exit"] if (results.folder / f"{results.name}.agents.csv").exists() else []
    colours = exit_colours(plan, names)
    people = People(results, options.radius, colours)
    if options.colour == "exit":
        def legend(_, floors):
            handles = [Patch(color=colour, label=name) for name, colour in colours.items()]
            if handles:
                floors[0].legend(handles=handles, loc="upper left", bbox_to_anchor=(0, 0), ncols=6, fontsize="small", frameon=False)

        return Film(plan, paths, people.exit_colours, people.radii, legend, colours, options.width)
    speed = np.nan_to_num(paths.speed_of_row)
    top = options.top_speed or max(np.percentile(speed, 99), 0.1)
    scale = shades(options.colours, 0, top)

    def bar(figure, floors):
        colour_bar(figure, scale, floors, "speed [m/s]")

    return Film(plan, paths, lambda _, rows: scale.to_rgba(speed[rows])[:, :3], people.radii, bar, {}, options.width)


def main(words):
    parser = parser_of("animate", __doc__)
    parser.add_argument("results", type=Path, help="results folder")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="draw every N-th frame (default 1)")
    parser.add_argument("--speed", type=style.finite, metavar="S", help="a second of the film shows S seconds; --every is then not used")
    parser.add_argument("--between", type=style.finite, nargs=2, metavar=("FROM", "TO"), help="only these times [s]")
    parser.add_argument("--colour", choices=("speed", "exit"), default="speed", help="what colours show (default speed)")
    parser.add_argument("--colours", default="viridis", help="colour map of matplotlib for speeds (default viridis)")
    parser.add_argument("--top-speed", type=style.finite, metavar="V", help="speed of the last colour [m/s]")
    parser.add_argument("--radius", type=style.finite, default=0.19, help="of those without a row [m] (default 0.19)")
    parser.add_argument("--film", type=Path, metavar="FILE", help="an .mp4 or .gif instead of PNG files")
    parser.add_argument("--gif", action="store_true", help="the same as --film NAME.gif in the folder, or --output")
    parser.add_argument("--fps", type=style.finite, help=f"pictures of the film per second (default {FRAME_FPS}, with --speed {SMOOTH_FPS})")
    parser.add_argument("--width", type=int, default=1080, help="of the pictures [pixels] (default 1080)")
    parser.add_argument("--output", type=Path, help="folder of the PNG files, or the GIF")
    options = parser.parse_args(words)
    style.require_order(parser, options)
    if options.every < 1:
        parser.error("--every is a number of frames, 1 or more")
    if options.fps is None:
        options.fps = SMOOTH_FPS if options.speed else FRAME_FPS
    if not options.fps > 0:
        parser.error("--fps is a number above 0")
    if options.speed is not None and not options.speed > 0:
        parser.error("--speed is a number above 0")
    if not 200 <= options.width <= 8000:
        parser.error("--width is from 200 to 8000 pixels")
    if options.colours not in matplotlib.colormaps:
        parser.error(f"there is no colour map {options.colours!r}; try viridis, plasma, cividis, turbo")
    results = Results(options.results)
    times = chosen_times(results.paths, options)
    film = make_film(results, options)
    pictures = film.pictures(times, lambda time, n: f"t = {time:.2f} s, {n} persons")
    path = options.film or (options.gif and (options.output or results.folder / f"{results.name}.gif"))
    if path:
        write_film_file(path, options.fps, pictures)
        print(path)
        return
    folder = options.output or results.folder / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    for number, pixels in enumerate(pictures):
        path = folder / f"{results.name}_{number:04}.png"
        Image.fromarray(pixels).save(path)
        print(path)
