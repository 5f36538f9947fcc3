"""How two runs of one deck differ: their ends, messages, tables, frames, checkpoints and summaries, where a table of renames says
which names are other ones now.

    [columns]                                 # of tables, without units
    "bodies_in_sinks" = "bodies_in_outlets"
    [fields]                                  # of HDF5 files and of frames for ParaView; attributes too
    "walks_from" = "premovement_end"
    [summary]                                 # keys of summary.json
    "load.pairs_by_phase" = "load.pairs_by_colour"
    [files]                                   # paths in the results folder
    "*.queues.csv" = "*.lines.csv"
    [deck]                                    # keys of NAME.resolved.toml
    "inlets.*.number" = "inlets.*.count"
    [words]                                   # in texts: messages, cells, values, names of timers
    "feeder" = "inlet"

A name stands for the whole name; of a path, without its separator, for each part of it. A star stands for anything, and for the same in
the new name. A row may hold for some files only, by their names of now: "*_contacts_*.vtp::force". Numbers of a checkpoint are fields, too:
"/numbers/time". renames.toml has the rows of this version. What was recorded is renamed and then
has to be what is there now, name for name and bit for bit: an old word that is left, a new one without a row, and a row that nothing needs
are differences.
"""
import fnmatch
import json
import re
import tomllib
from pathlib import Path

import numpy as np

SEPARATORS = {"columns": None, "fields": "/", "summary": ".", "files": "/", "deck": ".", "words": None}
LEFT_OUT = re.compile(r"\.log$|(^|/)\.scree-(lock|results)$|\.deck\.toml$")     # times, hosts, and what the run was given
WALL_TIMES = re.compile(r"wall_")                # columns that differ from run to run
# Of summaries: what the machine and the clock say, and who wrote it. Of timers only their names and depths are compared.
MEASURED = re.compile(r"wall_s|peak_memory_mib|output_(mb|s)|provenance\..*|timers\.\d+\.(calls|\w+_s)|load\.(computing\..*|\w+_s)")
OF_RANKS = re.compile(r"imbalance|load\..*|communication\..*|rebalances|bodies_migrated|timers\..*")    # on several ranks
FRAMES = (".vtp", ".vti", ".pvtp", ".pvti", ".pvd")     # for ParaView
NOT_THE_RESULT = re.compile(r"/(provenance|parameters)([/@]|$)|@checksum$|^@version$|/creator@version$")     # of HDF5 files


class Renames:
    """Old names and new ones by place (see above); remembers which rows were needed."""

    def __init__(self, table=None):
        self.rows = {place: dict(rows) for place, rows in (table or {}).items()}
        if unknown := set(self.rows) - set(SEPARATORS):
            raise ValueError(f"no table of renames is [{unknown.pop()}]; there are: {', '.join(SEPARATORS)}")
        self.used = set()
        self.file = ""      # that is compared, as it is called now

    @classmethod
    def read(cls, path):
        return cls(tomllib.loads(Path(path).read_text()))

    def name(self, place, name):
        """The name as it is called now."""
        separator = SEPARATORS[place]
        for row, old, new in self._rows_of(place):
            if separator and separator not in old:
                name = separator.join(self._renamed(place, row, old, new, part) for part in name.split(separator))
            else:
                name = self._renamed(place, row, old, new, name)
        return name

    def text(self, text):
        """A text with the words of now."""
        for row, old, new in self._rows_of("words"):
            text, n_found = re.subn(rf"(?<!\w){re.escape(old)}(?!\w)", new.replace("\\", r"\\"), text)
            if n_found:
                self.used.add(("words", row))
        return text

    def unused(self):
        return [f"[{place}] {old}: nothing recorded has this name" for place, rows in self.rows.items() for old in rows
                if (place, old) not in self.used]

    def _rows_of(self, place):
        """(row, old, new) of those that hold for the file."""
        for row, new in self.rows.get(place, {}).items():
            files, _, old = row.rpartition("::")
            if not files or fnmatch.fnmatch(self.file, files):
                yield row, old, new

    def _renamed(self, place, row, old, new, name):
        found = re.fullmatch("(.*)".join(map(re.escape, old.split("*"))), name)
        if not found:
            return name
        self.used.add((place, row))
        kept = iter(found.groups())
        return re.sub(r"\*", lambda _: next(kept, ""), new)


def differences(before, now, renames, ranks=1):
    """Differences of two folders of runs, one line each: end.json and the results below."""
    before, now = Path(before), Path(now)
    found = _of_ends(before / "end.json", now / "end.json", renames)
    files = {renames.name("files", name): path for name, path in _files_of(before, ranks).items()}
    files_now = _files_of(now, ranks)
    found += [f"{name}: only {'before' if name in files else 'now'}" for name in sorted(files.keys() ^ files_now.keys())]
    for name in sorted(files.keys() & files_now.keys()):
        renames.file = name
        found += [f"{name}: {line}" for line in _of_files(files[name], files_now[name], renames, ranks)]
    renames.file = ""
    return found


def _files_of(folder, ranks):
    """Files that are compared: name -> path. On several ranks frames for ParaView show who had which body."""
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file() and path.name != "end.json"}
    return {name: path for name, path in found.items()
            if not LEFT_OUT.search(name) and not (ranks > 1 and name.endswith(FRAMES))}


def _of_ends(before, now, renames):
    a, b = (json.loads(path.read_text()) for path in (before, now))
    found = [] if a["code"] == b["code"] else [f"exit code {a['code']} before, {b['code']} now"]
    if renames.text(a["message"]) != b["message"]:
        found.append(f"another message\n  before {renames.text(a['message'])}\n  now    {b['message']}")
    return found


def _of_files(before, now, renames, ranks):
    if before.suffix == ".csv":
        return _of_tables(before.read_text(), now.read_text(), renames)
    if before.suffix in (".h5", ".hdf5", ".scree"):
        return _of_names(_arrays_of(before), _arrays_of(now),
                         lambda name: "@".join(renames.name("fields", part) for part in name.split("@")), renames, _same_bits)
    if before.name == "summary.json":
        a, b = (dict(_leaves(_summary_of(path))) for path in (before, now))
        a, b = ({key: None if MEASURED.fullmatch(key) or (ranks > 1 and OF_RANKS.fullmatch(key)) else value
                 for key, value in values.items()} for values in (a, b))
        return _of_names(a, b, lambda name: renames.name("summary", name), renames)
    if before.suffix == ".toml":
        a, b = (dict(_leaves(tomllib.loads(path.read_text()))) for path in (before, now))
        return _of_names(a, b, lambda name: renames.name("deck", name), renames)
    if before.suffix in FRAMES + (".xdmf",):
        return _of_frames(before.read_text(), now.read_text(), renames)
    return [] if before.read_bytes() == now.read_bytes() else ["other bytes"]


def _summary_of(path):
    """Without the timer of lists of frames: whether one is listed before the next is written depends on the disk."""
    summary = json.loads(path.read_text())
    return summary | {"timers": [timer for timer in summary.get("timers", []) if timer["name"] != "frames"]}


def _of_tables(before, now, renames):
    """Columns by title, in their order, without those of wall time; cells as texts."""
    def columns_of(text):
        rows = [line.split(",") for line in text.splitlines()]
        return {title: [row[k] if k < len(row) else None for row in rows[1:]] for k, title in enumerate(rows[0] if rows else [])
                if not WALL_TIMES.match(title)}

    def renamed(title):
        name, bracket, unit = title.partition("[")
        return renames.name("columns", name) + bracket + unit

    a, b = columns_of(before), columns_of(now)
    found = _of_names(a, b, renamed, renames)
    if not found and [renamed(title) for title in a] != list(b):
        found.append(f"columns in another order: {', '.join(a)} before, {', '.join(b)} now")
    return found


def _of_names(before, now, rename, renames, same=lambda a, b: a == b):
    """Differences of two dicts of values."""
    old, found = {}, []
    for name, value in before.items():
        if rename(name) in old:
            found.append(f"two names become {rename(name)}")
        old[rename(name)] = value
    found += [f"{name}: only {'before' if name in old else 'now'}" for name in sorted(old.keys() ^ now.keys())]
    for name in sorted(old.keys() & now.keys()):
        a, b = _with_words(old[name], renames), now[name]
        if not same(a, b):
            found.append(f"{name}: {_shown(a, b)}")
    return found


def _with_words(value, renames):
    if isinstance(value, list):
        return [_with_words(one, renames) for one in value]
    return renames.text(value) if isinstance(value, str) else value


def _shown(a, b):
    """Two values that differ, of lists the first pair that does."""
    if isinstance(a, list) and isinstance(b, list):
        row = next((k for k, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        return f"row {row} of {len(a)} before and {len(b)} now: {a[row:row + 1]} before, {b[row:row + 1]} now"
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if (a.dtype, a.shape) != (b.dtype, b.shape):
            return f"{a.dtype}{a.shape} before, {b.dtype}{b.shape} now"
        place = next((k for k in np.ndindex(a.shape) if a[k].tobytes() != b[k].tobytes()), ())
        return f"[{', '.join(map(str, place))}] is {a[place]} before, {b[place]} now"
    return f"{a!r} before, {b!r} now"


def _same_bits(a, b):
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.dtype != object:
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return type(a) is type(b) and str(a) == str(b)


def _arrays_of(path):
    """Everything in an HDF5 file that is a result: datasets by path, attributes by path@name."""
    import h5py

    found = {}

    def collect(item, name):
        for key, value in item.attrs.items():
            found[f"{name}@{key}"] = np.asarray(value) if not isinstance(value, (str, bytes)) else str(value)
        if isinstance(item, h5py.Dataset):
            found[name] = np.asarray(item[()])
            return
        found[name + "/"] = ""
        for key in item:
            collect(item[key], f"{name}/{key}")

    with h5py.File(path, "r") as file:
        collect(file, "")
    for kind in ("integers", "reals"):      # of checkpoints: a list of numbers and one of their names
        if (names := found.pop(f"/numbers/{kind}_names", None)) is not None:
            values = found.pop(f"/numbers/{kind}")
            found |= {f"/numbers/{name}": np.asarray(value) for name, value in zip(names.item().decode().splitlines(), values, strict=True)}
    return {name: value for name, value in found.items() if not NOT_THE_RESULT.search(name)}


def _leaves(value, path=""):
    """Values of nested dicts and lists of dicts by their paths with dots; an empty one is a value."""
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) and value and \
        all(isinstance(one, dict) for one in value) else ()
    if not below:
        yield path, value
    for key, one in below:
        yield from _leaves(one, f"{path}.{key}" if path else str(key))


def _of_frames(before, now, renames):
    """A text in XML: names of arrays and of files in it are renamed, all else is the same. XDMF lists arrays in the order of their names."""
    def renamed(match):
        attribute, name = match.groups()
        return f'{attribute}="{renames.name("files" if attribute in ("file", "Source") else "fields", name)}"'

    before = re.sub(r'\b(Name|file|Source)="([^"]*)"', renamed, before)
    if "<Xdmf" in before:
        before = re.sub(r"(?<=\.h5:)([^<]*)", lambda match: renames.name("fields", match[1]), before)
        before, now = ("\n".join(sorted(text.splitlines())) for text in (before, now))
    for row, (a, b) in enumerate(zip(before.splitlines(), now.splitlines())):
        if a != b:
            return [f"line {row + 1}: {a.strip()[:200]} before, {b.strip()[:200]} now"]
    return [] if before == now else ["more lines before" if len(before) > len(now) else "more lines now"]
