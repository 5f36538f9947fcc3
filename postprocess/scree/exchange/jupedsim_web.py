"""Scenarios of web-based JuPedSim: config.json and geometry.wkt in a zip file or a folder, or one JSON file with the area in it.

Facts of the format: the template of its settings and the documentation of the package jupedsim-scenarios. Elements are polygons by id:
`distributions` (who starts where), `exits`, `checkpoints` (on the way), `zones`, `obstacles`; `journeys_v2` lead along ids. Models are
not translated.
"""
import io
import json
import math
import zipfile
from pathlib import Path

import numpy as np

from scree.errors import ExchangeError
from scree.exchange.outlines import area_of, crossing, without_repeats
from scree.exchange.plan import MAX_COVERED, STAYS, Plan, name_of, place, require_size, without_what_is_outside
from scree.exchange.wkt import polygons_of

ELEMENTS = ("distributions", "exits", "checkpoints", "zones", "obstacles")
MARKS = ("walkable_area_wkt", "distributions", "journeys_v2")    # a JSON file with one of these is such a scenario
MAX_BYTES = 2**28    # of a file in a zip file
RADII = (0.1, 1.0)    # m: its bounds of radii that are drawn


def read(path, content):
    """The plan of a scenario. Raises ExchangeError with the element that is wrong."""
    text, area = _of_zip(path, content) if content.startswith(b"PK") else (content, None)
    try:
        whole = json.loads(text)
    except ValueError as error:
        raise ExchangeError(f"{path}: is no JSON file: {error}") from error
    if not isinstance(whole, dict):
        raise ExchangeError(f"{path}: is no scenario of web-based JuPedSim: a table of elements is wanted")
    beside = Path(path).with_name("geometry.wkt")
    area = area or whole.get("walkable_area_wkt") or (beside.read_text("utf-8", errors="replace") if beside.is_file() else None)
    if not area:
        raise ExchangeError(f"{path}: a scenario of web-based JuPedSim without its area: geometry.wkt is wanted beside it")
    plan = Plan(Path(path).stem, f"scenario of web-based JuPedSim {Path(path).name}")
    plan.walkable = polygons_of(path, str(area))
    reader = _Scenario(path, plan, whole)
    try:
        reader.take()
    except KeyError as error:
        raise ExchangeError(f"{path}: {reader.at} has no key {error}") from error
    except (TypeError, AttributeError, ValueError, IndexError, OverflowError) as error:
        raise ExchangeError(f"{path}: {reader.at} is not as web-based JuPedSim writes it: {error}") from error
    require_size(path, plan, "JuPedSim's lengths are metres")
    return without_what_is_outside(plan)


def _of_zip(path, content):
    """config.json and geometry.wkt in a zip file, in whatever folder; the second may be None."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX")]
            settings, areas = ([name for name in names if name.lower().endswith(ending)] for ending in (".json", ".wkt"))
            if len(settings) != 1 or len(areas) > 1:
                raise ExchangeError(f"{path}: a zip file with {', '.join(names[:5]) or 'nothing'}{', ...' if len(names) > 5 else ''}: those that "
                                    "are read hold a scenario of web-based JuPedSim, config.json and geometry.wkt; unpack others")
            for name in settings + areas:
                if archive.getinfo(name).file_size > MAX_BYTES:
                    raise ExchangeError(f"{path}: {name} in it is larger than {MAX_BYTES} bytes")
            return archive.read(settings[0]), archive.read(areas[0]).decode("utf-8", errors="replace") if areas else None
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, OSError) as error:
        raise ExchangeError(f"{path}: is a zip file that cannot be read: {error}") from error


class _Scenario:
    """Takes a scenario into a plan, element by element."""

    def __init__(self, path, plan, whole):
        self.path, self.plan, self.whole, self.at = path, plan, whole, "the scenario"
        self.names = {}    # of exits and waypoints, by id

    def take(self):
        plan, whole = self.plan, self.whole
        self._take_settings()
        for name, ring, element in self._elements("exits", plan.exits):
            flow = float(element.get("max_throughput") or 0) if element.get("enable_throughput_throttling") else 0.0
            plan.exits[name] = {"polygon": ring} | ({"max_flow": flow} if flow > 0 else {})
        for name, ring, element in self._elements("checkpoints", plan.waypoints):
            plan.waypoints[name] = {"polygon": ring}
        for name, ring, element in self._elements("zones", plan.zones):
            plan.zones[name] = {"polygon": ring, "speed_factor": float(element["speed_factor"])}
        for name, ring, element in self._elements("obstacles", plan.obstacles):
            plan.obstacles[name] = ring
        self.at = "journeys_v2"
        journeys = {str(journey["id"]): journey for journey in whole.get("journeys_v2") or []}
        for name, ring, element in self._elements("distributions", {}):
            self._take_people(name, ring, element, journeys)
        for what in sorted(set(whole) - {*ELEMENTS, *MARKS, "config", "seed", "model_type", "project_version"}):
            if whole[what]:
                plan.leave_out(what)
        if not plan.exits:
            plan.notes.append("exits: the file has none")

    def _take_settings(self):
        plan, whole = self.plan, self.whole
        settings = (whole.get("config") or {}).get("simulation_settings") or {}
        parameters = settings.get("simulationParams") or {}
        if float(parameters.get("max_simulation_time") or 0) > 0:
            plan.end_time = float(parameters["max_simulation_time"])
        seed = settings.get("baseSeed", whole.get("seed"))
        if isinstance(seed, int):
            plan.seed = abs(seed) % 2**31
        if model := whole.get("model_type") or parameters.get("model_type"):
            plan.leave_out("model", model)
        if int(settings.get("numberOfSimulations") or 1) > 1:
            plan.leave_out("runs with other seeds", "scree sweep --ensemble does them", int(settings["numberOfSimulations"]) - 1)

    def _elements(self, kind, taken):
        """(name, ring, element) of all elements of a kind."""
        for key, element in (self.whole.get(kind) or {}).items():
            self.at = f"{key} of {kind}"
            ring = without_repeats(np.array(element["coordinates"], float).reshape(-1, 2), 1e-9)
            if not np.isfinite(ring).all() or len(ring) < 3 or area_of(ring) == 0:
                raise ExchangeError(f"{self.path}: {self.at} is no polygon with an area")
            if (where := crossing(ring)) is not None:
                raise ExchangeError(f"{self.path}: {self.at} crosses or touches itself at {place(where)}")
            name = name_of(key, taken)
            if kind in ("exits", "checkpoints"):
                self.names[key] = (kind, name, element)
            yield name, ring, element

    def _take_people(self, name, ring, element, journeys):
        given = element.get("parameters") or {}
        count = int(given.get("number") or 0)
        if given.get("distribution_mode", "by_number") != "by_number" or count <= 0:
            self.plan.leave_out(f"people whose number the file does not say ({given.get('distribution_mode', 'no number')})", name)
            return
        self.plan.agents[name] = {"radius": self._drawn(given, "radius", 0.2, *RADII, name), "speed": self._drawn(given, "v0", 1.2, 0.0, 10.0, name)}
        table = {"agents": [name], "region": ring} | self._premovement(given, name)
        weights = [(str(one["journey_id"]), float(one.get("weight", 1))) for one in element.get("journey_weights") or []]
        weights = [(key, weight) for key, weight in weights if weight > 0] or [(None, 1.0)]
        exact = count * np.array([weight for _, weight in weights]) / sum(weight for _, weight in weights)
        counts = np.floor(exact).astype(int)
        counts[np.argsort(counts - exact, kind="stable")[:count - counts.sum()]] += 1
        flows, start, until = given.get("use_flow_spawning"), float(given.get("flow_start_time") or 0), float(given.get("flow_end_time") or 10)
        is_full = count * math.pi * float(given.get("radius", 0.2)) ** 2 > MAX_COVERED * abs(area_of(ring))
        for (key, _), part in zip(weights, counts.tolist()):
            if part == 0:
                continue
            journey = {} if not self.plan.exits and key is None else {"journey": self._journey(key, journeys, name)}
            of_part = name if len(weights) == 1 else name_of(f"{name}_{key}", {**self.plan.populations, **self.plan.sources})
            if flows and until > start:
                self.plan.sources[of_part] = table | journey | {"rate": part / (until - start), "start": start, "limit": part}
            elif is_full:
                self.plan.sources[of_part] = table | journey | {"schedule": [[0.0, part / 0.01], [0.02, 0.0]], "limit": part}
            else:
                self.plan.populations[of_part] = table | journey | {"count": part}

    def _drawn(self, given, key, usual, least, most, name):
        mean, deviation = float(given.get(key, usual)), float(given.get(f"{key}_std") or 0)
        kind = given.get(f"{key}_distribution", "constant")
        if kind not in ("constant", "gaussian") or kind == "gaussian" and deviation <= 0:
            self.plan.leave_out(f"spread of {key} ({kind})", name)
        if kind != "gaussian" or deviation <= 0:
            return {"distribution": "constant", "value": mean}
        low, high = max(least, mean - 3 * deviation), min(most, mean + 3 * deviation)
        return {"distribution": "normal", "mean": mean, "deviation": deviation, "min": low, "max": high}

    def _premovement(self, given, name):
        if not given.get("use_premovement"):
            return {}
        kind, a, b = given.get("premovement_distribution", "gamma"), given.get("premovement_param_a"), given.get("premovement_param_b")
        laws = {"constant": lambda: {"value": float(a)}, "uniform": lambda: {"min": float(a), "max": float(b)},
                "gamma": lambda: {"shape": float(a), "scale": float(b)}, "weibull": lambda: {"shape": float(b), "scale": float(a)},
                "lognormal": lambda: {"median": math.exp(a), "sigma": float(b)}}
        if kind not in laws or a is None or b is None and kind != "constant":
            self.plan.leave_out(f"premovement times ({kind}, without its parameters)" if kind in laws else f"premovement times ({kind})", name)
            return {}
        return {"premovement": {"distribution": kind} | laws[kind]()}

    def _journey(self, key, journeys, who):
        """The name of the journey with an id; of None that to the nearest exit."""
        name = name_of(key if key in journeys else "to_nearest_exit")
        if name in self.plan.journeys:
            return name
        steps = []
        if key is not None and key not in journeys:
            self.plan.leave_out(f"journey {key}, which is not there: the nearest exit is taken", who)
        self.at = f"journey {key}"
        for stage in journeys[key]["sequence"] if key in journeys else []:
            kind, target, element = self.names.get(stage, (None, None, None))
            if kind is None:
                self.plan.leave_out(f"{stage}, which is not there", self.at)
            elif kind == "exits":
                steps.append({"exits": [target]})
                break
            else:
                steps.append({"waypoint": target} | self._wait(element, target))
        if not steps or "exits" not in steps[-1]:
            if key in journeys:
                self.plan.notes.append(f"{self.at} does not end at an exit: " + ("the nearest is taken" if self.plan.exits else "people stay"))
            if self.plan.exits:
                steps.append({})
            else:
                steps[-1:] = [steps[-1] | {"wait": STAYS}] if steps else []
        self.plan.journeys[name] = steps
        return name

    def _wait(self, element, target):
        wait = float(element.get("waiting_time") or 0)
        if wait > 0 and element.get("waiting_time_distribution", "constant") != "constant":
            self.plan.leave_out("spread of waiting times", target)
        if element.get("enable_throughput_throttling"):
            self.plan.leave_out("limit of the flow at a checkpoint", target)
        return {"wait": wait} if wait > 0 else {}
