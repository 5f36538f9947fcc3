"""Where verifications run their decks: folders, ranks, what is read from the results."""
import csv
import fnmatch
import itertools
import json
import math
import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import BoundedSemaphore

import numpy as np

from scree.deck import Deck
from scree.errors import ResultsError
from scree.program import ask
from scree.results import Results
from scree.results.record import Trajectory
from scree.study import run
from scree.verify.grain_deck import GrainDeck


@dataclass(frozen=True)
class Bodies:
    """Bodies of a frame in the order of their ids: positions (n, D) [m], velocities (n, D) [m/s], spins (n, D or 1) [rad/s],
    masses (n,) [kg]."""
    position: np.ndarray
    velocity: np.ndarray
    spin: np.ndarray
    mass: np.ndarray


class Course:
    """What became of a deck: its Results, and frames of bodies."""

    def __init__(self, folder):
        self.results = Results(folder)
        self.certificate = self.results.certificate

    def bodies(self, frame=-1):
        """Of a frame of the trajectory; the last one is the end of the run."""
        with Trajectory(self.results.folder / "case.h5") as record:
            spin = record.field("angular_velocity", frame)
            return Bodies(record.positions(frame), record.velocities(frame), spin.reshape(len(spin), -1), record.field("mass", frame))

    def field(self, name):
        """A field of all frames of a run that keeps its bodies, (frames, bodies, ...)."""
        with Trajectory(self.results.folder / "case.h5") as record:
            return record.series(name)

    @cached_property
    def series(self):
        """All frames at once: Bodies whose arrays have the frames as their first axis. For runs that keep their bodies."""
        position, spin = self.field("position"), self.field("angular_velocity")
        return Bodies(position, self.field("velocity"), spin.reshape(*position.shape[:2], -1), self.field("mass"))

    @property
    def scalars(self):
        return self.results.scalars

    @property
    def is_solved(self):
        """Whether every step met the tolerance of the solver."""
        return bool(np.all(self.certificate["solved"][1:] == 1))


@dataclass(frozen=True)
class Extent:
    """How much of a long verification runs. `full`: also what takes hours; `n_seeds`: runs of a row, None: as many as it has; `rows`:
    patterns of names, with commas; `folder`: where its runs stay; `minutes`: of real time, then they stop."""
    full: bool = False
    n_seeds: int | None = None
    rows: str = "*"
    folder: Path | None = None
    minutes: float = math.inf

    def has(self, case, law=""):
        """Whether this row is asked for: by a pattern CASE/LAW, or by one of the case alone."""
        return any(fnmatch.fnmatch(f"{case}/{law}".lower() if "/" in pattern else case.lower(), pattern.strip().lower())
                   for pattern in self.rows.split(","))


class Laboratory:
    """Runs decks on `ranks` ranks in folders that are gone afterwards, several at a time where processors are free.
    `source`: folder with inputs/ and tests/reference/; `quick`: cases leave out what takes long."""

    def __init__(self, ranks=1, quick=False, source=".", extent=Extent()):
        self.ranks, self.quick, self.source, self.extent = ranks, quick, Path(source), extent
        self.stopped = False    # whether a run did not come to its end
        self._end = time.monotonic() + 60 * extent.minutes
        self._folder = tempfile.TemporaryDirectory(prefix="scree-verify-")
        self._numbers = itertools.count(1)
        # Several mpirun at a time get in the way of each other.
        self._at_a_time = len(os.sched_getaffinity(0)) if ranks == 1 else 1
        self._processors = BoundedSemaphore(self._at_a_time)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def run(self, deck):
        """The Course of a deck (a GrainDeck, or what scree.Deck takes). Raises RunError with the program's message."""
        return self.run_all([deck])[0]

    def run_all(self, decks):
        """The Courses of decks, in their order."""
        return list(self.each(self._run, [self._housed(deck) for deck in decks]))

    def keep(self, deck, name):
        """The Course of a deck whose run stays in the folder `name` of the extent's: what has ended is only read, what was stopped goes
        on. None where time is up before its end. Without such a folder as run(). Raises ResultsError if it is of another program."""
        if self.extent.folder is None:
            return self.run(deck)
        deck = Deck(deck)
        deck.tables.setdefault("output", {}).update(directory=str(self.extent.folder), name=name)
        with self._processors:
            before = self._before(name)
            left = self._end - time.monotonic()
            if left > 1 or before.get("status") == "done":
                results = run(deck, self.ranks, resume=True, max_wall_time=None if math.isinf(left) else max(left, 1), progress=False)
                if results.summary["status"] == "done":
                    return Course(results.folder)
            self.stopped = True
            return None

    def _before(self, name):
        """The summary of a run that stays in this folder, {} if there is none. Raises ResultsError if it is of another program."""
        path = self.extent.folder / name / "summary.json"
        summary = json.loads(path.read_text()) if path.exists() else {}
        if summary and summary["provenance"]["version"] != ask("--version").strip():
            raise ResultsError(f"{path.parent} is of another program: remove it, or take another --folder")
        return summary

    def each(self, function, items):
        """Yields function(item) in the order of the items; several are at work at a time, but no more runs than there are processors."""
        with ThreadPoolExecutor(self._at_a_time) as pool:
            yield from pool.map(function, items)

    def _housed(self, deck):
        """A deck with a folder of its own, for its files and its results."""
        folder = Path(self._folder.name) / f"run{next(self._numbers)}"
        folder.mkdir()
        deck = Deck(deck.complete(folder) if isinstance(deck, GrainDeck) else deck)
        deck.tables.setdefault("output", {}).update(directory=str(folder), name="case")
        return deck

    def _run(self, deck):
        with self._processors:
            return Course(run(deck, self.ranks, progress=False).folder)

    def file(self, name, text):
        """Path of a file that decks may name, with this text."""
        path = Path(self._folder.name) / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def table(self, name, titles):
        """Rows of a reference file of tests/reference as lists of texts, checked against its line of titles; # begins a comment."""
        path = self.source / "tests/reference" / name
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.reader(line for line in file if line.strip() and not line.startswith("#")))
        if not rows or ",".join(rows[0]) != titles:
            raise ResultsError(f"{path}: the titles are not '{titles}'")
        return rows[1:]
