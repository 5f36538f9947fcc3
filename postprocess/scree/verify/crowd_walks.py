"""People in a line: head-on pairs, columns that push, files that close on themselves; and how results converge with the step."""
import math

import numpy as np

from scree.results.record import Trajectory
from scree.verify.crowd_decks import Steps, at_places, crowd_deck, person, record_steps, run_quietly


def verify_head_on(laboratory, table):
    """Two people walk towards each other along the middle of a corridor. They meet at the time t* = gap / (v_a + v_b); from then on
    they move together with (v_a - v_b) / 2 and press with (v_a + v_b) / 2."""
    for speeds in ((1.34, 1.34), (1.5, 1.0)):
        check_pair(laboratory, table, *speeds)


def check_pair(laboratory, table, speed_a, speed_b):
    dt, radius_a, radius_b, start_gap, x_a, steps_after = 0.05, 0.2, 0.17, 3.217, 4.05, 12
    meeting = start_gap / (speed_a + speed_b)
    step_of_meeting = math.ceil(meeting / dt)
    steps = step_of_meeting + steps_after
    name = f"pair{speed_a:g}"
    deck = record_steps(crowd_deck(
        dt, steps, [[0, 0], [12, 0], [12, 2], [0, 2]], crowd={"speed_law": "none", "tolerance": 1e-14},
        exits={"left": {"line": [[0, 0], [0, 2]]}, "right": {"line": [[12, 0], [12, 2]]}},
        journeys={f"to_{exit}": {"steps": [{"exits": [exit]}]} for exit in ("left", "right")},
        agents={"a": person(radius_a, speed_a), "b": person(radius_b, speed_b)},
        populations={"a": at_places(laboratory, f"{name}a", [(x_a, 1)], agents=["a"], journey="to_right"),
                     "b": at_places(laboratory, f"{name}b", [(x_a + radius_a + radius_b + start_gap, 1)], agents=["b"],
                                    journey="to_left")}))
    run, together, push = Steps(run_quietly(laboratory, table, [deck])[0]), (speed_a - speed_b) / 2, (speed_a + speed_b) / 2
    loads = np.array([run.loads(step)[0].get((0, 1), 0.0) for step in range(step_of_meeting, steps + 1)])
    distance = np.linalg.norm(run.position[step_of_meeting:, 1] - run.position[step_of_meeting:, 0], axis=1)
    off = np.linalg.norm(run.velocity[step_of_meeting + 1:] - [together, 0], axis=2)
    # Of the pair's relative motion in the step of the meeting the rest was taken away; each walked on by `together`.
    seen_meeting = step_of_meeting * dt - dt * loads[0] / push
    which = f"v0 = {speed_a:g} and {speed_b:g} m/s: "
    table.exact("s1", which + "they meet at [s]", seen_meeting, meeting, 1e-12)
    table.at_most("s1", which + "gap from then on [m]", np.abs(distance - radius_a - radius_b).max(), 1e-12)
    table.at_most("s1", which + "error of the multiplier [m/s]", np.abs(loads[1:] - push).max(), 1e-12)
    table.at_most("s1", which + "error of their velocity [m/s]", off.max(), 1e-12)


def verify_columns(laboratory, table):
    """n people in a file all want to go on with v0, the first stands at a wall: person k from the back pushes the next one with k v0,
    the wall carries n v0. Nobody is off the line by a single bit, or the column would buckle."""
    radius, speed, gap, dt = 0.2, 1.34, 0.03, 0.05
    for n in (3, 10, 30):
        length = (2 * radius + gap) * (n + 1)
        steps = math.ceil(length / (2 * radius) * gap / (speed * dt)) + 20
        places = [(radius + gap / 2 + (2 * radius + gap) * i, 1) for i in range(n)]
        deck = record_steps(crowd_deck(
            dt, steps, [[0, 0], [length, 0], [length, 2], [0, 2]], agents={"person": person(radius, speed)},
            crowd={"speed_law": "none", "tolerance": 1e-14, "direction": [1, 0], "max_sweeps": 100000},
            populations={"file": at_places(laboratory, f"column{n}", places)}))
        run = Steps(run_quietly(laboratory, table, [deck])[0])
        pairs, (_, _, on_walls) = run.loads(-1)
        ends = np.array([[length - radius - 2 * radius * (n - 1 - i), 1] for i in range(n)])
        which = f"{n} people: "
        table.exact("s2", which + "multiplier of the wall [m/s]", on_walls.sum(), n * speed, 1e-9)
        table.at_most("s2", which + "largest error of those of pairs [m/s]",
                      np.max([abs(pairs.get((i, i + 1), 0.0) - (i + 1) * speed) for i in range(n - 1)]), 1e-9)
        table.at_most("s2", which + "largest error of places [m]", np.linalg.norm(run.position[-1] - ends, axis=1).max(), 1e-12)


# ---- Convergence in the time step

COARSEST, FINEST, N_STEPS, N_SEEDS = 0.05, 64, 4, 24    # [s]; part of it; steps, each half the one before


def funnel(seed, law, part):
    """12 people come out of a room, around a column, through a funnel into a long passage: 2 s with a part of the coarsest step."""
    dt = COARSEST / part
    deck = crowd_deck(dt, 40 * part, [[0, 0], [4, 0], [6, 1.4], [12, 1.4], [12, 2.5], [6, 2.5], [4, 4], [0, 4]],
                      crowd={"speed_law": law, "turning_angle": 0, "spreading": 0, "tolerance": 1e-11, "max_sweeps": 100000},
                      exits={"end": {"line": [[12, 1.4], [12, 2.5]]}},
                      populations={"crowd": {"region": [[1.5, 0.5], [3.8, 0.5], [3.8, 3.5], [1.5, 3.5]], "count": 12}})
    deck["walkable"]["obstacles"] = {"column": {"circles": [[4.4, 1.7, 0.3]]}}
    deck["simulation"]["seed"] = seed
    return deck


def last_places(course):
    with Trajectory(course.results.folder / "case.h5") as record:
        return record.positions(-1)


def verify_convergence(laboratory, table):
    """The projection alone, then with the headway law, which jumps where somebody comes into one's way (also without turning): with
    jumps there is no order to expect, only that steps that are halved bring one nearer."""
    parts = [2**k for k in range(N_STEPS)]
    for law, band in (("none", (0.8, 1.3)), ("headway", (0.6, 1.6))):
        decks = [funnel(seed, law, part) for seed in range(1, N_SEEDS + 1) for part in (*parts, FINEST)]
        places = np.array([last_places(course) for course in run_quietly(laboratory, table, decks)]).reshape(N_SEEDS, N_STEPS + 1, -1, 2)
        squares = ((places[:, :-1] - places[:, -1:])**2).sum(axis=3).mean(axis=2)
        errors = np.exp(np.log(np.sqrt(squares)).mean(axis=0))      # typical ones, over seeds
        for part, error in zip(parts, errors):
            table.show(f'     speed_law "{law}", dt = {1e3 * COARSEST / part:g} ms: typical error {1e3 * error:.2f} mm')
        order = -np.polyfit(np.arange(N_STEPS), np.log2(errors), 1)[0]
        table.within("s3", f'speed_law "{law}": order of convergence [-]', order, *band)


def verify_files(laboratory, table):
    """Equal people in a file that closes on itself walk, in the end, with v = min(v0, max(v_creep, (1/rho - 2r) / T))."""
    radius, speed, headway_time, creep_speed, n, dt, steps = 0.2, 1.34, 0.8, 0.15, 24, 0.1, 6000
    decks, densities = [], (0.4, 0.6, 0.8, 1.0, 1.3, 1.7, 2.2, 2.45)
    for density in densities:
        length = n / density
        free = length / n - 2 * radius
        # Unequal gaps at first.
        places = [(length * (i + 0.5) / n + 0.3 * free * math.sin(2.0 * math.pi * i / n), 1) for i in range(n)]
        decks.append(crowd_deck(
            dt, steps, [[-5, 0], [length + 5, 0], [length + 5, 2], [-5, 2]],
            domain={"lower": [0, -1], "upper": [length, 3], "periodic": [True, False]},
            crowd={"direction": [1, 0], "turning_angle": 0},
            agents={"person": person(radius, speed, headway_time=headway_time, creep_speed=creep_speed)},
            populations={"file": at_places(laboratory, f"file{density:g}", places)}))
    for density, course in zip(densities, run_quietly(laboratory, table, decks)):
        with Trajectory(course.results.folder / "case.h5") as record:
            along = record.velocities(-1)[:, 0]
        expected = min(speed, max(creep_speed, (1 / density - 2 * radius) / headway_time))
        worst = along[np.argmax(np.abs(along - expected))]
        table.exact("s6", f"speed at {density:g} per m, the one that is farthest off [m/s]", worst, expected, 1e-6)
