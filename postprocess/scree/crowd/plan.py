"""The plan of a building as it is drawn: areas of each level, exits with their opening times, connectors of floors, lifts."""
from dataclasses import dataclass, field

import numpy as np

from scree.crowd.exits import without_pockets
from scree.geometry import contains

NEVER = np.inf


@dataclass
class Exit:
    """An exit: a line (2, 2) or a polygon (n, 2) [m], its floor, and when it is open."""
    name: str
    corners: np.ndarray
    is_line: bool
    floor: int
    opens: list             # times [s], rising; with `closes` the ends of times at which it is open
    closes: list
    max_flow: float         # [1/s], 0: no limit
    closed_from: float = NEVER      # [s] when it closes for good

    @property
    def width(self):
        """Length of the line [m]; nan of a polygon."""
        return float(np.linalg.norm(self.corners[1] - self.corners[0])) if self.is_line else np.nan

    @property
    def middle(self):
        return self.corners.mean(axis=0)

    def times(self, end=NEVER):
        """(from, until) of the times at which it is open before `end`; until is infinite if it does not close again."""
        closes = list(self.closes) + [NEVER] * max(len(self.opens) - len(self.closes), 0)
        times = [(begin, min(until, self.closed_from)) for begin, until in zip(self.opens, closes)]
        return [(begin, until) for begin, until in times if begin < end and until > begin]

    def is_open(self, time):
        return any(begin <= time < until for begin, until in self.times())

    def text(self, end=NEVER):
        """Opening times in words, of a run that ends at `end`."""
        times = self.times(end)
        if not times:
            return "closed"
        if len(times) == 1 and times[0][0] <= 0 and times[0][1] >= end:
            return "open"
        return "open " + ", ".join((f"from {begin:g} s" if begin > 0 else "") + (" " if begin > 0 and until < end else "")
                                   + (f"until {until:g} s" if until < end else "") for begin, until in times)


@dataclass
class Level:
    """A floor, a connector of two, or a lift: its name, the rings of its area (scree.results.read_wkt), and the floors on which it
    is drawn, of a connector the lower one first, of a lift that at which people get out."""
    name: str
    rings: list
    floors: list
    elevation: float = 0.0
    kind: str = "floor"
    hidden: list = field(default_factory=list)      # rings of parts that nobody uses
    polygon: np.ndarray = None                      # of a connector or a lift
    lines: dict = field(default_factory=dict)       # of these: number of a floor -> the line (2, 2) that leads to it
    closed_from: float = NEVER                      # [s] when it closes
    direction: str = ""                             # "up" or "down" of one that people pass one way only

    def is_closed(self, time):
        return time >= self.closed_from


@dataclass
class Plan:
    levels: list            # floors in the order of the deck, then connectors, then lifts
    exits: list

    @property
    def floors(self):
        return [level for level in self.levels if level.kind == "floor"]

    def connectors_of(self, floor):
        """Numbers of the connectors and lifts that are drawn on a floor: those that begin, end or stop there."""
        return [k for k, level in enumerate(self.levels) if level.kind != "floor" and floor in level.floors]

    def shown_on(self, floor):
        """Numbers of the levels whose people are drawn on a floor: its own, the connectors of which it is the lower end, and the
        lifts that go there. So everybody is drawn once, also where flights lie above each other."""
        return [k for k, level in enumerate(self.levels) if level.floors[:1] == [floor]]

    @property
    def n_hidden(self):
        return sum(not is_hole for level in self.levels for is_hole, _ in level.hidden)

    def bounds(self):
        """Corners of the box around all levels and exits [m]; None without any."""
        points = [corners for level in self.levels for _, corners in level.rings]
        points += [level.polygon for level in self.levels if level.polygon is not None]
        points += [door.corners for door in self.exits]
        if not points:
            return None
        points = np.concatenate(points)
        return points.min(axis=0), points.max(axis=0)


def plan_of(deck, paths=None, hide_unused=True, closings=None):
    """The plan of a run from its resolved deck, and its areas from the trajectory. `closings`: when smoke closed exits and
    connectors (Results.closings). Parts of the area that nobody is ever in go to Level.hidden, if there is somebody
    anywhere and `hide_unused`. Pockets behind lines of exits are left out."""
    floors, closings = list(deck.get("floors", {})), closings or {}
    areas = paths.walkable_of_level if paths is not None else []
    levels = []
    for number, (name, table) in enumerate((deck.get("floors") or {"": {}}).items()):
        rings = areas[number] if number < len(areas) else _rings_of_deck(table.get("walkable", deck.get("walkable", {})))
        levels.append(Level(name, rings, [number], float(table.get("elevation", 0.0))))
    for number, (name, table) in enumerate(deck.get("connectors", {}).items(), len(levels)):
        ends = [table.get(end, {}) for end in ("bottom", "top")]
        polygon = np.array(table["polygon"], dtype=float) if "polygon" in table else None
        rings = areas[number] if number < len(areas) else [(False, polygon)] if polygon is not None else []
        lines = {floors.index(end["floor"]): np.array(end["line"], dtype=float) for end in ends if end.get("floor") in floors}
        levels.append(Level(name, rings, list(lines), kind=table.get("type", "stair"), polygon=polygon, lines=lines,
                            closed_from=min(float(table.get("closed_from", NEVER)), closings.get(name, NEVER)),
                            direction=table.get("direction", "")))
    for number, (name, table) in enumerate(deck.get("lifts", {}).items(), len(levels)):
        cabin, door = np.array(table["cabin"], dtype=float), np.array(table["door"], dtype=float)
        served = [floors.index(floor) for floor in dict.fromkeys([table["to"], *table["floors"]]) if floor in floors]
        levels.append(Level(name, areas[number] if number < len(areas) else [(False, cabin)], served, kind="lift", polygon=cabin,
                            lines=dict.fromkeys(served, door),
                            closed_from=min(float(table.get("closed_from", NEVER)), closings.get(name, NEVER))))
    if hide_unused and paths is not None and len(paths.position_of_row):
        for number, level in enumerate(levels):
            here = paths.position_of_row[paths.level_of_row == number]
            level.rings, level.hidden = used_parts(level.rings, here)
    exits = exits_of(deck, levels, closings)
    for number, level in enumerate(levels):
        if level.kind == "floor":
            level.rings = without_pockets(level.rings, [door for door in exits if door.floor == number])
    return Plan(levels, exits)


def exits_of(deck, levels, closings):
    """Exits with a place in the deck; one on a connector belongs to the first floor that this joins."""
    floor_of = {level.name: level.floors[0] for level in levels if level.floors}
    exits = []
    for name, table in deck.get("exits", {}).items():
        shape = table.get("line", table.get("polygon"))
        if shape is None:       # of the colour of an image: the deck does not say where
            continue
        number = floor_of.get(table.get("floor", ""), 0)
        exits.append(Exit(name, np.array(shape, dtype=float), "line" in table, number, list(table.get("open_from", [0.0])),
                          list(table.get("open_until", [])), float(table.get("max_flow", 0.0)), closings.get(name, NEVER)))
    return exits


def used_parts(rings, positions):
    """Rings of the parts of an area with somebody in them at any time, and rings of the others. A part is an outer ring with
    its holes. If nobody is anywhere all parts are used."""
    parts = []
    for is_hole, corners in rings:
        if is_hole and parts:
            parts[-1].append((is_hole, corners))
        else:
            parts.append([(is_hole, corners)])
    if len(parts) < 2 or len(positions) == 0:
        return rings, []
    # A person in each cell of 1 m is enough to know.
    _, some = np.unique(np.floor(positions).astype(np.int64), axis=0, return_index=True)
    some = positions[some]
    used, unused = [], []
    for part in parts:
        (used if contains(part[0][1], some).any() else unused).extend(part)
    return (used, unused) if used else (rings, [])


def _rings_of_deck(table):
    """The area of a deck that gives corners or WKT itself; [] if it is in a file. Polygons of obstacles are holes."""
    from scree.results import read_wkt

    if "polygon" in table:
        rings = [(False, np.array(table["polygon"], dtype=float))]
    elif "wkt" in table:
        rings = read_wkt(table["wkt"])
    else:
        return []
    for obstacle in table.get("obstacles", {}).values():
        rings += [(True, np.array(obstacle["polygon"], dtype=float))] if "polygon" in obstacle else []
        angle = np.linspace(0, 2 * np.pi, 32, endpoint=False)
        rings += [(True, np.column_stack([x + r * np.cos(angle), y + r * np.sin(angle)]))
                  for x, y, r in obstacle.get("circles", [])]
    return rings
