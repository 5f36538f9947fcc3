"""Exchange with other programs: their files as decks, and frames of runs as files for them.

    scene = exchange.read("packing.data")    LAMMPS, LIGGGHTS, YADE, MercuryDPM, STL, known by their content
    plan = exchange.read("station.dxf")      DXF, Vadere, JuPedSim, Pathfinder, trajectories: plans of crowds
    plan = exchange.read_building({"ground": ("ground.dxf", 0.0), "upper": ("upper.dxf", 3.5)})    a file for each floor
    exchange.write_deck(scene, folder)       NAME.toml and tables of bodies; what files do not say is left to fill in
    exchange.write_plan(plan, folder)        NAME.toml, NAME.wkt, NAME_start.csv, NAME.left_out.txt
    exchange.write_data(results, path)       a frame of a run as a data file of LAMMPS
"""
import json
from pathlib import Path

import numpy as np

from scree.errors import ExchangeError
from scree.exchange import dxf, jupedsim, jupedsim_web, lammps, mercury, pathfinder, stl, trajectory, vadere, wkt, yade
from scree.exchange.deck_writer import write_deck
from scree.exchange.lammps import write_data
from scree.exchange.mesh import is_binary_stl
from scree.exchange.plan import Plan, joined, name_of, shifted
from scree.exchange.plan_writer import left_out_text, write_plan
from scree.exchange.scene import Scene, checked

__all__ = ["FORMATS", "OPTIONS", "ExchangeError", "Plan", "Scene", "layers_of", "left_out_text", "read", "read_building",
           "write_data", "write_deck", "write_plan"]

# Of grains: readers of lines
GRAINS = {"lammps-data": lammps.read_data, "lammps-dump": lammps.read_dump, "yade": yade.read,
          "mercury-data": mercury.read_data, "mercury-restart": mercury.read_restart}
# Readers of bytes, which have options; all but STL make plans
WITH_OPTIONS = {"stl": (stl.read, ("scale", "bodies")),
                "dxf": (lambda path, content, **options: dxf.read(path, dxf.DxfOptions(**options)),
                        ("layers", "unit", "gap", "curve", "thickness", "around", "inside", "opening", "leave_open")),
                "vadere": (vadere.read, ()),
                "jupedsim-xml": (jupedsim.read, ("gap", "floor")),
                "jupedsim-web": (jupedsim_web.read, ()),
                "pathfinder": (pathfinder.read, ("plan", "frame", "unit")),
                "wkt": (wkt.read, ()),
                "trajectory": (trajectory.read, ("plan", "frame", "unit"))}
FORMATS = [*GRAINS, *WITH_OPTIONS]
OPTIONS = sorted({name for _, names in WITH_OPTIONS.values() for name in names})


def read(path, format=None, **options):
    """The scene (of grains) or the plan (of crowds) of a file. `format`: one of FORMATS, else found by the content. Options
    are those of the format: of STL `scale`, which makes lengths metres, and `bodies`, which makes closed convex solids
    bodies instead of walls; of DXF those of dxf.DxfOptions; of JuPedSim's XML `gap` and `floor` (the only one that is taken); of
    trajectories `plan` (that of another file), `frame` and `unit`. Raises ExchangeError."""
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ExchangeError(f"{path}: {error.strerror}") from error
    format = format or _format_of(path, content)
    reader, known = WITH_OPTIONS.get(format, (None, ()))
    for option in options:
        if option not in known:
            those = ", ".join(name for name, (_, names) in WITH_OPTIONS.items() if option in names)
            raise ExchangeError(f"{path}: {option.replace('_', '-')} is an option of {those or 'no format'}; this is {format}")
    if reader is not None:
        return reader(path, content, **options)
    return checked(path, GRAINS[format](path, _lines_of(content)))


def read_building(files, name="building", format=None, shifts=None, **options):
    """The plan of a building of which each floor has a file of its own: {floor: (path, elevation [m])}. `shifts`: floor: by how much
    [m, m] it is moved, so that floors lie above each other. All files are read with the same options. What joins the floors, no
    file says: the deck has a connector to fill in. Raises ExchangeError."""
    plans, shifts = {}, shifts or {}
    for floor in shifts:
        if floor not in files:
            raise ExchangeError(f"shift of {floor}: there are the floors {', '.join(files)}")
    for floor, (path, elevation) in files.items():
        if name_of(floor) != floor:
            raise ExchangeError(f"floor {floor!r}: a name is of small letters, digits and underscores, such as {name_of(floor)!r}")
        plan = read(path, format, **options)
        if not isinstance(plan, Plan) or plan.people is not None or plan.journeys or plan.populations or plan.sources or plan.floors:
            raise ExchangeError(f"{path}: is no plan of one floor: those are DXF, WKT, and XML of JuPedSim with --floor")
        plans[floor] = (float(elevation), shifted(plan, np.array(shifts[floor], float)) if floor in shifts else plan)
    heights = sorted((elevation, floor) for floor, (elevation, _) in plans.items())
    for (low, lower), (high, upper) in zip(heights, heights[1:]):
        if high <= low:
            raise ExchangeError(f"floors {lower} and {upper} have one elevation, {low:g} m")
    return joined(name, ", ".join(plan.source for _, plan in plans.values()), plans)


def layers_of(path):
    """What the layers of a DXF drawing hold, as text."""
    path = Path(path)
    if not path.is_file():
        raise ExchangeError(f"{path}: no such file")
    return dxf.layers_of(path)


def _lines_of(content):
    return content.decode("utf-8", errors="replace").splitlines()


def _format_of(path, content):
    if is_binary_stl(content):
        return "stl"
    if content.startswith(b"\x1f\x8b"):
        raise ExchangeError(f"{path}: is compressed; unpack it first (gunzip)")
    lines = _lines_of(content)
    return _format_of_plan(path, content, lines) or _format_of_grains(path, lines)


def _format_of_plan(path, content, lines):
    """The format of a plan, or None."""
    if content.startswith(b"AC10"):
        raise ExchangeError(f"{path}: is a DWG drawing: save it as DXF")
    if path.suffix.lower() in pathfinder.MODELS:
        pathfinder.refuse_model(path)
    if content.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "jupedsim-web"
    if content.startswith((b"SQLite format 3", b"\x89HDF")):
        return "trajectory"
    words = [line.strip() for line in lines[:2000] if line.strip()]
    pairs = [pair for pair in zip(words, words[1:]) if pair == ("0", "SECTION")]
    if content.startswith(b"AutoCAD Binary DXF") or (words and words[0] in ("0", "999") and pairs):
        return "dxf"
    start = words[0].lstrip("\ufeff") if words else ""
    if start.startswith("{"):
        return _format_of_json(path, content)
    if pathfinder.begins(start):
        return "pathfinder"
    if start.startswith("<"):
        return "jupedsim-xml"
    if start.upper().startswith(("POLYGON", "MULTIPOLYGON", "GEOMETRYCOLLECTION")):
        return "wkt"
    return "trajectory" if trajectory.is_text(lines) else None


def _format_of_json(path, content):
    try:
        whole = json.loads(content)
    except ValueError as error:
        raise ExchangeError(f"{path}: is no JSON file: {error}") from error
    whole = whole if isinstance(whole, dict) else {"a list": whole}
    if any(key in whole for key in jupedsim_web.MARKS):
        return "jupedsim-web"
    if pathfinder.is_json(whole):
        return "pathfinder"
    if any(key in whole for key in ("scenario", "vadere", "topography")):
        return "vadere"
    if {"type", "features"} <= set(whole) or {"type", "coordinates"} <= set(whole):
        raise ExchangeError(f"{path}: is GeoJSON, which decks take as it is: [walkable] file = \"{path.name}\"")
    keys = ", ".join(list(whole)[:5]) or "nothing"
    raise ExchangeError(f"{path}: no topography in the file (Vadere), no distributions (web-based JuPedSim), no occupants by id and time "
                        f"(Pathfinder): JSON with {keys} is of no known program")


def _format_of_grains(path, lines):
    first = next((line.split() for line in lines if line.strip()), [])
    rows = (line.split() for line in lines if line.strip() and not line.startswith("#"))
    n = len(next(rows, []))
    if first[:1] == ["ITEM:"]:
        return "lammps-dump"
    if first[:1] in (["MercuryDPM"], ["restart_version"]):
        return "mercury-restart"
    if first[:1] in (["#format"], ["##PERIODIC::"]):
        return "yade"
    if first[:1] == ["solid"] and any(line.split()[:1] == ["facet"] for line in lines[:1000]):
        return "stl"
    if path.suffix.lower() == ".stl":
        return "stl"    # damaged, its reader says how; or with lines before the first solid
    if any(line.partition("#")[0].split()[1:] == ["atoms"] for line in lines[1:100]):
        return "lammps-data"
    if n in (6, 8) and _is_row(first):
        return "mercury-data"
    if n in (4, 5) and (_is_row(first) or first[0].startswith("#")):
        return "yade"
    raise ExchangeError(f"{path}: of no known format: there are {', '.join(FORMATS)}")


def _is_row(words):
    try:
        return bool([float(word) for word in words])
    except ValueError:
        return False
