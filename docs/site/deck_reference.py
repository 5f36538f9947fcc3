"""Pages of deck keys: docs/decks.md by table, with excerpts of decks and drawings; and the lists of `scree list`."""
import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import drawings
from deck_excerpts import DeckExcerpts

ROOT = Path(__file__).resolve().parents[2]
PAGES = "reference/decks"
LISTS = "reference/lists"
HEADING = re.compile(r"^(#{2,6}) (.*)$")
# `[obstacles.NAME.motion]` with `type = "swing"` (2D only)
SECTION = re.compile(r"^`(?P<table>\[.*\])`(?: with `(?P<key>\w+) = \"(?P<value>\w+)\"`)?")
# obstacles ([obstacles.NAME] type), and a row of such a list
LIST_HEADING = re.compile(r"^(?P<what>.*) \((?P<where>.*)\)$")
LIST_ROW = re.compile(r"^  (?P<name>\w+) +(?P<summary>.*)$")
# Tables by what they are about, in the order of the menu; one that is not named here comes last.
GROUPS = {
    "The run": ["simulation", "time", "domain", "stages", "neighbors", "decomposition"],
    "Bodies and walls": ["materials", "pairs", "particles", "shapes", "obstacles", "physics", "forces", "inlets",
                         "outlets"],
    "Schemes and solvers": ["nonsmooth", "dem", "pbd", "velocity", "event", "solver"],
    "Crowds": ["crowd", "walkable", "floors", "connectors", "lifts", "exits", "waypoints", "zones", "journeys", "agents",
               "populations", "sources", "navigation"],
    "Results": ["output", "analysis", "measures"],
}
LIST_TITLES = {"output": "All outputs", "scheme": "All schemes", "solver": "All contact solvers", "impact_law": "All laws of impact",
               "velocity": "All velocity fields", "forces": "All forces",
               "obstacles": "All wall shapes", "motion": "All motions of walls", "source": "All initial packings",
               "radius": "All distributions of radii"}
MAX_DECKS = 12     # that a page names


@dataclass
class Part:
    """A heading of the reference with the lines below it."""
    depth: int
    title: str
    lines: list = field(default_factory=list)

    @property
    def where(self):
        """Words of the table, then key and value of the kind, which are None if this is the table itself."""
        found = SECTION.match(self.title)
        return tuple(re.sub(r"[\[\]]", "", found["table"]).split(".")), found["key"], found["value"]

    @property
    def table(self):
        """Name of the outermost table, and of the page."""
        return self.where[0][0]

    @property
    def summary(self):
        """Its first sentence."""
        text = next((line for line in self.lines if line and not line.startswith("|")), "")
        return re.split(r"(?<=\.) ", text)[0]


class DeckReference:
    """The reference in Markdown, cut into parts. `site` is a gather.Site, `programs` the folder of the programs."""

    def __init__(self, site, reference, programs):
        self._site, self._programs = site, programs
        self._introduction, self._parts = [], []
        for line in reference.splitlines():
            heading = HEADING.match(line)
            if heading:
                self._parts.append(Part(len(heading[1]), heading[2]))
            else:
                (self._parts[-1].lines if self._parts else self._introduction).append(line)
        self._excerpts = DeckExcerpts(ROOT / "inputs")
        self._drawings = {}
        self._places = {}       # where of a part -> page and anchor

    def anchors(self):
        """Anchor in docs/decks.md -> page and anchor in the site. A heading that occurs again has a number."""
        anchors, seen_in_all, seen_in_page = {}, {}, {}
        for part in self._parts:
            anchor, page = anchor_of(part.title), f"{PAGES}/{part.table}.md"
            place = f"{page}#{_numbered(seen_in_page, page, anchor)}"
            anchors[_numbered(seen_in_all, None, anchor)] = place
            self._places.setdefault(part.where, place)
        return anchors

    def write(self):
        """Writes a page for each table, the page that lists them, and the lists of what there is."""
        self._drawings = drawings.draw_all(self._site.folder / PAGES / "drawings", self._programs / "scree")
        tables = {}
        for part in self._parts:
            tables.setdefault(part.table, []).append(part)
        for name, parts in tables.items():
            self._site.write(f"{PAGES}/{name}.md", self._page(name, parts))
        self._site.write(f"{PAGES}/index.md", self._index(tables))
        self._write_lists()

    def _page(self, name, parts):
        place = f"{PAGES}/{name}.md"
        lines = []
        for part in parts:
            lines += [f"{'#' * (part.depth - 1)} {part.title}", ""]
            table, key, value = part.where
            if part.where in self._drawings:
                drawing = self._drawings[part.where]
                lines += [f"![{drawing.text}](drawings/{drawing.name})", ""]
            lines += self._site.rewrite(Path("docs/decks.md"), place, "\n".join(part.lines)).split("\n")
            # Of a table with kinds each kind has its excerpt; tables within others are seen in theirs.
            has_kinds = any(other.where[0] == table and other.where[1] for other in parts)
            if key or table[1:] in ((), ("NAME",)) and not has_kinds:
                lines += self._example(place, *part.where)
        decks = self._excerpts.decks_with(name)
        links = ", ".join(f"[{path.name}]({self._link(path, place)})" for path in decks[:MAX_DECKS])
        more = f" and {len(decks) - MAX_DECKS} more in `inputs/`" if len(decks) > MAX_DECKS else ""
        if decks:
            lines += ["", f"**Decks with** `[{name}]`: {links}{more}."]
        return "\n".join(lines) + "\n"

    def _example(self, place, table, key, value):
        found = self._excerpts.shortest(table, key, value)
        if found is None:
            return []
        path, text = found
        return ["", f"Example, from [{path.relative_to(ROOT / 'inputs')}]({self._link(path, place)}):", "",
                "```toml", text, "```", ""]

    def _link(self, path, place):
        return os.path.relpath(self._site.place_of(path.relative_to(ROOT)), Path(place).parent)

    def _index(self, tables):
        named = {name for names in GROUPS.values() for name in names}
        groups = GROUPS | {"Other tables": sorted(tables.keys() - named)}
        introduction = self._site.rewrite(Path("docs/decks.md"), f"{PAGES}/index.md", "\n".join(self._introduction[1:]))
        lines = ["# Decks: tables and keys", "", introduction]
        for title, names in groups.items():
            names = [name for name in names if name in tables]
            if names:
                first = {name: tables[name][0] for name in names}
                lines += ["", f"## {title}", "", "| table | |", "|---|---|"]
                lines += [f"| [{_code_of(part.title)}]({name}.md) | {part.summary} |" for name, part in first.items()]
                lines += ["", "```{toctree}", ":hidden:", "", *names, "```"]
        return "\n".join(lines) + "\n"

    def _write_lists(self):
        printed = subprocess.run([self._programs / "scree", "list"], stdout=subprocess.PIPE, text=True,
                                 check=True).stdout
        names = []
        for text in filter(str.strip, re.split(r"\n(?=\S)", printed)):
            heading, *rows = filter(str.strip, text.splitlines())
            where = LIST_HEADING.match(heading)["where"]
            names.append(_page_of_list(where))
            self._site.write(f"{LISTS}/{names[-1]}.md", self._list(names[-1], where, map(LIST_ROW.match, rows)))
        self._site.write(f"{LISTS}/index.md", "\n".join(
            ["# All schemes, walls, measures", "", "What a deck can name, as `scree list` prints it.", "",
             "```{toctree}", ":maxdepth: 1", "", *names, "```", ""]))

    def _list(self, name, where, rows):
        """`where` is "[obstacles.NAME] type", "[output.NAME]" or "simulation.scheme"."""
        table, key = _table_and_key(where)
        title = LIST_TITLES.get(name, f"All {name}")
        of_key = f"Values of `{key}` in `[{table}]`." if table else f"Values of `{where}`."
        lines = [f"# {title}", "", of_key if key else f"Tables `{where}`.", ""]
        words = tuple(table.split(".")) if table else ()
        # A scheme or an output has a table of its own; other kinds are values of a key.
        kinds = {(words, key, row["name"]) if table and key else ((*words[:-1], row["name"]), None, None): row for row in rows}
        drawn = any(kind in self._drawings for kind in kinds)
        lines += ["| | | |", "|---|---|---|"] if drawn else ["| | |", "|---|---|"]
        for kind, row in kinds.items():
            place = self._places.get(kind)
            link = f"[`{row['name']}`]({os.path.relpath(place, LISTS)})" if place else f"`{row['name']}`"
            line = f"| {link} | {row['summary']} |"
            if kind in self._drawings:
                drawing = self._drawings[kind]
                line += f" ![{drawing.text}]({os.path.relpath(PAGES, LISTS)}/drawings/{drawing.name})"
            lines.append(line + (" |" if drawn else ""))
        return "\n".join(lines) + "\n"


def anchor_of(title):
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


def _numbered(seen, page, anchor):
    count = seen[page, anchor] = seen.get((page, anchor), -1) + 1
    return anchor if count == 0 else f"{anchor}-{count}"


def _code_of(title):
    return re.match(r"`[^`]*`", title)[0]


def _table_and_key(where):
    """Of "[dem] integrator" ("dem", "integrator"), of "[output.NAME]" ("output.NAME", ""), of "simulation.scheme" ("", "scheme")."""
    in_table = re.fullmatch(r"\[(.*)\] ?(\w*)", where)
    return in_table.groups() if in_table else ("", where.removeprefix("simulation."))


def _page_of_list(where):
    """Name of the page for "[obstacles.NAME] type" (obstacles), "[dem] integrator", "[output.NAME]" (output), "simulation.scheme"."""
    table, key = _table_and_key(where)
    words = [word for word in table.split(".") if word and word != "NAME"]
    return words[-1] if key in ("", "type", "distribution") else key
