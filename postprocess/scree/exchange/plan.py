"""What the readers find in a floor plan of another program: areas, exits, people; and what they leave out."""
import re
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from scree.errors import ExchangeError
from scree.exchange.curves import FULL_TURN, arc
from scree.exchange.outlines import bounds, rectangle, takes_nothing

UNITS = {"m": 1.0, "dm": 0.1, "cm": 0.01, "mm": 0.001, "km": 1000.0, "in": 0.0254, "ft": 0.3048, "yd": 0.9144}
LEAST, MOST = 0.5, 20e3    # m: a plan smaller or larger than this has another unit than it says
MAX_COVERED = 0.4         # share of a region that people cover who are there from the start; with more they come one by one
STAYS = 1e6                # s that people wait at a last target that takes nobody out of the run
AROUND_PEOPLE = 0.3        # m: what a region of people reaches beyond their centres


@dataclass
class Plan:
    """A floor plan, people and where they go. Lengths in m, times in s.

    walkable     polygons, each [outer ring, hole, ...] of (n, 2)
    obstacles    name: ring (n, 2) that is cut out
    columns      (x, y, radius) of round obstacles
    exits, waypoints, zones, agents, sources, populations, measures
                 name: table of the deck
    journeys     name: list of steps
    starts       name: ring in which people start, of files that do not say how many
    floors       of a building of several, name: Floor; walkable, obstacles and columns are then those of the floors, and tables
                 have the key "floor", starts the name of theirs in start_floors
    connectors   name: table of the deck
    people       columns of people at the start, in arrays of one length: x, y, and any of id, radius, speed, journey
    end_time, seed    of the run; None where the file does not say
    left_out     (what, where): how many
    notes        what was done to the file, and what it does not say
    """
    name: str
    source: str
    walkable: list = field(default_factory=list)
    obstacles: dict = field(default_factory=dict)
    columns: list = field(default_factory=list)
    exits: dict = field(default_factory=dict)
    waypoints: dict = field(default_factory=dict)
    zones: dict = field(default_factory=dict)
    agents: dict = field(default_factory=dict)
    journeys: dict = field(default_factory=dict)
    populations: dict = field(default_factory=dict)
    sources: dict = field(default_factory=dict)
    measures: dict = field(default_factory=dict)
    starts: dict = field(default_factory=dict)
    start_floors: dict = field(default_factory=dict)
    floors: dict = field(default_factory=dict)
    connectors: dict = field(default_factory=dict)
    people: dict = None
    end_time: float = None
    seed: int = None
    left_out: Counter = field(default_factory=Counter)
    notes: list = field(default_factory=list)

    def leave_out(self, what, where="", count=1):
        self.left_out[what, where] += count

    def rings(self):
        """All rings of the walkable areas."""
        return [ring for storey in (*self.floors.values(), self) for polygon in storey.walkable for ring in polygon]


@dataclass
class Floor:
    """A floor of a building of several: its height [m], and its area as in Plan."""
    elevation: float
    walkable: list
    obstacles: dict = field(default_factory=dict)
    columns: list = field(default_factory=list)


def shifted(plan, by):
    """The plan moved by a vector [m]."""
    def moved(table):
        return {key: value + by if key in ("line", "polygon") else value for key, value in table.items()}

    plan.walkable = [[ring + by for ring in polygon] for polygon in plan.walkable]
    plan.obstacles, plan.starts = ({name: ring + by for name, ring in rings.items()} for rings in (plan.obstacles, plan.starts))
    plan.columns = [(x + by[0], y + by[1], radius) for x, y, radius in plan.columns]
    plan.exits, plan.waypoints = ({name: moved(table) for name, table in tables.items()} for tables in (plan.exits, plan.waypoints))
    return plan


def joined(name, source, plans):
    """One plan of the plans of floors, {name: (elevation [m], plan)}. Names that several floors have get that of the floor before."""
    whole = Plan(name, source)
    for floor, (elevation, plan) in plans.items():
        whole.floors[floor] = Floor(elevation, plan.walkable, plan.obstacles, plan.columns)
        for kind in ("exits", "waypoints", "measures", "starts"):
            mine, taken = getattr(plan, kind), getattr(whole, kind)
            for own, table in mine.items():
                twice = sum(own in getattr(other, kind) for _, other in plans.values()) > 1
                key = name_of(f"{floor}_{own}" if twice else own, taken)
                if kind == "starts":
                    taken[key], whole.start_floors[key] = table, floor
                else:
                    taken[key] = {"floor": floor, **table}
        for (what, where), count in plan.left_out.items():
            whole.leave_out(what, f"floor {floor}" + (f", {where}" if where else ""), count)
        whole.notes += [f"floor {floor}: {note}" for note in plan.notes if not note.startswith("exits:")]
    if not whole.exits:
        whole.notes.append("exits: no floor has any; add [exits.NAME]")
    return whole


def name_of(text, taken=()):
    """A name for a table of the deck: letters of ASCII, digits and underscores, not yet in `taken`."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", str(text)).strip("_").lower() or "unnamed"
    name, number = plain, 1
    while name in taken:
        number += 1
        name = f"{plain}_{number}"
    return name


def numbered(text, count, taken):
    """`count` names made of a text: the text itself for one, else with numbers from 1 on."""
    names = []
    for k in range(count):
        names.append(name_of(text if count == 1 else f"{text}_{k + 1}", {*taken, *names}))
    return names


def region_around(points):
    """A rectangle that holds people at points."""
    lower, upper = bounds(points)
    return rectangle(lower - AROUND_PEOPLE, upper + AROUND_PEOPLE)


def place(point):
    """A point as text, in the unit of the file."""
    return f"({point[0]:.6g}, {point[1]:.6g})"


def without_what_is_outside(plan):
    """The plan without obstacles that take nothing of the walkable area, as they lie outside or others take it already, and
    without windows of measures outside: the program refuses those."""
    boxes = {name: bounds(ring) for name, ring in plan.obstacles.items()}
    keys, lower, upper = list(boxes), *np.array(list(boxes.values())).reshape(-1, 2, 2).transpose(1, 0, 2)
    for name, ring in reversed(list(plan.obstacles.items())):
        meets = (lower <= boxes[name][1]).all(axis=1) & (upper >= boxes[name][0]).all(axis=1)
        near = [keys[k] for k in np.flatnonzero(meets)]
        if takes_nothing(ring, plan.walkable, [plan.obstacles[key] for key in near if key != name and key in plan.obstacles]):
            del plan.obstacles[name]
            outside = takes_nothing(ring, plan.walkable)
            plan.leave_out("obstacle outside of the walkable area" if outside else "obstacle in others", f"{name}, at {place(ring[0])} m")
    kept = []
    for x, y, radius in plan.columns:
        ring = arc((x, y), radius, 0, FULL_TURN, radius / 1000)
        if takes_nothing(ring, plan.walkable, list(plan.obstacles.values())):
            plan.leave_out("column outside of the walkable area or in an obstacle", f"at {place((x, y))} m")
        else:
            kept.append((x, y, radius))
    plan.columns = kept
    for name, table in list(plan.measures.items()):
        if takes_nothing(table["polygon"], plan.walkable, list(plan.obstacles.values())):
            del plan.measures[name]
            plan.leave_out("measurement outside of the walkable area", name)
    return plan


def require_size(path, plan, how):
    """Refuses a plan that has no area, or whose size no building has; `how`: what says its unit otherwise."""
    if not plan.walkable:
        raise ExchangeError(f"{path}: no walkable area in the file")
    lower, upper = bounds(np.concatenate(plan.rings()))
    size = upper - lower
    if size.max() < LEAST or size.max() > MOST:
        raise ExchangeError(f"{path}: the plan is {size[0]:.3g} m x {size[1]:.3g} m: the unit is wrong; {how}")
