"""Where names stand in a plan: those of exits outside of their floor, those of connectors beside them. Lengths in m."""
from dataclasses import dataclass

import numpy as np

from scree.crowd.exits import outward

LETTER = 0.7            # width of a letter over the size of the text
SMALL = 0.8             # size of names of connectors over that of exits
ASLANT = 0.4            # share of x in the direction out of an exit from which on the text lies beside it, not above or below
BEYOND = 0.8            # [m] people who pass a line are seen up to there
LINE = 1.3              # from line to line, over the size of the text

UP, DOWN, LIFT = "\N{UPWARDS ARROW} ", "\N{DOWNWARDS ARROW} ", "\N{UP DOWN ARROW} "


@dataclass
class Label:
    """A text at a place: its middle is there (`across` 0), its right end (-1) or its left end (1)."""
    text: str
    at: np.ndarray
    across: int = 0

    def box(self, size):
        """Lower and upper corner of the text."""
        half = np.array([LETTER * size * len(self.text) / 2, 0.6 * size])
        middle = self.at + [self.across * half[0], 0]
        return middle - half, middle + half


def exit_text(door, time=None):
    """The name of an exit, and that it is closed at a time [s]; without a time when it is open, if not always."""
    when = door.text() if time is None else "open" if door.is_open(time) else "closed"
    return door.name + (f" ({when})" if when != "open" else "")


def connector_text(level, time=None):
    """The same of a connector."""
    if time is None and 0 < level.closed_from < np.inf:
        return f"{level.name} (until {level.closed_from:g} s)"
    return level.name + (" (closed)" if level.is_closed(time or 0.0) else "")


def exit_label(plan, door, size, text=None):
    """The name of an exit, or another text, outside of its floor."""
    direction, depth = outward(door, plan.levels[door.floor].rings)
    is_aside = abs(direction[0]) > 0.9
    across = int(np.sign(direction[0])) if abs(direction[0]) > ASLANT else 0
    distance = max(depth + (0.6 if is_aside else 1.0) * size, BEYOND + (0 if is_aside else 0.6) * size if door.is_line else 0.0)
    return Label(text or door.name, door.middle + direction * distance, across)


def connector_labels(plan, floor, size, text_of=lambda level: level.name):
    """[(level, Label)] of the connectors and lifts of a floor: an arrow to where each leads, of those of one way to where they go, and the name.
    They lie below, above or beside the connector, on no other connector and no other of these names, as far as there is room."""
    levels = [plan.levels[k] for k in plan.connectors_of(floor) if plan.levels[k].polygon is not None]
    boxes = [(level.polygon.min(axis=0), level.polygon.max(axis=0)) for level in levels]
    taken, found = list(boxes), []
    for level, (lower, upper) in zip(levels, boxes):
        text = _arrow(plan, level, floor) + text_of(level)
        middle = (lower + upper) / 2
        places = [Label(text, np.array([middle[0], y])) for k in (0, 1)
                  for y in (lower[1] - (0.8 + k * LINE) * size, upper[1] + (0.8 + k * LINE) * size)]
        places += [Label(text, np.array([lower[0] - 0.4 * size, middle[1]]), -1), Label(text, np.array([upper[0] + 0.4 * size, middle[1]]), 1)]
        chosen = next((label for label in places if not any(_meet(label.box(size), box) for box in taken)), places[0])
        taken.append(chosen.box(size))
        found.append((level, chosen))
    return found


def corners_of_names(plan, size):
    """Corners of all names, for a picture that holds them."""
    labels = [exit_label(plan, door, size, exit_text(door)) for door in plan.exits]
    labels += [label for floor in range(len(plan.floors)) for _, label in connector_labels(plan, floor, SMALL * size, connector_text)]
    return [corner for label in labels for corner in label.box(size)]


def _arrow(plan, level, floor):
    if level.kind == "lift":
        return LIFT
    heights = [plan.levels[k].elevation for k in level.floors]
    is_level = len(heights) == 2 and heights[0] == heights[1]
    if level.direction and is_level:
        return f"to {plan.levels[level.floors[level.direction == 'up']].name} only: "
    if level.direction:
        return UP if level.direction == "up" else DOWN
    if len(heights) < 2 or is_level:
        return ""
    return UP if level.floors[0] == floor else DOWN


def _meet(one, other):
    return bool((one[0] < other[1]).all() and (other[0] < one[1]).all())
