"""Buildings of several floors in JuPedSim's geometry: subrooms at one height make a floor, sloped ones between two of them are
connectors. The height of a subroom is z = A_x x + B_y y + C_z (documentation of JuPedSim 0.8, "geometry file")."""
from dataclasses import dataclass

import numpy as np

from scree.exchange.outlines import is_within
from scree.exchange.plan import joined, name_of, place

THICKNESS = 0.01    # [m] of walls between two subrooms, which have none in the file
BESIDE = 0.005      # [m] beside a wall or a line, to see what is there
STEEPEST = 60.0     # [deg] that scree takes
ESCALATOR = 0.5     # [m/s] speed of the steps, which the file does not say
STAIRS = ("stair", "stairs", "escalator_up", "escalator_down")


@dataclass
class Subroom:
    """A subroom: `doors` are (line, where it leads), None outside; `height` [m] is C_z."""
    key: tuple
    name: str
    room: str
    kind: str
    slope: np.ndarray
    height: float
    ring: np.ndarray
    walls: list
    doors: list
    element: object

    @property
    def is_stair(self):
        return bool(self.slope.any()) or self.kind in STAIRS

    @property
    def what(self):
        return self.kind if self.kind in STAIRS else "slope"

    def height_at(self, point):
        return float(self.height + self.slope @ point)


class _NotMapped(Exception):
    """Why a stair is no connector."""


def building(name, source, subrooms, heights, plan_of):
    """The plan of all floors. `heights`: subrooms of each height [m]; `plan_of(name, subrooms)`: the plan of one floor."""
    names = _names(heights)
    plans = {names[height]: (height, plan_of(names[height], heights[height])) for height in sorted(heights)}
    plan = joined(name, source, plans)
    floor_of = {one.key: names[height] for height, some in heights.items() for one in some}
    taken_lines = []
    for stair in (one for one in subrooms if one.is_stair):
        try:
            table = _connector(stair, floor_of, plan, taken_lines)
        except _NotMapped as why:
            plan.leave_out(f"{stair.what} that {why}", f"{stair.name}, at {place(stair.ring.mean(axis=0))} m")
            continue
        plan.connectors[name_of(f"{stair.what}_{'_'.join(stair.key)}", plan.connectors)] = table
        taken_lines += [(table[end]["floor"], table[end]["line"]) for end in ("bottom", "top")]
        _cut_out(stair, table, plan)
        if table["type"] == "escalator":
            plan.notes.append(f"{stair.name}: the file does not say how fast the escalator is: {ESCALATOR:g} m/s")
    return plan


def _names(heights):
    """Names of floors by height: that of their rooms where all have the same and no other floor has it, else floor_1 and so on,
    from below."""
    captions = {height: {one.room for one in some} for height, some in heights.items()}
    found = {}
    for number, height in enumerate(sorted(heights), 1):
        mine = captions[height]
        is_own = len(mine) == 1 and "" not in mine and sum(bool(mine & other) for other in captions.values()) == 1
        found[height] = name_of(next(iter(mine)) if is_own else f"floor_{number}", found.values())
    return found


def _connector(stair, floor_of, plan, taken_lines):
    """The table of the connector that a stair is. Raises _NotMapped with the reason why it is none."""
    ends = []
    for line, there in stair.doors:
        if there is None:
            raise _NotMapped("has an exit on it")
        if there not in floor_of:
            raise _NotMapped(f"leads to another stair (room {there[0]}, subroom {there[1]})")
        ends.append((plan.floors[floor_of[there]].elevation, floor_of[there], line[[0, -1]]))
    if len(ends) != 2:
        raise _NotMapped(f"has {len(ends)} doors; a connector has two")
    (low, lower, bottom), (high, upper, top) = sorted(ends, key=lambda end: end[0])
    if lower == upper:
        raise _NotMapped(f"begins and ends on the floor {lower}")
    run = float(np.linalg.norm(top.mean(axis=0) - bottom.mean(axis=0)))
    if np.degrees(np.arctan2(high - low, run)) > STEEPEST:
        raise _NotMapped(f"is steeper than {STEEPEST:g} degrees: it rises by {high - low:g} m on {run:.3g} m")
    for floor, line in ((lower, bottom), (upper, top)):
        if any(floor == there and np.abs(np.sort(line, axis=0) - np.sort(other, axis=0)).max() < BESIDE for there, other in taken_lines):
            raise _NotMapped(f"has its door at {place(line[0])} m in common with another")
    for height, line in ((low, bottom), (high, top)):
        said = stair.height_at(line.mean(axis=0))
        if stair.slope.any() and abs(said - height) > 0.1:
            plan.notes.append(f"{stair.name}: its slope ends at {said:.3g} m, the floor there is at {height:g} m, which counts")
    kind = {"type": "stair"}
    if stair.kind.startswith("escalator"):
        kind = {"type": "escalator", "speed": ESCALATOR, "direction": stair.kind.rpartition("_")[2]}
    elif stair.kind not in STAIRS:
        kind = {"type": "ramp"}
    return kind | {"polygon": stair.ring, "bottom": {"floor": lower, "line": bottom}, "top": {"floor": upper, "line": top}}


def _cut_out(stair, table, plan):
    """Cuts a stair out of floors that go on above or below it: people would walk there in the way of its end."""
    middle = stair.ring.mean(axis=0)
    for end in ("bottom", "top"):
        name, line = table[end]["floor"], table[end]["line"]
        floor = plan.floors[name]
        along = (line[1] - line[0]) / np.linalg.norm(line[1] - line[0])
        across = np.array([-along[1], along[0]])
        across *= np.sign(across @ (middle - line.mean(axis=0))) or 1.0
        points = line[0] + np.linspace(0.1, 0.9, 9)[:, None] * (line[1] - line[0]) + BESIDE * across
        if is_within(floor.walkable, points).any():
            floor.obstacles[name_of(f"well_{'_'.join(stair.key)}", floor.obstacles)] = stair.ring
            plan.notes.append(f"{stair.name}: cut out of the floor {name}, which goes on there")


def inner_walls(subrooms, plan):
    """Thin rectangles in place of walls with an area of the floor on both sides: such walls have no thickness in the file, and
    would be lost where areas meet."""
    rings = [one.ring for one in subrooms]
    corners = np.concatenate(rings)
    doors = [end for one in subrooms for line, _ in one.doors for end in (line[0], line[-1])]
    pieces = {}
    for one in subrooms:
        others = [[ring] for ring in rings if ring is not one.ring]
        for path in one.walls if others else []:
            for p, q in zip(path, path[1:]):
                for a, b in _cut_at(p, q, corners):
                    if _has_both_sides(a, b, one.ring, others):
                        pieces[tuple(sorted((tuple(np.round(a, 6)), tuple(np.round(b, 6)))))] = (a, b)
    walls = [_rectangle(a, b, doors) for a, b in pieces.values()]
    if walls:
        plan.notes.append(f"{len(walls)} walls between subrooms have no thickness in the file; here it is {THICKNESS:g} m")
    return walls


def _cut_at(p, q, corners):
    """Pieces of an edge between the corners that lie on it."""
    length = np.linalg.norm(q - p)
    if length == 0:
        return []
    along = (corners - p) @ (q - p) / length**2
    aside = np.abs((corners - p) @ np.array([p[1] - q[1], q[0] - p[0]])) / length
    inside = (aside < 1e-6) & (along > 1e-9) & (along < 1 - 1e-9)
    cuts = np.unique(np.concatenate([[0.0, 1.0], along[inside]]))
    return [(p + s * (q - p), p + t * (q - p)) for s, t in zip(cuts, cuts[1:]) if (t - s) * length > 1e-6]


def _has_both_sides(a, b, ring, others):
    """Whether on one side of an edge is its own subroom, and on the other one of the others."""
    along = (b - a) / np.linalg.norm(b - a)
    beside = (a + b) / 2 + BESIDE * np.array([[-along[1], along[0]], [along[1], -along[0]]])
    mine = is_within([[ring]], beside)
    return bool(mine.sum() == 1 and is_within(others, beside[~mine])[0])


def _rectangle(a, b, doors):
    """The wall from a to b: it reaches beyond its ends by half its thickness, so that walls meet, but not into doors."""
    along = (b - a) / np.linalg.norm(b - a)
    across = THICKNESS / 2 * np.array([-along[1], along[0]])
    start, end = (THICKNESS / 2 * (not any(np.abs(at - door).max() < 1e-6 for door in doors)) for at in (a, b))
    a, b = a - start * along, b + end * along
    return np.array([a - across, b - across, b + across, a + across])
