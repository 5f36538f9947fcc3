"""What a verification holds against its results: counted checks, and tables of rows.

A bound is written down before results are seen and stays. A row that is known not to hold has a mark, `missed`: why. It is shown as missed,
with its numbers, and fails nothing; but where it holds nevertheless, the check fails until the mark is gone."""
import csv
import io
from dataclasses import dataclass

import numpy as np

from scree.verify.numbers import residue, shortest


class Checks:
    """Counts checks and keeps a table as CSV; `show` gets the lines of the report. `titles`: first row of the table."""

    def __init__(self, show, titles=()):
        self.show = show
        self.failures = []
        self.missed = []
        self.n_checks = 0
        self._text = io.StringIO()
        self._table = csv.writer(self._text, lineterminator="\n")
        if titles:
            self._table.writerow(titles)

    def count(self, holds, failure, missed=""):
        """A check that is only reported if it fails, or if it is known to: `missed` says why."""
        self.n_checks += 1
        if missed and holds:
            self.failures.append(f"{failure}: holds now, but is marked as missed: {missed}")
        elif missed:
            self.missed.append(f"{failure}: {missed}")
        elif not holds:
            self.failures.append(failure)

    def require(self, what, value, least, most):
        """A check with a line of its own."""
        holds = least <= value <= most
        line = f"{what} = {value:.4f}, expected {least:g} to {most:g}"
        self.show(f"{'ok    ' if holds else 'FAILED'} {line}")
        self.count(holds, line)

    def record(self, *values):
        """A row of the table; numbers with all their digits."""
        self._table.writerow([shortest(value) if isinstance(value, float) else value for value in values])

    def finish(self, path=None):
        """Writes the table, if a path is given, and prints what is missed and what failed; returns whether nothing failed."""
        if path:
            with open(path, "w", encoding="utf-8") as file:
                file.write(self._text.getvalue())
        for row in self.missed:
            self.show("MISSED " + row)
        for failure in self.failures:
            self.show("FAILED " + failure)
        if self.n_checks:
            parts = [f"{len(rows)} {word}" for rows, word in ((self.missed, "missed as known"), (self.failures, "failed")) if rows]
            self.show(f"{self.n_checks} checks, " + (", ".join(parts) or "all hold") + ("" if self.failures or not parts else ", all others hold"))
        return not self.failures


@dataclass
class Row:
    """A number that a case is held against. `error` is |found - expected| unless given, in the unit of the quantity. `missed`: why it is
    known not to hold."""
    quantity: str      # with its unit
    variant: str       # of the case
    expected: float
    found: float
    bound: float       # of the error
    error: float = None
    missed: str = ""
    is_residue: bool = False    # 0 but for what solvers leave

    def __post_init__(self):
        if self.error is None:
            self.error = abs(self.found - self.expected)

    @property
    def holds(self):
        return self.error <= self.bound

    @property
    def shown(self):
        """The number and its error in the report."""
        return [residue(value, self.bound) if self.is_residue else value for value in (self.found, self.error)]

    @property
    def share(self):
        """Share of its bound that the error takes."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.float64(self.error) / np.float64(self.bound)


class CaseTable(Checks):
    """The rows of all cases: of each quantity of a case the worst is shown, all are kept as CSV."""

    def __init__(self, show, what):
        super().__init__(show, ("case", "variant", "quantity", "expected", "found", "error", "bound", "holds"))
        show(what + "; of each quantity the row with the largest share of its bound.\n")
        show(f"{'case':<26} {'quantity':<27} {'rows':>4} {'worst':<24} {'expected':>11} {'found':>11} {'error':>8} {'bound':>8}")

    def add(self, case, rows):
        """All rows of a case at once."""
        groups = {}
        for row in rows:
            self.record(case, row.variant, row.quantity, row.expected, row.found, row.error, row.bound,
                        "yes" if row.holds else "missed" if row.missed else "no")
            self.count(row.holds, f"{case}, {row.variant}: {row.quantity} = {row.found:.12g}, expected {row.expected:.12g} "
                                  f"within {row.bound:.2g}", row.missed)
            groups.setdefault(row.quantity, []).append(row)
        for quantity, group in groups.items():
            worst = group[0]
            for row in group[1:]:
                if not row.share <= worst.share:    # not "greater": a number that is none must show
                    worst = row
            found, error = worst.shown
            self.show(f"{case:<26} {quantity:<27} {len(group):>4} {worst.variant:<24} {worst.expected:>11.6g} "
                      f"{found:>11.6g} {error:>8.1e} {worst.bound:>8.1e}")

    def demand(self, case, holds, failure):
        """A fact about the case that makes it the test it is meant to be."""
        self.count(holds, f"{case}: {failure}")

    def run(self, laboratory, cases):
        """Runs cases, functions of a laboratory and a table, several at a time; their rows come in the order of the cases."""
        for calls in laboratory.each(lambda case: _Rows.of(case, laboratory), cases):
            for name, arguments in calls:
                getattr(self, name)(*arguments)


def verify_groups(title, groups, laboratory, group, csv, show):
    """Runs the cases of one of the groups, or of "all": {group: functions that return the cases for a laboratory}. Returns whether all
    checks hold."""
    table = CaseTable(show, title)
    for name, lists in groups.items():
        if group in ("all", name):
            table.run(laboratory, [case for cases in lists for case in cases(laboratory)])
    show("")
    return table.finish(csv)


class _Rows:
    """Stands for a table while a case runs: keeps the calls."""

    def __init__(self):
        self.calls = []

    @classmethod
    def of(cls, case, laboratory):
        rows = cls()
        case(laboratory, rows)
        return rows.calls

    def add(self, *arguments):
        self.calls.append(("add", arguments))

    def demand(self, *arguments):
        self.calls.append(("demand", arguments))
