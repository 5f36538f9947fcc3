"""Polygons in well-known text (OGC Simple Feature Access), the form in which decks name plans."""
import re

import numpy as np

from scree.errors import ExchangeError
from scree.exchange.outlines import without_repeats
from scree.exchange.plan import Plan, require_size, without_what_is_outside

TOKEN = re.compile(r"\s*([A-Za-z]+|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[(),])")


def read(path, content):
    """A plan whose walkable area is the polygons of a file."""
    plan = Plan(path.stem, "well-known text")
    plan.walkable = polygons_of(path, content.decode("utf-8", errors="replace"))
    require_size(path, plan, "in the deck, scale in [walkable] multiplies lengths")
    plan.notes.append("exits: the file has none; add [exits.NAME]")
    return without_what_is_outside(plan)


def polygons_of(path, text):
    """Polygons [outer, hole, ...] of POLYGON, MULTIPOLYGON, and GEOMETRYCOLLECTION of these. Raises ExchangeError."""
    words, at = [], 0
    text = text.strip()
    while at < len(text):
        found = TOKEN.match(text, at)
        if not found:
            raise ExchangeError(f"{path}: {text[at:at + 20]!r} is no well-known text")
        words.append(found[1])
        at = found.end()
    reader = _Reader(path, words)
    polygons = reader.geometry()
    if reader.at < len(words):
        raise ExchangeError(f"{path}: {words[reader.at]!r} after the end of the geometry")
    return polygons


class _Reader:
    """Reads words one after the other."""

    def __init__(self, path, words):
        self.path, self.words, self.at = path, words, 0

    def next(self, wanted=None):
        word = self.words[self.at] if self.at < len(self.words) else "the end"
        if wanted is not None and word not in wanted:
            raise ExchangeError(f"{self.path}: well-known text has {word!r} where {' or '.join(wanted)} is wanted")
        self.at += 1
        return word

    def geometry(self):
        kind = self.next().upper()
        if self.at < len(self.words) and self.words[self.at].upper() in ("Z", "M", "ZM"):
            self.at += 1
        if self.at < len(self.words) and self.words[self.at].upper() == "EMPTY":
            self.at += 1
            return []
        if kind == "POLYGON":
            return [self.polygon()]
        if kind == "MULTIPOLYGON":
            return self.list_of(self.polygon)
        if kind == "GEOMETRYCOLLECTION":
            return [polygon for polygons in self.list_of(self.geometry) for polygon in polygons]
        raise ExchangeError(f"{self.path}: {kind} is no area: POLYGON, MULTIPOLYGON and GEOMETRYCOLLECTION of these are")

    def list_of(self, item):
        self.next("(")
        items = [item()]
        while self.next((",", ")")) == ",":
            items.append(item())
        return items

    def polygon(self):
        return self.list_of(self.ring)

    def ring(self):
        ring = without_repeats(self.list_of(self.point), 0)
        if len(ring) < 3:
            raise ExchangeError(f"{self.path}: a ring with {len(ring)} corners")
        return ring

    def point(self):
        numbers = []
        while self.at < len(self.words) and self.words[self.at] not in ("(", ")", ","):
            numbers.append(self.next())
        try:
            return np.array([float(number) for number in numbers[:2]]).reshape(2)
        except ValueError:
            raise ExchangeError(f"{self.path}: {' '.join(numbers)!r} is no point") from None


def wkt_of(polygons):
    """Polygons as text that reads back to the last bit; several as a collection, as they may touch and overlap."""
    texts = ["POLYGON(" + ", ".join(_ring_text(ring) for ring in polygon) + ")" for polygon in polygons]
    return (texts[0] if len(texts) == 1 else "GEOMETRYCOLLECTION(" + ",\n".join(texts) + ")") + "\n"


def _ring_text(ring):
    return "(" + ", ".join(f"{float(x)!r} {float(y)!r}" for x, y in [*ring, ring[0]]) + ")"
