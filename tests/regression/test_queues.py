"""Queues and counters: who is served when, in runs with walking people; the same files on any number of ranks and after a
restart."""
import csv
import shutil

import numpy as np

from crowd_runs import crowd_deck, rectangle, run_crowd, wkt
from decks import constant, toml
from scree_program import check, check_in, run_ok


def _hall(queue, count, end_time, seed=1, **tables):
    """A hall of 14 m x 8 m; the counter stands at (9, 4), the line leads away from the exit."""
    return crowd_deck(wkt(rectangle(0, 0, 14, 8)), end_time=end_time, seed=seed,
                      exits={"east": {"line": [[14, 3], [14, 5]]}},
                      journeys={"visit": {"steps": [{"queue": {"line": [[9, 4], [5, 4]], **queue}}, {"exits": ["east"]}]}},
                      populations={"visitors": {"count": count, "region": rectangle(0.5, 0.5, 4, 7.5)}}, **tables)


def _rows(run):
    """NAME.queues.csv as arrays, in the order in which people joined."""
    with open(run.path("queues.csv"), newline="", encoding="utf-8") as file:
        rows = [{name.split("[")[0]: value for name, value in row.items()} for row in csv.DictReader(file)]
    rows.sort(key=lambda row: (float(row["joined"]), int(row["id"])))
    return {name: np.array([float(row[name]) for row in rows]) for name in ("id", "joined", "served_from", "done", "waited", "walk")}


def test_first_come_first_served(folder):
    """20 people, one server: they are served in the order in which they joined, one at a time, for 3 s each, and the next
    one steps up within 2 s. The line of 4 m has 7 places; those beyond it are served in turn, too."""
    deck = _hall({"service": constant(3.0)}, 20, 300.0, analysis={"every": 1.0}, measures={"line": {"type": "queue"}})
    run = run_crowd(folder, deck, name="one")
    rows = _rows(run)
    check(len(rows["id"]) == 20, "everybody is served once", len(rows["id"]))
    check((np.diff(rows["served_from"]) > 0).all(), "served in the order of joining", rows["served_from"])
    check(np.allclose(rows["done"] - rows["served_from"], 3, atol=0.0501), "3 s each, in whole steps",
          rows["done"] - rows["served_from"])
    # Nobody is served before the one ahead is done, nor much later than joined and at the front.
    steps_up = rows["served_from"][1:] - np.maximum(rows["done"][:-1], rows["joined"][1:])
    check((steps_up > 0).all(), "one at a time", steps_up.min())
    waits_for_way = steps_up[rows["joined"][1:] < rows["done"][:-1] - 4]
    check((waits_for_way < 2).all(), "the next one steps up within 2 s", waits_for_way.max())
    check(run.scalars["line_waiting"].max() > 7, "more people wait than the line holds", run.scalars["line_waiting"].max())
    check(run.scalars["line_served"][-1] == 20, "the measure counts all", run.scalars["line_served"][-1])
    summary = run.evacuation["queues"]["visit_1"]
    check(summary["served"] == 20 and abs(summary["mean_wait_s"] - rows["waited"].mean()) < 1e-5, "the summary", summary)


def test_two_servers_serve_twice_as_fast(folder):
    """With two servers of 6 s each, 16 people are done after about as long as with one of 3 s: within 25 %."""
    last = []
    for name, queue in (("one", {"service": constant(3.0)}), ("two", {"service": constant(6.0), "servers": 2})):
        rows = _rows(run_crowd(folder, _hall(queue, 16, 300.0), name=name))
        last.append(rows["done"].max())
        check((np.diff(rows["served_from"]) >= 0).all(), f"in order with {name}", rows["served_from"])
    check(abs(last[1] / last[0] - 1) < 0.25, "about as fast", last)


def test_line_of_people_who_come_at_random(folder):
    """A run of 60 people who start at uniform times in 1200 s (almost a Poisson process of 0.05 /s) and are served for 10 s.
    Waits beyond the walk are those of a counter that serves them in the order of arrival (Lindley's recursion) who arrive when they
    could be there alone, for 10 s and the time to step up, which is between 0 and 2 s: mean waits lie between those two."""
    deck = _hall({"service": constant(10.0)}, 60, 2000.0, step=0.1)
    deck["populations"]["visitors"]["premovement"] = {"distribution": "uniform", "min": 0.0, "max": 1200.0}
    rows = _rows(run_crowd(folder, deck, name="random"))
    waits = {}
    for service in (10.0, 12.0):
        free, total = 0.0, 0.0
        for arrival in rows["joined"] + rows["walk"]:
            begin = max(arrival, free)
            total += begin - arrival
            free = begin + service
        waits[service] = total / len(rows["joined"])
    mean = float(rows["waited"].mean())
    check(waits[10.0] < mean < waits[12.0], "the mean wait is that of the recursion", (mean, waits))
    check((np.diff(rows["served_from"]) >= 10).all(), "one at a time, in order", np.diff(rows["served_from"]).min())


def test_files_are_the_same_on_any_number_of_ranks_and_after_a_restart(folder):
    deck = _hall({"service": {"distribution": "lognormal", "median": 2.0, "sigma": 0.5}, "servers": 2}, 20, 60.0,
                 analysis={"every": 0.5}, measures={"line": {"type": "queue"}})
    deck["populations"]["visitors"]["groups"] = {"sizes": [1, 2, 3], "shares": [1, 1, 1]}
    deck["output"]["checkpoint"] = {"every": 5.0, "keep": 100}
    runs = {ranks: run_crowd(folder, deck, name="same", ranks=ranks, empty=False) for ranks in (1, 2, 3)}
    endings = ("queues.csv", "agents.csv", "scalars.csv", "evacuation.csv")
    for ending in endings:
        texts = {run.path(ending).read_bytes() for run in runs.values()}
        check(len(texts) == 1, f"the same {ending} on 1, 2, 3 ranks", len(texts))
    whole = runs[1].folder
    checkpoints = sorted((whole / "checkpoint").glob("*.scree"))
    again = folder / "again"
    shutil.copytree(folder / "on1", again)
    for path in checkpoints[len(checkpoints) // 2 + 1:]:
        (again / "same/checkpoint" / path.name).unlink()
    run_ok("run", folder / "same.toml", "--set", f'output.directory="{again}"', "--resume", ranks=2, folder=folder)
    for ending in endings:
        check((again / f"same/same.{ending}").read_bytes() == runs[1].path(ending).read_bytes(), f"the same {ending}", again)


def test_groups_and_a_queue_on_two_floors(folder):
    """Families of four come down a stair, stand in line on the ground floor and leave: everybody is served, members wait for
    each other, and the files are the same on 1 and 3 ranks."""
    deck = _hall({"floor": "ground", "line": [[5, 4], [9, 4]], "servers": 2, "service": constant(2.0)}, 16, 200.0)
    del deck["walkable"]
    deck["floors"] = {"ground": {"elevation": 0.0, "walkable": {"polygon": rectangle(0, 0, 12, 8)}},
                      "upper": {"elevation": 3.5, "walkable": {"polygon": rectangle(20, 0, 30, 8)}}}
    deck["connectors"] = {"stair": {"type": "stair", "polygon": rectangle(12, 3, 20, 5),
                                    "top": {"floor": "upper", "line": [[20, 3], [20, 5]]},
                                    "bottom": {"floor": "ground", "line": [[12, 3], [12, 5]]}}}
    deck["exits"] = {"east": {"floor": "ground", "line": [[0, 3], [0, 5]]}}
    deck["populations"] = {"visitors": {"floor": "upper", "count": 16, "groups": {"sizes": [4]}}}
    runs = [run_crowd(folder, deck, name="floors", ranks=ranks) for ranks in (1, 3)]
    check(runs[0].evacuation["queues"]["visit_1"]["served"] == 16, "everybody is served", runs[0].evacuation)
    check(runs[0].evacuation["groups"]["waited_s"] > 0, "members wait for each other", runs[0].evacuation)
    for ending in ("queues.csv", "agents.csv"):
        check(runs[0].path(ending).read_bytes() == runs[1].path(ending).read_bytes(), f"the same {ending}", ending)


def test_check_says_how_many_fit(folder):
    path = folder / "hall.toml"
    path.write_text(toml(_hall({"service": constant(3.0)}, 20, 10.0)))
    check_in('7 people fit into the line of the queue "visit_1", 4 m long; 20 may come', run_ok("check", path).stdout, "check")
