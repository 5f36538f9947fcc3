"""Equal spheres that fill their box."""
import itertools
import math

from .problem import BRICK, DENSITY, GRAVITY, GROUND, TIME_STEP, Problem, unit_vector
from .random_stream import JITTER, RandomStream

MU = 0.3
RADIUS = BRICK / 4


def add_ball(problem, at, velocity):
    """A sphere, or a disc 1 m deep."""
    plane = problem.dimension == 2
    mass = DENSITY * math.pi * RADIUS * RADIUS * (1 if plane else 4.0 / 3 * RADIUS)
    moment = (0.5 if plane else 0.4) * mass * RADIUS * RADIUS
    return problem.add_body(at, mass, [moment] if plane else [moment, 0.0, 0.0, 0.0, moment, 0.0, 0.0, 0.0, moment], velocity)


def shaken(dimension, seed, number):
    """Velocities drawn at random up to g dt, after a step of free fall."""
    random = RandomStream(seed, number, JITTER)
    velocity = [GRAVITY * TIME_STEP * random.uniform(-1, 1) / (1 if k < dimension else RADIUS)
                for k in range(3 if dimension == 2 else 6)]
    velocity[dimension - 1] -= GRAVITY * TIME_STEP
    return velocity


def jammed(dimension, size, seed):
    """A sphere wherever the half-integer coordinates of a site sum to an even number: face-centred cubic in space."""
    n_sites = 2 * size + 1      # along an axis
    problem = Problem(dimension)
    bodies = {}
    for number, site in enumerate(itertools.product(range(n_sites), repeat=dimension)):
        if sum(site) % 2 == 0:
            at = [RADIUS * (1 + math.sqrt(2.0) * s) for s in site]
            bodies[site] = add_ball(problem, at, shaken(dimension, seed, number))
    for site, body in bodies.items():
        at = problem.position[body]

        def touch(a, b, normal):
            sign = -1 if a == GROUND else 1
            problem.add_contact(a, b, [x + sign * RADIUS * n for x, n in zip(at, normal)], normal, MU)

        for axis in range(dimension):
            if site[axis] == 0:
                touch(GROUND, body, unit_vector(dimension, axis))
            if site[axis] == n_sites - 1:
                touch(body, GROUND, unit_vector(dimension, axis))
            for other, side in itertools.product(range(axis + 1, dimension), (-1, 1)):
                there = list(site)
                there[axis] += 1
                there[other] += side
                if tuple(there) in bodies:
                    normal = unit_vector(dimension, axis, math.sqrt(0.5))
                    normal[other] += side * math.sqrt(0.5)
                    touch(body, bodies[tuple(there)], normal)
    return problem
