"""Whether two runs left the same files: same_files(first, second) names those that differ. For runs that should be one: on other
ranks, or stopped and gone on with.

What may differ: logs, times, loads and messages in the summary, command lines and dates, which checkpoints there are beside the
last, and in frames for ParaView the order of bodies and their rank.
"""
import json
import re
from pathlib import Path

import numpy as np

import scree_program
from scree_program import Process

LEFT_OUT = re.compile(r"\.log$|(^|/)(\.scree-lock|checkpoint/.*|summary\.json)$|\.resolved\.toml$|\.pvt[pi]$")
WALL_TIMES = re.compile(r"wall_[^,]*")      # columns of tables
# Of the summary: what a run came to, not how it was computed.
RESULTS = ["name", "title", "status", "exit_code", "dimension", "bodies", "bodies_in_outlets", "steps", "time_s", "end_time_s",
           "state_hash", "certificate_of_last_step", "inlets", "evacuation"]
OF_THE_PART = ["certificate_worst"]         # entries within them that count since the last restart


def same_files(first, second, but=()) -> list:
    """Differences of two results folders, one line each, with the name of the file. `but`: entries of summaries that may differ
    as well."""
    first, second = Path(first), Path(second)
    names = [{str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} for folder in (first, second)]
    found = [f"{name}: only in {first if name in names[0] else second}" for name in sorted(names[0] ^ names[1])
             if not LEFT_OUT.search(name)]
    for name in sorted(names[0] & names[1]):
        if LEFT_OUT.search(name) or (first / name).read_bytes() == (second / name).read_bytes():
            continue
        if difference := _difference(first / name, second / name):
            found.append(f"{name}: {difference}")
    for summary in sorted({path.relative_to(folder).parent for folder in (first, second) for path in folder.rglob("summary.json")}):
        found += _of_checkpoints(first / summary, second / summary) + _of_summaries(first / summary, second / summary, but)
    return found


def _difference(first, second) -> str:
    """In words; empty if there is none that counts."""
    if first.suffix in (".h5", ".hdf5"):
        return _compared(first, second)
    if first.suffix == ".vtp":
        return _of_frames(first, second)
    if first.suffix == ".csv":
        a, b = _rows(first), _rows(second)
        row = next((k for k, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        return "" if a == b else f"row {row}: {a[row] if row < len(a) else 'none'}, {b[row] if row < len(b) else 'none'}"
    return "other bytes"


def _compared(first, second) -> str:
    result = Process([scree_program.program("scree"), "compare", first, second], None).finish()    # mpirun would take a third of the time
    lines = [line for line in result.stdout.splitlines() + result.stderr.splitlines() if "bitwise equal" not in line]
    return "" if result.code == 0 else " / ".join(lines[:6]) or f"`scree compare` ended with exit code {result.code}"


def _rows(path) -> list:
    """The lines of a table, without columns of wall time."""
    rows = [line.split(",") for line in path.read_text().splitlines()]
    kept = [k for k, title in enumerate(rows[0]) if not WALL_TIMES.match(title)] if rows else []
    return [",".join(row[k] for k in kept if k < len(row)) for row in rows]


def _of_frames(first, second) -> str:
    """Points, or lines and triangles, with their fields, in any order."""
    from scree.results.poly_data import read_poly_data
    a, b = read_poly_data(first), read_poly_data(second)

    def sorted_rows(data, cells):
        fields = data.cell_fields if len(cells) else data.point_fields
        places = data.points[cells].reshape(len(cells), -1) if len(cells) else data.points
        columns = [places] + [fields[name].reshape(len(places), -1) for name in sorted(fields) if name != "rank"]
        rows = np.hstack([np.asarray(column, float) for column in columns])
        return rows[np.lexsort(rows.T)]

    for what in ("points", "lines", "triangles"):
        if what == "points" and (len(a.lines) or len(a.triangles)):
            continue
        none = np.empty((0, 1), int)
        rows = [sorted_rows(data, getattr(data, what) if what != "points" else none) for data in (a, b)
                if what == "points" or len(getattr(data, what))]
        if len(rows) == 1 or (rows and (rows[0].shape != rows[1].shape or rows[0].tobytes() != rows[1].tobytes())):
            return f"other {what}"
    return ""


def _of_checkpoints(first, second) -> list:
    """Of the last ones."""
    last = [max(folder.glob("checkpoint/*.scree"), default=None) for folder in (first, second)]
    if None in last:
        return [] if last[0] == last[1] else ["checkpoint: only one run has any"]
    if last[0].name != last[1].name:
        return [f"checkpoint: the last ones are {last[0].name} and {last[1].name}"]
    difference = _compared(*last)
    return [f"checkpoint/{last[0].name}: {difference}"] if difference else []


def _of_summaries(first, second, but) -> list:
    paths = [folder / "summary.json" for folder in (first, second)]
    if not all(path.is_file() for path in paths):
        return [] if not any(path.is_file() for path in paths) else ["summary.json: only one run has it"]
    a, b = (_without(json.loads(path.read_text())) for path in paths)
    return [f"summary.json: {key} is {a.get(key)} and {b.get(key)}" for key in RESULTS
            if key not in but and a.get(key) != b.get(key)]


def _without(entry):
    """A part of a summary without what counts since the last restart."""
    if not isinstance(entry, dict):
        return entry
    return {key: _without(value) for key, value in entry.items() if key not in OF_THE_PART}
