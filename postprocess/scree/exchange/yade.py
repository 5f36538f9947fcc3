"""YADE: spheres from text files of yade.export.text and textExt, which yade.ymport.text and textExt read, and of
yade.pack.SpherePack.save.

A line "#format NAME" says what the columns are: x_y_z_r, x_y_z_r_matId, id_x_y_z_r_matId or x_y_z_r_attrs. The columns
after the radius have the names of the comment "# x y z r NAME ..." where textExt was given one. Without a format:
x y z r, or x y z r clumpId of SpherePack.save, whose line "##PERIODIC:: X Y Z" gives the lengths of a periodic cell.
Source: py/export.py, py/ymport.py and pkg/dem/SpherePack.cpp of YADE; files that YADE 2023.02a wrote.
"""
import numpy as np

from scree.errors import ExchangeError
from scree.exchange.scene import integers, numbers, scene_of

FORMATS = {"x_y_z_r": ["x", "y", "z", "r"], "x_y_z_r_matId": ["x", "y", "z", "r", "matId"],
           "id_x_y_z_r_matId": ["id", "x", "y", "z", "r", "matId"], "x_y_z_r_attrs": None}
OF_PACKS = ["x", "y", "z", "r", "clumpId"]
NOT_TAKEN = {"x_y_z_r_clumpId": "clumps of spheres have no place in scree", "jointedPM": "it has no centres",
             "x1_y1_z1_x2_y2_z2_x3_y3_z3": "facets are taken from STL files"}


def read(path, lines):
    """The spheres of a text file."""
    columns, attributes, named, rows, cell = None, False, None, [], None
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if not words:
            continue
        if words[0] == "#format":
            if rows:
                raise ExchangeError(f"{path}:{number}: a format after the first sphere")
            columns = _columns(path, number, words[1:])
            attributes = columns is None
        elif words[0] == "##PERIODIC::":
            cell = np.array(numbers(path, number, words[1:], 3))
        elif words[0].startswith("#"):
            named = words[1:] if words[1:5] == ["x", "y", "z", "r"] else named
        else:
            if columns is None:
                columns = _with_attributes(words, named) if attributes else OF_PACKS[:max(4, len(words))]
            rows.append((number, numbers(path, number, words, len(columns))))
    if not rows:
        raise ExchangeError(f"{path}: no spheres in the file")
    table = dict(zip(columns, np.array([row for _, row in rows]).T))

    clump = table.pop("clumpId", None)
    if clump is not None and (clump >= 0).any():
        number = rows[np.argmax(clump >= 0)][0]
        raise ExchangeError(f"{path}:{number}: a member of a clump: {NOT_TAKEN['x_y_z_r_clumpId']}")

    def vector(*names):
        return np.stack([table.pop(name) for name in names], 1) if all(name in table for name in names) else None

    found = {"x": vector("x", "y", "z"), "radius": table.pop("r"), "density": table.pop("density", None),
             "velocity": vector("vx", "vy", "vz"), "spin": vector("wx", "wy", "wz")}
    for name, key in (("id", "ids"), ("matId", "types")):
        found[key] = integers(path, [number for number, _ in rows], table.pop(name), name) if name in table else None
    found = {key: values for key, values in found.items() if values is not None}
    box = {} if cell is None else {"lower": np.zeros(3), "upper": cell, "periodic": (True,) * 3}
    return scene_of(path, found, left_out=sorted(table), **box)


def _columns(path, number, words):
    """Of a format; None where the first row has to say."""
    name = words[0] if words else ""
    if name not in FORMATS:
        why = next((why for start, why in NOT_TAKEN.items() if start in name), f"there are {', '.join(FORMATS)}")
        raise ExchangeError(f"{path}:{number}: format {name!r}: {why}")
    return FORMATS[name]


def _with_attributes(words, named):
    """Of a file of format x_y_z_r_attrs: the names of its comment if there are as many and each once."""
    if named and len(named) == len(words) == len(set(named)):
        return named
    return FORMATS["x_y_z_r"] + [f"attribute {k + 1}" for k in range(len(words) - 4)]
