"""The report of a crowd: the plan with people moving, who is inside when, flows, maps, evacuation times, what was assumed."""
from html import escape

import numpy as np

from scree import style
from scree.crowd.curves import column_name, flow_at, inside_at, mean_and_interval, time_of_share
from scree.crowd.density import LEVEL_COLOURS, LEVELS_OF_SERVICE, Grid, density_maps
from scree.crowd.plan import plan_of
from scree.report.charts import Line, chart, class_bar, classed, colour_bar, coloured, png
from scree.report.drawing import View, floor_svg, map_image
from scree.report.tables import (UNITS, differences, distribution, number, plain, script_data, section_tables, table, values_of,
                                 with_spread)
from scree.report.tracks import thinned

KIND = "crowd"
BAND = (5, 95)              # percentiles of runs
WINDOW = 10.0               # that flows and highest densities are means over [s]
CELL = 0.5                  # of maps [m]
UNKNOWN = "#9a9a9a"
SHARES = (0.5, 0.95, 1.0)
SPEEDS = (0.5, 1, 2, 4, 8, 16, 32)      # of playing
TABLES_OF_MODELS = ("simulation", "time", "crowd", "navigation")


def parts(runs, differing, density_limit, megabytes):
    """[(title, html)] of the page."""
    shown = chosen_run(runs)
    paths = shown.part("paths")
    plan = plan_of(shown.tables, paths)
    names = exit_names(runs, plan)
    colours = {name: style.LINE_COLOURS[k % len(style.LINE_COLOURS)] for k, name in enumerate(names)}
    found = [("Result", key_numbers(runs))]
    view = View(plan) if plan.bounds() is not None else None
    found.append(("Plan", moving_plan(shown, runs, plan, view, names, colours, megabytes)))
    found.append(("People inside", inside_chart(runs)))
    if any(len(departures(run)) for run in runs):
        found.append(("Flow through exits", flow_chart(runs, names, colours)))
    if view is not None and paths is not None:
        found.append(("Density", maps(runs, plan, view, density_limit)))
    found.append(("Evacuation times", evacuation_times(runs, names)))
    found.append(("What was assumed", differences(runs, differing) + assumptions(runs, plan)))
    return found


def chosen_run(runs):
    """The run whose people the page shows: of those with a trajectory the one whose last time is the median."""
    with_paths = [run for run in runs if run.part("paths") is not None and len(run.paths.frames)]
    if not with_paths:
        return runs[0]
    return sorted(with_paths, key=lambda run: run.last_time)[(len(with_paths) - 1) // 2]


def exit_names(runs, plan):
    names = dict.fromkeys(door.name for door in plan.exits)
    for run in runs:
        agents = run.part("agents")
        names |= dict.fromkeys([*run.tables.get("exits", {}), *(sorted(set(agents["exit"]) - {""}) if agents is not None else [])])
    return list(names)


def n_people(run):
    """(all who were ever there, left, inside at the end); None without a table."""
    table_of_run = run.part("evacuation")
    if table_of_run is None or len(table_of_run["time"]) == 0:
        return None
    left, inside = int(table_of_run["left"][-1]), int(table_of_run["inside"][-1])
    vanished = run.facts.get("evacuation", {}).get("hazard", {}).get("vanished", 0)
    return left + inside + vanished, left, inside


def n_incapacitated(run):
    """How many smoke incapacitated by the end; None without [hazard]."""
    counted = run.part("evacuation")
    known = counted is not None and "incapacitated" in counted and len(counted["time"])
    return int(counted["incapacitated"][-1]) if known else None


def departures(run, by=None, population=None):
    """Rising times at which people left: all, those by an exit, those of a population."""
    agents = run.part("agents")
    if agents is None:
        return np.zeros(0)
    exits = np.array(agents["exit"], dtype=object)
    chosen = exits != "" if by is None else exits == by     # "": incapacitated
    if population is not None:
        chosen &= np.array(agents["population"], dtype=object) == population
    return np.sort(agents["left"][chosen])


# ---- numbers first

def key_numbers(runs):
    counts = [n_people(run) for run in runs]
    known = [count for count in counts if count]
    items = []
    if known:
        items.append((f"{np.mean([count[0] for count in known]):g}", "people"))
        items.append((f"{np.mean([count[2] for count in known]):g}", "still inside at the end"))
    fallen = [n for n in map(n_incapacitated, runs) if n is not None]
    if fallen:
        items.append((f"{np.mean(fallen):g}", "incapacitated"))
    for share in SHARES:
        times = [time_of_share(departures(run), share, count[0] if count else None) for run, count in zip(runs, counts)]
        mean, half, n = mean_and_interval(times)
        unit = " s" if n else ""
        items.append((with_spread(mean, half, len(runs), n) + unit, f"until {100 * share:g} % had left"))
    boxes = "".join(f'<div><b>{escape(value)}</b><span>{escape(what)}</span></div>' for value, what in items)
    text = f'<div class="numbers">{boxes}</div>'
    if len(runs) > 1:
        text += (f"<p>Means over {len(runs)} runs{seeds(runs)}; after ± half the width of the 95 % interval of the mean "
                 "(Student's t).</p>")
    return text


def seeds(runs):
    found = [run.seed for run in runs if run.seed is not None]
    return f" with the seeds {', '.join(map(str, found))}" if len(set(found)) > 1 and len(found) <= 40 else ""


# ---- the plan

def moving_plan(run, runs, plan, view, names, colours, megabytes):
    if view is None:
        return ('<p class="missing">There is no plan to draw: the deck takes it from a file, and the run has no trajectory. '
                "Give the deck a table [output.trajectory].</p>")
    paths = run.part("paths")
    figures = "".join(
        f'<figure class="floor" data-floor="{k}">' + (f"<figcaption>{escape(floor.name)}</figcaption>" if floor.name else "")
        + f'<div class="stage">{floor_svg(plan, k, view, colours)}<canvas></canvas></div></figure>' for k, floor in enumerate(plan.floors))
    notes = []
    if len(runs) > 1:
        notes.append(f"The people are those of one of the {len(runs)} runs: {escape(run.label)}, of median length.")
    if plan.n_hidden:
        notes.append(f"{plan.n_hidden} part(s) of the area in which nobody ever is are not drawn.")
    data = {"lower": view.lower.tolist(), "upper": view.upper.tolist(), "floors": len(plan.floors),
            "floors_of_level": [level.floors for level in plan.levels], "end": run.last_time,
            "exits": [{"name": name, "colour": colours[name]} for name in names],
            "open": {door.name: [[begin, until if np.isfinite(until) else None] for begin, until in door.times()]
                     for door in plan.exits}}
    controls = ""
    if paths is None or len(paths.frames) == 0:
        notes.append("Nobody moves here: " + ("the run has no trajectory. Give the deck a table [output.trajectory]."
                                              if paths is None else "nobody is in the trajectory."))
    else:
        stride, one_of, tracks = thinned(paths, 0.6e6 * megabytes)
        data["tracks"] = tracks | people_data(run, tracks.pop("ids"), names)
        data["inside"] = inside_data(run, names)
        notes.append(f"People are disks of their size, at {tracks['fps']:.3g} frames a second"
                     + (f" of {paths.fps:g} in the trajectory" if stride > 1 else "") + ", with straight ways between them"
                     + (f"; to keep this file small only one of {one_of} people is drawn" if one_of > 1 else "")
                     + ". Places are rounded to 1 cm. Colours are the exits that people take; grey: they never left.")
        controls = controls_html(plan)
    legend = "".join(f'<li><i style="background:{colours[name]}"></i>{escape(name)}: <span data-left="{k}"></span></li>'
                     for k, name in enumerate(names))
    return (controls + f'<div class="floors" data-n="{len(plan.floors)}">{figures}</div><ul class="legend" id="exits">{legend}</ul>'
            + f'<p class="note">{" ".join(notes)}</p>' + script_data("crowd", data))


def controls_html(plan):
    floors = ""
    if len(plan.floors) > 1:
        choices = "".join(f'<option value="{k}">{escape(floor.name)}</option>' for k, floor in enumerate(plan.floors))
        floors = f'<label>floor <select id="floor"><option value="all">all, side by side</option>{choices}</select></label>'
    speeds = "".join(f'<option value="{speed}"{" selected" if speed == 4 else ""}>{speed} x</option>' for speed in SPEEDS)
    return ('<div class="controls"><button id="play" type="button">Play</button>'
            '<input id="time" type="range" min="0" value="0" step="1" aria-label="time">'
            f'<label>speed <select id="speed">{speeds}</select></label>{floors}</div>'
            '<p class="clock">t = <b id="clock">0</b> s, <b id="inside">-</b> people inside</p>')


def people_data(run, ids, names):
    """Exit (number, -1: never left) and radius [cm] of the people of the trajectory, in order of ids."""
    agents = run.part("agents")
    exits, radii = np.full(len(ids), -1), np.full(len(ids), 19)
    if agents is not None and len(agents):
        own = agents["id"].astype(np.int64)
        place = np.searchsorted(ids, own)
        valid = (place < len(ids)) & (ids[np.minimum(place, len(ids) - 1)] == own)
        radii[:] = np.rint(100 * agents["radius"].mean())
        number = {name: k for k, name in enumerate(names)}      # who is incapacitated never left
        exits[place[valid]] = np.array([number.get(name, -1) for name in agents["exit"]])[valid]
        radii[place[valid]] = np.rint(100 * agents["radius"][valid])
    return {"exit": exits.tolist(), "radius": radii.tolist()}


def inside_data(run, exits):
    """N(t) as counted by the run: times, inside, and left by each exit in the order of their names, at each change."""
    counted = run.part("evacuation")
    if counted is None:
        return None
    columns = {name: f"left_{column_name(name)}" for name in exits if f"left_{column_name(name)}" in counted}
    return {"time": np.round(counted["time"], 6).tolist(), "inside": counted["inside"].astype(int).tolist(),
            "left": {name: counted[column].astype(int).tolist() for name, column in columns.items()}}


# ---- curves

def inside_chart(runs):
    counted = [run for run in runs if has_curve(run)]
    if not counted:
        return '<p class="missing">Nobody has left yet, or no table says who is inside.</p>'
    times = np.linspace(0, max(run.last_time for run in counted) * 1.02, 800)
    inside = [inside_at(run, times) for run in counted]
    if len(inside) == 1:
        return chart([Line("", times, inside[0], is_step=True, colour="#2e333d")], "time [s]", "people inside", "inside-chart")
    low, middle, high = np.percentile(inside, [BAND[0], 50, BAND[1]], axis=0)
    name = f"median of {len(inside)} runs; band: {BAND[0]} % to {BAND[1]} % of the runs"
    return chart([Line(name, times, middle, (low, high), True, "#2e333d")], "time [s]", "people inside", "inside-chart")


def has_curve(run):
    return run.part("evacuation") is not None and len(run.evacuation["time"]) > 1


def flow_chart(runs, names, colours):
    times = np.linspace(0, max(departures(run)[-1] for run in runs if len(departures(run))) + WINDOW, 500)
    lines = []
    for name in names:
        flows = [flow_at(departures(run, by=name), times, WINDOW) for run in runs]
        if not any(np.nansum(flow) > 0 for flow in flows):
            continue
        with np.errstate(invalid="ignore"):
            flow = np.mean(flows, axis=0)
            band = tuple(np.percentile(flows, BAND, axis=0)) if len(runs) > 1 else None
        lines.append(Line(name, times, flow, band, colour=colours[name]))
    what = "mean of the runs, band: " + f"{BAND[0]} % to {BAND[1]} % of them" if len(runs) > 1 else "of this run"
    return (chart(lines, "time [s]", "flow [1/s]", "flow-chart")
            + f'<p class="note">Flow {what}; at each time the mean over the last {WINDOW:g} s.</p>')


# ---- maps

def maps(runs, plan, view, limit):
    with_paths = [run for run in runs if run.part("paths") is not None and len(run.paths.frames)]
    lower, upper = plan.bounds()
    grid = Grid(lower, upper, CELL)
    of_levels = []
    for number in range(len(plan.levels)):
        some = [density_maps(run.paths, number, grid, limit, WINDOW, run.last_time if run.has_ended else None)
                for run in with_paths]
        of_levels.append((np.mean([one.mean for one in some], axis=0), np.max([one.highest for one in some], axis=0),
                          np.mean([one.above for one in some], axis=0)))
    # A floor shows the connectors that join it.
    of_floors = [[sum(of_levels[level][k] for level, other in enumerate(plan.levels) if floor in other.floors) for k in range(3)]
                 for floor in range(len(plan.floors))]
    top_mean, top_highest, top_above = (max(float(one[k].max()) for one in of_floors) for k in range(3))
    runs_text = f" of {len(with_paths)} runs" if len(with_paths) > 1 else ""
    service = ("Level of service (J. J. Fruin, Pedestrian planning and design, 1971: walkways) of the highest density over "
               f"{WINDOW:g} s{runs_text}. Highest: {top_highest:.2f} 1/m².")
    kinds = [("mean density", f"Mean over time{runs_text}. Highest: {top_mean:.2f} 1/m².",
              lambda one: coloured(one[0], style.FIELD_COLOURS, 0, top_mean or 1),
              colour_bar(style.FIELD_COLOURS, 0, top_mean or 1, "mean density [1/m²]")),
             ("level of service", service,
              lambda one: classed(one[1], LEVELS_OF_SERVICE, LEVEL_COLOURS),
              class_bar("ABCDEF", LEVELS_OF_SERVICE, LEVEL_COLOURS, "level of service; bounds in 1/m²")),
             ("exposure", f"Time with more than {limit:g} 1/m²{', mean of the runs' if runs_text else ''}. Longest: {top_above:.1f} s.",
              lambda one: coloured(one[2], "inferno_r", 0, top_above or 1),
              colour_bar("inferno_r", 0, top_above or 1, f"time above {limit:g} 1/m² [s]"))]
    found = []
    for name, text, pixels, bar in kinds:
        figures = "".join(
            '<figure class="map">' + (f"<figcaption>{escape(floor.name)}</figcaption>" if floor.name else "")
            + floor_svg(plan, k, view, {}, False, map_image(png(pixels(of_floors[k])), grid, view)) + "</figure>"
            for k, floor in enumerate(plan.floors))
        found.append(f'<div class="mapset" data-map="{name}"><div class="floors" data-n="{len(plan.floors)}">{figures}</div>{bar}'
                     f'<p class="note">{escape(text)}</p></div>')
    return ("".join(found) + f'<p class="note">Each person is spread evenly over a disk of 1 m²; cells of {CELL:g} m; from the places of '
            "people in the trajectory, at most five times a second.</p>")


# ---- tables

def evacuation_times(runs, names):
    counts = [n_people(run) for run in runs]
    populations = {}        # in the order of the deck
    for run in runs:
        agents = run.part("agents")
        populations |= dict.fromkeys([*run.tables.get("populations", {}), *run.tables.get("sources", {}),
                                      *(sorted(set(agents["population"])) if agents is not None else [])])
    rows = [row_of("everybody", runs, [departures(run) for run in runs], [count[0] if count else None for count in counts])]
    rows += [row_of(f"exit {name}", runs, [departures(run, by=name) for run in runs]) for name in names]
    if len(populations) > 1:
        rows += [row_of(f"population {name}", runs, [departures(run, population=name) for run in runs],
                        [run.tables.get("populations", {}).get(name, {}).get("count") for run in runs]) for name in populations]
    titles = ["", "people", "first [s]", "mean [s]", "50 % [s]", "95 % [s]", "last [s]"]
    note = ("50 % and 95 %: times by which these shares of the people of the row had left; last: by which all had. "
            "A row of an exit counts those who left by it.")
    if len(runs) > 1:
        titles.append("last, 95 % of runs [s]")
        note += (f" Means over {len(runs)} runs, after ± half the width of the 95 % interval of the mean (Student's t). The last column: "
                 "95 % percentile over runs of the time by which all had left, linear between runs.")
    return table(titles, rows, "times", "times") + f'<p class="note">{note}</p>'


def row_of(name, runs, left, counts=None):
    """A row of the table: `left` rising times of each run, `counts` how many there were, if more than left."""
    counts = [count if count is not None else len(times) for count, times in zip(counts or [None] * len(left), left)]
    people = mean_and_interval([len(times) for times in left])
    text = f"{people[0]:.1f} ± {people[1]:.1f}" if people[1] > 0 else f"{people[0]:g}"
    if sum(counts) > sum(map(len, left)):
        text += f" of {np.mean(counts):g}"
    cells = [name, text]
    for values in ([times[0] if len(times) else np.nan for times in left], [times.mean() if len(times) else np.nan for times in left],
                   *([time_of_share(times, share, count) for times, count in zip(left, counts)] for share in SHARES)):
        mean, half, n = mean_and_interval(values)
        cells.append("-" if not any(map(len, left)) else with_spread(mean, half, len(runs), n, 2))
    if len(runs) > 1:
        last = np.array([time_of_share(times, 1.0, count) for times, count in zip(left, counts)])
        cells.append(number(float(np.percentile(last[np.isfinite(last)], 95)), 2) if np.isfinite(last).any() else "-")
    return cells


def assumptions(runs, plan):
    run = runs[0]
    deck = run.tables
    if not deck:
        return f'<p class="missing">There is no {escape(run.name)}.resolved.toml: nothing says what the run assumed.</p>'
    found = ""
    if plan.exits:
        several = len(plan.floors) > 1
        rows = [(door.name, *([plan.floors[door.floor].name] if several else []), f"{door.width:.2f}" if door.is_line else "an area",
                 door.text(run.end_time or np.inf), f"{door.max_flow:g}" if door.max_flow else "unlimited") for door in plan.exits]
        found += "<h3>Exits</h3>" + table(("exit", *(["floor"] if several else []), "width [m]", "open", "most [1/s]"), rows)
    found += "<h3>Kinds of people</h3>" + table(
        ("kind", "radius", "free speed", "time gap", "creep speed"),
        [(name, *kind_of_people(run, name, kind)) for name, kind in (deck.get("agents") or {"person": {}}).items()])
    for title in ("populations", "sources"):
        if deck.get(title):
            found += f"<h3>{title.capitalize()}</h3>" + table(
                ("name", "people", "kinds", "pre-movement", "more"), [population(name, one) for name, one in deck[title].items()])
    found += "<h3>Run and models</h3>" + table(("key", "value"), [
        (f"{name}.{key}", value) for name in TABLES_OF_MODELS for key, value in values_of(deck.get(name, {}), UNITS)], "keys")
    found += section_tables(deck, ("floors", "connectors", "journeys", "waypoints", "zones"), UNITS)
    return found


def kind_of_people(run, name, kind):
    """Radius, speed, time gap and creep speed of a kind; where the deck leaves them to scree, what those had who left."""
    agents = run.part("agents")
    cells = []
    for key, column in (("radius", "radius"), ("speed", "desired_speed")):
        if key in kind:
            cells.append(distribution(kind[key], key))
            continue
        text = "default"
        if agents is not None and len(agents):
            own = agents[column][np.array(agents["kind"], dtype=object) == name]
            if len(own):
                text += f"; those who left: mean {own.mean():.3g}, from {own.min():.3g} to {own.max():.3g} {UNITS[key]}"
        cells.append(text)
    return (*cells, *(f"{kind[key]:g} {unit}" if key in kind else "default" for key, unit in (("headway_time", "s"), ("push_speed", "m/s"))))


def population(name, table_of_deck):
    number_of = (f"{table_of_deck['count']}" if "count" in table_of_deck else
                 f"{table_of_deck['density']:g} per m²" if "density" in table_of_deck else
                 f"{plain(table_of_deck['schedule'])} (time [s], rate [1/s])" if "schedule" in table_of_deck else
                 f"{table_of_deck['rate']:g} per s" if "rate" in table_of_deck else "-")
    kinds = table_of_deck.get("agents", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    shares = table_of_deck.get("shares", [])
    text = ", ".join(f"{100 * share:g} % {kind}" for kind, share in zip(kinds, shares)) if shares else ", ".join(kinds) or "all alike"
    shown = ("count", "density", "schedule", "rate", "agents", "shares", "premovement", "region")
    more = [f"{key} {plain(value)}" for key, value in table_of_deck.items() if key not in shown]
    before = distribution(table_of_deck["premovement"], "premovement") if "premovement" in table_of_deck else "none"
    return name, number_of, text, before, ", ".join(more)
