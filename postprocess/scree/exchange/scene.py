"""What the readers find in a file of another program: bodies, their box, and walls; and how they read numbers."""
import re
from dataclasses import dataclass, field

import numpy as np

from scree.errors import ExchangeError


@dataclass
class Scene:
    """Spheres in D dimensions, walls, and a box. Lengths in m, times in s.

    ids, types   (n,) whole numbers; `types` say what a body is made of
    x, velocity  (n, D) centres [m] and velocities [m/s]
    radius       (n,) [m]
    spin         (n, 3) angular velocities [rad/s]; in the plane (n, 1)
    density      (n,) [kg/m3], or None where the file does not say it body by body
    density_error    of these at most, relative: numbers of a text have so many digits
    densities    material: its density [kg/m3]
    fixed        (n,) booleans, or None: whether a body is fixed
    lower, upper (D,) corners of the box [m]; `box_is_bounds`: the file has none, these are the bounds of what it holds
    periodic     D booleans
    gravity      (D,) [m/s2], or None
    walls        name: table of [obstacles.NAME], without a type where scree has no shape for it
    unknown      name of such a wall: what it is
    solids       name: (centre (3,) [m], triangles (m, 3, 3) [m]) of convex bodies
    laws         (material, material): what the file says of their contacts, for a comment
    left_out     what the file holds beside these
    """
    name: str
    ids: np.ndarray
    types: np.ndarray
    x: np.ndarray
    radius: np.ndarray
    density: np.ndarray
    velocity: np.ndarray
    spin: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    periodic: tuple
    left_out: list = field(default_factory=list)
    fixed: np.ndarray = None
    box_is_bounds: bool = False
    gravity: np.ndarray = None
    walls: dict = field(default_factory=dict)
    unknown: dict = field(default_factory=dict)
    solids: dict = field(default_factory=dict)
    density_error: float = 0.0
    densities: dict = field(default_factory=dict)
    laws: dict = field(default_factory=dict)

    @property
    def dimension(self):
        return len(self.lower)


def material_of(kind):
    """Name of the material of a type, and of its group of bodies."""
    return f"type{kind}"


def scene_of(path, table, *, lower=None, upper=None, dimension=3, **more):
    """A scene of n bodies from a dict of columns: x, radius, and any of ids, types, velocity, spin, density. Without a
    box it has the bounds of the bodies."""
    x, radius = table["x"], table["radius"]
    n = len(x)
    if lower is None:
        if n == 0:
            raise ExchangeError(f"{path}: no bodies in the file")
        lower, upper = (x - radius[:, None]).min(0), (x + radius[:, None]).max(0)
        more["box_is_bounds"] = True
    default = {"ids": np.arange(n), "types": np.ones(n, int), "density": None, "velocity": np.zeros((n, dimension)),
               "spin": np.zeros((n, 3 if dimension == 3 else 1)), "periodic": (False,) * dimension}
    return Scene(path.stem, lower=lower, upper=upper, **default | table | more)


def checked(path, scene):
    """The scene with its bodies in order of ids. Raises ExchangeError for an id that occurs twice and a body without a
    radius."""
    order = np.argsort(scene.ids, kind="stable")
    for name in ("ids", "types", "x", "radius", "density", "velocity", "spin", "fixed"):
        values = getattr(scene, name)
        setattr(scene, name, None if values is None else values[order])
    again = scene.ids[1:][scene.ids[1:] == scene.ids[:-1]]
    if len(again):
        raise ExchangeError(f"{path}: id {again[0]} occurs twice")
    if not (scene.radius > 0).all():
        raise ExchangeError(f"{path}: body {scene.ids[~(scene.radius > 0)][0]} has no radius: points are no grains")
    return scene


def numbers(path, line, words, n=None):
    """Finite numbers of a line of a file, counted from 1. Raises ExchangeError unless there are n, if n is given."""
    try:
        values = [float(word) for word in words]
    except ValueError:
        values = None
    if values is None or (n is not None and len(values) != n) or not np.isfinite(values).all():
        what = f"{n} numbers" if n else "numbers"
        raise ExchangeError(f"{path}:{line}: {what} are wanted, not {' '.join(words)!r}")
    return values


def density_error(words):
    """How far densities may be off, relative, by what a text cuts off: half a unit of the last digit of a mass, and three
    times that of the radius. `words`: the numbers as they stand there; zeros at their ends are often left out, so a
    text has as many digits as its longest number, and six as most programs write them."""
    digits = max((len(re.sub(r"[eE].*|[^0-9]", "", word).lstrip("0")) for word in words), default=0)
    return 4 * 5 * 10.0**-max(digits, 6)


def whole(path, line, word):
    """A whole number of a line of a file."""
    try:
        return int(word)
    except ValueError:
        raise ExchangeError(f"{path}:{line}: a whole number is wanted, not {word!r}") from None


def rows_of(path, first, lines, columns):
    """Numbers of lines that have a row each, as (n, columns); `first`: the number of the first of them, from 1."""
    rows = [numbers(path, first + k, line.split(), columns) for k, line in enumerate(lines)]
    return np.array(rows).reshape(len(rows), columns)


def integers(path, lines, values, what):
    """Numbers of a column as whole ones; `lines` has the line of each."""
    for k in np.flatnonzero(~are_whole(values))[:1]:
        raise ExchangeError(f"{path}:{lines[k]}: {what} {values[k]:g} is no whole number")
    return values.astype(int)


def are_whole(values):
    """Whether floating-point numbers are whole, and so small that they are exact."""
    return (values == np.round(values)) & (np.abs(values) < 2**53)
