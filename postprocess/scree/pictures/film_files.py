"""Pictures one after another as a film: .mp4 or .gif."""
import shutil
import subprocess

from scree.errors import RenderError


def write_film_file(path, fps, pictures):
    """Writes pictures, arrays (height, width, 3) of uint8 of one size, to an .mp4 or a .gif; `fps`: how many a second.
    Returns their number. A film that fails leaves no file."""
    if not fps > 0:
        raise RenderError("a film needs more than 0 pictures a second")
    kinds = {".mp4": Mp4, ".gif": Gif}
    if path.suffix.lower() not in kinds:
        raise RenderError(f"{path}: a film is an .mp4 or a .gif")
    path.parent.mkdir(parents=True, exist_ok=True)
    film, n = None, 0
    try:
        for pixels in pictures:
            film = film or kinds[path.suffix.lower()](path, fps, (pixels.shape[1], pixels.shape[0]))
            film.add(pixels)
            n += 1
        if film is None:
            raise RenderError(f"{path}: there is no picture for a film")
        film.close()
    except BaseException:
        if film is not None:
            film.abandon()
        raise
    return n


class Mp4:
    """H.264 through ffmpeg, which gets the pictures one by one."""

    def __init__(self, path, fps, size):
        width, height = size
        if shutil.which("ffmpeg") is None:
            raise RenderError("an .mp4 needs ffmpeg (scripts/install-deps.sh pictures); a .gif does not")
        self.path = path
        # yuv420p is what browsers and slides play; it wants even sizes.
        self.program = subprocess.Popen(
            ["ffmpeg", "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}",
             "-r", str(fps), "-i", "-", "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white", "-c:v", "libx264",
             "-crf", "18", "-pix_fmt", "yuv420p", "-movflags", "+faststart", str(path)],
            stdin=subprocess.PIPE, stderr=subprocess.PIPE)

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

        image = Image.fromarray(pixels)
        self.images.append(image.quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE))

    def close(self):
        duration = max(10 * round(100 / self.fps), 10)      # [ms]
        self.images[0].save(self.path, save_all=True, append_images=self.images[1:], duration=duration, loop=0)

    def abandon(self):
        self.path.unlink(missing_ok=True)
