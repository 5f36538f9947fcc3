"""The speed of a wave in a row of dominoes."""
import math

import numpy as np

from scree.verify.checks import Row
from scree.verify.solids import G, SolidDeck


def _chain(n, angle, height, thickness, gap):
    """Of n dominoes that lean on each other, the first at this angle: sum of (dt_i / dt_first)^2, sum of the heights of centres."""
    inertia, centres, share = 0.0, 0.0, 1.0
    for _ in range(n):
        inertia = inertia + share**2
        centres = centres + 0.5 * (height * np.cos(angle) + thickness * np.sin(angle))
        lean = np.arcsin(((gap + thickness) * np.cos(angle) - thickness) / height)
        share = share * (1 - (gap + thickness) * np.sin(angle) / (height * np.cos(lean)))
        angle = angle + lean
    return inertia, centres


def impact_times(n, push, height, thickness, gap, gravity=G):
    """When domino 0, 1, ..., n - 1 of a row begins to move [s]; domino 0 stands and gets the spin `push` at 0 [rad/s].

    No slip on the floor, no friction between dominoes, no restitution, sharp edges. Domino i, at the angle t_i from upright, leans with its
    upper edge on the face of the next (van Leeuwen's constraint):
        h sin(t_i - t_{i+1}) = (s + d) cos(t_{i+1}) - d
    so the row has one degree of freedom, the angle of its first domino. It keeps its energy from impact to impact; at an impact momenta
    are projected on the motion of the longer row."""
    inertia = (height**2 + thickness**2) / 3     # about the edge, over mass
    last, n_parts = math.asin(gap / height), 2000
    middles = (np.arange(n_parts) + 0.5) * (last / n_parts)     # time over the angle, by the midpoint rule
    times, rate = [0.0], push
    while len(times) < n:
        moving, centres = _chain(len(times), 0.0, height, thickness, gap)
        energy = 0.5 * inertia * moving * rate**2 + gravity * centres

        def rate_at(angle, n_moving=len(times), energy=energy):
            moving, centres = _chain(n_moving, angle, height, thickness, gap)
            return np.sqrt(2 * (energy - gravity * centres) / (inertia * moving))

        times.append(times[-1] + float(np.sum(last / n_parts / rate_at(middles))))
        moving, _ = _chain(len(times) - 1, last, height, thickness, gap)
        rate = float(rate_at(last)) * moving / (moving + 1)
    return np.array(times)


def wave_deck(gap, n, steps):
    """A row in the plane, its first domino pushed so that it falls freely."""
    h, d = 1, 0.15625
    push, dt, pitch = math.sqrt(G / h), h / (100 * math.sqrt(G * h)), gap + d
    deck = SolidDeck([-4, -4], [n * pitch + 4, 8], dt, steps)
    deck.slope(0)
    deck.tables["solver"] = {"type": "auto", "tolerance": 1e-6}
    deck.material("body", 1000)
    deck.pair("floor", "body", 10, 0)       # no slip
    deck.box("domino", [d, h], 1e-4)
    for i in range(n):
        first = i == 0
        deck.place("body", [i * pitch, h / 2], velocity=[push * h / 2, push * d / 2] if first else [0, 0], spin=[-push if first else 0.0],
                   orientation=0.0, shape="domino")
    deck.record_every()
    return deck


def wave(laboratory, gap, first, last):
    """Rows of a wave: speeds are those over the dominoes from `first` to `last`, of the run and of the reference alike."""
    h, d = 1, 0.15625
    n, pitch, scale = last + 3, gap + d, math.sqrt(G * h)
    known_times = impact_times(n, math.sqrt(G / h), h, d, gap)
    dt = h / (100 * scale)
    course = laboratory.run(wave_deck(gap, n, math.ceil(1.1 * known_times[last] / dt)))
    # A domino that is hit turns at once as fast as a row does.
    moves = -course.series.spin[1:, :, 0] > 0.2 * math.sqrt(G / h)
    times = np.where(moves.any(axis=0), dt * (moves.argmax(axis=0) + 1), math.inf)

    def speed(t):
        return (last - first) * pitch / (t[last] - t[first]) / scale

    until = len(moves) if math.isinf(times[last]) else round(times[last] / dt)
    variant, known = f"s/h = {gap / h:.4f}, {first} to {last}", speed(known_times)
    return [Row("v / sqrt(g h) [-]", variant, known, speed(times), 0.02 * known),
            Row("steps not solved [-]", variant, 0, float(np.sum(1 - course.certificate["solved"][1:until + 1])), 0)]


def dominoes(laboratory, table):
    waves = [(1 / 3, 12, 20)]
    if not laboratory.quick:
        waves += [(1 / 2, 12, 20), (1 / 6, 12, 20), (1 / 6, 20, 25), (1 / 6, 35, 40)]
    table.add("dominoes", [row for rows in laboratory.each(lambda case: wave(laboratory, *case), waves) for row in rows])


def domino_cases(_laboratory):
    return [dominoes]
