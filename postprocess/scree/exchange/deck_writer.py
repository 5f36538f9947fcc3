"""Decks from scenes of other programs. Physics that a file does not say stays out: `scree check` asks for it."""
import itertools
from pathlib import Path

import numpy as np

from scree.deck import toml_value
from scree.errors import ExchangeError
from scree.exchange.mesh import stl_text
from scree.exchange.scene import material_of

TABLES = {2: ["id", "x", "y", "radius", "vx", "vy", "omegaz"],
          3: ["id", "x", "y", "z", "radius", "vx", "vy", "vz", "omegax", "omegay", "omegaz"]}


def write_deck(scene, folder, scheme="dem", overwrite=False):
    """Writes NAME.toml, a table of bodies for each type (NAME_typeT.csv), and a mesh and a table for each body that is
    no sphere (NAME_SOLID.stl, NAME_SOLID.csv) into the folder; returns the path of the deck. Contact laws, densities,
    gravity and steps that the file does not say, and shapes of walls that scree does not have, stand there as
    `# key =`. Raises ExchangeError for a deck that is there, unless it may be overwritten, and for a type with more
    than one density."""
    folder = Path(folder)
    deck = folder / f"{scene.name}.toml"
    if deck.exists() and not overwrite:
        raise ExchangeError(f"{deck} is there already, perhaps with what was filled in")
    materials, tables, files = _bodies(scene)
    for name, (centre, corners) in scene.solids.items():
        materials.setdefault("solid", None)
        files[f"{scene.name}_{name}.stl"] = stl_text(name, corners)
        files[f"{scene.name}_{name}.csv"] = "id,x,y,z\n0," + ",".join(f"{value:.17g}" for value in centre) + "\n"
        tables += table_lines(f"shapes.{name}", {"type": "hull", "file": f"{scene.name}_{name}.stl"})
        tables += table_lines(f"particles.{name}", {"shape": name, "material": "solid",
                                               "source": {"type": "file", "path": f"{scene.name}_{name}.csv"}})
    of_bodies = list(materials)
    for name, wall in scene.walls.items():
        materials.setdefault(wall["material"], scene.densities.get(wall["material"]))
        unknown = [f"# type =    # {scene.unknown[name]}"] if name in scene.unknown else []
        tables += table_lines(f"obstacles.{name}", wall, *unknown)
    lines = _head(scene, scheme)
    for name, density in materials.items():
        lines += table_lines(f"materials.{name}", *([{}, "# density ="] if density is None else [{"density": density}]))
    lines += tables
    for a, b in itertools.combinations_with_replacement(materials, 2):
        if of_bodies and a not in of_bodies:
            continue
        comment_lines = [f"# {scene.laws[a, b]}"] if (a, b) in scene.laws else []
        lines += table_lines(f"pairs.{a}-{b}", {}, *comment_lines, "# friction =", "# restitution =")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (files | {deck.name: "\n".join(lines)}).items():
        (folder / name).write_text(text, encoding="utf-8")
    return deck


def _head(scene, scheme):
    domain = {"lower": scene.lower, "upper": scene.upper, "periodic": list(scene.periodic)}
    flat = []
    if not (scene.lower < scene.upper).all():
        flat = [f"# upper = {toml_value(domain.pop('upper'))}    # is flat: give it a height"]
    gravity = {} if scene.gravity is None else {"gravity": scene.gravity}
    left_out = ", ".join(scene.left_out) or "nothing"
    return [f"# From {scene.name}: fill in what `scree check` names. Left out: {left_out}.",
            *table_lines("simulation", {"dimension": scene.dimension, "scheme": scheme, "end_time": 1.0}),
            *(["# The bounds of what the file holds, which has no box."] if scene.box_is_bounds else []),
            *table_lines("domain", domain, *flat), *table_lines("time", {}, "# step ="),
            *table_lines("physics", gravity, *([] if gravity else ["# gravity ="]))]


def _bodies(scene):
    """Densities by material, lines of the groups of spheres, and their files by name."""
    materials, lines, files = {}, [], {}
    fixed = np.zeros(len(scene.ids), bool) if scene.fixed is None else scene.fixed
    columns = np.column_stack([scene.x, scene.radius, scene.velocity, scene.spin])
    for kind in np.unique(scene.types):
        of_kind = scene.types == kind
        known = scene.densities.get(material_of(kind))
        materials[material_of(kind)] = known if scene.density is None else _density(kind, scene.density[of_kind],
                                                                                         scene.density_error)
        for ending, chosen in (("", of_kind & ~fixed), ("_fixed", of_kind & fixed)):
            if not chosen.any():
                continue
            name = material_of(kind) + ending
            rows = [",".join([str(i), *(f"{value:.17g}" for value in row)])
                    for i, row in zip(scene.ids[chosen], columns[chosen])]
            files[f"{scene.name}_{name}.csv"] = "\n".join([",".join(TABLES[scene.dimension]), *rows]) + "\n"
            lines += table_lines(f"particles.{name}", {"material": material_of(kind)} | ({"mobility": 0} if ending else {}) |
                            {"source": {"type": "file", "path": f"{scene.name}_{name}.csv"}})
    return materials, lines, files


def _density(kind, values, error):
    """The one density of a type; of those that differ by what a text cuts off the one with the fewest digits."""
    low, high = values.min(), values.max()
    if high <= low * (1 + 1e-9):
        return float(f"{low:.12g}")
    for digits in range(1, 13):
        density = float(f"{(low + high) / 2:.{digits}g}")
        if high <= density * (1 + error) and low >= density * (1 - error):
            return density
    raise ExchangeError(f"type {kind} has densities from {low:.9g} to {high:.9g} kg/m3: a material has one")


def table_lines(name, values, *comments):
    """A table of a deck with its head, one line for each key, lines as they are, and an empty line."""
    return [f"[{name}]", *(f"{key} = {toml_value(value)}" for key, value in values.items()), *comments, ""]
