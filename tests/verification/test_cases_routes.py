"""Crowds that came out wrong in version 0.2: routes and exits that do not fit, exits that take anybody, locks, people who stay
(tests/reference/cases/crowds). Right values and tolerances are those of the table that came with the cases."""
import csv
import json
import shutil
import tomllib

import numpy as np
import pytest

from decks import toml
from scree_program import check, check_close, check_in, run_ok, scree, source_folder

from scree.results import Results


def case(folder, path):
    """The deck of a case in a folder of its own, with the files beside it."""
    deck = source_folder() / "tests/reference/cases/crowds" / path
    for file in deck.parent.iterdir():
        shutil.copy(file, folder)
    return folder / deck.name


def run(folder, path, *words, ranks=1, expect=0, to="results"):
    """(Results, what the program said) of a case."""
    deck = case(folder, path)
    said = scree("run", deck, "--set", f'output.directory="{folder / to}"', *words, ranks=ranks, folder=folder)
    check(said.code == expect, f"{path} ends with {expect}", said)
    return Results(folder / to / deck.stem), said


def people(results):
    """Rows of agents.csv by id."""
    with open(results.folder / f"{results.name}.agents.csv", newline="", encoding="utf-8") as file:
        return {int(row["id[-]"]): row for row in csv.DictReader(file)}


def left(results):
    return {name: door["persons"] for name, door in results.summary["evacuation"]["exits"].items()}


def same_on_ranks_and_after_restart(folder, path, *words, stop="20"):
    """Files of a run on 1 rank are those on 2, and those of a run that stops at a time and goes on with 3."""
    one, _ = run(folder, path, *words, to="one")
    two, _ = run(folder, path, *words, ranks=2, to="two")
    parts, _ = run(folder, path, *words, "--set", f"simulation.end_time={stop}", to="parts")
    end = one.deck["simulation"]["end_time"]
    run_ok("restart", sorted((parts.folder / "checkpoint").glob("*.scree"))[-1], "--set", f"simulation.end_time={end}", ranks=3,
           folder=folder)
    again = Results(parts.folder)
    for other in (two, again):
        check(other.summary["state_hash"] == one.summary["state_hash"], "the same state", other.folder)
        for ending in ("agents.csv", "evacuation.csv", "exits.csv"):
            check((other.folder / f"{one.name}.{ending}").read_bytes() == (one.folder / f"{one.name}.{ending}").read_bytes(),
                  f"the same {ending}", other.folder)
        reported = [{key: value for key, value in run.summary["evacuation"].items() if key != "certificate_worst"} for run in (one, other)]
        check(reported[0] == reported[1], "the same summary", reported)
    return one


# ---- routes by width

def test_23_wheelchairs_take_the_wide_passage(folder):
    results, _ = run(folder, "routes_by_width/wheelchairs.toml")
    check(results.summary["evacuation"]["left"] == 23, "all 23 leave", results.summary["evacuation"])


def test_one_wheelchair_walks_the_length_of_the_wide_route(folder):
    results, _ = run(folder, "routes_by_width/one.toml")
    row = people(results)[0]
    check(row["state[-]"] == "left" and 14.9 <= float(row["left[s]"]) <= 16.5, "it leaves in 14.9 to 16.5 s", row)
    check(13.45 <= float(row["walked[m]"]) <= 14.8, "13.45 to 14.8 m of route", row)


def test_each_size_has_its_own_passage(folder):
    results, _ = run(folder, "routes_by_width/mixed.toml")
    narrow, wide = (results.scalars[f"{name}_total"][-1] for name in ("narrow", "wide"))
    check(results.summary["evacuation"]["left"] == 23, "all 23 leave", results.summary["evacuation"])
    check(18 <= narrow <= 20 and narrow + wide == 23, "adults by the narrow one, 3 wheelchairs by the wide one", (narrow, wide))


@pytest.mark.parametrize("millimetres", (-1, 1))
def test_a_passage_opens_and_shuts_at_the_millimetre(folder, millimetres):
    """Cells are 0.1 m; the passage is twice the radius of 0.35 m, and a millimetre more or less."""
    deck = case(folder, "routes_by_width/one.toml")
    half = 0.35 + millimetres / 2000
    text = deck.read_text().replace("2.7]", f"{3 - half}]").replace("3.3]", f"{3 + half}]")
    deck.write_text(text)
    run_ok("run", deck, "--set", f'output.directory="{folder}"', folder=folder)
    walked = float(people(Results(folder / "one"))[0]["walked[m]"])
    check((walked < 11) == (millimetres > 0), "the short route of 10.5 m, or the long one of 13.5 m", walked)


def test_nobody_fits_is_told_with_the_place(folder):
    """Without the wide passage none of the wheelchairs has a route: check says how many, how wide, and where."""
    deck = case(folder, "routes_by_width/wheelchairs.toml")
    deck.write_text(deck.read_text().replace("[6.2, 7], [6, 7]]", "[6.2, 8], [6, 8]]"))
    said = scree("check", deck, folder=folder)
    check(said.code == 2, "it is refused", said)
    check_in("23 people", said.stderr, "how many")
    check_in("the widest route is 0.6 m wide at (6", said.stderr, "the place that stops them")
    said = scree("check", deck, "--set", "navigation.by_width=false", folder=folder)
    check(said.code == 2, "without routes by width, too", said)


@pytest.mark.parametrize("middle", (3, 3.1, 3.2))
def test_who_touches_both_sides_gets_through(folder, middle):
    """Without the wide passage; the narrow one has twice their radius, but for the last bit."""
    deck = case(folder, "routes_by_width/wheelchairs.toml")
    text = deck.read_text().replace("[6.2, 7], [6, 7]]", "[6.2, 8], [6, 8]]")
    deck.write_text(text.replace("2.7]", f"{middle - 0.35}]").replace("3.3]", f"{middle + 0.35}]"))
    run_ok("check", deck, folder=folder)


def test_widths_on_ranks_and_after_a_restart(folder):
    same_on_ranks_and_after_restart(folder, "routes_by_width/mixed.toml", "--set", "simulation.end_time=40", stop="11")


def test_a_narrow_turnstile_is_for_those_who_fit(folder):
    said = run_ok("check", case(folder, "narrow_exit/turnstile.toml"), folder=folder)
    check_in("[exits.turnstile]", said.stderr + said.stdout, "a note names it")
    results, _ = run(folder, "narrow_exit/turnstile.toml")
    doors = {row["exit[-]"] for row in people(results).values() if row["population[-]"] == "wheelchairs"}
    check(results.summary["evacuation"]["left"] == 22 and doors == {"gate"}, "22 leave, wheelchairs by the gate", (left(results), doors))


def test_a_narrow_stair_beside_a_ramp(folder):
    run_ok("check", case(folder, "narrow_exit/stair_and_ramp.toml"), folder=folder)
    results, _ = run(folder, "narrow_exit/stair_and_ramp.toml")
    levels = set(results.paths.level_of_row)
    names = [*results.deck["floors"], *results.deck["connectors"]]
    check(results.summary["evacuation"]["left"] == 3, "all 3 leave", results.summary["evacuation"])
    check("stair" not in {names[level] for level in levels} and "ramp" in {names[level] for level in levels}, "all by the ramp", levels)


def test_an_exit_narrower_than_everybody_is_refused(folder):
    deck = case(folder, "narrow_exit/turnstile.toml")
    deck.write_text(deck.read_text().replace("[10, 3.3]", "[10, 2.95]"))
    said = scree("check", deck, folder=folder)
    check(said.code == 2, "0.25 m is too narrow for the smallest adult, of 0.15 m", said)
    check_in("nobody fits through", said.stderr, "it says so")


def test_who_has_no_route_after_a_door_closes_is_reported(folder):
    """The gate closes for good at 1 s; the turnstile stays: wheelchairs have no route from then on."""
    deck = case(folder, "narrow_exit/turnstile.toml")
    deck.write_text(deck.read_text().replace("[5.2, 6]]", "[5.2, 6]]\nopen_until = [1]"))
    said = scree("run", deck, "--set", "simulation.end_time=20", "--set", f'output.directory="{folder}"', folder=folder)
    check(said.code == 0, "it runs", said)
    check_in("t = 1 s: 2 people have no route left", said.stderr, "at once")
    states = {row["state[-]"] for row in people(Results(folder / "turnstile")).values() if row["population[-]"] == "wheelchairs"}
    check(states == {"no route"}, "and in agents.csv", states)


# ---- exits

def test_an_exit_on_the_way_takes_nobody_who_is_bound_for_another(folder):
    results, _ = run(folder, "exit_takes_others/shop.toml")
    check(left(results) == {"shop": 0, "gate": 20}, "20 by the gate", left(results))
    check(results.summary["evacuation"]["left_elsewhere"] == 0, "none elsewhere", results.summary["evacuation"])
    results, _ = run(folder, "exit_takes_others/shop.toml", "--set", 'exits.shop.takes="all"', to="all")
    check(left(results) == {"shop": 20, "gate": 0}, 'takes = "all": all by the shop', left(results))


def test_first_the_waypoint_then_the_exit(folder):
    results = same_on_ranks_and_after_restart(folder, "exit_takes_others/desk_first.toml", stop="9")
    rows = people(results).values()
    check(left(results) == {"shop": 5}, "all 5 leave", left(results))
    check(min(float(row["walked[m]"]) for row in rows) >= 17, "after the route to the desk and back", list(rows))
    check(min(float(row["left[s]"]) for row in rows) >= 7.5, "none before 7.5 s", list(rows))


# ---- locks

def test_locked_counterflow_is_reported(folder):
    results, said = run(folder, "locked_counterflow/counterflow.toml", "--set", "simulation.end_time=120")
    evacuation = results.summary["evacuation"]
    check(sum(lock["people"] for lock in evacuation["locks"] if lock["until_s"] is None) == evacuation["still_inside"] == 60,
          "the people of the lock are the 60 inside", evacuation["locks"])
    check(set(evacuation["locks"][0]["destinations"]) == {"exits.left", "exits.right"}, "both destinations", evacuation["locks"])
    check_in("people who meet need [crowd.avoidance]", said.stderr, "what is needed")
    check({row["state[-]"] for row in people(results).values()} == {"locked"}, "in agents.csv", people(results)[0])
    check(all(lock["since_s"] < 120 for lock in evacuation["locks"]), "reported before 120 s", evacuation["locks"])


def test_with_avoidance_nobody_is_locked(folder):
    results, said = run(folder, "locked_counterflow/counterflow.toml", "--set", "crowd.avoidance.horizon=2", "--set",
                        "simulation.end_time=80")
    check(results.summary["evacuation"]["still_inside"] == 0 and results.summary["evacuation"]["locks"] == [], "all leave", said)
    check_close(results.summary["time_s"], 53.1, "as before", absolute=0.06)


def test_a_lock_of_two_and_its_end(folder):
    results = same_on_ranks_and_after_restart(folder, "locked_counterflow/two.toml", stop="42")
    locks = results.summary["evacuation"]["locks"]
    check(len(locks) == 1 and locks[0]["people"] == 2 and 3.8 <= locks[0]["since_s"] <= 25, "a lock of two, since 3.8 to 25 s", locks)
    check_close(locks[0]["at_m"][0], 6, "its place", absolute=0.3)
    run_ok("report", results.folder, "--no-picture", "--output", folder / "report.html", folder=folder)
    x, y = locks[0]["at_m"]
    check_in(f"2 people around ({x:.2f}, {y:.2f}) m, from {locks[0]['since_s']:g} s to the end", (folder / "report.html").read_text(), "the report says so")
    results, said = run(folder, "locked_counterflow/two.toml", "--set", 'crowd.lock.then="stop"', expect=5, to="stop")
    check(results.summary["status"] == "locked" and results.summary["time_s"] < 60, "it ends the run with 5", results.summary["status"])
    said = scree("check", folder / "two.toml", "--set", "crowd.lock.after=2", folder=folder)
    check(said.code == 2 and "every 5 s" in said.stderr, "after = 2 s is refused", said)


def test_a_closed_door_locks_nobody(folder):
    results, said = run(folder, "people_who_stay/nobody.toml", "--set", "simulation.end_time=60")
    check(results.summary["evacuation"]["locks"] == [] and "locked since" not in said.stderr, "a queue is no lock", said)


def test_two_streams_of_an_imported_scenario_pass_each_other(folder):
    from scree import exchange
    from scree.exchange.plan_writer import write_plan

    case(folder, "locked_counterflow/two.toml")
    deck = write_plan(exchange.read(folder / "two_streams.scenario"), folder / "imported")
    run_ok("run", deck, "--set", "simulation.end_time=60", "--set", f'output.directory="{folder}"', folder=folder)
    check(Results(folder / deck.stem).summary["evacuation"]["left"] == 20, "all 20 leave by 60 s")


# ---- people who stay

def radii_on_page(folder, results):
    page = folder / "report.html"
    run_ok("report", results.folder, "--output", page, folder=folder)
    text = page.read_text()
    start = text.index('"radius":') + len('"radius":')
    return json.loads(text[start:text.index("]", start) + 1])


def test_people_who_stay_have_rows_and_their_own_radius(folder):
    results, _ = run(folder, "people_who_stay/five.toml")
    rows = people(results)
    check(sorted(rows) == [0, 1, 2, 3, 4], "5 rows", rows)
    check([rows[k]["left[s]"] == "" and rows[k]["exit[-]"] == "" for k in range(5)] == [False, False, True, True, True], "2 left", rows)
    check([float(rows[k]["radius[m]"]) for k in (2, 3, 4)] == [0.35, 0.15, 0.25], "radii", rows)
    for k, place in zip((2, 3, 4), ((11.4, 1.5), (8.8, 1.5), (7.96, 1.26))):
        found = (float(rows[k]["x[m]"]), float(rows[k]["y[m]"]))
        check(np.abs(np.subtract(found, place)).max() < 0.01, f"last place of person {k}", found)
    check(radii_on_page(folder, results) == [20, 20, 35, 15, 25], "radii on the page")


def test_nobody_leaves(folder):
    results, _ = run(folder, "people_who_stay/nobody.toml")
    rows = people(results)
    check(len(rows) == 3 and {row["state[-]"] for row in rows.values()} == {"waiting"}, "3 rows, before a closed door", rows)
    check(radii_on_page(folder, results) == [35, 15, 25], "radii on the page")


# ---- widths and locks with lifts, queues, groups, sources, smoke, and the model "pbd"

def changed(folder, path, change, files=(), expect=0):
    """(Results, what the program said) of a case that `change` has changed; `files`: name and text of what is beside it."""
    deck = case(folder, path)
    tables = tomllib.loads(deck.read_text())
    change(tables)
    for name, text in files:
        (folder / name).write_text(text)
    deck.write_text(toml(tables))
    said = scree("run", deck, "--set", f'output.directory="{folder}"', folder=folder)
    check(said.code == expect, f"it ends with {expect}", said)
    return Results(folder / deck.stem) if expect != 2 else None, said


def by_passage(results):
    return [results.scalars[f"{name}_total"][-1] for name in ("narrow", "wide")]


@pytest.mark.parametrize("narrow", ("lift", "stair", "both", "stair, and the lift closes"))
def test_a_lift_and_a_stair_that_are_too_narrow_for_wheelchairs(folder, narrow):
    def change(deck):
        deck["simulation"]["end_time"] = 60
        if narrow in ("lift", "both"):
            deck["lifts"]["east"] |= {"door": [[20, 2.7], [20, 3.3]], "wait": 0.0}
        if narrow != "lift":
            ring = [[6, 7], [12, 7], [12, 7.6], [6, 7.6]]
            for floor in ("ground", "upper"):
                deck["floors"][floor]["walkable"]["obstacles"]["well"]["polygon"] = ring
            deck["connectors"]["stair"] |= {"polygon": ring, "bottom": {"floor": "ground", "line": ring[::3]},
                                            "top": {"floor": "upper", "line": ring[1:3]}}
        if "closes" in narrow:
            deck["lifts"]["east"]["closed_from"] = 1.0

    results, said = changed(folder, "lift_or_stair/shop.toml", change, expect=2 if narrow == "both" else 0)
    if narrow == "both":
        check_in("4 people with a radius of up to 0.35 m have no route", said.stderr, "who")
        check(said.stderr.count('"east" is 0.6 m wide at (20, 3)') == 1, "the lift is named once", said)
        return
    states = [row["state[-]"] for row in people(results).values() if row["agent_type[-]"] == "wheelchair"]
    rode = results.summary["evacuation"]["lifts"]["east"]["persons"]
    check(rode == (4 if narrow == "stair" else 0), "who took the lift", rode)
    check(set(states) == {"no route" if "closes" in narrow else "left"}, "wheelchairs", states)
    check(results.summary["evacuation"]["left"] == (10 if "closes" in narrow else 14), "who left", results.summary["evacuation"])


@pytest.mark.parametrize("x", (5, 10))
def test_a_queue_before_and_behind_the_passages(folder, x):
    step = {"queue": {"line": [[x, 3], [x - 3, 3]], "spacing": 0.9, "servers": 1, "service": {"distribution": "constant", "value": 1.0}}}
    results, _ = changed(folder, "routes_by_width/mixed.toml", lambda deck: deck.update(journeys={"leave": {"steps": [step, {"choice": "nearest"}]}}))
    check(results.summary["evacuation"]["left"] == 23 and by_passage(results) == [20, 3], "20 by the narrow passage, 3 by the wide one",
          by_passage(results))
    check(results.summary["evacuation"]["locks"] == [], "who waits in a queue is not locked")


@pytest.mark.parametrize("rule", ({}, {"side_by_side": True, "stay": "none"}))
def test_a_group_takes_the_routes_of_its_widest(folder, rule):
    """Four pairs of an adult and a wheelchair, three of adults."""
    rows = [f"{1 + k % 2},{1 + k // 2},{'wheelchair' if k % 2 else 'adult'},{k // 2}" for k in range(8)]
    rows += [f"{3.5 + 0.6 * (k % 2)},{1 + k // 2},adult,{4 + k // 2}" for k in range(6)]
    results, _ = changed(folder, "routes_by_width/mixed.toml", lambda deck: deck.update(populations={"families": {"file": "families.csv", "groups": rule}}),
                         [("families.csv", "\n".join(["x,y,kind,group", *rows, ""]))])
    check(results.summary["evacuation"]["left"] == 14 and by_passage(results) == [6, 8], "pairs with a wheelchair by the wide passage", by_passage(results))


def test_widths_with_a_source_and_with_pbd(folder):
    def source(deck):
        deck.pop("populations")
        deck["sources"] = {"in": {"agents": ["adult", "wheelchair"], "region": [[0.5, 0.5], [3, 0.5], [3, 5.5], [0.5, 5.5]], "rate": 1.0, "limit": 20}}

    results, _ = changed(folder, "routes_by_width/mixed.toml", source)
    chairs = sum(row["agent_type[-]"] == "wheelchair" for row in people(results).values())
    check(by_passage(results) == [20 - chairs, chairs] and chairs > 0, "each size by its own", by_passage(results))
    results, _ = run(folder, "routes_by_width/mixed.toml", "--set", 'crowd.model="pbd"', to="pbd")
    check(by_passage(results) == [20, 3], "pbd: each size by its own", by_passage(results))


def test_smoke_shuts_the_only_exit_that_is_wide_enough(folder):
    def change(deck):
        deck["exits"] = {"gate": {"line": [[12, 6], [12, 7.5]]}, "turnstile": {"line": [[12, 2], [12, 2.6]]}}
        deck["hazard"] = {"file": "smoke.csv", "closes": {"gate": {"extinction": 0.5}}}

    results, said = changed(folder, "routes_by_width/mixed.toml", change, [("smoke.csv", "t,K\n0,0\n3,1\n200,1\n")])
    check_in("t = 1.5 s: 3 people have no route left", said.stderr, "it is reported")
    check(left(results) == {"gate": 0, "turnstile": 20}, "20 by the turnstile", left(results))


def test_two_are_locked_with_pbd(folder):
    results, _ = run(folder, "locked_counterflow/two.toml", "--set", 'crowd.model="pbd"')
    check([lock["people"] for lock in results.summary["evacuation"]["locks"]] == [2], "a lock of two", results.summary["evacuation"]["locks"])


def test_who_waits_for_a_lift_or_its_group_is_not_locked(folder):
    def lift(deck):
        deck["simulation"]["end_time"] = 60
        deck.pop("connectors")
        for floor in deck["floors"].values():
            floor["walkable"].pop("obstacles")
        deck["lifts"]["east"] |= {"speed": 0.1, "wait": 0.0}
        deck["crowd"] = {"lock": {"after": 5}}

    results, _ = changed(folder, "lift_or_stair/shop.toml", lift)
    check(results.summary["evacuation"]["still_inside"] == 14 and results.summary["evacuation"]["locks_found"] == 0, "before a lift of 35 s",
          results.summary["evacuation"])

    def group(deck):
        deck["walkable"]["polygon"] = [[0, 0], [12, 0], [12, 2], [0, 2]]
        deck["exits"] = {"right": {"line": [[12, 0], [12, 2]]}}
        deck["populations"] = {"pair": {"file": "pair.csv", "groups": {}}}
        deck["crowd"]["lock"] = {"after": 5}

    results, _ = changed(folder, "locked_counterflow/two.toml", group, [("pair.csv", "x,y,group,premovement\n1,0.5,0,0\n1,1.5,0,40\n")])
    check(results.summary["evacuation"]["left"] == 2 and results.summary["evacuation"]["locks_found"] == 0, "for the one who begins late",
          results.summary["evacuation"])


def test_who_comes_behind_somebody_who_lies_there_is_locked(folder):
    """The gas is gone when the second one comes, and the corridor is too narrow to pass."""
    def change(deck):
        deck["crowd"]["lock"] = {"after": 10, "then": "stop"}
        deck["populations"] = {"first": {"file": "first.csv"}}
        deck["sources"] = {"second": {"file": "second.csv"}}
        deck["exits"].pop("left")
        deck["hazard"] = {"file": "gas.csv"}

    results, said = changed(folder, "locked_counterflow/two.toml", change, [
        ("first.csv", "x,y,speed\n7.5,0.3,0.1\n"), ("second.csv", "time,x,y,speed\n25,1,0.3,1\n"), ("gas.csv", "t,CO\n0,0.09\n20,0.09\n21,0\n200,0\n")],
        expect=5)
    check([row["state[-]"] for row in people(results).values()] == ["incapacitated", "locked"], "one lies, one is locked", people(results))
    check(results.summary["evacuation"]["locks"][0]["people"] == 1, "a lock of one", said)


def test_who_was_locked_and_has_fallen_is_not_locked(folder):
    results, _ = changed(folder, "locked_counterflow/two.toml", lambda deck: deck.update(hazard={"file": "gas.csv"}),
                         [("gas.csv", "t,CO\n0,0\n40,0\n41,0.09\n200,0.09\n")])
    check({row["state[-]"] for row in people(results).values()} == {"incapacitated"}, "both have fallen", people(results))
    check(results.summary["evacuation"]["locks_found"] == 1 and results.summary["evacuation"]["locked_at_end"] == 0, "none is locked at the end",
          results.summary["evacuation"])


def test_a_stage_that_begins_shuts_no_door(folder):
    """The exit closes at 20 s; people walk through it while stages begin."""
    text = """
simulation = { dimension = 2, scheme = "crowd", seed = 1 }
time.step = 0.05
walkable.polygon = [[0, 0], [8, 0], [8, 5], [0, 5]]
exits.door = { line = [[8, 2], [8, 3]], open_until = [20] }
populations.row = { file = "row.csv" }
"""
    (folder / "row.csv").write_text("x,y,radius,speed\n" + "".join(f"{5 + 0.7 * k},2.5,0.2,1.2\n" for k in range(4)))
    ends = []
    for name, n in (("one", 1), ("many", 120)):
        stages = "".join(f'[[stages]]\nname = "{k}"\nduration = {6 / n}\n' for k in range(n))
        (folder / f"{name}.toml").write_text(text + stages)
        run_ok("run", folder / f"{name}.toml", "--set", f'output.directory="{folder}"', folder=folder)
        ends.append((folder / name / f"{name}.agents.csv").read_text())
    check(ends[0] == ends[1], "the same with one stage and with many", ends)


def test_who_is_near_its_exit_when_locks_are_first_looked_for_is_not_locked(folder):
    """At 5 s it walks its last 0.2 m: near is not stuck."""
    def change(deck):
        deck["crowd"]["lock"] = {"after": 5}
        deck["populations"] = {"one": {"file": "one.csv"}}

    results, _ = changed(folder, "locked_counterflow/two.toml", change, [("one.csv", "x,y,speed,leaves_at\n7.3,0.3,1,right\n")])
    check(results.summary["evacuation"]["left"] == 1 and results.summary["evacuation"]["locks_found"] == 0, "it leaves", results.summary["evacuation"])


# ---- who may use what

@pytest.mark.xfail(strict=True, reason="no key keeps a kind of people off stairs")
def test_wheelchairs_take_the_lift(folder):
    deck = case(folder, "lift_or_stair/shop.toml")
    deck.write_text(deck.read_text().replace("[agents.wheelchair]", '[agents.wheelchair]\navoids = ["stair"]'))
    run_ok("run", deck, "--set", f'output.directory="{folder}"', folder=folder)
    results = Results(folder / "shop")
    rows = [row for row in people(results).values() if row["agent_type[-]"] == "wheelchair"]
    check(results.summary["evacuation"]["lifts"]["east"]["persons"] == 4 and len(rows) == 4, "4 by the lift", rows)
