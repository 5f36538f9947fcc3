"""MercuryDPM: bodies from .data files (the last frame), and bodies, walls, periods and gravity from .restart files.

.data: frames of a line "N time xmin ymin [zmin] xmax ymax [zmax]" and N rows, in formats known by their columns:
    8   in the plane, box of 4 numbers:  x y vx vy radius angle -omega info
    14  box of 6 numbers:                x y z vx vy vz radius 3 angles omegax omegay omegaz info
    7   box of 6 numbers, 8 columns:     x z y vx vz vy radius info
info is the number of the species unless a driver puts something else there. .restart: lines of a name and of keys with
their values. Source: Kernel/DPMBase.cc, DPMBaseXBalls.icc and the write() of particles, walls and boundaries of
MercuryDPM.
"""
import re

import numpy as np

from scree.errors import ExchangeError
from scree.exchange.scene import are_whole, material_of, numbers, rows_of, scene_of, whole

BALLS = ("BaseParticle", "SphericalParticle", "LiquidFilmParticle", "LiquidFilmBaseParticle", "ThermalParticle")
OF_BODIES = {"id", "indSpecies", "position", "orientation", "velocity", "angularVelocity", "force", "torque", "radius",
             "invMass", "timeStamp"}
ROUND_OFF = 1e-14    # of unit vectors from quaternions of 15 digits
NUMBER = re.compile(r"[-+]?(\d.*|\.\d.*|nan|inf)", re.IGNORECASE)


def read_data(path, lines):
    """The bodies of the last frame of a .data file."""
    at, last = 0, None
    while at < len(lines):
        words = lines[at].split()
        if words:
            count = whole(path, at + 1, words[0])
            if len(words) not in (6, 8):
                raise ExchangeError(f"{path}:{at + 1}: N time xmin ymin [zmin] xmax ymax [zmax] are wanted, "
                                    f"not {len(words)} numbers")
            if not 0 <= count < len(lines) - at:
                raise ExchangeError(f"{path}:{at + 1}: {count} rows should follow, not {len(lines) - at - 1}")
            last, at = at, at + count
        at += 1
    if last is None:
        raise ExchangeError(f"{path}: no frame in the file")
    head = numbers(path, last + 1, lines[last].split())
    box = np.array(head[2:]).reshape(2, -1)
    rows = lines[last + 1:last + 1 + int(head[0])]
    if not rows:
        raise ExchangeError(f"{path}:{last + 1}: the last frame has no bodies")
    dimension, columns = box.shape[1], len(rows[0].split())
    if (dimension, columns) not in ((2, 8), (3, 14), (3, 8)):
        raise ExchangeError(f"{path}:{last + 2}: {columns} columns below a box of {2 * dimension} numbers: "
                            "no format of MercuryDPM")
    table = rows_of(path, last + 2, rows, columns)
    if dimension == 2:
        found = {"x": table[:, :2], "velocity": table[:, 2:4], "radius": table[:, 4], "spin": -table[:, 6:7]}
    elif columns == 14:
        found = {"x": table[:, :3], "velocity": table[:, 3:6], "radius": table[:, 6], "spin": table[:, 10:13]}
    else:
        found = {"x": table[:, [0, 2, 1]], "velocity": table[:, [3, 5, 4]], "radius": table[:, 6]}
    info, left_out = table[:, -1], []
    if (are_whole(info) & (info >= 0)).all():
        found["types"] = info.astype(int)
    else:
        left_out.append("the last column, which has other things than numbers of species")
    return _widened(scene_of(path, found, lower=box[0], upper=box[1], dimension=dimension, left_out=left_out))


def read_restart(path, lines):
    """All that a .restart file has of spheres, plane walls and periodic boundaries; other walls by name."""
    if not lines or not lines[0].startswith("MercuryDPM"):
        raise ExchangeError(f"{path}:1: a restart file of before MercuryDPM 1.0: let a newer version read and write it")
    head, sections = _sections(path, lines)

    def of_head(key, n=1):
        if key not in head:
            raise ExchangeError(f"{path}: no {key} before the species")
        number, values = head[key]
        return np.array(numbers(path, number, values[:n], n))

    dimension = 3 if of_head("systemDimensions")[0] == 3 else 2
    left_out = []
    found = _bodies(path, sections["Particles"], dimension, left_out)
    lower, upper = (np.array([of_head(axis + side)[0] for axis in "xyz"[:dimension]]) for side in ("Min", "Max"))
    periodic = [False] * dimension
    for number, kind, keys in sections["Boundaries"]:
        along = _period(path, number, kind, keys)
        if along is None or along[0] >= dimension:
            left_out.append(kind)
        else:
            axis, lower[axis], upper[axis] = along
            periodic[axis] = True
    densities, laws = _species(path, sections["Species"])
    if dimension == 2 and of_head("particleDimensions")[0] == 3:
        left_out.append("densities, which are of spheres here and of disks in scree")
        densities = {}
    if sections["Interactions"]:
        left_out.append(f"springs of {len(sections['Interactions'])} contacts")
    scene = scene_of(path, found, lower=lower, upper=upper, periodic=tuple(periodic), dimension=dimension,
                     left_out=left_out, gravity=of_head("gravity", 3)[:dimension], densities=densities, laws=laws)
    for number, kind, keys in sections["Walls"]:
        wall, name = _wall(path, number, kind, keys, dimension), f"wall{len(scene.walls)}"
        scene.walls[name] = {"material": material_of(_whole(path, number, keys, "indSpecies"))}
        if isinstance(wall, str):
            scene.unknown[name] = f"{wall}, line {number} of the file"
        else:
            scene.walls[name] |= wall
    return _widened(scene)


def _sections(path, lines):
    """Keys before the species as {key: (line, values)}, and lines below each head as (line, first word, keys)."""
    head, sections = {}, {name: [] for name in ("Species", "Walls", "Boundaries", "Particles", "Interactions")}
    current, counts, heads = None, {}, {}
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if not words:
            continue
        if words[0] in sections and len(words) == 2:
            current, counts[words[0]], heads[words[0]] = words[0], whole(path, number, words[1]), number
        elif current is None:
            head |= {key: (number, values) for key, values in _keys(words).items()}
        elif current == "Interactions" or len(sections[current]) < counts[current]:
            sections[current].append((number, words[0], _keys(words[1:])))
    for name in ("Species", "Walls", "Boundaries", "Particles"):
        if name not in counts:
            raise ExchangeError(f"{path}: there is no line {name!r} with their number")
        there = len(sections[name])
        if there != counts[name] or any(kind == "..." for _, kind, _ in sections[name]):
            raise ExchangeError(f"{path}:{heads[name]}: {name} should have {counts[name]} lines, not {there}")
    return head, sections


def _widened(scene):
    """The scene with a box that holds its bodies and walls along the axes; that of MercuryDPM is one to draw."""
    reach = [scene.x - scene.radius[:, None], scene.x + scene.radius[:, None]]
    for wall in scene.walls.values():
        if np.count_nonzero(wall.get("normal", ())) == 1:
            reach.append(np.where(np.array(wall["normal"]) != 0, wall["point"], scene.x[0])[None])
    free = ~np.array(scene.periodic)
    scene.lower[free] = np.minimum(scene.lower, np.concatenate(reach).min(0))[free]
    scene.upper[free] = np.maximum(scene.upper, np.concatenate(reach).max(0))[free]
    return scene


def _keys(words):
    """Words of a line by the name before them: {"position": ["0", "1", "0"], ...}; of a name twice there the first."""
    found, name = {}, None
    for word in words:
        if NUMBER.fullmatch(word):
            if name is not None:
                found[name].append(word)
        else:
            name = word if word not in found else None
            if name is not None:
                found[name] = []
    return found


def _values(path, number, keys, name, n):
    if name not in keys:
        raise ExchangeError(f"{path}:{number}: no {name}")
    return numbers(path, number, keys[name], n)


def _whole(path, number, keys, name):
    return whole(path, number, " ".join(keys.get(name, ["nothing"])))


def _bodies(path, lines, dimension, left_out):
    if not lines:
        raise ExchangeError(f"{path}: no bodies in the file")
    sizes = {"position": 3, "velocity": 3, "angularVelocity": 3, "radius": 1, "invMass": 1}
    rows, names, more = [], [], set()
    for number, kind, keys in lines:
        if kind not in BALLS:
            raise ExchangeError(f"{path}:{number}: a {kind}: only spheres are taken ({', '.join(BALLS)})")
        names.append([_whole(path, number, keys, name) for name in ("id", "indSpecies")])
        rows.append([value for name, n in sizes.items() for value in _values(path, number, keys, name, n)])
        more |= keys.keys() - OF_BODIES
    left_out += sorted(more)
    table, (ids, types) = np.array(rows), np.array(names).T
    return {"ids": ids, "types": types, "x": table[:, :dimension], "velocity": table[:, 3:3 + dimension],
            "spin": table[:, 6 if dimension == 3 else 8:9], "radius": table[:, 9], "fixed": table[:, 10] == 0}


def _species(path, lines):
    """Densities by material, and what the file says of contacts by pairs of materials."""
    densities, laws = {}, {}
    for number, kind, keys in lines:
        law = f"{kind}: " + ", ".join(f"{name} {' '.join(values)}" for name, values in keys.items()
                                      if name not in ("id", "idA", "idB", "density"))
        if "idA" in keys:
            a, b = sorted(_whole(path, number, keys, name) for name in ("idA", "idB"))
            laws[material_of(a), material_of(b)] = law
        else:
            own = material_of(_whole(path, number, keys, "id"))
            densities[own] = _values(path, number, keys, "density", 1)[0]
            laws[own, own] = law
    return densities, laws


def _period(path, number, kind, keys):
    """Axis and both ends of a periodic boundary that has right angles; None else."""
    if kind != "PeriodicBoundary" or "distanceLeft" not in keys:
        return None
    normal, shift = (np.array(_values(path, number, keys, name, 3)) for name in ("normal", "shift"))
    axis = int(np.argmax(np.abs(normal)))
    ends = sorted(_values(path, number, keys, name, 1)[0] / normal[axis] for name in ("distanceLeft", "distanceRight"))
    return (axis, *ends) if np.count_nonzero(normal) == np.count_nonzero(shift) == 1 else None


def _wall(path, number, kind, keys, dimension):
    """Table of an infinite wall, whose normal points into it there and out of it in scree; a string for other walls."""
    if kind != "InfiniteWall":
        return kind
    w, x, y, z = _values(path, number, keys, "orientation", 4)
    into = np.array([w * w + x * x - y * y - z * z, 2 * (x * y + w * z), 2 * (x * z - w * y)])
    into = np.where(np.abs(into) < ROUND_OFF, 0, into) / np.linalg.norm(into)
    if any(_values(path, number, keys, "angularVelocity", 3)):
        return f"{kind} that turns"
    if not into[:dimension].any():
        return f"{kind} across the plane"
    table = {"type": "plane", "point": _values(path, number, keys, "position", 3)[:dimension],
             "normal": (0 - into[:dimension]).tolist()}
    velocity = _values(path, number, keys, "velocity", 3)[:dimension]
    if any(velocity):
        table["motion"] = {"type": "translate", "velocity": velocity}
    return table
