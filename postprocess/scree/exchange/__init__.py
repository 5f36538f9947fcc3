"""Exchange with other programs: their files as decks, and frames of runs as files for them.

    scene = exchange.read("packing.data")    LAMMPS, LIGGGHTS, YADE, MercuryDPM, STL, told apart by their content
    exchange.write_deck(scene, folder)       NAME.toml and tables of bodies; what files do not tell is left to fill in
    exchange.write_data(results, path)       a frame of a run as a data file of LAMMPS
"""
from pathlib import Path

from scree.exchange import lammps, mercury, stl, yade
from scree.exchange.deck_writer import write_deck
from scree.exchange.lammps import write_data
from scree.exchange.mesh import is_binary_stl
from scree.exchange.scene import ExchangeError, Scene, checked

__all__ = ["FORMATS", "ExchangeError", "Scene", "read", "write_data", "write_deck"]

FORMATS = {"lammps-data": lammps.read_data, "lammps-dump": lammps.read_dump, "yade": yade.read,
           "mercury-data": mercury.read_data, "mercury-restart": mercury.read_restart, "stl": stl.read}


def read(path, format=None, scale=1.0, bodies=False):
    """The scene of a file. `format`: one of FORMATS, else found by the content. For STL: `scale` makes lengths metres,
    `bodies` makes closed convex solids bodies instead of walls. Raises ExchangeError."""
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ExchangeError(f"{path}: {error.strerror}") from error
    lines = content.decode("utf-8", errors="replace").splitlines()
    format = format or _format_of(path, content, lines)
    if format == "stl":
        return stl.read(path, content, scale, bodies)
    if scale != 1 or bodies:
        raise ExchangeError(f"{path}: only STL files are scaled or taken as bodies; this is {format}")
    return checked(path, FORMATS[format](path, lines))


def _format_of(path, content, lines):
    if is_binary_stl(content):
        return "stl"
    if content.startswith(b"\x1f\x8b"):
        raise ExchangeError(f"{path}: is compressed; unpack it first (gunzip)")
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
    if any(line.partition("#")[0].split()[1:] == ["atoms"] for line in lines[1:100]):
        return "lammps-data"
    if n in (6, 8) and _is_row(first):
        return "mercury-data"
    if n in (4, 5) and (_is_row(first) or first[0].startswith("#")):
        return "yade"
    if path.suffix.lower() == ".stl":
        return "stl"    # damaged; its reader says how
    raise ExchangeError(f"{path}: of no known format: there are {', '.join(FORMATS)}")


def _is_row(words):
    try:
        return bool([float(word) for word in words])
    except ValueError:
        return False
