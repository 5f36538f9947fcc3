"""Scenarios of Vadere as crowd plans: topography, people, sources, targets and measurement areas; what stays out is counted.
The scenarios are written here in the form of Vadere 2.4 (attributes of org.vadere.state) and of release 0.1."""
import copy
import csv
import json
import re
import subprocess

import numpy as np
import pytest

import scree
from scree import exchange
from scree.exchange.outlines import area_of, area_of_polygons
from scree_program import check, check_close, check_in, program, python_command

DISTRIBUTIONS = "org.vadere.state.attributes.distributions.Attributes"
SPAWNERS = "org.vadere.state.attributes.spawner.Attributes"


@pytest.fixture(autouse=True)
def in_folder(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SCREE", str(program()))


def rectangle(x, y, width, height):
    return {"x": x, "y": y, "width": width, "height": height, "type": "RECTANGLE"}


def polygon(*corners):
    return {"type": "POLYGON", "points": [{"x": x, "y": y} for x, y in corners]}


def target(key, shape, absorbs=True, wait=None):
    distribution = {"type": DISTRIBUTIONS + "ConstantDistribution", "updateFrequency": wait} if wait else None
    return {"id": key, "shape": shape, "absorber": {"enabled": absorbs, "deletionDistance": 0.1},
            "waiter": {"enabled": wait is not None, "distribution": distribution}, "leavingSpeed": -1.0, "parallelEvents": 0}


def source(key, shape, targets, count=1, start=0.0, end=0.0, most=-1, distribution=None, groups=(1.0,), kind="RegularSpawner"):
    distribution = distribution or {"type": "ConstantDistribution", "updateFrequency": 1.0}
    return {"id": key, "shape": shape, "targetIds": targets, "groupSizeDistribution": list(groups),
            "spawner": {"type": SPAWNERS + kind, "constraintsElementsMax": most, "constraintsTimeStart": start,
                        "constraintsTimeEnd": end, "eventElementCount": count, "eventElement": None,
                        "distribution": distribution | {"type": DISTRIBUTIONS + distribution["type"]}}}


def pedestrian(key, x, y, targets, radius=0.2, speed=1.3, passed=0):
    return {"type": "PEDESTRIAN", "attributes": {"id": key, "radius": radius}, "position": {"x": x, "y": y}, "targetIds": targets,
            "nextTargetListIndex": passed, "freeFlowSpeed": speed}


HALL = {
    "name": "hall", "release": "2.4", "scenario": {
        "mainModel": "org.vadere.simulator.models.osm.OptimalStepsModel",
        "attributesModel": {"org.vadere.state.attributes.models.AttributesOSM": {}},
        "attributesSimulation": {"finishTime": 240.0, "simTimeStepLength": 0.4, "useFixedSeed": True, "fixedSeed": -7},
        "stimulusInfos": [],
        "topography": {
            "attributes": {"bounds": rectangle(10, 20, 31, 11), "boundingBoxWidth": 0.5, "bounded": True},
            "obstacles": [{"id": 1, "shape": polygon((20.5, 20), (21, 20), (21, 24), (20.5, 24))},
                          {"id": -1, "shape": rectangle(20.5, 27, 0.5, 4)}, {"id": -1, "shape": rectangle(11, 29, 1, 1)},
                          {"id": 4, "shape": {"type": "CIRCLE", "radius": 0.4, "center": {"x": 30, "y": 25}}}],
            "targets": [target(5, rectangle(39, 24, 1, 2)), target(6, rectangle(24, 24, 2, 2), absorbs=False, wait=3.0),
                        target(7, rectangle(39, 29, 1, 1))],
            "sources": [source(8, rectangle(11, 21, 4, 6), [6, 5], count=20)],
            "measurementAreas": [{"id": 9, "shape": rectangle(33, 22, 4, 6)}, {"id": 10, "shape": rectangle(90, 22, 4, 6)}],
            "stairs": [{"id": 12, "shape": rectangle(32, 22, 2, 6)}], "targetChangers": [],
            "dynamicElements": [pedestrian(2, 16.0, 22.5, [5]), pedestrian(3, 17.0, 22.5, [6, 5], 0.25, 1.1, passed=1),
                                pedestrian(11, 17.0, 24.0, [6, 7])],
            "attributesPedestrian": {"radius": 0.195, "speedDistributionMean": 1.34, "speedDistributionStandardDeviation": 0.26,
                                     "minimumSpeed": 0.5, "maximumSpeed": 2.2}}}}


def plan_of(change=None, name="hall.scenario"):
    """The plan of the hall after a change to its topography."""
    scenario = copy.deepcopy(HALL)
    if change:
        change(scenario["scenario"]["topography"])
    with open(name, "w", encoding="utf-8") as file:
        json.dump(scenario, file)
    return exchange.read(name)


def with_sources(*sources):
    return plan_of(lambda topography: topography.update(sources=list(sources), dynamicElements=[]))


def test_the_topography(folder):
    plan = plan_of()
    check_close(area_of_polygons(plan.walkable), 300, "the area within the walls of the bounds", relative=1e-9)
    check(plan.walkable[0][0].tolist()[0] == [10.5, 20.5], "bounds that do not begin at 0", plan.walkable)
    check(list(plan.obstacles) == ["obstacle_1", "obstacle", "obstacle_2"], "names, also without ids", plan.obstacles)
    check_close(abs(area_of(plan.obstacles["obstacle"])), 2, "area of an obstacle", relative=1e-9)
    check(plan.columns == [(30.0, 25.0, 0.4)], "circles stay round", plan.columns)
    check(list(plan.exits) == ["target_5", "target_7"] and list(plan.waypoints) == ["target_6"], "targets", plan.waypoints)
    check(plan.journeys["to_6_5"] == [{"waypoint": "target_6", "wait": 3.0}, {"exits": ["target_5"]}], "a journey", plan.journeys)
    check(list(plan.measures) == ["area_9"], "measurement areas in the plan", plan.measures)
    check(plan.end_time == 240 and plan.seed == 7, "time and seed", plan)
    check(plan.left_out == {("model", "OptimalStepsModel"): 1, ("attributes of a model", "AttributesOSM"): 1, ("stairs", "id 12"): 1,
                            ("measurement outside of the walkable area", "area_10"): 1}, "what is left out", plan.left_out)


def test_people_at_their_places(folder):
    deck = scree.Deck(exchange.write_plan(plan_of(), folder))
    check(deck["populations.start"] == {"file": "hall_start.csv"}, "a file with places", deck["populations"])
    rows = list(csv.DictReader((folder / "hall_start.csv").open()))
    check(rows[1] == {"id": "3", "x": "17.0", "y": "22.5", "radius": "0.25", "speed": "1.1", "journey": "to_5"},
          "a person who has passed a target", rows)
    check([row["journey"] for row in rows] == ["to_5", "to_5", "to_6_7"], "journeys", rows)


def test_people_by_count_run(folder):
    deck = exchange.write_plan(plan_of(), folder, "count")
    tables = scree.Deck(deck)["populations"]
    check({name: table["count"] for name, table in tables.items()} == {"source_8": 20, "start_to_5": 2, "start_to_6_7": 1},
          "as many people", tables)
    results = scree.run(deck, progress=False)
    inside = results.scalars["inside_n_bodies"]
    check(inside[0] == 23 and inside[-1] == 0, "they are there, and everybody leaves", inside)


def rate_of(table):
    return table["rate"], table["start"], table["limit"]


def test_when_sources_bring_people():
    box = rectangle(11, 21, 4, 6)
    series = {"type": "TimeSeriesDistribution", "intervalLength": 10.0, "spawnsPerInterval": [5, 0, 3]}
    plan = with_sources(
        source(1, box, [5], 3), source(2, box, [5], 3, 12.0, 12.0), source(3, box, [5], 2, 20.0, 40.0),
        source(4, box, [5], 1, 0.0, 100.0, 30, {"type": "ConstantDistribution", "updateFrequency": 0.5}),
        source(5, box, [5], 1, 0.0, 50.0, -1, {"type": "PoissonDistribution", "numberPedsPerSecond": 2.0}),
        source(6, box, [5], 1, 4.0, 60.0, -1, series, kind="TimeSeriesSpawner"), source(7, box, [5], 300),
        source(8, box, [5], 1, 0.0, 9.0, -1, {"type": "BinomialDistribution", "trials": 3, "p": 0.5}), source(9, box, [5], 0),
        source(10, box, [5], 4, groups=(0.5, 0.5)), source(11, box, [77]))
    found = plan.sources
    check(plan.populations["source_1"]["count"] == 3, "once at the start: they are there", plan.populations)
    check(found["source_2"]["schedule"] == [[12.0, 60.0], [12.1, 0.0]] and found["source_2"]["limit"] == 3, "once later", found)
    check(rate_of(found["source_3"]) == (2.0, 19.0, 42), "every second from 20 s to 40 s, 21 times 2", found["source_3"])
    check(rate_of(found["source_4"]) == (2.0, 0.0, 30), "up to a limit", found["source_4"])
    check(rate_of(found["source_5"]) == (2.0, 0.0, 101), "at random: the mean", found["source_5"])
    check(found["source_6"]["schedule"] == [[4.0, 0.5], [14.0, 0.0], [24.0, 0.3], [34.0, 0.0]] and found["source_6"]["limit"] == 8,
          "a series", found["source_6"])
    check(found["source_7"]["limit"] == 300, "more than there is room for: they come one by one", found["source_7"])
    check(plan.populations["source_11"]["journey"] == "to_nearest", "without a target: the nearest exit", plan.populations)
    lists = {what: where for what, where in plan.left_out if "source" in where}
    check(lists == {"spread of arrival times (Poisson): their mean is taken": "source_5", "groups": "source_10",
                    "source with the distribution Binomial": "source_8", "source that brings nobody": "source_9",
                    "target 77, which is not there": "source_11", "targets: there are none; the nearest exit is taken": "source_11"},
          "what is left out", plan.left_out)
    check("source_8" not in {**plan.sources, **plan.populations}, "a source whose times are not known", plan.sources)


def test_a_steady_source_brings_its_last_person_when_vadere_does(folder):
    """Events at 20, 21, ... 40 s of 2 people each: in the deck the last of 42 comes at 40 s, and one step later at most."""
    deck = scree.Deck(exchange.write_plan(with_sources(source(3, rectangle(11, 21, 4, 6), [5], 2, 20.0, 40.0)), folder))
    deck["simulation.end_time"] = 41.0
    del deck["exits.target_5"], deck["exits.target_7"], deck["journeys"], deck["sources.source_3.journey"]
    deck["analysis.every"] = 0.05
    results = scree.run(deck, progress=False)
    time, inside = results.scalars["time"], results.scalars["inside_n_bodies"]
    check_close(float(time[np.argmax(inside == 42)]), 40.0, "when all are there", absolute=0.11)


def test_targets_that_share_an_id_and_those_without_an_absorber():
    def change(topography):
        topography["targets"] = [target(5, rectangle(39, 24, 1, 2)), target(5, rectangle(39, 21, 1, 1)),
                                 target(6, rectangle(24, 24, 2, 2), absorbs=False)]
        topography["sources"] = [source(8, rectangle(11, 21, 4, 6), [5], 3), source(9, rectangle(16, 25, 2, 2), [6], 3)]
        topography["dynamicElements"] = []
    plan = plan_of(change)
    check(plan.journeys["to_5"] == [{"exits": ["target_5", "target_5_2"]}], "both, the nearest counts", plan.journeys)
    check(plan.journeys["to_6"][0]["waypoint"] == "target_6" and plan.journeys["to_6"][0]["wait"] > 1e5, "they stay", plan.journeys)
    check(plan.notes == ["target 6 has no absorber: people stay there"], "it is reported", plan.notes)


def test_a_target_outside_to_which_nobody_walks_is_left_out():
    def change(topography):
        topography["targets"] += [target(30, rectangle(60, 60, 2, 2)), target(31, rectangle(60, 60, 2, 2))]
        topography["sources"].append(source(9, rectangle(16, 25, 2, 2), [31], 3))
    plan = plan_of(change)
    check(list(plan.exits) == ["target_5", "target_7", "target_31"], "one that is used stays, for the program to name", plan.exits)
    check(plan.left_out["target outside of the walkable area, to which nobody walks", "target_30"] == 1, "it is reported", plan.left_out)


def test_a_scenario_of_release_0_1(folder):
    """Without spawners and absorbers, and below "vadere" in place of "scenario"."""
    old = {"release": "0.1", "vadere": {"mainModel": None, "topography": {
        "attributes": {"bounds": rectangle(0, 0, 45, 3), "boundingBoxWidth": 0.5, "bounded": True},
        "obstacles": [], "stairs": [], "dynamicElements": [],
        "targets": [{"id": 1, "absorbing": True, "shape": rectangle(42, 0.7, 1.5, 1.6), "waitingTime": 0.0}],
        "sources": [{"id": -1, "shape": rectangle(1, 1, 1, 1),
                     "interSpawnTimeDistribution": "org.vadere.state.scenario.ConstantDistribution",
                     "distributionParameters": [30.0], "spawnNumber": 1, "startTime": 0.0, "endTime": 300.0, "targetIds": [1]}],
        "attributesPedestrian": {"radius": 0.195, "speedDistributionMean": 1.3, "speedDistributionStandardDeviation": 0.0,
                                 "minimumSpeed": 1.25, "maximumSpeed": 1.42}}}}
    (folder / "old.scenario").write_text(json.dumps(old))
    plan = exchange.read("old.scenario")
    check_close(area_of_polygons(plan.walkable), 88, "area", relative=1e-9)
    check(rate_of(plan.sources["source"]) == (1 / 30, 0.0, 11), "11 people in 300 s", plan.sources)
    check(plan.agents["pedestrian"]["speed"] == {"distribution": "constant", "value": 1.3}, "one speed", plan.agents)
    said = subprocess.run([program(), "check", exchange.write_plan(plan, folder)], capture_output=True, text=True)
    check(said.returncode == 0, "the deck is good", said)


@pytest.mark.parametrize("change, message", [
    (lambda t: t["obstacles"][0].update(shape=polygon((20, 21), (24, 25), (24, 21), (20, 25))),
     "obstacle 1 (number 1) crosses or touches itself at (22, 23)"),
    (lambda t: t["targets"][0]["shape"].update(type="STAR"), "target 5 has the shape 'STAR'"),
    (lambda t: t["attributes"].update(boundingBoxWidth=6), "bounds of 31 m x 11 m leave no room within walls of 6 m"),
    (lambda t: t["attributes"].pop("bounds"), "the topography has no key 'bounds'"),
    (lambda t: t["sources"][0].pop("shape"), "number 1 of sources has no key 'shape'"),
    (lambda t: t["targets"][1]["shape"].update(x="left"), "target 6 is not as Vadere writes it: could not convert"),
    (lambda t: t["attributesPedestrian"].update(radius=None), "attributesPedestrian is not as Vadere writes it: float() argument"),
    (lambda t: t["obstacles"][0]["shape"].update(points=[]), "obstacle 1 (number 1) has no area at nowhere"),
    (lambda t: t["obstacles"][1]["shape"].update(x=float("nan")), "is no JSON file: NaN is no number")])
def test_what_is_wrong_is_named(change, message):
    with pytest.raises(exchange.ExchangeError, match=re.escape(message)) as refusal:
        plan_of(change)
    check(str(refusal.value).startswith("hall.scenario: "), "the message begins with the file", refusal.value)


def test_the_script_and_files_that_are_no_scenarios(folder):
    plan_of()
    script = python_command("exchange", "import")
    said = subprocess.run([*script, "hall.scenario", "--people", "count"], capture_output=True, text=True)
    check(said.returncode == 0 and said.stdout == "hall.toml\n", "the deck is named", said)
    check_in("     1  model: OptimalStepsModel\n     1  stairs: id 12\n", said.stderr.replace("     1  measurement outside of the "
             "walkable area: area_10\n", ""), "what is left out")
    check(said.stderr == (folder / "hall.left_out.txt").read_text(), "it is in a file too", said)
    for text, message in (("{", "is no JSON file"), ('{"a": 1}', "no topography in the file"), ("{}", "no topography in the file")):
        (folder / "other").write_text(text)
        said = subprocess.run([*script, "other"], capture_output=True, text=True)
        check(said.returncode == 2, "exit code", said)
        check_in(f"scree: exchange: other: {message}", said.stderr, "message")
    said = subprocess.run([*script, "hall.scenario", "--people", "9", "--force"], capture_output=True, text=True)
    check_in("the file says how many people there are", said.stderr, "a number of people is for files without")
