"""Tests of NIST Technical Note 1822 (E. Ronchi, E. D. Kuligowski, P. A. Reneke, R. D. Peacock, D. Nilsson, The process of
verification and validation of building fire evacuation models, 2013), several of which are those of IMO MSC/Circ.1238
(2007), and the fundamental diagram of ISO 20414:2020.

Single persons walk 10 m before and after the measured length. Exits take people behind the opening. Where the source
leaves something open, the docstring of the test says how it is read here.

    python3 tests/vv/test_nist.py --bin build/release/bin [--report] [function...]
"""
import math

import numpy as np

from crowd_runs import (Criteria, cabins_run, corner_run, crossing_time, crowd_deck, flow_between,
                        kolmogorov_smirnov, normal_cdf, rectangle, run_crowd, wkt)
from decks import constant

CRITERIA = Criteria("NIST TN 1822, ISO 20414", expected_failures={
    "5.2": "calibrated to experiments, 1.8 to 1.9 /s at a door of 1 m, above the design value of the test"})

_ROOM_WITH_DOOR = "POLYGON((0 0, 8 0, 8 2, 9 2, 9 3, 8 3, 8 5, 0 5, 0 0))"


def _corridor(length, width):
    return wkt(rectangle(0, 0, length, width))


# ---- movement of one

def test_2_1_speed_in_a_corridor(folder):
    """NIST 2.1 (IMO 1): one person at 1.0 m/s takes 40 s along 40 m. Here the speed to 0.05 m/s."""
    deck = crowd_deck(_corridor(60, 2), end_time=100.0, fps=10, exits={"end": {"line": [[60, 0], [60, 2]]}},
                      agents={"one": {"speed": constant(1.0), "radius": constant(0.19)}},
                      populations={"one": {"count": 1, "region": rectangle(0.5, 0.9, 0.7, 1.1)}})
    times, positions = run_crowd(folder, deck).tracks[0]
    taken = crossing_time(times, positions[:, 0], 50) - crossing_time(times, positions[:, 0], 10)
    CRITERIA.row("2.1", "NIST 2.1, IMO 1", "40 m in 40 s: speed 1.0 m/s +- 0.05 m/s",
                 f"{taken:.3f} s, {40 / taken:.4f} m/s", abs(40 / taken - 1) <= 0.05)


def test_2_3_corner(folder):
    """NIST 2.3 (IMO 6): 20 persons walk around a corner to the left without passing through walls."""
    corner_run(folder, CRITERIA, "2.3", "NIST 2.3, IMO 6")


def test_2_4_assigned_speeds(folder):
    """NIST 2.4 (IMO 7): speeds of 100 persons follow the distribution that they were assigned, N(1.2 m/s, 0.2 m/s). Here
    each walks in a lane of its own; mean and deviation of the speeds found over 40 m are within 0.05 m/s, and a
    Kolmogorov-Smirnov test does not refuse them at 5 %."""
    lanes = {f"lane_{k}": {"count": 1, "region": rectangle(0.5, y - 0.005, 0.51, y + 0.005)}
             for k, y in enumerate(0.5 + 0.5 * np.arange(100))}
    deck = crowd_deck(_corridor(60, 50.5), end_time=200.0, fps=4, exits={"end": {"line": [[60, 0], [60, 50.5]]}},
                      agents={"adult": {"speed": {"distribution": "normal", "mean": 1.2, "deviation": 0.2, "max": 2.4},
                                        "radius": constant(0.19)}}, populations=lanes)
    speeds = [40 / (crossing_time(times, positions[:, 0], 50) - crossing_time(times, positions[:, 0], 10))
              for times, positions in run_crowd(folder, deck).tracks.values()]
    mean, deviation = float(np.mean(speeds)), float(np.std(speeds, ddof=1))
    p = kolmogorov_smirnov(speeds, lambda x: normal_cdf(x, 1.2, 0.2))
    CRITERIA.row("2.4", "NIST 2.4, IMO 7", "mean 1.2 and deviation 0.2 within 0.05 m/s; KS: p > 0.05",
                 f"{mean:.3f}, {deviation:.3f} m/s, p = {p:.2f}",
                 len(speeds) == 100 and abs(mean - 1.2) <= 0.05 and abs(deviation - 0.2) <= 0.05 and p > 0.05)


# ---- groups against each other

def test_2_8_counterflow(folder):
    """NIST 2.8 (IMO 8): two rooms of 10 m x 10 m joined by a corridor of 10 m x 2 m. 100 persons of the left 2.5 m of
    the first room walk to the second one, from which 0, 10, 50 or 100 come towards them out of its right part, as
    dense. The time at which the last of the 100 enters the second room rises with each number. Here with each of
    three seeds, and everybody gets through. People step aside, with the given values of [crowd.avoidance]."""
    plan = wkt(rectangle(0, 0, 10, 10), rectangle(9.9, 4, 20.1, 6), rectangle(20, 0, 30, 10))
    for seed in (1, 2, 3):
        times, inside = [], []
        for count in (0, 10, 50, 100):
            populations = {"first": {"count": 100, "region": rectangle(0, 0, 2.5, 10), "journey": "to_the_right"}}
            if count:
                populations["second"] = {"count": count, "region": rectangle(30 - 0.025 * count, 0, 30, 10),
                                         "journey": "to_the_left"}
            deck = crowd_deck(plan, end_time=600.0, fps=2, seed=seed, populations=populations,
                              crowd={"max_sweeps": 20000, "avoidance": {}},
                              exits={"right": {"line": [[30, 0], [30, 10]]}, "left": {"line": [[0, 0], [0, 10]]}},
                              journeys={"to_the_right": {"steps": [{"exits": ["right"]}]},
                                        "to_the_left": {"steps": [{"exits": ["left"]}]}})
            run = run_crowd(folder, deck, name=f"against_{count}_{seed}", empty=False)
            entered = [crossing_time(moments, positions[:, 0], 20) for moments, positions in run.tracks.values()
                       if positions[0, 0] < 10]
            times.append(max(entered) if np.isfinite(entered).all() else math.inf)
            inside.append(run.evacuation["still_inside"])
        CRITERIA.row(f"2.8, seed {seed}", "NIST 2.8, IMO 8", "last of the 100 later with 0, 10, 50, 100; nobody stuck",
                     ", ".join(f"{time:.1f}" for time in times) + f" s; {sum(inside)} stuck",
                     all(b > a for a, b in zip(times, times[1:])) and math.isfinite(times[-1]) and not any(inside))


def _group_of_five(folder, name, **groups):
    """The times at which a group of NIST 2.9 leaves, sorted, and how far apart along the route it ever was."""
    plan = wkt(rectangle(0, 0, 5, 4), rectangle(4.9, 1, 15.1, 3), rectangle(15, 0, 20, 4))
    kinds = {"able": {"speed": constant(1.25), "radius": constant(0.2)},
             "slow": {"speed": constant(0.5), "radius": constant(0.2)}}
    deck = crowd_deck(plan, end_time=200.0, fps=4, exits={"door": {"line": [[20, 1.5], [20, 2.5]]}}, agents=kinds,
                      populations={"group": {"agents": ["able", "slow"], "shares": [4, 1], "count": 5,
                                             "region": rectangle(0.5, 0.5, 4, 3.5), **groups}})
    # The one of five who is slow is drawn: the first seed with one alone.
    for seed in range(1, 50):
        deck["simulation"]["seed"] = seed
        run = run_crowd(folder, deck, name=f"{name}_{seed}")
        if sorted(run.agents["desired_speed"]) == [0.5, 1.25, 1.25, 1.25, 1.25]:
            return run
    raise AssertionError("no seed makes one of five slow")


def test_2_9_group(folder):
    """NIST 2.9 (ISO 20414, 14): four persons of 1.25 m/s and one of 0.5 m/s, who are a group, walk from one room through
    a corridor of 10 m to another and leave by a door of 1 m: all within 10 s of each other. Without groups, for
    comparison, the slow one comes more than 10 s later."""
    together = _group_of_five(folder, "group", groups={"sizes": [5]})
    apart = _group_of_five(folder, "no_group")
    spread = {name: float(np.ptp(run.left())) for name, run in (("group", together), ("none", apart))}
    CRITERIA.row("2.9", "NIST 2.9, ISO 20414 14", "all five leave within 10 s", f"{spread['group']:.2f} s",
                 spread["group"] <= 10)
    CRITERIA.row("2.9 without", "NIST 2.9, ISO 20414 14", "without groups they do not", f"{spread['none']:.2f} s",
                 spread["none"] > 10)
    CRITERIA.row("2.9 group", "NIST 2.9, ISO 20414 14", "one group in agents.csv", str(sorted(set(together.agents["group"]))),
                 len(set(together.agents["group"])) == 1)


def test_2_9_counterflow(folder):
    """A group in counterflow (our own): 12 persons in groups of four meet 40 others in a corridor of 20 m x 2.5 m.
    Members of a group leave within 10 s of each other, as in NIST 2.9, and are never farther apart along the corridor
    than twice the reach of 3 m. Here with each of three seeds."""
    apart, spread, without = [], [], []
    for seed in (1, 2, 3):
        for groups in ({"groups": {"sizes": [4]}}, {}):
            deck = crowd_deck(wkt(rectangle(0, 0, 30, 2.5)), end_time=300.0, fps=2, seed=seed, crowd={"avoidance": {}},
                              exits={"right": {"line": [[30, 0], [30, 2.5]]}, "left": {"line": [[0, 0], [0, 2.5]]}},
                              journeys={"to_the_right": {"steps": [{"exits": ["right"]}]},
                                        "to_the_left": {"steps": [{"exits": ["left"]}]}},
                              populations={"groups": {"count": 12, "region": rectangle(1, 0, 7, 2.5),
                                                      "journey": "to_the_right", **groups},
                                           "others": {"count": 40, "region": rectangle(13, 0, 26, 2.5),
                                                      "journey": "to_the_left"}})
            run = run_crowd(folder, deck, name=f"counterflow_{seed}_{len(groups)}")
            ids = np.array(run.agents["id"], dtype=int)
            widest, longest = 0.0, 0.0
            for first in (0, 4, 8):
                members = [run.tracks[first + k] for k in range(4)]
                n = min(len(times) for times, _ in members)
                x = np.array([positions[:n, 0] for _, positions in members])
                widest = max(widest, float(np.ptp(x, axis=0).max()))
                left = run.agents["left"][(ids >= first) & (ids < first + 4)]
                longest = max(longest, float(np.ptp(left)))
            if groups:
                apart.append(widest)
                spread.append(longest)
            else:
                without.append(longest)
    CRITERIA.row("2.9 counterflow", "own", "three groups of four leave within 10 s each",
                 ", ".join(f"{time:.1f}" for time in spread) + " s", max(spread) <= 10)
    CRITERIA.row("2.9 not split", "own", "members at most 6 m apart along the route",
                 ", ".join(f"{way:.2f}" for way in apart) + " m", max(apart) <= 6)
    CRITERIA.report("own", "the same people, not as groups", "2.9 single", ", ".join(f"{time:.1f}" for time in without) + " s")


def test_2_9_turnstile(folder):
    """Groups at a turnstile (our own): an exit that lets one person pass every 2 s. Everybody of three groups of four gets
    through, and the flow is that of the turnstile: the last of 12 leaves 22 s after the first, +- 4 s. Groups that wait
    for each other do not block it for good, though wait_factor is as low as 0.05."""
    deck = crowd_deck(wkt(rectangle(0, 0, 12, 5)), end_time=300.0, fps=2,
                      exits={"turnstile": {"line": [[12, 2], [12, 3]], "max_flow": 0.5}},
                      populations={"groups": {"count": 12, "region": rectangle(0, 0, 6, 5),
                                              "groups": {"sizes": [4], "reach": 1, "wait_factor": 0.05}}})
    run = run_crowd(folder, deck, name="turnstile")
    taken = float(np.ptp(run.left()))
    CRITERIA.row("2.9 turnstile", "own", "12 pass in 22 s +- 4 s", f"{taken:.1f} s", abs(taken - 22) <= 4)


def test_2_9_side_by_side(folder):
    """Groups of three in a corridor of 40 m x 4 m (our own), one at a time, with each of five seeds: between x = 20 m and
    30 m their extent along the corridor is with side_by_side at most half of that without, on average."""
    extents = {}
    for abreast in (False, True):
        found = []
        for seed in range(1, 6):
            deck = crowd_deck(_corridor(40, 4), end_time=200.0, fps=4, seed=seed, exits={"end": {"line": [[40, 0], [40, 4]]}},
                              populations={"group": {"count": 3, "region": rectangle(1, 0.5, 4, 3.5),
                                                     "groups": {"sizes": [3], "side_by_side": abreast}}})
            run = run_crowd(folder, deck, name=f"abreast_{abreast}_{seed}")
            x = np.array([positions[:min(len(t) for t, _ in run.tracks.values()), 0] for _, positions in run.tracks.values()])
            middle = x.mean(axis=0)
            found.append(float(np.ptp(x, axis=0)[(middle > 20) & (middle < 30)].mean()))
        extents[abreast] = float(np.mean(found))
    CRITERIA.row("2.9 abreast", "own", "extent along the route at most half of that without",
                 f"{extents[True]:.2f} m, without {extents[False]:.2f} m", extents[True] <= 0.5 * extents[False])


def test_2_10_slow_person(folder):
    """NIST 2.10: 24 persons (1.25 m/s, radius 0.2 m) and a slow wide one (0.8 m/s, 0.4 m) nearer to a passage of
    1.5 m x 2 m between two rooms of 5 m x 4 m; it takes longer than with 25 equal ones. Here with each of five seeds."""
    plan = wkt(rectangle(0, 0, 5, 4), rectangle(4.9, 1.25, 7.1, 2.75), rectangle(7, 0, 12, 4))
    kinds = {"able": {"speed": constant(1.25), "radius": constant(0.2)},
             "slow": {"speed": constant(0.8), "radius": constant(0.4)}}
    slower, texts = [], []
    for seed in range(1, 6):
        times = []
        for last in ("able", "slow"):
            deck = crowd_deck(plan, end_time=200.0, seed=seed, exits={"door": {"line": [[12, 1.5], [12, 2.5]]}},
                              agents=kinds,
                              populations={"able": {"agents": ["able"], "count": 24, "region": rectangle(0, 0, 3, 4)},
                                           "last": {"agents": [last], "count": 1, "region": rectangle(3.9, 1.9, 4.1, 2.1)}})
            times.append(run_crowd(folder, deck, name=f"with_{last}_{seed}").last_left)
        slower.append(times[1] > times[0])
        texts.append(f"{times[0]:.1f} < {times[1]:.1f}" if slower[-1] else f"{times[0]:.1f} >= {times[1]:.1f}")
    CRITERIA.row("2.10", "NIST 2.10", "longer with the slow one", ", ".join(texts) + " s", all(slower))


# ---- routes

def test_3_1_routes(folder):
    """NIST 3.1 (IMO 10): 23 persons in twelve cabins, of which eight are assigned to the main exit and four to the second."""
    cabins_run(folder, CRITERIA, "3.1", "NIST 3.1, IMO 10")


def test_4_1_exit_that_closes(folder):
    """NIST 4.1: a room with two exits, one person nearer to the first, which closes after 1 s: it leaves by the second."""
    deck = crowd_deck(_corridor(10, 5), end_time=60.0,
                      exits={"first": {"line": [[0, 2], [0, 3]], "open_until": [1.0]},
                             "second": {"line": [[10, 2], [10, 3]]}},
                      populations={"one": {"count": 1, "region": rectangle(2.9, 2.4, 3.1, 2.6)}})
    run = run_crowd(folder, deck)
    least = float(run.paths.position_of_row[:, 0].min())
    CRITERIA.row("4.1", "NIST 4.1", "starts for exit 1, leaves by exit 2",
                 f"exit {run.agents['exit'][0]}, from x = {run.paths.position_of_row[0, 0]:.2f} m back to {least:.2f} m",
                 run.agents["exit"] == ["second"] and least < run.paths.position_of_row[0, 0] - 0.3)


# ---- flows

def test_5_1_congestion(folder):
    """NIST 5.1 (IMO 11): 150 persons of a room of 8 m x 5 m walk through a corridor of 12 m x 2 m and up a stair 2 m wide:
    congestion at the neck and at the foot of the stair, a steady flow in between. Here the stair halves speeds over
    10 m; Voronoi density of 2 m x 2 m before the neck, in the middle of the corridor and before the stair, the
    largest mean over 5 s, averaged over three seeds."""
    plan = wkt(rectangle(0, 0, 8, 5), rectangle(7.9, 1.5, 30, 3.5))
    places = {"neck": 6, "corridor": 13, "foot": 18}
    deck = crowd_deck(plan, end_time=400.0, fps=1, exits={"top": {"line": [[30, 1.5], [30, 3.5]]}},
                      zones={"stair": {"polygon": rectangle(20, 1, 31, 4), "speed_factor": 0.5}},
                      populations={"crowd": {"count": 150, "region": rectangle(0, 0, 8, 5)}},
                      analysis={"every": 0.5},
                      measures={name: {"type": "window", "method": "voronoi", "polygon": rectangle(x, 1.5, x + 2, 3.5)}
                                for name, x in places.items()})
    runs = [run_crowd(folder, {**deck, "simulation": {**deck["simulation"], "seed": seed}}, name=f"congestion_{seed}")
            for seed in (1, 2, 3)]
    peaks = {name: np.mean([np.convolve(run.scalars[f"{name}_density"], np.full(10, 0.1), "valid").max()
                            for run in runs]) for name in places}
    text = ", ".join(f"{name} {peak:.2f}" for name, peak in peaks.items()) + " /m2"
    CRITERIA.row("5.1 neck", "NIST 5.1, IMO 11", "denser at the neck than in the corridor", text,
                 peaks["neck"] > peaks["corridor"])
    CRITERIA.row("5.1 stair", "NIST 5.1, IMO 11", "denser at the foot of the stair than in the corridor", text,
                 peaks["foot"] > peaks["corridor"])


def test_5_2_door(folder):
    """NIST 5.2 (IMO 4): 100 persons leave a room of 8 m x 5 m by an exit of 1 m; at most 1.33 persons per second. Here the
    exit is a passage 1 m long, and the larger of the flows from the first to the last person and from the 10th to the
    90th percentile counts, the largest of three seeds. The bound is a value for the design of buildings, below what
    experiments find at such doors (1.8 to 1.9 /s: tests/reference/crowd/bottleneck_flow.csv), to which the given values
    are calibrated. Cautious people, who hardly push (creep_speed = 0.1 m/s), keep 1.5 s behind others (headway_time) and
    share no lane (headway_width = moving_width = 1), keep it; with a headway of 1 s one of three seeds does not (1.55 /s)."""
    for row, name, kind, crowd in (("5.2", "usual", {}, {}),
                                   ("5.2 cautious", "cautious", {"creep_speed": 0.1, "headway_time": 1.5},
                                    {"headway_width": 1.0, "moving_width": 1.0})):
        flows = []
        for seed in (1, 2, 3):
            deck = crowd_deck(_ROOM_WITH_DOOR, end_time=300.0, fps=1, seed=seed,
                              exits={"door": {"line": [[9, 2], [9, 3]]}}, agents={"person": kind}, crowd=crowd,
                              populations={"crowd": {"count": 100, "region": rectangle(0.3, 0.3, 7, 4.7)}})
            left = run_crowd(folder, deck, name=f"{name}_{seed}").left()
            flows.append(max(flow_between(left, 0, 1), flow_between(left)))
        CRITERIA.row(row, "NIST 5.2, IMO 4", "at most 1.33 persons /s", ", ".join(f"{flow:.2f}" for flow in flows) + " /s",
                     max(flows) <= 1.33)


def test_iso_13_fundamental_diagram(folder):
    """ISO 20414 test 13: 60, 120, 240, 360 and 480 persons in a corridor of 60 m x 2 m, between x = 20 m and x = 40 m. Here
    it closes on itself, so that the density stays, at a desired speed of 1 m/s, from 20 s to 60 s: speed falls with
    each number, is never above 1 m/s, and the flow is largest at a density in between, 5 % above both ends."""
    counts, speeds, flows = (60, 120, 240, 360, 480), [], []
    for count in counts:
        deck = crowd_deck(wkt(rectangle(-1, 0, 61, 2)), end_time=60.0, fps=2,
                          domain={"lower": [0, -0.5], "upper": [60, 2.5], "periodic": [True, False]},
                          crowd={"direction": [1, 0]}, agents={"walker": {"speed": constant(1.0)}},
                          populations={"walkers": {"count": count}}, analysis={"every": 1},
                          measures={f"line_{x}": {"type": "line_flow", "line": [[x, 0], [x, 2]]} for x in (20, 40)})
        run = run_crowd(folder, deck, name=f"walkers_{count}", empty=False)
        frames = [k for k in run.paths.frames if k / run.paths.fps >= 20]
        found = []
        for before, after in zip(frames, frames[1:]):
            (_, a), (_, b) = run.paths.frame(before), run.paths.frame(after)
            place = a[:, 0] % 60
            step = (b[:, 0] - a[:, 0] + 30) % 60 - 30
            found.append(step[(place >= 20) & (place <= 40)] * run.paths.fps)
        found = np.concatenate(found)
        speeds.append(float(found.mean()))
        steady = run.scalars["time"] >= 20 - 1e-9
        flows.append(float(np.mean([np.ptp(run.scalars[f"line_{x}_net"][steady]) / 40 / 2 for x in (20, 40)])))
    CRITERIA.row("13 speed", "ISO 20414, 13", "speed falls with 0.5, 1, 2, 3, 4 /m2",
                 ", ".join(f"{v:.4f}" for v in speeds) + " m/s", all(b < a for a, b in zip(speeds, speeds[1:])))
    CRITERIA.row("13 limit", "ISO 20414, 13", "no mean speed is above 1 m/s", f"{max(speeds):.6f} m/s",
                 max(speeds) <= 1 + 1e-9)
    top = max(flows)
    CRITERIA.row("13 flow", "ISO 20414, 13", "flow has its peak in between",
                 ", ".join(f"{flow:.2f}" for flow in flows) + " /s/m", top >= 1.05 * flows[0] and top >= 1.05 * flows[-1])


# ---- smoke

def _smoky_corridor(folder, name, extinction, speed=1.25, **hazard):
    """One person walks 100 m, with 10 m before and behind; time between x = -50 and 50 m."""
    deck = crowd_deck(wkt(rectangle(-60, -1, 60, 1)), end_time=1500.0, fps=10, exits={"end": {"line": [[60, -1], [60, 1]]}},
                      agents={"one": {"speed": constant(speed), "radius": constant(0.19)}},
                      populations={"one": {"count": 1, "region": rectangle(-59.5, -0.1, -59.3, 0.1)}},
                      hazard={"extinction": extinction, **hazard})
    times, positions = run_crowd(folder, deck, name=name).tracks[0]
    return crossing_time(times, positions[:, 0], 50) - crossing_time(times, positions[:, 0], -50)


def test_2_5_reduced_visibility(folder):
    """NIST 2.5: one person at 1.25 m/s walks 100 m in smoke. The speed factor c(K) is given: 0.5 at K = 1 /m (here by
    speed_table), so it takes 160 s; with the given law of scree 0.91926, so 87.03 s."""
    taken = _smoky_corridor(folder, "half", 1.0, speed_table=[[0, 1], [1, 0.5]])
    CRITERIA.row("2.5", "NIST 2.5", "100 m at 1.25 m/s, c = 0.5: 160 s +- 0.1 s", f"{taken:.3f} s", abs(taken - 160) <= 0.1)
    taken = _smoky_corridor(folder, "law", 1.0)
    CRITERIA.row("2.5 law", "NIST 2.5", "c(1 /m) = 0.91926: 87.03 s +- 0.1 s", f"{taken:.3f} s, c = {80 / taken:.5f}",
                 abs(taken - 80 / 0.91926) <= 0.1)


def test_iso_18_smoke(folder):
    """ISO 20414, 18 (Table 21): the corridor of 2.5 at several extinction coefficients; times follow the law chosen, here
    that of Frantzich and Nilsson with a least factor of 0.1, to 0.1 %."""
    texts, off = [], []
    for extinction in (0.0, 0.5, 2.0, 5.0, 7.5, 20.0):
        taken = _smoky_corridor(folder, f"k{extinction:g}".replace(".", "_"), extinction)
        expected = 80 / max(0.1, 1 - 0.057 * extinction / 0.706)
        texts.append(f"{taken:.1f}")
        off.append(abs(taken / expected - 1))
    CRITERIA.row("18", "ISO 20414, 18", "times at 0, 0.5, 2, 5, 7.5, 20 /m within 0.1 % of the law",
                 f"{', '.join(texts)} s; at most {100 * max(off):.3f} % off", max(off) <= 1e-3)


def _held_in_gas(folder, name, step, **gas):
    """Somebody waits in the middle of a room of 10 m; when the dose reaches 1, and the row of agents.csv."""
    deck = crowd_deck(wkt(rectangle(0, 0, 10, 10)), end_time=400.0, step=step, exits={"door": {"line": [[10, 4.5], [10, 5.5]]}},
                      populations={"one": {"count": 1, "region": rectangle(4.99, 4.99, 5.01, 5.01),
                                           "premovement": constant(1e6)}}, hazard=gas)
    run = run_crowd(folder, deck, name=name, empty=False)
    return run, float(run.agents["incapacitated_at"][0])


def test_2_6_incapacitation(folder):
    """NIST 2.6, ISO 20414, 19 (Table 22): somebody who is held in 5000 ppm CO, 2 % CO2, 18 % O2 is incapacitated when the
    dose of the FDS+Evac guide is 1: after 207.58 s, here within one step; and is counted, but leaves by no exit."""
    gas = {"carbon_monoxide": 0.005, "carbon_dioxide": 0.02, "oxygen": 0.18}
    for step, name, source in ((0.05, "2.6", "NIST 2.6"), (0.01, "19", "ISO 20414, 19")):
        run, at = _held_in_gas(folder, f"gas_{step:g}".replace(".", "_"), step, **gas)
        CRITERIA.row(name, source, f"dose 1 at 207.58 s, within one step of {step} s", f"{at:.2f} s",
                     207.575 <= at <= 207.585 + step)
        CRITERIA.row(f"{name} counted", source, "1 incapacitated, 0 by an exit, who lies inside",
                     f"{run.evacuation['hazard']['incapacitated']}, {run.evacuation['left']}, {run.evacuation['still_inside']}",
                     (run.evacuation["hazard"]["incapacitated"], run.evacuation["left"], run.evacuation["still_inside"]) == (1, 0, 1))


# ---- choice of exits

def _two_doors(folder, name, seed, agents, populations):
    """A room of 10 m times 12 m with two doors of 1 m, as far from its middle; shares of people by the second one."""
    deck = crowd_deck(wkt(rectangle(0, 0, 10, 12)), end_time=200.0, seed=seed,
                      exits={"one": {"line": [[0.5, 12], [1.5, 12]]}, "two": {"line": [[8.5, 12], [9.5, 12]]}},
                      agents=agents, populations=populations)
    run = run_crowd(folder, deck, name=name)
    return [door for door, group in zip(run.agents["exit"], run.agents["population"]) if group == "free"]


def test_3_2_social_influence(folder):
    """NIST 3.2, ISO 20414, 15: two occupants between two doors as far away choose the nearer one of their random places,
    about half each. With a third one beside them who knows only door two and whom they follow (kind "leader", within
    10 m) more of them take it. 20 seeds; those of a kind that follows nobody are not influenced."""
    middle = rectangle(3, 2, 7, 4)
    kinds = {"visitor": {"follows": "leader"}, "leader": {"knows": ["two"]}, "loner": {}}
    shares = {}
    for case, kind, leaders in (("alone", "visitor", 0), ("led", "visitor", 1), ("unmoved", "loner", 1)):
        doors = []
        for seed in range(1, 21):
            populations = {"free": {"count": 2, "region": middle, "agents": [kind]}}
            if leaders:
                populations["lead"] = {"count": 1, "region": rectangle(4.9, 1, 5.1, 1.2), "agents": ["leader"]}
            doors += _two_doors(folder, f"{case}_{seed}", seed, kinds, populations)
        shares[case] = doors.count("two") / len(doors)
    for name, source in (("3.2", "NIST 3.2"), ("15", "ISO 20414, 15")):
        CRITERIA.row(name, source, "share of door two: larger with a leader; without one in (0.2, 0.8)",
                     f"{shares['alone']:.3f} alone, {shares['led']:.3f} led",
                     0.2 < shares["alone"] < 0.8 and shares["led"] > shares["alone"])
    CRITERIA.row("3.2 unmoved", "NIST 3.2", "who follows nobody: as without a leader", f"{shares['unmoved']:.3f}",
                 abs(shares["unmoved"] - shares["alone"]) <= 0.3)


def test_3_3_affiliation(folder):
    """NIST 3.3, ISO 20414, 16: ten occupants who know both doors use each about equally (0.4 to 0.6 of 200 people over 20
    seeds); if four fifths of them know only door two, most use it (more than 0.8); if all do, all use it."""
    shares = {}
    for case, share in (("both", 0.0), ("most", 0.8), ("all", 1.0)):
        doors = []
        for seed in range(1, 21):
            doors += _two_doors(folder, f"{case}_{seed}", seed, {"regular": {"knows": ["exits.two"]}, "other": {}},
                                {"free": {"count": 10, "region": rectangle(1, 1, 9, 6), "agents": ["regular", "other"],
                                          "shares": [share, 1 - share]}})
        shares[case] = doors.count("two") / len(doors)
    for name, source in (("3.3", "NIST 3.3"), ("16", "ISO 20414, 16")):
        CRITERIA.row(name, source, "share of door two: 0.4 to 0.6; above 0.8 if 80 % know only it; 1 if all do",
                     f"{shares['both']:.3f}, {shares['most']:.3f}, {shares['all']:.3f}",
                     0.4 <= shares["both"] <= 0.6 and shares["most"] > 0.8 and shares["all"] == 1)
