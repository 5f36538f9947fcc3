"""Lifts: test 2.7 of NIST Technical Note 1822 (2013), "elevator usage", and what must hold of cabins and their doors.

Bands and expectations were written down before the first run of the file.

    python3 tests/vv/test_lifts.py --bin build/release/bin [--report] [function...]
"""
import math

import numpy as np

from crowd_runs import Criteria, crowd_deck, rectangle, run_crowd
from decks import constant

CRITERIA = Criteria("Lifts: NIST TN 1822")

HEIGHT = 6.0            # of the upper room above the ground [m]
SPEED = 1.5             # of the cabin [m/s]
DOOR_TIME = 4.0         # [s]
DWELL = 3.0             # [s]
DEPTH = 2.0             # of the cabin [m]
LENGTH = 10.0           # of both rooms, from the exit to the door of the lift [m]
RADIUS = 0.19           # [m]
CALL_REACH = 2.0        # from which people call a lift, as docs/method.md has it [m]
ABSORBED = 0.5          # behind the line of the exit [m]


def _building(lift=None, **tables):
    """A room on the ground and one above it, joined by a lift at their right ends; the exit is on the ground at the left."""
    room = {"polygon": rectangle(0, 0, LENGTH, 6)}
    floors = {"ground": {"elevation": 0.0, "walkable": room}, "upper": {"elevation": HEIGHT, "walkable": room}}
    cabin = {"cabin": rectangle(LENGTH, 2, LENGTH + DEPTH, 4), "door": [[LENGTH, 2.4], [LENGTH, 3.6]], "floors": ["ground", "upper"],
             "to": "ground", "speed": SPEED, "door_time": DOOR_TIME, "dwell": DWELL, **(lift or {})}
    return {"floors": floors, "lifts": {"lift": cabin}, "exits": {"street": {"floor": "ground", "line": [[0, 2], [0, 4]]}}, **tables}


def _trips(run, capacity=None):
    """Numbers of people in the cabin at the beginning of each ride down, from the trajectory."""
    loads, was_riding = [], False
    for frame in run.paths.frames:
        rows = run.paths.rows(frame)
        inside = run.paths.level_of_row[rows] == len(run.deck["floors"]) + len(run.deck.get("connectors", {}))
        heights = run.paths.height_of_row[rows][inside]
        rides = len(heights) > 0 and 0 < heights[0] < HEIGHT
        if rides and not was_riding:
            loads.append(int(inside.sum()))
        was_riding = rides
    return loads


def test_2_7_one_person(folder):
    """NIST 2.7: somebody in the upper room uses the lift, which comes, takes them down, and they leave. Closed form, for
    somebody who walks v = 1 m/s straight to the lift, which stands on the ground: walk until 2 m before the door, ride up,
    half of the door time, walk in, dwell, half of the door time, ride down, half of the door time, walk from the back of the
    cabin to the exit. Within 0.3 s, of which steps of 0.01 s take up to 0.08 s."""
    start, v = 4.0, 1.0
    ride = HEIGHT / SPEED
    expected = ((LENGTH - start - CALL_REACH) / v + ride + DOOR_TIME / 2            # it comes
                + 2 * RADIUS / v + DWELL + DOOR_TIME / 2                            # who is in does not touch the door any more
                + ride + DOOR_TIME / 2 + (DEPTH - RADIUS + LENGTH + ABSORBED) / v)
    deck = crowd_deck(None, step=0.01, fps=20, **_building(
        agents={"one": {"speed": constant(v), "radius": constant(RADIUS)}},
        populations={"one": {"floor": "upper", "count": 1, "region": rectangle(start - 0.001, 2.999, start + 0.001, 3.001)}}))
    run = run_crowd(folder, deck, name="one")
    CRITERIA.row("2.7 one", "NIST 2.7", f"out at {expected:.2f} s +- 0.3 s: walk, wait, ride, walk", f"{run.last_left:.2f} s",
                 abs(run.last_left - expected) <= 0.3)
    heights = run.paths.height_of_row
    riding = (heights > 0) & (heights < HEIGHT)
    taken = np.count_nonzero(riding) / run.paths.fps
    CRITERIA.row("2.7 ride", "NIST 2.7", f"the ride takes {ride:.2f} s +- 0.1 s, in the cabin only", f"{taken:.2f} s",
                 abs(taken - ride) <= 0.1 and set(run.paths.level_of_row[riding]) == {2})
    lift = run.evacuation["lifts"]["lift"]
    CRITERIA.row("2.7 counted", "NIST 2.7", "1 trip, 1 person", f"{lift['trips']}, {lift['persons']}",
                 lift == {"trips": 1, "persons": 1})


def test_2_7_trips(folder):
    """N people before a lift of capacity c need ceil(N/c) trips, with as many in each but the last as it holds; everybody is
    in some room or in the cabin in each row, and 1, 2 and 3 ranks write the same agents.csv."""
    for people, capacity in ((20, 6), (30, 10), (33, 16)):
        deck = crowd_deck(None, fps=10, **_building(
            {"capacity": capacity}, populations={"crowd": {"floor": "upper", "count": people, "region": rectangle(4, 0, 10, 6)}}))
        run = run_crowd(folder, deck, name=f"of_{people}")
        expected = [capacity] * (people // capacity) + [people % capacity] * (people % capacity > 0)
        loads = _trips(run)
        CRITERIA.row(f"2.7, {people} people, {capacity} in a cabin", "NIST 2.7",
                     f"{math.ceil(people / capacity)} trips with {', '.join(map(str, expected))}",
                     f"{run.evacuation['lifts']['lift']['trips']}: {', '.join(map(str, loads))}",
                     loads == expected and run.evacuation["lifts"]["lift"] == {"trips": len(expected), "persons": people})
        sums = set()
        for frame in run.paths.frames:
            rows = run.paths.rows(frame)
            sums.add(int(rows.stop - rows.start + np.count_nonzero(run.agents["left"] <= frame / run.paths.fps + 1e-9)))
        CRITERIA.row(f"2.7, {people} people, none lost", "-", f"{people} people in every frame", f"{sorted(sums)}",
                     sums == {people})
    texts = {run.path("agents.csv").read_bytes()}
    texts |= {run_crowd(folder, deck, name="of_33", ranks=ranks).path("agents.csv").read_bytes() for ranks in (2, 3)}
    CRITERIA.row("2.7 ranks", "-", "the same bytes of agents.csv on 1, 2, 3 ranks", f"{len(texts)} different", len(texts) == 1)


def test_small_cabin(folder):
    """A cabin of 1.4 m x 1.6 m and its default capacity of 8, 40 people who press before it: it leaves with 8 each time."""
    deck = crowd_deck(None, fps=10, **_building(
        {"cabin": rectangle(LENGTH, 2.2, LENGTH + 1.4, 3.8)},
        populations={"crowd": {"floor": "upper", "count": 40, "region": rectangle(4, 0, 10, 6)}}))
    loads = _trips(run_crowd(folder, deck, name="small"))
    CRITERIA.row("small cabin", "-", "5 trips with 8 each", f"{loads}", loads == [8] * 5)


def test_lift_or_stair(folder):
    """Who finds the lift nearer than the stair takes it, and the other way round: the route of the least time counts, with
    the time that a lift is reckoned to take (2 rides, 1.5 times the door time, the dwell: 17 s, and some 20 s of walking; the
    stair takes 13.3 s, and then as long a walk). With `wait` = 100 s all take the stair."""
    stair = {"stair": {"polygon": rectangle(-8, 0, 0, 2), "bottom": {"floor": "yard", "line": [[-8, 0], [-8, 2]]},
                       "top": {"floor": "upper", "line": [[0, 0], [0, 2]]}}}
    used = {}
    for name, lift in (("near", {}), ("late", {"wait": 100.0})):
        tables = _building(lift, connectors=stair, populations={
            f"at_{k}": {"floor": "upper", "count": 5, "region": region}
            for k, region in (("stair", rectangle(0.5, 0, 2, 3)), ("lift", rectangle(7, 2, 9, 4)))})
        tables["floors"]["yard"] = {"elevation": 0.0, "walkable": {"polygon": rectangle(-24, 0, -8, 2)}}
        tables["exits"]["gate"] = {"floor": "yard", "line": [[-24, 0], [-24, 2]]}
        run = run_crowd(folder, crowd_deck(None, fps=5, **tables), name=name)
        used[name] = [len(run.left(population=f"at_{k}", by="street")) for k in ("stair", "lift")]
    CRITERIA.row("lift or stair", "-", "none of 5 beside the stair and all of 5 before the lift ride", f"{used['near']}",
                 used["near"] == [0, 5])
    CRITERIA.row("lift that is late", "-", "nobody rides", f"{used['late']}", used["late"] == [0, 0])


def test_floors_take_turns(folder):
    """Three floors with 12 people each over a lift for 4: all floors are empty in the end, and the lift does not serve one
    until it is empty: when half have left, each floor has lost some. Who is taken in at the top may be joined below."""
    room = {"polygon": rectangle(0, 0, LENGTH, 6)}
    tables = _building({"capacity": 4, "floors": ["ground", "first", "second", "third"]})
    tables["floors"] = {name: {"elevation": 3.0 * k, "walkable": room} for k, name in enumerate(("ground", "first", "second", "third"))}
    tables["populations"] = {name: {"floor": name, "count": 12, "region": rectangle(5, 0, 10, 6)} for name in ("first", "second", "third")}
    run = run_crowd(folder, crowd_deck(None, fps=5, **tables), name="turns")
    half = np.sort(run.agents["left"])[17]
    by_then = [int(np.count_nonzero(run.left(population=name) <= half)) for name in ("first", "second", "third")]
    CRITERIA.row("turns", "-", "4 to 8 of the first 18 to leave from each floor", f"{by_then}", all(4 <= n <= 8 for n in by_then))
    CRITERIA.row("turns, trips", "-", "9 trips, 36 persons", f"{run.evacuation['lifts']['lift']}",
                 run.evacuation["lifts"]["lift"] == {"trips": 9, "persons": 36})


def test_closed_lift(folder):
    """A lift that closes at 20 s: who is in it gets down, nobody enters it later, and the others take the stair, which was
    the longer route until then."""
    tables = _building({"capacity": 6, "closed_from": 20.0},
                       connectors={"stair": {"polygon": rectangle(-8, 0, 0, 2), "bottom": {"floor": "yard", "line": [[-8, 0], [-8, 2]]},
                                             "top": {"floor": "upper", "line": [[0, 0], [0, 2]]}}},
                       populations={"crowd": {"floor": "upper", "count": 20, "region": rectangle(7, 1, 9, 5)}})
    tables["floors"]["yard"] = {"elevation": 0.0, "walkable": {"polygon": rectangle(-60, 0, -8, 2)}}
    tables["exits"]["gate"] = {"floor": "yard", "line": [[-60, 0], [-60, 2]]}
    run = run_crowd(folder, crowd_deck(None, fps=10, **tables), name="closes")
    by_lift, by_stair = len(run.left(by="street")), len(run.left(by="gate"))
    entered = set()
    for frame in run.paths.frames:
        rows = run.paths.rows(frame)
        if frame / run.paths.fps > 20.5:
            entered |= {int(i) for i in run.paths.id_of_row[rows][(run.paths.level_of_row[rows] == 4)
                                                                 & (run.paths.height_of_row[rows] == HEIGHT)]}
    CRITERIA.row("closed lift", "-", "6 ride, the other 14 take the stair; nobody enters later",
                 f"{by_lift}, {by_stair}; {len(entered)}", (by_lift, by_stair) == (6, 14) and not entered)
