"""Numbers of a report are those of summary.json, NAME.exits.csv, NAME.agents.csv and of the program's table of an ensemble; who is
incapacitated has not left; what is closed is crossed out."""
import csv
import json
import re

import numpy as np
import pytest

from browser import Browser
from house_run import DECK, FPS, N_UPPER, left_at, make_house, place_of
from scree_program import check, check_close, check_in, run_ok, source_folder
from scree.crowd.density import Grid, density_maps
from scree.crowd.plan import plan_of
from scree.report import write_report
from scree.results import Results

GAS = """\
[simulation]
dimension = 2
scheme = "crowd"
seed = 4
end_time = 60.0
[time]
step = 0.05
[walkable]
polygon = [[0, 0], [12, 0], [12, 8], [0, 8]]
[exits.east]
line = [[12, 3], [12, 5]]
[exits.west]
line = [[0, 3], [0, 4]]
[populations.crowd]
count = 30
premovement = { distribution = "uniform", min = 0, max = 60 }
[populations.late]
count = 5
premovement = { distribution = "constant", value = 50 }
[hazard]
carbon_monoxide = 0.006
carbon_dioxide = 0.1
file = "smoke.csv"
fallen = "FALLEN"
[hazard.closes.east]
extinction = 1.0
[output.trajectory]
fps = 5
"""
SMOKE = "t[s],K[1/m]\n0,0\n20,2\n"       # passes 1 / m at 10 s


def tables_of(text):
    """Tables of a page by their identity: {first cell: other cells}."""
    found = {}
    for identity, body in re.findall(r'<table[^>]* id="?([\w-]+)"?>.*?<tbody>(.*?)</tbody>', text, re.DOTALL):
        rows = [re.findall(r"<td>(.*?)</td>", row, re.DOTALL) for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)]
        found[identity] = {row[0]: row[1:] for row in rows}
    return found


def key_numbers(text):
    return {what: value for value, what in re.findall(r"<div><b>([^<]*)</b><span>([^<]*)</span></div>", text)}


def check_times_of_the_summary(run, text):
    """Numbers of the head and of the table against what the program counted."""
    said = json.loads((run / "summary.json").read_text())["evacuation"]
    numbers, rows = key_numbers(text), tables_of(text)["times"]
    check(numbers["people"] == str(said["at_start"] + said["came"]), "people", (numbers, said))
    check(numbers["still inside at the end"] == str(said["still_inside"]), "still inside", (numbers, said))
    people, first, mean, half, most, last = rows["everybody"]
    check(people.split(" of ")[0] == str(said["left"]), "who left", (people, said))
    if said["mean_s"] is not None:
        check(mean == f"{said['mean_s']:.2f}", "mean time", (mean, said))
    for cell, key, share in ((half, "t50_s", 50), (most, "t95_s", 95), (last, "t100_s", 100)):
        if said["left"] == said["at_start"] + said["came"]:
            check(cell == f"{said[key]:.2f}" and numbers[f"until {share} % had left"] == f"{said[key]:.1f} s", key, (cell, said[key], numbers))
    with open(run / f"{run.name}.exits.csv", newline="") as file:
        for row in csv.DictReader(file):
            cells = rows[f"exit {row['exit[-]']}"]
            check(cells[0] == row["persons[-]"], f"persons through {row['exit[-]']}", (cells, row))
            if int(row["persons[-]"]):
                check(cells[1] == f"{float(row['first[s]']):.2f}" and cells[-1] == f"{float(row['last[s]']):.2f}", "first and last", (cells, row))


def check_certificate_of_the_summary(run, text):
    worst = json.loads((run / "summary.json").read_text())["certificate_worst"]
    cells = tables_of(text)["certificate-table"]["residual"]
    unit = f" {worst['residual']['unit']}"
    check(cells == [f"{worst['residual']['value']:.3g}{unit}", f"{worst['residual']['limit']:.3g}{unit}", "yes"], "the worst residual", cells)


def test_numbers_are_those_of_the_summary(folder):
    run_ok("run", source_folder() / "inputs/crowd/school.toml", "--set", f'output.directory="{folder}"', folder=folder)
    run = folder / "school"
    text = write_report([run]).read_text()
    check_times_of_the_summary(run, text)
    check_certificate_of_the_summary(run, text)
    rows = tables_of(text)["times"]
    of_populations = [int(rows[f"population {name}"][0]) for name in ("classes", "visitors_west", "visitors_east")]
    check(sum(of_populations) == int(rows["everybody"][0]) and of_populations[1:] == [30, 30], "populations add up", rows)
    check_in(f"of school.csv, {of_populations[0]} of whom left", text, "people of a file")
    # Flows: their integral over time is the number of people. The chart is of 500 points, a mean over 10 s each.
    line = re.search(r'<svg class="chart"[^>]*id="flow-chart".*?</svg>', text, re.DOTALL)[0]
    check(line.count("<polyline") >= 2, "a line for each exit")


def test_a_run_that_did_not_end_knows_what_it_does_not_know(folder):
    run_ok("run", source_folder() / "inputs/crowd/school.toml", "--set", f'output.directory="{folder}"', "--set", "simulation.end_time=20",
           folder=folder)
    text = write_report([folder / "school"]).read_text()
    check_times_of_the_summary(folder / "school", text)
    cells = tables_of(text)["times"]["population classes"]
    n = sum(not line.startswith("#") for line in (source_folder() / "inputs/crowd/school.csv").read_text().splitlines()) - 1
    check(cells[0].endswith(f" of {n}") and cells[-3:] == ["not reached"] * 3, "agents.csv has those of the file who are inside", cells)
    check(tables_of(text)["times"]["population visitors_east"][0].endswith(" of 30"), "of others the deck says it")


def test_numbers_of_an_ensemble_are_those_of_the_program(folder):
    run_ok("run", source_folder() / "inputs/crowd/room.toml", "--ensemble", 3, "--set", f'output.directory="{folder}"', folder=folder)
    text = write_report([folder / "room"]).read_text()
    with open(folder / "room/ensemble.csv", newline="") as file:
        found = {row["quantity[-]"]: row for row in csv.DictReader(file)}
    people, first, mean, half, most, last, _ = tables_of(text)["times"]["everybody"]
    for cell, quantity in ((mean, "mean"), (half, "t50"), (most, "t95"), (last, "t100")):
        row = found[quantity]
        spread = (float(row["upper_95"]) - float(row["lower_95"])) / 2
        check(cell == f"{float(row['mean']):.2f} ± {spread:.2f}", f"{quantity} and its 95 % interval", (cell, row))
    check(people == "100" == f"{float(found['persons_door']['mean']):g}", "people", people)


@pytest.mark.parametrize("fallen", ["stay", "vanish"])
def test_smoke(folder, fallen):
    (folder / "smoke.csv").write_text(SMOKE)
    (folder / "gas.toml").write_text(GAS.replace("FALLEN", fallen))
    run_ok("run", "gas.toml", folder=folder)
    run = folder / "results/gas"
    text = write_report([run]).read_text()
    check_times_of_the_summary(run, text)
    said = json.loads((run / "summary.json").read_text())["evacuation"]
    check(0 < said["left"] < 35 and said["hazard"]["incapacitated"] > 0, "some leave, some do not", said)
    rows = tables_of(text)["times"]
    check(rows["incapacitated"][0] == str(said["hazard"]["incapacitated"]) == key_numbers(text)["incapacitated"], "who is incapacitated", rows)
    check(rows["population late"][0] == "0 of 5" and rows["everybody"][-1] == "not reached", "they have not left", rows)
    check("exit " not in rows, "no exit without a name", rows)
    check_in("FDS+Evac", text, "the laws have their sources")
    closes = Results(run).closings["east"]
    check_close(closes, 10, "when smoke closes the exit", absolute=0.1)
    with Browser(folder) as browser:
        browser.open(run / "report.html")
        for frame, wanted in ((45, 0), (55, 1)):
            browser.set("time", frame, "input")
            check(browser.run("document.querySelectorAll('[data-exit=east].closed').length") == wanted, f"east at {frame / 5} s")
        check(not browser.errors, "no error", browser.errors)


def test_who_found_no_place_is_reported(folder):
    make_house(folder)
    check("found no place" not in write_report([folder]).read_text(), "not where everybody did")
    summary = json.loads((folder / "summary.json").read_text())
    (folder / "summary.json").write_text(json.dumps(summary | {"evacuation": {"dropped": 3, "waiting": 2}}))
    numbers = key_numbers(write_report([folder]).read_text())
    check(numbers["found no place and were dropped"] == "3" and numbers["waited for a place at the end"] == "2", "of sources", numbers)


def test_a_connector_that_closes_is_crossed_out(folder):
    make_house(folder)
    (folder / "house.resolved.toml").write_text(DECK.replace('type = "stair"', 'type = "stair"\nclosed_from = 12.0'))
    path = write_report([folder])
    check_in("until 12 s", path.read_text(), "what was assumed")
    with Browser(folder) as browser:
        browser.open(path)
        for time, wanted in ((11, 0), (13, 2), (11, 0)):
            browser.set("time", time * FPS, "input")
            check(browser.run("document.querySelectorAll('figure.floor .connector-end.closed').length") == wanted, f"ends that are closed at {time} s")
            shown = browser.run("[...document.querySelectorAll('figure.floor .connector-end .cross')].map(e => getComputedStyle(e).display != 'none')")
            check(shown == [bool(wanted)] * 2, "a cross at each end", shown)


def test_a_click_on_a_curve_goes_there(folder):
    make_house(folder)
    path = write_report([folder])
    with Browser(folder) as browser:
        browser.open(path)
        for chart in ("inside-chart", "flow-chart"):
            x, y, low, high = browser.run(f"""(() => {{ const e = document.getElementById("{chart}"); e.scrollIntoView({{block: "center"}});
                const b = e.getBoundingClientRect(), d = e.dataset, at = (12 - d.x0) / (d.x1 - d.x0);
                return [b.x + b.width * (Number(d.left) + at * (d.right - d.left)) / e.viewBox.baseVal.width, b.y + b.height / 2,
                        Number(d.x0), Number(d.x1)]; }})()""")
            browser.set("time", 0, "input")
            for kind in ("mousePressed", "mouseReleased"):
                browser.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
            check_close(float(browser.text("clock")), 12.0, f"a click on {chart} at 12 s, of {low} to {high} s", absolute=0.11)
            cursor = float(browser.run(f"document.querySelector('#{chart} .cursor').getAttribute('x1')"))
            check(cursor > 62, "its line is there", cursor)
        check(browser.text("end") == f"{max(left_at(k) for k in range(N_UPPER)) - 1 / FPS:.1f}", "the end of the run", browser.text("end"))


def test_everybody_counts_on_one_floor(folder):
    make_house(folder)
    results = Results(folder)
    plan = plan_of(results.deck, results.paths)
    check(plan.shown_on(0) == [0, 2] and plan.shown_on(1) == [1], "the stair counts on the floor where it begins")
    grid = Grid(*plan.bounds(), 0.5)
    frames = 20 * FPS
    maps = [density_maps(results.paths, plan.shown_on(floor), grid, limit=1.5, end=20 - 1 / FPS) for floor in (0, 1)]
    here = sum(place_of(k, frame / FPS) is not None for k in range(N_UPPER) for frame in range(frames))
    check_close(sum(one.mean.sum() for one in maps) * 0.25, here / frames, "people on all floors, mean over time", relative=1e-9)
    # Two levels as one: the highest is that of their sum at a time, not the sum of the highest of each at any time.
    alone = [density_maps(results.paths, level, grid, limit=1.5, end=20 - 1 / FPS).highest for level in (0, 2)]
    check((maps[0].highest <= alone[0] + alone[1] + 1e-12).all(), "the highest of two levels", maps[0].highest.max())
    check(np.max(alone[0] + alone[1] - maps[0].highest) > 0.01, "they are not highest at one time")
