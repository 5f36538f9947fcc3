"""Runs of decks, and parameter studies: a deck for every combination of values, with several seeds (`scree sweep`)."""
import csv
import tempfile
from pathlib import Path

import numpy as np

from scree.deck import Deck, parts_of, require_known, toml_value
from scree.errors import DeckError, ResultsError, RunError
from scree.program import start
from scree.results import Results


def run(deck, ranks=1, *, overwrite=False, resume=False, max_wall_time=None, start_from=None, progress=True):
    """Runs a deck (Deck, dict, or path of a file) and returns its Results.

    Results lie where [output] says: results/NAME in the current folder by default. `overwrite` replaces those that are
    there, `resume` goes on from their latest checkpoint. `max_wall_time` [s]: the run stops with a checkpoint; so it does at
    Ctrl-C. `start_from`: checkpoint of another run that brings the bodies. Raises RunError with the program's message.
    """
    deck = Deck(deck)
    options = ["--force"] * overwrite + ["--resume"] * resume
    if max_wall_time is not None:
        options += ["--max-wall-time", max_wall_time]
    if start_from is not None:
        options += ["--from", start_from]
    _start("run", deck, options, ranks, progress)
    return Results(Path(deck.get("output.directory", "results")) / deck.name)


def sweep(deck, vary, seeds=1, ranks=1, *, mean_after=None, overwrite=False, resume=False, progress=True):
    """Runs a deck for every combination of values, each with `seeds` runs, and returns a Sweep.

    `vary`: {key: values}, values as a list, or "FIRST:LAST:STEP" for numbers, LAST included; the last key goes fastest. What a run
    counts with is the last row of its scalars, or with `mean_after` [s] the mean over rows from then on. Results lie in
    DIRECTORY/NAME_sweep; `overwrite` and `resume` as for run(). A run that fails is left out, and RunError follows at the end.
    """
    deck = Deck(deck)
    if not vary:
        raise DeckError("sweep: `vary` needs a key at least")
    words = []
    for key, values in vary.items():
        require_known(parts_of(key), deck.tables)
        words += ["--vary", f"{key}=" + (values if isinstance(values, str) else ",".join(map(toml_value, values)))]
    words += ["--ensemble", seeds] + ["--force"] * overwrite + ["--resume"] * resume
    if mean_after is not None:
        words += ["--mean-after", mean_after]
    _start("sweep", deck, words, ranks, progress)
    return Sweep(Path(deck.get("output.directory", "results")) / f"{deck.name}_sweep")


def _start(verb, deck, words, ranks, progress):
    """Runs `scree VERB DECK WORDS`, the deck written to a folder that messages do not show."""
    with tempfile.TemporaryDirectory(prefix="scree-") as folder:
        path = deck.write(Path(folder) / f"{deck.name}.toml")
        try:
            start(verb, path, *words, ranks=ranks, progress=progress)
        except RunError as error:
            raise RunError(str(error).replace(f"{folder}/", ""), error.code) from None


class Sweep:
    """The folder of a parameter study."""

    def __init__(self, folder):
        self.folder = Path(folder)
        table = self.folder / "sweep.csv"
        if not table.exists():
            raise ResultsError(f"{folder} is not the folder of a study that has ended: there is no sweep.csv")
        with open(table, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            self.rows, titles = list(reader), reader.fieldnames
        self.keys = titles[1:titles.index("quantity")]

    @property
    def quantities(self):
        return list(dict.fromkeys(row["quantity"] for row in self.rows))

    def unit(self, quantity):
        return self._rows_of(quantity)[0]["unit"]

    def __getitem__(self, quantity):
        """Arrays with a number for each point: those of the keys (texts where they are no numbers), "mean",
        "standard_deviation", "lower_95", "upper_95" (nan with one run), "runs" and "point"."""
        rows = self._rows_of(quantity)
        columns = {"point": "point[-]", **{key: key for key in self.keys},
                   **{name: name for name in ("runs", "mean", "standard_deviation", "lower_95", "upper_95")}}
        return {name: _array(row[column] for row in rows) for name, column in columns.items()}

    def results(self, point):
        """Results of the runs of a point, by seed."""
        folders = (self.folder / f"point_{point:03}").glob("seed_*")
        return {int(folder.name.removeprefix("seed_")): Results(folder) for folder in
                sorted(folders, key=lambda folder: int(folder.name.removeprefix("seed_")))}

    def frame(self):
        """The table as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame({name: _array(row[name] for row in self.rows) for name in self.rows[0]})

    def _rows_of(self, quantity):
        rows = [row for row in self.rows if row["quantity"] == quantity]
        if not rows:
            raise ResultsError(f"no quantity {quantity!r}; there are: {', '.join(self.quantities)}")
        return rows

    def __repr__(self):
        n_points = len({row["point[-]"] for row in self.rows})
        return f"<Sweep {self.folder}: {n_points} points of {', '.join(self.keys)}; quantities {', '.join(self.quantities)}>"


def _array(texts):
    texts = list(texts)
    try:
        return np.array([float(text) if text else np.nan for text in texts])
    except ValueError:
        return np.array(texts)
