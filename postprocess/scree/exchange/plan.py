"""What the readers find in a floor plan of another program: areas, exits, people; and what they leave out."""
import re
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from scree.exchange.curves import arc
from scree.exchange.outlines import bounds, is_inside, is_outside, rectangle
from scree.exchange.scene import ExchangeError

UNITS = {"m": 1.0, "dm": 0.1, "cm": 0.01, "mm": 0.001, "km": 1000.0, "in": 0.0254, "ft": 0.3048, "yd": 0.9144}
LEAST, MOST = 0.5, 20e3    # m: a plan smaller or larger than this has another unit than it says
AROUND_PEOPLE = 0.3        # m: what a region of people reaches beyond their centres


@dataclass
class Plan:
    """A floor plan, people and where they go. Lengths in m, times in s.

    walkable     polygons, each [outer ring, hole, ...] of (n, 2); a list of well-known text is kept as it is in `wkt`
    obstacles    name: ring (n, 2) that is cut out
    columns      (x, y, radius) of round obstacles
    exits, waypoints, agents, sources, populations, measures
                 name: table of the deck
    journeys     name: list of steps
    starts       name: ring in which people start, of files that do not say how many
    people       columns of people at the start, in arrays of one length: x, y, and any of id, radius, speed, journey
    end_time, seed    of the run; None where the file does not tell
    left_out     (what, where): how many
    notes        what was done to the file, and what it does not tell
    """
    name: str
    source: str
    walkable: list = field(default_factory=list)
    obstacles: dict = field(default_factory=dict)
    columns: list = field(default_factory=list)
    exits: dict = field(default_factory=dict)
    waypoints: dict = field(default_factory=dict)
    agents: dict = field(default_factory=dict)
    journeys: dict = field(default_factory=dict)
    populations: dict = field(default_factory=dict)
    sources: dict = field(default_factory=dict)
    measures: dict = field(default_factory=dict)
    starts: dict = field(default_factory=dict)
    people: dict = None
    end_time: float = None
    seed: int = None
    left_out: Counter = field(default_factory=Counter)
    notes: list = field(default_factory=list)

    def leave_out(self, what, where="", count=1):
        self.left_out[what, where] += count

    def rings(self):
        """All rings of the walkable area."""
        return [ring for polygon in self.walkable for ring in polygon]


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
    """The plan without obstacles that take nothing of the walkable area, as they lie outside or in another one, and
    without windows of measures outside: the program refuses those."""
    for name, ring in list(plan.obstacles.items()):
        if is_outside(plan.walkable, ring):
            del plan.obstacles[name]
            plan.leave_out("obstacle outside of the walkable area", f"{name}, at {place(ring[0])} m")
    for name in _covered(plan.obstacles):
        plan.leave_out("obstacle in another one", f"{name}, at {place(plan.obstacles.pop(name)[0])} m")
    kept = []
    for x, y, radius in plan.columns:
        ring = arc((x, y), radius, 0, 2 * np.pi, radius / 1000)
        if is_outside(plan.walkable, ring) or any(is_inside(ring, other) for other in plan.obstacles.values()):
            plan.leave_out("column outside of the walkable area or in an obstacle", f"at {place((x, y))} m")
        else:
            kept.append((x, y, radius))
    plan.columns = kept
    for name, table in list(plan.measures.items()):
        if is_outside(plan.walkable, table["polygon"]):
            del plan.measures[name]
            plan.leave_out("measurement outside of the walkable area", name)
    return plan


def _covered(obstacles):
    """Names of obstacles that lie in another one; of equal ones the first stays."""
    names, rings = list(obstacles), list(obstacles.values())
    if not names:
        return []
    lower, upper = (np.array([bounds(ring)[k] for ring in rings]) for k in (0, 1))
    gone = []
    for k, ring in enumerate(rings):
        holds = (lower <= lower[k] + 1e-9).all(axis=1) & (upper >= upper[k] - 1e-9).all(axis=1)
        for j in np.flatnonzero(holds):
            if j != k and names[j] not in gone and is_inside(ring, rings[j]):
                if j < k or not is_inside(rings[j], ring):
                    gone.append(names[k])
                    break
    return gone


def require_size(path, plan, how):
    """Refuses a plan that has no area, or whose size no building has; `how`: what says its unit otherwise."""
    if not plan.walkable:
        raise ExchangeError(f"{path}: no walkable area in the file")
    lower, upper = bounds(np.concatenate(plan.rings()))
    size = upper - lower
    if size.max() < LEAST or size.max() > MOST:
        raise ExchangeError(f"{path}: the plan is {size[0]:.3g} m x {size[1]:.3g} m: the unit is wrong; {how}")
