"""The runs of a report: what is there, what is missing, and in what they differ."""
import json
import re
from functools import cached_property
from pathlib import Path

from scree.errors import ResultsError
from scree.results import Results


class Run(Results):
    """One run of a report. What cannot be read is missing, and `notes` say why: a report of half a run is a report."""

    def __init__(self, folder, label):
        super().__init__(folder)
        self.label = label
        self.notes = []

    def part(self, name):
        """An attribute of Results (`agents`, `paths`, `scalars`, ...), or None where its file is missing or broken."""
        if name not in self._parts:
            try:
                self._parts[name] = getattr(self, name)
            except (ResultsError, OSError, ValueError, KeyError, ImportError) as error:
                self._parts[name] = None
                if self._file_of(name).exists():
                    self.notes.append(f"{self._file_of(name).name} cannot be read: {_first_line(error)}")
        return self._parts[name]

    @cached_property
    def _parts(self):
        return {}

    def _file_of(self, name):
        endings = {"agents": ".agents.csv", "evacuation": ".evacuation.csv", "paths": ".trajectory.h5", "scalars": ".scalars.csv",
                   "certificate": ".certificate.csv", "trajectory": ".h5", "deck": ".resolved.toml"}
        return self.folder / ("summary.json" if name == "summary" else self.name + endings[name])

    @cached_property
    def is_crowd(self):
        return any((self.folder / f"{self.name}{ending}").exists()
                   for ending in (".evacuation.csv", ".agents.csv", ".trajectory.h5"))

    @cached_property
    def tables(self):
        """The resolved deck; {} without one."""
        return self.part("deck") or {}

    @cached_property
    def facts(self):
        """summary.json; {} without one."""
        return self.part("summary") or {}

    @property
    def has_ended(self):
        return self.facts.get("status") in ("done", "locked")

    @cached_property
    def last_time(self):
        """The last time that anything is known of [s]."""
        times = [self.facts["time_s"]] if "time_s" in self.facts else []
        for name in ("evacuation", "scalars", "certificate"):
            if not times and (table := self.part(name)) is not None and "time" in table and len(table["time"]):
                times.append(float(table["time"][-1]))
        return max(times, default=0.0)

    @property
    def end_time(self):
        return self.facts.get("end_time_s", self.tables.get("simulation", {}).get("end_time"))

    def state(self):
        """How it ended, in a sentence; empty if it ended well."""
        of = f" of {self.end_time:g} s" if self.end_time else ""
        if not self.facts:
            return (f"{self.label} has no summary.json: it still runs, or it was killed. This report shows what it had written "
                    f"by t = {self.last_time:g} s{of}.")
        if not self.has_ended:
            return f"{self.label} was stopped at t = {self.last_time:g} s{of}. This report shows the time until then."
        return ""

    @cached_property
    def version(self):
        return self.facts.get("provenance", {}).get("version", "")

    @cached_property
    def seed(self):
        return self.tables.get("simulation", {}).get("seed")

    def warnings(self, max_shown=10):
        """Warnings of its log."""
        path = self.folder / f"{self.name}.log"
        text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
        found = re.findall(r"^\S+ \S+ (?:scree: )?warning: (.*(?:\n  .*)*)", text, re.MULTILINE)
        found = list(dict.fromkeys(re.sub(r"\s+", " ", warning) for warning in found))
        return found[:max_shown] + ([f"... and {len(found) - max_shown} more in {path.name}"] if len(found) > max_shown else [])


def open_runs(folders):
    """The runs in these folders; a folder of an ensemble is all of its runs. ResultsError says what a folder is instead."""
    folders = [Path(folder) for folder in folders]
    if not folders:
        raise ResultsError("name a results folder")
    found = [run for folder in folders for run in _members(folder)]
    several_names = len({run.name for run in found}) < len(found)
    runs = []
    for folder in found:
        run = Run(folder, folder.name)
        try:
            run.name
        except ResultsError:
            if len(found) == 1:
                raise
            runs.append(None)
            continue
        runs.append(run)
    missing = [str(folder) for folder, run in zip(found, runs) if run is None]
    runs = [run for run in runs if run is not None]
    if not runs:
        raise ResultsError(f"no results of a run in any of {', '.join(missing)}")
    if several_names:
        for run, folder in zip(runs, [run.folder for run in runs]):
            run.label = str(folder)
    if missing:
        runs[0].notes.append(f"no results of a run yet in {', '.join(missing)}")
    kinds = {run.is_crowd for run in runs}
    if len(kinds) > 1:
        raise ResultsError("these folders hold runs of crowds and of grains: make a report of each")
    return runs


def _members(folder):
    if not folder.is_dir():
        raise ResultsError(f"{folder} is not a folder; give the results folder of a run, such as results/concourse")
    members = [member for member in folder.glob("seed_*") if member.is_dir()]
    members.sort(key=lambda member: (len(member.name), member.name))
    if members:
        return members
    points = sorted(member.name for member in folder.glob("point_*") if member.is_dir())
    if points:
        raise ResultsError(f"{folder} is a parameter study: give one or more of its points, such as {folder / points[0]}")
    return [folder]


def what_differs(runs):
    """{key: values of the runs, as texts} of resolved decks, without seeds and where results are written."""
    if len(runs) < 2:
        return {}
    decks = [dict(_leaves(run.tables)) for run in runs]
    keys = list(dict.fromkeys(key for deck in decks for key in deck))
    differing = {}
    for key in keys:
        if key in ("simulation.seed", "simulation.ensemble", "output.directory", "output.name"):
            continue
        values = [json.dumps(deck[key], ensure_ascii=False) if key in deck else "(not there)" for deck in decks]
        if len(set(values)) > 1:
            differing[key] = values
    return differing


def _leaves(table, before=""):
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{before}{key}.")
        else:
            yield before + key, value


def _first_line(error):
    return (str(error).splitlines() or [type(error).__name__])[0]
