"""Columns of boxes, and a plate on many points."""
from .problem import BRICK, DENSITY, GRAVITY, GROUND, TIME_STEP, Problem, block_of_column, unit_vector


def column(dimension, size, seed, half, mu, jitter, matter):
    """Equal boxes one on the other, with the density and speed that `matter(k)` says."""
    problem = Problem(dimension)
    below = None
    for k in range(size):
        block = block_of_column(seed, k, half, jitter)
        block.body = problem.add_box(block.at, half, *matter(k))
        if below:
            problem.join(below, block, dimension - 1, mu)
        else:
            problem.stand_on_ground(block, mu)
        below = block
    return problem


def cube(dimension):
    return [BRICK / 2] * dimension


def plate(dimension):
    return [BRICK] * (dimension - 1) + [BRICK / 20]


def stack(dimension, size, seed):
    return column(dimension, size, seed, cube(dimension), 0.5, 0.1, lambda k: (DENSITY, 0.0))


def mass_ratio(dimension, size, seed):
    return column(dimension, size, seed, cube(dimension), 0.5, 0.1, lambda k: (DENSITY * 1e4**(k / (size - 1)), 0.0))


def sliding(dimension, size, seed):
    """Whatever the masses, plate k is pushed back by mu g dt times its own."""
    return column(dimension, size, seed, plate(dimension), 0.3, 0, lambda k: (DENSITY, 0.1 * (k + 1))).varied(seed, 0.1, 0)


def redundant(dimension, size, seed):
    mu = 0.5
    problem = Problem(dimension)
    half = plate(dimension)
    body = problem.add_box([0.0] * (dimension - 1) + half[-1:], half, DENSITY, 0.5 * mu * GRAVITY * TIME_STEP)
    for i in range(size**(dimension - 1)):
        along = [half[axis] * (2.0 * number / (size - 1) - 1) for axis, number in enumerate((i % size, i // size))]
        problem.add_contact(GROUND, body, [*along[:dimension - 1], 0.0], unit_vector(dimension, dimension - 1), mu)
    return problem.varied(seed, 0.1, 0.1)
