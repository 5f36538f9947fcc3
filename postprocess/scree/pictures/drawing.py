"""Frames one after another: pictures, numbered pictures, films."""
from contextlib import closing

import numpy as np

from scree.errors import RenderError
from scree.pictures.film_files import write_film_file
from scree.pictures.page import Page
from scree.pictures.screen import virtual_screen
from scree.pictures.survey import survey


def chosen_frames(run, frame=None, time=None, every=1, between=None):
    """Numbers of frames: one, the one nearest to a time [s], or every n-th from one time to another."""
    n = len(run.times)
    if n == 0:
        raise RenderError(f"{run.folder} has no frame")
    if time is not None:
        return [int(np.argmin(np.abs(np.array(run.times) - time)))]
    if frame is not None:
        if not -n <= frame < n:
            raise RenderError(f"there is no frame {frame}: there are {n}, counted from 0, or from the end with -1")
        return [frame % n]
    low, high = between or (-np.inf, np.inf)
    frames = [number for number, when in enumerate(run.times) if low <= when <= high][::every]
    if not frames:
        raise RenderError(f"there is no frame between {low:g} and {high:g} s")
    return frames


def draw_all(run, frames, look):
    """Yields a Page for each of `frames`; the same object, redrawn. To be closed (contextlib.closing), which ends the X
    server after the window."""
    try:
        from scree.pictures.painter import Painter
    except ImportError as error:
        raise RenderError(f"drawing needs VTK (scripts/install-deps.sh pictures): {error}") from None
    found = survey(run, frames, look)
    with virtual_screen():
        painter = Painter(run, found, look)
        try:
            page = Page(run, frames, found, look)
            for number in frames:
                page.show(run.times[number], painter.pixels(number))
                yield page
        finally:
            painter.close()


def write_film(run, frames, path, fps, look):
    """Writes an .mp4 or a .gif. Returns the number of pictures."""
    with closing(draw_all(run, frames, look)) as pages:
        return write_film_file(path, fps, (page.pixels() for page in pages))
