"""Decks of tests: a dict of tables, most of it defaults, so that a test says only what matters for it.

    grains({"particles.disks": {"radius": constant(0.04), "source": lattice(0.1, [0, 0], [1, 1])}}, scheme="dem", step=1e-4)

Tests of messages that name a line keep their decks as text, which has lines.
"""
import copy
import json


def grains(changes, *, scheme="nonsmooth", end=0.1, step="5 ms", material="stone") -> str:
    """Grains above a floor at y = 0 under gravity, in the plane, in a box of 1 m x 1 m; all bodies and obstacles are of one
    `material` that has friction and restitution. `changes`: "table.key" -> value, or None to take it away; they bring
    "particles.NAME", with radius and source."""
    stiffness = {"stiffness": "2e6 N/m"} if scheme == "dem" else {}
    tables = {"nonsmooth": {"solver": {"type": "nsgs"}}, "dem": {"dem": {"law": "linear"}}, "event": {"event": {"impact_law": "multiple"}}}
    deck = {"simulation": {"dimension": 2, "scheme": scheme, "end_time": end}, **tables[scheme],
            "domain": {"lower": [0, 0], "upper": [1, 1]}, "time": {"step": step}, "physics": {"gravity": [0, -9.81]},
            "materials": {material: {"density": 2500}},
            "pairs": {f"{material}-{material}": {"friction": 0.3, "restitution": 0.2, **stiffness}},
            "obstacles": {"floor": plane([0, 0], [0, 1])}}
    deck = changed(deck, changes)
    for thing in (*deck.get("particles", {}).values(), *deck.get("obstacles", {}).values()):
        thing.setdefault("material", material)
    return toml(deck)


def plane(point, normal) -> dict:
    """An obstacle."""
    return {"type": "plane", "point": point, "normal": normal}


def constant(value) -> dict:
    """A distribution with one value."""
    return {"distribution": "constant", "value": value}


def uniform(least, most) -> dict:
    return {"distribution": "uniform", "min": least, "max": most}


def lattice(spacing, lower, upper) -> dict:
    """A source of bodies."""
    return {"type": "lattice", "spacing": spacing, "region": {"lower": lower, "upper": upper}}


def changed(deck, changes) -> dict:
    """A deck with changes "table.key" -> value; None takes away what there is. Dicts are merged."""
    result = copy.deepcopy(deck)
    for path, value in copy.deepcopy(changes).items():
        *tables, key = path.split(".")
        table = result
        for name in tables:
            table = table.setdefault(name, {})
        if value is None:
            table.pop(key)
        elif isinstance(value, dict) and isinstance(table.get(key), dict):
            table[key] = table[key] | value
        else:
            table[key] = value
    return result


def toml(table, path=()) -> str:
    """The text of a dict of dicts, lists and values."""
    lines, below = [], []
    for key, value in table.items():
        here = (*path, key)
        if isinstance(value, dict):
            below.append(f"[{'.'.join(here)}]\n{toml(value, here)}")
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            below += [f"[[{'.'.join(here)}]]\n{toml(entry, here)}" for entry in value]
        else:
            lines.append(f"{key} = {json.dumps(value)}\n")
    return "".join(lines) + "".join(below)


def edited(text, *changes) -> str:
    """A text with changes (old, new), each of which it must hold once."""
    for old, new in changes:
        if text.count(old) != 1:
            raise ValueError(f"the deck has {old!r} {text.count(old)} times, not once")
        text = text.replace(old, new)
    return text
