"""Files of a results folder: whether one is there, the frames of a ParaView index."""
from pathlib import Path
from xml.etree import ElementTree

from scree.errors import ResultsError


def existing(path):
    """The path of a file that is there. Raises ResultsError."""
    if not path.exists():
        raise ResultsError(f"{path} does not exist")
    return path


def read_pvd(path):
    """The frames of a ParaView index as (time, path), in order of time."""
    path = existing(Path(path))
    try:
        entries = ElementTree.parse(path).getroot().iter("DataSet")
        return sorted((float(entry.get("timestep", "0")), path.parent / entry.get("file")) for entry in entries)
    except (ElementTree.ParseError, TypeError, ValueError) as error:
        raise ResultsError(f"{path} is not a ParaView index (.pvd): {error}") from error
