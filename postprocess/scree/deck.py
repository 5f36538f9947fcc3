"""Decks: read, changed key by key, written. The program checks them; its schema knows their keys."""
import copy
import difflib
import json
import re
import tomllib
from functools import cache
from pathlib import Path

from scree.errors import DeckError, ProgramMissing
from scree.program import ask

FILE_KEYS = ("path", "file")    # of tables that name files, which are looked for beside the deck


class Deck:
    """A deck as a tree of tables. Keys are written with dots, as for `--set`: deck["pairs.glass-glass.friction"] = 0.5.

        Deck("drum.toml")                     a file
        Deck({"simulation": {...}, ...})      tables
        Deck()                                an empty one

    Parts that hold dots or blanks stand in quotes: 'pairs."a b-c".friction'; entries of [[stages]] are numbers: "stages.0.duration".
    A key that the program does not know is refused at once, with the nearest one. Values: numbers, strings (with a unit:
    "5 ms"), booleans, lists and dicts. What numbers may be, the program says when it runs or checks the deck.
    """

    def __init__(self, source=None):
        self.path = None
        if source is None:
            self.tables = {}
        elif isinstance(source, dict):
            self.tables = copy.deepcopy(source)
        elif isinstance(source, Deck):
            self.tables, self.path = copy.deepcopy(source.tables), source.path
        else:
            self.path = Path(source)
            try:
                self.tables = tomllib.loads(self.path.read_text(encoding="utf-8"))
            except (OSError, tomllib.TOMLDecodeError) as error:
                raise DeckError(f"{source}: {error}") from error

    @property
    def name(self):
        """Of its runs: [output] name, else the name of the file."""
        given = self.tables.get("output", {}).get("name")
        return given or (self.path.stem if self.path else "deck")

    def copy(self):
        return Deck(self)

    def __getitem__(self, key):
        node = self.tables
        for part in parts_of(key):
            try:
                node = node[int(part)] if isinstance(node, list) else node[part]
            except (KeyError, IndexError, ValueError, TypeError):
                raise KeyError(key) from None
        return node

    def __setitem__(self, key, value):
        parts = parts_of(key)
        require_known(parts, self.tables)
        node = self.tables
        for part, following in zip(parts[:-1], parts[1:]):
            if isinstance(node, list):
                node = _entry_of(node, part, key)
            else:
                node = node.setdefault(part, [] if following.isdigit() and part == "stages" else {})
            if not isinstance(node, (dict, list)):
                raise DeckError(f"{key}: {part!r} is a value, not a table")
        if isinstance(node, list):
            _entry_of(node, parts[-1], key)
            node[int(parts[-1])] = copy.deepcopy(value)
        else:
            node[parts[-1]] = copy.deepcopy(value)

    def __delitem__(self, key):
        parts = parts_of(key)
        node = self[".".join(map(_quoted, parts[:-1]))] if len(parts) > 1 else self.tables
        try:
            del node[int(parts[-1]) if isinstance(node, list) else parts[-1]]
        except (KeyError, IndexError):
            raise KeyError(key) from None

    def __contains__(self, key):
        try:
            self[key]
        except KeyError:
            return False
        return True

    def __eq__(self, other):
        return isinstance(other, Deck) and self.tables == other.tables

    __hash__ = None

    def get(self, key, default=None):
        return self[key] if key in self else default

    def keys(self):
        """All keys that have a value, with dots."""
        return list(_leaves(self.tables))

    def known_keys(self, table=""):
        """What the program knows in a table, as {key: what it means}. "" is the deck itself."""
        return _described(_node_at(parts_of(table) if table else [], self.tables))

    def _ipython_key_completions_(self):
        found = self.keys()
        for table in _tables(self.tables):
            found += [f"{table}.{key}" if table else key for key in self.known_keys(table)]
        return sorted(set(found))

    def toml(self, folder=None):
        """The deck as TOML. `folder`: where it will lie, if not beside the file that it was read from: files that lie
        there are then named by their full paths."""
        tables = self.tables
        if self.path is not None and folder is not None and Path(folder).resolve() != self.path.resolve().parent:
            tables = _with_full_paths(tables, self.path.resolve().parent)
        return _toml_of(tables)

    def write(self, path):
        """Writes the deck, complete or not at all; returns the path."""
        path = Path(path)
        part = path.with_name(path.name + ".part")
        part.write_text(self.toml(path.parent), encoding="utf-8")
        part.replace(path)
        return path

    def __repr__(self):
        lines = self.toml().splitlines()
        more = [f"# ... {len(lines) - 60} lines more"] if len(lines) > 60 else []
        return "\n".join([f"# Deck {self.name}", *lines[:60], *more])


def parts_of(key):
    """The parts of a key with dots; parts in quotes may hold dots."""
    parts = re.findall(r'"([^"]*)"|\'([^\']*)\'|([^.]+)', key)
    if not parts:
        raise DeckError("an empty key")
    return [a or b or c for a, b, c in parts]


def toml_value(value):
    """A value in TOML, on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_quoted(key)} = {toml_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if hasattr(value, "tolist"):    # of numpy
        return toml_value(value.tolist())
    if isinstance(value, (int, float)):
        return repr(value)
    raise DeckError(f"{value!r} cannot stand in a deck: numbers, strings, booleans, lists and dicts can")


def require_known(parts, tables):
    """Refuses a key that no deck has, if the program is there to say so."""
    node = _schema()
    if node is None:
        return
    for depth, part in enumerate(parts):
        here = tables
        for done in parts[:depth]:
            here = here[int(done)] if isinstance(here, list) and done.isdigit() and int(done) < len(here) else \
                here.get(done, {}) if isinstance(here, dict) else {}
        below = _below(node, part, here if isinstance(here, dict) else {})
        if below is None:
            known = _described(node, here if isinstance(here, dict) else {})
            near = difflib.get_close_matches(part, known, 1, 0.5)
            hint = f"; did you mean {near[0]!r}?" if near else f"; there are: {', '.join(known)}" if known else ""
            where = ".".join(parts[:depth])
            raise DeckError(f"unknown key {part!r}{f' in [{where}]' if where else ''}{hint}")
        node = below


@cache
def _schema():
    try:
        return json.loads(ask("info", "--schema"))
    except ProgramMissing:
        return None


def _all_properties(node, here):
    """Of a table, with those of its kind where it says its `type`, else of all kinds."""
    found = dict(node.get("properties", {}))
    for rule in node.get("allOf", []):
        conditions = rule.get("if", {}).get("properties", {})
        if all(here.get(key, wanted.get("const")) == wanted.get("const") for key, wanted in conditions.items()):
            for key, below in rule.get("then", {}).get("properties", {}).items():
                found.setdefault(key, below)
    for either in node.get("anyOf", []) + node.get("oneOf", []):
        if isinstance(either, dict):
            for key, below in _all_properties(either, here).items():
                found.setdefault(key, below)
    return found


def _below(node, part, here):
    properties = _all_properties(node, here)
    if part in properties:
        return properties[part]
    if part.isdigit() and "items" in node:
        return node["items"]
    more = node.get("additionalProperties")
    if isinstance(more, dict):
        return more
    return None if properties or "items" in node or more is False or "type" in node else {}


def _node_at(parts, tables):
    node, here = _schema() or {}, tables
    for part in parts:
        node = _below(node, part, here if isinstance(here, dict) else {}) or {}
        here = here.get(part, {}) if isinstance(here, dict) else {}
    return node, here if isinstance(here, dict) else {}


def _described(node, here=None):
    node, here = node if isinstance(node, tuple) else (node, here or {})
    return {key: below.get("description", "") for key, below in _all_properties(node, here).items()
            if not below.get("doNotSuggest")}


def _entry_of(entries, part, key):
    if not part.isdigit() or int(part) > len(entries):
        raise DeckError(f"{key}: there are {len(entries)} entries, counted from 0")
    if int(part) == len(entries):
        entries.append({})
    return entries[int(part)]


def _quoted(key):
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)


def _leaves(tables, before=""):
    for key, value in tables.items():
        path = before + _quoted(key)
        if isinstance(value, dict) and value:
            yield from _leaves(value, path + ".")
        elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            for number, item in enumerate(value):
                yield from _leaves(item, f"{path}.{number}.")
        else:
            yield path


def _tables(tables, before=""):
    yield before
    for key, value in tables.items():
        if isinstance(value, dict):
            yield from _tables(value, f"{before}.{_quoted(key)}" if before else _quoted(key))


def _with_full_paths(node, folder):
    if isinstance(node, list):
        return [_with_full_paths(item, folder) for item in node]
    if not isinstance(node, dict):
        return node
    return {key: str(folder / value) if key in FILE_KEYS and isinstance(value, str) and (folder / value).is_file()
            else _with_full_paths(value, folder) for key, value in node.items()}


def _toml_of(tables):
    lines = []

    def add(path, table, head):
        values = {key: value for key, value in table.items() if not isinstance(value, dict) and not _is_array(value)}
        if values or head.startswith("[[") or (head and not table):
            lines.extend([""] * bool(lines) + [head] * bool(head))
        lines.extend(f"{_quoted(key)} = {toml_value(value)}" for key, value in values.items())
        for key, value in table.items():
            below = f"{path}.{_quoted(key)}" if path else _quoted(key)
            if isinstance(value, dict):
                add(below, value, f"[{below}]")
            elif _is_array(value):
                for item in value:
                    add(below, item, f"[[{below}]]")

    add("", tables, "")
    return "\n".join(lines) + "\n"


def _is_array(value):
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(item, dict) for item in value)
