"""Tables of a run: NAME.scalars.csv and others of one row per time, NAME.agents.csv of one row per person."""
import csv
import re
from pathlib import Path

import numpy as np

from scree.errors import ResultsError
from scree.results.files import existing
from scree.results.old_names import AGENT_STATES, AGENTS, CERTIFICATE, names_of_now, new_name, old_columns, report_renamed

AGENTS_TEXT = ("population", "agent_type", "exit", "level", "state")    # columns of NAME.agents.csv that are not numbers
# Columns of the scalars that say when, and how the method fared; all others are measured.
AXES = ("time", "step")
OF_THE_METHOD = ("dt", "n_bodies", "contacts", "added", "without_rebound", "residual", "solved", "spring_error", "penetration_rate", "cone_violation",
                 "complementarity", "dissipation_error", "sweeps", "iterations", "newton_steps", "krylov_iterations", "max_overlap",
                 "corrected", "correction_energy", "contact_gain", "halvings")


class Scalars:
    """A time series NAME.scalars.csv: columns by name, as a dict of arrays. The header gives each unit in brackets: time[s]."""

    def __init__(self, path):
        rows = rows_of(path)
        units = dict(map(_name_and_unit, rows[0]))
        self.units = {name: units[title] for name, title in names_of_now(units, CERTIFICATE, path).items()}
        table = np.array(rows[1:], dtype=float).reshape(len(rows) - 1, len(rows[0]))
        self._columns = dict(zip(self.units, table.T))
        self._path = path

    @property
    def names(self):
        return list(self._columns)

    def __iter__(self):
        return iter(self._columns)

    def __len__(self):
        return len(self._columns)

    def __contains__(self, name):
        return self._name_here(name) in self._columns

    def __getitem__(self, name):
        here = self._name_here(name)
        if here not in self._columns:
            raise ResultsError(f"no column {name!r}; there are: {', '.join(self._columns)}")
        if here != name:
            report_renamed(self._path, here, name)
        return self._columns[here]

    def _name_here(self, name):
        """The old name of a column, if the table has only that."""
        return next((old for old in old_columns(name) if name not in self._columns and old in self._columns), name)

    def frame(self):
        """The table as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self._columns)

    def label(self, name):
        """Name and unit, for an axis."""
        unit = self.units[self._name_here(name)]
        return name if unit == "-" else f"{name} [{unit}]"


class Agents:
    """Everybody, columns by name; `units` as in Scalars. First those who left, or were incapacitated (exit ""), in order of time;
    then, once the run has ended, those who stay, by id: their `left` is nan, and `state` says why. Text columns are lists. Loops go
    over the names; len() is the number of people."""

    def __init__(self, path):
        rows = rows_of(path)
        self.units, self._columns = {}, {}
        units = dict(map(_name_and_unit, rows[0]))
        for k, (name, title) in enumerate(names_of_now(units, AGENTS, path).items()):
            values = [row[k] for row in rows[1:]]
            if name == "state":
                values = [new_name(value, AGENT_STATES, path) for value in values]
            self.units[name] = units[title]
            self._columns[name] = values if name in AGENTS_TEXT else np.array([value or "nan" for value in values], dtype=float)
        self.n = len(rows) - 1

    @property
    def names(self):
        return list(self._columns)

    def __iter__(self):
        return iter(self._columns)

    def __contains__(self, name):
        return name in self._columns

    def __len__(self):
        return self.n

    def __getitem__(self, name):
        if name not in self._columns:
            raise ResultsError(f"no column {name!r}; there are: {', '.join(self._columns)}")
        return self._columns[name]

    @property
    def has_left(self):
        """Who left by an exit, as an array of booleans; the others stay, or were incapacitated."""
        return np.array([name != "" for name in self["exit"]], dtype=bool)

    def exits(self):
        """Names of the exits in order, each with the times at which people left by it."""
        names = np.array(self["exit"], dtype=object)
        return {name: np.sort(self["left"][names == name]) for name in sorted(set(self["exit"]) - {""})}


def read_agents(path):
    return Agents(path)


def rows_of(path):
    """The rows of a table, the titles first. A run that was killed may have left half a row at the end: it is left out."""
    with open(existing(Path(path)), newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if row]
    if not rows:
        raise ResultsError(f"{path} is empty")
    if len(rows[-1]) < len(rows[0]):
        rows.pop()
    if wrong := [number for number, row in enumerate(rows) if len(row) != len(rows[0])]:
        raise ResultsError(f"{path}: row {wrong[0]} has {len(rows[wrong[0]])} columns, the titles are {len(rows[0])}")
    return rows


def _name_and_unit(title):
    name, unit = re.fullmatch(r"\s*([^\[\]]*?)\s*(?:\[(.*)\])?\s*", title).groups()
    return name, unit or "-"
