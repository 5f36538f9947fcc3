"""What a run of a crowd assumed, in tables: exits, floors, people, models."""
from html import escape

import numpy as np

from scree.report.tables import UNITS, distribution, plain, section_tables, table, values_of

TABLES_OF_MODELS = ("simulation", "time", "crowd", "navigation", "hazard")
OF_THE_PAGE = ("simulation.title", "simulation.dimension", "simulation.ensemble", "simulation.scheme")     # it says these elsewhere
SHOWN_OF_PEOPLE = ("count", "density", "schedule", "rate", "agents", "shares", "premovement", "region", "floor", "file")
WITHOUT_EFFECT = {"separate": False, "placement": "random"}


def assumptions(runs, plan):
    run = runs[0]
    deck = run.tables
    if not deck:
        return f'<p class="missing">There is no {escape(run.name)}.resolved.toml: nothing says what the run assumed.</p>'
    several = len(plan.floors) > 1
    found = exits(plan, run.end_time or np.inf, several) + (levels(deck, plan) if several else "")
    kinds = [kind_of_people(run, name, kind) for name, kind in (deck.get("agents") or {"person": {}}).items()]
    found += "<h3>Kinds of people</h3>" + table(("kind", "radius", "free speed", "time gap", "creep speed", "more"), kinds)
    for title in ("populations", "sources"):
        if deck.get(title):
            found += f"<h3>{title.capitalize()}</h3>" + table(
                ("name", *(["floor"] if several else []), "people", "kinds", "pre-movement", "more"),
                [population(run, name, one, several) for name, one in deck[title].items()])
    rows = [(f"{name}.{key}", value) for name in TABLES_OF_MODELS for key, value in values_of(deck.get(name, {}), UNITS)]
    found += "<h3>Run and models</h3>" + table(("key", "value"), [row for row in rows if row[0] not in OF_THE_PAGE], "keys")
    laws = run.facts.get("evacuation", {}).get("hazard", {}).get("laws", [])
    if laws:
        found += "<h3>Laws of smoke</h3><ul>" + "".join(f"<li>{escape(law)}</li>" for law in laws) + "</ul>"
    return found + section_tables(deck, ("journeys", "waypoints", "zones"), UNITS)


def exits(plan, end, several):
    if not plan.exits:
        return ""
    rows = [(door.name, *([plan.floors[door.floor].name] if several else []), f"{door.width:.2f}" if door.is_line else "an area",
             door.text(end), f"{door.max_flow:g}" if door.max_flow else "unlimited") for door in plan.exits]
    return "<h3>Exits</h3>" + table(("exit", *(["floor"] if several else []), "width [m]", "open", "largest flow [1/s]"), rows)


def levels(deck, plan):
    """Floors, and what joins them: sizes in plan, slopes, factors of speeds, lifts."""
    floors = [(level.name, f"{level.elevation:g}", walkable.get("file", "in the deck"), ", ".join(walkable.get("obstacles", {})) or "-")
              for level in plan.floors for walkable in [deck["floors"][level.name].get("walkable", {})]]
    found = "<h3>Floors</h3>" + table(("floor", "elevation [m]", "plan", "obstacles"), floors)
    rows = []
    for level in (level for level in plan.levels if level.kind not in ("floor", "lift")):
        one = deck["connectors"][level.name]
        ends = [plan.levels[k] for k in level.floors]
        if len(ends) < 2:
            continue
        lines = [level.lines[k] for k in level.floors]
        run = float(np.linalg.norm(lines[0].mean(axis=0) - lines[1].mean(axis=0)))
        rise = ends[1].elevation - ends[0].elevation
        rows.append((level.name, level.kind, f"{ends[0].name} to {ends[1].name}", f"{min(np.linalg.norm(p - q) for p, q in lines):.2f}",
                     f"{run:.2f}", f"{rise:g}", f"{np.degrees(np.arctan2(rise, run)):.0f}°", speeds(level.kind, one),
                     f"until {level.closed_from:g} s" if np.isfinite(level.closed_from) else "always"))
    if rows:
        found += "<h3>Connectors</h3>" + table(("connector", "type", "from, to", "width [m]", "length in plan [m]", "rise [m]", "slope",
                                                "speeds", "open"), rows)
    if deck.get("lifts"):
        keys = ("capacity", "speed", "door_time", "dwell", "wait")
        rows = [(name, ", ".join(one["floors"]), one["to"], *(f"{plain(one[key])} {UNITS.get(key, '')}".strip() if key in one else "default"
                 for key in keys), f"until {one['closed_from']:g} s" if "closed_from" in one else "always") for name, one in deck["lifts"].items()]
        found += "<h3>Lifts</h3>" + table(("lift", "floors", "to", *(key.replace("_", " ") for key in keys), "open"), rows)
    return found


def speeds(kind, one):
    """What a connector does to speeds."""
    if kind == "escalator":
        walk = f", {100 * one['walk']:g} % walk" if one.get("walk") else ", all stand"
        return f"{one.get('speed', 0):g} m/s {one.get('direction', '')}{walk}"
    of_stair = kind == "stair"
    up, down = one.get("up_factor", 0.5 if of_stair else 1), one.get("down_factor", 0.75 if of_stair else 1)
    return f"x {up:g} up, x {down:g} down" + (f", {one['direction']} only" if one.get("direction") else "")


def kind_of_people(run, name, kind):
    """Radius, speed, time gap and creep speed of a kind; where the deck leaves them to scree, what those had whom the run lists."""
    agents = run.part("agents")
    cells = [name]
    for key, column in (("radius", "radius"), ("speed", "desired_speed")):
        if key in kind:
            cells.append(distribution(kind[key], key))
            continue
        text = "default"
        if agents is not None and len(agents):
            own = agents[column][np.array(agents["agent_type"], dtype=object) == name]
            if len(own):
                text += f"; those of the run: mean {own.mean():.3g}, from {own.min():.3g} to {own.max():.3g} {UNITS[key]}"
        cells.append(text)
    cells += [f"{kind[key]:g} {UNITS[key]}" if key in kind else "default" for key in ("headway_time", "creep_speed")]
    others = {key: value for key, value in kind.items() if key not in ("radius", "speed", "headway_time", "creep_speed")}
    return (*cells, ", ".join(f"{key} {text}" for key, text in values_of(others, UNITS)))


def population(run, name, one, several):
    number_of = (f"{one['count']}" if "count" in one else
                 f"{one['density']:g} per m²" if "density" in one else
                 f"{plain(one['schedule'])} (time [s], rate [1/s])" if "schedule" in one else
                 f"{one['rate']:g} per s" if "rate" in one else
                 f"of {one['file']}{_left(run, name)}" if "file" in one else "-")
    kinds = one.get("agents", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    shares = one.get("shares", [])
    of_file = "of the file" if "file" in one else "all alike"
    text = ", ".join(f"{100 * share:g} % {kind}" for kind, share in zip(kinds, shares)) if shares else ", ".join(kinds) or of_file
    more = [f"{key} {plain(value)}" for key, value in one.items()
            if key not in SHOWN_OF_PEOPLE and value != WITHOUT_EFFECT.get(key) and (key != "separate_limit" or one.get("separate"))]
    before = distribution(one["premovement"], "premovement") if "premovement" in one else "of the file" if "file" in one else "none"
    return name, *([one.get("floor", of_file)] if several else []), number_of, text, before, ", ".join(more)


def _left(run, name):
    agents = run.part("agents")
    return "" if agents is None else f", {sum(agents.has_left[k] for k, own in enumerate(agents['population']) if own == name)} of whom left"
