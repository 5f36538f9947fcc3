"""Drawings of walls, motions, shapes of bodies, packings and distributions, with the deck's keys at what they mean."""
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path as Outline

from sheet import BODY, EDGE, KEY, WALL, Sheet

OBSTACLE, MOTION = ("obstacles", "NAME"), ("obstacles", "NAME", "motion")
SHAPE, SOURCE, INLET = ("shapes", "NAME"), ("particles", "NAME", "source"), ("inlets", "NAME")


@dataclass
class Drawing:
    """A picture: name of its file, and what is seen for those who do not see it."""
    name: str
    text: str


# ---- walls: each function draws on a sheet and says what is seen ----------------------------------------------------

def plane(s):
    s.solid([(-1.6, -0.6), (1.6, -0.2), (1.6, -0.9), (-1.6, -0.9)], edgecolor="none")
    s.line([(-1.6, -0.6), (1.6, -0.2)])
    s.point(0, -0.4, "point", dx=0.35, dy=-0.15)
    s.arrow((0, -0.4), (-0.09, 0.32), "normal", dx=0.42, dy=0.1)
    s.bodies([(-1.1, -0.4), (-0.8, -0.35), (0.9, -0.16), (1.2, 0.3)])
    s.view(-1.7, 1.7, -0.95, 0.6)
    return "A plane: solid below a line, bodies on the side that its normal points to"


def segment(s):
    s.line([(-1.2, -0.4), (1.1, 0.3)])
    s.point(-1.2, -0.4, "a")
    s.point(1.1, 0.3, "b")
    s.bodies([(-0.5, -0.04), (0.3, 0.21), (0.2, -0.15)])
    s.view(-1.6, 1.6, -0.7, 0.6)
    return "A segment from a to b, with bodies on both sides"


def polyline(s):
    points = [(-1.3, 0.5), (-0.7, -0.4), (0.2, -0.4), (0.5, 0.1), (1.3, 0.2)]
    s.line(points)
    for point in points:
        s.point(*point, "")
    s.key(0.25, -0.62, "points")
    s.bodies([(-0.5, -0.26), (-0.22, -0.26), (0.9, 0.29), (-1.15, 0.02)])
    s.view(-1.6, 1.6, -0.8, 0.7)
    return "A polyline: a thin wall along a chain of points"


def polygon(s):
    ring = [(-1.5, -0.7), (1.5, -0.7), (1.5, 0.5), (0.4, 0.8), (-1.5, 0.6)]
    hole = [(-0.2, -0.3), (0.6, -0.2), (0.5, 0.3), (-0.1, 0.2)]
    ends = [Outline.MOVETO, *[Outline.LINETO] * (len(ring) - 1), Outline.CLOSEPOLY]
    holes = [Outline.MOVETO, *[Outline.LINETO] * (len(hole) - 1), Outline.CLOSEPOLY]
    outline = Outline([*ring, ring[0], *hole[::-1], hole[-1]], ends + holes)
    s.axes.add_patch(PathPatch(outline, facecolor=WALL, edgecolor=EDGE, linewidth=1.6))
    for point in ring:
        s.point(*point, "")
    s.key(-0.95, 0.05, "points")
    s.key(1.02, 0.05, "holes.\nNAME")
    s.bodies([(0.1, -0.1), (0.35, 0.05), (-1.72, 0.1), (0.9, 0.82)])
    s.view(-1.95, 1.8, -0.85, 1.0)
    return "A polygon with a hole: solid between its outer ring and the hole"


def disk(s):
    s.disk(-1, 0, 0.6, facecolor=WALL, edgecolor=EDGE, linewidth=1.6)
    s.axes.add_patch(Rectangle((0.2, -0.8), 1.7, 1.6, facecolor=WALL, edgecolor="none"))
    s.disk(1.05, 0, 0.65, facecolor="white", edgecolor=EDGE, linewidth=1.6)
    s.bodies([(-1, 0.72), (-0.38, 0.36), (0.85, -0.46), (1.1, -0.52), (1.35, -0.42)])
    s.point(-1, 0, "center")
    s.arrow((-1, 0), (-0.58, 0.42))
    s.key(-1.0, 0.33, "radius")
    s.key(-1, -0.8, 'side = "outside"')
    s.key(1.05, -0.97, 'side = "inside"')
    s.view(-2, 2, -1.1, 0.9)
    return "Disks: left a solid one with bodies around it, right a round container with bodies inside"


def box(s):
    s.solid([(-1.6, -0.5), (-0.4, -0.5), (-0.4, 0.4), (-1.6, 0.4)])
    s.axes.add_patch(Rectangle((0.15, -0.75), 1.9, 1.4, facecolor=WALL, edgecolor="none"))
    s.solid([(0.4, -0.5), (1.8, -0.5), (1.8, 0.4), (0.4, 0.4)], facecolor="white")
    s.bodies([(-1.2, 0.52), (-0.9, 0.52), (0.52, -0.38), (0.77, -0.38), (1.3, -0.38)])
    s.point(-1.6, -0.5, "lower", dy=-0.16)
    s.point(-0.4, 0.4, "upper", dy=0.16)
    s.key(-1, -0.05, 'side =\n"outside"')
    s.key(1.1, 0.1, 'side = "inside"')
    s.view(-1.9, 2.1, -0.85, 0.75)
    return "Boxes: left a solid one, right a box that holds bodies"


def sphere(s):
    s.disk(0, 0, 0.7, facecolor=WALL, edgecolor=EDGE, linewidth=1.6)
    s.ellipse(0, 0, 1.4, 0.4, linewidth=0.8, linestyle="--")
    s.point(0, 0, "center")
    s.arrow((0, 0), (0.5, 0.49), "radius", dx=-0.3, dy=0.1)
    s.bodies([(0, 0.82), (-0.6, 0.56)])
    s.view(-1.5, 1.5, -0.8, 1.0)
    return "A solid sphere with bodies on it"


def cylinder(s):
    s.solid([(-1.2, -0.45), (1.2, -0.45), (1.2, 0.45), (-1.2, 0.45)], edgecolor="none")
    s.ellipse(-1.2, 0, 0.35, 0.9, facecolor=WALL)
    s.ellipse(1.2, 0, 0.35, 0.9, facecolor="#dde3ea")
    s.line([(-1.2, 0.45), (1.2, 0.45)], linewidth=1.6)
    s.line([(-1.2, -0.45), (1.2, -0.45)], linewidth=1.6)
    s.line([(-1.2, 0), (1.2, 0)], linewidth=0.8, linestyle="--")
    s.point(-1.2, 0, "a", dx=-0.3, dy=0)
    s.point(1.2, 0, "b", dx=0.32, dy=0)
    s.arrow((0, 0), (0, 0.45), "radius", dx=0.35, dy=0)
    s.view(-1.7, 1.7, -0.6, 0.6)
    return "A cylinder from a to b with its radius"


def cone(s):
    s.solid([(-0.9, 0.6), (0.9, 0.6), (0.25, -0.6), (-0.25, -0.6)], edgecolor="none", facecolor="#dde3ea")
    s.ellipse(0, 0.6, 1.8, 0.35, facecolor="white")
    s.ellipse(0, -0.6, 0.5, 0.12)
    s.line([(-0.9, 0.6), (-0.25, -0.6)], linewidth=1.6)
    s.line([(0.9, 0.6), (0.25, -0.6)], linewidth=1.6)
    s.bodies([(-0.25, 0.1), (0.05, 0.05), (0.3, 0.2), (0, -0.2)])
    s.point(0, 0.6, "a", dx=-0.15, dy=0.0)
    s.arrow((0, 0.6), (0.9, 0.6), "radius_a", dx=0.0, dy=0.27)
    s.point(0, -0.6, "b", dx=-0.1, dy=-0.2)
    s.arrow((0, -0.6), (0.25, -0.6))
    s.key(0.75, -0.6, "radius_b")
    s.view(-1.4, 1.4, -0.9, 1.0)
    return "A cone from a to b, such as a funnel, open at its ends"


def plate(s):
    s.ellipse(0, 0, 2.6, 0.8, facecolor=WALL)
    s.ellipse(0, 0, 0.8, 0.25, facecolor="white")
    s.point(0, 0, "")
    s.key(-0.62, 0.04, "point")
    s.arrow((0, 0), (0, 0.75), "normal", dx=0.38, dy=0.25)
    s.arrow((0, 0), (0.37, -0.04))
    s.key(0.42, -0.22, "hole_radius")
    s.arrow((0, 0), (-1.0, -0.25))
    s.key(-0.75, -0.5, "outer_radius")
    s.view(-1.6, 1.6, -0.65, 0.9)
    return "A round plate with a hole in its middle"


# ---- motions --------------------------------------------------------------------------------------------------------

def _faint_and_solid(s, moved):
    corners = np.array([(-0.35, -0.2), (0.35, -0.2), (0.35, 0.2), (-0.35, 0.2)])
    s.solid(moved(corners), facecolor="#eef1f4", linestyle="--", linewidth=1.0)
    s.solid(corners)


def _turn(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def translate(s):
    _faint_and_solid(s, lambda corners: corners + (1.3, 0.35))
    s.arrow((0.15, 0.05), (1.3, 0.35), "velocity", dx=-0.1, dy=0.22)
    s.view(-0.8, 2.0, -0.45, 0.75)
    return "A wall that moves along a straight line"


def rotate(s):
    _faint_and_solid(s, lambda corners: (corners - (-0.9, 0)) @ _turn(0.7).T + (-0.9, 0))
    s.point(-0.9, 0, "point, center", dy=-0.2)
    s.arrow((0.5, 0.1), (0.1, 0.95), "rate", dx=0.35, dy=0.1, curve=0.25)
    s.view(-1.6, 1.2, -0.4, 1.1)
    return "A wall that turns about a point, counter-clockwise if the rate is positive"


def oscillate(s):
    _faint_and_solid(s, lambda corners: corners + (0.8, 0))
    s.arrow((0, 0), (0.8, 0), "amplitude", dx=0.05, dy=0.33)
    s.arrow((0, -0.38), (-0.8, -0.38))
    s.arrow((0, -0.38), (0.8, -0.38))
    s.view(-1.2, 1.4, -0.55, 0.6)
    return "A wall that oscillates along a line, to both sides of where it is given"


def swing(s):
    _faint_and_solid(s, lambda corners: (corners - (0, 0.9)) @ _turn(0.6).T + (0, 0.9))
    s.point(0, 0.9, "point, center", dy=0.15)
    s.line([(0, 0.9), (0, 0)], linewidth=0.8, linestyle="--")
    s.line([(0, 0.9), (0.51, 0.16)], linewidth=0.8, linestyle="--")
    s.arrow((0, 0.35), (0.31, 0.45), curve=0.25)
    s.key(0.75, 0.55, "amplitude")
    s.view(-0.8, 1.3, -0.3, 1.15)
    return "A wall that swings about a point, by an amplitude to both sides"


def table(s):
    s.axes.axis("on")
    s.axes.set_aspect("auto")
    s.axes.plot([0, 1, 3, 4, 5], [0, 0, -1, -1, -0.4], "o-", color=EDGE, markersize=4)
    s.axes.set_xlabel("times", family="monospace", color=KEY)
    s.axes.set_ylabel("positions or angles", family="monospace", color=KEY)
    s.axes.set_xticks([])
    s.axes.set_yticks([])
    s.axes.spines[["top", "right"]].set_visible(False)
    return "Displacement over time: points of a table, joined by straight lines"


# ---- shapes of bodies -----------------------------------------------------------------------------------------------

def box_body(s):
    s.rounded(-0.85, -0.4, 1.7, 0.8, rounding=0.15)
    s.arrow((-0.85, -0.58), (0.85, -0.58), "size[0]", dy=-0.13, style="<|-|>")
    s.arrow((1.02, -0.4), (1.02, 0.4), "size[1]", dx=0.36, style="<|-|>")
    s.key(-0.05, 0.1, "rounding_radius")
    s.arrow((-0.3, 0.18), (-0.78, 0.34))
    s.view(-1.1, 1.7, -0.85, 0.55)
    return "A box with round edges"


def capsule(s):
    s.rounded(-1.1, -0.3, 2.2, 0.6, rounding=0.3)
    s.arrow((-0.8, -0.48), (0.8, -0.48), "length", dy=-0.13, style="<|-|>")
    s.arrow((1.25, -0.3), (1.25, 0.3), "width", dx=0.33, style="<|-|>")
    s.line([(-0.8, -0.3), (-0.8, 0.3)], linewidth=0.8, linestyle="--")
    s.line([(0.8, -0.3), (0.8, 0.3)], linewidth=0.8, linestyle="--")
    s.view(-1.3, 1.9, -0.75, 0.4)
    return "A capsule: a cylinder with round ends"


def polygon_body(s):
    points = np.array([(-0.9, -0.4), (0.3, -0.6), (0.9, 0.1), (0.1, 0.6), (-0.7, 0.4)])
    s.solid(points, facecolor=BODY, joinstyle="round", linewidth=2.5)
    for point in points:
        s.point(*point, "")
    s.key(0, 0, "points")
    s.view(-1.1, 1.1, -0.75, 0.75)
    return "A convex polygon with round corners"


def hull(s):
    s.figure.clear()
    axes = s.figure.add_subplot(projection="3d")
    corners = _stl(Path(__file__).resolve().parents[2] / "inputs/convex/stone.stl")
    triangles = np.arange(len(corners)).reshape(-1, 3)
    axes.plot_trisurf(*corners.T, triangles=triangles, color=BODY, edgecolor=EDGE, linewidth=0.3)
    axes.set_box_aspect(np.ptp(corners, axis=0), zoom=1.6)
    axes.axis("off")
    return "The convex hull of a mesh: a stone (inputs/convex/stone.stl)"


def _stl(path):
    """Corners of the triangles of a text STL file, three rows each."""
    numbers = [line.split()[1:] for line in path.read_text().splitlines() if line.split()[:1] == ["vertex"]]
    return np.array(numbers, float)


# ---- distributions of radii -----------------------------------------------------------------------------------------

def _density(s, x, y, marks):
    s.axes.axis("on")
    s.axes.set_aspect("auto")
    s.axes.fill_between(x, y, color=BODY, alpha=0.5, linewidth=0)
    s.axes.plot(x, y, color=EDGE)
    for place, text in marks:
        s.axes.axvline(place, color=KEY, linewidth=0.8, linestyle="--")
        s.axes.text(place, 1.1 * max(y), text, family="monospace", size=8.5, color=KEY, ha="center")
    s.axes.set_ylim(0, 1.25 * max(y))
    s.axes.set_yticks([])
    s.axes.set_xticks([])
    s.axes.set_xlabel("radius")
    s.axes.spines[["top", "right", "left"]].set_visible(False)


def constant(s):
    _density(s, [0.98, 0.98, 1.02, 1.02], [0, 1, 1, 0], [(1, "value")])
    s.axes.set_xlim(0, 2)
    return "Constant: all radii are equal"


def uniform(s):
    _density(s, [1, 1, 2, 2], [0, 1, 1, 0], [(1, "min"), (2, "max")])
    s.axes.set_xlim(0.5, 2.5)
    return "Uniform: all radii between two bounds are equally likely"


def normal(s):
    x = np.linspace(0.6, 1.5, 200)
    y = np.exp(-(x - 1) ** 2 / 2 / 0.2 ** 2)
    _density(s, np.r_[x[0], x, x[-1]], np.r_[0, y, 0], [(0.6, "min"), (1, "mean"), (1.5, "max")])
    return "A normal distribution, cut at min and max"


def lognormal(s):
    x = np.linspace(0.5, 2.5, 300)
    y = np.exp(-np.log(x) ** 2 / 2 / 0.4 ** 2) / x
    _density(s, np.r_[x[0], x, x[-1]], np.r_[0, y, 0], [(0.5, "min"), (1, "median"), (2.5, "max")])
    return "A lognormal distribution, cut at min and max"


def discrete(s):
    x, y = [], []
    for place, share in ((1, 0.7), (1.6, 1), (2.2, 0.4)):
        x += [place - 0.03, place - 0.03, place + 0.03, place + 0.03]
        y += [0, share, share, 0]
    _density(s, x, y, [(1.6, "values, weights")])
    s.axes.set_xlim(0.5, 2.7)
    return "A few radii with their shares"


# ---- inlets ---------------------------------------------------------------------------------------------------------

def pour(s):
    s.solid([(-0.7, 0.3), (0.7, 0.3), (0.7, 0.9), (-0.7, 0.9)], facecolor="none", linestyle="--", linewidth=1.2)
    s.key(1.1, 0.6, "region")
    s.line([(-1.4, -0.8), (1.4, -0.8)])
    s.bodies([(-0.4, 0.7), (0.2, 0.5), (0.5, 0.8), (0.1, 0.05), (-0.3, -0.25)])
    s.bodies([(-0.25, -0.68), (0.0, -0.68), (0.25, -0.68), (-0.12, -0.47)])
    s.arrow((-0.9, 0.3), (-0.9, -0.2), "velocity", dx=-0.45)
    s.view(-1.7, 1.6, -0.9, 1.0)
    return "Bodies appear at random places of a region and fall"


KINDS = {
    **{(OBSTACLE, "type", draw.__name__): draw
       for draw in (plane, segment, polyline, polygon, disk, box, sphere, cylinder, cone, plate)},
    **{(MOTION, "type", draw.__name__): draw for draw in (translate, rotate, oscillate, swing, table)},
    (SHAPE, "type", "box"): box_body, (SHAPE, "type", "capsule"): capsule, (SHAPE, "type", "polygon"): polygon_body,
    (SHAPE, "type", "hull"): hull,
    **{(("particles", "NAME", "radius"), "distribution", draw.__name__): draw
       for draw in (constant, uniform, normal, lognormal, discrete)},
    (INLET, "type", "pour"): pour,
}
PACKINGS = {
    "lattice": ('{ type = "lattice", arrangement = "hexagonal", spacing = 1.2, jitter = 0.1 }',
                "Disks on a lattice, each moved a little"),
    "random": ('{ type = "random", solid_fraction = 0.4 }', "Disks at random places that do not overlap"),
    "packed": ('{ type = "packed" }', "Disks packed at random until they touch"),
}
PACKING_DECK = """
[simulation]
dimension = 2
end_time = 0
[time]
step = 1
[domain]
lower = [0, 0]
upper = [16, 9]
[particles.disks]
radius = {{ distribution = "uniform", min = 0.3, max = 0.5 }}
source = {source}
[velocity]
type = "rest"
[output]
name = "packing"
[output.h5md]
every = 1
"""


def packing(source, program):
    """A sheet with the bodies that the program places; the picture is a result of it."""
    sheet = Sheet(3.6, 2.2)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "packing.toml").write_text(PACKING_DECK.format(source=source))
        subprocess.run([program, "-q", "run", "packing.toml"], cwd=folder, check=True)
        with h5py.File(Path(folder) / "results/packing/packing.h5") as file:
            group = file["particles/all"]
            places, radii = group["position/value"][0], group["radius"]
            radii = radii[:] if isinstance(radii, h5py.Dataset) else radii["value"][0]
    for (x, y), radius in zip(places[:, :2], radii):
        sheet.disk(x, y, radius)
    sheet.solid([(0, 0), (16, 0), (16, 9), (0, 9)], facecolor="none", linewidth=1.2)
    sheet.view(-0.2, 16.2, -0.2, 9.2)
    return sheet


def draw_all(folder, program):
    """Draws everything into a folder; returns Drawings by the table, key and value that they belong to."""
    folder.mkdir(parents=True, exist_ok=True)
    drawings = {}

    def keep(where, sheet, text):
        table_words, _, value = where
        name = f"{'-'.join(word for word in table_words if word != 'NAME')}-{value}.svg"
        sheet.save(folder / name)
        drawings[where] = Drawing(name, text)

    for where, draw in KINDS.items():
        sheet = Sheet()
        keep(where, sheet, draw(sheet))
    for name, (source, text) in PACKINGS.items():
        keep((SOURCE, "type", name), packing(source, program), text)
    return drawings
