"""LAMMPS and LIGGGHTS: spheres from data files (atom_style sphere) and text dumps (the last frame), and frames of runs
as data files.

Columns of the Atoms section, atom_style sphere: id type diameter density x y z [ix iy iz]; of Velocities:
id vx vy vz wx wy wz (docs.lammps.org, read_data). All numbers are SI; data files that say units = cgs are converted.
"""
import re
from pathlib import Path

import numpy as np

from scree.errors import ExchangeError
from scree.exchange.scene import density_error, integers, numbers, rows_of, scene_of, whole

CGS = {"length": 1e-2, "density": 1e3, "velocity": 1e-2}
COUNTED = ("bonds", "angles", "dihedrals", "impropers", "ellipsoids", "lines", "triangles", "bodies")
OF_YADE = "LIGGGHTS Description"    # first line of what yade.export.textExt writes with format = "liggghts_in"


def read_data(path, lines):
    """The spheres of a data file."""
    if lines and lines[0].strip() == OF_YADE:
        raise ExchangeError(f"{path}:1: YADE writes radii where LIGGGHTS has diameters in its format liggghts_in: "
                            "export x_y_z_r_matId, or write another first line if column 3 has diameters")
    units = re.search(r"units = (\w+)", lines[0] if lines else "")
    units = units[1] if units else "si"
    if units not in ("si", "cgs"):
        raise ExchangeError(f"{path}:1: units = {units}: only si and cgs have lengths in metres")
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
                raise ExchangeError(f"{path}:{number}: atom_style {comment.strip()}: only sphere "
                                    "(in LIGGGHTS granular) has radii")
            if section not in tables:
                left_out.append(section)
        elif section is None:
            if words[-1] == "atoms":
                count = whole(path, number, words[0])
            elif len(words) == 4 and words[2][1:] == "lo" and words[3][1:] == "hi":
                axis = "xyz".index(words[2][0])
                lower[axis], upper[axis] = numbers(path, number, words[:2])
            elif words[-3:] == ["xy", "xz", "yz"]:
                raise ExchangeError(f"{path}:{number}: the box is triclinic; boxes of scree have right angles")
            elif words[-1] in COUNTED:
                if numbers(path, number, words[:1])[0] > 0:
                    left_out.append(f"{words[0]} {words[-1]}")
        elif section in tables:
            tables[section].append((number, words))
    atoms = tables["Atoms"]
    if count is None or np.isnan([*lower, *upper]).any():
        raise ExchangeError(f"{path}: a data file has the lines \"N atoms\" and \"LOWER UPPER xlo xhi\", "
                            "also for y and z")
    if len(atoms) != count:
        raise ExchangeError(f"{path}: {len(atoms)} lines of atoms, but the head says {count}")
    if any(len(words) not in (7, 10) for _, words in atoms):
        number, words = next(row for row in atoms if len(row[1]) not in (7, 10))
        raise ExchangeError(f"{path}:{number}: id type diameter density x y z [ix iy iz] are wanted, "
                            f"not {len(words)} columns")
    table = np.array([numbers(path, number, words)[:7] for number, words in atoms]).reshape(count, 7)
    velocities = {whole(path, number, words[0]): numbers(path, number, words, 7)[1:]
                  for number, words in tables["Velocities"]}
    lines = [number for number, _ in atoms]
    ids = integers(path, lines, table[:, 0], "id")
    motion = np.array([velocities.get(i, [0.0] * 6) for i in ids.tolist()]).reshape(count, 6)
    length = scale["length"]
    return scene_of(path, {"ids": ids, "types": integers(path, lines, table[:, 1], "type"), "x": length * table[:, 4:7],
                           "radius": length * table[:, 2] / 2, "density": scale["density"] * table[:, 3],
                           "velocity": scale["velocity"] * motion[:, :3], "spin": motion[:, 3:]},
                    lower=length * lower, upper=length * upper, left_out=left_out,
                    density_error=density_error(word for _, words in atoms for word in words[2:4]))


def read_dump(path, lines):
    """The spheres of the last frame of a text dump."""
    starts = [number for number, line in enumerate(lines) if line.startswith("ITEM: TIMESTEP")]
    if not starts:
        raise ExchangeError(f"{path}: no ITEM: TIMESTEP")
    lower, upper, periodic, count, columns, first = np.full(3, np.nan), np.full(3, np.nan), None, None, None, None
    n_lines, lines = len(lines), [*lines, "", "", "", ""]    # lines that a frame lacks are not numbers
    for number in range(starts[-1], n_lines):
        line = lines[number]
        if line.startswith("ITEM: UNITS") and lines[number + 1].strip() not in ("si",):
            raise ExchangeError(f"{path}:{number + 2}: units {lines[number + 1].strip()}: dumps are taken in si")
        if line.startswith("ITEM: NUMBER OF ATOMS"):
            count = max(0, whole(path, number + 2, lines[number + 1].strip()))
        elif line.startswith("ITEM: BOX BOUNDS"):
            if "xy" in line:
                raise ExchangeError(f"{path}:{number + 1}: the box is triclinic; boxes of scree have right angles")
            periodic = tuple(word == "pp" for word in line.split()[3:6])
            bounds = [numbers(path, number + 2 + k, lines[number + 1 + k].split(), 2) for k in range(3)]
            lower, upper = np.array(bounds).T
        elif line.startswith("ITEM: ATOMS"):
            columns, first = line.split()[2:], number + 1
            break
    if count is None or columns is None or np.isnan(lower).any() or n_lines < first + count:
        raise ExchangeError(f"{path}: the last frame ends early")
    rows = rows_of(path, first + 1, lines[first:first + count], len(columns))
    table = dict(zip(columns, rows.T))

    def column(*names, wanted=None):
        name = next((name for name in names if name in table), None)
        if name is None and wanted:
            raise ExchangeError(f"{path}:{first}: the dump has no column {' or '.join(names)} ({wanted})")
        return table.pop(name) if name else None

    x = []
    for k, axis in enumerate("xyz"):
        scaled = axis not in table and axis + "u" not in table
        values = column(axis, axis + "u", axis + "s", axis + "su", wanted="centres")
        x.append(lower[k] + values * (upper[k] - lower[k]) if scaled else values)
    radius, diameter = column("radius"), column("diameter")
    if radius is None and diameter is None:
        raise ExchangeError(f"{path}:{first}: the dump has no column radius or diameter")
    radius = diameter / 2 if radius is None else radius
    density, mass = column("density"), column("mass")
    if density is None and mass is not None:
        density = mass / (4 / 3 * np.pi * radius**3)
    ids, types = column("id"), column("type")
    none = np.zeros(count)

    def vector(names):
        return np.stack([none if (values := column(name)) is None else values for name in names], 1)

    found = {"x": np.stack(x, 1), "radius": radius, "density": density, "velocity": vector(["vx", "vy", "vz"]),
             "spin": vector(["omegax", "omegay", "omegaz"])}
    places = range(first + 1, first + 1 + count)
    found["ids"] = np.arange(1, count + 1) if ids is None else integers(path, places, ids, "id")
    if types is not None:
        found["types"] = integers(path, places, types, "type")
    of_mass = [k for k, name in enumerate(columns) if name in ("radius", "diameter", "density", "mass")]
    error = density_error(words[k] for words in map(str.split, lines[first:first + count]) for k in of_mass)
    return scene_of(path, found, lower=lower, upper=upper, periodic=periodic or (False,) * 3, left_out=sorted(table),
                    density_error=error)


def write_data(results, path, frame=-1):
    """A frame of NAME.h5 as a data file for `read_data` with atom_style sphere and units si; types are those of the run, from 1
    on; velocities and spins are kept. Spheres only. Returns the path."""
    bodies, box = results.bodies(frame), results.trajectory.box
    x = bodies["position"]
    if x.shape[1] != 3:
        raise ExchangeError(f"{results.folder}: disks have no place in atom_style sphere: the run must be in 3D")
    if "shape" in bodies and np.any(bodies["shape"] != 0):
        raise ExchangeError(f"{results.folder}: bodies with shapes have no place in atom_style sphere")
    n, zero = len(x), np.zeros((len(x), 3))
    ids = bodies["id"] + 1
    types = bodies.get("type", np.zeros(n, int)) + 1
    radius, velocity, spin = bodies["radius"], bodies.get("velocity", zero), bodies.get("angular_velocity", zero)
    density = bodies["mass"] / (4 / 3 * np.pi * radius**3) if "mass" in bodies else np.ones(n)
    lines = [f"{results.name}, t = {results.trajectory.times[frame]:g} s, units = si", "",
             f"{n} atoms", f"{types.max(initial=1)} atom types", ""]
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
