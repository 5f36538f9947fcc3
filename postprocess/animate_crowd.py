#!/usr/bin/python3
"""Draws a crowd frame by frame from NAME.trajectory.h5: people as disks, walls, time; as PNG files or as a film.

    animate_crowd.py results/hall                            -> results/hall/pictures/hall_0000.png, ...
    animate_crowd.py results/hall --gif --fps 10 --every 2   -> results/hall/hall.gif, twice as fast as it happened
                                                                if the trajectory has 10 frames a second
    animate_crowd.py results/hall --film hall.mp4            needs ffmpeg; a .gif does not
    animate_crowd.py results/hall --colour exit --between 5 20

Radii and exits come from NAME.agents.csv; people who have not left are not in it, and are drawn with --radius and in grey.
"""
import argparse
import sys
from pathlib import Path

from crowd_drawing import bounds_of, colours_of, draw_walkable, map_axes, plt
import matplotlib
import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.patches import Circle, Patch

from scree.pictures.errors import RenderError
from scree.pictures.film_files import write_film_file
from scree.results import Results, ResultsError

UNKNOWN = (0.6, 0.6, 0.6)


class People:
    """Radius and exit of people by id, where known."""

    def __init__(self, results, radius):
        self._radius, self._exit, self._default = {}, {}, radius
        if (results.folder / f"{results.name}.agents.csv").exists():
            agents = results.agents
            ids = agents["id"].astype(np.int64).tolist()
            self._radius = dict(zip(ids, agents["radius"]))
            self._exit = dict(zip(ids, agents["exit"]))
        self.colours = colours_of(self._exit.values())

    def radii(self, ids):
        return [self._radius.get(person, self._default) for person in ids.tolist()]

    def exit_colours(self, ids):
        return [self.colours.get(self._exit.get(person), UNKNOWN) for person in ids.tolist()]


def chosen_frames(paths, options):
    if len(paths.frames) == 0:
        raise ResultsError("the trajectory has no frame with anybody in it")
    frames = np.arange(paths.frames[0], paths.frames[-1] + 1)
    if options.between:
        low, high = options.between
        frames = frames[(frames / paths.fps >= low) & (frames / paths.fps <= high)]
    frames = frames[::options.every]
    if len(frames) == 0:
        raise ResultsError("there is no frame between these times")
    return frames


class Film:
    """One figure in which the people of each frame are redrawn."""

    def __init__(self, results, options):
        self.paths = results.paths
        self.people = People(results, options.radius)
        self.by_exit = options.colour == "exit"
        self.figure, self.axes = map_axes(*bounds_of(self.paths.walkable, self.paths.position_of_row))
        draw_walkable(self.axes, self.paths.walkable)
        self.disks = None
        self.title = self.axes.set_title(" ", fontsize="medium", loc="left")
        if self.by_exit:
            handles = [Patch(color=colour, label=name) for name, colour in self.people.colours.items()]
            if handles:
                self.axes.legend(handles=handles, loc="lower right", bbox_to_anchor=(1, 1), ncols=4, fontsize="small",
                                 frameon=False)
        else:
            speed = self.paths.speed_of_row
            top = options.top_speed or max(np.nanpercentile(speed, 99) if np.isfinite(speed).any() else 0.0, 0.1)
            self.scale = matplotlib.cm.ScalarMappable(matplotlib.colors.Normalize(0, top), options.colours)
            self.figure.colorbar(self.scale, ax=self.axes, label="speed [m/s]", shrink=0.8)

    def draw(self, frame):
        rows = self.paths.rows(frame)
        ids, position = self.paths.frame(frame)
        if self.disks is not None:
            self.disks.remove()
        colours = (self.people.exit_colours(ids) if self.by_exit else
                   self.scale.to_rgba(np.nan_to_num(self.paths.speed_of_row[rows])))
        disks = [Circle(centre, radius) for centre, radius in zip(position, self.people.radii(ids))]
        self.disks = PatchCollection(disks, facecolors=colours, edgecolors="0.25", linewidths=0.3, zorder=2)
        self.axes.add_collection(self.disks)
        self.title.set_text(f"t = {frame / self.paths.fps:.2f} s, {len(ids)} persons")

    def pixels(self, frame):
        self.draw(frame)
        self.figure.canvas.draw()
        return np.asarray(self.figure.canvas.buffer_rgba())[..., :3]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="results folder")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="draw every N-th frame (default 1)")
    parser.add_argument("--between", type=float, nargs=2, metavar=("FROM", "TO"), help="only these times [s]")
    parser.add_argument("--colour", choices=("speed", "exit"), default="speed", help="what colours show (default speed)")
    parser.add_argument("--colours", default="viridis", help="colour map of matplotlib for speeds (default viridis)")
    parser.add_argument("--top-speed", type=float, metavar="V", help="speed of the last colour [m/s]")
    parser.add_argument("--radius", type=float, default=0.19, help="of those who have not left [m] (default 0.19)")
    parser.add_argument("--film", type=Path, metavar="FILE", help="an .mp4 or .gif instead of PNG files")
    parser.add_argument("--gif", action="store_true", help="the same as --film NAME.gif in the folder, or --output")
    parser.add_argument("--fps", type=float, default=10, help="frames of the film per second (default 10)")
    parser.add_argument("--output", type=Path, help="folder of the PNG files, or the GIF")
    options = parser.parse_args()
    if options.every < 1:
        parser.error("--every is a number of frames, 1 or more")
    if options.fps <= 0:
        parser.error("--fps is a number above 0")
    if options.colours not in matplotlib.colormaps:
        parser.error(f"there is no colour map {options.colours!r}; try viridis, plasma, cividis, turbo")
    results = Results(options.results)
    frames = chosen_frames(results.paths, options)
    film = Film(results, options)
    path = options.film or (options.gif and (options.output or results.folder / f"{results.name}.gif"))
    if path:
        write_film_file(path, options.fps, (film.pixels(frame) for frame in frames))
        print(path)
        return
    folder = options.output or results.folder / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    for number, frame in enumerate(frames):
        film.draw(frame)
        path = folder / f"{results.name}_{number:04}.png"
        film.figure.savefig(path, dpi=120)
        print(path)
    plt.close(film.figure)


if __name__ == "__main__":
    try:
        main()
    except (RenderError, ResultsError) as error:
        sys.exit(f"animate_crowd.py: {error}")
