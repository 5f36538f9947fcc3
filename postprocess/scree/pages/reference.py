"""The reference of decks, docs/decks.md and docs/decks-laboratory.md, from what `scree info --keys` prints: one table of keys per deck
section, one subsection per kind. Keys and kinds that exist in one dimension only say so; everything else stands once."""

USERS_HEAD = """\
# Deck reference

Every table and key a deck may contain, printed by the program from the same lines that read them. A deck is a
TOML file. A bare number is in SI units, which the type column names; a string may carry another unit of the
same quantity, such as `"4 mm"` or `"60 rpm"`. Unknown and repeated keys stop the run.
[combinations](combinations.md) says which of these features go with which others; keys that compare methods are in
[the laboratory](decks-laboratory.md).

"""
LABORATORY_HEAD = """\
# Deck reference: the laboratory

Keys and kinds that compare methods with each other, or reach into one, printed by the program from the same lines
that read them. A run that uses one says so in a line of its log; they may change in any version. The keys for users
are in the [deck reference](decks.md).

"""
TABLES = ("table", "optional_table", "tables", "list")
ANY_NAME = "NAME"    # stands for the name of a table [particles.NAME]
DEEPEST = 6          # levels of headings in Markdown


def deck_reference(description, laboratory) -> str:
    """The page for the laboratory, or for users, as Markdown."""
    reference = _Reference(laboratory)
    reference.describe_members(description["keys"], "", 2)
    head = LABORATORY_HEAD if laboratory else USERS_HEAD + _unit_table(description["units"]) + "\n"
    return (head + reference.text).rstrip("\n") + "\n"


def _unit_table(units) -> str:
    rows = [f"| {unit['quantity']} | {unit['symbol']} | {unit['names']} |\n" for unit in units]
    return "| quantity | SI | units a string may carry |\n|---|---|---|\n" + "".join(rows)


def _cell(text) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _sentence(text) -> str:
    """A summary or meaning such as "half-space" as a sentence."""
    if text and "a" <= text[0] <= "z":
        text = text[0].upper() + text[1:]
    return text if not text or text.endswith(".") else text + "."


def _has_laboratory(entry) -> bool:
    """Whether something in a key, table or kind is not for users."""
    return entry["for_laboratory"] or any(_has_laboratory(inner) for inner in entry.get("members", []) + entry.get("kinds", []))


def _anchor_of(title) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return "".join("-" if c == " " else c.lower() for c in title if c in " -_" or c.isascii() and c.isalnum())


def _unit_in(kinds) -> str:
    """The unit of the first number among keys; empty if none has one."""
    return next((key["unit"] for kind in kinds for key in kind["members"] if key.get("unit")), "")


class _Reference:
    def __init__(self, laboratory):
        self.text = ""
        self._laboratory = laboratory
        self._title = ""       # of the last heading
        self._lists = set()    # tables [[NAME]]
        self._first = {}       # title and unit of kinds where they stand first, by their text without table and unit

    def describe_members(self, members, path, level, all_of_them=False):
        """The keys of one table and, behind them, those of its kinds and inner tables. `all_of_them`: what surrounds them is for the
        laboratory, and so are they."""
        title = self._title
        shown = [key for key in members if self._shows(key, all_of_them)]
        keys = [key for key in shown if key["form"] not in TABLES]
        if keys:
            rows = "".join(self._row(key) for key in keys)
            self.text += f"| key | type | default | range | meaning |\n|---|---|---|---|---|\n{rows}\n"
        for key in shown:
            inner = all_of_them or self._laboratory and key["for_laboratory"]
            if key["form"] == "kind":
                self._describe_kinds(key, path, level, title, inner)
            if key["form"] in TABLES:
                self._describe_table(key, path, level, inner)

    def _shows(self, entry, all_of_them) -> bool:
        if self._laboratory:
            return all_of_them or _has_laboratory(entry)
        return not entry["for_laboratory"]

    def _row(self, key) -> str:
        # Kinds have sections of their own, which say what exists where.
        kind = "one of the kinds below" if key["form"] == "kind" else key["type"]
        return (f"| `{key['name']}` | {_cell(kind)} | {_cell(key['default'])} | {key['range']} | "
                f"{_cell(key['meaning'])}{key['where']} |\n")

    def _heading(self, level, title):
        self.text += "#" * min(level, DEEPEST) + f" {title}\n\n"
        self._title = title

    def _describe_kinds(self, key, path, level, title, all_of_them):
        """The kinds, or where they are if another table, under `title`, has the same but for the unit."""
        kinds = [kind for kind in key["kinds"] if self._shows(kind, all_of_them)]
        unit = _unit_in(kinds)
        anywhere = _Reference(self._laboratory)
        anywhere._describe_each(key, kinds, "", 1, all_of_them)
        text = anywhere.text.replace(f" [{unit}]", "") if unit else anywhere.text
        text = text.replace(" (2D only)", "")
        if text not in self._first:
            self._first[text] = title, unit
            return self._describe_each(key, kinds, path, level, all_of_them)
        other, its_unit = self._first[text]
        self.text += (f"Kinds, with their keys: those of [{other[:other.rfind('`') + 1]}](#{_anchor_of(other)})"
                      + ("" if its_unit == unit or not unit else f", in {unit}") + ".\n\n")

    def _describe_each(self, key, kinds, path, level, all_of_them):
        for kind in kinds:
            self._heading(level, f"`{self._header(path)}` with `{key['name']} = \"{kind['name']}\"`{kind['where']}")
            self.text += _sentence(kind["summary"]) + "\n\n"
            self.describe_members(kind["members"], path, level + 1, all_of_them or self._laboratory and kind["for_laboratory"])

    def _describe_table(self, table, path, level, all_of_them):
        inner = f"{path}.{table['name']}" if path else table["name"]
        about = _sentence(table["meaning"])
        header = f"[{inner}.{ANY_NAME}]"
        if table["form"] == "list":
            self._lists.add(inner)
            header = self._header(inner)
            about += " Any number of tables, in order" + ("; at least one is required" if table["required"] else "") + "."
        elif table["form"] == "tables":
            inner += "." + ANY_NAME
            about += (" Any number of tables, each with a name of your choice"
                      + ("; at least one is required" if table["required"] else "") + ".")
        else:
            header = self._header(inner)
            about += " Required." if table["required"] else ""
            about += " Has an effect only if it is given." if table["form"] == "optional_table" else ""
        self._heading(level, f"`{header}`{table['where']}")
        self.text += about + "\n\n"
        self.describe_members(table["members"], inner, level + 1, all_of_them)

    def _header(self, path) -> str:
        """How a deck opens the table `path`."""
        return f"[[{path}]]" if path in self._lists else f"[{path}]"
