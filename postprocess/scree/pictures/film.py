"""Frames one after another: pictures, numbered pictures, films."""
import shutil
import subprocess

import numpy as np

from scree.pictures.errors import RenderError
from scree.pictures.page import Page
from scree.pictures.painter import Painter
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
    """Yields a Page for each of `frames`; the same object, redrawn."""
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
    if not fps > 0:
        raise RenderError("a film needs more than 0 pictures a second")
    writers = {".mp4": Mp4, ".gif": Gif}
    if path.suffix.lower() not in writers:
        raise RenderError(f"{path}: a film is an .mp4 or a .gif")
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = writers[path.suffix.lower()](path, fps, look.size)
    n = 0
    try:
        for page in draw_all(run, frames, look):
            writer.add(page.pixels())
            n += 1
        writer.close()
    except BaseException:
        writer.abandon()
        raise
    return n


class Mp4:
    """H.264 through ffmpeg, which gets the pictures one by one."""

    def __init__(self, path, fps, size):
        if shutil.which("ffmpeg") is None:
            raise RenderError("an .mp4 needs ffmpeg (scripts/install-deps.sh pictures); a .gif does not")
        self.path = path
        # yuv420p is what browsers and slides play; it wants even sizes.
        self.program = subprocess.Popen(
            ["ffmpeg", "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", str(fps), "-i", "-",
             "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white", "-c:v", "libx264", "-crf", "18", "-pix_fmt", "yuv420p",
             "-movflags", "+faststart", str(path)], stdin=subprocess.PIPE, stderr=subprocess.PIPE)

    def add(self, pixels):
        try:
            self.program.stdin.write(pixels.tobytes())
        except BrokenPipeError:
            self.close()

    def close(self):
        _, said = self.program.communicate()
        if self.program.returncode != 0:
            raise RenderError(f"{self.path}: ffmpeg says: {said.decode(errors='replace').strip()}")

    def abandon(self):
        self.program.kill()
        self.program.wait()
        self.path.unlink(missing_ok=True)


class Gif:
    """Pictures of 256 colours each; a picture lasts a multiple of 10 ms."""

    def __init__(self, path, fps, size):
        self.path, self.fps, self.images = path, fps, []

    def add(self, pixels):
        from PIL import Image

        self.images.append(Image.fromarray(pixels).quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE))

    def close(self):
        self.images[0].save(self.path, save_all=True, append_images=self.images[1:], duration=max(10 * round(100 / self.fps), 10), loop=0)

    def abandon(self):
        self.path.unlink(missing_ok=True)
