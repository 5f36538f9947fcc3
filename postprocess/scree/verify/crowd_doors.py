"""Flow of people through doors beside published experiments."""
from dataclasses import dataclass

from scree.verify.crowd_decks import crowd_deck

DT, LONGEST = 0.05, 8000    # [s]; steps of a run


@dataclass(frozen=True)
class Door:
    """A neck of this width and depth [m]."""
    width: float
    depth: float

    @property
    def room(self):
        """The room before it: length, width [m], people in it."""
        if self.depth < 1:
            return 8, 6, 100
        return (10, 8, 200) if self.width < 2.3 else (14, 10, 350)


DOORS = (*(Door(width, 0.4) for width in (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2)),
         *(Door(width, 1) for width in (1.0, 1.2, 1.6, 2.0, 2.4, 3.0, 3.6, 4.4, 5.0)))
QUICK = (Door(0.5, 0.4), Door(1.0, 0.4), Door(1.6, 1), Door(3.0, 1))


def door_deck(door, seed):
    """A space behind the neck is as wide as the room. Half a metre before the neck people begin to stand, three on a square metre."""
    before, density, behind, margin = 0.5, 3, 3, 0.3
    length, width, n_people = door.room
    y0, y1 = width / 2 - door.width / 2, width / 2 + door.width / 2
    x1, x2, start = length + door.depth, length + door.depth + behind, length - before
    end = start - n_people / density / (width - 2 * margin)
    walkable = [[0, 0], [length, 0], [length, y0], [x1, y0], [x1, 0], [x2, 0], [x2, width], [x1, width], [x1, y1], [length, y1],
                [length, width], [0, width]]
    middle = length + door.depth / 2
    deck = crowd_deck(DT, LONGEST, walkable, exits={"end": {"line": [[x2, 0], [x2, width]]}},
                      populations={"crowd": {"count": n_people, "region": [[end, margin], [start, margin], [start, width - margin],
                                                                           [end, width - margin]]}},
                      analysis={"every_steps": 1}, measures={"neck": {"type": "line_flow", "line": [[middle, y0], [middle, y1]]}})
    deck["simulation"]["seed"] = seed
    return deck


def door_flow(door, course):
    """Between the 20th and the 80th percentile of those who pass the middle of the neck; 0 if they stop [1/s]."""
    n_people = door.room[2]
    time, passed = course.scalars["time"], course.scalars["neck_net"]
    first, last = (passed >= n_people // 5).nonzero()[0], (passed >= n_people * 4 // 5).nonzero()[0]
    if len(last) == 0:
        return 0.0
    return float((passed[last[0]] - passed[first[0]]) / (time[last[0]] - time[first[0]]))


def flows_near(published, width):
    """What experiments found at a width: of each that has points within 10 % of it the mean flow per metre, times the width."""
    near, rounding = 0.1, 1e-9
    found = {}
    for experiment, at, flow in published:
        if abs(at - width) <= near * width + rounding:
            found.setdefault(experiment, []).append(flow / at)
    return {experiment: width * sum(flows) / len(flows) for experiment, flows in sorted(found.items())}


def tolerated_share(width):
    """Share of the middle by which a flow may be off it."""
    return 0.2 if width < 0.55 else 0.1


MISSED = dict.fromkeys((0.6, 0.7), "the published middle falls from 1.30 /s at 0.6 m to 1.24 /s at 0.7 m, as one of two experiments ends there")


def verify_doors(laboratory, table):
    """Doors of 0.4 m to 5 m."""
    rows = laboratory.table("crowd/bottleneck_flow.csv", "experiment,width[m],flow[1/s]")
    published = [(experiment, float(width), float(flow)) for experiment, width, flow in rows]
    n_seeds = 1 if laboratory.quick else 3
    for door in QUICK if laboratory.quick else DOORS:
        courses = laboratory.run_all([door_deck(door, seed) for seed in range(1, n_seeds + 1)])
        flow = sum(door_flow(door, course) / n_seeds for course in courses)
        near = flows_near(published, door.width)
        middle = sum(value / len(near) for value in near.values())
        off = tolerated_share(door.width) * middle
        found = ", ".join(f"{experiment} {value:.2f}" for experiment, value in near.items())
        table.show(f"     published at {door.width:g} m: {found}")
        table.within("doors", f"door {door.width:g} m wide, {door.depth:g} m deep: flow [1/s]", flow, middle - off, middle + off,
                     MISSED.get(door.width, ""))
