"""Dense flows with rigid, elastic and soft contact, against each other and against LAMMPS (scripts/flows-lammps.py has the same cases)."""
import math
from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from scree.deck import Deck
from scree.errors import RunError
from scree.verify.checks import Checks
from scree.verify.grain_deck import GrainDeck
from scree.verify.numbers import impact_damping

SAMPLE_EVERY, DIAMETER = 0.01, 0.01         # [s, m]
SOFT_STEP, ELASTIC_STEP = 5e-5, 5e-4        # [s], of the decks' stiffness; a contact lasts twenty times the first
STEADY = 4                                  # [s], from when on flows are steady
SHEARED = 2                                 # shear strain from which on a sheared cell is
SLOW_SHEAR = "slow-shear"                   # cases that take hours


@dataclass(frozen=True)
class Law:
    """Contact as a case may have it. `soft`: the scheme "dem", otherwise "nonsmooth"; `stiffening`: stiffness over that of the deck;
    `shortening`: the usual step over that of the run."""
    name: str
    rigid: bool = False
    soft: bool = False
    stiffening: float = 1
    shortening: float = 1


RIGID, FINE_RIGID = Law("rigid", rigid=True), Law("rigid dt/4", rigid=True, shortening=4)
ELASTIC, SOFT = Law("elastic"), Law("dem", soft=True)
STIFFER = (Law("dem 4k", soft=True, stiffening=4), Law("dem 16k", soft=True, stiffening=16))
STIFFEST = Law("dem 64k", soft=True, stiffening=64)


@dataclass(frozen=True)
class Flow:
    """A deck of inputs/flows. `quick`: runs if only quick cases are asked for; `stiffer`: also rigid with a quarter of the step, and with
    4 and 16 times the stiffness. `rigid_within`: of the limit of these and of 64 times the stiffness, rigid contact is within this share;
    0: this is not asked for."""
    name: str
    deck: str
    stiffness: float = 6500     # [N/m], of the deck
    rigid_step: float = 2e-3    # [s]
    quick: bool = False
    stiffer: bool = False
    rigid_within: float = 0
    n_seeds: int = 3
    group: str = ""             # of cases that are asked for together, else the deck's name; SLOW_SHEAR is not part of all
    keys: dict = field(default_factory=dict, hash=False)

    def deck_for(self, laboratory, law, seed):
        deck = Deck(laboratory.source / f"inputs/flows/{self.deck}.toml")
        keys = self.keys | {"simulation.seed": seed, "simulation.scheme": "dem" if law.soft else "nonsmooth",
                            "pairs.glass-glass.stiffness": "rigid" if law.rigid else law.stiffening * self.stiffness,
                            "time.step": self.rigid_step / law.shortening if law.rigid else
                            (SOFT_STEP if law.soft else ELASTIC_STEP) / math.sqrt(law.stiffening)}
        for key, value in keys.items():
            deck[key] = value
        deck["output"] = {"h5md": {"every": SAMPLE_EVERY}, "certificate": {"every_steps": 10**9}, "checkpoint": {"wall_time": 0}}
        return deck


def collapse(aspect):
    """A column `aspect` times as high as wide."""
    root, base, top = math.sqrt(aspect), 0.4 + 0.6 * aspect, 0.45 * aspect     # length of the rough plane [m]
    return Flow(f"collapse {aspect:g}", "collapse", quick=aspect == 0.5, stiffer=aspect == 1,
                n_seeds=1 if aspect == 4 else 3,    # takes minutes
                keys={"particles.grains.source.count": round(2290 * aspect),
                      "particles.grains.source.region.upper": [0.2, 0.05, top], "particles.base.source.region.upper": [base, 0.05, 0],
                      "domain.upper": [base + 0.02, 0.05, top + 0.02], "stages.0.duration": round(0.35 + 0.35 * root, 4),
                      "stages.1.duration": round(0.5 + 0.654 * root, 4),
                      # Soft grains that fall from a metre overlap by a third of their radius.
                      "dem.overlap_limit": 1, "nonsmooth.overlap_limit": 1})


def shear(inertial_number, rigid_within=0.03):
    """A cell that is sheared 10 times its height, 5 times where it is slow, after its first two."""
    rate, is_fast = inertial_number / (DIAMETER * math.sqrt(2500 / 650)), inertial_number > 5e-3
    return Flow(f"shear {inertial_number:g}", "shear", rigid_step=1e-3, stiffer=True, rigid_within=rigid_within, n_seeds=3 if is_fast else 1,
                group="shear" if is_fast else SLOW_SHEAR,
                keys={"domain.deformation.shear_rate": rate,
                      "simulation.end_time": round((SHEARED + (10 if inertial_number > 0.02 else 5)) / rate, 3)})


FLOWS = (Flow("layers", "layers", quick=True, stiffer=True), Flow("chute", "chute", stiffer=True),
         *(collapse(aspect) for aspect in (0.5, 1, 2, 4)), Flow("drum", "drum", 9.7e5, 1e-3, stiffer=True), Flow("silo", "silo"),
         Flow("Janssen", "janssen", n_seeds=6), *(shear(number) for number in (0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3)),
         shear(1e-4, rigid_within=0))


class Samples:
    """Series of a run, SAMPLE_EVERY apart, of the bodies that are not held: mean place and velocity, how many are above 0, and who is there
    at the end. Bodies may leave."""

    def __init__(self, course):
        self.course = course
        held = [k for k, table in enumerate(course.results.deck["particles"].values()) if table.get("mobility") == 0]
        record = course.results.trajectory
        self.time = record.times
        self.centre, self.velocity, self.above = [], [], []
        for frame in range(record.n_frames):
            free = ~np.isin(record.field("group", frame), held)
            self.position = record.positions(frame)[free]
            self.centre.append(self.position.mean(axis=0))
            self.velocity.append(record.velocities(frame)[free].mean(axis=0))
            self.above.append(np.count_nonzero(self.position[:, -1] > 0))
        self.centre, self.velocity, self.above = map(np.array, (self.centre, self.velocity, self.above))
        self.mass = record.field("mass", -1)[free].sum()

    def average(self, numbers, since=STEADY, until=math.inf):
        """Mean over samples with since < time <= until."""
        within = (self.time > since + 1e-9) & (self.time < until + 1e-9)
        return float(numbers[within].mean())

    def columns(self, *parts):
        """Sum of the scalars whose names hold all of these parts."""
        scalars = self.course.scalars
        return sum(scalars[name] for name in scalars if all(part in name for part in parts))


def numbers_of(flow, samples):
    """The quantities of a case."""
    centre = samples.centre
    if flow.deck in ("chute", "layers"):
        return {"speed [m/s]": samples.average(samples.velocity[:, 0]),
                "height of centres [d]": samples.average(centre[:, -1] / DIAMETER)}
    if flow.deck == "drum":
        return {"torque [N m]": samples.average(samples.columns("_torque_")),
                "angle of the centre of mass [deg]": samples.average(np.degrees(np.arctan2(-centre[:, 0], -centre[:, 1])))}
    if flow.deck == "shear":
        scalars = samples.course.scalars
        late = scalars["cell_shear_strain"] >= SHEARED
        shear, normal = (np.mean((scalars[f"stress_contact_{axes}"] + scalars[f"stress_kinetic_{axes}"])[late]) for axes in ("xy", "yy"))
        return {"friction [-]": float(-shear / normal), "solid fraction [-]": float(np.mean(scalars["solid_solid_fraction"][late]))}
    if flow.deck == "silo":
        late = samples.time > 0.75 - 1e-9
        return {"rate [1/s]": -float(np.polyfit(samples.time[late], samples.above[late], 1)[0])}
    if flow.deck == "janssen":
        load = samples.columns("_force_floor_z") / (samples.mass * -9.81)
        return {"floor load poured [weight]": samples.average(load, 1.2, 1.4), "floor load sunk [weight]": samples.average(load, 1.8)}
    length = 0.2    # [m], of the column
    return {f"x{share} [L0]": float(np.quantile(samples.position[:, 0], share / 100)) / length for share in (50, 90, 95)}


@dataclass(frozen=True)
class Mean:
    """Of the runs of one law with several seeds; the deviation is the standard deviation over seeds, 0 for one."""
    value: float
    deviation: float
    n: int

    @property
    def error(self):
        return self.deviation / math.sqrt(self.n) if self.n > 1 else 0.0

    def __str__(self):
        return f"{self.value:.4g}" if self.n < 2 else f"{self.value:.4g}+-{self.error:.2g}"


def mean_of_seeds(values):
    """None for no values."""
    if len(values) == 0:
        return None
    return Mean(float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0, len(values))


def at_infinite_stiffness(stiffness, values):
    """The value at infinite stiffness of values at stiffnesses k: the straight line over k^(-1/2), to which the duration of a contact is
    proportional, at 0. Least squares. At least two of each."""
    return float(np.polyfit(np.asarray(stiffness, float)**-0.5, values, 1)[1])


def agree(found, reference):
    """Whether two means agree: within 3 % of the second or twice the scatter of seeds, whichever is more. A mean of one seed has the
    scatter of the other."""
    found_scatter = found.deviation if found.n > 1 else reference.deviation
    reference_scatter = reference.deviation if reference.n > 1 else found.deviation
    return abs(found.value - reference.value) <= max(0.03 * abs(reference.value), 2 * math.hypot(found_scatter, reference_scatter))


class FlowTable(Checks):
    """What came of a case: shows a row per quantity, checks it, and keeps the number of every run as CSV."""

    def __init__(self, show, lammps):
        super().__init__(show, ("case", "law", "seed", "quantity", "value", "seconds"))
        self.lammps = defaultdict(list)
        for case, _, quantity, value in lammps:
            self.lammps[case, quantity].append(float(value))
        self.runs = {}      # of the present case: {quantity: {law: values}}
        show("Dense flows with rigid, elastic and soft contact; means over seeds and their standard errors.\n"
             "rigid dt/4: a quarter of the step. dem 1/0: extrapolated to infinite stiffness. Columns at the end: whether dem agrees with\n"
             "LAMMPS, and elastic with dem, within 3 % or twice the scatter of seeds.\n")
        self.show_columns("case", "quantity", "rigid", "rigid dt/4", "dem 1/0", "elastic", "dem", "LAMMPS", "LAMMPS", "elastic")

    def show_columns(self, case, quantity, *columns):
        *means, first, second = columns
        self.show(f"{case:<13} {quantity:<34} " + " ".join(f"{str(mean):>16}" for mean in means) + f" {first:>6} {second:>8}")

    def add(self, case, law, seed, numbers, seconds=0.0):
        """The numbers of a run, which took this many seconds."""
        for quantity, value in numbers.items():
            self.record(case, law.name, seed, quantity, f"{value:.9g}", f"{seconds:.1f}")
            self.runs.setdefault(quantity, defaultdict(list))[law.name].append(value)
            self.count(math.isfinite(value), f"{case}, {law.name}, seed {seed}: {quantity} is no number")

    def exact(self, case, law, quantity, found, known, bound):
        """A number that is known."""
        self.count(abs(found - known) <= bound,
                   f"{case}, {law.name}: {quantity} = {found:.10g}, expected {known:.10g} within {bound:.1e}")

    def finish_case(self, case, rigid_within=0):
        """All runs of this case have been added: its rows."""
        for quantity, of_law in self.runs.items():
            self._show_row(case, quantity, of_law, rigid_within)
        self.runs = {}

    def _show_row(self, case, quantity, of_law, rigid_within):
        means = {law: mean_of_seeds(values) for law, values in of_law.items()}
        soft, elastic, reference = means.get(SOFT.name), means.get(ELASTIC.name), mean_of_seeds(self.lammps[case, quantity])
        limit = None
        if soft and STIFFER[-1].name in means:
            laws = (SOFT, *STIFFER, STIFFEST)[:4 if STIFFEST.name in means else 3]
            limit = mean_of_seeds([at_infinite_stiffness([law.stiffening for law in laws], values)
                                   for values in zip(*(of_law[law.name] for law in laws))])
            rigid = means.get(RIGID.name)
            self.count(rigid_within == 0 or (rigid and abs(rigid.value / limit.value - 1) <= rigid_within),
                       f"{case}, {quantity}: rigid {rigid}, the limit of dem {limit}, expected within {100 * rigid_within:g} %")

        def compare(found, expected, what):
            if not found or not expected:
                return "-"
            holds = agree(found, expected)
            self.count(holds, f"{case}, {quantity}: {what} {found}, {expected}")
            return "yes" if holds else "NO"

        # One run of dem does not tell its scatter; the seeds of LAMMPS do.
        single = soft and soft.n == 1 and reference and reference.n > 1
        columns = (means.get(RIGID.name), means.get(FINE_RIGID.name), limit, elastic, soft, reference)
        self.show_columns(case, quantity, *(mean or "-" for mean in columns), compare(soft, reference, "dem and LAMMPS are"),
                          compare(elastic, reference if single else soft, f"elastic and {'LAMMPS' if single else 'dem'} are"))


# Two to five spheres, all of the same radius and without friction; no gravity.

STIFFNESS, DURATION = 6500, 0.02                # [N/m]; [s], twenty times that of a contact
RIGID_BOUND, SOFT_BOUND = 1e-8, 1e-3            # shares of the speed of the impact; the second of contacts that are followed in time


@dataclass(frozen=True)
class FlowImpact:
    """The first of the spheres hits the others."""
    name: str
    restitution: float
    on_floor: bool
    positions: list
    speed: float = 1        # downwards [m/s]


def column(name, n, restitution, on_floor=False):
    """n spheres that touch, in a column."""
    return FlowImpact(name, restitution, on_floor, [[0, 0, DIAMETER * (0.5 + n - 1 - i)] for i in range(n)])


# "break": one sphere on two that touch, in the middle. Slow, so that overlaps turn the normals by little.
IMPACTS = (column("binary", 2, 0.5), column("ternary", 3, 0.5, on_floor=True),
           FlowImpact("break", 0.5, False, [[0, 0, DIAMETER * math.sqrt(0.75)], [-DIAMETER / 2, 0, 0], [DIAMETER / 2, 0, 0]], 0.05),
           column("cradle", 5, 1))


def impact_deck(impact, law):
    dt = 1e-3 if law.rigid else 1e-6 if law.soft else 1e-5
    # Rigid: one step, after which all part or move alike. Further ones would be solved relative to round-off.
    deck = GrainDeck([-0.1] * 3, [0.1] * 3, dt, 1 if law.rigid else round(DURATION / dt))
    if law.soft:
        deck.soft(law="linear", attraction=False)
    if not law.rigid:
        deck.pair_keys = {"stiffness": STIFFNESS}
    deck.material("glass", 2500)
    deck.pair("glass", "glass", 0, impact.restitution)
    if impact.on_floor:
        deck.floor("glass")
    for i, position in enumerate(impact.positions):
        deck.add("glass", position, DIAMETER / 2, velocity=[0, 0, -impact.speed] if i == 0 else None)
    deck.tables["output"]["certificate"] = {"every_steps": 10**9}
    return deck


def restitution_at(e, share):
    """Of a linear spring with a damper that never pulls and gives a pair of equal spheres the restitution e: the restitution where the
    effective mass is `share` of theirs. The force falls to 0 after the time t."""
    beta = impact_damping(e).share / math.sqrt(share)
    omega = math.sqrt(1 - beta**2)
    return math.exp(-beta * (math.pi - math.atan2(2 * beta * omega, 1 - 2 * beta**2)) / omega)


def known_velocities(impact, law):
    """Along z [m/s]; [] where no closed form is known."""
    if impact.name == "binary":
        return [-0.25, -0.75]
    # Newton's law with e where spheres approach and 0 where they touch at rest, as the scheme has it.
    if law.rigid and impact.name == "ternary":
        return [0.5, 0, 0]
    if law.rigid and impact.name == "cradle":
        return [0.6, -0.4, -0.4, -0.4, -0.4]
    if impact.name == "break":
        # Impulses p at both contacts, along cos = sqrt(3)/2: their speed changes by p/m (1 + 2 cos^2) = (1 + e) cos. Soft: the effective
        # mass of each is 1/(1 + 2 cos^2) instead of 1/2.
        p = (1 + (0.5 if law.rigid else restitution_at(0.5, 2 / 2.5))) * math.sqrt(0.75) / 2.5
        return [-impact.speed * share for share in (1 - 2 * p * math.sqrt(0.75), p * math.sqrt(0.75), p * math.sqrt(0.75))]
    return []


def run_impacts(laboratory, table):
    for impact in IMPACTS:
        laws = (RIGID, ELASTIC, SOFT)
        for law, course in zip(laws, laboratory.run_all([impact_deck(impact, law) for law in laws])):
            velocities = course.bodies().velocity[:, 2]
            numbers = {f"v of {i + 1} [m/s]": float(v) for i, v in enumerate(velocities)}
            table.add(impact.name, law, 1, numbers)
            for (quantity, found), known in zip(numbers.items(), known_velocities(impact, law)):
                table.exact(impact.name, law, quantity, found, known, (RIGID_BOUND if law.rigid else SOFT_BOUND) * impact.speed)
        table.finish_case(impact.name)


def run_flow(laboratory, table, flow):
    laws = [RIGID, ELASTIC, SOFT]
    if flow.stiffer and not laboratory.quick:
        laws += [FINE_RIGID, *STIFFER] + [STIFFEST] * (flow.rigid_within > 0)
    for law in laws:
        n_seeds = 1 if laboratory.quick and law is not ELASTIC else flow.n_seeds
        for seed in range(1, n_seeds + 1):
            try:
                course = laboratory.run(flow.deck_for(laboratory, law, seed))
            except RunError as error:
                table.count(False, f"{flow.name}, {law.name}: the run ended early: {error}")
                continue
            table.add(flow.name, law, seed, numbers_of(flow, Samples(course)), course.results.summary["wall_s"])
    table.finish_case(flow.name, flow.rigid_within)


def verify(laboratory, group, csv, show):
    table = FlowTable(show, laboratory.table("flows/lammps.csv", "case,seed,quantity,value"))
    if group in ("all", "impacts"):
        run_impacts(laboratory, table)
    for flow in FLOWS:
        of = flow.group or flow.deck
        if (group == of or group == "all" and of != SLOW_SHEAR) and (flow.quick or not laboratory.quick):
            run_flow(laboratory, table, flow)
    show("")
    return table.finish(csv)
