"""Names that results of the version before have: they are read as the names of now, and one line on standard error says so."""
import re
import sys
from functools import cache
from pathlib import Path


def _deck():
    """The keys of renamed_keys.def, as the tables below have them."""
    lines = re.findall(r'^SCREE_RENAME\("(.*)", "(.*)", "(.*)", "(.*)"\)$', Path(__file__).with_name("renamed_keys.def").read_text(), re.MULTILINE)
    return {f"{table}.{before}".lstrip("."): now for table, before, now, key in lines if now and not key}


DECK = _deck()
# One line per name; remove a line in the version after the one that brought it. A name with dots is a path; a star stands for any name.
SUMMARY = {"feeders": "inlets",
           "bodies_in_sinks": "bodies_in_outlets",
           "list_builds": "list_rebuilds",
           "load.pairs_by_phase": "pairs_by_colour",
           "communication.hand_overs": "halo_transfers",
           "certificate_of_last_step.overlap": "max_overlap",
           "certificate_worst.overlap": "max_overlap",
           "evacuation.certificate_worst.overlap": "max_overlap"}
SCALARS = {"overlap": "max_overlap"}     # and certificates
AGENTS = {"kind": "agent_type",
          "walks_from": "premovement_end",
          "party": "group",
          "party_waited": "group_waited"}
AGENT_STATES = {"no way": "no route"}
CONTACTS = {"force": "normal_force",
            "friction": "tangential_force"}
TIMERS = {"ways": "floor_field",
          "fill": "packing",
          "stress of the cell": "stress of the domain"}


def old_columns(name):
    """What versions before called a column of the scalars, if it counts the bodies of a measure: NAME_bodies, NAME_bodies_inside."""
    counted = re.fullmatch(r"(.+)_n_bodies(_\d+)?", name)
    return [f"{counted[1]}_bodies{counted[2] or ''}", f"{counted[1]}_bodies_inside"] if counted else []


def with_new_names(tables, names, file):
    """Nested tables of `file` with the names of now, by one of the tables above. Changes and returns `tables`."""
    for path, new in names.items():
        *outer, old = path.split(".")
        for table in _tables_at(tables, outer):
            if old in table and new not in table:
                table[new] = table.pop(old)
                tell(file, old, new)
    return tables


def summary_with_new_names(summary, file):
    """The contents of a summary.json with the names of now, of its keys and of its timers."""
    summary = with_new_names(summary, SUMMARY, file)
    for timer in summary.get("timers", []):
        timer["name"] = new_name(timer["name"], TIMERS, file)
    return summary


def new_name(name, names, file):
    """The name of now of a column, or of whatever `names`, one of the tables above, has."""
    if name in names:
        tell(file, name, names[name])
    return names.get(name, name)


@cache
def tell(file, old, new):
    """Says once that `file` has an old name."""
    print(f"scree: {file}: '{old}' is now called '{new}'; the next version will not know the old name", file=sys.stderr)


def _tables_at(tables, path):
    """The tables that a path with stars leads to."""
    found = [tables]
    for name in path:
        inner = [table[key] for table in found for key in (table if name == "*" else [name]) if key in table]
        found = [table for table in inner if isinstance(table, dict)]
    return found
