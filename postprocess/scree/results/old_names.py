"""Names that results of the version before have: they are read as the names of now, and one line on standard error says so."""
import re
import sys
from functools import cache
from pathlib import Path


def _lines_of(file):
    """The lines of a .def file beside this one: lists of texts."""
    lines = re.findall(r"^SCREE_RENAME\w*\((.*)\)$", Path(__file__).with_name(file).read_text(), re.MULTILINE)
    return [re.findall(r'"([^"]*)"', line) for line in lines]


def _results(of):
    return {before: now for place, before, now in _lines_of("renamed_results.def") if place == of}


# Old names and those of now. Of a name with dots what is before the last dot leads to it; a star stands for any name.
DECK = {f"{table}.{before}".lstrip("."): now for table, before, now, key in _lines_of("renamed_keys.def") if now and not key}
CERTIFICATE, AGENTS, AGENT_STATES, BODIES, NUMBERS, CONTACTS, TIMERS = map(
    _results, ("certificate", "agents", "states", "bodies", "numbers", "contacts", "timers"))
SUMMARY = _results("summary") | {f"{table}.{before}": now for before, now in CERTIFICATE.items()
                                 for table in ("certificate_of_last_step", "certificate_worst", "evacuation.certificate_worst")}


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
                report_renamed(file, old, new)
    return tables


def names_of_now(names, renames, file):
    """The names of a file as they are now, in their order: {now: as the file has it}. `renames`: one of the tables above. Old names are
    replaced one after the other, unless the file has the new one as well."""
    found = {name: name for name in names}
    for before, now in renames.items():
        pattern = re.compile("(.*)".join(map(re.escape, before.split("*"))))
        for name in list(found):
            if match := pattern.fullmatch(name):
                new = now.replace("*", match[1]) if "*" in now else now
                if new not in found:
                    report_renamed(file, name, new)
                    found = {new if key == name else key: stored for key, stored in found.items()}
    return found


def summary_with_new_names(summary, file):
    """The contents of a summary.json with the names of now, of its keys and of its timers."""
    summary = with_new_names(summary, SUMMARY, file)
    for timer in summary.get("timers", []):
        timer["name"] = new_name(timer["name"], TIMERS, file)
    return summary


def new_name(name, names, file):
    """The name of now of a value of a file, by one of the tables above."""
    if name in names:
        report_renamed(file, name, names[name])
    return names.get(name, name)


@cache
def report_renamed(file, old, new):
    """Says once that `file` has an old name."""
    print(f"scree: {file}: '{old}' is now called '{new}'; the next version will not know the old name", file=sys.stderr)


def _tables_at(tables, path):
    """The tables that a path with stars leads to."""
    found = [tables]
    for name in path:
        inner = [table[key] for table in found for key in (table if name == "*" else [name]) if key in table]
        found = [table for table in inner if isinstance(table, dict)]
    return found
