"""(e) What must hold for any scheme: nothing passes a wall, thin or fast as it may be; a uniform motion of everything, a mirror
and a turned frame change nothing; an edge cut into pieces is the same edge. A run may be right, refused, or say that it is not
right; it may not be wrong without a word."""
import math

import h5py
import numpy as np

from decks import toml
from harness import words_of
from random_decks import with_physics

NAME = "physics"
SCHEMES = ("pbd", "nonsmooth", "dem")
RADIUS = 0.05
# Largest difference of two runs that should be one, in radii: round-off that few impacts make grow, or for "nonsmooth" what the
# order of contacts leaves to a solver that ends at 1e-10.
TOLERANCE = {"dem": 1e-6, "event": 1e-6, "nonsmooth": 1e-3, "pbd": 1e-6}


def prepare(workshop):
    """Nothing is needed."""


# ---- set-ups

def set_up(case, scheme, places, velocities, obstacles, gravity, step, n_steps, half, radii=None, friction=0.3, restitution=0.5,
           name="deck"):
    """A deck with a table for each body, since velocities are those of a table. The box is twice `half` wide."""
    dimension = len(places[0])
    deck = {"simulation": {"dimension": dimension, "scheme": scheme, "end_time": step * n_steps},
            "domain": {"lower": [-half] * dimension, "upper": [half] * dimension, "outside": "keep"}, "time": {"step": step},
            "obstacles": obstacles, "particles": {}, "output": {"name": name, "h5md": {"every_steps": n_steps}}}
    for k, (place, velocity) in enumerate(zip(places, velocities)):
        (case.folder / f"{name}{k}.csv").write_text(",".join("xyz"[:dimension]) + "\n" + ",".join(map(repr, map(float, place))) + "\n")
        table = {"radius": {"distribution": "constant", "value": float(RADIUS if radii is None else radii[k])},
                 "source": {"type": "file", "path": f"{name}{k}.csv"}}
        if scheme != "pbd":
            table["velocity"] = [float(v) for v in velocity]
        deck["particles"][f"b{k:03}"] = table
    deck = with_physics(deck, scheme, [float(g) for g in gravity], friction, restitution)
    if scheme == "pbd":
        deck["velocity"]["velocity"] = [float(v) for v in velocities[0]]     # the same for all: a scheme without inertia
    if scheme == "nonsmooth":
        deck["solver"]["tolerance"] = 1e-10
    return deck


def run(case, deck):
    """The places at the end, or nothing if the run was refused; and whether it said a word of warning."""
    name = deck["output"]["name"]
    (case.folder / f"{name}.toml").write_text(toml(deck))
    result = case.run("-q", "run", f"{name}.toml", ranks=case.random.choice([1, 1, 2]))
    if result.code != 0:
        return None, True, result
    with h5py.File(case.folder / f"results/{name}/{name}.h5") as file:
        group = file["particles/all"]
        return group["position/value"][-1][:, :deck["simulation"]["dimension"]], "warning" in words_of(result), result


# ---- walls

def grid(rng, n, dimension, lower, upper):
    """Places on a lattice with room for moving a little, inside of a box of corners lower and upper."""
    spacing = 2.3 * RADIUS
    counts = [max(1, int((u - lo - 2 * RADIUS) / spacing) + 1) for lo, u in zip(lower, upper)]
    sites = rng.sample(range(math.prod(counts)), min(n, math.prod(counts)))
    return [[lo + RADIUS * 1.05 + spacing * k + rng.uniform(0, 0.1) * RADIUS for lo, k in
             zip(lower, np.unravel_index(site, counts))] for site in sites]


def across(rng, dimension, at, half):
    """A thin wall across x at `at`, wider than the box, in one or several pieces."""
    if dimension == 3:
        return {"type": "plate", "point": [at, 0.0, 0.0], "normal": [1.0, 0.0, 0.0]}
    low, high = [at, -2 * half], [at, 2 * half]
    if rng.random() < 0.5:
        return {"type": "segment", "a": low, "b": high}
    return {"type": "polyline", "points": [low, *([at, y] for y in sorted(rng.uniform(-half, half) for _ in range(3))), high]}


def travel_per_step(rng):
    """In radii; from slow to absurd."""
    return 10 ** rng.uniform(-1, 1.5)


def step_of(scheme):
    return {"pbd": 0.01, "nonsmooth": 2e-3, "dem": 1e-4, "event": 0.01}[scheme]


def box_of(half, dimension):
    return {"box": {"type": "box", "side": "inside", "lower": [-half] * dimension, "upper": [half] * dimension}}


def wrong_side(case, places, result, warned, is_right, claim):
    """Bodies that are where they cannot have come to."""
    wrong = [k for k, place in enumerate(places) if not is_right(place)]
    if wrong and not warned:
        case.finding(claim, f"bodies {wrong} of {len(places)}: {[list(places[k]) for k in wrong[:3]]}\n{result}")


def paddle(case):
    """A thin wall pushes bodies before it, and none gets behind it."""
    rng = case.random
    scheme, dimension = rng.choice(SCHEMES), rng.choice([2, 3])
    half, start = 1.0, -0.8
    places = grid(rng, rng.randrange(1, 13), dimension, [start + 0.02] + [-0.5] * (dimension - 1), [0.2] + [0.5] * (dimension - 1))
    step = step_of(scheme)
    speed = travel_per_step(rng) * RADIUS / step
    n_steps = max(1, min(200, int(0.8 / (speed * step))))       # bodies have room enough beyond
    wall = across(rng, dimension, start, half)
    wall["motion"] = {"type": "translate", "velocity": [speed] + [0.0] * (dimension - 1)}
    gravity = [0.0] * dimension
    deck = set_up(case, scheme, places, [[0.0] * dimension] * len(places), box_of(half, dimension) | {"paddle": wall}, gravity, step,
                  n_steps, 1.2 * half)
    found, warned, result = run(case, deck)
    if found is None:
        return "refused"
    end = start + speed * step * n_steps
    wrong_side(case, found, result, warned, lambda place: place[0] > end - RADIUS * 0.5, f"{scheme}: a moving thin wall passes bodies")
    return "ok"


def blade(case):
    """A blade turns in a drum that it divides: bodies stay on their side of it."""
    rng = case.random
    scheme = rng.choice(SCHEMES)
    places = [[rng.uniform(-0.4, 0.4), rng.choice([-1, 1]) * rng.uniform(0.08, 0.5)] for _ in range(rng.randrange(1, 5))]
    places = [p for k, p in enumerate(places) if all(math.dist(p, q) > 2.1 * RADIUS for q in places[:k])]
    step = step_of(scheme)
    rate = rng.choice([-1, 1]) * travel_per_step(rng) * RADIUS / step / 0.7
    n_steps = max(1, min(300, int(2.5 / abs(rate * step))))
    points = [[-1.5, 0.0], [0.0, 0.0], [1.5, 0.0]]
    shape = rng.choice([{"type": "segment", "a": points[0], "b": points[2]}, {"type": "polyline", "points": points}])
    shape["motion"] = {"type": "rotate", "center": [0.0, 0.0], "rate": rate}
    drum = {"type": "disk", "center": [0.0, 0.0], "radius": 0.7, "side": "inside"}
    deck = set_up(case, scheme, places, [[0.0, 0.0]] * len(places), {"drum": drum, "blade": shape}, [0.0, 0.0], step, n_steps, 2.0)
    found, warned, result = run(case, deck)
    if found is None:
        return "refused"
    angle = rate * step * n_steps
    sides = [math.copysign(1, place[1]) for place in places]
    height = [place[1] * math.cos(angle) - place[0] * math.sin(angle) for place in found]
    wrong = [k for k in range(len(places)) if height[k] * sides[k] < 0]
    if wrong and not warned:
        case.finding(f"{scheme}: a turning blade passes bodies", f"bodies {wrong}: {found[wrong].tolist()}\n{result}")
    return "ok"


def bullet(case):
    """A fast body does not pass a wall, or a body that is held."""
    rng = case.random
    scheme, dimension = rng.choice([*SCHEMES, "event"]), rng.choice([2, 2, 3])
    step = step_of(scheme)
    per_step = 10 ** rng.uniform(-0.5, 2)
    speed = per_step * RADIUS / step
    n_steps = max(2, min(200, int(1.6 / (speed * step)) + 1))
    angle = rng.uniform(-0.5, 0.5)
    velocity = [speed * math.cos(angle), speed * math.sin(angle)] + [0.0] * (dimension - 2)
    place = [-0.8 + rng.uniform(0, 0.1), 0.0] + [0.0] * (dimension - 2)
    target = rng.choice(["thin", "thin", "plane", "box", "post", "held"])
    wall = {"thin": lambda: across(rng, dimension, 0.0, 1.0),
            "plane": lambda: {"type": "plane", "point": [0.0] * dimension, "normal": [-1.0] + [0.0] * (dimension - 1)},
            "box": lambda: {"type": "box", "lower": [0.0] + [-1.5] * (dimension - 1), "upper": [0.01] + [1.5] * (dimension - 1)},
            "post": lambda: {"type": "disk" if dimension == 2 else "sphere", "center": [0.0] * dimension, "radius": 0.02},
            "held": lambda: None}[target]()
    if target in ("post", "held"):      # head on, so that it cannot get past to the side
        velocity = [speed] + [0.0] * (dimension - 1)
    places, velocities, radii = [place], [velocity], [RADIUS]
    if target == "held":
        places, velocities, radii = [place, [0.0] * dimension], [velocity, [0.0] * dimension], [RADIUS, 0.4 * RADIUS]
    deck = set_up(case, scheme, places, velocities, {} if wall is None else {"target": wall}, [0.0] * dimension, step, n_steps, 3.0,
                  radii=radii)
    if target == "held":
        deck["particles"]["b001"]["mobility"] = 0
    found, warned, result = run(case, deck)
    if found is None:
        return "refused"
    wrong_side(case, found, result, warned, lambda p: p[0] <= 0, f"{scheme}: a fast body passes a wall ({target})")
    return "ok"


# ---- frames

def cluster(rng, dimension):
    """Bodies in a loose heap, with velocities towards each other."""
    places = grid(rng, rng.randrange(2, 9), dimension, [-0.3] * dimension, [0.3] * dimension)
    velocities = [[-2 * x + rng.uniform(-0.3, 0.3) for x in place] for place in places]
    return places, velocities


def compare(case, scheme, expected, found, claim, tolerance):
    worst = np.abs(found - expected).max() / RADIUS
    if not worst <= tolerance:
        case.finding(claim, f"differ by {worst:.3g} radii (allowed: {tolerance:g})\n{expected}\n{found}")


def galilean(case):
    """The same heap, at rest and on its way."""
    rng = case.random
    scheme, dimension = rng.choice(["nonsmooth", "dem", "event"]), rng.choice([2, 3])
    places, velocities = cluster(rng, dimension)
    step, n_steps = step_of(scheme), {"nonsmooth": 60, "dem": 1200, "event": 12}[scheme]
    shift = np.array([rng.uniform(-5, 5) for _ in range(dimension)])
    decks = [set_up(case, scheme, places, np.array(velocities) + k * shift, {}, [0.0] * dimension, step, n_steps, 6.0,
                    name=f"deck{k}") for k in (0, 1)]
    ends = [run(case, deck)[0] for deck in decks]
    if any(end is None for end in ends):
        return "refused"
    compare(case, scheme, ends[0] + shift * step * n_steps, ends[1], f"{scheme}: a uniform motion changes the result",
            max(TOLERANCE[scheme], 1e-6))
    return "ok"


def frame(case):
    """A heap falls into a corner; the same mirrored, and turned."""
    rng = case.random
    scheme = rng.choice(["nonsmooth", "dem", "event"])
    places = grid(rng, 3 if scheme == "event" else rng.randrange(2, 9), 2, [-0.3, -0.3], [0.3, 0.3])
    velocities = [[rng.uniform(-0.5, 0.5) for _ in range(2)] for _ in places]
    step, n_steps = step_of(scheme), {"nonsmooth": 100, "dem": 2000, "event": 20}[scheme]
    angle = rng.choice([0.0, math.pi / 2, rng.uniform(0, 6)])
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    if rng.random() < 0.5:
        turn = turn @ np.diag([-1.0, 1.0])
    gravity = np.array([rng.uniform(-2, 2), -9.81])
    ends = []
    for k, q in enumerate((np.eye(2), turn)):
        faces = {f"w{i}": {"type": "plane", "point": (q @ np.array(point)).tolist(), "normal": (q @ np.array(normal)).tolist()}
                 for i, (point, normal) in enumerate([([0, -0.45], [0, 1]), ([-0.4, 0], [1, 0]), ([0.4, 0], [-1, 0.2])])}
        deck = set_up(case, scheme, [q @ np.array(p) for p in places], [q @ np.array(v) for v in velocities], faces, q @ gravity,
                      step, n_steps, 2.0, name=f"deck{k}")
        end = run(case, deck)[0]
        if end is None:
            return "refused"
        ends.append(end)
    compare(case, scheme, ends[0] @ turn.T, ends[1], f"{scheme}: another result in a turned or mirrored frame", TOLERANCE[scheme])
    return "ok"


def seam(case):
    """A floor in one piece, and the same floor cut into collinear edges; bodies roll over it."""
    rng = case.random
    scheme = rng.choice([*SCHEMES, "event"])
    places = [[0.21 * k - 0.4, RADIUS * (1 + rng.choice([0, 0.001, 0.5]))] for k in range(1 if scheme == "event" else rng.randrange(1, 5))]
    velocities = [[rng.uniform(-1, 1), 0.0] for _ in places]
    if scheme == "pbd":
        velocities = [[0.3, -0.5]] * len(places)
    step, n_steps = step_of(scheme), {"pbd": 60, "nonsmooth": 150, "dem": 3000, "event": 20}[scheme]
    cuts = sorted(rng.uniform(-0.6, 0.6) for _ in range(rng.randrange(1, 6)))
    if rng.random() < 0.5:
        cuts[0] = places[0][0]      # a body right above a seam
        cuts.sort()
    floors = [{"type": "segment", "a": [-3.0, 0.0], "b": [3.0, 0.0]},
              {"type": "polyline", "points": [[-3.0, 0.0], *([x, 0.0] for x in cuts), [3.0, 0.0]]}]
    if rng.random() < 0.4:
        floors = [{"type": "polygon", "points": [[-3.0, 0.0], *([x, 0.0] for x in chosen), [3.0, 0.0], [3.0, -0.5], [-3.0, -0.5]]}
                  for chosen in ([], cuts)]
    ends = []
    for k, floor in enumerate(floors):
        deck = set_up(case, scheme, places, velocities, {"floor": floor}, [0.0, -9.81], step, n_steps, 4.0, name=f"deck{k}")
        end = run(case, deck)[0]
        if end is None:
            return "refused"
        ends.append(end)
    compare(case, scheme, ends[0], ends[1], f"{scheme}: a floor of collinear edges is another floor", TOLERANCE[scheme])
    return "ok"


KINDS = {"paddle": paddle, "blade": blade, "bullet": bullet, "galilean": galilean, "frame": frame, "seam": seam}


def attempt(case):
    case.kind = case.random.choice(list(KINDS))
    return KINDS[case.kind](case)
