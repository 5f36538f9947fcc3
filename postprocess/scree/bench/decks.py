"""Cases of scree_bench that measure steps of whole runs: their decks, and what scree_bench does with them.

A case is a function of `Asked` that yields measurements: {"deck": text, "steps": ..., "row": ...}. "steps" says how to measure
(StepTiming in src/bench/steps.hpp), "row" comes back to steps.py, which names what was found.
"""
import json
import math
import os
from pathlib import Path

from .beds import DIAMETER, TILE, Bed, box_on_floor, mixture
from .launch import InputError


class Asked:
    """Options of a case by name, as scree_bench has them (src/bench/run_cases.cpp): texts, to be read as numbers."""

    def __init__(self, request):
        self.options = request["options"]
        self.folder, self.program = os.path.abspath(request["folder"]), request["program"]
        self.is_study = request["is_study"]    # one size, to be rounded to what the case can do

    def numbers(self, name, kind=float):
        return [kind(float(text)) for text in self.options[name]]

    def number(self, name, kind=float):
        return self.numbers(name, kind)[-1]

    def text(self, name):
        return self.options[name][-1]

    def timed(self, **more):
        """Repetitions of at least the time that was asked for."""
        return {"seconds": self.number("seconds"), "repetitions": self.number("repetitions", int)} | more

    def counted(self, **more):
        """Repetitions of so many steps."""
        return {"steps": self.number("steps", int), "repetitions": self.number("repetitions", int)} | more


def bed_sizes(asked):
    """Bodies of beds, which are made of tiles."""
    sizes = asked.numbers("bodies", int)
    if asked.is_study:
        return [max(1, (size + TILE // 2) // TILE) * TILE for size in sizes]
    for size in sizes:
        if size % TILE:
            raise InputError(f"--bodies {size}: beds are made of tiles, give a multiple of {TILE}")
    return sizes


def dem(asked):
    """A settled bed of glass spheres under gravity. Its steps are 12 % of the Rayleigh time."""
    law = asked.text("law")
    stiffness = ", stiffness = 6511" if law == "linear" else ""
    sizes = bed_sizes(asked)
    bed = Bed(asked.program, asked.folder, "dem", f"""\
[time]
step = 5e-5
[dem]
law = "{law}"
[materials.glass]
density = 2500
young_modulus = 1e7
poisson_ratio = 0.3
[pairs]
"glass-glass" = {{ friction = 0.5, restitution = 0.5{stiffness} }}
""", asked.number("settling-time"))
    for size in sizes:
        # Springs were left behind with the tile: contacts settle once more.
        yield {"deck": bed.deck(size), "steps": asked.timed(warm_up=200), "row": {"law": law}}


def nonsmooth(asked):
    """A settled bed of rigid glass spheres under gravity."""
    solver = asked.text("solver")
    sizes = bed_sizes(asked)
    bed = Bed(asked.program, asked.folder, "nonsmooth", f"""\
[time]
step = 0.002
[solver]
type = "{solver}"
tolerance = {asked.number("tolerance")}
[materials.glass]
density = 2500
[pairs]
"glass-glass" = {{ friction = 0.5, restitution = 0.5 }}
""", asked.number("settling-time"), loose=True)
    for size in sizes:
        # Impulses were left behind with the tile.
        yield {"deck": bed.deck(size), "steps": asked.counted(warm_up=20), "row": {"solver": solver}}


def sizes(asked):
    """Soft spheres of two sizes in a box with walls: a periodic one would have to be four of the large ones wide."""
    ratios = asked.numbers("ratios")
    for ratio in ratios:
        if ratio < 1:
            raise InputError(f"--ratios {ratio:g}: the large ones are not smaller")
    classes = asked.number("classes", int)
    for ratio in ratios:
        path = Path(asked.folder) / f"mixture{ratio:g}.csv"
        edge, bodies, large = mixture(path, asked.number("bodies", int), ratio)
        deck = f"""\
[simulation]
dimension = 3
scheme = "dem"
end_time = 1e9
allow_overlap = true
[domain]
lower = [0, 0, 0]
upper = [{edge}, {edge}, {edge}]
outside = "keep"
[time]
step = 5e-6
[dem]
law = "hertz"
[materials.glass]
density = 2500
young_modulus = 1e7
poisson_ratio = 0.3
[pairs]
"glass-glass" = {{ friction = 0.5, restitution = 0.9 }}
[neighbors]
classes = {classes or '"auto"'}
[obstacles.box]
type = "box"
lower = [0, 0, 0]
upper = [{edge}, {edge}, {edge}]
side = "inside"
[particles.grains]
material = "glass"
random_speed = {asked.number("speed")}
source = {{ type = "file", path = "{path}" }}
"""
        yield {"deck": deck, "steps": asked.timed(warm_up=50), "row": {"ratio": f"1:{ratio:g}", "bodies": bodies, "large": large}}


def convex(asked):
    """Cubes beside spheres of their volume: the pour onto a floor, periodic sideways, and steps of the settled bed. Both fall from the
    same lattice, with twice as many layers as columns along an edge, with random velocities; cubes are turned at random."""
    edge, spacing = DIAMETER, 1.8 * DIAMETER
    radius = edge * (3 / (4 * math.pi))**(1 / 3)
    shapes = {"sphere": f'radius = {{ distribution = "constant", value = {radius} }}', "box": 'shape = "cube"\norientation = "random"'}
    for bodies in asked.numbers("bodies", int):
        columns = math.ceil((bodies / 2)**(1 / 3))
        width, height = columns * spacing, math.ceil(bodies / columns**2) * spacing
        for shape, keys in shapes.items():
            deck = box_on_floor("nonsmooth", width, width, height, "stone") + f"""\
[time]
step = 0.002
[solver]
type = "nsgs"
tolerance = {asked.number("tolerance")}
[materials.stone]
density = 2500
[pairs]
"stone-stone" = {{ friction = 0.5, restitution = 0.5 }}
[shapes.cube]
type = "box"
size = [{edge}, {edge}, {edge}]
[particles.grains]
material = "stone"
{keys}
random_speed = 0.3
source = {{ type = "lattice", count = {bodies}, region = {{ lower = [0, 0, 0], upper = [{width}, {width}, {height}] }} }}
"""
            yield {"deck": deck, "steps": asked.counted(warm_up_time=asked.number("settling-time")), "row": {"shape": shape}}


def crowd(asked):
    """A square crowd of the default people in a hall twice as long, whose right wall is one exit; columns stand on a square grid over the
    crowd's half."""
    model, step = asked.text("model"), asked.number("step")
    for agents in asked.numbers("agents", int):
        for density in asked.numbers("densities"):
            for columns in asked.numbers("columns", int):
                edge = math.sqrt(agents / density)
                per_row = round(math.sqrt(columns))
                places = [(k + 0.5) * edge / per_row for k in range(per_row)]
                circles = ", ".join(f"[{x:.4f}, {y:.4f}, 0.15]" for x in places for y in places)
                obstacles = f"[walkable.obstacles.columns]\ncircles = [{circles}]" if columns else ""
                deck = f"""\
[simulation]
dimension = 2
scheme = "crowd"
end_time = 1e9
[time]
step = {step}
[crowd]
model = "{model}"
tolerance = {asked.number("tolerance")}
[navigation]
cell = 0.25
[walkable]
polygon = [[0, 0], [{2 * edge}, 0], [{2 * edge}, {edge}], [0, {edge}]]
{obstacles}
[exits.end]
line = [[{2 * edge}, 0], [{2 * edge}, {edge}]]
[populations.crowd]
region = [[0, 0], [{edge}, 0], [{edge}, {edge}], [0, {edge}]]
count = {agents}
"""
                yield {"deck": deck, "steps": asked.counted(warm_up=asked.number("warm-up", int)),
                       "row": {"model": model, "density": density, "columns": columns, "step": step}}


CASES = {"dem": dem, "sizes": sizes, "nonsmooth": nonsmooth, "convex": convex, "crowd": crowd}


def print_decks(request):
    """The measurements of a case as a line of JSON, or {"refused": why}."""
    try:
        answer = list(CASES[request["case"]](Asked(request)))
    except InputError as error:
        answer = {"refused": str(error)}
    print(json.dumps(answer))
