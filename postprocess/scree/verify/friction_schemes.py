"""One system of disks with dry friction, and every scheme that has it: slope, oscillator and stacks against exact answers; the friction
with which three disks stand. Decks: slope, oscillator and stack3 to stack10 of inputs/verification."""
import math
from dataclasses import dataclass, field

import numpy as np

from scree.deck import Deck
from scree.verify.checks import Checks
from scree.verify.numbers import norm, residue
from scree.verify.sticking_stacks import TITLES, compare_settling

RADIUS = 0.5    # [m], and 1 kg, of all disks
# What the solvers of contact problems reach for such small systems, so that what is left are errors of schemes.
SWEEP_TOLERANCE = 1e-12
REST_SPEED = 1e-11      # speed that counts as rest [m/s]: what solvers and the last oscillations of a contact leave, with room to spare
# Kinetic energy that counts as rest [J]: the smaller one for forces that stop all motion, the larger one for what the tolerance of interior
# points leaves.
SOFT_REST_ENERGY, RIGID_REST_ENERGY = 1e-24, 1e-22
DEGENERATE_REST_SPEED = 1e-8    # if friction just holds, interior points find the solution to about the root of round-off only


@dataclass(frozen=True)
class Softness:
    """How stiff contacts of soft schemes are [N/m], and the step that goes with it [s]."""
    stiffness: float
    dt: float


FOR_COMPARISON, FOR_THRESHOLD = Softness(1e5, 2e-4), Softness(1e6, 1e-4)    # 70 and 44 steps to a contact's period


@dataclass(frozen=True)
class Variant:
    """A scheme with its treatment of friction, as keys of a deck. `spring`: friction is that of a tangential spring."""
    name: str
    dt: float
    keys: dict = field(hash=False)
    soft: bool = False
    spring: bool = False


def rigid(solver, tolerance, dt):
    return Variant(f"nonsmooth {solver}", dt, {"simulation.scheme": "nonsmooth", "solver.type": solver, "solver.tolerance": tolerance})


def soft(friction, softness):
    keys = {"simulation.scheme": "dem", "dem.friction": friction}
    keys |= {f"pairs.body-{other}.stiffness": softness.stiffness for other in ("body", "floor")}
    return Variant(f"dem {friction}", softness.dt, keys, True, friction == "spring")


def variants(softness, interior_tolerance, several_steps=False):
    fine = [rigid("nsgs", SWEEP_TOLERANCE, 1e-3)] if several_steps else []
    return [rigid("nsgs", SWEEP_TOLERANCE, 1e-2), *fine, rigid("ipm", interior_tolerance, 1e-2), soft("spring", softness),
            soft("dae", softness)]


class Course:
    """What became of a deck: bodies at the start and at the end, the place of the last one 1 s before the end, kinetic energy at the end
    [J], steps, seconds of real time."""

    def __init__(self, course):
        self.start, self.end = course.bodies(0), course.bodies(-1)
        self.before_end = course.bodies(1).position[-1]
        self.kinetic = course.scalars["energy_kinetic"][-1]
        self.n_steps = int(course.scalars["step"][-1])
        self.seconds = course.results.summary["wall_s"]

    @property
    def fastest(self):
        return np.linalg.norm(self.end.velocity, axis=1).max()


def follow(laboratory, name, cases, duration):
    """The Courses of a deck of inputs/verification for each (variant, keys)."""
    decks = []
    for variant, keys in cases:
        deck = Deck(laboratory.source / f"inputs/verification/{name}.toml")
        for key, value in (keys | variant.keys).items():
            deck[key] = value
        deck["time.step"], deck["simulation.end_time"] = variant.dt, duration
        deck["output"] = {"h5md": {"every": duration - 1 if duration > 1 else duration / 2}, "certificate": {"every_steps": 10**9},
                          "checkpoint": {"wall_time": 0}}
        decks.append(deck)
    return [Course(course) for course in laboratory.run_all(decks)]


@dataclass
class Line:
    """One row of the comparison: an error of a place [m], and a speed that should be 0, or its error [m/s]."""
    error: float = 0
    error_bound: float = 0
    speed: float = 0
    speed_bound: float = 0
    rests: bool = False     # then all of these are residues
    energy_bound: float = math.inf      # kinetic, at rest [J]

    def shown(self, value, bound):
        return residue(value, bound) if self.rests else value


class Comparison(Checks):
    """The rows of all cases: shown, checked and kept as CSV."""

    def __init__(self, show):
        super().__init__(show, ("case", "scheme", "dt[s]", "error[m]", "error_bound[m]", "speed[m/s]", "speed_bound[m/s]",
                                "kinetic_energy[J]", "steps", "wall[s]"))
        show("One system, three schemes: error of the place at the end (of stacks: how far the top moves in the last second)\n"
             "and error of the speed, for rest the speed itself.\n")
        show(f"{'case':<24} {'scheme':<14} {'dt [s]':>7} {'error [m]':>10} {'bound':>8} {'speed[m/s]':>10} {'bound':>8} {'E_kin [J]':>9} "
             f"{'steps':>7} {'wall [s]':>8}")

    def add(self, case, variant, course, line):
        self.show(f"{case:<24} {variant.name:<14} {variant.dt:>7g} {line.shown(line.error, line.error_bound):>10.2e} "
                  f"{line.error_bound:>8.1e} {line.shown(line.speed, line.speed_bound):>10.2e} {line.speed_bound:>8.1e} "
                  f"{line.shown(course.kinetic, line.energy_bound):>9.1e} {course.n_steps:>7} {course.seconds:>8.2f}")
        self.record(case, variant.name, f"{variant.dt:g}", float(line.error), f"{line.error_bound:g}", float(line.speed),
                    f"{line.speed_bound:g}", float(course.kinetic), course.n_steps, f"{course.seconds:.3g}")
        what = f"{case}, {variant.name}, dt = {variant.dt:g}: "
        self.count(line.error <= line.error_bound, what + "the error of the place is above its bound")
        self.count(line.speed <= line.speed_bound, what + "the speed is above its bound")
        if line.rests:
            self.count(course.kinetic < line.energy_bound, f"{case}, {variant.name}: kinetic energy {course.kinetic:.1e} J")


@dataclass(frozen=True)
class Slide:
    """A block on a slope after some time, from 0 (docs/verification.md): place [m], velocity [m/s], total variation of the velocity
    [m/s], whether it stops once, on the way, and its acceleration after that [m/s2]."""
    place: float
    velocity: float
    turnover: float
    stops: bool = False
    after: float = 0


def slide_exactly(weight, limit, v0, time):
    # Round-off in mu = tan(angle) does not make a block move.
    rounding = 1e-12 * weight

    def net(direction):
        a = weight - direction * limit
        return 0 if abs(a) < rounding else a

    a = net(1 if v0 > 0 else -1)
    stop = -v0 / a if a * v0 < 0 else math.inf
    if stop > time:
        return Slide(v0 * time + a * time**2 / 2, v0 + a * time, abs(a) * time)
    after, left = max(net(1), 0.0), time - stop
    return Slide(v0 * stop / 2 + after * left**2 / 2, after * left, abs(v0) + after * left, True, after)


def slope_bounds(variant, exact, weight, limit, time):
    """How far results may be from those of a block of 1 kg and rigid contact.

    Rigid: positions follow the new velocity, which is half a step of its changes too much; a block that turns back starts up to a step
    late. Soft, k: contact starts without its overlap N/k, so that friction is late by mu N/k in place. A tangential spring of 2/7 k holds
    mu N when it is stretched by d = 7/2 mu N/k. It takes a block that stops up to 2 d back, and pushes one that turns back: the weight W
    does the work 2 d W, with no friction on balance, so it is too fast by up to 2 sqrt(d W)."""
    solver = 1e-6       # what residuals add up to in all steps
    a_step_late = exact.after * variant.dt
    # Where friction just holds, what a spring pushes back goes on for ever: no force is left to stop it.
    turns = exact.stops and limit < weight * (1 + 1e-12)
    line = Line()
    if variant.soft:
        late = limit / FOR_COMPARISON.stiffness
        stretch = 3.5 * late if variant.spring else 0
        line.speed_bound = turns * (2 * math.sqrt(stretch * weight) + a_step_late)
        line.error_bound = 1.1 * (late + 2 * stretch) + line.speed_bound * time
    else:
        line.speed_bound = a_step_late
        line.error_bound = 0.51 * variant.dt * exact.turnover + a_step_late * time + solver
    line.speed_bound += REST_SPEED if exact.velocity == 0 else solver
    return line


def compare_slopes(laboratory, table):
    g, time, angle = 9.81, 0.5 if laboratory.quick else 3, math.pi / 6
    weight = g * math.sin(angle)
    for factor in (0.5, 1.0, 3.0):
        for v0 in (1.0, -1.0):
            if laboratory.quick and (factor < 3 or v0 < 0):
                continue
            mu = factor * math.tan(angle)
            limit = mu * g * math.cos(angle)
            exact = slide_exactly(weight, limit, v0, time)
            all_variants = variants(FOR_COMPARISON, 1e-11, not laboratory.quick)
            keys = {"pairs.body-floor.friction": mu, "particles.disk.velocity": [v0, 0]}
            for variant, course in zip(all_variants, follow(laboratory, "slope", [(variant, keys) for variant in all_variants], time)):
                line = slope_bounds(variant, exact, weight, limit, time)
                line.error = abs((course.end.position[0] - course.start.position[0])[0] - exact.place)
                line.speed = abs(course.end.velocity[0, 0] - exact.velocity)
                if factor == 1 and exact.stops and not variant.spring:
                    line.speed_bound = DEGENERATE_REST_SPEED
                table.add(f"slope {factor:g} tan {'down' if v0 > 0 else 'up'}", variant, course, line)


def rest_of_oscillator(x0, limit):
    """Where an oscillator with dry friction comes to rest that starts at rest at x0: it swings about -limit and limit in turn."""
    x = x0
    while abs(x) > limit:
        x = (2 if x > 0 else -2) * limit - x
    return x


def compare_oscillators(laboratory, table):
    limit = 0.2     # mu m g / k [m]
    for x0 in (0.65,) if laboratory.quick else (2.5, -1.7, 0.65):
        exact = rest_of_oscillator(x0, limit)
        # Soft contact takes 32000 steps.
        all_variants = [variant for variant in variants(FOR_COMPARISON, 1e-11, not laboratory.quick)
                        if not (laboratory.quick and variant.soft)]
        keys = {"particles.disk.source.region.lower": [x0 - RADIUS, 0], "particles.disk.source.region.upper": [x0 + RADIUS, 2 * RADIUS]}
        courses = follow(laboratory, "oscillator", [(variant, keys) for variant in all_variants], 6.5 if laboratory.quick else 25)
        for variant, course in zip(all_variants, courses):
            # Of second order, since the errors of two half cycles cancel. Soft contact is late by mu N/k, and at each of up to six turns a
            # tangential spring deforms on both sides.
            late = limit / FOR_COMPARISON.stiffness
            bound = variant.dt**2 if not variant.soft else 70 * late if variant.spring else 1.1 * late
            table.add(f"oscillator x0 = {x0:g}", variant, course,
                      Line(abs(course.end.position[0, 0] - exact), bound, course.fastest, REST_SPEED))


def compare_stacks(laboratory, table):
    for n in (3,) if laboratory.quick else (3, 6, 10):
        all_variants = variants(FOR_COMPARISON, 1e-11, not laboratory.quick)
        courses = follow(laboratory, f"stack{n}", [(variant, {}) for variant in all_variants], 2 if laboratory.quick else 3)
        for variant, course in zip(all_variants, courses):
            table.add(f"stack of {n}", variant, course,
                      Line(norm(course.end.position[-1] - course.before_end), REST_SPEED, course.fastest, REST_SPEED, True,
                           SOFT_REST_ENERGY if variant.soft else RIGID_REST_ENERGY))


def stands(laboratory, variant, mu):
    """Whether three disks stand with this coefficient of friction: the upper one sinks by less than 1e-6 m in the last second of two. Just
    below the threshold it speeds up at 10 m/s2 per unit of mu: 7e-8 less are seen."""
    most, collapsed = 1e-6, 0.1 * RADIUS
    keys = {"pairs.body-floor.friction": mu, "pairs.body-body.friction": mu}
    course, = follow(laboratory, "stack3", [(variant, keys)], 2)
    heights = [course.start.position[-1, 1], course.before_end[1], course.end.position[-1, 1]]
    return heights[0] - heights[2] < collapsed and heights[1] - heights[2] < most


def find_thresholds(laboratory, checks):
    """For each scheme by bisection; exact: (sqrt(15) - 2 sqrt(3)) / 3."""
    exact, width = (math.sqrt(15) - 2 * math.sqrt(3)) / 3, 1e-3 if laboratory.quick else 1e-5
    checks.show(f"Three disks that cannot turn stand if mu >= (sqrt(15) - 2 sqrt(3))/3 = {exact:.6f}: by bisection from 0.1 to 0.2.\n")
    checks.show(f"{'scheme':<15} {'dt [s]':>7} {'mu_c':>9} {'error':>10} {'falls':>10} {'stands':>10} {'runs':>5}")
    for variant in variants(FOR_THRESHOLD, 1e-10):
        falls, holds, n_runs = 0.1, 0.2, 2
        bracketed = not stands(laboratory, variant, falls) and stands(laboratory, variant, holds)
        while bracketed and holds - falls > width:
            middle = (falls + holds) / 2
            falls, holds = (falls, middle) if stands(laboratory, variant, middle) else (middle, holds)
            n_runs += 1
        found = (falls + holds) / 2 if bracketed else math.nan
        checks.show(f"{variant.name:<15} {variant.dt:>7g} {found:>9.6f} {found - exact:>10.1e} {falls:>10.6f} {holds:>10.6f} {n_runs:>5}")
        checks.record(variant.name, f"{variant.dt:g}", found, found - exact, falls, holds, n_runs)
        # Soft disks fall into their overlap at first, and slip while they do; springs deform besides.
        bound = (1e-3 if variant.spring else 3e-4 if variant.soft else 0) + width
        checks.count(abs(found - exact) <= bound, f"{variant.name}: mu_c differs from the exact one by more than {bound:.1e}")


def verify(laboratory, group, csv, show):
    if group == "settling":
        table = Checks(show, TITLES)
        compare_settling(laboratory, table)
    elif group == "threshold":
        table = Checks(show, ("scheme", "dt[s]", "mu_c", "error", "falls", "stands", "runs"))
        find_thresholds(laboratory, table)
    else:
        table = Comparison(show)
        compare_slopes(laboratory, table)
        compare_oscillators(laboratory, table)
        compare_stacks(laboratory, table)
        if group == "all":
            show("")
            find_thresholds(laboratory, OnlyChecks(table))
            show("")
            compare_settling(laboratory, OnlyChecks(table))
    show("")
    return table.finish(csv)


class OnlyChecks:
    """Checks beside those of a comparison, whose table has other columns."""

    def __init__(self, table):
        self.show, self.count = table.show, table.count

    def record(self, *_):
        pass
