"""Covering arrays: rows of values, one of each factor or several, in which every pair of values of two factors occurs, and every
triple of the factors of a core, but for what cannot be.

A greedy generator in the manner of AETG: each row begins with a tuple that is missing, and takes, factor by factor in an order drawn
at random, the value that brings most of what is missing. Of some rows the best one is kept. The same seed gives the same rows.
"""
from dataclasses import dataclass
from itertools import combinations
from random import Random

import numpy as np

CANDIDATES = 4      # rows of which the best one is taken
SEVERAL = 5         # most values of a factor of which a row may have several


@dataclass
class Factor:
    """What a row has one value of, or (`several`) a set of."""
    name: str
    values: list        # names
    core: bool = False
    several: bool = False


class Array:
    """`refused`: sets of (factor, value) that no row may hold."""

    def __init__(self, factors, refused, seed):
        self.factors, self._random = factors, Random(f"covering {seed}")
        self.names = [(factor.name, value) for factor in factors for value in factor.values]
        self.index = {name: k for k, name in enumerate(self.names)}
        self._factor_of = [k for k, factor in enumerate(factors) for _ in factor.values]
        self._ids = [[self.index[factor.name, value] for value in factor.values] for factor in factors]
        self._first = [ids[0] for ids in self._ids]     # the values of a factor follow each other
        self._of_one = np.array([not factor.several for factor in factors])
        n = len(self.names)
        self.clash = np.zeros((n, n), bool)     # pairs that do not go together
        self.larger = []                        # larger sets that do not
        for names in refused:
            ids = [self.index[name] for name in names if name in self.index]
            if len(ids) == len(names) == 2:
                self.clash[ids[0], ids[1]] = self.clash[ids[1], ids[0]] = True
            elif len(ids) == len(names):
                self.larger.append(frozenset(ids))
        of = np.array(self._factor_of)
        self.missing = of[:, None] != of[None, :]
        core = np.array([factors[k].core for k in self._factor_of])
        self.core = np.flatnonzero(core)
        c = of[self.core]
        self.missing3 = (c[:, None, None] != c[None, :, None]) & (c[None, :, None] != c[None, None, :]) & (c[:, None, None] != c[None, None, :])
        self._place = {v: k for k, v in enumerate(self.core)}
        self.n_pairs, self.n_triples = int(self.missing.sum()) // 2, int(self.missing3.sum()) // 6
        self.n_impossible, self.n_impossible3 = 0, 0

    def __iter__(self):
        """Rows until nothing is missing that can be had."""
        while True:
            start = self._start()
            if start is None:
                return
            rows = [row for row in (self._row(start) for _ in range(CANDIDATES)) if row is not None]
            if not rows:
                rows = [row for row in [self._search(list(start))] if row is not None]
            if not rows:
                self._impossible(start)
                continue
            row = max(rows, key=self._gain)
            self._cover(row)
            yield [self.names[v] for v in sorted(row)]

    def alone(self, names):
        """A row that holds a refused set, as many defaults as may be, and no other refused set; nothing if there is none."""
        row = [self.index[name] for name in names]
        taken = {self._factor_of[v] for v in row}
        for k, factor in enumerate(self.factors):
            if k in taken or factor.several:
                continue
            fitting = [v for v in self._ids[k] if self.fits(v, row)]
            if not fitting:
                return None
            row.append(next((v for v in fitting if self._leaves_room(v, row)), fitting[0]))
        return [self.names[v] for v in sorted(row)]

    def possible(self, names):
        """Whether some row holds these values."""
        return self._search([self.index[name] for name in names]) is not None

    def counts(self):
        """Pairs and triples: covered, impossible because of what is refused, all."""
        pairs, triples = int(self.missing.sum()) // 2, int(self.missing3.sum()) // 6
        return {"pairs": self.n_pairs - pairs - self.n_impossible, "pairs refused": self.n_impossible, "pairs possible": self.n_pairs,
                "triples": self.n_triples - triples - self.n_impossible3, "triples refused": self.n_impossible3,
                "triples possible": self.n_triples}

    def _start(self):
        """A tuple that is missing: pairs first, since they show at once what else is impossible."""
        found = np.argwhere(self.missing)
        if len(found) == 0:
            found = np.argwhere(self.missing3)
            return None if len(found) == 0 else [int(self.core[v]) for v in found[self._random.randrange(len(found))]]
        return [int(v) for v in found[self._random.randrange(len(found))]]

    def _impossible(self, start):
        """Notes that no row can hold a tuple, and with a pair all triples of it."""
        if len(start) == 2:
            a, b = start
            self.clash[a, b] = self.clash[b, a] = True
            self.missing[a, b] = self.missing[b, a] = False
            self.n_impossible += 1
            if a in self._place and b in self._place:
                self._strike(self._place[a], self._place[b], slice(None))
        else:
            self._strike(*(self._place[v] for v in start))

    def _strike(self, a, b, c):
        before = int(self.missing3.sum())
        for x, y in ((a, b), (b, a)):
            self.missing3[x, y, c] = self.missing3[x, c, y] = self.missing3[c, x, y] = False
        self.n_impossible3 += (before - int(self.missing3.sum())) // 6

    def fits(self, value, row):
        """Whether a value may join."""
        if self.clash[value, row].any():
            return False
        whole = {value, *row}
        return not any(value in bad and bad <= whole for bad in self.larger)

    def _value_gain(self, value, row):
        gain = int(self.missing[value, row].sum())
        if value in self._place:
            inside = [self._place[v] for v in row if v in self._place]
            gain += int(self.missing3[self._place[value]][np.ix_(inside, inside)].sum()) // 2
        return gain

    def _gain(self, row):
        inside = [self._place[v] for v in row if v in self._place]
        return int(self.missing[np.ix_(row, row)].sum()) // 2 + int(self.missing3[np.ix_(inside, inside, inside)].sum()) // 6

    def _row(self, start):
        """A row that holds `start`, or nothing if the values chosen leave none for some factor."""
        row = list(start)
        if any(not self.fits(v, row[:k]) for k, v in enumerate(row)):
            return None
        taken = {self._factor_of[v] for v in row}
        order = [k for k in range(len(self.factors)) if k not in taken or self.factors[k].several]
        self._random.shuffle(order)
        order.sort(key=lambda k: self.factors[k].several)
        for k in order:
            if self.factors[k].several:
                self._add_several(k, row)
                continue
            fitting = [v for v in self._ids[k] if self.fits(v, row) and self._leaves_room(v, row)]
            if not fitting:
                return None
            row.append(max(fitting, key=lambda v: (self._value_gain(v, row), self._random.random())))
        return row

    def _leaves_room(self, value, row):
        """Whether each factor that is still open has a value that goes with all pairs of the row and this value."""
        together = row + [value]
        is_open = self._of_one.copy()
        is_open[[self._factor_of[v] for v in together]] = False
        return not (is_open & np.logical_and.reduceat(self.clash[together].any(axis=0), self._first)).any()

    def _add_several(self, k, row):
        chosen = [v for v in self._ids[k] if v not in row and self.fits(v, row)]
        self._random.shuffle(chosen)
        chosen.sort(key=lambda v: -self._value_gain(v, row))
        for v in chosen[:self._random.randrange(2, SEVERAL + 1)]:
            if self.fits(v, row):
                row.append(v)

    def _search(self, row, tries=20000):
        """A row that holds `row`, by going back wherever no value is left; nothing if there is none."""
        if any(not self.fits(v, row[:k]) for k, v in enumerate(row)):
            return None
        taken = {self._factor_of[v] for v in row}
        open_factors = [k for k in range(len(self.factors)) if k not in taken and not self.factors[k].several]
        left = [tries]

        def complete(row, open_factors):
            if not open_factors:
                return row
            left[0] -= 1
            if left[0] < 0:
                return None
            # The factor with the fewest values left comes first.
            choices = {k: [v for v in self._ids[k] if self.fits(v, row)] for k in open_factors}
            k = min(open_factors, key=lambda factor: len(choices[factor]))
            self._random.shuffle(choices[k])
            for v in choices[k]:
                found = complete(row + [v], [other for other in open_factors if other != k])
                if found is not None:
                    return found
            return None

        return complete(row, open_factors)

    def _cover(self, row):
        self.missing[np.ix_(row, row)] = False
        inside = [self._place[v] for v in row if v in self._place]
        self.missing3[np.ix_(inside, inside, inside)] = False


def missing_tuples(rows, array):
    """By counting, for tests: the pairs, and the triples of the core, that no row holds."""
    seen = {frozenset(tuple_) for row in rows for size in (2, 3) for tuple_ in combinations(row, size)}
    core = {factor.name for factor in array.factors if factor.core}
    pairs = [p for p in combinations(array.names, 2) if p[0][0] != p[1][0] and frozenset(p) not in seen]
    triples = [t for t in combinations([name for name in array.names if name[0] in core], 3)
               if len({name[0] for name in t}) == 3 and frozenset(t) not in seen]
    return pairs, triples
