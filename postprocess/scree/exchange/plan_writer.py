"""Decks from floor plans: NAME.toml, NAME.wkt, a table of people, and a list of what was left out."""
from pathlib import Path

import numpy as np

from scree.errors import ExchangeError
from scree.exchange.deck_writer import table_lines
from scree.exchange.outlines import area_of, area_of_polygons, bounds
from scree.exchange.plan import name_of, region_around
from scree.exchange.wkt import wkt_of

COLUMNS = ("id", "x", "y", "radius", "speed", "kind", "premovement", "floor", "journey", "leaves_at")
END_TIME = 600.0    # s, where a file has none: a run ends earlier when everybody has left


def write_plan(plan, folder, people="file", overwrite=False):
    """Writes the plan into the folder; returns the path of the deck. People whose places the file has: with "file" in
    NAME_start.csv, with "count" as many of them at random in the rectangle around them. `people` as a number: so many,
    shared among the regions where people start by area, or in the whole plan. Raises ExchangeError for a deck that is
    there, unless it may be overwritten."""
    folder = Path(folder)
    deck = folder / f"{plan.name}.toml"
    if deck.exists() and not overwrite:
        raise ExchangeError(f"{deck} is there already, perhaps with what was filled in")
    files = {_file_of(plan, floor): wkt_of(storey.walkable) for floor, storey in _storeys(plan).items()}
    populations = _populations(plan, people, files)
    files[deck.name] = "\n".join(_deck_lines(plan, populations))
    files[f"{plan.name}.left_out.txt"] = left_out_text(plan)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return deck


def left_out_text(plan):
    """What was left out, by number, and what was done to the file."""
    lines = [f"{plan.name}: {plan.source}", ""]
    size = np.subtract(*bounds(np.concatenate(plan.rings()))[::-1])
    storeys = _storeys(plan).values()
    area = sum(area_of_polygons(storey.walkable) for storey in storeys)
    n_obstacles = sum(len(storey.obstacles) + len(storey.columns) for storey in storeys)
    levels = f"{_counted(len(plan.floors), 'floor')}, {_counted(len(plan.connectors), 'connector')}, " if plan.floors else ""
    lines.append(f"taken: outlines around {area:.6g} m2, {size[0]:.6g} m x {size[1]:.6g} m, {levels}"
                 f"{_counted(n_obstacles, 'obstacle')}, {_counted(len(plan.exits), 'exit')}, "
                 f"{_counted(len(plan.waypoints), 'waypoint')}, {_counted(len(plan.sources), 'source')}, "
                 f"{_counted(0 if plan.people is None else len(plan.people['x']), 'person', 'people')} with places")
    lines += ["", "left out:", *(f"{count:6d}  {what}" + (f": {where}" if where else "")
                                 for (what, where), count in sorted(plan.left_out.items()))]
    if not plan.left_out:
        lines[-1] += " nothing"
    if plan.notes:
        lines += ["", "to know:", *(f"  {note}" for note in plan.notes)]
    return "\n".join(lines) + "\n"


def _storeys(plan):
    """Areas by the name of the floor, "" for that of a plan of one."""
    return plan.floors or {"": plan}


def _file_of(plan, floor):
    return f"{plan.name}_{floor}.wkt" if floor else f"{plan.name}.wkt"


def _counted(count, one, many=None):
    return f"{count} {one if count == 1 else many or one + 's'}"


def _populations(plan, people, files):
    """Tables of people at the start; adds the file that names their places."""
    found = dict(plan.populations)
    has_positions = plan.people is not None and len(plan.people["x"]) > 0
    if people not in ("file", "count") and (has_positions or found or plan.sources):
        raise ExchangeError(f"{plan.name}: the file says how many people there are: give \"file\" or \"count\", not {people}")
    if has_positions and people == "file":
        files[f"{plan.name}_start.csv"] = _table_of_people(plan.people)
        # Radii that the deck draws are not those of the people: some may then overlap, and are moved apart.
        found["start"] = {"file": f"{plan.name}_start.csv"} | ({} if "radius" in plan.people else {"separate": True})
    elif has_positions:
        found |= _by_count(plan.people)
    elif not found and not plan.sources:
        found = _by_number(plan, people)
    return found


def _table_of_people(people):
    columns = [name for name in COLUMNS if name in people]
    rows = zip(*([_text(value) for value in people[name]] for name in columns))
    return "\n".join([",".join(columns), *(",".join(row) for row in rows)]) + "\n"


def _text(value):
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)


def _by_count(people):
    """A population for each journey, in the rectangle around its people."""
    points = np.column_stack([people["x"], people["y"]])
    journeys = np.array(people.get("journey", [""] * len(points)))
    found = {}
    for journey in sorted(set(journeys)):
        chosen = points[journeys == journey]
        of_journey = {"journey": str(journey)} if journey else {}
        found[f"start_{journey}" if journey else "start"] = {"region": region_around(chosen), "count": len(chosen)} | of_journey
    return found


def _by_number(plan, people):
    """So many people, or one where nobody says how many, in the regions where people start; without any on all floors."""
    regions, floors = plan.starts, plan.start_floors
    areas = [abs(area_of(ring)) for ring in regions.values()]
    if not regions:
        floors = {name_of(f"people_{floor}"): floor for floor in plan.floors} or {"people": ""}
        regions = dict.fromkeys(floors)
        areas = [area_of_polygons(storey.walkable) for storey in _storeys(plan).values()]
    areas = np.array(areas)
    if people in ("file", "count"):
        plan.notes.append("the number of people: the file has none, one stands in each region; --people N places N")
        counts = np.ones(len(areas), int)
    else:
        exact = people * areas / areas.sum()
        counts = np.floor(exact).astype(int)
        counts[np.argsort(counts - exact, kind="stable")[:people - counts.sum()]] += 1
    return {name: ({"floor": floors[name]} if floors.get(name) else {}) | ({} if ring is None else {"region": ring}) | {"count": int(count)}
            for (name, ring), count in zip(regions.items(), counts) if count > 0}


def _deck_lines(plan, populations):
    simulation = {"title": f"{plan.name} from {plan.source}", "dimension": 2, "scheme": "crowd", "seed": plan.seed,
                  "end_time": END_TIME if plan.end_time is None else plan.end_time}
    lines = [f"# From {plan.source}. What was left out is listed in {plan.name}.left_out.txt.",
             *table_lines("simulation", {key: value for key, value in simulation.items() if value is not None}),
             *table_lines("time", {"step": "0.05 s"}),
             *table_lines("crowd.avoidance", {}, "# People who meet avoid each other; without this table they may lock for good.")]
    for floor, storey in _storeys(plan).items():
        lines += _area_lines(plan, floor, storey)
    for name, table in plan.connectors.items():
        lines += table_lines(f"connectors.{name}", table)
    lines += _template(plan)
    for kind in ("exits", "waypoints", "zones", "agents"):
        for name, table in getattr(plan, kind).items():
            lines += table_lines(f"{kind}.{name}", table)
    for name, steps in plan.journeys.items():
        for step in steps:
            lines += table_lines(f"[journeys.{name}.steps]", step)
    for kind, tables in (("populations", populations), ("sources", plan.sources)):
        for name, table in tables.items():
            lines += table_lines(f"{kind}.{name}", table)
    lines += [*table_lines("output.trajectory", {"fps": 10}), *table_lines("analysis", {"every": "1 s"})]
    for name, table in {"inside": {"type": "count"}, **plan.measures}.items():
        lines += table_lines(f"measures.{name}", table)
    return lines


def _area_lines(plan, floor, storey):
    """Tables of the area of a floor, or of the only one."""
    walkable = f"floors.{floor}.walkable" if floor else "walkable"
    lines = table_lines(f"floors.{floor}", {"elevation": f"{storey.elevation:g} m"}) if floor else []
    lines += table_lines(walkable, {"file": _file_of(plan, floor)})
    if storey.columns:
        lines += table_lines(f"{walkable}.obstacles.columns", {"circles": [list(column) for column in storey.columns]})
    for name, ring in storey.obstacles.items():
        lines += table_lines(f"{walkable}.obstacles.{name}", {"polygon": ring})
    return lines


def _template(plan):
    """What to fill in where nothing joins two floors, one above the other, as comments."""
    joined = [{table["bottom"]["floor"], table["top"]["floor"]} for table in plan.connectors.values()]
    order = sorted(plan.floors, key=lambda floor: plan.floors[floor].elevation)
    lines = []
    for lower, upper in zip(order, order[1:]):
        if {lower, upper} not in joined:
            note = f"stairs: nothing joins {lower} and {upper}; the deck has a connector to fill in"
            plan.notes += [note] if note not in plan.notes else []
            lines += [f"# Fill in a stair from {lower} to {upper}: its corners in plan, and the lines on the borders of both floors.",
                      f"# [connectors.stair_{lower}_{upper}]", '# type = "stair"', "# polygon = [[x, y], [x, y], [x, y], [x, y]]",
                      f'# bottom = {{ floor = "{lower}", line = [[x, y], [x, y]] }}',
                      f'# top = {{ floor = "{upper}", line = [[x, y], [x, y]] }}', ""]
    return lines
