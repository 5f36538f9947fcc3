#!/usr/bin/python3
"""Draws frames of a run as PNG pictures: bodies coloured by a field, obstacles, contacts, domain. Bodies are disks or
spheres; where the run wrote their surfaces (bodies with shapes), they are drawn as they are.

    render.py results/attraction                              last frame -> results/attraction/attraction.png
    render.py results/attraction --time 0.5 --field radius --output start.png
    render.py results/attraction --all-frames                 -> results/attraction/pictures/attraction_0000.png, ...
    render.py somewhere/silo_particles.pvd --contacts

No screen is needed: the script starts a virtual X server (Xvfb) for the drawing and ends it afterwards.
"""
import argparse
import os
import select
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np
import vtkmodules.vtkRenderingFreeType  # noqa: F401  text is drawn by it
import vtkmodules.vtkRenderingOpenGL2   # noqa: F401  everything else is
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkLookupTable
from vtkmodules.vtkFiltersSources import vtkOutlineSource
from vtkmodules.vtkImagingCore import vtkImageShrink3D
from vtkmodules.vtkIOImage import vtkPNGWriter
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader, vtkXMLPPolyDataReader
from vtkmodules.vtkRenderingAnnotation import vtkScalarBarActor
from vtkmodules.vtkRenderingCore import (vtkActor, vtkPointGaussianMapper, vtkPolyDataMapper, vtkRenderer,
                                         vtkRenderWindow, vtkTextActor, vtkWindowToImageFilter)

from scree.results import DomainBox, Results, ResultsError, read_pvd

SUPERSAMPLING = 2                   # the picture is drawn this much larger and shrunk: smooth edges everywhere
BAR_SHARE = 0.16                    # of the width, kept free for the colour bar
CLOCK_SHARE = 0.06                  # of the height, kept free for the time
BACKGROUND = (1.0, 1.0, 1.0)
INK = (0.18, 0.20, 0.24)            # obstacles, text
PALE_INK = (0.62, 0.65, 0.70)       # domain
PLAIN_BODY = (0.33, 0.53, 0.70)     # bodies without a field

# The mapper draws a square around each point and gives the distance of a pixel from the centre, in radii. These lines
# make it a flat disk with a darker edge, or a sphere lit from the upper left. A sphere has the depth of its centre:
# in parallel projection that hides the right parts of all spheres that do not overlap.
DISK_SHADER = """//VTK::Color::Impl
float squared_distance = dot(offsetVCVSOutput.xy, offsetVCVSOutput.xy);
if (squared_distance > 1.0) discard;
float brightness = squared_distance > 0.80 ? 0.45 : 1.0;
ambientColor *= brightness;
diffuseColor *= brightness;
"""
SPHERE_SHADER = """//VTK::Color::Impl
float squared_distance = dot(offsetVCVSOutput.xy, offsetVCVSOutput.xy);
if (squared_distance > 1.0) discard;
vec3 normal = vec3(offsetVCVSOutput.xy, sqrt(1.0 - squared_distance));
float light = max(dot(normal, normalize(vec3(-0.4, 0.6, 0.9))), 0.0);
float brightness = 0.30 + 0.75 * light;
ambientColor *= brightness;
diffuseColor *= brightness;
"""


DERIVED_FIELDS = {"speed": "velocity"}      # the length of a vector field, under a name of its own


class RenderError(Exception):
    """The reason why nothing can be drawn, in one sentence for the user."""


@contextmanager
def virtual_screen():
    """An X server of our own, in DISPLAY; VTK would abort the process if there were none."""
    if shutil.which("Xvfb") is None:
        if not os.environ.get("DISPLAY"):
            raise RenderError("drawing needs Xvfb or a screen: install xvfb (scripts/install-deps.sh) or set DISPLAY")
        yield
        return
    server, display = _start_xvfb()
    before = os.environ.get("DISPLAY")
    os.environ["DISPLAY"] = display
    try:
        yield
    finally:
        if before is None:
            del os.environ["DISPLAY"]
        else:
            os.environ["DISPLAY"] = before
        server.terminate()
        server.wait()


def _start_xvfb():
    for _ in range(3):      # a loaded machine can make it give up
        read_end, write_end = os.pipe()
        # setpriv: the server ends with this process, however that ends.
        # Without -noreset the server restarts when its only client closes a window, and the next connection may
        # come too early: VTK aborts then.
        server = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", "Xvfb", "-displayfd", str(write_end), "-screen",
                                   "0", "640x480x24", "-noreset", "-nolisten", "tcp"], pass_fds=[write_end],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write_end)
        number = b""
        while not number.endswith(b"\n") and select.select([read_end], [], [], 30)[0]:
            piece = os.read(read_end, 16)
            if not piece:
                break
            number += piece
        os.close(read_end)
        if number.endswith(b"\n"):
            return server, f":{number.decode().strip()}"
        server.kill()
        server.wait()
    raise RenderError("Xvfb does not start; run it by hand to see why: Xvfb -displayfd 1")


@dataclass
class Frame:
    time: float
    bodies: Path
    contacts: Path | None
    obstacles: Path | None
    surfaces: Path | None = None    # of this very time


@dataclass
class Run:
    """The files to draw; domain and units are known if the run wrote NAME.h5."""
    name: str
    folder: Path
    frames: list
    box: DomainBox | None
    units: dict


def find_run(target):
    """The run of a results folder or of one NAME_particles.pvd."""
    box, units = None, {}
    if target.is_dir():
        results = Results(target)
        series = {kind: results.vtk_frames(kind) for kind in ("particles", "contacts", "obstacles", "surfaces")}
        name, folder = results.name, target
        if (target / f"{name}.h5").exists():
            with results.trajectory as record:
                box = record.box
                units = {field: record.unit(field) for field in record.fields}
    else:
        name = target.stem.removesuffix("_particles")
        series = {"particles": read_pvd(target)}
        for kind in ("contacts", "obstacles", "surfaces"):
            sibling = target.with_name(f"{name}_{kind}.pvd")
            series[kind] = read_pvd(sibling) if sibling.exists() else []
        folder = target.parent
    if not series["particles"]:
        raise RenderError(f"{target} holds no frame of bodies; was [output.vtk] in the deck?")
    surfaces = dict(series["surfaces"])
    frames = [Frame(time, path, latest(series["contacts"], time), latest(series["obstacles"], time), surfaces.get(time))
              for time, path in series["particles"]]
    return Run(name, folder, frames, box, units)


def latest(series, time):
    """The last frame of a series that is not after `time` (obstacles that never move are written once)."""
    paths = [path for when, path in series if when <= time * (1 + 1e-12)]
    return paths[-1] if paths else None


def choose_frames(frames, options):
    if options.all_frames:
        return frames
    if options.time is not None:
        return [min(frames, key=lambda frame: abs(frame.time - options.time))]
    if not -len(frames) <= options.frame < len(frames):
        raise RenderError(f"there is no frame {options.frame}: there are {len(frames)}, counted from 0, or from the "
                          "end with -1")
    return [frames[options.frame]]


def read_poly_data(path):
    if not path.is_file():
        raise RenderError(f"{path} does not exist, though the index lists it")
    reader = vtkXMLPPolyDataReader() if path.suffix == ".pvtp" else vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


def field_values(data, field):
    """A number per body: a field of the file, the length of a vector field, or speed = |velocity|."""
    arrays = data.GetPointData()
    array = arrays.GetArray(stored_name(field))
    if array is None:
        valid = [arrays.GetArrayName(k) for k in range(arrays.GetNumberOfArrays())]
        valid = ["none", *(field for field in DERIVED_FIELDS if stored_name(field) in valid), *valid]
        raise RenderError(f"there is no field {field!r}; valid: {', '.join(valid)}")
    values = vtk_to_numpy(array).astype(float)
    return np.linalg.norm(values, axis=1) if values.ndim == 2 else values


def stored_name(field):
    """The array of the files that a field is computed from."""
    return DERIVED_FIELDS.get(field, field)


def body_bounds(data):
    """Corners of the box around all bodies, radii included; None without bodies."""
    if data.GetNumberOfPoints() == 0:
        return None
    centres = vtk_to_numpy(data.GetPoints().GetData()).astype(float)
    radii = body_radii(data)[:, None]
    return (centres - radii).min(axis=0), (centres + radii).max(axis=0)


def obstacle_bounds(path):
    """Corners of the box around all obstacles of a file; None without any."""
    data = read_poly_data(path)
    bounds = np.array(data.GetBounds())
    return (bounds[0::2], bounds[1::2]) if data.GetNumberOfPoints() > 0 else None


def body_radii(data):
    array = data.GetPointData().GetArray("radius")
    if array is None:
        raise RenderError("the bodies have no field radius; add it to the fields of [output.vtk]")
    return vtk_to_numpy(array).astype(float)


def union(boxes):
    boxes = [box for box in boxes if box is not None]
    if not boxes:
        return np.full(3, -1.0), np.full(3, 1.0)
    return np.min([lower for lower, _ in boxes], axis=0), np.max([upper for _, upper in boxes], axis=0)


@dataclass
class Survey:
    """Settings shared by all frames, so that a film keeps its view and its colours."""
    planar: bool
    lower: np.ndarray
    upper: np.ndarray
    colour_range: tuple


def survey(frames, box, options):
    bounds, planar = [], True
    low, high = np.inf, -np.inf
    for frame in frames:
        data = read_poly_data(frame.bodies)
        bounds.append(body_bounds(data))
        if bounds[-1] is None:
            continue
        depth = vtk_to_numpy(data.GetPoints().GetData())[:, 2]
        planar = planar and not depth.any()
        if options.field != "none":
            values = field_values(data, options.field)
            low, high = min(low, values.min()), max(high, values.max())
    planar = planar and (box is None or len(box.lower) == 2)
    if options.fit == "domain":
        if box is not None:
            bounds = [(padded(box.lower), padded(box.upper))]
        else:
            bounds += [obstacle_bounds(path) for path in {frame.obstacles for frame in frames} if path is not None]
    lower, upper = union(bounds)
    if options.range:
        low, high = options.range
    elif not low < high:
        low, high = (low, low + 1.0) if np.isfinite(low) else (0.0, 1.0)
    return Survey(planar, lower, upper, (low, high))


def padded(point):
    """A point of the plane or of space as three numbers."""
    return np.append(point, np.zeros(3 - len(point)))


def lookup_table(name, colour_range):
    colours = matplotlib.colormaps[name](np.linspace(0, 1, 256))
    table = vtkLookupTable()
    table.SetNumberOfTableValues(len(colours))
    for k, colour in enumerate(colours):
        table.SetTableValue(k, *colour)
    table.SetTableRange(*colour_range)
    return table


def bodies_actor(data, planar, table, options):
    """All bodies in one actor: disks or spheres made by the graphics pipeline from centre and radius."""
    radii = numpy_to_vtk(body_radii(data), deep=True)
    radii.SetName("drawn radius")
    data.GetPointData().AddArray(radii)
    mapper = vtkPointGaussianMapper()
    mapper.SetInputData(data)
    mapper.SetSplatShaderCode(DISK_SHADER if planar else SPHERE_SHADER)
    mapper.SetTriangleScale(2.0)    # a triangle of this scale holds the disk of unit radius
    mapper.SetScaleFactor(1.0)
    mapper.EmissiveOff()
    mapper.SetScaleArray("drawn radius")
    actor = vtkActor()
    if table is None:
        mapper.ScalarVisibilityOff()
        actor.GetProperty().SetColor(*PLAIN_BODY)
    else:
        values = numpy_to_vtk(field_values(data, options.field), deep=True)
        values.SetName("drawn field")
        data.GetPointData().AddArray(values)
        mapper.SetScalarModeToUsePointFieldData()
        mapper.SelectColorArray("drawn field")
        mapper.SetLookupTable(table)
        mapper.UseLookupTableScalarRangeOn()
    actor.SetMapper(mapper)
    if options.contacts and not planar:
        actor.GetProperty().SetOpacity(0.3)     # contacts lie inside the spheres
    return actor


def surfaces_actor(surfaces, bodies, planar, table, options):
    """The true surfaces of bodies: triangles, each with the value of its body."""
    mapper = vtkPolyDataMapper()
    mapper.SetInputData(surfaces)
    actor = vtkActor()
    if table is None:
        mapper.ScalarVisibilityOff()
        actor.GetProperty().SetColor(*PLAIN_BODY)
    else:
        ids = vtk_to_numpy(bodies.GetPointData().GetArray("id"))
        order = np.argsort(ids)
        place = order[np.searchsorted(ids[order], vtk_to_numpy(surfaces.GetCellData().GetArray("id")))]
        values = numpy_to_vtk(field_values(bodies, options.field)[place], deep=True)
        values.SetName("drawn field")
        surfaces.GetCellData().AddArray(values)
        mapper.SetScalarModeToUseCellFieldData()
        mapper.SelectColorArray("drawn field")
        mapper.SetLookupTable(table)
        mapper.UseLookupTableScalarRangeOn()
    actor.SetMapper(mapper)
    look = actor.GetProperty()
    look.SetInterpolationToFlat()
    if planar:
        look.LightingOff()
    look.SetAmbient(0.35)
    look.SetDiffuse(0.7)
    if options.contacts and not planar:
        look.SetOpacity(0.3)
    return actor


def lines_actor(data, colour, width, opacity=1.0, lift=0.0):
    mapper = vtkPolyDataMapper()
    mapper.SetInputData(data)
    mapper.ScalarVisibilityOff()
    actor = vtkActor()
    actor.SetMapper(mapper)
    actor.SetPosition(0, 0, lift)
    actor.GetProperty().SetColor(*colour)
    actor.GetProperty().SetLineWidth(width * SUPERSAMPLING)
    actor.GetProperty().SetOpacity(opacity)
    return actor


def colour_bar(table, title, height):
    bar = vtkScalarBarActor()
    bar.SetLookupTable(table)
    bar.SetTitle(title)
    bar.SetNumberOfLabels(5)
    bar.SetMaximumNumberOfColors(256)
    bar.SetTextPad(height // 150)
    bar.SetLabelFormat("%.3g")
    bar.SetPosition(1 - BAR_SHARE + 0.015, 0.12)
    bar.SetWidth(0.11)
    bar.SetHeight(0.76)
    bar.SetBarRatio(0.28)
    bar.UnconstrainedFontSizeOn()
    for text in (bar.GetTitleTextProperty(), bar.GetLabelTextProperty()):
        style_text(text, height // 40)
    bar.SetVerticalTitleSeparation(height // 45)
    return bar


def style_text(text, size):
    text.SetColor(*INK)
    text.SetFontSize(size)
    text.SetFontFamilyToArial()
    text.ItalicOff()
    text.BoldOff()
    text.ShadowOff()


def aim_camera(renderer, found, aspect, has_bar, view):
    """Puts everything into the part of the picture that the colour bar leaves free."""
    camera = renderer.GetActiveCamera()
    share = 1 - (BAR_SHARE if has_bar else 0)
    camera.SetWindowCenter(1 - share, -CLOCK_SHARE)
    camera.ParallelProjectionOn()       # sizes can be compared, also in depth
    centre = (found.lower + found.upper) / 2
    half = np.maximum((found.upper - found.lower) / 2, 1e-12 * (1 + np.abs(centre).max()))
    if found.planar:
        towards, up = np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0])
    else:
        azimuth, elevation = np.radians(view)
        towards = np.array([np.cos(elevation) * np.sin(azimuth), -np.cos(elevation) * np.cos(azimuth),
                            np.sin(elevation)])
        up = np.array([0.0, 0.0, 1.0]) if abs(towards[2]) < 0.999 else np.array([0.0, 1.0, 0.0])
    right = np.cross(up, towards)
    right /= np.linalg.norm(right)
    above = np.cross(towards, right)
    # Half extents of the box as seen: a corner is centre +- half in every axis.
    width, height = np.abs(right) @ half, np.abs(above) @ half
    camera.SetFocalPoint(*centre)
    camera.SetPosition(*(centre + 4 * np.linalg.norm(half) * towards))
    camera.SetViewUp(*up)
    camera.SetParallelScale(1.04 * max(height / (1 - CLOCK_SHARE), width / (aspect * share)))


def draw(frame, found, run, table, options):
    """One frame as a renderer."""
    renderer = vtkRenderer()
    renderer.SetBackground(*BACKGROUND)
    depth = 1e-3 * float(np.linalg.norm(found.upper - found.lower)) if found.planar else 0.0
    if run.box is not None:
        outline = vtkOutlineSource()
        outline.SetBounds(*np.column_stack([padded(run.box.lower), padded(run.box.upper)]).ravel())
        outline.Update()
        renderer.AddActor(lines_actor(outline.GetOutput(), PALE_INK, 1.0))
    bodies = read_poly_data(frame.bodies)
    if frame.surfaces is not None and bodies.GetNumberOfPoints() > 0:
        renderer.AddActor(surfaces_actor(read_poly_data(frame.surfaces), bodies, found.planar, table, options))
    elif bodies.GetNumberOfPoints() > 0:
        renderer.AddActor(bodies_actor(bodies, found.planar, table, options))
    if frame.obstacles is not None and not options.no_obstacles:
        renderer.AddActor(lines_actor(read_poly_data(frame.obstacles), INK, 2.5, 1.0 if found.planar else 0.25,
                                      2 * depth))
    if frame.contacts is not None and options.contacts:
        renderer.AddActor(lines_actor(read_poly_data(frame.contacts), INK, 1.5, lift=depth))

    width, height = (SUPERSAMPLING * pixels for pixels in options.size)
    if table is not None:
        unit = run.units.get(stored_name(options.field), "-")
        title = options.field if unit == "-" else f"{options.field} [{unit}]"
        renderer.AddActor2D(colour_bar(table, title, height))
    clock = vtkTextActor()
    clock.SetInput(f"t = {frame.time:.4g} s")
    clock.SetPosition(0.02 * height, 0.02 * height)
    style_text(clock.GetTextProperty(), height // 36)
    renderer.AddActor2D(clock)

    aim_camera(renderer, found, width / height, table is not None, options.view)
    renderer.ResetCameraClippingRange()
    return renderer


def write_picture(renderer, size, path):
    window = vtkRenderWindow()
    window.SetOffScreenRendering(1)
    window.SetMultiSamples(0)
    window.SetSize(*(SUPERSAMPLING * pixels for pixels in size))
    window.AddRenderer(renderer)
    window.Render()
    grab = vtkWindowToImageFilter()
    grab.SetInput(window)
    grab.ReadFrontBufferOff()
    shrink = vtkImageShrink3D()
    shrink.SetInputConnection(grab.GetOutputPort())
    shrink.SetShrinkFactors(SUPERSAMPLING, SUPERSAMPLING, 1)
    shrink.MeanOn()
    writer = vtkPNGWriter()
    writer.SetInputConnection(shrink.GetOutputPort())
    writer.SetFileName(str(path))
    writer.SetCompressionLevel(9)
    writer.Write()
    window.Finalize()       # before the X server goes, which would end this process
    if not path.is_file():
        raise RenderError(f"{path} could not be written")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", type=Path, help="results folder, or a NAME_particles.pvd")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--frame", type=int, default=-1, help="number of the frame, -1 for the last (default)")
    which.add_argument("--time", type=float, help="the frame nearest to this time [s]")
    which.add_argument("--all-frames", action="store_true", help="a numbered picture per frame")
    parser.add_argument("--output", type=Path, help="picture to write, or folder with --all-frames")
    parser.add_argument("--field", default="speed",
                        help="what colours the bodies: a field of the files, speed (default), or none")
    parser.add_argument("--range", type=float, nargs=2, metavar=("LOW", "HIGH"), help="of the colours")
    parser.add_argument("--colours", default="viridis", help="a colour map of matplotlib (default viridis)")
    parser.add_argument("--contacts", action="store_true", help="draw contacts as lines")
    parser.add_argument("--no-obstacles", action="store_true", help="do not draw obstacles")
    parser.add_argument("--fit", choices=("domain", "bodies"), default="domain", help="region that fills the picture")
    parser.add_argument("--view", type=float, nargs=2, default=(30, 20), metavar=("AZIMUTH", "ELEVATION"),
                        help="direction of sight in space [deg] (default 30 20); 0 0 looks along +y")
    parser.add_argument("--size", type=int, nargs=2, default=(1200, 900), metavar=("WIDTH", "HEIGHT"), help="[pixel]")
    options = parser.parse_args()
    if options.colours not in matplotlib.colormaps:
        parser.error(f"there is no colour map {options.colours!r}; try viridis, plasma, cividis, coolwarm, turbo")
    if min(options.size) < 16:
        parser.error("--size has to be at least 16 16")
    return options


def main():
    options = arguments()
    run = find_run(options.target)
    frames = choose_frames(run.frames, options)
    found = survey(frames, run.box, options)
    table = None if options.field == "none" else lookup_table(options.colours, found.colour_range)

    if options.all_frames:
        output = options.output or run.folder / "pictures"
        paths = [output / f"{run.name}_{number:04}.png" for number in range(len(frames))]
    else:
        paths = [options.output or run.folder / f"{run.name}.png"]
    paths[0].parent.mkdir(parents=True, exist_ok=True)
    with virtual_screen():
        for frame, path in zip(frames, paths):
            write_picture(draw(frame, found, run, table, options), options.size, path)
            print(path)


if __name__ == "__main__":
    try:
        main()
    except (RenderError, ResultsError) as error:
        sys.exit(f"render.py: {error}")
