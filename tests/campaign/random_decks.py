"""(d) Random decks of all schemes with walls, motions, inlets, outlets, stages and periodic faces: the same bits on 1 to 5 ranks
and through restarts. A deck that is refused, or a run that ends early in good order, has to do so alike everywhere."""
import math
import shutil
from pathlib import Path

import random_crowds
from decks import toml
from harness import BAD_INPUT, files_of, summary_of

NAME = "random"
MESHES = Path(__file__).resolve().parents[1] / "reference" / "meshes"
MAX_REFUSED = 0.25     # share of decks that no run could make sense of, such as too many bodies for a box
SCHEMES = ("pbd", "nonsmooth", "dem", "event", "crowd")
STEP = {"pbd": 0.01, "nonsmooth": 2e-3, "dem": 2e-4, "event": 0.01, "crowd": 0.05}


def prepare(workshop):
    """Nothing is needed."""


def constant(value):
    return {"distribution": "constant", "value": value}


def plain(scheme):
    """A small deck of a scheme, in the plane, the same each time: what other parts damage and kill."""
    step = STEP[scheme]
    deck = {"simulation": {"title": "plain", "dimension": 2, "scheme": scheme, "end_time": 20 * step, "seed": 3},
            "time": {"step": step}, "analysis": {"every_steps": 2}, "measures": {"speed": {"type": "speed"}}}
    if scheme == "crowd":       # nobody gets to the door within a second
        return deck | {"walkable": {"wkt": "POLYGON((0 0, 8 0, 8 5, 0 5, 0 0))"}, "exits": {"door": {"line": [[8, 2], [8, 3]]}},
                       "navigation": {"cell": 0.25}, "measures": {"people": {"type": "count"}},
                       "populations": {"all": {"count": 40, "region": [[0, 0], [5, 0], [5, 5], [0, 5]]}}}
    deck |= {"domain": {"lower": [0, 0], "upper": [2, 2]}, "decomposition": {"block_cells": 1},
             "particles": {"grains": {"radius": {"distribution": "uniform", "min": 0.05, "max": 0.07},
                                      "source": {"type": "lattice", "spacing": 0.2,
                                                 "region": {"lower": [0, 0.01], "upper": [2, 1]}}}},
             "obstacles": {"floor": {"type": "plane", "point": [0, 0], "normal": [0, 1]},
                           "left": {"type": "plane", "point": [0, 0], "normal": [1, 0]},
                           "right": {"type": "plane", "point": [2, 0], "normal": [-1, 0]}}}
    return with_physics(deck, scheme, [0.5, -9.81])


def with_physics(deck, scheme, gravity, friction=0.3, restitution=0.3, law="linear", dem_friction="spring"):
    """The tables that a scheme needs, and the material of every body and wall."""
    if scheme == "pbd":
        return deck | {"velocity": {"type": "constant", "velocity": [0.1 * g for g in gravity]}}
    deck["physics"] = {"gravity": gravity}
    deck["materials"] = {"stone": {"density": 2500}}
    pair = {"friction": 0.0 if scheme == "event" else friction, "restitution": restitution}
    if scheme == "nonsmooth":
        deck["solver"] = {"type": "nsgs", "tolerance": 1e-4}
    elif scheme == "event":
        deck["event"] = {"impact_law": "multiple"}
    elif scheme == "dem":
        deck["dem"] = {"law": law, "friction": dem_friction}
        if law == "hertz":
            deck["materials"]["stone"] |= {"young_modulus": 1e6, "poisson_ratio": 0.3}
        else:
            pair["stiffness"] = 2e6
    deck["pairs"] = {"stone-stone": pair}
    for group in ("particles", "inlets", "obstacles"):
        for table in deck.get(group, {}).values():
            table["material"] = "stone"
    return deck


# ---- random decks

def made(rng):
    """A deck, and whether its bits are promised to be the same on any number of ranks."""
    scheme = rng.choices(SCHEMES, [3, 3, 3, 1, 2])[0]
    if scheme != "crowd":
        return grains(rng, scheme)
    deck = random_crowds.crowd(rng)
    outputs(rng, deck)
    if rng.random() < 0.5:
        deck["output"]["trajectory"] = {"fps": 10}
    return deck, True


def grains(rng, scheme):
    dimension = 2 if scheme == "event" else rng.choice([2, 2, 3])
    axes = range(dimension)
    r = rng.choice([0.004, 0.05, 0.5])                          # all lengths are made of the mean radius
    size = [rng.uniform(12, 30) * r for _ in axes] if dimension == 2 else [rng.uniform(12, 16) * r for _ in axes]
    size[-1] *= 1.5
    periodic = [rng.random() < 0.35 for _ in axes[:-1]] + [False]
    if scheme == "event":
        periodic = [False] * dimension
    speed = (20 * r) ** 0.5                                     # of a fall by some radii, gravity 10
    step = rng.uniform(0.5, 1) * {"pbd": 0.02, "nonsmooth": 0.1 * r / speed, "dem": 0, "event": 0.3 * r / speed}[scheme]
    n_steps = rng.randrange(12, 41)
    gravity = [rng.uniform(-3, 3) for _ in axes[:-1]] + [-10.0]
    law, dem_friction, friction = "linear", "spring", rng.choice([0.0, 0.3, 0.8])
    deck = {"simulation": {"title": "random", "dimension": dimension, "scheme": scheme, "seed": rng.randrange(1000)},
            "domain": {"lower": [0.0] * dimension, "upper": size, "periodic": periodic},
            "decomposition": {"block_cells": rng.choice([1, 1, 2, "auto"]), "rebalance": rng.random() < 0.8}}
    if rng.random() < 0.3:
        deck["decomposition"] |= {"rebalance_threshold": 1.0, "rebalance_cost": 0.0}
    deck["obstacles"] = walls(size, periodic, dimension)
    n_max = 8 if scheme == "event" else 90
    radius = rng.choice([constant(r), {"distribution": "uniform", "min": 0.7 * r, "max": 1.2 * r}])
    lower = [0.01 * r] * dimension
    upper = [s - 0.01 * r for s in size[:-1]] + [0.6 * size[-1]]
    room = math.prod(u - lo for lo, u in zip(lower, upper)) / ((4 if dimension == 2 else 8) * r**dimension)
    source = {"type": "random", "count": rng.randrange(3, max(4, min(n_max, int(0.35 * room))))}
    if rng.random() < 0.5 and scheme != "event":
        source = {"type": "lattice", "spacing": 2.6 * r, "jitter": rng.choice([0.0, 0.03])}
    deck["particles"] = {"grains": {"radius": radius, "source": source | {"region": {"lower": lower, "upper": upper}}}}
    if scheme != "pbd":
        deck["particles"]["grains"] |= {"random_speed": 0.2 * speed}
        if rng.random() < 0.3:
            deck["particles"]["grains"]["velocity"] = [rng.uniform(-1, 1) * speed for _ in axes]
    extra_walls(rng, deck, size, r, speed, dimension, scheme)
    if scheme == "dem":
        law = rng.choice(["linear", "hertz"])
        dem_friction = rng.choice(["spring", "spring", "none", "dae"] if law == "linear" else ["spring", "none"])
        mass = 2500 * (3.14 * r * r if dimension == 2 else 4.2 * r**3)
        stiffness = 2000 * mass * 10 / r                        # overlap of a hundredth under some bodies
        step = 0.05 * (mass / stiffness) ** 0.5
        n_steps *= 3
    if scheme != "event":
        come_and_go(rng, deck, size, r, step, n_steps, scheme, dimension)
    deck = with_physics(deck, scheme, gravity, friction, rng.choice([0.0, 0.5, 0.9]), law, dem_friction)
    if scheme == "dem":
        pair = deck["pairs"]["stone-stone"]
        if law == "linear":
            pair["stiffness"] = stiffness
        else:
            deck["materials"]["stone"]["young_modulus"] = max(1e4, 10 * stiffness / r if dimension == 3 else 1e6)
            step *= 0.3
            if dimension == 2:
                return grains(rng, scheme)                      # Hertz is of spheres
    if scheme == "nonsmooth":
        deck["solver"]["tolerance"] = rng.choice([1e-2, 1e-4, 1e-8])
        deck["nonsmooth"] = {"max_travel": 0.5}
        if rng.random() < 0.3:
            deck["pairs"]["stone-stone"]["rolling_friction"] = 0.1
    if scheme == "pbd":
        deck["pbd"] = {"sweeps": rng.choice([1, 2, 5])}
        deck["velocity"]["velocity"] = [g * 0.02 * r / step for g in gravity]
    if scheme in ("dem", "nonsmooth") and dem_friction != "dae" and rng.random() < 0.3:
        deck["pairs"]["stone-stone"]["cohesion"] = attraction(rng, scheme, dimension, law, r)
    deck["time"] = {"step": step}
    finish(rng, deck, step, n_steps, scheme)
    if scheme == "dem" and dem_friction != "dae" and "cohesion" not in deck["pairs"]["stone-stone"] and rng.random() < 0.3:
        deform(rng, deck, step * n_steps, dimension)
    return deck, dem_friction != "dae"


def deform(rng, deck, end_time, dimension):
    """Makes the domain a periodic cell that is sheared, strained or brought to a stress, with nothing else at its faces."""
    for table in ("physics", "obstacles", "inlets", "outlets", "stages"):
        deck.pop(table, None)
    deck["simulation"]["end_time"] = end_time
    deck["domain"]["periodic"] = [True] * dimension
    flow, gradient = rng.sample("xyz"[:dimension], 2)
    rate = rng.uniform(0.1, 0.8) / end_time
    cell = {"flow": flow, "gradient": gradient, "shear_rate": rng.choice([-1, 1]) * rate}
    axis = rng.choice("xyz"[:dimension])
    kind = rng.choice(["shear", "strain", "stress", "pressure"])
    if kind == "strain":
        cell["strain_rate"] = {axis: rng.choice([-0.3, 0.5]) * rate}
    elif kind != "shear":
        stress = rng.uniform(0.1, 10) * 2500 * rate**2 * deck["domain"]["upper"][0] ** 2
        cell |= {"max_rate": 0.5 * rate, kind: {axis: stress} if kind == "stress" else stress}
        if kind == "stress" and axis == gradient:
            cell["shear_stress"] = math.copysign(0.2 * stress, cell.pop("shear_rate"))
    deck["domain"]["deformation"] = cell
    for measure in ("wall_force", "removed"):
        deck["measures"].pop(measure, None)
    deck["measures"].get("stress", {}).pop("region", None)
    deck["measures"]["cell"] = {"type": "cell"}
    if rng.random() < 0.5:
        second = {"name": "second", "duration": 0.5 * end_time, "deformation": {"shear_rate": -0.7 * rate}}
        deck["stages"] = [{"name": "first", "duration": 0.5 * end_time}, second]


def attraction(rng, scheme, dimension, law, r):
    """A cohesion that pulls with up to 20 times the weight of a body of the mean radius."""
    bond_number = rng.uniform(0.1, 20)
    pull_off = bond_number * 2500 * (3.14 * r * r if dimension == 2 else 4.2 * r**3) * 10
    kinds = [{"type": "force", "bond_number": bond_number}, {"type": "force", "pull_off": pull_off}]
    if dimension == 3:
        kinds.append({"type": "dmt", "work_of_adhesion": pull_off / (3.14 * r)})
    if dimension == 3 and scheme == "dem":
        kinds.append({"type": "bridge", "surface_tension": pull_off / (6.28 * r), "contact_angle": rng.uniform(0, 1),
                      "volume_ratio": rng.choice([1e-3, 0.03])})
        if law == "hertz":
            kinds.append({"type": "jkr", "work_of_adhesion": pull_off / (2.36 * r), "jkr_end": rng.choice(["displacement", "load"])})
    chosen = rng.choice(kinds)
    if scheme == "nonsmooth":
        chosen["range"] = rng.choice([0.0, 1e-3 * r])
    elif rng.random() < 0.3:
        chosen["friction_load"] = "thornton"
    return chosen


def walls(size, periodic, dimension):
    """A plane at every face that is not periodic, but the top, which bodies do not get to."""
    found = {}
    for axis in range(dimension):
        for side in (0, 1):
            if not periodic[axis]:
                point, normal = [0.0] * dimension, [0.0] * dimension
                point[axis] = side * size[axis]
                normal[axis] = 1.0 - 2 * side
                found[f"face{axis}{side}"] = {"type": "plane", "point": point, "normal": normal}
    return found


def mesh(name, side, middle, half):
    """A surface of triangles that reaches about `half` from its middle."""
    return {"type": "mesh", "file": str(MESHES / f"{name}.obj"), "scale": half / 1.6, "side": side, "translate": middle}


def extra_walls(rng, deck, size, r, speed, dimension, scheme):
    """Walls above the bodies of the start, some of them moving; clear of everything by themselves."""
    if rng.random() < 0.3:
        return
    middle = [s / 2 for s in size[:-1]] + [0.8 * size[-1]]
    long = min(0.3 * size[0], 0.12 * size[-1])
    if dimension == 2:
        a, b = [middle[0] - long, middle[1]], [middle[0] + long, middle[1]]
        shape = rng.choice([{"type": "segment", "a": a, "b": b},
                            {"type": "polyline", "points": [a, middle, [b[0], b[1] - 0.3 * r]]},
                            {"type": "polygon", "points": [a, b, [middle[0], middle[1] + long]]},
                            {"type": "disk", "center": middle, "radius": long},
                            {"type": "box", "lower": [m - long for m in middle], "upper": [m + long for m in middle]}])
        turn = {"center": middle}
    else:
        shape = rng.choice([{"type": "plate", "point": middle, "normal": [0.1, 0.2, 1.0], "outer_radius": long},
                            {"type": "sphere", "center": middle, "radius": long},
                            {"type": "cylinder", "a": middle, "b": [m + 0.5 * long for m in middle], "radius": 0.6 * long},
                            {"type": "cone", "a": middle, "b": [*middle[:2], middle[2] + long], "radius_a": 0.2 * long,
                             "radius_b": long},
                            {"type": "box", "lower": [m - long for m in middle], "upper": [m + long for m in middle]},
                            *([] if scheme == "event" else [mesh("gem", "outside", middle, long), mesh("patch", "both", middle, long)])])
        turn = {"point": middle, "axis": [0.2, 1.0, 0.1]}
    down = [0.0] * (dimension - 1) + [-1.0]
    motion = rng.choice([None, None, "rotate", "translate", "oscillate", "swing"])
    if shape["type"] == "box" and motion in ("rotate", "swing"):
        motion = None
    rate = rng.uniform(0.1, 1) * speed
    if motion == "rotate":
        shape["motion"] = {"type": "rotate", "rate": rng.choice([-1, 1]) * rate / long, **turn}
    elif motion == "translate":
        shape["motion"] = {"type": "translate", "velocity": [0.2 * rate * d for d in down]}
    elif motion == "oscillate":
        shape["motion"] = {"type": "oscillate", "amplitude": [0.3 * r * d for d in down], "frequency": 0.2 * rate / r}
    elif motion == "swing":
        shape["motion"] = {"type": "swing", "amplitude": 0.3, "frequency": 0.1 * rate / long, **turn}
    if scheme == "event":
        shape.pop("motion", None)
    elif rng.random() < 0.2:
        shape["surface_velocity"] = [rate, *[0.0] * (dimension - 1)]
    deck["obstacles"]["extra"] = shape
    if rng.random() < 0.3 and not any(deck["domain"]["periodic"]) and scheme != "event":
        shake = [0.0] * dimension
        shake[0] = 0.1 * r
        deck["obstacles"]["face00"]["motion"] = {"type": "oscillate", "amplitude": shake, "frequency": 0.05 * speed / r,
                                                 "phase": rng.uniform(0, 6)}


def come_and_go(rng, deck, size, r, step, n_steps, scheme, dimension):
    """Inlets, outlets and stages."""
    if rng.random() < 0.35:
        deck["inlets"] = {"spout": {"type": "pour", "radius": constant(r), "rate": rng.uniform(0.1, 0.8) / step,
                                     "count": rng.randrange(3, 12), "max_delay": 1e6,
                                     "region": {"lower": [*(0.1 * s for s in size[:-1]), 0.82 * size[-1]],
                                                "upper": [0.98 * s for s in size]}}}
        if scheme != "pbd":
            deck["inlets"]["spout"]["velocity"] = [0.0] * (dimension - 1) + [-(20 * r) ** 0.5]
    if rng.random() < 0.35:
        deck["outlets"] = {"drain": {"region": {"lower": [0.0] * dimension, "upper": [*(0.4 * s for s in size[:-1]), 0.1 * size[-1]]}}}
    if rng.random() < 0.4:
        cut = rng.randrange(3, n_steps - 3)
        stages = [{"name": "first", "duration": cut * step}, {"name": "second", "duration": (n_steps - cut) * step}]
        if "extra" in deck["obstacles"] and rng.random() < 0.7:
            stages[1][rng.choice(["remove_obstacles", "add_obstacles"])] = ["extra"]
            if "add_obstacles" in stages[1]:
                # What appears may not stand where bodies are: well above the start.
                stages[1]["name"] = "wall comes"
        if rng.random() < 0.3:
            stages.insert(1, {"name": "wait", "until": {"bodies_at_least": 1, "max_time": 3 * step}})
        deck["stages"] = stages


def finish(rng, deck, step, n_steps, scheme):
    """End, outputs and measures."""
    if "stages" not in deck:
        deck["simulation"]["end_time"] = n_steps * step
    deck["analysis"] = {"every_steps": rng.choice([1, 2, 5])}
    kinds = ["overlap", "extent", "speed", "coordination", "count"]
    if scheme != "pbd":
        kinds += ["energy", "contact_status", "rotation", "wall_force", "stress"]
    if scheme == "event":
        kinds = ["extent", "speed", "energy", "count"]
    if "outlets" in deck:
        kinds.append("removed")
    dimension = deck["simulation"]["dimension"]
    deck["measures"] = {kind: {"type": kind} for kind in rng.sample(kinds, min(len(kinds), 4))}
    if "stress" in deck["measures"]:
        deck["measures"]["stress"]["region"] = {"lower": deck["domain"]["lower"], "upper": deck["domain"]["upper"]}
    if rng.random() < 0.3 and scheme != "event":
        deck["measures"]["plane"] = {"type": "flow", "point": [s / 2 for s in deck["domain"]["upper"]],
                                     "normal": [0.0] * (dimension - 1) + [1.0]}
    outputs(rng, deck)


def outputs(rng, deck):
    deck["output"] = {"name": "run", "checkpoint": {"every_steps": rng.choice([3, 5, 8]), "keep": 100}}
    if rng.random() < 0.6:
        deck["output"]["h5md"] = {"every_steps": rng.choice([1, 4, 7])}
    if rng.random() < 0.3:
        deck["output"]["vtk"] = {"every_steps": rng.choice([5, 9]), "asynchronous": rng.random() < 0.5}


# ---- attempts

def tables_of(results):
    """The bytes of every table that a run left."""
    return {name: data for name, data in files_of(results).items() if name.endswith(".csv")}


def equal(case, first, second, claim):
    """Two results folders hold the same bits, by `scree compare` and by their tables and hashes."""
    compared = case.run("compare", first, second, bare=True)
    if compared.code != 0:
        case.finding(f"{claim}: compare finds a difference", compared)
    a, b = tables_of(first), tables_of(second)
    if a != b:
        names = [name for name in sorted(a.keys() | b.keys()) if a.get(name) != b.get(name)]
        case.finding(f"{claim}: other tables", names)
    if summary_of(first).get("state_hash") != summary_of(second).get("state_hash"):
        case.finding(f"{claim}: another state at the end", (summary_of(first), summary_of(second)))


def attempt(case):
    rng = case.random
    deck, same_bits = made(rng)
    case.kind = deck["simulation"]["scheme"] + (f" {deck['simulation']['dimension']}D" if "domain" in deck else "")
    (case.folder / "deck.toml").write_text(toml(deck))
    home = rng.choice([1, 2])
    whole = case.run("-q", "run", "deck.toml", "--set", "output.directory=whole", ranks=home)
    others = rng.sample([n for n in (1, 2, 3, 4, 5) if n != home], 2) if same_bits else [home]
    for n in others:
        again = case.run("-q", "run", "deck.toml", "--set", f"output.directory=on{n}", ranks=n)
        if case.same(whole, again, f"{home} and {n} ranks") and whole.code == 0:
            equal(case, case.folder / "whole/run", case.folder / f"on{n}/run", f"{home} and {n} ranks")
    if whole.code == BAD_INPUT:
        return "refused"
    if whole.code == 0:
        restarted(case, rng.choice([1, 2, 3, 4]) if same_bits else home)
    return "ok"


def restarted(case, n):
    """A copy of the results from which a middle checkpoint goes on; what is later is to be removed and written again."""
    checkpoints = sorted((case.folder / "whole/run/checkpoint").glob("*.scree"))
    if len(checkpoints) < 2:
        return
    chosen = case.random.choice(checkpoints[:-1])
    shutil.copytree(case.folder / "whole", case.folder / "again")
    for path in checkpoints:
        if path > chosen:
            (case.folder / "again/run/checkpoint" / path.name).unlink()
    result = case.run("-q", "restart", f"again/run/checkpoint/{chosen.name}", "--set", "output.directory=again", ranks=n)
    if result.code != 0:
        case.finding(f"a restart ends with exit code {result.code}", result)
        return
    equal(case, case.folder / "whole/run", case.folder / "again/run", "a restart")
