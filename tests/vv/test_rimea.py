"""Tests of the RiMEA guideline 4.1.1 (Guideline for Microscopic Evacuation Analysis, RiMEA e.V., 2022).

Single persons walk 10 m before and after the measured length. Exits take people behind the opening. Where the
guideline leaves something open, the docstring of the test says how it is read here.

    python3 tests/vv/test_rimea.py --bin build/release/bin [--report] [function...]
"""
import math

import numpy as np

from crowd_runs import (Criteria, cabins_run, corner_run, crossing_time, crowd_deck, flow_between,
                        rectangle, run_crowd, wkt)
from decks import constant
from scree_program import check, source_folder

CRITERIA = Criteria("RiMEA 4.1.1", expected_failures={
    "R15 static routes": "with routes that do not change all pass within 2 m of the inner corner",
    "R16": "people pass joints of curved walls without being slowed; the law was calibrated when joints slowed them",
    "R16 wide": "disks of 0.2 m walk in two rows on a track of 0.8 m"})


def _corridor(length, width):
    return wkt(rectangle(0, 0, length, width))


# ---- movement of one

def test_r01_speed_in_a_corridor(folder):
    """RiMEA 1: one person at 1.33 m/s along a corridor of 40 m x 2 m takes 26 s to 34 s. Here 40 m / 1.33 m/s to 0.1 s."""
    deck = crowd_deck(_corridor(60, 2), end_time=100.0, fps=10, exits={"end": {"line": [[60, 0], [60, 2]]}},
                      agents={"one": {"speed": constant(1.33), "radius": constant(0.19)}},
                      populations={"one": {"count": 1, "region": rectangle(0.5, 0.9, 0.7, 1.1)}})
    times, positions = run_crowd(folder, deck).tracks[0]
    taken = crossing_time(times, positions[:, 0], 50) - crossing_time(times, positions[:, 0], 10)
    CRITERIA.row("R1", "RiMEA 1", "40 m at 1.33 m/s in 30.1 s +- 0.1 s", f"{taken:.3f} s", abs(taken - 30.075) <= 0.1)


# ---- fundamental diagram

def _weidmann(density):
    """U. Weidmann, Transporttechnik der Fussgaenger, 1993: speed [m/s] at a density [1/m2], scaled to 1.2 m/s."""
    return 1.2 * (1 - math.exp(-1.913 * (1 / density - 1 / 5.4))) if density < 5.4 else 0.0


def test_r04_fundamental_diagram(folder):
    """RiMEA 4: speed against density in a corridor. Here 50 m x 5 m closed on itself, desired speeds 1.2 m/s within
    0.05 m/s, radius 0.19 m so that 6 /m2 fit, means of three windows of 2 m x 2 m over 60 s less the first 10 s. Criterion: the speed falls with
    every density; the values are printed beside Weidmann's."""
    speeds = []
    for density in (0.5, 1, 2, 3, 4, 5, 6):
        windows = {f"window_{k}": {"type": "window", "method": "voronoi",
                                   "polygon": rectangle(x, 1.5, x + 2, 3.5)} for k, x in enumerate((9, 24, 39))}
        deck = crowd_deck(wkt(rectangle(-1, 0, 51, 5)), end_time=60.0, fps=0.5,
                          domain={"lower": [0, -0.5], "upper": [50, 5.5], "periodic": [True, False]},
                          crowd={"direction": [1, 0]},
                          agents={"walker": {"radius": constant(0.19),
                                             "speed": {"distribution": "normal", "mean": 1.2, "deviation": 0.05,
                                                       "min": 1.05, "max": 1.35}}},
                          populations={"walkers": {"count": round(250 * density),
                                                   "placement": "lattice" if density > 3 else "random"}},
                          analysis={"every": 1}, measures=windows)
        run = run_crowd(folder, deck, name=f"density_{round(10 * density)}", empty=False)
        steady = run.scalars["time"] > 10
        # Of all persons in the windows.
        found, speed = (np.concatenate([run.scalars[f"{name}_{column}"][steady] for name in windows])
                        for column in ("density", "speed"))
        speeds.append(float((found * speed).sum() / found.sum()))
        CRITERIA.report("RiMEA 4", name=f"R4 at {density} /m2",
                        measured=f"{speeds[-1]:.3f} m/s at {found.mean():.2f} /m2; Weidmann "
                                 f"{_weidmann(density):.3f} m/s")
    falls = all(after < before for before, after in zip(speeds, speeds[1:]))
    CRITERIA.row("R4", "RiMEA 4", "speed falls with each density", ", ".join(f"{v:.3f}" for v in speeds), falls)


# ---- times and places

def test_r05_delays(folder):
    """RiMEA 5: ten persons in a room of 8 m x 5 m with a door of 1 m start after 10, 20, ... 100 s. Here within two
    frames of 0.1 s."""
    delays = [10.0 * k for k in range(1, 11)]
    # Nearest to the door first: nobody who waits stands in another one's way.
    places = [(6.6 - 1.4 * (k // 2), 1.5 if k % 2 == 0 else 3.5) for k in range(10)]
    deck = crowd_deck(_corridor(8, 5), end_time=200.0, fps=10, exits={"door": {"line": [[8, 2], [8, 3]]}},
                      populations={f"after_{delay:.0f}": {"count": 1, "region": rectangle(x, y, x + 0.1, y + 0.1),
                                                          "premovement": constant(delay)}
                                   for delay, (x, y) in zip(delays, places)})
    run = run_crowd(folder, deck)
    errors = []
    for person, group in zip(run.agents["id"].astype(int), run.agents["population"]):
        times, positions = run.tracks[person]
        delay = float(group.removeprefix("after_"))
        moved = np.flatnonzero(np.linalg.norm(positions - positions[0], axis=1) > 1e-9)
        errors.append(times[moved[0] - 1] - delay)
    worst = max(abs(error) for error in errors)
    CRITERIA.row("R5", "RiMEA 5", "everybody starts within 2 frames (0.2 s) of the delay", f"{worst:.2f} s",
                 worst <= 0.2)


def test_r06_corner(folder):
    """RiMEA 6: 20 persons walk around a corner to the left without passing through walls."""
    corner_run(folder, CRITERIA, "R6", "RiMEA 6")


def test_r07_demographics(folder):
    """RiMEA 7: 50 adults with speeds by age walk as they should. Bands of speed by age, 20, 30, 40, 50, 60 and 70
    years. Here each in a lane of its own over 40 m; the speed found is in the band, and that of the person, to
    0.03 m/s."""
    bands = {20: (1.60, 1.64, 10), 30: (1.52, 1.56, 10), 40: (1.46, 1.50, 10), 50: (1.39, 1.43, 10),
             60: (1.27, 1.27, 5), 70: (1.07, 1.07, 5)}
    kinds, populations = {}, {}
    for age, (low, high, count) in bands.items():
        speed = constant(low) if low == high else {"distribution": "uniform", "min": low, "max": high}
        kinds[f"age_{age}"] = {"speed": speed, "radius": constant(0.15)}
        for k in range(count):
            y = 0.5 + 19 / 49 * len(populations)
            populations[f"age_{age}_{k}"] = {"agents": [f"age_{age}"], "count": 1,
                                             "region": rectangle(0.5, y - 0.005, 0.51, y + 0.005)}
    deck = crowd_deck(_corridor(70, 20), end_time=100.0, fps=5, exits={"end": {"line": [[70, 0], [70, 20]]}},
                      agents=kinds, populations=populations)
    run = run_crowd(folder, deck)
    worst_band = worst_own = 0.0
    for person, kind, desired in zip(run.agents["id"].astype(int), run.agents["agent_type"], run.agents["desired_speed"]):
        times, positions = run.tracks[person]
        speed = 40 / (crossing_time(times, positions[:, 0], 55) - crossing_time(times, positions[:, 0], 15))
        low, high, _ = bands[int(kind.removeprefix("age_"))]
        worst_band = max(worst_band, low - speed, speed - high)
        worst_own = max(worst_own, abs(speed - desired))
    CRITERIA.row("R7", "RiMEA 7", "each of 50 speeds within 0.03 m/s of its band and of its own",
                 f"at most {worst_band:.4f} and {worst_own:.4f} m/s off", worst_band <= 0.03 and worst_own <= 0.03)


def test_r09_large_room(folder):
    """RiMEA 9: 1000 persons leave a room of 30 m x 20 m by four doors of 1 m, or by the two of one wall: that takes
    about twice as long, here 1.6 to 2.4 times. With four doors the same on 1, 2 and 3 ranks."""
    doors = {"south_west": [[4, 0], [5, 0]], "south_east": [[25, 0], [26, 0]],
             "north_west": [[4, 20], [5, 20]], "north_east": [[25, 20], [26, 20]]}

    def deck(names):
        return crowd_deck(_corridor(30, 20), end_time=1200.0, fps=0.5,
                          exits={name: {"line": doors[name]} for name in names},
                          populations={"crowd": {"count": 1000, "region": rectangle(2, 2, 28, 18)}})

    four = {ranks: run_crowd(folder, deck(doors), name="four", ranks=ranks) for ranks in (1, 2, 3)}
    two = run_crowd(folder, deck(["south_west", "south_east"]), name="two")
    ratio = two.last_left / four[1].last_left
    CRITERIA.row("R9", "RiMEA 9", "time with 2 doors over that with 4 in [1.6, 2.4]",
                 f"{two.last_left:.1f} s / {four[1].last_left:.1f} s = {ratio:.2f}", 1.6 <= ratio <= 2.4)
    n_different = len({run.path("agents.csv").read_bytes() for run in four.values()})
    CRITERIA.row("R9 ranks", "RiMEA 9", "the same bytes of agents.csv on 1, 2, 3 ranks", f"{n_different} different",
                 n_different == 1)


# ---- routes

def test_r10_routes(folder):
    """RiMEA 10: 23 persons in twelve cabins, of which eight are assigned to the main exit and four to the second one."""
    cabins_run(folder, CRITERIA, "R10", "RiMEA 10")


def test_r11_choice_of_exits(folder):
    """RiMEA 11: 1000 persons in the left half of a room with two doors on the right of one wall prefer the nearer one,
    and some of them take the other one once there is a queue. Here: more than half take the nearer one, some of them
    before anybody takes the other one, and more than a tenth take the other one."""
    deck = crowd_deck(_corridor(30, 20), end_time=1500.0, fps=0.5,
                      exits={"near": {"line": [[21, 20], [22, 20]]}, "far": {"line": [[27, 20], [28, 20]]}},
                      journeys={"leave": {"steps": [{"choice": "quickest", "update": 1}]}},
                      populations={"crowd": {"count": 1000, "region": rectangle(0, 0, 15, 20)}})
    run = run_crowd(folder, deck)
    near, far = run.left(by="near"), run.left(by="far")
    first = near[0], far[0] if len(far) else math.inf
    CRITERIA.row("R11", "RiMEA 11", "share of the nearer door in (0.5, 0.9), used first",
                 f"{len(near)} near from {first[0]:.1f} s, {len(far)} far from {first[1]:.1f} s",
                 500 < len(near) < 900 and first[0] < first[1])


# ---- bottlenecks

def _rooms(*necks, width=1.0):
    """Rooms of 10 m x 10 m in a row, joined by necks of these lengths; the plan and the length of all."""
    rings, x = [rectangle(0, 0, 10, 10)], 10
    for length in necks:
        rings += [rectangle(x - 0.1, 5 - width / 2, x + length + 0.1, 5 + width / 2),
                  rectangle(x + length, 0, x + length + 10, 10)]
        x += length + 10
    return wkt(*rings), x


def _bottleneck(folder, necks, name, width=1.0, goal=None, seed=1, measures=None):
    """150 persons of the left half of the first room walk through the necks, to the end of the last room or to a
    strip that begins at `goal`."""
    plan, end = _rooms(*necks, width=width)
    door = {"line": [[end, 0], [end, 10]]} if goal is None else {"polygon": rectangle(goal, 0, goal + 0.5, 10)}
    deck = crowd_deck(plan, end_time=600.0, fps=0.5, seed=seed, exits={"end": door}, analysis={"every": 0.5},
                      measures=measures or {}, populations={"crowd": {"count": 150, "region": rectangle(0, 0, 5, 10)}})
    return run_crowd(folder, deck, name=name)


def _passing(run, name):
    """Times at which a line is crossed, to half a second."""
    counts = run.scalars[f"{name}_net"]
    return np.repeat(run.scalars["time"][1:], np.diff(np.maximum.accumulate(counts)).astype(int))


def test_r12a_distance_of_the_goal(folder):
    """RiMEA 12a: two rooms joined by a neck 1 m wide and 0.2 m long; the goal is a strip 0 m to 8 m behind it. The
    farther it is, the later the last of 150 is there. Here means of five seeds."""
    seeds = range(1, 6)
    means = [float(np.mean([_bottleneck(folder, [0.2], f"goal_{a}_{seed}", goal=10.2 + a, seed=seed).last_left
                            for seed in seeds])) for a in (0, 2, 4, 6, 8)]
    CRITERIA.row("R12a", "RiMEA 12a", "time does not fall with the distance 0, 2, 4, 6, 8 m",
                 ", ".join(f"{t:.1f}" for t in means) + " s", all(b >= a for a, b in zip(means, means[1:])))


def test_r12b_length_of_the_neck(folder):
    """RiMEA 12b: 150 persons take longer through a neck of 5 m than through one of 0.2 m. Here also after the longer
    walk, 4.8 m at the mean desired speed, is taken off."""
    short = _bottleneck(folder, [0.2], "short").last_left
    long = _bottleneck(folder, [5.0], "long").last_left
    CRITERIA.row("R12b", "RiMEA 12b", "longer through the long neck", f"{short:.1f} s, {long:.1f} s", long > short)
    CRITERIA.row("R12b flow", "RiMEA 12b", "also without the time of 4.8 m at 1.34 m/s",
                 f"{short:.1f} s, {long - 4.8 / 1.34:.1f} s", long - 4.8 / 1.34 > short)


def test_r12c_two_necks(folder):
    """RiMEA 12c: three rooms joined by two equal necks. People queue before the first one, not before the second.
    Here: most persons at once within 3 m before a neck and 3 m beside it; flows between the 10th and the 90th
    percentile of persons, J1 >= J2 - 0.05 /s."""
    plan_lines = {"first": {"type": "line_flow", "line": [[10.1, 4.5], [10.1, 5.5]]},
                  "second": {"type": "line_flow", "line": [[20.3, 4.5], [20.3, 5.5]]},
                  "before_1": {"type": "window", "polygon": rectangle(7, 2, 10, 8)},
                  "before_2": {"type": "window", "polygon": rectangle(17.2, 2, 20.2, 8)}}
    run = _bottleneck(folder, [0.2, 0.2], "two", measures=plan_lines)
    queues = [float(run.scalars[f"before_{k}_n_bodies"].max()) for k in (1, 2)]
    flows = [flow_between(_passing(run, name)) for name in ("first", "second")]
    CRITERIA.row("R12c queues", "RiMEA 12c", "more queue before the first neck than before the second",
                 f"{queues[0]:.0f}, {queues[1]:.0f} persons", queues[0] > queues[1])
    CRITERIA.row("R12c flow", "RiMEA 12c", "J1 >= J2 - 0.05 /s", f"{flows[0]:.3f} /s, {flows[1]:.3f} /s",
                 flows[0] >= flows[1] - 0.05)


def test_r12d_width_of_the_neck(folder):
    """RiMEA 12d: the flow through a neck 5 m long rises with its width of 0.8, 1.0 and 1.2 m. Here the flow between the
    10th and the 90th percentile of persons, the mean of three seeds, and within 1.3 to 2.4 persons per second and
    metre, what experiments with bottlenecks span (tests/reference/crowd/bottleneck_flow.csv)."""
    widths = (0.8, 1.0, 1.2)
    flows = []
    for width in widths:
        line = {"neck": {"type": "line_flow", "line": [[12.5, 5 - width / 2], [12.5, 5 + width / 2]]}}
        runs = [_bottleneck(folder, [5.0], f"width_{round(10 * width)}_{seed}", width=width, seed=seed, measures=line)
                for seed in (1, 2, 3)]
        flows.append(float(np.mean([flow_between(_passing(run, "neck")) for run in runs])))
    text = ", ".join(f"{flow:.2f}" for flow in flows) + " /s"
    CRITERIA.row("R12d", "RiMEA 12d", "flow rises strictly with the width", text,
                 all(b > a for a, b in zip(flows, flows[1:])))
    CRITERIA.row("R12d band", "experiments", "1.3 /s/m <= J/b <= 2.4 /s/m",
                 ", ".join(f"{flow / width:.2f}" for flow, width in zip(flows, widths)) + " /s/m",
                 all(1.3 <= flow / width <= 2.4 for flow, width in zip(flows, widths)))


# ---- large groups and files

def test_r15_crowd_at_a_corner(folder):
    """RiMEA 15: 500 persons who start in a block of 20 m x 6 m walk around a corner of a corridor 20 m wide; that takes
    longer than a straight corridor as long as the inner side, and not as long as one of the outer side. People who
    know only the shortest route all pass close to the corner; here they avoid dense places
    ([navigation.density_cost])."""
    corner = "POLYGON((72 0, 52 0, 42 10, 42 60, 62 60, 62 20, 72 20, 72 0))"
    cases = {"short": (_corridor(50, 20), [[50, 0], [50, 20]], rectangle(0, 0, 6, 20)),
             "corner": (corner, [[42, 60], [62, 60]], rectangle(66, 0, 72, 20)),
             "long": (_corridor(81.4, 20), [[81.4, 0], [81.4, 20]], rectangle(0, 0, 6, 20))}

    def times(routes, navigation):
        found = {}
        for name, (plan, line, block) in cases.items():
            deck = crowd_deck(plan, end_time=600.0, fps=0.5, exits={"end": {"line": line}}, navigation=navigation,
                              populations={"crowd": {"count": 500, "region": block}})
            found[name] = run_crowd(folder, deck, name=f"{routes}_{name}").last_left
        return found["short"], found["corner"], found["long"]

    for row, routes, navigation in (("R15", "density", {"density_cost": {"weight": 1.0}}), ("R15 static routes", "static", {})):
        short, corner_time, long = times(routes, navigation)
        CRITERIA.row(row, "RiMEA 15", "t(short) < t(corner) < t(long)", f"{short:.1f}, {corner_time:.1f}, {long:.1f} s",
                     short < corner_time < long)


_STRAIGHT, _RADIUS = 4.0, 3.0
_LOOP = 2 * _STRAIGHT + 2 * math.pi * _RADIUS


def _oval(radius):
    """Corners of the oval with arcs of this radius around the ends of the middle line, counter-clockwise."""
    n = 48
    half = _STRAIGHT / 2
    right = [[half + radius * math.sin(math.pi * k / n), -radius * math.cos(math.pi * k / n)] for k in range(n + 1)]
    return right + [[-x, -y] for x, y in right]


def _along_the_oval(x, y):
    """Length along the middle line, counter-clockwise from the middle of the lower straight [m]."""
    half, arc = _STRAIGHT / 2, math.pi * _RADIUS
    on_right = half + _RADIUS * np.arctan2(x - half, -y)
    on_left = half + arc + _STRAIGHT + _RADIUS * np.arctan2(-half - x, y)
    on_straight = np.where(y < 0, x, half + arc + half - x)
    return np.where(x > half, on_right, np.where(x < -half, on_left, on_straight)) % _LOOP


def _single_file(folder, half_width, name):
    """Densities [1/m] and speeds [m/s] of all persons on the oval track, and text about the runs."""
    outer, inner = _oval(_RADIUS + half_width), _oval(_RADIUS - half_width)
    text = ", ".join(f"{x!r} {y!r}" for x, y in [*outer, outer[0]])
    hole = ", ".join(f"{x!r} {y!r}" for x, y in reversed([*inner, inner[0]]))
    places = {"south": rectangle(-0.5, -3.5, 0.5, -2.5), "east": rectangle(4.5, -0.5, 5.5, 0.5),
              "north": rectangle(-0.5, 2.5, 0.5, 3.5), "west": rectangle(-5.5, -0.5, -4.5, 0.5)}
    quarters = {"south": rectangle(-6, -4, 0, 0), "east": rectangle(0, -4, 6, 0), "north": rectangle(0, 0, 6, 4),
                "west": rectangle(-6, 0, 0, 4)}    # before the place
    names = list(places)
    journeys = {f"first_{name}": {"repeat": True, "steps": [{"waypoint": to} for to in names[k:] + names[:k]]}
                for k, name in enumerate(names)}
    densities, speeds, texts = [], [], []
    for count, end in ((24, 240.0), (40, 480.0), (56, 1500.0)):
        shares = [count // 4 + (1 if k < count % 4 else 0) for k in range(4)]
        # Routes along the middle line, on which lengths are measured.
        deck = crowd_deck(f"POLYGON(({text}), ({hole}))", end_time=end, fps=0.5,
                          navigation={"wall_clearance": half_width},
                          waypoints={place: {"polygon": polygon} for place, polygon in places.items()},
                          journeys=journeys,
                          populations={place: {"count": share, "region": quarters[place], "journey": f"first_{place}"}
                                       for place, share in zip(names, shares)})
        run = run_crowd(folder, deck, name=f"{name}_{count}", empty=False)
        frames = [run.paths.frame(frame) for frame in run.paths.frames]
        check(all(len(ids) == count for ids, _ in frames), "all are there in all frames")
        s = np.array([_along_the_oval(*positions.T) for _, positions in frames])
        step = (np.diff(s, axis=0) + _LOOP / 2) % _LOOP - _LOOP / 2
        laps = np.median(np.cumsum(step, axis=0), axis=1) / _LOOP
        last = range(len(laps) - 60, len(laps))
        for k in last:
            order = np.argsort(s[k + 1])
            ahead = np.diff(s[k + 1][order], append=s[k + 1][order[0]] + _LOOP)
            densities.append(2 / (ahead + np.roll(ahead, 1)))
            speeds.append(step[k][order] * run.paths.fps)
        texts.append(f"{np.mean(speeds[-60:]):.3f} m/s at {count / _LOOP:.2f} /m after {laps[last[0]]:.1f} laps")
        check(laps[last[0]] >= 3, "measured after three laps", texts[-1])
    return np.concatenate(densities), np.concatenate(speeds), "; ".join(texts)


def test_r16_single_file(folder):
    """RiMEA 16: speed against density of people in single file. An oval track, straights of 4 m, arcs of 3 m, 24, 40 and
    56 persons (0.89, 1.49 and 2.09 /m; disks allow 2.5 /m), the last two minutes, after three laps or more. Density
    of each person: one over half the way between its neighbours; speed over 2 s. Bins as in the reference; the
    median of each bin with 200 points or more lies between the 10th and 90th percentiles of experiments
    (tests/reference/crowd/single_file.csv). The track is 0.6 m wide, and 0.8 m as in the experiments: there disks
    walk in two rows, which people with shoulders do not."""
    rows = np.loadtxt(source_folder() / "tests/reference/crowd/single_file.csv", delimiter=",", skiprows=5)
    edges = np.concatenate([[0.6], (rows[1:, 0] + rows[:-1, 0]) / 2, [2.85]])
    for name, half_width in (("R16", 0.3), ("R16 wide", 0.4)):
        densities, speeds, text = _single_file(folder, half_width, name.replace(" ", "_"))
        CRITERIA.report("RiMEA 16", name=f"{name}, means", measured=text)
        outside, seen = [], []
        for (density, low, _, high), below, above in zip(rows, edges, edges[1:]):
            chosen = speeds[(densities >= below) & (densities < above)]
            if len(chosen) < 200:
                continue
            median = float(np.median(chosen))
            seen.append(f"{median:.2f} at {density} [{low}, {high}]")
            if not low <= median <= high:
                outside.append(density)
        CRITERIA.row(name, "RiMEA 16", "medians [m/s] of bins of density [1/m] within p10 to p90 of experiments",
                     "; ".join(seen), not outside and len(seen) >= 3)
