"""Features of decks of grains, for the covering array: each value of a factor knows how to put itself into a small deck.

The deck: about eight bodies of radius 0.1 m fall on an extra wall in the middle of a container, two more fly to faces across the first
axis. Lengths, speeds and stiffness are such that all of them touch something within some tens of steps."""
import itertools
import math

import covering
from rewritings import obj

R = 0.1
NONE = "none"
# What has no kinds of its own in the reference. A star: what a value means needs another value, as a motion needs a wall.
STEPS = {"pbd": (2e-3, 40), "nonsmooth": (2e-3, 48), "dem": (1e-3, 96), "event": (5e-3, 16)}    # whole numbers of eighths
# Where a feature is in a deck.
KEYS = {
    "scheme": "`simulation.scheme`", "dimension": "`simulation.dimension`", "periodic": "`domain.periodic`: none, along x, along all horizontal axes, all",
    "container": "`[obstacles.NAME]` around all bodies: planes, box, disk or sphere, polyline or mesh", "wall": "`[obstacles.NAME] type` of one more",
    "motion": "`[obstacles.NAME.motion] type`; belt: `surface_velocity`", "radius": "`[particles.NAME.radius] distribution`",
    "source": "`[particles.NAME.source] type`", "shape": "`[shapes.NAME] type`",
    "bodies": "`[particles.NAME]`: `mobility = 0`, `angular_velocity`, `rotates = false`, `random_speed`", "gravity": "`physics.gravity`",
    "stiffness": "`stiffness` of `[pairs]`; moduli of `[materials]` and `dem.law = \"hertz\"`; `young_modulus` of `[pairs]`",
    "friction": "`friction` of `[pairs]`", "restitution": "`restitution` of `[pairs]`", "rolling": "`rolling_friction` of `[pairs]`",
    "cohesion": "`[pairs.NAME.cohesion] type`", "inlet": "`[inlets.NAME] type`", "outlet": "`[outlets.NAME]`", "outside": "`domain.outside`",
    "stages": "`[[stages]]`: two, `until`, `remove_obstacles`, `add_obstacles`, `drive`, `deformation`", "deformation": "`[domain.deformation]`",
    "force": "`[forces.NAME] type`", "dem": "`[dem]`: `friction`, `attraction`, `tangential`", "nonsmooth": "`[nonsmooth]`: `impacts`, `correction`, `on_failure`, `max_travel`",
    "solver": "`[solver] type`", "pbd": "`[pbd]`: `method`, `sweeps`, `compliance`, `on_overlap`", "velocity": "`[velocity] type`", "impact law": "`event.impact_law`",
    "blocks": "`decomposition.block_cells`", "classes": "`neighbors.classes`", "measure": "`[measures.NAME] type`, several at once",
    "output": "`[output]`, several at once",
}
# One of these words, or the name of the value, is in a message that names the feature.
WORDS = {
    "scheme": ("scheme", "journey", "[dem]", "impacts", "method =", "solver", "law ="), "dimension": ("dimension", "contact times"), "wall": ("obstacle",), "container": ("obstacle",), "bodies": ("velocity", "rotates", "mobility", "random_speed"),
    "stiffness": ("stiff", "young", "hertz", "linear law", "[materials]"), "rolling": ("rolling", "[materials]"), "cohesion": ("cohesion", "attract", "[materials]"),
    "dem": ("friction", "tangential", "attraction", "as this deck has it"), "nonsmooth": ("impacts",), "pbd": ("method",), "force": ("[forces",), "inlet": ("[inlets",),
    "outlet": ("outlets",), "solver": ("solver",), "motion": ("motion", "driven", "belt", "obstacle"), "deformation": ("deformation", "shear_rate"), "stages": ("stage", "shear_rate"), "periodic": ("periodic",), "measure": ("measure", "region", "window", "line"),
}
# What `scree check` refuses: values that do not go together, "*" for all but the default of the factor, the first one.
REFUSED = [
    ("scheme=pbd", "gravity=*"), ("scheme=pbd|event", "force=*"), ("scheme=pbd", "bodies=spinning|no spin|random"), ("scheme=pbd", "stiffness=*"),
    ("scheme=pbd", "rolling=*"), ("scheme=pbd|event", "cohesion=*"), ("scheme=pbd|event", "motion=driven servo|driven free|driven torque|driven further"),
    ("scheme=pbd|event", "output=continuum gauss|continuum lucy|continuum box"), ("scheme=pbd|event", "deformation=*"),
    ("scheme=pbd|dem|event", "output=fclib"), ("scheme=dem|event", "shape=*"), ("scheme=event", "periodic=*"),
    ("scheme=nonsmooth", "cohesion=jkr|bridge"), ("scheme=dem", "stiffness=none"),
    ("shape=*", "stiffness=spring|load"), ("shape=*", "rolling=*"), ("shape=*", "cohesion=*"),
    ("scheme=dem", "dem=dae", "motion=driven servo|driven free|driven torque|driven further"), ("scheme=dem", "dem=dae", "cohesion=*"),
    ("scheme=dem", "dem=dae", "deformation=*"), ("scheme=dem", "dem=increments|rescaled", "stiffness=spring|load"),
    ("scheme=dem", "stiffness=spring", "cohesion=jkr"), ("scheme=dem", "stiffness=load"),
    ("deformation=*", "periodic=none|x|sides"), ("deformation=*", "container=box|round|chain"), ("deformation=*", "wall=*"),
    ("deformation=*", "gravity=*"), ("deformation=*", "inlet=*"), ("deformation=*", "outlet=*"), ("deformation=*", "bodies=held"),
    ("deformation=*", "output=continuum gauss|continuum lucy|continuum box"), ("deformation=strain", "stages=deform"),
    ("scheme=event", "motion=*"), ("source=file", "bodies=random"), ("scheme=nonsmooth", "nonsmooth=sequential", "shape=*"),
    ("scheme=nonsmooth", "nonsmooth=wave", "stiffness=spring|load"), ("scheme=nonsmooth", "nonsmooth=wave", "cohesion=*"),
    ("scheme=nonsmooth", "nonsmooth=wave", "motion=driven servo|driven free|driven torque|driven further"),
    ("scheme=pbd", "measure=energy|stress|contact_status|rotation"), ("scheme=event", "measure=wall_force|stress|contact_status"),
    ("deformation=*", "force=spring"), ("scheme=nonsmooth", "solver=admm|auto|ipm|newton|proximal", "rolling=*"),
    ("scheme=nonsmooth", "solver=admm|ipm|newton|proximal", "motion=driven servo|driven free|driven torque|driven further"),
    ("scheme=nonsmooth", "solver=admm|auto|ipm|newton|proximal", "deformation=stress|shear stress"), ("wall=plane", "periodic=all"),
    ("wall=plane", "periodic=x|sides", "motion=rotate|swing|table|driven torque|driven further"), ("deformation=*", "measure=stress|window|line_flow"), ("scheme=event", "friction=0.5"), ("scheme=event", "wall=cylinder|cone|plate|box|mesh", "dimension=3D"),
    ("scheme=event", "container=chain", "dimension=3D"), ("scheme=dem", "dem=dae", "rolling=*"),
    ("measure=inlets", "inlet=none"), ("measure=removed", "outlet=none"), ("measure=cell", "deformation=none"), ("measure=repose", "gravity=none"),
    ("measure=driven", "motion=none|belt|translate|rotate|oscillate|swing|table"), ("measure=queue", "scheme=pbd|nonsmooth|dem|event"),
]


def constant(value):
    return {"distribution": "constant", "value": value}


class Deck:
    """A deck on its way: `values` of the row by factor, `tables`, and `folder` for files beside it."""

    def __init__(self, values, folder, reference):
        self.values, self.folder, self.reference = values, folder, reference
        self.scheme, self.dimension = values["scheme"], int(values["dimension"][0])
        self.axes = range(self.dimension)
        self.step, self.n_steps = STEPS.get(self.scheme, (1e-3, 50))
        half = 0.5 if values["container"] == "round" else 0
        self.lower, self.upper = [-half] * self.dimension, [2.0 + half] * self.dimension
        self.tables = {
            "simulation": {"title": "pairs", "dimension": self.dimension, "scheme": self.scheme, "end_time": self.step * self.n_steps, "seed": 5},
            "time": {"step": self.step}, "domain": {"lower": self.lower, "upper": self.upper}, "obstacles": {},
            "particles": {"grains": {}, "low": {}}, "output": {"name": "run", "checkpoint": {"every_steps": max(1, self.n_steps // 4), "keep": 100}},
            "analysis": {"every_steps": 1}, "measures": {}}

    @property
    def has_inertia(self):
        return self.scheme != "pbd"

    def table(self, path):
        """A table by words with dots, made if it is not there."""
        table = self.tables
        for word in path.split("."):
            table = table.setdefault(word, {})
        return table

    def up(self, across, height):
        """A point over the middle, `across` off it along the first axis."""
        return [1.0 + across, *[1.0] * (self.dimension - 2), height]

    def along(self, value, axis=-1):
        vector = [0.0] * self.dimension
        vector[axis] = value
        return vector

    @property
    def volume(self):
        return math.pi * R**2 if self.dimension == 2 else 4 / 3 * math.pi * R**3

    @property
    def weight(self):
        return 1000 * self.volume * 10

    @property
    def stiffness(self):
        """Contacts of two bodies last 20 steps of the scheme "dem"."""
        return 500 * self.volume * (math.pi / 0.02) ** 2

    def two(self, flat, solid):
        return flat if self.dimension == 2 else solid


# ---- values: functions of a deck

def walls(d):
    """The container: planes at faces that are not periodic, or one wall around all."""
    lower, upper, kind = d.lower, d.upper, d.values["container"]
    centre = [(a + b) / 2 for a, b in zip(lower, upper)]
    if kind == "planes":
        for axis in d.axes:
            for side, face in ((0, lower), (1, upper)):
                if not d.tables["domain"].get("periodic", [False] * d.dimension)[axis] and not (d.values["wall"] == "plane" and axis == d.dimension - 1 and side == 0):
                    d.tables["obstacles"][f"face{axis}{side}"] = {"type": "plane", "point": d.along(face[axis], axis),
                                                                  "normal": d.along(1.0 - 2 * side, axis)}
    elif kind == "box":
        d.tables["obstacles"]["box"] = {"type": "box", "side": "inside", "lower": lower, "upper": upper}
    elif kind == "round":
        d.tables["obstacles"]["round"] = {"type": d.two("disk", "sphere"), "side": "inside", "center": centre, "radius": upper[0] - centre[0]}
    elif kind == "chain":
        if d.dimension == 2:
            corners = [lower, [upper[0], lower[1]], upper, [lower[0], upper[1]]]
            d.tables["obstacles"]["chain"] = {"type": "polyline", "closed": True, "points": corners}
        else:
            obj(d.folder / "chain.obj", lower, upper)
            d.tables["obstacles"]["chain"] = {"type": "mesh", "file": "chain.obj", "scale": 1.0, "side": "inside"}


WALLS = {
    "plane": lambda d: {"point": d.up(0, 0.5), "normal": d.along(1.0)},
    "segment": lambda d: {"a": [0.6, 0.5], "b": [1.4, 0.49]},
    "polyline": lambda d: {"points": [[0.6, 0.51], [1.0, 0.48], [1.4, 0.5]]},
    "polygon": lambda d: {"points": [[0.6, 0.3], [1.4, 0.3], [1.35, 0.5], [0.65, 0.5]]},
    "disk": lambda d: {"center": [1.0, 0.1], "radius": 0.4},
    "sphere": lambda d: {"center": [1.0, 1.0, 0.1], "radius": 0.4},
    "cylinder": lambda d: {"a": [0.6, 1.0, 0.2], "b": [1.4, 1.0, 0.2], "radius": 0.3},
    "cone": lambda d: {"a": [1.0, 1.0, 0.35], "b": [1.0, 1.0, 0.6], "radius_a": 0.1, "radius_b": 0.45},
    "plate": lambda d: {"point": [1.0, 1.0, 0.5], "normal": [0.02, 0.0, 1.0], "outer_radius": 0.5},
    "box": lambda d: {"lower": d.two([0.6, 0.3], [0.6, 0.6, 0.3]), "upper": d.two([1.4, 0.5], [1.4, 1.4, 0.5])},
    "mesh": lambda d: obj(d.folder / "block.obj", [0.6, 0.6, 0.3], [1.4, 1.4, 0.5]) or {"file": "block.obj", "scale": 1.0, "side": "outside"},
}
MOTIONS = {
    "translate": lambda d: {"velocity": d.along(0.3), "start": 0.01},
    "rotate": lambda d: {"rate": -1.0, **pivot(d)},
    "oscillate": lambda d: {"amplitude": d.along(0.01), "frequency": 12.0},
    "swing": lambda d: {"amplitude": 0.03, "frequency": 10.0, "phase": 0.5, **pivot(d)},
    "table": lambda d: {"times": [0.0, 0.03, 0.2], "positions": [d.along(0.0), d.along(0.01), d.along(0.02)], "angles": [0.0, 0.02, 0.0], **pivot(d)},
    "driven": {"servo": lambda d: {"axis": d.along(1.0), "load": 3 * d.weight, "max_speed": 0.3},
               "free": lambda d: {"axis": d.along(1.0), "load": d.weight, "max_speed": 2.0, "control": "free", "mass": 300 * d.volume * 10},
               "torque": lambda d: turning(d),
               "further": lambda d: {"axis": d.along(1.0), "load": d.weight, **free(d), "further": [
                   {"name": "aside", "axis": d.along(1.0, 0), "load": 0.3 * d.weight, **free(d)}, {"name": "turn", **turning(d)}]}},
}


def free(d):
    return {"max_speed": 1.0, "control": "free", "mass": 300 * d.volume * 10}


def turning(d):
    return {"point": d.up(0, 0.4), "torque": 0.1 * d.weight, "max_rate": 2.0, "control": "free", "moment_of_inertia": 100 * d.volume,
            **({} if d.dimension == 2 else {"axis": [0.0, 1.0, 0.0]})}


def pivot(d):
    return d.two({"center": [1.0, 0.4]}, {"point": [1.0, 1.0, 0.4], "axis": [0.1, 1.0, 0.0]})


SHAPES = {
    "box": lambda d: {"size": d.two([0.16, 0.1], [0.14, 0.1, 0.08])},
    "capsule": lambda d: {"length": 0.1, "width": 0.08},
    "polygon": lambda d: {"points": [[0.1, 0.0], [0.05, 0.08], [-0.05, 0.08], [-0.1, 0.0], [-0.05, -0.08], [0.05, -0.08]]},
    "hull": lambda d: obj(d.folder / "stone.obj", [-0.07, -0.05, -0.04], [0.07, 0.05, 0.04]) or {"file": "stone.obj"},
}
RADII = {
    "constant": lambda d: {"value": R},
    "uniform": lambda d: {"min": 0.08, "max": 0.11},
    "normal": lambda d: {"mean": R, "deviation": 0.01, "min": 0.08, "max": 0.11},
    "lognormal": lambda d: {"median": R, "sigma": 0.1, "min": 0.08, "max": 0.11},
    "discrete": lambda d: {"values": [0.08, 0.11]},
    "sieve": lambda d: {"sizes": [0.16, 0.2, 0.22], "fractions": [0.4, 0.6]},
}
SOURCES = {
    "lattice": lambda d: {"spacing": 0.24, "jitter": 0.03, "region": {"lower": d.two([0.6, 0.62], [0.74, 0.74, 0.62]),
                                                                    "upper": d.two([1.4, 1.0], [1.26, 1.26, 1.0])}},
    "random": lambda d: {"count": 6, "region": {"lower": [0.5] * (d.dimension - 1) + [0.61], "upper": [1.5] * (d.dimension - 1) + [1.3]}},
    "packed": lambda d: {"solid_fraction": 0.3, "region": {"lower": d.two([0.6, 0.5], [0.7, 0.7, 0.5]), "upper": d.two([1.4, 0.9], [1.3, 1.3, 0.9])}},
    "file": lambda d: bodies(d, "grains.csv", [d.up(x, z) + [0.02 * x, -0.5] for x, z in ((-0.26, 0.63), (0.0, 0.62), (0.25, 0.64), (-0.1, 0.84),
                                                                                           (0.13, 0.86))]),
}


def bodies(d, name, rows):
    """A file of places and velocities along the first and last axis."""
    axes = "xyz"[:d.dimension]
    lines = [",".join([*axes, "radius", *("v" + axis for axis in axes)])]
    lines += [",".join(map(repr, map(float, [*row[:-2], R, row[-2], *[0.0] * (d.dimension - 2), row[-1]]))) for row in rows]
    (d.folder / name).write_text("\n".join(lines) + "\n")
    return {"path": name}


def group(d):
    """The table of bodies, with what all of them have."""
    grains = d.tables["particles"]["grains"]
    if d.has_inertia and d.values["source"] != "file":
        grains["velocity"] = d.along(-0.5)
    radius = d.upper[0] - 1.0 - 0.1103       # steps do not end where a body just touches: forces of cohesion begin there
    height = 1.0 if d.values["container"] == "round" else 0.42 if d.values["wall"] != "plane" else 0.62
    middle = [1.0] * (d.dimension - 2)
    low = d.tables["particles"]["low"]
    low["source"] = {"type": "file", **bodies(d, "low.csv", [[1.0 - radius, *middle, height, -0.5, -0.2],
                                                            [1.0 + radius - 0.01, *middle, height + 0.03, 0.5, -0.2]])}


def state(name):
    """Bodies that are held, spin, do not rotate, or have random velocities."""
    def put(d):
        grains = d.tables["particles"]["grains"]
        if name == "held":
            held = bodies(d, "held.csv", [d.up(-0.5, 0.8) + [0.0, 0.0]])
            d.tables["particles"]["held"] = {"mobility": 0, "source": {"type": "file", **held}, **({"radius": constant(R)})}
        else:
            grains |= {"spinning": {"angular_velocity": d.two([3.0], [1.0, 3.0, -2.0])}, "no spin": {"rotates": False},
                       "random": {"random_speed": 0.3}}[name]
    return put


def material(d, **more):
    stone = d.table("materials.stone")
    stone.update({"density": 1000.0} | stone | more)


def pair(**more):
    def put(d):
        material(d)
        both = d.table("pairs.stone-stone")
        both.update({"friction": 0.5, "restitution": 0.5} | both | more)
    return put


def cohesion(name):
    laws = {"force": lambda d: {"pull_off": 2 * d.weight}, "dmt": lambda d: {"work_of_adhesion": 2 * d.weight / (2 * math.pi * R / 2)},
            "jkr": lambda d: {"work_of_adhesion": 2 * d.weight / (1.5 * math.pi * R / 2)},
            "bridge": lambda d: {"surface_tension": 2 * d.weight / (2 * math.pi * R), "volume_ratio": 0.01}}
    return lambda d: (pair()(d), d.table("pairs.stone-stone.cohesion").update(type=name, **described(d, laws, "pairs.NAME.cohesion", name)))


def described(d, recipes, path, name):
    """What the recipe of a kind says; of a kind without one, its required keys with values that may do."""
    if name in recipes:
        return recipes[name](d)
    table = d.reference.tables[path, name]
    samples = {"m": 0.2, "s": 0.01, "m/s": 0.2, "rad": 0.1, "N": d.weight, "kg/s": 10.0, "N/m": d.stiffness}
    made = {}
    for key in table.required:
        kind, unit = table.keys[key]
        value = samples.get(unit, 1)
        made[key] = [value] * d.dimension if kind.startswith("list of") else value
    return made


def kind(path, recipes, key="type"):
    """A function that makes the value NAME: a table of this kind, whose path NAME stands for one of the deck."""
    def of(name, reference_path):
        def put(d):
            d.table(path).update({key: name} | described(d, recipes, reference_path, name))
        return put
    return of


def periodic(*which):
    def put(d):
        d.tables["domain"]["periodic"] = [("xyz"[k] if k < d.dimension - 1 else "up") in which for k in d.axes]
    return put


def motion(name, variant):
    def put(d):
        wall = d.table("obstacles.wall")
        if name == "belt":
            wall["surface_velocity"] = d.along(0.5, 0)
            return
        recipe = MOTIONS.get(name)
        made = recipe[variant](d) if variant else described(d, MOTIONS, "obstacles.NAME.motion", name)
        wall["motion"] = {"type": name, **made}
    return put


def stages(name):
    def put(d):
        half = d.step * d.n_steps / 2
        first, second = {"name": "first", "duration": half}, {"name": "second", "duration": half}
        if name == "until":
            first = {"name": "first", "until": {"time": half, "bodies_at_least": 1, "max_time": half}}
        elif name in ("remove", "add"):
            second[f"{name}_obstacles"] = ["wall"]
        elif name == "drive":
            torque = d.values["motion"] == "driven torque"
            second["drive"] = [{"obstacle": "wall", **({"rate": 0.1} if torque else {"speed": 0.1})}]
        elif name == "deform":
            second["deformation"] = {"shear_rate": 0.5}
        d.tables["simulation"].pop("end_time")
        d.tables["stages"] = [first, second]
    return put


def deform(name):
    def put(d):
        up = "xyz"[d.dimension - 1]
        cell = {"flow": "x", "gradient": up, "shear_rate": 1.0}
        if name == "strain":
            cell = {"strain_rate": {"x": 0.5, up: -0.5}}
        elif name == "stress":
            cell |= {"stress": {up: 0.1 * d.stiffness}, "max_rate": 0.5}
        elif name == "shear stress":
            cell = {"flow": "x", "gradient": up, "shear_stress": 0.05 * d.stiffness, "stress": {up: 0.1 * d.stiffness}, "max_rate": 0.5}
        d.table("domain.deformation").update(cell)
    return put


def pour(name, path):
    def put(d):
        height = 1.5 if d.values["container"] == "round" else 1.6
        d.table("inlets.spout").update({
            "type": name, "radius": constant(R), "rate": 3.0 / (d.step * d.n_steps), "count": 3, "max_delay": 1e6,
            "region": {"lower": [0.5] * (d.dimension - 1) + [height], "upper": [1.5] * (d.dimension - 1) + [height + 0.3]}})
        if d.has_inertia:
            d.tables["inlets"]["spout"]["velocity"] = d.along(-1.0)
    return put


MEASURES = {
    "flow": lambda d: {"point": d.up(0, 0.6), "normal": d.along(1.0)}, "profile": lambda d: {"bins": 4},
    "line_flow": lambda d: {"line": [[0.5, 0.6], [1.5, 0.6]]}, "energy": lambda d: {"balance": True},
    "stress": lambda d: {"region": {"lower": [0.2] * d.dimension, "upper": [1.8] * d.dimension}},
    "window": lambda d: {"lower": [0.0, 0.0], "upper": [1.0, 1.0]}, "one_dimensional": lambda d: {}, "queue": lambda d: {},
}
OUTPUTS = {
    "h5md": lambda d: {"every_steps": 3}, "vtk": lambda d: {"every_steps": max(1, d.n_steps // 4)}, "certificate": lambda d: {"every_steps": 2},
    "fclib": lambda d: {"every_steps": max(1, d.n_steps // 2)},
}


def measure(name):
    return lambda d: d.table(f"measures.{name}").update(type=name, **described(d, MEASURES, "measures.NAME", name))


def output(name, recipe):
    return lambda d: d.table(f"output.{name}").update(recipe(d))


def put(path, **values):
    """A value that is some keys of a table."""
    return lambda d: d.table(path).update(values)


def nothing(d):
    """The default of the program."""


def features(reference):
    """{factor: {value: function of a deck}}, in the order in which the functions are called; factors of the core; factors with several
    values at once; pairs of values that mean nothing together."""
    names = reference.names
    made = {
        "scheme": {name: nothing for name in reference.schemes if name != "crowd"},
        "dimension": {"2D": nothing, "3D": nothing},
        "periodic": {NONE: nothing, "x": periodic("x"), "sides": periodic("x", "y"), "all": periodic("x", "y", "up")},
        "container": {NONE: walls} | {kind: walls for kind in ("planes", "box", "round", "chain")},
        "wall": {NONE: nothing} | {name: kind("obstacles.wall", WALLS)(name, "obstacles.NAME") for name in names("obstacles.NAME")},
        "motion": {NONE: nothing, "belt": motion("belt", None)},
        "radius": {name: kind("particles.grains.radius", RADII, "distribution")(name, "particles.NAME.radius")
                   for name in names("particles.NAME.radius", "distribution")},
        "source": {name: kind("particles.grains.source", SOURCES)(name, "particles.NAME.source") for name in names("particles.NAME.source")},
        "shape": {NONE: nothing},
        "bodies": {NONE: nothing} | {name: state(name) for name in ("held", "spinning", "no spin", "random")},
        "gravity": {NONE: nothing, "down": lambda d: d.table("physics").update(gravity=d.along(-10.0)),
                    "tilted": lambda d: d.table("physics").update(gravity=[3.0, *d.along(-9.0)[1:]])},
        "stiffness": {NONE: nothing, "spring": lambda d: pair(stiffness=d.stiffness)(d),
                      "moduli": lambda d: (material(d, young_modulus=d.two(1e7, 2e6), poisson_ratio=0.3), d.table("dem").update(law="hertz")),
                      "load": lambda d: (pair(young_modulus=2e6, poisson_ratio=0.3, **({} if d.dimension == 2 else {"reference_load": d.weight}))(d),
                                         d.table("nonsmooth").update(overlap_limit=0.6))},     # walls press them to 0.4 of the radius
        "friction": {"0": pair(friction=0.0), "0.5": pair(friction=0.5)},
        "restitution": {"0": pair(restitution=0.0), "0.5": pair(restitution=0.5), "1": pair(restitution=1.0)},
        "rolling": {NONE: nothing, "0.2": pair(rolling_friction=0.2)},
        "cohesion": {NONE: nothing} | {name: cohesion(name) for name in names("pairs.NAME.cohesion")},
        "inlet": {NONE: nothing} | {name: pour(name, "inlets.NAME") for name in names("inlets.NAME")},
        "outlet": {NONE: nothing, "region": lambda d: d.table("outlets.drain.region").update(
            lower=d.lower, upper=[d.lower[0] + 0.105, *d.upper[1:]])},
        "outside": {name: put("domain", outside=name) for name in ("error", "delete", "keep")},
        "stages": {NONE: nothing} | {name: stages(name) for name in ("halves", "until", "remove", "add", "drive", "deform")},
        "deformation": {NONE: nothing} | {name: deform(name) for name in ("shear", "strain", "stress", "shear stress")},
        "force": {NONE: nothing} | {name: kind("forces.pull", {
            "spring": lambda d: {"point": d.up(0, 0.6), "stiffness": [2 * d.weight] * d.dimension}, "drag": lambda d: {"coefficient": d.weight}})(
                name, "forces.NAME") for name in names("forces.NAME")},
        "dem": {NONE: nothing, "dae": put("dem", friction="dae"), "no friction": put("dem", friction="none"),
                "no attraction": put("dem", attraction=False), "increments": put("dem", tangential="increments"),
                "rescaled": put("dem", tangential="rescaled")},
        "nonsmooth": {NONE: nothing, "sequential": put("nonsmooth", impacts="sequential"), "wave": put("nonsmooth", impacts="wave"), "baumgarte": put("nonsmooth", correction="baumgarte"),
                      "halve": put("nonsmooth", on_failure="halve"), "max_travel": put("nonsmooth", max_travel=0.5)},
        "solver": {name: put("solver", type=name, tolerance=1e-10, **({"max_iterations": 1000} if name == "admm" else {})) for name in names("solver")},
        "pbd": {"pbd": nothing, "converged": put("pbd", sweeps="converged"), "compliance": put("pbd", compliance=1e-3),
                "halve": put("pbd", on_overlap="halve")},
        "velocity": {name: kind("velocity", {
            "constant": lambda d: {"velocity": d.along(-0.5)}, "attraction": lambda d: {"point": d.up(0, 0.6), "rate": 2.0},
            "target": lambda d: {"point": d.up(0, 0.6), "speed": 0.5}, "rest": lambda d: {}})(name, "velocity") for name in names("velocity")},
        "impact law": {name: lambda d, name=name: d.table("event").update(
            impact_law=name, **({"rest_speed": 0.01} if d.values["gravity"] == NONE else {})) for name in names("event", "impact_law")},
        "blocks": {"auto": nothing, "1": put("decomposition", block_cells=1)},
        "classes": {"auto": nothing, "3": put("neighbors", classes=3)},
        "restart": {moment: nothing for moment in ("early", "middle", "late")},
        "measure": {name: measure(name) for name in names("measures.NAME")},
        "output": {name: output(name, recipe) for name, recipe in OUTPUTS.items()} |
                  {f"continuum {name}": put("output.continuum", every_steps=5, cell=0.5, kernel=name, width=0.1 if name == "gauss" else 0.3)
                   for name in names("output.continuum", "kernel")},
    }
    for name in names("obstacles.NAME.motion"):
        variants = MOTIONS.get(name)
        for variant in variants if isinstance(variants, dict) else [None]:
            made["motion"][f"{name} {variant}" if variant else name] = motion(name, variant)
    for name in names("shapes.NAME"):
        made["shape"][name] = lambda d, put=kind("shapes.stone", SHAPES)(name, "shapes.NAME"): (
            put(d), d.tables["particles"]["grains"].update(shape="stone", orientation="random"))
    core = {"scheme", "dimension", "shape", "wall", "motion", "periodic", "stiffness", "cohesion", "rolling", "source", "inlet", "output",
            "measure", "restart"}
    several = {"measure", "output"}
    void = [(("wall", NONE), ("motion", name)) for name in made["motion"] if name != NONE]
    void += [(("wall", NONE), ("stages", name)) for name in ("remove", "add", "drive")]
    void += [(("motion", name), ("stages", "drive")) for name in made["motion"] if not name.startswith("driven")]
    void += [(("deformation", NONE), ("stages", "deform")), (("friction", "0"), ("rolling", "0.2"))]
    void += [(("output", a), ("output", b)) for a in made["output"] for b in made["output"] if a < b and a.startswith("continuum") and b.startswith("continuum")]
    return made, core, several, void


def deck_of(row, made, folder, reference):
    """The deck of a row [(factor, value)]."""
    values = {factor: value for factor, value in row}
    deck = Deck(values, folder, reference)
    group(deck)
    if deck.has_inertia:
        deck.table("materials.stone").update(density=1000.0)
        for name in ("grains", "low"):
            deck.tables["particles"][name]["material"] = "stone"
    if deck.scheme == "dem":
        deck.table("dem").update(law="linear")
    chosen = set(row)
    for factor, values_of in made.items():
        if deck.scheme == "pbd" and factor in ("friction", "restitution"):
            continue        # every pair of materials has these two; the scheme has no materials
        for value, function in values_of.items():
            if (factor, value) in chosen:
                function(deck)
    for path in ("inlets", "obstacles", "particles"):
        for table in deck.tables.get(path, {}).values():
            if deck.has_inertia:
                table["material"] = "stone"
    return deck


def expanded(rules, made):
    """Sets of values of rules such as ("scheme=pbd", "gravity=*")."""
    for rule in rules:
        sides = []
        for side in rule:
            factor, _, names = side.partition("=")
            values = list(made[factor])
            sides.append([(factor, name) for name in (values[1:] if names == "*" else names.split("|"))])
        yield from itertools.product(*sides)


def array(reference, seed):
    made, core, several, void = features(reference)
    factors = [covering.Factor(name, list(values), name in core, name in several) for name, values in made.items()]
    elsewhere = {2: "3D", 3: "2D"}
    flat = [((factor, name), ("dimension", elsewhere[only])) for factor, values in made.items() for name in values
            if (only := only_in(reference, factor, name))]
    return covering.Array(factors, [*void, *flat, *expanded(REFUSED, made)], seed), made


def only_in(reference, factor, name):
    """2 or 3 if a value is there in that dimension only, else 0."""
    path = {"wall": "obstacles.NAME", "shape": "shapes.NAME", "cohesion": "pairs.NAME.cohesion", "measure": "measures.NAME"}.get(factor)
    return reference.names(path).get(name, 0) if path else 0
