"""What runs of grains have to obey, for the covering array: energy, momentum, walls, and the same physics written in another way."""
import copy
import csv
import json
import math
from functools import partial

import numpy as np

import rewritings
import walls
from pairs_grains import KEYS, NONE, REFUSED, R, WORDS, array, deck_of, expanded, only_in    # noqa: F401: part of the family
from rewritings import bare, checkpoint, first_frame, frames, from_file, in_frame, scaled
from scree.results.record import Trajectory

REWRITINGS = 4          # of each deck, drawn at random
# Differences of places [m] and of velocities over all steps, at most 100.
PLACES = {"dem": 1e-9, "event": 1e-9, "nonsmooth": 10 * 1e-10, "pbd": 0.02 * R}
SPEEDS = {"dem": 1e-6, "event": 1e-6, "nonsmooth": 1e-6, "pbd": math.inf}
BALANCE = {"nonsmooth": 1e-9, "event": 1e-9, "dem": 0.05}       # what may be missing in the energy, of its largest entry
# What a step may gain: in "event" hops of a thousandth of a fall's speed (docs/method.md, From impact to impact).
GAIN = BALANCE | {"event": 1e-6}
SPRING_GAIN = 1e-3      # elastic contacts of "nonsmooth" at the default tolerance
MOMENTUM = 1e-9         # the same of momentum


def promises_bits(deck):
    """Whether the manual promises the same bits on any number of ranks."""
    return not (deck.scheme == "dem" and deck.values["dem"] == "dae" or deck.scheme == "nonsmooth" and deck.values["solver"] != "nsgs")


def audited(deck):
    """The deck with all that the properties need to know, and with all outputs."""
    tables = copy.deepcopy(deck.tables)
    tables["output"] |= {"h5md": {"every_steps": 1}, "certificate": {"every_steps": 1}, "vtk": {"every_steps": deck.n_steps}}
    if deck.has_inertia:
        tables["measures"]["audit_energy"] = {"type": "energy", "balance": True}
    if deck.scheme in ("nonsmooth", "dem"):
        tables["measures"]["audit_walls"] = {"type": "wall_force"}
    if deck.values["motion"].startswith("driven"):
        tables["measures"]["audit_driven"] = {"type": "driven"}
    return tables


def table_of(trial, ending):
    """Columns of a table of the audited run."""
    with open(trial.results("audited") / f"run.{ending}.csv", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    return {name.split("[")[0]: np.array([float(row[k]) for row in rows[1:]]) for k, name in enumerate(rows[0])}


# ---- properties

def properties(trial, start):
    deck, case = trial.deck, trial.case
    scalars = table_of(trial, "scalars")
    if not trial.solved:
        return      # which the run says
    if "audit_energy_imbalance" in scalars and deck.values["stages"] != "add":     # a wall that is put into a body lifts it
        energy(trial, scalars)
    if deck.scheme in ("nonsmooth", "dem") and not {"held"} & set(deck.values.values()):
        momentum(trial, scalars)
    inside(trial, scalars)


def energy(trial, scalars):
    """What is lost is lost for good, and nothing is missing."""
    deck, case = trial.deck, trial.case

    def entry(name):
        return scalars.get(f"audit_energy_{name}", 0.0 * scalars["time"])
    turned_over = sum(np.abs(entry(name)).max() for name in ("kinetic", "wall_work", "force_work", "inflow", "outflow", "elastic", "cohesion"))
    turned_over += np.ptp(entry("potential"))
    missing = np.abs(entry("imbalance")).max()
    if not missing <= BALANCE[deck.scheme] * turned_over + 1e-12:
        case.finding(f"{deck.scheme}: the energy balance does not close", f"missing {missing:g} J of {turned_over:g} J")
    if deck.scheme == "nonsmooth":
        contact_gain(trial, entry, scalars, turned_over)
        return
    for name in ("friction", "rolling", "impact"):
        gained = -np.diff(entry(name)).min(initial=0.0)
        if not gained <= GAIN[deck.scheme] * turned_over + 1e-12:
            case.finding(f"{deck.scheme}: {name} gives energy", f"{gained:g} J in a step, of {turned_over:g} J")


def contact_gain(trial, entry, scalars, turned_over):
    """What contacts of "nonsmooth" may give in a step (docs/method.md, What a step may gain)."""
    deck, certificate = trial.deck, table_of(trial, "certificate")
    for name in ("complementarity", "dissipation_error"):       # that each contact obeys the law, in J; the residual is their root mean square
        wrong = (certificate[name] / np.sqrt(np.maximum(certificate["contacts"], 1))).max()
        if not wrong <= GAIN["nonsmooth"] * turned_over + 1e-12:
            trial.case.finding(f"nonsmooth: {name} of solved steps", f"{wrong:g} J per root of the contacts, of {turned_over:g} J")
    lost = entry("friction") + entry("rolling") + entry("impact")
    if deck.values["stiffness"] in ("spring", "load"):      # of the whole run
        gained, allowed = (np.maximum.accumulate(lost) - lost)[1:], SPRING_GAIN * turned_over
    else:
        gained, allowed = -np.diff(lost), GAIN["nonsmooth"] * turned_over + by_forces(trial, entry, scalars, certificate)
        if deck.values["restitution"] != "0":   # Newton's law gains nothing at one contact of round bodies, but at several or with shapes
            gained = np.where((certificate["contacts"][1:] <= 1) & (deck.values["shape"] == NONE), gained, 0)
    worst = np.argmax(gained - allowed)
    if not gained[worst] <= np.broadcast_to(allowed, gained.shape)[worst] + 1e-12:
        trial.case.finding("nonsmooth: contacts give energy", f"{gained[worst]:g} J, of {turned_over:g} J, in step {worst + 1}")


def by_forces(trial, entry, scalars, certificate):
    """sum m |f|^2/8 of each step or more [J], f what gravity, a field of force and attraction change: |a + b + c|^2 <= 3 (|a|^2 + |b|^2 + |c|^2)."""
    deck, dt = trial.deck, scalars["dt"][1:]
    states = [checkpoint(path) for path in (trial.results("audited") / "checkpoint").glob("*.scree")]
    mass, least = max(state["mass"].sum() for state in states), min(state["mass"].min(initial=1.0) for state in states)
    most = mass * (dt * np.linalg.norm(deck.tables.get("physics", {}).get("gravity", [0.0]))) ** 2
    pull = deck.tables.get("forces", {}).get("pull", {})
    if "coefficient" in pull:       # drag
        most += (pull["coefficient"] * dt / least) ** 2 * 2 * np.maximum(entry("kinetic")[1:], entry("kinetic")[:-1])
    if "stiffness" in pull:         # no body is further away than 4 m
        most += mass * (max(pull["stiffness"]) * 4 / least * dt) ** 2
    for wall in deck.tables["obstacles"].values():
        motion = wall.get("motion", {})
        for direction in (motion, *motion.get("further", [])):
            if "mass" in direction:        # a free wall is a body that its load drives
                most += (direction["load"] * dt) ** 2 / direction["mass"]
            if "moment_of_inertia" in direction:
                most += (direction["torque"] * dt) ** 2 / direction["moment_of_inertia"]
    if deck.values["cohesion"] != NONE:     # at most 4.4 weights (DMT at a wall), all on the same two bodies
        most += 2 * (4.4 * deck.weight * certificate["contacts"][1:] * dt) ** 2 / least
    return 3 / 8 * most


def momentum(trial, scalars):
    """The momentum of the bodies changes by what gravity and walls give."""
    deck = trial.deck
    if any(deck.values[factor] not in (NONE, "error") for factor in ("inlet", "outlet", "force", "deformation")):
        return
    states = [checkpoint(path) for path in sorted((trial.results("audited") / "checkpoint").glob("*.scree"))]
    steps = [int(path.stem.split("_")[-1]) for path in sorted((trial.results("audited") / "checkpoint").glob("*.scree"))]
    if len({len(state["id"]) for state in states}) > 1 or (scalars["n_bodies"] != scalars["n_bodies"][0]).any():
        return
    gravity = np.array(deck.tables.get("physics", {}).get("gravity", [0.0] * deck.dimension))
    dt = scalars["dt"]
    forces = np.zeros((len(dt), deck.dimension))
    for k in deck.axes:
        for name, values in scalars.items():
            if name.startswith("audit_walls_force_") and name.endswith("_" + "xyz"[k]):
                forces[:, k] -= values
    share = MOMENTUM
    if deck.scheme == "dem":        # velocity Verlet: forces at both ends of a step
        forces[1:] = (forces[1:] + forces[:-1]) / 2
        # Damping acts with velocities half a step old, tables have that of the moment: steps are at most 1/20 of a contact, 1/2 pi/20 of its force.
        share = MOMENTUM if deck.values["restitution"] == "1" else 0.08
    p = [(state["mass"][:, None] * state["velocity"]).sum(axis=0) for state in states]
    size = max(np.abs(state["mass"][:, None] * state["velocity"]).sum() for state in states) + np.abs(forces * dt[:, None]).sum()
    row = {int(step): k for k, step in enumerate(scalars["step"])}
    for a, b, before, after, state in zip(steps, steps[1:], p, p[1:], states):
        if a not in row or b not in row:
            continue
        if deck.values["stages"] in ("remove", "add") and a <= deck.n_steps // 2 <= b:
            continue    # the row in which a stage begins is that of its walls
        span = slice(row[a] + 1, row[b] + 1)
        given = (dt[span, None] * (forces[span] + state["mass"].sum() * gravity)).sum(axis=0)
        wrong = np.abs(after - before - given).max()
        if not wrong <= share * size:
            trial.case.finding(f"{deck.scheme}: momentum and the impulse of walls differ", f"by {wrong:g} of {size:g} N s between steps {a} and {b}: "
                               f"{after - before} and {given}")
            return


def inside(trial, scalars):
    """No centre is behind a face that is closed, none in the extra wall, and none went through it."""
    deck, end = trial.deck, trial.end("audited")
    place, size = end["position"], end["radius"]
    if len(place) == 0:
        return
    deepest = np.full(len(place), -np.inf)
    closed = [deck.values["container"] in ("planes", "box", "chain") and (deck.values["container"] != "planes" or not p)
              for p in deck.tables["domain"].get("periodic", [False] * deck.dimension)]
    for k in deck.axes:
        if closed[k] and not (k == deck.dimension - 1 and deck.values["wall"] == "plane"):
            deepest = np.maximum(deepest, np.maximum(deck.lower[k] - place[:, k], place[:, k] - deck.upper[k]))
    if deck.values["container"] == "round":
        deepest = np.maximum(deepest, np.linalg.norm(place - 1.0, axis=1) - 1.5)
    wrong = np.flatnonzero(deepest > 0)
    if len(wrong):
        trial.case.finding(f"{deck.scheme}: bodies are behind a wall", f"ids {end['id'][wrong]}: {place[wrong].tolist()}, radii {size[wrong]}")
    wall = deck.tables["obstacles"].get("wall")
    if wall is None or deck.values["stages"] in ("remove", "add") or deck.values["bodies"] == "held" or deck.values["shape"] != NONE:
        return      # a wall that moves may press a body through one that is held
    driven = [partial(np.interp, xp=scalars["time"], fp=values) for name, values in scalars.items() if name.startswith("audit_driven_position")]
    moved = walls.Moved(wall, driven)
    with Trajectory(trial.results("audited") / "run.h5") as frames:
        for frame in range(frames.n_frames):
            ids, at = frames.ids(frame), moved.own(frames.positions(frame), frames.times[frame])
            bad = walls.depth(wall, at) > 0
            if frame > 0:
                _, new, old = np.intersect1d(ids, ids_before, return_indices=True)
                near = np.abs(at[new] - before[old]).max(axis=1, initial=0.0) < R      # not through a periodic face
                bad[new] |= near & walls.crossed(wall, before[old], at[new])
            if bad.any():
                trial.case.finding(f"{deck.scheme}: bodies are in the extra wall, or went through it",
                                   f"ids {ids[bad]} at {frames.times[frame]} s: {at[bad].tolist()}")
                return
            ids_before, before = ids, at


# ---- the same in other words

def start_of(trial):
    certificate = table_of(trial, "certificate")
    trial.solved = certificate.get("solved", np.ones(1))[1:].min(initial=1.0) == 1.0
    return first_frame(trial.results("audited") / "run.h5")


def rewritten(trial, start):
    """(name, tables, how places become those of the first deck, whether bits have to be the same)."""
    deck, case = trial.deck, trial.case
    tables, folder = bare(deck.tables), case.folder
    base = from_file(tables, folder, start)
    trial.base = "from file"
    result = trial.run("from file", tables=base)
    if result.code != 0:
        case.finding(f"bodies from a file: exit code {result.code}", result)
        return
    # A deforming domain adds its own flow to velocities at the start.
    if deck.values["inlet"] == NONE and deck.values["deformation"] == NONE:
        trial.compare("whole", "from file", "bodies from a file", True)
    rows = []
    for name in rewritings.SCALES:
        rows.append((name, lambda name=name: scaled(base, deck.reference, name, name.replace(" ", "_"), folder, start)))
    for name in ("mirror", "turn", "origin"):
        rows.append((name, lambda name=name: in_frame(base, frames(deck.dimension, name), folder, start, name)))
    rows.append(("shift along periodic axes", lambda: rewritings.along_periodic_axes(base, folder, start)))
    for name, made in (("names", rewritings.renamed), ("order of walls", rewritings.reordered), ("halves of stages", rewritings.in_halves),
                       ("box as planes", rewritings.as_planes), ("wall in two", lambda tables: rewritings.in_two(tables, folder)),
                       ("boxes as meshes", lambda tables: rewritings.as_meshes(tables, folder)),
                       ("motion as a table", lambda tables: rewritings.tabulated(tables, deck.step * deck.n_steps))):
        rows.append((name, lambda made=made: (made(base), None)))
    case.random.shuffle(rows)
    n = 0
    for name, make in rows:
        made, back = make()
        if made is None or n == REWRITINGS:
            continue
        n += 1
        yield name, made, back, exact(deck, name)


def exact(deck, name):
    """Whether the order of work is the same, and no sum that is rounded in SI units takes part."""
    if name in ("names", "halves of stages"):
        return name == "names" or promises_bits(deck)      # lists are made anew where a stage begins
    return name in rewritings.SCALES and deck.scheme in ("dem", "event") and not deck.values["motion"].startswith("driven") and \
        deck.values["cohesion"] == NONE and deck.values["deformation"] == NONE and deck.values["dem"] != "dae"


def has_several_answers(trial):
    """Bodies with shapes touch at more points than needed: what others than "nsgs" find there over many steps is one of several answers, and
    without friction rounds differently, which their impacts multiply. So does "pbd" where a wall comes to stand on them: which way is the
    shortest out of a deep overlap depends on the order."""
    deck = trial.deck
    if deck.values["shape"] == NONE:
        return False
    if deck.scheme == "pbd":
        worst = json.loads((trial.results("audited") / "summary.json").read_text())["certificate_worst"]["overlap_met"]
        return deck.values["stages"] == "add" and worst["value"] > worst.get("limit", np.inf)
    return deck.scheme == "nonsmooth" and deck.values["solver"] != "nsgs"


# What may be tried once more, where an answer depends on the order of a sweep: walls and frames that are written otherwise have another order.
# SOLVED: by default the correction has few sweeps, and leaves a part of the overlap. FRICTIONLESS: bodies with shapes touch at more points than
# needed, and with friction there are several answers, of which sweeps find one by their order (all of them exact: those to 1e-12 stay apart);
# without friction velocities have one.
SOLVED, FRICTIONLESS = ", correction solved", ", frictionless"


def ways_again(trial, name):
    deck = trial.deck
    if deck.scheme != "nonsmooth":
        return []
    corrects = table_of(trial, "certificate").get("corrected", np.zeros(1)).max() > 0
    is_over_determined = deck.values["shape"] != NONE and deck.values["friction"] != "0" and deck.values["rolling"] == NONE
    return [way for way, applies in ((SOLVED, corrects), (FRICTIONLESS, is_over_determined)) if applies and way not in name]


def once_more(trial, name, way):
    """The run of that name again. Returns its new name."""
    file = "deck" if name.startswith("whole") else name.split(",")[0]
    name += way
    deck = trial.deck
    keys = ["nonsmooth.correction_sweeps=5000"] if deck.values["nonsmooth"] != "baumgarte" else []
    if FRICTIONLESS in name:
        keys += ["solver.tolerance=1e-12"] + [f"pairs.{pair}.friction=0" for pair in deck.tables["pairs"]]
        if deck.values["stages"] == NONE:       # impacts of bodies with shapes multiply what is rounded
            keys.append(f"simulation.end_time={deck.step * max(4, deck.n_steps // 4)}")
    trial.case.run("-q", "run", f"{file}.toml", "--set", f"output.directory={name}", *(word for key in keys for word in ("--set", key)), bare=True)
    return name


def compare(trial, first, second, claim, is_exact, back):
    """The ends of two runs."""
    deck = trial.deck
    a, b = trial.end(first), trial.end(second)
    b = back(b) if back else b
    if len(a["id"]) != len(b["id"]) or (a["id"] != b["id"]).any():
        trial.case.finding(f"{deck.scheme}: {claim}: other bodies", f"{a['id']} and {b['id']}")
        return
    names = [name for name in ("position", "velocity", "angular_velocity", "orientation") if name in a and name in b]
    if is_exact and not back:
        differing = [name for name in names if not np.array_equal(a[name], b[name])]
        if differing:
            worst = {name: float(np.abs(a[name] - b[name]).max()) for name in differing}
            trial.case.finding(f"{deck.scheme}: {claim}: other bits", worst)
        return
    apart = a["position"] - b["position"]
    for k, periodic in enumerate(deck.tables["domain"].get("periodic", [False] * deck.dimension)):
        if periodic:
            edge = deck.upper[k] - deck.lower[k]
            apart[:, k] -= edge * np.round(apart[:, k] / edge)
    worst = {"position": float(np.abs(apart).max(initial=0.0))}
    if deck.has_inertia:
        worst |= {name: float(np.abs(a[name] - b[name]).max(initial=0.0)) for name in names if "velocity" in name}
    if not is_exact and (not trial.solved or has_several_answers(trial)):
        return
    limits = {"position": 0.0 if is_exact else PLACES[deck.scheme], "velocity": 0.0 if is_exact else SPEEDS[deck.scheme],
              "angular_velocity": 0.0 if is_exact else SPEEDS[deck.scheme] / R}
    if any(not value <= limits[name] for name, value in worst.items()):
        ways = [] if is_exact else ways_again(trial, first)
        if ways:
            compare(trial, once_more(trial, first, ways[0]), once_more(trial, second, ways[0]), claim, is_exact, back)
            return
        trial.case.finding(f"{deck.scheme}: {claim}: {'other bits' if is_exact else 'another end'}", worst)
