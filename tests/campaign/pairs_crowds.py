"""Features of decks of people, for the covering array: each value of a factor knows how to put itself into a small deck.

The deck: a hall of 11 m x 7 m with a well in it and a door in its right wall, or two such floors above each other with a connector down in the
well, or two side by side; some people near the door and some at the head of the connector down, so that within 8 s some get to everything."""
import covering
from pairs_grains import NONE, expanded

STEP, N_STEPS = 0.05, 160
LENGTH, WIDTH = 11.0, 7.0
WELL = (3.0, 4.0, 8.0, 5.6)
# Where a feature is in a deck.
KEYS = {
    "scheme": "`simulation.scheme`", "floors": "`[floors.NAME]`, `[connectors.NAME] type`; one: `[walkable]`", "plan": "`polygon`, `wkt` or `file` of `[walkable]`", "post": "`[walkable.obstacles.NAME]`",
    "people": "`[agents.NAME]`: usual, wheelchairs (0.35 m), both, `age` and `factors = \"fruin\"`, `knows`, `follows`",
    "radius": "`[agents.NAME.radius] distribution`", "speed": "`[agents.NAME.speed] distribution`", "start": "`[populations.NAME]`: `count`, `density`, `placement`, `file`",
    "premovement": "`[populations.NAME.premovement] distribution`", "door": "`[exits.NAME]`: `line`, `polygon`, `open_from`, `max_flow`, two, narrow (0.8 m), slim (0.6 m: no wheelchair fits), slim and a wide one",
    "journey": "`[journeys.NAME]`: `choice`, `waypoint`, `repeat`", "group": "`[populations.NAME.groups]`", "queue": "`queue` of a step, `servers`",
    "service": "`[journeys.NAME.steps.queue.service] distribution`", "lift": "`[lifts.NAME]`, `closed_from`", "smoke": "`[hazard]`: values, `file`, `closes`, `fallen`",
    "source": "`[sources.NAME]`: `rate`, `schedule`, `file`", "model": "`crowd.model`", "solver": "`[crowd.solver] type`",
    "walk": "`[crowd]`: `speed_law`, `noise`; `[crowd.avoidance]`", "lock": "`[crowd.lock]`: `after = 5` s, with `then = \"stop\"`, `after = 0`", "navigation": "`[navigation.density_cost]`", "zone": "`[zones.NAME]`",
    "closing": "`closed_from` of a connector", "stages": "`[[stages]]`", "grains": "tables of grains: `[obstacles]`, `[particles]`, `[inlets]`, `[outlets]`, `[forces]`, `[materials]`, `[physics]`, `domain.periodic`",
    "measure": "`[measures.NAME] type`, several at once", "output": "`[output]`, several at once",
}
WORDS = {
    "floors": ("floor", "connector"), "people": ("agents", "[connectors", "smallest person", "people with a radius"), "start": ("populations", "people", "of the file"), "door": ("exit",), "journey": ("journey", "waypoint", "step"),
    "lift": ("lift",), "smoke": ("hazard",), "walk": ("speed_law", "noise", "avoidance"), "closing": ("closed_from", "connector"),
    "grains": ("obstacle", "particles", "inlets", "outlet", "forces", "material", "gravity", "periodic", "domain", "moves", "motion"), "service": ("queue",), "scheme": ("scheme", "gravity", "deformation", "driven"),
    "navigation": ("density_cost",), "queue": ("queue", "have no route to any destination"), "group": ("group",), "zone": ("zone",), "post": ("obstacles",),
}
REFUSED = [
    ("scheme=crowd", "grains=particles|inlets|outlets|forces|materials|gravity"), ("scheme=crowd", "output=fclib|continuum"),
    ("scheme=crowd", "measure=energy|contact_status|rotation|stress|repose|driven|cell"),
    ("start=file|file groups", "group=*"), ("solver=*", "model=pbd"), ("solver=*", "smoke=fallen|everywhere|file|closes"),
    ("model=pbd", "floors=stair|escalator|ramp|level"), ("grains=periodic", "floors=stair|escalator|ramp|level"),
    ("people=knows", "zone=slow"), ("people=knows", "navigation=density"), ("people=wheelchairs", "door=slim|slim and wide"),
    ("people=both", "door=slim", "queue=none", "journey=none|nearest|quickest|weights"), ("group=*", "journey=weights"), ("start=file groups", "journey=weights"), ("measure=queue", "queue=none"), ("measure=inlets", "source=none"),
]


def rectangle(x0, y0, x1, y1):
    return [[x0, y0], [x1, y0], [x1, y1], [x0, y1]]


class Deck:
    scheme, has_inertia, dimension = "crowd", False, 2

    def __init__(self, values, folder, reference):
        self.values, self.folder, self.reference = values, folder, reference
        self.step, self.n_steps = STEP, N_STEPS
        self.has_floors = values["floors"] != "one"
        self.low, self.high = ("ground", "top") if self.has_floors else (None, None)
        # Side by side the upper floor is to the left.
        self.left = -LENGTH - 5.0 if values["floors"] in ("level", "ramp") else 0.0
        self.tables = {
            "simulation": {"title": "pairs", "dimension": 2, "scheme": "crowd", "end_time": STEP * N_STEPS, "seed": 5}, "time": {"step": STEP},
            "crowd": {}, "navigation": {"cell": 0.2}, "agents": {"adult": {}}, "populations": {}, "exits": {},
            "output": {"name": "run", "checkpoint": {"every_steps": N_STEPS // 4, "keep": 100}}, "analysis": {"every_steps": 10}, "measures": {}}

    def table(self, path):
        table = self.tables
        for word in path.split("."):
            table = table.setdefault(word, {})
        return table

    def on(self, floor, table):
        return table | ({"floor": floor} if self.has_floors else {})

    def steps(self):
        """Steps of the one journey, made if there is none."""
        return self.table("journeys.leave").setdefault("steps", [])


def plan(name):
    """The area of each floor, as a polygon, as text, or from a file."""
    def put(d):
        stacked = d.values["floors"] in ("stair", "escalator")
        for floor in ([d.low, d.high] if d.has_floors else [None]):
            x = d.left if floor == "top" else 0.0
            ring = rectangle(x, 0.0, x + LENGTH, WIDTH)
            text = "POLYGON((" + ", ".join(f"{a!r} {b!r}" for a, b in [*ring, ring[0]]) + "))"
            if name == "file":
                (d.folder / f"plan_{floor}.wkt").write_text(text + "\n")
            table = d.table(f"floors.{floor}.walkable" if floor else "walkable")
            table.update({"polygon": {"polygon": ring}, "wkt": {"wkt": text}, "file": {"file": f"plan_{floor}.wkt"}}[name])
            if stacked:
                table["obstacles"] = {"well": {"polygon": rectangle(*WELL)}}
            if floor:
                d.tables["floors"][floor]["elevation"] = (3.0 if floor == "top" else 0.0) if d.values["floors"] != "level" else 0.0
    return put


def floors(name):
    """A connector from the upper floor to the lower one."""
    def put(d):
        if name == "one":
            return
        x0, y0, x1, y1 = WELL if name in ("stair", "escalator") else (-5.0, 2.5, 0.0, 4.3)
        near, far = [[x0, y0], [x0, y1]], [[x1, y0], [x1, y1]]
        down, up = (near, far) if name in ("stair", "escalator") else (far, near)
        connector = {"type": name, "polygon": rectangle(x0, y0, x1, y1), "bottom": {"floor": "ground", "line": down}, "top": {"floor": "top", "line": up}}
        if name == "escalator":
            connector |= {"speed": 0.5, "direction": "down", "walk": 0.5}
        d.table("connectors")["passage"] = connector
    return put


def post(name):
    def put(d):
        table = d.table(f"floors.{d.low}.walkable" if d.has_floors else "walkable").setdefault("obstacles", {})
        table["post"] = {"circles": [[9.8, 3.5, 0.3]]} if name == "circle" else {"polygon": rectangle(9.6, 3.3, 10.0, 3.7)}
    return put


def people(name):
    def put(d):
        agents = d.tables["agents"]
        if name in ("wheelchairs", "both"):
            agents["chair"] = {"radius": {"distribution": "constant", "value": 0.35}, "speed": {"distribution": "constant", "value": 0.8}}
            if name == "wheelchairs":
                del agents["adult"]
        elif name == "fruin":
            agents["adult"]["age"] = "over 50"
            for connector in d.tables.get("connectors", {}).values():
                connector["factors"] = "fruin"
        elif name == "knows":
            agents["adult"] |= {"knows": ["door"], "notices": 2.0}
        elif name == "follows":
            agents["other"] = {"follows": "adult"}
    return put


def population(name):
    def put(d):
        for floor, where in ((d.low, rectangle(8.4, 1.0, 10.4, 6.0)), (d.high, rectangle(8.3, 3.0, 10.4, 6.4) if d.left == 0 else
                                                                      rectangle(-7.5, 1.5, -5.4, 5.5)))[:2 if d.has_floors else 1]:
            table = d.table(f"populations.on_{floor or 'plan'}")
            if d.has_floors:
                table["floor"] = floor
            if name in ("file", "file groups"):
                columns = ["x", "y", *(["group"] if name == "file groups" else []), *(["floor"] if d.has_floors else [])]
                lines = [",".join(columns)]
                for k in range(6):
                    x, y = where[0][0] + 0.35 + 0.75 * (k % 2), where[0][1] + 0.36 + 0.74 * (k // 2)
                    lines.append(",".join([f"{x:.2f}", f"{y:.2f}", *([str(k // 2)] if name == "file groups" else []), *([floor] if d.has_floors else [])]))
                (d.folder / f"people_{floor}.csv").write_text("\n".join(lines) + "\n")
                table["file"] = f"people_{floor}.csv"
                table.pop("floor", None)
                if name == "file groups":
                    table["groups"] = {}
                continue
            table["region"] = where
            table["agents"] = list(d.tables["agents"])
            if name == "density":
                table["density"] = 0.5
            else:
                table["count"] = 5
            if name == "lattice":
                table["placement"] = "lattice"
    return put


DISTRIBUTIONS = {
    "constant": lambda m: {"value": m}, "uniform": lambda m: {"min": 0.9 * m, "max": 1.1 * m},
    "normal": lambda m: {"mean": m, "deviation": 0.05 * m, "min": 0.8 * m, "max": 1.2 * m},
    "lognormal": lambda m: {"median": m, "sigma": 0.05, "min": 0.8 * m, "max": 1.2 * m},
    "gamma": lambda m: {"shape": 100.0, "scale": 0.01 * m, "min": 0.8 * m, "max": 1.2 * m},
    "weibull": lambda m: {"shape": 10.0, "scale": m, "min": 0.8 * m, "max": 1.2 * m},
}


def drawn(name, mean):
    return {"distribution": name} | DISTRIBUTIONS.get(name, lambda m: {})(mean)


def of_agents(key, name, mean):
    def put(d):
        if name != NONE and "adult" in d.tables["agents"]:
            d.tables["agents"]["adult"][key] = drawn(name, mean)
    return put


def of_populations(key, make):
    def put(d):
        for table in d.tables["populations"].values():
            table[key] = make()
    return put


def door(name):
    def put(d):
        exits = d.tables["exits"]
        line = {"line": [[LENGTH, 2.8], [LENGTH, 4.2]]}
        exits["door"] = d.on(d.low, {
            "line": line, "polygon": {"polygon": rectangle(10.2, 2.8, 11.0, 4.2)}, "timed": line | {"open_from": [0.0, 3.0], "open_until": [1.5]},
            "max_flow": line | {"max_flow": 1.0}, "two": line, "narrow": {"line": [[LENGTH, 3.1], [LENGTH, 3.9]]}, "deep": line | {"absorb_depth": 1.0},
            "slim": {"line": [[LENGTH, 3.2], [LENGTH, 3.8]]}, "slim and wide": {"line": [[LENGTH, 3.2], [LENGTH, 3.8]]}}[name])
        if "slim" in name:
            d.tables["navigation"]["cell"] = 0.15       # coarser ones lose the door for those who barely fit
        if name in ("two", "timed", "slim and wide"):
            exits["back"] = d.on(d.low, {"line": [[0.0, 1.0], [0.0, 2.4]]})
    return put


def journey(name):
    def put(d):
        if name in ("waypoint", "repeat"):
            d.table("waypoints")["desk"] = d.on(d.low, {"polygon": rectangle(8.6, 0.5, 9.8, 1.7)})
            d.steps().append({"waypoint": "desk", "wait": 0.5})
            if name == "repeat":
                d.tables["journeys"]["leave"]["repeat"] = True
                d.table("waypoints")["desk_2"] = d.on(d.low, {"polygon": rectangle(8.6, 5.5, 9.8, 6.7)})
                d.steps().append({"waypoint": "desk_2"})
                return
        if name == "weights":
            d.steps().append({"choice": "weights", "exits": list(d.tables["exits"]), "weights": [1.0] * len(d.tables["exits"])})
        else:
            d.steps().append({"choice": name, **({"update": 0.5} if name == "quickest" else {})} if name in ("nearest", "quickest") else {"choice": "nearest"})
    return put


def queue(name, service):
    def put(d):
        table = {"line": [[10.2, 1.0], [8.6, 1.0], [8.6, 2.4]], "spacing": 0.9, "servers": 1 if name == "one" else 2, "service": drawn(service, 0.8)}
        d.steps().insert(0, {"queue": d.on(d.low, table)})
        if "choice" not in d.steps()[-1] and not d.tables["journeys"]["leave"].get("repeat") and len(d.steps()) == 1:
            d.steps().append({"choice": "nearest"})
    return put


def lift(name):
    def put(d):
        table = {"cabin": rectangle(8.8, WIDTH, 10.4, WIDTH + 1.5), "door": [[8.9, WIDTH], [10.2, WIDTH]], "floors": ["top", "ground"], "to": "ground",
                 "speed": 4.0, "door_time": 0.3, "dwell": 0.5}
        if name == "closing":
            table["closed_from"] = 2.0
        d.table("lifts")["lift"] = table
    return put


def smoke(name):
    def put(d):
        hazard = d.table("hazard")
        if name == "file":
            (d.folder / "smoke.csv").write_text("t,x,y,K\n" + "".join(f"{t},{x},{y},{t * (20 + x) / 60}\n" for t in (0, 8) for x in (-20, 20) for y in (-5, 15)))
            hazard["file"] = "smoke.csv"
        elif name == "everywhere":
            hazard["extinction"] = 2.0
        elif name == "gas":
            hazard.update(carbon_monoxide=0.09, fallen="vanish")
        elif name == "fallen":
            hazard.update(carbon_monoxide=0.09, carbon_dioxide=0.05)
        elif name == "closes":
            (d.folder / "smoke.csv").write_text("t,K\n0,0\n3,1\n20,1\n")
            hazard.update(file="smoke.csv", closes={"door": {"extinction": 0.5}})
    return put


def source(name):
    def put(d):
        region = rectangle(8.6, 5.6, 10.4, 6.8)
        table = d.on(d.low, {"region": region, "limit": 4, "agents": list(d.tables["agents"])})
        if name == "rate":
            table["rate"] = 1.0
        elif name == "schedule":
            table["schedule"] = [[0.0, 1.0], [2.0, 0.0], [3.0, 2.0]]
        else:
            columns = ["time", "x", "y", *(["floor"] if d.has_floors else [])]
            lines = [",".join([f"{t}", "9.0", "6.2", *(["ground"] if d.has_floors else [])]) for t in (0.5, 2.0, 4.0)]
            (d.folder / "later.csv").write_text("\n".join([",".join(columns), *lines]) + "\n")
            table = {"file": "later.csv"}
        d.table("sources")["in"] = table
    return put


def zone(d):
    d.table("zones")["mud"] = d.on(d.low, {"polygon": rectangle(8.0, 2.0, 10.0, 5.0), "speed_factor": 0.6})


def stages(name):
    def put(d):
        d.tables["simulation"].pop("end_time")
        half = STEP * N_STEPS / 2
        first = {"name": "first", "until": {"bodies_at_most": 4, "max_time": half}} if name == "until" else {"name": "first", "duration": half}
        d.tables["stages"] = [first, {"name": "second", "duration": half}]
    return put


def grains(name):
    """What decks of grains have."""
    def put(d):
        wall = d.on(d.low, {"type": "disk", "center": [9.0, 3.5], "radius": 0.3})
        if name == "obstacles":
            d.table("obstacles")["pillar"] = wall
        elif name == "moving wall":
            d.table("obstacles")["pillar"] = wall | {"motion": {"type": "translate", "velocity": [0.0, 0.1]}}
        elif name == "periodic":
            d.table("domain").update(lower=[-20.0, -2.0], upper=[20.0, 12.0], periodic=[True, False])
        elif name == "particles":
            d.table("particles.stones").update(radius={"distribution": "constant", "value": 0.1}, source={"type": "random", "count": 2})
        elif name == "inlets":
            d.table("inlets.spout").update(type="pour", radius={"distribution": "constant", "value": 0.1}, rate=1.0)
        elif name == "outlets":
            d.table("outlets.drain.region").update(lower=[0.0, 0.0], upper=[1.0, 1.0])
        elif name == "forces":
            d.table("forces.pull").update(type="drag", coefficient=1.0)
        elif name == "materials":
            d.table("materials.stone").update(density=1000.0)
        elif name == "gravity":
            d.table("physics").update(gravity=[0.0, -10.0])
    return put


def measure(name):
    def put(d):
        more = {"line_flow": {"line": [[10.0, 2.8], [10.0, 4.2]]}, "window": {"lower": [8.5, 1.0], "upper": [10.5, 6.0], "method": "voronoi"},
                "flow": {"point": [10.0, 3.5], "normal": [1.0, 0.0]}, "profile": {"bins": 4}}.get(name, {})
        if "floor" in d.reference.tables["measures.NAME", name].keys and d.has_floors:
            more = more | {"floor": d.low}
        d.table(f"measures.{name}").update(type=name, **more)
    return put


def output(name, **values):
    return lambda d: d.table(f"output.{name}").update(values)


def put(path, **values):
    return lambda d: d.table(path).update(values)


def nothing(d):
    """The default of the program."""


def features(reference):
    """As those of grains."""
    names = reference.names
    made = {
        "scheme": {"crowd": nothing},
        "floors": {name: floors(name) for name in ("one", "stair", "escalator", "ramp", "level")},
        "plan": {name: plan(name) for name in ("polygon", "wkt", "file")},
        "post": {NONE: nothing, "circle": post("circle"), "polygon": post("polygon")},
        "people": {"usual": nothing} | {name: people(name) for name in ("wheelchairs", "both", "fruin", "knows", "follows")},
        "radius": {NONE: nothing} | {name: of_agents("radius", name, 0.18) for name in names("agents.NAME.radius", "distribution")},
        "speed": {NONE: nothing} | {name: of_agents("speed", name, 1.3) for name in names("agents.NAME.speed", "distribution")},
        "start": {name: population(name) for name in ("count", "density", "lattice", "file", "file groups")},
        "premovement": {NONE: nothing} | {name: of_populations("premovement", lambda name=name: drawn(name, 1.0))
                                          for name in names("populations.NAME.premovement", "distribution")},
        "group": {NONE: nothing, "stay": of_populations("groups", lambda: {"sizes": [1, 2], "shares": [1.0, 1.0]}),
                  "side by side": of_populations("groups", lambda: {"sizes": [2], "side_by_side": True, "stay": "none"})},
        "door": {name: door(name) for name in ("line", "polygon", "timed", "max_flow", "two", "narrow", "deep", "slim", "slim and wide")},
        "journey": {NONE: nothing} | {name: journey(name) for name in ("nearest", "quickest", "weights", "waypoint", "repeat")},
        "service": {name: nothing for name in names("journeys.NAME.steps.queue.service", "distribution")},
        "queue": {NONE: nothing, "one": lambda d: queue("one", d.values["service"])(d), "two": lambda d: queue("two", d.values["service"])(d)},
        "lift": {NONE: nothing, "open": lift("open"), "closing": lift("closing")},
        "smoke": {NONE: nothing} | {name: smoke(name) for name in ("everywhere", "file", "gas", "fallen", "closes")},
        "source": {NONE: nothing} | {name: source(name) for name in ("rate", "schedule", "file")},
        "model": {"projection": nothing, "pbd": put("crowd", model="pbd")},
        "solver": {NONE: nothing} | {name: put("crowd.solver", type=name) for name in names("crowd.solver")},
        "walk": {NONE: nothing, "no law": put("crowd", speed_law="none"), "noise": put("crowd", noise=0.02), "avoidance": put("crowd.avoidance", horizon=1.0)},
        "lock": {NONE: nothing, "soon": put("crowd.lock", after=5.0), "stop": put("crowd.lock", after=5.0, then="stop"), "off": put("crowd.lock", after=0.0)},
        "navigation": {NONE: nothing, "density": put("navigation.density_cost", weight=0.5, update=0.5)},
        "zone": {NONE: nothing, "slow": zone},
        "closing": {NONE: nothing, "connector": lambda d: d.tables["connectors"]["passage"].update(closed_from=2.0)},
        "stages": {NONE: nothing, "halves": stages("halves"), "until": stages("until")},
        "grains": {NONE: nothing} | {name: grains(name) for name in (
            "obstacles", "moving wall", "periodic", "particles", "inlets", "outlets", "forces", "materials", "gravity")},
        "restart": {moment: nothing for moment in ("early", "middle", "late")},
        "measure": {name: measure(name) for name in names("measures.NAME") if names("measures.NAME")[name] != 3},
        "output": {"trajectory": output("trajectory", fps=4), "fields": output("fields", every=2.0), "h5md": output("h5md", every_steps=20),
                   "vtk": output("vtk", every_steps=80), "certificate": output("certificate", every_steps=10), "fclib": output("fclib", every_steps=80),
                   "continuum": output("continuum", every_steps=40, cell=1.0, kernel="box", width=1.0)},
    }
    core = {"floors", "people", "door", "journey", "group", "queue", "lift", "smoke", "source"}
    several = {"measure", "output"}
    # A lift stands between floors above each other; what has no connector has none to close.
    void = [(("people", "fruin"), ("floors", kind)) for kind in ("one", "escalator", "ramp", "level")]
    void += [(("lift", name), ("floors", kind)) for name in ("open", "closing") for kind in ("one", "ramp", "level")]
    void += [(("closing", "connector"), ("floors", "one"))]
    return made, core, several, void


def deck_of(row, made, folder, reference):
    values = {factor: value for factor, value in row}
    deck = Deck(values, folder, reference)
    chosen = set(row)
    for factor, values_of in made.items():
        for value, function in values_of.items():
            if (factor, value) in chosen:
                function(deck)
    return deck


def array(reference, seed):
    made, core, several, void = features(reference)
    factors = [covering.Factor(name, list(values), name in core, name in several) for name, values in made.items()]
    return covering.Array(factors, [*void, *expanded(REFUSED, made)], seed), made
