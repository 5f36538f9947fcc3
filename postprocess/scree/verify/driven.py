"""Driven walls against closed forms: columns in a tube, a load that grows tenfold, the energy balance, a vane, a shear box."""
import numpy as np

from scree.verify.checks import Row
from scree.verify.grain_deck import GrainDeck, duration

N_SPHERES, RADIUS, FORCE, DENSITY = 5, 5e-3, 2.0, 2500
SOFT_GLASS = (5e7, 0.2)


def column_deck(dt, steps, elasticity, pair_keys=None, **motion):
    """Spheres that just touch, along z in a tube without friction, between a floor and a plate that presses with `motion`."""
    deck = GrainDeck([-0.02] * 3, [0.02, 0.02, 0.08], dt, steps)
    deck.tables["neighbors"]["skin"] = 2e-3
    deck.allow_overlap()
    deck.material("glass", DENSITY, elasticity)
    deck.material("wall", DENSITY, elasticity)
    deck.pair_keys = pair_keys or {}
    height = 2 * N_SPHERES * RADIUS
    deck.group("glass", RADIUS, {"type": "lattice", "spacing": 2 * RADIUS, "region": {
        "lower": [-RADIUS, -RADIUS, 0], "upper": [RADIUS, RADIUS, height]}})
    deck.floor("wall")
    deck.obstacle("tube", "wall", type="cylinder", side="inside", a=[0, 0, -0.1], b=[0, 0, 0.2], radius=1.001 * RADIUS)
    deck.plane("plate", "wall", [0, 0, height], [0, 0, -1], motion={"type": "driven", "axis": [0, 0, -1], "load": FORCE} | motion)
    return deck


def wall_of(course, name, columns=("position", "velocity", "load")):
    """Series of the measure `driven` of a wall; the first entry is the start."""
    return [course.scalars[f"driven_{column}_{name}"] for column in columns]


def soft_columns(laboratory, table):
    """Shortening of a column of soft spheres: n + 1 contacts, two of them with walls."""
    stiffness, steps = 1e5, 20000
    modulus = 0.5 * SOFT_GLASS[0] / (1 - SOFT_GLASS[1]**2)
    variants, decks = [], []
    for law in ("linear", "hertz"):
        for control in ("servo", "free"):
            deck = column_deck(1e-5, steps, SOFT_GLASS if law == "hertz" else None, {} if law == "hertz" else {"stiffness": stiffness},
                               max_speed=1, **({"control": "free", "mass": 1e-3} if control == "free" else {}))
            for other in ("glass", "wall"):
                deck.pair("glass", other, 0, 0.3)
            deck.soft(law=law)
            deck.measure("driven", every_steps=steps)
            deck.tables["output"]["certificate"] = {"every_steps": steps}
            variants.append((law, control))
            decks.append(deck)

    def of_contact(effective):
        return (3 * FORCE / (4 * modulus * np.sqrt(effective)))**(2 / 3)

    for (law, control), course in zip(variants, laboratory.run_all(decks)):
        expected = 2 * of_contact(RADIUS) + (N_SPHERES - 1) * of_contact(0.5 * RADIUS) if law == "hertz" else \
            (N_SPHERES + 1) * FORCE / stiffness
        position, load = wall_of(course, "plate", ("position", "load"))
        variant = f"{law.capitalize() if law == 'hertz' else law}, {control}"
        table.add("column in a tube, soft", [Row("shortening / closed form [-]", variant, 1, position[-1] / expected, 1e-6),
                                             Row("reaction / load [-]", variant, 1, load[-1] / FORCE, 1e-6)])


def rigid_column(laboratory, table):
    """A column that jams carries the load from the first step on, and the plate stays."""
    deck = column_deck(1e-3, 100, None, max_speed=0.1)
    deck.measure("driven")
    course = laboratory.run(deck)
    position, load = wall_of(course, "plate", ("position", "load"))
    table.add("column in a tube, rigid", [
        Row("worst |reaction / load - 1| [-]", "100 steps", 0, np.abs(load[1:] / FORCE - 1).max(), 1e-3),
        Row("displacement of the plate [m]", "100 steps", 0, np.abs(position[1:]).max(), 1e-12)])


BED_SPEED = 0.4


def bed_deck(dt, load, is_rigid, stages):
    """180 spheres in a box, pressed by a plate. `stages`: (steps, load [N])."""
    r, edge = 2e-3, 25.2e-3
    deck = GrainDeck([-0.002] * 3, [0.03, 0.03, 0.05], dt, None)
    deck.allow_overlap()
    deck.gravity([0, 0, -9.81])
    for material in ("glass", "wall"):
        deck.material(material, DENSITY, None if is_rigid else SOFT_GLASS)
    deck.pair("glass", "glass", 0.5, 0.3)
    deck.pair("glass", "wall", 0, 0.3)
    if is_rigid:
        deck.tables["solver"]["tolerance"] = 1e-2
    else:
        deck.soft(law="hertz")
    deck.group("glass", r, {"type": "random", "count": 180, "region": {"lower": [0, 0, 0], "upper": [edge, edge, 0.034]}})
    deck.floor("wall")
    for name, point, normal in (("left", [0, 0, 0], [1, 0, 0]), ("right", [edge, 0, 0], [-1, 0, 0]), ("front", [0, 0, 0], [0, 1, 0]),
                                ("back", [0, edge, 0], [0, -1, 0])):
        deck.plane(name, "wall", point, normal)
    deck.plane("plate", "wall", [0, 0, 0.036], [0, 0, -1],
               motion={"type": "driven", "axis": [0, 0, -1], "load": load, "max_speed": BED_SPEED})
    deck.tables["stages"] = [{"name": f"stage{k}", "duration": duration(steps, dt), "drive": [{"obstacle": "plate", "load": value}]}
                             for k, (steps, value) in enumerate(stages)]
    deck.measure("energy", balance=True)
    deck.measure("driven")
    return deck


def step_of_load(laboratory, table):
    """A plate on a settled bed whose load grows tenfold. It has to go a third of a radius before it meets the new load: 160 steps at its
    largest speed."""
    first, second, settled = 2, 20, 2e-3    # [N, N, s]: 200 steps of 10 us
    steps = (1e-5,) if laboratory.quick else (1e-5, 5e-6)
    decks = []
    for dt in steps:
        decks.append(bed_deck(dt, first, False, ((round(0.3 / dt), first), (2000, second))))
        decks[-1].tables["output"]["certificate"] = {"every_steps": 10**9}
    for dt, course in zip(steps, laboratory.run_all(decks)):
        load, = wall_of(course, "plate", ("load",))
        share = load[-2000:] / second
        missing, work = (course.scalars[f"energy_{name}"][-1] for name in ("imbalance", "wall_work"))
        variant = f"step {dt:g} s"
        table.add("load grows tenfold on a settled bed", [
            Row("reaction / load before [-]", variant, 1, load[-2001] / first, 0.01),
            Row("overshoot [-]", variant, 0, share.max() - 1, 0.05, max(share.max() - 1, 0.0)),
            Row("worst |reaction / load - 1| after 2 ms [-]", variant, 0, np.abs(share[round(settled / dt):] - 1).max(), 0.01),
            Row("imbalance / work of the plate [-]", variant, 0, missing / work, 0.01)])


def rigid_bed(laboratory, table):
    """The same bed, rigid, still falls when the plate meets it; then it settles under both loads, 3 and 33 times its weight."""
    light, heavy, dt, r, within = 0.5, 5, 2e-4, 2e-3, 1e-3
    course = laboratory.run(bed_deck(dt, light, True, ((600, light), (400, heavy))))
    certificate = {name: course.certificate[name][1:] for name in ("max_overlap", "solved", "load_residual")}
    velocity, load = (series[1:] for series in wall_of(course, "plate", ("velocity", "load")))
    time = course.scalars["time"][1:]
    carries = velocity < BED_SPEED

    def worst(end, asked):
        late = carries & (time > end - 0.02) & (time <= end + dt / 2)
        return np.abs(load[late] / asked - 1).max(initial=0)

    table.add("rigid bed that falls under a plate", [
        Row("worst |reaction / load - 1| at the end [-]", "0.5 N", 0, worst(0.12, light), within),
        Row("worst |reaction / load - 1| at the end [-]", "5 N", 0, worst(0.2, heavy), within),
        Row("share of steps that miss the load [-]", "by 0.001", 0, float(np.mean(certificate["load_residual"][carries] > within)), 0),
        Row("deepest overlap / radius [-]", "", 0, certificate["max_overlap"].max() / r, 0.05),
        Row("steps not solved [-]", "", 0, float(np.sum(1 - certificate["solved"])), 0)])


def above_zero(quantity, variant, value):
    """A row of a number that must not be negative."""
    return Row(quantity, variant, 0, value, 0, max(-value, 0.0))


def vane(laboratory, table):
    """A cross of two bars turns in a ring of disks: it does work on them, and they resist."""
    torque, max_rate, n_steps, n_first = 0.2, 10, 5000, 2500
    w, b = 0.03, 0.004
    cross = [[w, -b], [w, b], [b, b], [b, w], [-b, w], [-b, b], [-w, b], [-w, -b], [-b, -b], [-b, -w], [b, -w], [b, -b]]
    controls, decks = {"servo": {}, "free": {"control": "free", "moment_of_inertia": 1e-3}}, []
    for keys in controls.values():
        deck = GrainDeck([-0.12] * 2, [0.12] * 2, 2e-5, n_steps)
        deck.tables["neighbors"]["skin"] = 2e-3
        deck.material("grain", DENSITY)
        deck.material("wall", DENSITY)
        deck.pair_keys = {"stiffness": 1e6}
        deck.pair("grain", "grain", 0.5, 0.3)
        deck.pair("grain", "wall", 0.5, 0.3)
        deck.soft(law="linear")
        deck.group("grain", 4e-3, {"type": "random", "count": 280, "region": {"center": [0, 0], "radius": 0.098}})
        deck.obstacle("ring", "wall", type="disk", side="inside", center=[0, 0], radius=0.1)
        deck.obstacle("vane", "wall", type="polygon", points=cross,
                      motion={"type": "driven", "point": [0, 0], "torque": torque, "max_rate": max_rate} | keys)
        deck.measure("energy", balance=True)
        deck.measure("driven")
        decks.append(deck)
    for variant, course in zip(controls, laboratory.run_all(decks)):
        position, velocity, load = wall_of(course, "vane")
        angle, work = position[-1], course.scalars["energy_wall_work"][-1]
        table.add("vane under a torque", [above_zero("angle [rad]", variant, angle), above_zero("work of the vane [J]", variant, work)])
        if variant == "servo":
            slow = np.abs(velocity[n_first + 1:]) < max_rate
            table.add("vane under a torque", [Row("mean torque / asked, second half, below the largest rate [-]", variant, 1,
                                                  load[n_first + 1:][slow].mean() / torque, 0.1)])
        table.demand(f"vane under a torque, {variant}", angle > 0, "it does not turn")
        table.demand(f"vane under a torque, {variant}", work > 0, "it does no work on the grains")


def shear_box_deck(pressed_harder):
    width, half, load, begin, end, dt = 0.1, 0.03, 500, 0.4, 0.6, 2e-5
    deck = GrainDeck([-0.02, -0.01], [0.14, 0.13], dt, None)
    deck.tables["neighbors"]["skin"] = 2e-3
    deck.gravity([0, -9.81])
    deck.material("grain", DENSITY)
    deck.pair_keys = {"stiffness": 1e6}
    deck.pair("grain", "grain", 0.5, 0.3)
    deck.soft(law="linear")
    deck.group("grain", 3.5e-3, {"type": "random", "count": 130, "region": {"lower": [0, 0], "upper": [width, 0.11]}})
    slides = {"type": "translate", "velocity": [0.05, 0], "start": begin}
    deck.plane("floor", "grain", [0, 0], [0, 1], motion=slides)
    for side, x in (("left", 0), ("right", width)):
        deck.obstacle(f"lower_{side}", "grain", type="segment", a=[x, -0.01], b=[x, half], motion=slides)
        deck.obstacle(f"upper_{side}", "grain", type="segment", a=[x, half], b=[x, 0.13])
    deck.plane("lid", "grain", [0, 0.115], [0, -1], motion={"type": "driven", "axis": [0, -1], "load": load, "max_speed": 0.5})
    orders = ((0.5 * begin, {"load": 10 * load if pressed_harder else load}), (0.5 * begin, {"load": load}), (end - begin, {"speed": 0}))
    deck.tables["stages"] = [{"name": f"stage{k}", "duration": duration(round(time / dt), dt), "drive": [{"obstacle": "lid"} | order]}
                             for k, (time, order) in enumerate(orders)]
    deck.measure("energy", balance=True)
    deck.measure("driven")
    return deck


def shear_box(laboratory, table):
    """A shear box at constant volume: the lid presses, then it is held while the lower half slides. Disks that were pressed harder before
    would need more room and push the lid up, others would take less."""
    variants = {False: "not pressed harder before", True: "pressed ten times harder before"}
    for (harder, variant), course in zip(variants.items(), laboratory.run_all([shear_box_deck(harder) for harder in variants])):
        load, = wall_of(course, "lid", ("load",))
        held = course.scalars["time"] > 0.4 + 1e-9
        begin = int(np.argmax(held)) - 1
        growth = load[held].mean() / load[begin] - 1
        work = course.scalars["energy_wall_work"]
        table.add("shear box at constant volume", [
            Row("load on the lid / before - 1 [-]", variant, 0, growth, 0, max(-growth if harder else growth, 0.0)),
            above_zero("work of the lower half [J]", variant, work[-1] - work[begin])])


def hit_deck(dimension, is_wall, scheme_keys, dt):
    """A thrown ball meets a heavier one off its centre: a body, or an obstacle that is free to go where a body would."""
    mass, small, large, mu = 0.5, 0.05, 0.1, 0.3
    volume = np.pi * large**2 if dimension == 2 else 4 / 3 * np.pi * large**3
    deck = GrainDeck([-1] * dimension, [1] * dimension, dt, round(0.02 / dt))
    deck.tables["neighbors"]["skin"] = 0.04
    deck.material("ball", 400)
    deck.material("target", mass / volume)
    deck.pair_keys = dict(scheme_keys)
    deck.pair("ball", "target", mu, 0.5)
    if scheme_keys:
        deck.soft(law="linear")
    offset = np.array([-0.15, 0.06, 0.03][:dimension])
    deck.add("ball", offset, small, velocity=[2.0, 0.1, -0.2][:dimension])
    centre = [0.0] * dimension
    if is_wall:
        free = {"load": 0.0, "control": "free", "mass": mass, "max_speed": 2.5}
        axes = np.eye(dimension).tolist()
        further = [{"name": "xyz"[k], "axis": axes[k]} | free for k in range(1, dimension)]
        if dimension == 2:
            further.append({"name": "turn", "point": centre, "torque": 0.0, "control": "free", "max_rate": 100,
                            "moment_of_inertia": 0.5 * mass * large**2})
        deck.obstacle("target", "target", type="disk" if dimension == 2 else "sphere", center=centre, radius=large,
                      motion={"type": "driven", "axis": axes[0]} | free | {"further": further})
        deck.measure("driven", every_steps=deck.steps)
    else:
        deck.add("target", centre, large, rotates=dimension == 2)
    deck.record_every(deck.steps)
    deck.tables["output"]["certificate"] = {"every_steps": deck.steps}
    return deck


def free_walls_as_bodies(laboratory, table):
    """An obstacle that is free along all axes, and in the plane to turn, is hit as a body of its mass is. Springs differ by their levers,
    which end on an obstacle, but in the middle of the overlap of two bodies."""
    for dimension in (2, 3):
        for scheme, keys, dt, bound in (("nonsmooth", {}, 1e-3, 1e-10), ("dem", {"stiffness": 1e7}, 2.5e-7, 2e-3)):
            body, wall = laboratory.run_all([hit_deck(dimension, is_wall, keys, dt) for is_wall in (False, True)])
            end, other = body.bodies(), wall.bodies()
            names = ["target"] + [f"target.{name}" for name in (["y", "turn"] if dimension == 2 else ["y", "z"])]
            velocity = np.array([wall_of(wall, name, ("velocity",))[0][-1] for name in names])
            position = np.array([wall_of(wall, name, ("position",))[0][-1] for name in names])
            variant = f"{dimension}D, {scheme}"
            known = np.append(end.velocity[1], end.spin[1]) if dimension == 2 else end.velocity[1]
            table.demand("free walls as bodies", np.linalg.norm(end.velocity[1]) > 0.2, f"{variant}: the body is not hit")
            table.add("free walls as bodies", [
                Row("velocity of the ball off [m/s]", variant, 0, np.abs(other.velocity[0] - end.velocity[0]).max(), bound),
                Row("spin of the ball off [rad/s]", variant, 0, np.abs(other.spin[0] - end.spin[0]).max(), 100 * bound),
                Row("velocity of the wall off [m/s]", variant, 0, np.abs(velocity - known)[:dimension].max(), bound),
                Row("rate of the wall off [rad/s]", variant, 0, np.abs(velocity - known)[dimension:].max(initial=0), 100 * bound),
                Row("place of the wall off [m]", variant, 0, np.abs(position[:dimension] - end.position[1]).max(), bound)])


def box_with_two_loads(laboratory, table):
    """A box around a disk presses it into the corner of two fixed planes, with a load of its own along each axis."""
    r, loads, decks = 0.05, {"box": 3.0, "box.down": 5.0}, []
    for scheme in ("nonsmooth", "dem"):
        deck = GrainDeck([-1, -1], [1, 1], 1e-3 if scheme == "nonsmooth" else 1e-5, 200 if scheme == "nonsmooth" else 20000)
        deck.tables["neighbors"]["skin"] = 0.04
        deck.allow_overlap()
        deck.material("grain", DENSITY)
        deck.material("wall", DENSITY)
        if scheme == "dem":
            deck.pair_keys = {"stiffness": 1e5}
            deck.soft(law="linear")
        deck.pair("grain", "wall", 0.3, 0)
        deck.add("grain", [r, r], r)
        deck.plane("left", "wall", [0, 0], [1, 0])
        deck.plane("floor", "wall", [0, 0], [0, 1])
        deck.obstacle("box", "wall", type="box", side="inside", lower=[-0.5, -0.5], upper=[2 * r, 2 * r], motion={
            "type": "driven", "axis": [-1, 0], "load": loads["box"], "max_speed": 1,
            "further": [{"name": "down", "axis": [0, -1], "load": loads["box.down"], "max_speed": 1}]})
        deck.measure("driven", every_steps=deck.steps)
        deck.tables["output"]["certificate"] = {"every_steps": deck.steps}
        decks.append(deck)
    for scheme, course in zip(("nonsmooth", "dem"), laboratory.run_all(decks)):
        table.add("box with two loads", [
            Row("reaction / load [-]", f"{scheme}, {name}", 1, wall_of(course, name, ("load",))[0][-1] / load, 1e-3)
            for name, load in loads.items()])


def driven_cases(_laboratory):
    return [soft_columns, rigid_column, rigid_bed, step_of_load, vane, shear_box, free_walls_as_bodies, box_with_two_loads]
