"""Draws frames of a run as pictures or as a film: bodies coloured by a field, walls, force chains, domain. Frames come
from vtk/, or from NAME.h5 if the run wrote no VTK files. Bodies are disks or spheres; bodies with shapes are drawn as
they are.

    scree render results/attraction                              last frame -> results/attraction/attraction.png
    scree render results/attraction --time 0.5 --field radius --output start.png
    scree render results/pour --contacts --output chains.pdf     force chains; text and bars as vectors
    scree render results/pour --film pour.mp4 --fps 25           all frames; .gif as well
    scree render results/attraction --all-frames                 -> results/attraction/pictures/attraction_0000.png, ...
    scree render somewhere/silo_particles.pvd --contacts

No screen is needed: the command starts a virtual X server (Xvfb) for the drawing and ends it afterwards.
"""
import sys
from contextlib import closing
from pathlib import Path

from scree import style
from scree.commands import parser_of
from scree.pictures import Look
from scree.pictures.drawing import chosen_frames, draw_all, write_film
from scree.pictures.frames import open_run


def arguments(words):
    parser = parser_of("render", __doc__)
    parser.add_argument("target", type=Path, help="results folder, or a NAME_particles.pvd")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--frame", type=int, default=-1, help="number of the frame, -1 for the last (default)")
    which.add_argument("--time", type=style.finite, help="the frame nearest to this time [s]")
    which.add_argument("--all-frames", action="store_true", help="a numbered picture per frame")
    which.add_argument("--film", type=Path, metavar="FILE", help="all frames as an .mp4 (needs ffmpeg) or a .gif")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="of all frames, every N-th one (default 1)")
    parser.add_argument("--between", type=style.finite, nargs=2, metavar=("FROM", "TO"),
                        help="of all frames, those between these times [s]")
    parser.add_argument("--fps", type=style.finite, default=25, help="frames of the film per second (default 25)")
    parser.add_argument("--output", type=Path, help="picture to write (.png, .pdf, .svg), or folder with --all-frames")
    parser.add_argument("--field", default="auto", help="what colours the bodies: a field of the files, speed, or none "
                        "(default: speed; none with --contacts)")
    parser.add_argument("--range", type=style.finite, nargs=2, metavar=("LOW", "HIGH"), help="of the colours")
    parser.add_argument("--colours", default=Look.colours, help=f"a colour map of matplotlib (default {Look.colours})")
    parser.add_argument("--contacts", action="store_true",
                        help="draw contacts as tubes, thick and dark by force, and bodies pale")
    parser.add_argument("--weakest", type=style.finite, default=Look.weakest, metavar="SHARE",
                        help=f"leave out contacts below this share of the mean force (default {Look.weakest:g})")
    parser.add_argument("--no-obstacles", action="store_true", help="do not draw obstacles")
    parser.add_argument("--fit", choices=("domain", "bodies"), default=Look.fit, help="region that fills the picture")
    parser.add_argument("--view", type=style.finite, nargs=2, default=Look.view, metavar=("AZIMUTH", "ELEVATION"),
                        help="direction of sight in space [deg] (default 30 20); 0 0 looks along +y")
    parser.add_argument("--size", type=int, nargs=2, default=Look.size, metavar=("WIDTH", "HEIGHT"), help="[pixel]")
    options = parser.parse_args(words)
    style.require_order(parser, options)
    if options.every < 1:
        parser.error("--every is a number of frames, 1 or more")
    return options


def main(words):
    options = arguments(words)
    look = Look(field=options.field, range=options.range, colours=options.colours, contacts=options.contacts,
                weakest=options.weakest, obstacles=not options.no_obstacles, fit=options.fit, view=options.view,
                size=options.size)
    run = open_run(options.target)
    if options.film:
        frames = chosen_frames(run, every=options.every, between=options.between)
        n = write_film(run, frames, options.film, options.fps, look)
        print(options.film)
        print(f"{n} pictures, {n / options.fps:.3g} s", file=sys.stderr)
    elif options.all_frames:
        frames = chosen_frames(run, every=options.every, between=options.between)
        folder = options.output or run.folder / "pictures"
        write_pictures(run, frames, look, [folder / f"{run.name}_{number:04}.png" for number in range(len(frames))])
    else:
        path = options.output or run.folder / f"{run.name}.png"
        write_pictures(run, chosen_frames(run, options.frame, options.time), look, [path])
    for sentence in run.missing:
        print(f"scree: render: {sentence}", file=sys.stderr)


def write_pictures(run, frames, look, paths):
    with closing(draw_all(run, frames, look)) as pages:
        for page, path in zip(pages, paths):
            page.save(path)
            print(path)
