"""Impacts with elastic contacts: Hertz's impact, and where surfaces slip, the answers of impulses.

Source of cases and materials: Y. C. Chung and J. Y. Ooi, Granular Matter 13 (2011) 643, tests 1 to 8.
"""
import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from scree.verify.checks import Row
from scree.verify.impacts import (ASIDE, DOWN, OBLIQUE, Impact, Movement, RigidImpact, Sphere, chung_3, chung_4, chung_5, chung_6, chung_7,
                                  chung_8, demand_split_pair, impact_deck, last_arrival, watch_ranks)
from scree.verify.numbers import norm

NORMAL_BOUND = 0.01         # of overlap, force and contact time
REBOUND_BOUND = 0.005       # of e
OBLIQUE_BOUND = 0.02        # of changes along the surfaces
STEPS_PER_CONTACT = 200


@dataclass(frozen=True)
class Solid:
    """A material of the tests: Young's modulus [Pa] and Poisson's ratio, density [kg/m3]."""
    name: str
    elasticity: tuple
    density: float


GLASS, LIMESTONE = Solid("glass", (48e9, 0.20), 2800), Solid("limestone", (20e9, 0.25), 2500)
ALLOY, MAGNESIUM = Solid("Al alloy", (70e9, 0.30), 2699), Solid("Mg alloy", (40e9, 0.35), 1800)
OXIDE, IRON = Solid("Al oxide", (380e9, 0.23), 4000), Solid("cast iron", (100e9, 0.25), 7000)
ALLOY_4, COPPER = Solid("Al alloy", (70e9, 0.33), 2700), Solid("copper", (120e9, 0.35), 8900)
STEEL, POLYETHYLENE = Solid("steel", (208e9, 0.30), 7850), Solid("polyethylene", (1e9, 0.40), 1400)
NYLON = Solid("nylon", (2.5e9, 0.40), 1000)


class HertzImpact:
    """Elastic impact of two spheres of one solid, or of one with a rigid plane: H. Hertz, J. reine angew. Math. 92 (1881) 156. Overlap
    d = (15 m* v^2 / (16 E* sqrt(R*)))^(2/5), force 4/3 E* sqrt(R*) d^(3/2), contact for 2.943275 d / v."""

    def __init__(self, impact, elasticity):
        one_side = elasticity[0] / (1 - elasticity[1]**2)
        a, b, v = impact.a.radius, impact.b and impact.b.radius, impact.approach
        stiffness = 0.5 * one_side * math.sqrt(a * b / (a + b)) if b else one_side * math.sqrt(a)
        self.overlap = (15 * v * v / (16 * impact.inverse_mass * stiffness))**0.4
        self.force = 4 / 3 * stiffness * self.overlap**1.5
        self.duration = 2.943275 * self.overlap / v


@dataclass
class SoftBox:
    """How impacts are run: `longest`: time in contact, about [s]; `gap`: to close at first [m]; `dt` [s]."""
    longest: float
    gap: float
    dt: float
    elasticity: tuple | None = None
    pair_keys: dict | None = None
    law: str = "hertz"
    attraction: bool = True


@dataclass
class Course:
    """What became of the impacts of a box: Movements of each, afterwards; largest overlap [m] and force [N] of all, and the number of
    steps in contact, where they were watched."""
    a: list
    b: list
    overlap: float = 0
    force: float = 0
    n_touching: float = 0


def run_soft(laboratory, table, name, impacts, soft, watch=False):
    # Damped contacts last longer than elastic ones.
    duration = last_arrival(impacts, soft.gap) + 2.5 * soft.longest
    deck = impact_deck(impacts, soft.gap, soft.dt, round(duration / soft.dt), soft.elasticity, soft.pair_keys)
    deck.soft(law=soft.law, attraction=soft.attraction)
    if watch:
        deck.measure("contact_status")
    else:
        deck.tables["output"]["certificate"] = {"every_steps": 10**9}
    watch_ranks(laboratory, deck)
    ran = laboratory.run(deck)
    demand_split_pair(laboratory, table, name, impacts, ran)
    table.demand(name, ran.certificate["contacts"][-1] == 0, "some have not parted at the end")
    found = ran.bodies()
    movements = map(Movement, found.velocity, found.spin)
    course = Course([], [])
    for impact in impacts:
        course.a.append(next(movements))
        course.b.append(next(movements) if impact.b else Movement())
    if watch:
        course.overlap = ran.certificate["max_overlap"].max()
        course.n_touching = ran.certificate["contacts"][1:].sum()
        course.force = np.nanmax(ran.scalars["contact_status_mean_force"])      # of the only contact that there is
    return course


def hertz_box(impacts, solid, **keys):
    elastic = [HertzImpact(impact, solid.elasticity) for impact in impacts]
    durations = [impact.duration for impact in elastic]
    return SoftBox(max(durations), 0.02 * max(impact.overlap for impact in elastic), min(durations) / STEPS_PER_CONTACT,
                   solid.elasticity, **keys)


def rebound(impact, a, b):
    """Speed of parting over that of approach."""
    parting = -(a.velocity - b.velocity) @ impact.normal
    return Row("restitution [-]", impact.variant, impact.e, float(parting) / impact.approach, REBOUND_BOUND)


def elastic(laboratory, table, test, solid, impact):
    """Tests 1 and 2: the impact itself."""
    name, impact = f"Chung {test}, soft", replace(impact, variant=solid.name)
    soft = hertz_box([impact], solid)
    course = run_soft(laboratory, table, name, [impact], soft, watch=True)
    expected = HertzImpact(impact, solid.elasticity)

    def compare(quantity, value, found):
        return Row(quantity, impact.variant, value, found, NORMAL_BOUND * value)

    table.add(name, [compare("overlap [um]", 1e6 * expected.overlap, 1e6 * course.overlap),
                     compare("force [kN]", 1e-3 * expected.force, 1e-3 * course.force),
                     compare("contact [us]", 1e6 * expected.duration, 1e6 * course.n_touching * soft.dt),
                     rebound(impact, course.a[0], course.b[0])])


# Share of the overlap by which the lever of friction is shorter than the radius, as a mean over an elastic impact on a plane:
# B(7/5, 1/2)/2, weighted with the normal force.
MEAN_OVERLAP_RATIO = 0.8176


def oblique_rows(impact, solid, a, b):
    """Rows of an impact with friction, and the share of the slip that is reversed (None where that is known)."""
    expected = RigidImpact(impact)
    across, r = np.cross(impact.normal, expected.tangent), impact.a.radius
    shorter = MEAN_OVERLAP_RATIO * HertzImpact(impact, solid.elasticity).overlap / r
    lever = 1 - (0.5 * shorter if impact.b else shorter)      # over r
    slip = impact.slip_at_start
    v_t = float((a.velocity - impact.a.start.velocity) @ expected.tangent)
    turn = float((a.spin - impact.a.start.spin) @ across)
    if norm(slip) < 1e-9 * impact.approach:
        return [Row("v_t, gears [m/s]", impact.variant, 0, v_t, 1e-10),
                Row("spin change, gears [rad/s]", impact.variant, 0, turn, 1e-10 / r)], None
    rows = [Row("r spin / velocity change [-]", impact.variant, 2.5 * lever, abs(r * turn / v_t), 2.5 * (OBLIQUE_BOUND + shorter))]
    if expected.slips:
        change = float((expected.a.velocity - impact.a.start.velocity) @ expected.tangent)
        return rows + [Row("v_t change, slips [m/s]", impact.variant, change, v_t, OBLIQUE_BOUND * abs(change))], None
    return rows, -float(impact.slip(a, b) @ slip) / float(slip @ slip)


def oblique_impacts(laboratory, table, test, solid, impacts, attraction=True):
    """Tests 3 to 8: rebound; where surfaces slip to the end, or not at all, the answers of impulses; else what holds of any friction at
    one point."""
    name = f"Chung {test}" + (", soft" if attraction else ", no pull")
    course = run_soft(laboratory, table, name, impacts, hertz_box(impacts, solid, attraction=attraction))
    rows, max_reversed, where = [], -1, ""
    for impact, a, b in zip(impacts, course.a, course.b):
        impact = replace(impact, variant=f"{solid.name}, {impact.variant}")
        rows.append(rebound(impact, a, b))
        if impact.mu == 0:
            continue
        more, reversed_share = oblique_rows(impact, solid, a, b)
        rows += more
        if reversed_share is not None and reversed_share > max_reversed:
            max_reversed, where = reversed_share, impact.variant
    # Bodies recoil along their surfaces, as rigid ones do not: "of order 0.3" of the slip if they are elastic.
    if where and impacts[0].e > 0.9:
        rows.append(Row("slip reversed, at most [-]", where, 0.3, max_reversed, 0.15))
    table.add(name, rows)


def linear_springs(laboratory, table):
    """Linear law without sliding: two oscillators with the masses m* and 2/7 m*, J. Schaefer, S. Dippel and D. E. Wolf, J. Phys. I France 6
    (1996) 5. After half a period of the normal one, t = pi/w, the slip is
        u = u_0 exp(-b t) (cos w_T t - b/w_T sin w_T t),  b = gamma_T/(2 m_T),  w_T^2 = k_T/m_T - b^2."""
    stiffness, r, slow, name, rows = 1e5, 0.01, 0.02, "linear law, no sliding", []
    for ratio in (2 / 7, 1 / 7):
        for e in (1.0, 0.5):
            impact = Impact(f"k_T/k = {ratio:.4f}, e = {e:g}", OBLIQUE, Sphere(r, 2500, Movement(0.1 * OBLIQUE + slow * ASIDE)),
                            Sphere(r, 2500, Movement(-0.1 * OBLIQUE)), 1e3, e)
            mass = 1 / impact.inverse_mass
            share = -math.log(e) / math.hypot(math.log(e), math.pi)     # of critical damping
            time = math.pi / math.sqrt(stiffness / mass * (1 - share**2))
            mass_t = 2 * mass / 7
            b = share * math.sqrt(ratio * stiffness * mass) / mass_t
            w = math.sqrt(ratio * stiffness / mass_t - b * b)
            left = math.exp(-b * time) * (math.cos(w * time) - b / w * math.sin(w * time))
            soft = SoftBox(time, 1e-3 * time * impact.approach, time / 1000, law="linear",
                           pair_keys={"stiffness": stiffness, "tangential_ratio": ratio})
            course = run_soft(laboratory, table, name, [impact], soft, watch=True)
            slip = impact.slip_at_start
            after = impact.slip(course.a[0], course.b[0])
            rows += [rebound(impact, course.a[0], course.b[0]),
                     Row("slip left [-]", impact.variant, left, float(after @ slip) / float(slip @ slip), 0.01),
                     Row("contact [ms]", impact.variant, 1e3 * time, 1e3 * course.n_touching * soft.dt, 10 * time)]
    table.add(name, rows)


def soft_impact_cases(_laboratory):
    cases = []
    for solid in (GLASS, LIMESTONE):
        a, b = (Sphere(0.01, solid.density, Movement(v * OBLIQUE)) for v in (10, -10))
        cases.append(partial(elastic, test="1, head-on", solid=solid, impact=Impact("", OBLIQUE, a, b, 0.35, 1)))
    for solid in (ALLOY, MAGNESIUM):
        impact = Impact("", DOWN, Sphere(0.1, solid.density, Movement(0.2 * DOWN)), None, 0, 1)
        cases.append(partial(elastic, test="2, plane", solid=solid, impact=impact))
    # A normal force that pulls as bodies part has friction, too: where damping is strong, the impulse of friction is mu times that of
    # the normal force only if nothing pulls.
    for test, solids, impacts, pulls in (("3, plane", (OXIDE, IRON), chung_3, (True, False)), ("4, oblique", (OXIDE, ALLOY_4), chung_4, (True,)),
                                         ("5, tangential", (STEEL, POLYETHYLENE), chung_5, (True,)),
                                         ("6, spinning", (ALLOY_4, NYLON), chung_6, (False,)),
                                         ("7, gears", (ALLOY_4, COPPER), chung_7, (False,)),
                                         ("8, two spheres", (ALLOY_4, NYLON), chung_8, (False,))):
        cases += [partial(oblique_impacts, test=test, solid=solid, impacts=impacts(solid.density), attraction=attraction)
                  for solid in solids for attraction in pulls]
    return [*cases, linear_springs]
