"""Excerpts of decks: the lines of a deck that hold a table, found by what the table says."""
import re
import tomllib

HEADER = re.compile(r"^\[\[?(?P<path>[^\]]+)\]\]?\s*(#.*)?$")
WORD = re.compile(r"\"([^\"]*)\"|([\w-]+)")
LONGEST = 40        # lines of an excerpt
# Folders of inputs/ that examples are taken from first, in this order.
FOLDERS = ["granular", "convex", "crowd"]


class DeckExcerpts:
    """The decks below a folder."""

    def __init__(self, folder):
        rank = {name: place for place, name in enumerate(FOLDERS)}
        paths = sorted(folder.glob("*/*.toml"), key=lambda path: (rank.get(path.parent.name, len(rank)), path))
        self._decks = [_Deck(path) for path in paths]

    def decks_with(self, table):
        """Paths of the decks that have the table of this name."""
        return [deck.path for deck in self._decks if table in deck.content]

    def shortest(self, table, key=None, value=None):
        """Path and text of the shortest excerpt with a table; with a key, of one that has this value there.

        `table` are the words of its name; NAME stands for any name. None if no deck has the table.
        """
        found = []
        for place, deck in enumerate(self._decks):
            for path in deck.paths_of(table, key, value):
                text = deck.excerpt(path)
                if text.count("\n") < LONGEST:
                    found.append((deck.path.parent.name not in FOLDERS, len(text), place, deck.path, text))
        return min(found)[3:] if found else None


class _Deck:
    def __init__(self, path):
        self.path = path
        self._lines = path.read_text().splitlines()
        self.content = tomllib.loads(path.read_text())

    def paths_of(self, table, key, value):
        """Names of the tables that `table` stands for, in this deck."""
        return [path for path, node in _walk(self.content, (), table) if key is None or node.get(key) == value]

    def excerpt(self, path):
        """The lines of the innermost [table] that holds this one, and of the tables within it."""
        headers = [(number, tuple(a or b for a, b in WORD.findall(HEADER.match(line)["path"])))
                   for number, line in enumerate(self._lines) if HEADER.match(line)]
        names = {name for _, name in headers}
        outer = next((path[:length] for length in range(len(path), 0, -1) if path[:length] in names), path[:1])
        ends = [number for number, _ in headers[1:]] + [len(self._lines)]
        pieces = []
        for (start, name), end in zip(headers, ends):
            if name[:len(outer)] == outer:
                pieces.append(self._block(start, end))
        return "\n\n".join(pieces)

    def _block(self, start, end):
        """A table from its header to the next one. Comments right above a header belong to its table."""
        first = start
        while first > 0 and self._lines[first - 1].startswith("#"):
            first -= 1
        if first > 0:           # the words at the head of the deck are about all of it
            start = first
        while end > start and (not self._lines[end - 1].strip() or self._lines[end - 1].startswith("#")):
            end -= 1
        return "\n".join(self._lines[start:end])


def _walk(node, path, table):
    """Tables below `node` with the names `table`, each with its path in the deck."""
    if isinstance(node, list):
        for element in node:
            yield from _walk(element, path, table)
        return
    if not isinstance(node, dict):
        return
    if not table:
        yield path, node
        return
    for name in (list(node) if table[0] == "NAME" else [table[0]]):
        if name in node:
            yield from _walk(node[name], (*path, name), table[1:])
