"""Exchange with LAMMPS and LIGGGHTS: spheres from data files and dumps as a deck, and frames of a run as data files.

    read(path)                     a data file (atom_style sphere) or a text dump (the last frame)
    write_deck(packing, folder)    NAME.toml and a table of bodies for each atom type; contact laws are left to fill in
    write_data(results, path)      a frame of a run as a data file

Columns of the Atoms section, atom_style sphere: id type diameter density x y z [ix iy iz]; of Velocities: id vx vy vz wx wy wz
(docs.lammps.org, read_data). All numbers are SI; data files that say units = cgs are converted.
"""
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from scree.deck import toml_value

CGS = {"length": 1e-2, "density": 1e3, "velocity": 1e-2}
TABLE = ["id", "x", "y", "z", "radius", "vx", "vy", "vz", "omegax", "omegay", "omegaz"]


class LammpsError(Exception):
    """A file that cannot be exchanged; the message says where and why."""


@dataclass
class Packing:
    """Spheres: ids and types (n,), centres x (n, 3) [m], radius (n,) [m], density (n,) [kg/m3] or None, velocities (n, 3) [m/s],
    spins (n, 3) [rad/s]; the box; `left_out`: what the file has beside these."""
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


def read(path):
    """The spheres of a data file or of the last frame of a dump. Raises LammpsError."""
    path = Path(path)
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise LammpsError(f"{path}: {error.strerror}") from error
    found = _read_dump(path, lines) if any(line.startswith("ITEM:") for line in lines[:1]) else _read_data(path, lines)
    order = np.argsort(found.ids, kind="stable")
    for name in ("ids", "types", "x", "radius", "density", "velocity", "spin"):
        values = getattr(found, name)
        setattr(found, name, None if values is None else values[order])
    if len(np.unique(found.ids)) != len(found.ids):
        raise LammpsError(f"{path}: an id occurs twice")
    if not (found.radius > 0).all():
        raise LammpsError(f"{path}: atom {found.ids[~(found.radius > 0)][0]} has no radius: points are no grains")
    return found


def _numbers(path, number, words, n=None):
    try:
        values = [float(word) for word in words]
    except ValueError:
        values = None
    if values is None or (n is not None and len(values) != n) or not np.isfinite(values).all():
        raise LammpsError(f"{path}:{number}: " + (f"{n} numbers" if n else "numbers") + f" are wanted, not {' '.join(words)!r}")
    return values


def _read_data(path, lines):
    units = re.search(r"units = (\w+)", lines[0] if lines else "")
    units = units[1] if units else "si"
    if units not in ("si", "cgs"):
        raise LammpsError(f"{path}:1: units = {units}: only si and cgs have lengths in metres")
    scale = CGS if units == "cgs" else dict.fromkeys(CGS, 1.0)
    lower, upper, count = np.full(3, np.nan), np.full(3, np.nan), None
    tables, section, left_out = {"Atoms": [], "Velocities": []}, None, []
    for number, line in enumerate(lines[1:], start=2):
        text, _, comment = line.partition("#")
        words = text.split()
        if not words:
            continue
        if words[0][0].isalpha():
            section = " ".join(words)
            if section == "Atoms" and comment.strip() and not re.fullmatch(r"(sphere|granular)\b.*", comment.strip()):
                raise LammpsError(f"{path}:{number}: atom_style {comment.strip()}: only sphere (in LIGGGHTS granular) has radii")
            if section not in tables:
                left_out.append(section)
        elif section is None:
            if words[-1] == "atoms":
                count = int(_numbers(path, number, words[:1])[0])
            elif len(words) == 4 and words[2][1:] == "lo" and words[3][1:] == "hi":
                axis = "xyz".index(words[2][0])
                lower[axis], upper[axis] = _numbers(path, number, words[:2])
            elif words[-3:] == ["xy", "xz", "yz"]:
                raise LammpsError(f"{path}:{number}: the box is triclinic; boxes of scree have right angles")
            elif words[-1] in ("bonds", "angles", "dihedrals", "impropers", "ellipsoids", "lines", "triangles", "bodies"):
                if float(words[0]) > 0:
                    left_out.append(f"{words[0]} {words[-1]}")
        elif section in tables:
            tables[section].append((number, words))
    atoms = tables["Atoms"]
    if count is None or np.isnan([*lower, *upper]).any():
        raise LammpsError(f"{path}: a data file has the lines \"N atoms\" and \"LOWER UPPER xlo xhi\", also for y and z")
    if len(atoms) != count:
        raise LammpsError(f"{path}: {len(atoms)} lines of atoms, but the head says {count}")
    if any(len(words) not in (7, 10) for _, words in atoms):
        number, words = next(row for row in atoms if len(row[1]) not in (7, 10))
        raise LammpsError(f"{path}:{number}: id type diameter density x y z [ix iy iz] are wanted, not {len(words)} columns")
    table = np.array([_numbers(path, number, words)[:7] for number, words in atoms]).reshape(count, 7)
    velocities = {int(words[0]): _numbers(path, number, words, 7)[1:] for number, words in tables["Velocities"]}
    motion = np.array([velocities.get(int(i), [0.0] * 6) for i in table[:, 0]]).reshape(count, 6)
    length = scale["length"]
    return Packing(path.stem, table[:, 0].astype(int), table[:, 1].astype(int), length * table[:, 4:7], length * table[:, 2] / 2,
                   scale["density"] * table[:, 3], scale["velocity"] * motion[:, :3], motion[:, 3:], length * lower, length * upper,
                   (False, False, False), left_out)


def _read_dump(path, lines):
    starts = [number for number, line in enumerate(lines) if line.startswith("ITEM: TIMESTEP")]
    if not starts:
        raise LammpsError(f"{path}: no ITEM: TIMESTEP")
    lower, upper, periodic, count, columns, first = np.full(3, np.nan), np.full(3, np.nan), None, None, None, None
    for number in range(starts[-1], len(lines)):
        line = lines[number]
        if line.startswith("ITEM: UNITS") and lines[number + 1].strip() not in ("si",):
            raise LammpsError(f"{path}:{number + 2}: units {lines[number + 1].strip()}: dumps are taken in si")
        if line.startswith("ITEM: NUMBER OF ATOMS"):
            count = int(_numbers(path, number + 2, lines[number + 1].split(), 1)[0])
        elif line.startswith("ITEM: BOX BOUNDS"):
            if "xy" in line:
                raise LammpsError(f"{path}:{number + 1}: the box is triclinic; boxes of scree have right angles")
            periodic = tuple(word == "pp" for word in line.split()[3:6])
            bounds = [_numbers(path, number + 2 + k, lines[number + 1 + k].split(), 2) for k in range(3)]
            lower, upper = np.array(bounds).T
        elif line.startswith("ITEM: ATOMS"):
            columns, first = line.split()[2:], number + 1
            break
    if count is None or columns is None or np.isnan(lower).any() or len(lines) < first + count:
        raise LammpsError(f"{path}: the last frame ends early")
    rows = [_numbers(path, first + k + 1, lines[first + k].split(), len(columns)) for k in range(count)]
    table = dict(zip(columns, np.array(rows).reshape(count, len(columns)).T))

    def column(*names, wanted=None):
        name = next((name for name in names if name in table), None)
        if name is None and wanted:
            raise LammpsError(f"{path}:{first}: the dump has no column {' or '.join(names)} ({wanted})")
        return table.pop(name) if name else None

    x = []
    for k, axis in enumerate("xyz"):
        scaled = axis not in table and axis + "u" not in table
        values = column(axis, axis + "u", axis + "s", axis + "su", wanted="centres")
        x.append(lower[k] + values * (upper[k] - lower[k]) if scaled else values)
    radius, diameter = column("radius"), column("diameter")
    if radius is None and diameter is None:
        raise LammpsError(f"{path}:{first}: the dump has no column radius or diameter")
    radius = diameter / 2 if radius is None else radius
    density, mass = column("density"), column("mass")
    if density is None and mass is not None:
        density = mass / (4 / 3 * np.pi * radius**3)
    ids, types = column("id"), column("type")
    none = np.zeros(count)

    def vector(names):
        return np.stack([none if (values := column(name)) is None else values for name in names], 1)

    return Packing(path.stem, np.arange(1, count + 1) if ids is None else ids.astype(int),
                   np.ones(count, int) if types is None else types.astype(int), np.stack(x, 1), radius, density,
                   vector(["vx", "vy", "vz"]), vector(["omegax", "omegay", "omegaz"]), lower, upper, periodic or (False,) * 3,
                   sorted(table))


def write_deck(packing, folder, scheme="dem"):
    """Writes NAME.toml and NAME_typeT.csv into the folder and returns the path of the deck. Physics that the file does not tell (contact
    laws, densities of a dump without them, steps) is left out: `scree check` names what is missing."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    types = np.unique(packing.types)
    lines = [f"# From {packing.name}: fill in what `scree check` names. Left out: {', '.join(packing.left_out) or 'nothing'}.",
             "[simulation]", "dimension = 3", f'scheme = "{scheme}"', "end_time = 1.0", "", "[domain]",
             f"lower = {toml_value(packing.lower)}", f"upper = {toml_value(packing.upper)}",
             f"periodic = {toml_value(list(packing.periodic))}", "", "[time]", "# step =", "", "[physics]", "gravity = [0, 0, -9.81]", ""]
    for kind in types:
        here = packing.types == kind
        lines.append(f"[materials.type{kind}]")
        densities = None if packing.density is None else np.unique(packing.density[here])
        if densities is None:
            lines.append("# density =")
        else:
            if densities[-1] > densities[0] * (1 + 1e-9):
                raise LammpsError(f"type {kind} has densities from {densities[0]:g} to {densities[-1]:g} kg/m3: a material has one")
            lines.append(f"density = {densities[0]:.12g}")
        name = f"{packing.name}_type{kind}.csv"
        table = np.column_stack([packing.x, packing.radius, packing.velocity, packing.spin])[here]
        rows = [",".join([str(i), *(f"{value:.17g}" for value in row)]) for i, row in zip(packing.ids[here], table)]
        (folder / name).write_text("\n".join([",".join(TABLE), *rows]) + "\n", encoding="utf-8")
        lines += ["", f"[particles.type{kind}]", f'material = "type{kind}"', f'source = {{ type = "file", path = "{name}" }}', ""]
    for number, a in enumerate(types):
        for b in types[number:]:
            lines += [f"[pairs.type{a}-type{b}]", "# friction =", "# restitution =", ""]
    deck = folder / f"{packing.name}.toml"
    deck.write_text("\n".join(lines), encoding="utf-8")
    return deck


def write_data(results, path, frame=-1):
    """A frame of NAME.h5 as a data file for `read_data` with atom_style sphere and units si; types are groups, from 1 on; velocities
    and spins are kept. Spheres only. Returns the path."""
    bodies, box = results.bodies(frame), results.trajectory.box
    x = bodies["position"]
    if x.shape[1] != 3:
        raise LammpsError(f"{results.folder}: disks have no place in atom_style sphere: the run must be in 3D")
    if "shape" in bodies and np.any(bodies["shape"] != 0):
        raise LammpsError(f"{results.folder}: bodies with shapes have no place in atom_style sphere")
    n, zero = len(x), np.zeros((len(x), 3))
    ids = bodies["id"] + 1
    types = bodies.get("group", np.zeros(n, int)) + 1
    radius, velocity, spin = bodies["radius"], bodies.get("velocity", zero), bodies.get("angular_velocity", zero)
    density = bodies["mass"] / (4 / 3 * np.pi * radius**3) if "mass" in bodies else np.ones(n)
    lines = [f"{results.name}, t = {results.trajectory.times[frame]:g} s, units = si", "", f"{n} atoms", f"{types.max(initial=1)} atom types", ""]
    lines += [f"{low:.17g} {high:.17g} {axis}lo {axis}hi" for axis, low, high in zip("xyz", box.lower, box.upper)]
    lines += ["", "Atoms # sphere", ""]
    lines += [f"{i} {kind} {2 * r:.17g} {rho:.17g} {' '.join(f'{value:.17g}' for value in at)}"
              for i, kind, r, rho, at in zip(ids, types, radius, density, x)]
    lines += ["", "Velocities", ""]
    lines += [f"{i} {' '.join(f'{value:.17g}' for value in (*v, *w))}" for i, v, w in zip(ids, velocity, spin)]
    path = Path(path)
    part = path.with_name(path.name + ".part")
    part.write_text("\n".join(lines) + "\n", encoding="utf-8")
    part.replace(path)
    return path
