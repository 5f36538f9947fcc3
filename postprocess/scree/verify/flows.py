"""Dense flows with rigid, elastic and soft contact, against each other and against LAMMPS (scripts/flows-lammps.py has the same cases)."""
import math
from collections import defaultdict
from dataclasses import dataclass, field

from scree.deck import Deck
from scree.errors import RunError
from scree.verify.checks import Checks
from scree.verify.flow_numbers import DIAMETER, SHEARED, Samples, agree, at_infinite_stiffness, mean_of_seeds, numbers_of
from scree.verify.grain_deck import GrainDeck
from scree.verify.numbers import impact_damping

SAMPLE_EVERY = 0.01                         # [s]
SOFT_STEP, ELASTIC_STEP = 5e-5, 5e-4        # [s], of the decks' stiffness; a contact lasts twenty times the first
FEW, MANY = 3, 6                            # seeds; the second with --full


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
STIFFER = tuple(Law(f"dem {k}k", soft=True, stiffening=k) for k in (4, 16, 64))
STIFF_ELASTIC = Law("elastic 16k", stiffening=16)


@dataclass(frozen=True)
class Flow:
    """A deck of inputs/flows. `quick`: runs if only quick cases are asked for; `stiffer`: with --full also rigid with a quarter of the
    step, and with up to 64 times the stiffness. `tables`: in place of those of the deck."""
    name: str
    deck: str
    stiffness: float = 6500     # [N/m], of the deck
    rigid_step: float = 2e-3    # [s]
    quick: bool = False
    stiffer: bool = False
    long: bool = False          # runs with --full only
    n_seeds: int = FEW
    keys: dict = field(default_factory=dict, hash=False)
    tables: dict = field(default_factory=dict, hash=False)

    def laws(self, extent):
        """All laws, the quick ones first."""
        stiffer = (STIFF_ELASTIC, FINE_RIGID, *STIFFER) if self.stiffer and extent.full else ()
        return [law for law in (RIGID, ELASTIC, SOFT, *stiffer) if extent.has(self.name, law.name)]

    def seeds(self, law, laboratory):
        if laboratory.quick and law is not ELASTIC:
            return range(1, 2)
        n_seeds = MANY if laboratory.extent.full and self.stiffer else self.n_seeds
        return range(1, 1 + (laboratory.extent.n_seeds or n_seeds))

    def deck_for(self, laboratory, law, seed):
        deck = Deck(laboratory.source / f"inputs/flows/{self.deck}.toml")
        keys = self.keys | {"simulation.seed": seed, "simulation.scheme": "dem" if law.soft else "nonsmooth",
                            "pairs.glass-glass.stiffness": "rigid" if law.rigid else law.stiffening * self.stiffness,
                            "time.step": self.rigid_step / law.shortening if law.rigid else
                            (SOFT_STEP if law.soft else ELASTIC_STEP) / math.sqrt(law.stiffening)}
        for key, value in keys.items():
            deck[key] = value
        deck.tables |= self.tables
        kept = laboratory.extent.folder is not None
        deck["output"] = {"h5md": {"every": SAMPLE_EVERY}, "certificate": {"every_steps": 10**9},
                          "checkpoint": {"wall_time": 120 if kept else 0}}
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


def shear(inertial_number):
    """A domain that is sheared 10 times its height, 5 times where it is slow, after its first two."""
    rate = inertial_number / (DIAMETER * math.sqrt(2500 / 650))
    return Flow(f"shear {inertial_number:g}", "shear", rigid_step=1e-3, stiffer=True, long=inertial_number < 5e-3,
                keys={"domain.deformation.shear_rate": rate,
                      "simulation.end_time": round((SHEARED + (10 if inertial_number > 0.02 else 5)) / rate, 3)})


SMOOTH_DRUM = {"obstacles": {"wall": {"type": "disk", "center": [0, 0], "radius": 0.1, "side": "inside", "material": "glass",
                                      "motion": {"type": "rotate", "center": [0, 0], "rate": -1}}}}
FLOWS = (Flow("layers", "layers", quick=True, stiffer=True), Flow("chute", "chute", stiffer=True), *(collapse(aspect) for aspect in (0.5, 1, 2, 4)),
         Flow("drum", "drum", 9.7e5, 1e-3, stiffer=True), Flow("smooth drum", "drum", 9.7e5, 1e-3, stiffer=True, tables=SMOOTH_DRUM),
         Flow("silo", "silo"), Flow("Janssen", "janssen", stiffer=True, n_seeds=6),
         *(shear(number) for number in (0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4)))


@dataclass(frozen=True)
class LimitBand:
    """How far rigid contact may be from the limit of stiff springs: shares of it at the deck's step and at a quarter, and twice the scatter
    of seeds, where that is more and it counts: `scatters`."""
    share: float
    share_of_fine: float
    scatters: tuple = (0, 2)


# Written down before the first run of these rows.
STEADY_FLOW, TUBE, CELL = LimitBand(0.05, 0.03), LimitBand(0.05, 0.05, (0, 0)), LimitBand(0.03, 0.03, (0, 0))
BANDS = {"transport [m/s]": STEADY_FLOW, "transport [1/s]": STEADY_FLOW, "torque [N m]": STEADY_FLOW,
         "angle of the centre of mass [deg]": STEADY_FLOW, "x95 [L0]": STEADY_FLOW, "floor load poured [weight]": TUBE,
         "floor load sunk [weight]": LimitBand(0.05, 0.05, (2, 2)), "friction [-]": CELL, "solid fraction [-]": CELL}
# Rows that are known not to hold, {(case, quantity, law): why}; numbers in docs/verification.md.
GUESS = "impacts and the first guess of the solver move what rests"
IMPACTS = "impacts of a long step end in one inelastic solve"
STEP = "what is left goes with the step, slower than in proportion"
MISSED = {("Janssen", "floor load poured [weight]", "rigid"): GUESS, ("Janssen", "floor load poured [weight]", "rigid dt/4"): GUESS,
          ("chute", "transport [m/s]", "rigid"): IMPACTS, ("layers", "transport [m/s]", "rigid"): STEP,
          ("layers", "transport [m/s]", "rigid dt/4"): STEP}


ROW = "{:<13} {:<34} {:<12} {:>5} {:>11} {:>8} {:>8}  {:<19} {}"     # of the report
FILE_NAME = str.maketrans(" /", "__")


class FlowTable(Checks):
    """What came of a case: shows a row per quantity, checks it, and keeps the number of every run as CSV."""

    def __init__(self, show, lammps):
        super().__init__(show, ("case", "law", "seed", "quantity", "value", "seconds"))
        self.lammps = defaultdict(list)
        for case, _, quantity, value in lammps:
            self.lammps[case, quantity].append(float(value))
        self.runs = {}      # of the present case: {quantity: {law: values}}
        show("Dense flows with rigid, elastic and soft contact: means over seeds, standard errors, standard deviations of seeds.\n"
             "rigid dt/4: a quarter of the step. dem 1/0: the line over dem with 1, 4, 16, 64 times the stiffness at infinite stiffness, seed\n"
             "by seed. Agreement: within 3 % or twice the scatter of seeds; rigid with dem 1/0: see scree/verify/flows.py. Missed: known to be.\n")
        show(ROW.format("case", "quantity", "law", "seeds", "mean", "error", "scatter", "held against", "holds"))

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

    def finish_case(self, case):
        """All runs of this case have been added: its rows."""
        for quantity, of_law in self.runs.items():
            self._show_row(case, quantity, of_law)
        self.runs = {}

    def _show_row(self, case, quantity, of_law):
        means = {law: mean_of_seeds(values) for law, values in of_law.items()}
        means["LAMMPS"] = mean_of_seeds(self.lammps[case, quantity])
        laws = (SOFT, *STIFFER)
        if all(law.name in means for law in laws):
            means["dem 1/0"] = mean_of_seeds([at_infinite_stiffness([law.stiffening for law in laws], values)
                                              for values in zip(*(of_law[law.name] for law in laws))])
        # One run of dem does not show its scatter; the seeds of LAMMPS do, where it has the quantity.
        soft, elastic, lammps = means.get(SOFT.name), means.get(ELASTIC.name), means["LAMMPS"]
        base = SOFT.name
        if soft and elastic and soft.n == 1 < elastic.n:
            base = "LAMMPS" if lammps else None
        against = {SOFT.name: ("LAMMPS",), ELASTIC.name: (base,), STIFF_ELASTIC.name: ("dem 16k",)}
        if quantity in BANDS:
            band = BANDS[quantity]
            against |= {law.name: ("dem 1/0", share, scatters) for law, share, scatters in
                        zip((RIGID, FINE_RIGID), (band.share, band.share_of_fine), band.scatters)}
        for law, mean in means.items():
            if mean:
                expected, *band = against.get(law, (None,))
                words = self._compare(case, quantity, law, mean, expected, means.get(expected), band)
                self.show(ROW.format(case, quantity, law, mean.n, f"{mean.value:.4g}", *(f"{x:.2g}" if mean.n > 1 else "" for x in (
                    mean.error, mean.deviation)), *words).rstrip())

    def _compare(self, case, quantity, law, mean, expected, reference, band):
        """Checks a mean against another; returns the words for it. Where few seeds ran, a mark of what is missed asks for nothing."""
        if not reference:
            return "", ""
        holds = agree(mean, reference, *band)
        missed = MISSED.get((case, quantity, law), "")
        if holds and mean.n < FEW:
            missed = ""
        self.count(holds, f"{case}, {quantity}: {law} {mean}, {expected} {reference}", missed)
        return f"{expected} {reference.value:.4g}", "yes" if holds else "missed" if missed else "NO"


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
    def run_one(job):
        law, seed = job
        try:
            course = laboratory.keep(flow.deck_for(laboratory, law, seed), f"{flow.name}_{law.name}_{seed}".translate(FILE_NAME))
            return course and (numbers_of(flow, Samples(course)), course.results.summary["wall_s"])
        except RunError as error:
            return error

    jobs = [(law, seed) for law in flow.laws(laboratory.extent) for seed in flow.seeds(law, laboratory)]
    for (law, seed), found in zip(jobs, laboratory.each(run_one, jobs)):
        if isinstance(found, RunError):
            table.count(False, f"{flow.name}, {law.name}: the run ended early: {found}")
        elif found:
            table.add(flow.name, law, seed, *found)
    table.finish_case(flow.name)


def verify(laboratory, group, csv, show):
    table = FlowTable(show, laboratory.table("flows/lammps.csv", "case,seed,quantity,value"))
    if group in ("all", "impacts") and laboratory.extent.has("impacts"):
        run_impacts(laboratory, table)
    for flow in FLOWS:
        if group in ("all", flow.deck) and (flow.quick or not laboratory.quick) and (laboratory.extent.full or not flow.long):
            run_flow(laboratory, table, flow)
    show("")
    holds = table.finish(csv)
    if laboratory.stopped:
        show("Some runs were stopped before their end: the same command goes on.")
    return holds
