"""What runs of people have to obey, for the covering array: nobody outside, nobody lost, no overlap, nobody through a door that is too
narrow, and the same building written in another way. Not in other units: a crowd has lengths and times of its own (its speed law, sizes
and speeds by default, smoke, widths of passages), so a building twice as large is another one."""
import copy
import csv
import re

import h5py
import numpy as np

import crowd_runs
from pairs_crowds import KEYS, REFUSED, WORDS, array, deck_of, expanded    # noqa: F401: part of the family
from rewritings import bare, bodies_in_frame, frames, in_halves, placed
from scree_program import Failure, check

REWRITINGS = 3
# What shuts before somebody at a time.
SHUTS = {"closing": ("connector",), "lift": ("open", "closing"), "door": ("timed",), "smoke": ("closes",)}
UNSOLVED = "the projection misses crowd.tolerance"
NAMED = ("floors", "connectors", "lifts", "exits", "waypoints", "zones", "journeys", "agents", "populations", "sources", "obstacles")
# The same building in another frame has its floor field on another grid, and sweeps in another order: totals.
MAX_APART = 2          # people inside at the end
WHEELCHAIRS_APART = 3   # a jam of them lets go in bursts of a group
FAR = 0.5               # mean place of those inside in both [m]


def promises_bits(deck):
    """Whether the manual promises the same bits on any number of ranks."""
    return deck.values["solver"] in ("none", "nsgs")


def audited(deck):
    tables = copy.deepcopy(deck.tables)
    tables["output"] |= {"trajectory": {"fps": 20}, "certificate": {"every_steps": 1}, "h5md": {"every_steps": deck.n_steps}, "fields": {"every": 4.0}}
    return tables


def people_of(trial):
    """Rows of agents.csv of the audited run by id, without the units in their titles."""
    with open(trial.results("audited") / "run.agents.csv", newline="", encoding="utf-8") as file:
        return {int(row["id[-]"]): {name.split("[")[0]: value for name, value in row.items()} for row in csv.DictReader(file)}


def start_of(trial):
    """By id, where everybody stood first, and its row."""
    with h5py.File(trial.results("audited") / "run.trajectory.h5") as file:
        rows = file["trajectory"][:]
    _, first = np.unique(rows["id"], return_index=True)
    return {int(row["id"]): (float(row["x"]), float(row["y"])) for row in rows[first]}, people_of(trial)


def check_certificate_of_unsolved(run):
    """Two people who are just as wide as their door need any number of sweeps: what such a step leaves is proved and reported."""
    rows = run.certificate
    left_before = np.concatenate([[0], rows["overlap_bound"][:-1]])
    check(((rows["solved"] == 0) | (rows["overlap_bound"] <= crowd_runs.TOLERANCE)).all(), "a step that is solved leads to no overlap")
    check((rows["max_overlap"] <= left_before + crowd_runs.TOLERANCE).all(), "no step starts with more overlap than the one before has left")


def properties(trial, start):
    run = crowd_runs.CrowdRun(trial.results("audited"), "run", trial.deck.tables, None)
    for check_run in crowd_runs.CHECKS:
        if check_run is crowd_runs.check_certificate and (trial.deck.values["model"] == "pbd" or trial.deck.values["solver"] != "none"):
            continue        # other columns
        if check_run is crowd_runs.check_certificate and trial.deck.values["grains"] == "moving wall" and (
                trial.deck.values["smoke"] == "fallen" or run.certificate["solved"][1:].min() < 1):
            continue        # a wall goes to where somebody lies, or presses people against others: the log says so
        if check_run is crowd_runs.check_certificate and UNSOLVED in (run.folder / "run.log").read_text(encoding="utf-8"):
            trial.counts["crowds with steps that the projection could not solve, as the log says"] += 1
            check_run = check_certificate_of_unsolved
        try:
            check_run(run)
        except Failure as failure:
            trial.case.finding(f"crowd: {str(failure).splitlines()[0]}", failure)
    for person, row in start[1].items():
        line = trial.deck.tables["exits"].get(row["exit"], {}).get("line")
        if line and 2 * float(row["radius"]) > np.linalg.norm(np.subtract(*line)) + crowd_runs.TOLERANCE:
            trial.case.finding("crowd: somebody leaves by an exit that is too narrow", f"{person}: {row}")


def rewritten(trial, start):
    """As of grains, of the people as they were at the start, from files: those whom a region draws at random cannot be moved."""
    deck, case, folder = trial.deck, trial.case, trial.case.folder
    base = from_files(bare(deck.tables), folder, *start)
    if trial.end_code == 0:
        base["crowd"].get("lock", {}).pop("then", None)
    trial.base = "from file"
    result = trial.run("from file", tables=base)
    if result.code != trial.end_code:
        case.finding(f"people from a file: exit code {result.code}", result)
        return
    trial.compare("whole", "from file", "people from a file", True)
    rows = [(name, False, lambda name=name: in_frame(base, frames(2, name), folder, name)) for name in ("mirror", "turn", "origin")
            if name == "origin" or deck.values["walk"] != "noise"]     # whose numbers are drawn for x and y
    rows += [("names", True, lambda: (renamed(base, folder), None)), ("order of keys", True, lambda: (in_other_order(base, ()), None)),
             ("order of tables", False, lambda: (in_other_order(base, NAMED), None)), ("plan", True, lambda: (with_plans(base, folder, of_other_kind), None)),
             ("corners", False, lambda: (with_plans(base, folder, from_other_corner), None)), ("halves of stages", promises_bits(deck), lambda: (in_halves(base), None))]
    case.random.shuffle(rows)
    n = 0
    for name, is_exact, make in rows:
        made, back = make()
        if made is None or n == REWRITINGS or trial.end_code != 0 and not is_exact:     # that of another order may not be locked
            continue
        n += 1
        yield name, made, back, is_exact


def from_files(tables, folder, places, people):
    """The deck with all who were there or came from tables, one for each population and source."""
    made = copy.deepcopy(tables)
    columns = ("id", "x", "y", "radius", "speed", "kind", "premovement")
    for path, (name, table) in [(path, item) for path in ("populations", "sources") for item in made.get(path, {}).items()]:
        more = [*(["time"] if path == "sources" else []), *(["floor"] if "floors" in made else []), *(["group"] if "groups" in table else [])]
        lines = []
        for person, row in people.items():
            if row["population"] == name and person in places:
                group = row.get("group", "-1")
                of_person = {"time": row["entered"], "floor": name.removeprefix("on_") if path == "populations" else "ground",
                             "group": group if int(group) >= 0 else ""}
                x, y = places[person]
                premovement = float(row["premovement_end"]) - float(row["entered"])
                lines.append((float(row["entered"]), person, [person, repr(x), repr(y), row["radius"], row["desired_speed"], row["agent_type"], repr(premovement),
                                                              *(of_person[key] for key in more)]))
        if not lines:
            continue        # nobody has come yet
        (folder / f"start_{name}.csv").write_text("\n".join([",".join((*columns, *more)), *(",".join(map(str, line)) for *_, line in sorted(lines))]) + "\n")
        kept = {key: value for key, value in table.get("groups", {}).items() if key not in ("sizes", "shares")}
        made[path][name] = {"file": f"start_{name}.csv"} | ({"groups": kept} if "groups" in table else {})
    return made


def with_files(tables, change):
    """Changes each file of a deck: `change` gets its name and returns that of the new one."""
    for key, value in tables.items():
        for table in [value] if isinstance(value, dict) else value if isinstance(value, list) else []:
            if isinstance(table, dict):
                with_files(table, change)
        if key == "file" and isinstance(value, str):
            tables[key] = change(value)


def changed_table(folder, name, prefix, change):
    """A CSV file with its rows changed: the name of the new one."""
    with open(folder / name, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if not rows:
        return name
    with open(folder / f"{prefix}_{name}", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(row | change(row) for row in rows)
    return f"{prefix}_{name}"


# ---- other axes

def in_frame(tables, frame, folder, prefix):
    made = placed(tables, frame)

    def in_csv(row):
        return dict(zip("xy", map(repr, frame.point([float(row["x"]), float(row["y"])])))) if row.get("x") else {}

    def in_file(name):
        if name.endswith(".csv"):
            return changed_table(folder, name, prefix, in_csv)
        (folder / f"{prefix}_{name}").write_text(as_text([frame.point(p) for p in corners_of((folder / name).read_text())]) + "\n")
        return f"{prefix}_{name}"

    with_files(made, in_file)
    for area in walkables(made):
        if "wkt" in area:
            area["wkt"] = as_text([frame.point(p) for p in corners_of(area["wkt"])])
        for obstacle in area.get("obstacles", {}).values():
            if "circles" in obstacle:
                obstacle["circles"] = [[*frame.point([x, y]), radius] for x, y, radius in obstacle["circles"]]
    return made, lambda found: bodies_in_frame(found, frame.back())


# ---- other words

def renamed(tables, folder):
    """Other names of floors, exits, agents and the like."""
    made = copy.deepcopy(tables)
    names = {name: f"q_{name}" for path in NAMED for name in made.get(path, {})}

    def walk(value, is_table_of_names):
        if isinstance(value, dict):
            return {names.get(key, key) if is_table_of_names else key: walk(item, False) if not (key in ("closes",)) else walk(item, True)
                    for key, item in value.items()}
        if isinstance(value, list):
            return [walk(item, False) for item in value]
        return names.get(value, value) if isinstance(value, str) else value

    kept = ("simulation", "time", "crowd", "output", "stages", "decomposition", "domain", "navigation")
    made = {key: value if key in kept else walk(value, True) for key, value in made.items()}
    with_files(made, lambda name: name if not name.endswith(".csv") else changed_table(
        folder, name, "q", lambda row: {key: names.get(row[key], row[key]) for key in ("floor", "kind") if key in row}))
    return made


def in_other_order(tables, named):
    """Keys in the other order; of tables that have names of their own, which are numbered in the order of the deck, those of `named` only."""
    def walk(table, is_turned):
        items = reversed(table.items()) if is_turned else table.items()
        return {key: walk(value, key not in NAMED or key in named) if isinstance(value, dict) else value for key, value in items}
    return walk(tables, True)


# ---- other plans

def walkables(tables):
    """The areas of a deck."""
    return [table["walkable"] for table in (tables, *tables.get("floors", {}).values()) if "walkable" in table]


def corners_of(text):
    """Of a polygon as text, which ends where it begins."""
    numbers = [float(word) for word in re.findall(r"-?\d[\d.e+-]*", text)]
    return [list(point) for point in zip(numbers[0:-2:2], numbers[1:-2:2])]


def as_text(ring):
    return "POLYGON((" + ", ".join(f"{x!r} {y!r}" for x, y in [*ring, ring[0]]) + "))"


def with_plans(tables, folder, change):
    """The deck with other areas: `change` gets one, its corners, and a file that it may write."""
    made = copy.deepcopy(tables)
    for k, area in enumerate(walkables(made)):
        kind = next(key for key in ("polygon", "wkt", "file") if key in area)
        value = area.pop(kind)
        change(area, kind, value if kind == "polygon" else corners_of(value if kind == "wkt" else (folder / value).read_text()), folder / f"other_{k}.wkt")
    return made


def of_other_kind(area, kind, ring, path):
    if kind == "wkt":
        path.write_text(as_text(ring) + "\n")
    area |= {"polygon": {"wkt": as_text(ring)}, "wkt": {"file": path.name}, "file": {"polygon": ring}}[kind]


def from_other_corner(area, kind, ring, path):
    """Corners in the other sense, from the third one on."""
    def other(corners):
        return [*corners[2::-1], *corners[:2:-1]]

    area["polygon"] = other(ring)
    for obstacle in area.get("obstacles", {}).values():
        if "polygon" in obstacle:
            obstacle["polygon"] = other(obstacle["polygon"])


def compare(trial, first, second, claim, is_exact, back):
    deck = trial.deck
    a, b = trial.end(first), trial.end(second)
    b = back(b) if back else b
    if is_exact:
        same = len(a["id"]) == len(b["id"]) and (a["id"] == b["id"]).all() and np.array_equal(a["position"], b["position"])
        if not same:
            trial.case.finding(f"crowd: {claim}: other bits", f"{len(a['id'])} and {len(b['id'])} people")
        return
    if abs(len(a["id"]) - len(b["id"])) > (WHEELCHAIRS_APART if deck.values["people"] == "wheelchairs" else MAX_APART):
        trial.case.finding(f"crowd: {claim}: other totals", f"{len(a['id'])} and {len(b['id'])} people inside")
        return
    if any(deck.values[factor] in values for factor, values in SHUTS.items()):
        return      # who is at a line as it shuts goes one way or the other by a millimetre
    in_both = [np.isin(one["id"], other["id"]) for one, other in ((a, b), (b, a))]
    first, second = (one["position"][of_both].mean(axis=0) for one, of_both in zip((a, b), in_both)) if in_both[0].sum() > 4 else (0.0, 0.0)
    if np.abs(first - second).max() > FAR:
        trial.case.finding(f"crowd: {claim}: other places", f"mean {first} and {second}")
