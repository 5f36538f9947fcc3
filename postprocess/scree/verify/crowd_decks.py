"""Decks of people, and what their results say of every step."""
import numpy as np

from scree.results.record import Trajectory
from scree.verify.grain_deck import constant, duration
from scree.verify.numbers import shortest

NEVER = 10**9   # steps between two rows or frames: only the first and the last are written


def crowd_deck(dt, steps, walkable, **tables):
    """A deck of people that records only who is where at the start and at the end. `walkable`: corners of the plan; `tables`: more
    tables of the deck."""
    deck = {"simulation": {"dimension": 2, "scheme": "crowd", "end_time": duration(steps, dt)}, "time": {"step": dt},
            "walkable": {"polygon": walkable}}
    deck["output"] = {"h5md": {"every_steps": NEVER}, "certificate": {"every_steps": NEVER}, "checkpoint": {"wall_time": 0}}
    return deck | tables


def record_steps(deck, contacts_up_to=1e-3):
    """Every step is to leave its frame, its contacts and its certificate; `contacts_up_to`: gap of contacts, over the radii."""
    deck["output"] |= {"h5md": {"every_steps": 1}, "certificate": {"every_steps": 1},
                       "vtk": {"every_steps": 1, "precision": "double", "obstacles": False}}
    deck["analysis"] = {"contact_tolerance": contacts_up_to}
    return deck


def person(radius, speed, **keys):
    """A table of [agents] whose people are all alike."""
    return {"radius": constant(radius), "speed": constant(speed)} | keys


def at_places(laboratory, name, places, **keys):
    """A table of [populations] with people at these places, who get the ids 0, 1, ... if it is the only one. `name`: of its file."""
    rows = "".join(f"{shortest(x)},{shortest(y)}\n" for x, y in places)
    return {"file": laboratory.file(f"{name}.csv", "x,y\n" + rows)} | keys


def run_quietly(laboratory, table, decks):
    """The Courses of decks that nothing is to be warned of."""
    courses = laboratory.run_all(decks)
    for course in courses:
        log = (course.results.folder / "case.log").read_text(encoding="utf-8")
        for line in log.splitlines():
            if "warning: " in line:
                table.count(False, line)
    return courses


class Steps:
    """All frames of a run that nobody leaves: positions and velocities (frames, people, 2), radii (people,). Frame k is step k."""

    def __init__(self, course):
        self.course = course
        with Trajectory(course.results.folder / "case.h5") as record:
            self.position, self.velocity = record.series("position"), record.series("velocity")
            self.radius = record.radius(0)

    def loads(self, frame):
        """Multipliers [m/s] of the contacts of a frame: {(id, id): load} of pairs, the smaller id first, and of walls the arrays
        (contacts,), (contacts, 2), (contacts,): who, where on the wall, how much."""
        contacts = self.course.results.contacts(frame)
        if len(contacts["ends"]) == 0:
            return {}, (np.empty(0, int), np.empty((0, 2)), np.empty(0))
        a, b, load = contacts["id_a"], contacts["id_b"], contacts["normal_force"]
        pairs = {(min(i, j), max(i, j)): l for i, j, l in zip(a[b >= 0].tolist(), b[b >= 0].tolist(), load[b >= 0].tolist())}
        return pairs, (a[b < 0], contacts["ends"][b < 0, 1, :2], load[b < 0])
