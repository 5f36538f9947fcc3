"""(f) A covering array over the deck language: decks in which every pair of features occurs, and every triple of a core. Each deck is
refused by name, as the table REFUSED of its family says, or runs with the properties below and is the same written in another way."""
import collections
import re
import shutil
import threading

import deck_reference
import grain_runs
import people_runs
from decks import toml
from harness import message_of
from rewritings import checkpoint
from same_files import same_files

NAME = "pairs"
FAMILIES = {"grains": grain_runs, "people": people_runs}
# Each deck runs on one of these besides 1, in turn; restarts run on another number again.
RANKS = (2, 3, 5)
ON_ONE_CORE = True

# What solves steps with springs to any tolerance; others may miss one of 1e-10 (docs/method.md), and the deck says what then happens.
EXACT_SPRINGS = ("nsgs", "auto", None)
UNSOLVED = "the contact problem has a residual of"

_reference, _rows, _counts = None, {}, collections.Counter()


def prepare(workshop):
    global _reference
    _reference = _reference or deck_reference.Reference()


class Rows:
    """The rows of all families for a seed, made as they are asked for."""

    def __init__(self, seed):
        self.arrays = {name: family.array(_reference, seed) for name, family in FAMILIES.items()}
        self._rows = self._alternating()
        self._made = []
        self._lock = threading.Lock()

    def _alternating(self):
        left = {name: iter(array) for name, (array, _) in self.arrays.items()}
        while left:
            for name in list(left):
                row = next(left[name], None)
                if row is None:
                    del left[name]
                else:
                    yield name, row

    def __getitem__(self, number):
        """Row `number`, or nothing if there are fewer."""
        with self._lock:
            while len(self._made) <= number:
                row = next(self._rows, None)
                if row is None:
                    return None
                self._made.append(row)
            return self._made[number]


def attempt(case):
    rows = _rows.setdefault(case.seed, Rows(case.seed)) if case.seed not in _rows else _rows[case.seed]
    if rows[case.number] is None:
        case.kind = "none left"
        return "ok"
    family, row = rows[case.number]
    case.kind = f"{family} {dict(row)['scheme']}"
    made = rows.arrays[family][1]
    deck = FAMILIES[family].deck_of(row, made, case.folder, _reference)
    (case.folder / "deck.toml").write_text(toml(deck.tables))
    (case.folder / "row.txt").write_text("".join(f"{factor} = {value}\n" for factor, value in row))
    return Trial(case, deck, FAMILIES[family]).judge()


class Trial:
    """A deck, its runs, and what they have to obey."""
    counts = _counts

    def __init__(self, case, deck, family):
        self.case, self.deck, self.family = case, deck, family
        self.has_bits = family.promises_bits(deck)
        self.solved = True

    def run(self, name, ranks=1, tables=None):
        file = "deck" if tables is None else name
        if tables is not None:
            (self.case.folder / f"{file}.toml").write_text(toml(tables))
        return self.case.run("-q", "run", f"{file}.toml", "--set", f"output.directory={name}", ranks=ranks, bare=True)

    def results(self, name):
        return self.case.folder / name / "run"

    def end(self, name):
        return checkpoint(sorted((self.results(name) / "checkpoint").glob("*.scree"))[-1])

    def judge(self):
        audited = self.family.audited(self.deck)
        whole = self.run("whole")
        if whole.code == 3 and self.deck.values["stages"] == "add":
            return "refused"        # the wall is put where bodies are
        if whole.code == 3 and UNSOLVED in whole.stderr and self.deck.values.get("solver") not in EXACT_SPRINGS:
            _counts["steps that a solver could not solve, by the deck's on_failure"] += 1
            return "ok"
        self.end_code = 5 if whole.code == 5 and self.deck.values.get("lock") == "stop" else 0
        if whole.code != self.end_code:
            self.case.finding(f"exit code {whole.code}: " + re.sub(r"-?\d[-\d.e+]*", "N", message_of(whole).split("\n")[0])[:140], whole)
            return "ok"
        _counts["ran"] += 1
        self.on_ranks(whole)
        self.restarted()
        self.written_otherwise(audited)
        return "ok"

    def on_ranks(self, whole):
        n = RANKS[self.case.number // len(FAMILIES) % len(RANKS)]
        again = self.run(f"on{n}", n)
        if self.case.same(whole, again, f"1 and {n} ranks") and self.has_bits:
            self.same_files("whole", f"on{n}", f"1 and {n} ranks")
            _counts["ranks compared"] += 1

    def same_files(self, first, second, claim):
        differing = same_files(self.results(first), self.results(second))
        if differing:
            self.case.finding(f"{claim}: other files", "\n".join(differing))

    def restarted(self):
        """A copy of the results that goes on from a checkpoint, on another number of ranks."""
        checkpoints = sorted((self.results("whole") / "checkpoint").glob("*.scree"))
        moment = {"early": 0, "middle": (len(checkpoints) - 1) // 2, "late": len(checkpoints) - 2}[self.deck.values["restart"]]
        if len(checkpoints) < 2:
            return
        chosen = checkpoints[min(moment, len(checkpoints) - 2)]
        shutil.copytree(self.case.folder / "whole", self.case.folder / "again")
        for path in checkpoints:
            if path > chosen:
                (self.results("again") / "checkpoint" / path.name).unlink()
        n = {"early": 3, "middle": 2, "late": 1}[self.deck.values["restart"]] if self.has_bits else 1
        result = self.case.run("-q", "restart", f"again/run/checkpoint/{chosen.name}", "--set", "output.directory=again", ranks=n, bare=True)
        if result.code != self.end_code:
            self.case.finding(f"a restart ends with exit code {result.code}", result)
        else:
            self.same_files("whole", "again", "a restart")
        _counts["restarts compared"] += 1

    def written_otherwise(self, audited):
        """All outputs on, with what that run has to obey, then some rewritings."""
        result = self.run("audited", tables=audited)
        if result.code != self.end_code:
            self.case.finding(f"with all outputs on: exit code {result.code}", result)
            return
        self.compare("whole", "audited", "all outputs on", True)
        start = self.family.start_of(self)
        self.family.properties(self, start)
        for name, tables, back, exact in self.family.rewritten(self, start):
            result = self.run(name, tables=tables)
            if result.code != self.end_code:
                self.case.finding(f"{name.rstrip('0123456789')}: exit code {result.code}", result)
                continue
            self.compare(self.base, name, name, exact, back)

    def compare(self, first, second, claim, exact, back=None):
        _counts["rewritings compared"] += 1
        self.family.compare(self, first, second, claim, exact, back)


def n_rows(seed):
    """How many decks the whole array has."""
    prepare(None)
    rows = _rows.setdefault(seed, Rows(seed))
    n = 0
    while rows[n] is not None:
        n += 1
    return n


def report(seed):
    """Lines for the end: what was covered, refused and compared."""
    lines = []
    for name, (array, made) in _rows[seed].arrays.items():
        counts, family = array.counts(), FAMILIES[name]
        lines.append(f"{name}: {len(array.names)} values of {len(array.factors)} features; pairs in decks {counts['pairs']} of {counts['pairs possible']}, "
                     f"refused {counts['pairs refused']}; triples of the core {counts['triples']} of {counts['triples possible']}, "
                     f"refused {counts['triples refused']}; refusals by name {len(set(map(frozenset, family.expanded(family.REFUSED, made))))}")
    return lines + [f"{number} {what}" for what, number in sorted(_counts.items())]
