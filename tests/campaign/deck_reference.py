"""What the program says about itself: the names of `scree list`, and tables, kinds, keys and units of `scree info --reference`."""
import re
import subprocess
from dataclasses import dataclass, field

import scree_program

HEADING = re.compile(r"^#+ `\[+(?P<table>[^`\]]*)\]+`(?: with `(?P<key>\w+) = \"(?P<kind>\w+)\"`)?(?: \((?P<only>[23])D only\))?$")
SAME_KINDS = re.compile(r"^Kinds, with their keys: those of \[`\[+(?P<table>[^`\]]*)\]+`\]\(#[\w-]+\)(?:, in (?P<unit>.*))?\.$")
ROW = re.compile(r"^\| `(?P<key>\w+)` \| (?P<type>.*?) \| (?P<default>.*?) \| (?P<range>.*?) \| (?P<doc>.*) \|$")
UNIT = re.compile(r"\[([^\[\]]+)\]$")
# Quantities whose unit the reference has in the text that says what they mean, or not at all.
MORE_UNITS = {"surface_tension": "N/m", "work_of_adhesion": "N/m", "volume": "m3", "noise": "m/s^0.5", "speed_slope": "m2/s",
              "weight": "m2", "density": "1/m2", "force_per_speed": "kg/s", "extinction": "1/m", "density_limit": "1/m2"}


@dataclass
class Table:
    """Keys of a table, or of one kind of it, with type and unit; `only`: 2 or 3 if it is there in 2D or in 3D only."""
    keys: dict = field(default_factory=dict)
    required: list = field(default_factory=list)
    only: int = 0


class Reference:
    def __init__(self):
        self.tables, self.kinds = {}, {}     # (path, kind or None) -> Table; (path, key) -> {kind: only}
        table = None
        for line in (_printed("info", "--reference") + _printed("info", "--reference", "--laboratory")).splitlines():
            if heading := HEADING.match(line):
                path, kind, only = heading["table"], heading["kind"], int(heading["only"] or 0)
                table = self.tables.setdefault((path, kind), Table(only=only))
                if kind:
                    self.kinds.setdefault((path, heading["key"]), {})[kind] = only
            elif (row := ROW.match(line)) and table is not None:
                types = re.split(r"; 3D: | or \"", row["type"].removeprefix("2D: "))[0]
                unit = UNIT.search(types)
                table.keys[row["key"]] = types.split(" [")[0], unit[1] if unit else MORE_UNITS.get(row["key"])
                if row["default"] == "required":
                    table.required.append(row["key"])
            elif same := SAME_KINDS.match(line):
                self._copy_kinds(same["table"], path, same["unit"], only)
        self.schemes = re.findall(r"^  (\w+)", _printed("list").split("\n\n")[0], re.MULTILINE)

    def _copy_kinds(self, source, path, unit, only):
        """Gives a table the kinds of another, whose first unit may differ."""
        for (name, key), kinds in list(self.kinds.items()):
            if name == source:
                self.kinds[path, key] = dict.fromkeys(kinds, only) if only else dict(kinds)
        of_source = [(kind, table) for (name, kind), table in self.tables.items() if name == source and kind]
        first = next((its_unit for _, table in of_source for _, its_unit in table.keys.values() if its_unit), None)
        for kind, table in of_source:
            keys = {key: (form, unit if unit and its_unit == first else its_unit) for key, (form, its_unit) in table.keys.items()}
            self.tables[path, kind] = Table(keys, list(table.required), only or table.only)

    def unit(self, path, key, values=()):
        """Unit of a key of a table of a deck, named by its words; nothing if it has none. `values` of the table say of which kind it is."""
        candidates = [table.keys[key][1] for (name, kind), table in self.tables.items()
                      if key in table.keys and (kind is None or kind in values) and _is(name.split("."), path)]
        return candidates[0] if candidates else None

    def names(self, path, key="type"):
        """Kinds of a table, {name: 2 or 3 if only there, else 0}."""
        return self.kinds[path, key]


def _is(words, path):
    return len(words) == len(path) and all(word in ("NAME", part) for word, part in zip(words, path))


def _printed(*arguments):
    return subprocess.run([scree_program.program(), *arguments], capture_output=True, text=True, check=True).stdout
