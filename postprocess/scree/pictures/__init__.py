"""Pictures and films of runs: bodies coloured by a field, walls, force chains.

    image = scree.render(results)                            # pixels of the last frame, for plt.imshow or a notebook
    scree.render(results, "start.png", time=0.5, field="radius")
    scree.render(results, "chains.pdf", contacts=True)       # text and bars as vectors
    scree.film(results, "run.mp4", fps=25, every=2)          # or run.gif

Frames come from vtk/, or from NAME.h5 where the run wrote no VTK files. Needs VTK (Debian: python3-vtk9), and Xvfb or a
screen; an .mp4 also ffmpeg. Each picture of a film has the same view and the same colours.
"""
from contextlib import closing
from pathlib import Path

from scree.pictures.look import Look

__all__ = ["Look", "film", "render"]


def render(results, output=None, frame=-1, time=None, **look):
    """Draws one frame. `results`: Results, a results folder or a NAME_particles.pvd; `frame`: its number, from the end
    if negative, or `time` [s]: the frame nearest to it; `look`: fields of Look. Writes `output` (.png, .pdf, .svg) if
    given. Returns the pixels, an array of shape (height, width, 3) and type uint8. RenderError says why nothing can be
    drawn."""
    from scree.pictures.drawing import chosen_frames, draw_all
    from scree.pictures.frames import open_run

    run = open_run(results)
    frames = chosen_frames(run, frame=frame, time=time)
    with closing(draw_all(run, frames, Look(**look))) as pages:
        page = next(pages)
        if output is not None:
            page.save(Path(output))
        return page.pixels()


def film(results, output, fps=25, every=1, between=None, **look):
    """Draws a film: an .mp4 (needs ffmpeg) or a .gif of every `every`-th frame, `fps` a second; `between`: only those
    from one time to another [s]. `look`: fields of Look. Returns the number of pictures."""
    from scree.pictures.drawing import chosen_frames, write_film
    from scree.pictures.frames import open_run

    run = open_run(results)
    return write_film(run, chosen_frames(run, every=every, between=between), Path(output), fps, Look(**look))
