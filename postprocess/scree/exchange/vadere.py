"""Scenarios of Vadere (JSON): topography, people, sources, targets, measurement areas. Models are not translated.

Facts of the format: sources of Vadere 2.4, package org.vadere.state.attributes, and its scenario files since release 0.1.
"""
import json
from collections import Counter

import numpy as np

from scree.errors import ExchangeError
from scree.exchange.curves import FULL_TURN, arc
from scree.exchange.outlines import area_of, crossing, rectangle, takes_nothing, without_repeats
from scree.exchange.plan import MAX_COVERED, STAYS, Plan, name_of, place, require_size, without_what_is_outside
from scree.exchange.vadere_sources import Spawner, distribution_of

CURVE = 0.005    # m, from a circle to the lines in its place
NOT_TAKEN = ("stairs", "targetChangers", "absorbingAreas", "aerosolClouds", "droplets", "teleporter")


def read(path, content):
    """The plan of a scenario. Raises ExchangeError with the element that is wrong."""
    try:
        whole = json.loads(content, parse_constant=_refuse)
    except ValueError as error:
        raise ExchangeError(f"{path}: is no JSON file: {error}") from error
    whole = whole if isinstance(whole, dict) else {}
    scenario = whole.get("scenario", whole.get("vadere", whole))    # release 0.1 says "vadere"
    topography = scenario.get("topography") if isinstance(scenario, dict) else None
    if not isinstance(topography, dict):
        raise ExchangeError(f"{path}: no topography in the file, so it is no scenario of Vadere")
    plan = Plan(path.stem, f"Vadere scenario {path.name}, release {whole.get('release', 'unknown')}")
    reader = _Topography(path, plan, topography)
    try:
        reader.take()
        reader.at = "the scenario"
        _take_run(plan, scenario)
    except KeyError as error:
        raise ExchangeError(f"{path}: {reader.at} has no key {error}") from error
    except (TypeError, AttributeError, ValueError, IndexError, OverflowError) as error:
        raise ExchangeError(f"{path}: {reader.at} is not as Vadere writes it: {error}") from error
    require_size(path, plan, "Vadere's lengths are metres")
    return without_what_is_outside(plan)


def _refuse(word):
    raise ValueError(f"{word} is no number")


def _take_run(plan, scenario):
    attributes = scenario.get("attributesSimulation", {})
    if attributes.get("finishTime", 0) > 0:
        plan.end_time = float(attributes["finishTime"])
    seed = attributes.get("fixedSeed") if attributes.get("useFixedSeed") else attributes.get("randomSeed")
    if isinstance(seed, int):
        plan.seed = abs(seed) % 2**31
    if scenario.get("mainModel"):
        plan.leave_out("model", scenario["mainModel"].rsplit(".", 1)[-1])
    for name in scenario.get("attributesModel", {}):
        plan.leave_out("attributes of a model", name.rsplit(".", 1)[-1])
    stimuli = scenario.get("stimulusInfos") or []
    stimuli = stimuli.get("stimulusInfos", []) if isinstance(stimuli, dict) else stimuli
    if stimuli:
        plan.leave_out("stimuli", "", len(stimuli))


class _Topography:
    """Takes a topography into a plan, element by element."""

    def __init__(self, path, plan, topography):
        self.path, self.plan, self.topography = path, plan, topography
        self.at = "the topography"    # what is being read, for messages
        self.targets = {}    # targets that share an id are one: people go to the nearest of them
        self.exits = {}      # their names by the id of the target

    def take(self):
        for target in self._all("targets"):
            self.targets.setdefault(int(target["id"]), []).append(target)
        self.plan.walkable = [[self._bounds()]]
        self._take_obstacles()
        self._take_pedestrian()
        self._take_targets()
        for source in self._all("sources"):
            self._take_source(source)
        self._take_people()
        self._leave_out_unused_targets()
        for area in self._all("measurementAreas"):
            self._take_area(area)
        for kind in NOT_TAKEN:
            for element in self._all(kind):
                self.plan.leave_out(kind, f"id {element.get('id', 'without')}")

    def _all(self, kind):
        found = self.topography.get(kind) or []
        for number, element in enumerate(found if isinstance(found, list) else [found], start=1):
            self.at = f"number {number} of {kind}"
            yield element
        self.at = "the topography"

    def _bounds(self):
        attributes = self.topography["attributes"]
        box = attributes["bounds"]
        inset = float(attributes.get("boundingBoxWidth", 0.5)) if attributes.get("bounded", True) else 0.0
        lower, size = np.array([box["x"], box["y"]], float), np.array([box["width"], box["height"]], float)
        if (size <= 2 * inset).any():
            raise ExchangeError(f"{self.path}: bounds of {size[0]:g} m x {size[1]:g} m leave no room within walls of {inset:g} m")
        if inset == 0:
            self.plan.notes.append("the bounds are open in Vadere (bounded = false); here they are walls")
        return rectangle(lower + inset, lower + size - inset)

    def _ring(self, element, what):
        """Corners of a shape."""
        shape, kind = element["shape"], element["shape"]["type"]
        if kind == "RECTANGLE":
            lower = np.array([shape["x"], shape["y"]], float)
            ring = rectangle(lower, lower + [shape["width"], shape["height"]])
        elif kind == "POLYGON":
            ring = without_repeats([(point["x"], point["y"]) for point in shape["points"]], 1e-9)
        elif kind == "CIRCLE":
            ring = arc((float(shape["center"]["x"]), float(shape["center"]["y"])), float(shape["radius"]), 0, FULL_TURN, CURVE)
        else:
            raise ExchangeError(f"{self.path}: {what} has the shape {kind!r}; there are RECTANGLE, POLYGON, CIRCLE")
        if len(ring) < 3 or area_of(ring) == 0 and crossing(ring) is None:
            raise ExchangeError(f"{self.path}: {what} has no area at {place(ring[0]) if len(ring) else 'nowhere'}")
        where = crossing(ring)
        if where is not None:
            raise ExchangeError(f"{self.path}: {what} crosses or touches itself at {place(where)}")
        return ring

    def _take_area(self, area):
        try:
            ring = self._ring(area, f"measurement area {area['id']}")
        except ExchangeError as error:
            self.plan.leave_out(str(error).removeprefix(f"{self.path}: "))
            return
        self.plan.measures[_named("area", area, self.plan.measures)] = {"type": "window", "polygon": ring}

    def _take_obstacles(self):
        for number, element in enumerate(self._all("obstacles"), start=1):
            shape = element["shape"]
            if shape["type"] == "CIRCLE":
                self.plan.columns.append(tuple(map(float, (shape["center"]["x"], shape["center"]["y"], shape["radius"]))))
            else:
                ring = self._ring(element, f"obstacle {element.get('id', '')} (number {number})")
                self.plan.obstacles[_named("obstacle", element, self.plan.obstacles)] = ring

    def _take_pedestrian(self):
        given = self.topography.get("attributesPedestrian")
        if not given:
            self.plan.notes.append("attributesPedestrian: the file has none; people are those of scree")
            return
        self.at = "attributesPedestrian"
        low, high = float(given.get("minimumSpeed", 0.5)), float(given.get("maximumSpeed", 2.2))
        mean, deviation = float(given.get("speedDistributionMean", 1.34)), float(given.get("speedDistributionStandardDeviation", 0.26))
        speed = {"distribution": "normal", "mean": mean, "deviation": deviation, "min": low, "max": high}
        if deviation <= 0 or low >= high:
            speed = {"distribution": "constant", "value": min(max(mean, low), high)}
        radius = {"distribution": "constant", "value": float(given.get("radius", 0.2))}
        self.plan.agents["pedestrian"] = {"radius": radius, "speed": speed}

    def _take_targets(self):
        for key, targets in self.targets.items():
            for target in filter(_absorbs, targets):
                ring = self._ring(target, f"target {key}")
                self.plan.exits[_named("target", target, self.plan.exits)] = {"polygon": ring}
                self.exits.setdefault(key, []).append(list(self.plan.exits)[-1])
            if key in self.exits and len(self.exits[key]) < len(targets):
                self.plan.leave_out("target without an absorber, with the id of one that has it", f"target {key}")
        if not self.plan.exits:
            self.plan.notes.append("exits: no target takes people out of the run")

    def _leave_out_unused_targets(self):
        """Targets outside of the plan, to which nobody walks: the program refuses exits that nobody can reach."""
        used = {name for steps in self.plan.journeys.values() for step in steps for name in step.get("exits", [])}
        for name, table in list(self.plan.exits.items()):
            if name not in used and takes_nothing(table["polygon"], self.plan.walkable, list(self.plan.obstacles.values())):
                del self.plan.exits[name]
                self.plan.leave_out("target outside of the walkable area, to which nobody walks", name)

    def _wait(self, target):
        """How long people stay at a target on their way [s]."""
        waiter = target.get("waiter") or {}
        if waiter.get("enabled"):
            mean, is_exact = distribution_of(waiter.get("distribution") or {})
            if mean is None or not is_exact:
                self.plan.leave_out("spread of waiting times" if mean is not None else "waiting times", f"target {target['id']}")
            return mean or 0.0
        return float(target.get("waitingTime", 0.0))

    def _journey(self, ids, who):
        """Keys of a table that say where people walk to: along targets, to the nearest exit without any, or nowhere."""
        known = [key for key in ids if key in self.targets]
        for key in set(ids) - set(known):
            self.plan.leave_out(f"target {key}, which is not there", who)
        absorbing = [k for k, key in enumerate(known) if key in self.exits]
        known = known[:absorbing[0] + 1] if absorbing else known
        if not known:
            how = "the nearest exit is taken" if self.plan.exits else "people stand"
            self.plan.leave_out(f"targets: there are none; {how}", who)
            if not self.plan.exits:
                return {}
        name = "to_" + "_".join(map(str, known or ["nearest"]))
        if name not in self.plan.journeys:
            self.plan.journeys[name] = [self._step(key, k == len(known)) for k, key in enumerate(known, start=1)] or [{}]
        return {"journey": name}

    def _step(self, key, is_last):
        if key in self.exits:
            return {"exits": self.exits[key]}
        target, self.at = self.targets[key][0], f"target {key}"
        self.plan.waypoints.setdefault(f"target_{key}", {"polygon": self._ring(target, f"target {key}")})
        wait = STAYS if is_last else self._wait(target)
        if is_last:
            self.plan.notes.append(f"target {key} has no absorber: people stay there")
        if len(self.targets[key]) > 1:
            self.plan.leave_out("all but the first target of one id", f"target {key}", len(self.targets[key]) - 1)
        return {"waypoint": f"target_{key}"} | ({"wait": wait} if wait > 0 else {})

    def _take_source(self, source):
        name, spawner = _named("source", source, {**self.plan.populations, **self.plan.sources}), Spawner.of(source)
        groups = source.get("groupSizeDistribution") or [1.0]
        if spawner.total() == 0:
            self.plan.leave_out("source that brings nobody", name)
            return
        for what, is_there in (("groups", sum(groups[1:]) > 0), ("people of its own", spawner.own_people),
                               (spawner.remark, bool(spawner.remark))):
            if is_there:
                self.plan.leave_out(what, name)
        if not spawner.is_known():
            return
        table = {"region": self._ring(source, f"source {source['id']}")} | self._journey(source.get("targetIds") or [], name)
        if spawner.is_single() and spawner.start == 0 and self._have_room(table["region"], spawner.total()):
            self.plan.populations[name] = table | {"count": spawner.total()}
        else:
            self.plan.sources[name] = table | spawner.table()

    def _have_room(self, region, count):
        """Whether so many people find a place at once; if not, they come one by one, as in Vadere."""
        radius = self.plan.agents.get("pedestrian", {}).get("radius", {}).get("value", 0.2)
        return count * np.pi * radius**2 <= MAX_COVERED * abs(area_of(region))

    def _take_people(self):
        elements = list(self._all("dynamicElements"))
        people = [element for element in elements if element.get("type", "PEDESTRIAN") == "PEDESTRIAN"]
        others = Counter(element.get("type") for element in elements) - Counter(PEDESTRIAN=len(people))
        for kind, count in others.items():
            if kind not in (None, "PEDESTRIAN"):
                self.plan.leave_out("dynamic element", kind, count)
        if not people:
            return
        self.at = "a pedestrian of dynamicElements"
        self.plan.people = {"id": np.array([int(one["attributes"]["id"]) for one in people]),
                            "x": np.array([float(one["position"]["x"]) for one in people]),
                            "y": np.array([float(one["position"]["y"]) for one in people]),
                            "radius": np.array([float(one["attributes"]["radius"]) for one in people]),
                            "speed": np.array([float(one["freeFlowSpeed"]) for one in people])}
        journeys = [self._journey(_ahead(one), "single pedestrians").get("journey", "") for one in people]
        if any(journeys):
            self.plan.people["journey"] = journeys


def _named(kind, element, taken):
    """A name for a table: with the id of the element, if it has one of its own. Elements drawn by hand often have -1."""
    key = element.get("id", -1)
    return name_of(f"{kind}_{key}" if key >= 0 else kind, taken)


def _absorbs(target):
    """Whether people leave the run at a target; releases before the absorbers say `absorbing`."""
    return target["absorber"].get("enabled", True) if target.get("absorber") else target.get("absorbing", False)


def _ahead(pedestrian):
    """Targets that a pedestrian has not yet passed."""
    return (pedestrian.get("targetIds") or [])[max(0, pedestrian.get("nextTargetListIndex") or 0):]
