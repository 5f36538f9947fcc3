"""The report of a crowd: the plan with people moving, who is inside when, flows, maps, evacuation times, what was assumed."""
from html import escape

import numpy as np

from scree import style
from scree.crowd.curves import column_name, flow_at, inside_at, mean_and_interval, time_of_share
from scree.crowd.plan import plan_of
from scree.report.assumed import assumptions
from scree.report.charts import Line, chart
from scree.report.drawing import View, floor_svg
from scree.report.maps import caption, maps, where_people_count
from scree.report.tables import differences, number, script_data, table, with_spread
from scree.report.tracks import thinned

KIND = "crowd"
BAND = (5, 95)              # percentiles of runs
WINDOW = 10.0               # that flows and highest densities are means over [s]
UNKNOWN = "#9a9a9a"
SHARES = (0.5, 0.95, 1.0)
SPEEDS = (0.5, 1, 2, 4, 8, 16, 32)      # of playing


def parts(runs, differing, density_limit, megabytes):
    """[(title, html)] of the page."""
    shown = chosen_run(runs)
    paths = shown.part("paths")
    plan = plan_of(shown.tables, paths, closings=shown.closings)
    names = exit_names(runs, plan)
    colours = {name: style.LINE_COLOURS[k % len(style.LINE_COLOURS)] for k, name in enumerate(names)}
    found = [("Result", key_numbers(runs))]
    view = View(plan) if plan.bounds() is not None else None
    found.append(("Plan", moving_plan(shown, runs, plan, view, names, colours, megabytes)))
    found.append(("People inside", inside_chart(runs)))
    if any(len(departures(run)) for run in runs):
        found.append(("Flow through exits", flow_chart(runs, names, colours)))
    if view is not None and paths is not None:
        found.append(("Density", maps(runs, plan, view, density_limit, WINDOW)))
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
    """(all who were ever there, left, inside at the end); None without a table. Who is incapacitated is inside, or has vanished."""
    counted = run.part("evacuation")
    if counted is None or len(counted["time"]) == 0:
        return None
    came = counted["came"][-1] - counted["came"][0] if "came" in counted else counted["left"][-1]
    return int(counted["inside"][0] + came), int(counted["left"][-1]), int(counted["inside"][-1])


def departures(run, by=None, population=None):
    """Rising times at which people left: all, those by an exit, those of a population."""
    agents = run.part("agents")
    if agents is None:
        return np.zeros(0)
    chosen = agents.has_left
    if by is not None:
        chosen &= np.array(agents["exit"], dtype=object) == by
    if population is not None:
        chosen &= np.array(agents["population"], dtype=object) == population
    return np.sort(agents["left"][chosen])


def incapacitations(run):
    """Rising times at which people were incapacitated; None where the run has no smoke."""
    agents = run.part("agents")
    if agents is None or "incapacitated_at" not in agents:
        return None
    times = agents["incapacitated_at"]
    return np.sort(times[np.isfinite(times)])


# ---- numbers first

def key_numbers(runs):
    counts = [n_people(run) for run in runs]
    known = [count for count in counts if count]
    items = []
    if known:
        items.append((f"{np.mean([count[0] for count in known]):g}", "people"))
        items.append((f"{np.mean([count[2] for count in known]):g}", "still inside at the end"))
    fallen = [times for run in runs if (times := incapacitations(run)) is not None]
    if fallen:
        items.append((f"{np.mean([len(times) for times in fallen]):g}", "incapacitated"))
    for key, what in (("dropped", "found no place and were dropped"), ("waiting", "waited for a place at the end"),
                      ("locked_at_end", "locked at the end"), ("left_elsewhere", "left by an exit that they were not bound for")):
        numbers = [run.facts.get("evacuation", {}).get(key, 0) for run in runs]
        if any(numbers):
            items.append((f"{np.mean(numbers):g}", what))
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
    return text + locks_list(runs)


def locks_list(runs):
    """Who blocked each other, when and where, as the runs found it; empty where nobody did."""
    lines = []
    for run in runs:
        for lock in run.facts.get("evacuation", {}).get("locks", []):
            x, y = lock["at_m"]
            bound_for = ", ".join(f"{n} for {name}" for name, n in lock["destinations"].items())
            until = "to the end" if lock["until_s"] is None else f"to {lock['until_s']:g} s"
            where = f" on {lock['level']}" if lock["level"] else ""
            lines.append(f"{run.label + ': ' if len(runs) > 1 else ''}{lock['people']} people around ({x:.2f}, {y:.2f}) m{where}, "
                         f"from {lock['since_s']:g} s {until}, bound: {bound_for}")
    if not lines:
        return ""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f'<p class="note" id="locks">People blocked each other (locks of the model, which no queue explains):</p><ul>{items}</ul>'


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
        f'<figure class="floor" data-floor="{k}">{caption(plan, k)}<div class="stage">{floor_svg(plan, k, view, colours)}'
        "<canvas></canvas></div></figure>" for k in range(len(plan.floors)))
    notes = []
    if len(runs) > 1:
        notes.append(f"The people are those of one of the {len(runs)} runs: {escape(run.label)}, of median length.")
    if plan.n_hidden:
        notes.append(f"{plan.n_hidden} part(s) of the area in which nobody ever is are not drawn.")
    data = {"lower": view.lower.tolist(), "upper": view.upper.tolist(), "floors": len(plan.floors),
            "floors_of_level": [level.floors[:1] for level in plan.levels], "end": run.last_time,
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
                     + (f" of {paths.fps:g} in the trajectory" if stride > 1 else "") + ", with straight lines between them"
                     + (f"; to keep this file small only one of {one_of} people is drawn" if one_of > 1 else "")
                     + ". Places are rounded to 1 cm. Colours are the exits that people take; grey: they never left."
                     + where_people_count(plan))
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
            '<p class="clock">t = <b id="clock">0</b> s of <span id="end">0</span> s: <b id="inside">-</b> people inside</p>')


def people_data(run, ids, names):
    """Exit (number, -1: never left) and radius [cm] of the people of the trajectory, in order of ids."""
    agents = run.part("agents")
    exits, radii, numbers = np.full(len(ids), -1), np.full(len(ids), 19), {name: k for k, name in enumerate(names)}
    if agents is not None and len(agents):
        own = agents["id"].astype(np.int64)
        place = np.searchsorted(ids, own)
        valid = (place < len(ids)) & (ids[np.minimum(place, len(ids) - 1)] == own)
        radii[:] = np.rint(100 * agents["radius"].mean())
        exits[place[valid]] = np.array([numbers.get(name, -1) for name in agents["exit"]])[valid]
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
                        [n_of_population(run, name, count) for run, count in zip(runs, counts)]) for name in populations]
    fallen = [incapacitations(run) for run in runs]
    if all(times is not None for times in fallen):
        rows.append(row_of("incapacitated", runs, fallen))
    titles = ["", "people", "first [s]", "mean [s]", "50 % [s]", "95 % [s]", "last [s]"]
    note = ("50 % and 95 %: times by which these shares of the people of the row had left; last: by which all had. "
            "A row of an exit counts those who left by it.")
    if any("not known" in row for row in rows):
        note += " Not known: some are still inside, and nothing says of which population they are."
    if any(row[0] == "incapacitated" for row in rows):
        note += " Who is incapacitated has not left."
    if len(runs) > 1:
        titles.append("last, 95 % of runs [s]")
        note += (f" Means over {len(runs)} runs, after ± half the width of the 95 % interval of the mean (Student's t). The last column: "
                 "95 % percentile over runs of the time by which all had left, linear between runs.")
    return table(titles, rows, "times", "times") + f'<p class="note">{note}</p>'


def n_of_population(run, name, everybody):
    """How many a population had: as the deck says, or its rows where the run lists everybody; nan where nothing says."""
    count = run.tables.get("populations", {}).get(name, {}).get("count")
    if count is None and everybody is not None and (agents := run.part("agents")) is not None and len(agents) == everybody[0]:
        return agents["population"].count(name)
    if count is None and everybody is not None and everybody[0] > everybody[1]:
        return np.nan
    return count


def row_of(name, runs, left, counts=None):
    """A row of the table: `left` rising times of each run, `counts` how many there were, if more than left (nan: nobody knows)."""
    counts = [count if count is not None else len(times) for count, times in zip(counts or [None] * len(left), left)]
    people = mean_and_interval([len(times) for times in left])
    text = f"{people[0]:.1f} ± {people[1]:.1f}" if people[1] > 0 else f"{people[0]:g}"
    if np.isnan(counts).any():
        text += " of ?"
    elif sum(counts) > sum(map(len, left)):
        text += f" of {np.mean(counts):g}"
    cells = [name, text]
    for values in ([times[0] if len(times) else np.nan for times in left], [times.mean() if len(times) else np.nan for times in left]):
        mean, half, n = mean_and_interval(values)
        cells.append(with_spread(mean, half, len(runs), n, 2) if n else "-")
    for share in SHARES:
        mean, half, n = mean_and_interval([share_time(times, share, count) for times, count in zip(left, counts)])
        cells.append("-" if not any(map(len, left)) else "not known" if np.isnan(counts).any() else with_spread(mean, half, len(runs), n, 2))
    if len(runs) > 1:
        last = np.array([share_time(times, 1.0, count) for times, count in zip(left, counts)])
        cells.append(number(float(np.percentile(last[np.isfinite(last)], 95)), 2) if np.isfinite(last).any() else "-")
    return cells


def share_time(times, share, count):
    return time_of_share(times, share, int(count)) if np.isfinite(count) else np.nan
