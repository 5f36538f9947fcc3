"""Walls, arches, towers and planks.

In a wall every brick lies on its whole length, so from the top down its weight and what rests on it can go straight down at the ends of
the overlaps below: it stands whatever the masses and mu are. So do kapla and tower.
"""
import math

from .problem import BRICK, DENSITY, GROUND, Block, Problem, unit_vector

INNER, OUTER = 0.9, 1.1     # m, radii of rings of stones
QUARTER = math.pi / 2
AROUND = 12                 # stones of a course of the tower


def wall(dimension, size, seed):
    mu = 0.5
    problem = Problem(dimension)
    below = []
    for level in range(size):
        # Running bond: odd courses begin and end with half a brick.
        course, begin = [], 0.0
        while begin < size:
            end = min(0.5 if begin == 0 and level % 2 == 1 else begin + 1, float(size))
            half = [0.5 * (end - begin) * BRICK] + [BRICK / 4] * (dimension - 1)
            at = [0.5 * (end + begin) * BRICK] + [0.0] * (dimension - 1)
            at[-1] = (2 * level + 1) * half[-1]
            block = Block(at, half)
            block.body = problem.add_box(at, half)
            if course:
                problem.join(course[-1], block, 0, mu)
            if level == 0:
                problem.stand_on_ground(block, mu)
            for under in below:
                problem.join(under, block, dimension - 1, mu)
            course.append(block)
            begin = end
        below = course
    return problem.varied(seed, 0.1, 0.1)


def kapla(_, size, seed):
    mu = 0.5
    problem = Problem(3)
    below = []
    for k in range(size):
        along, level = k % 2, []
        for side in (-0.8, 0.8):
            half, at = [BRICK / 10] * 3, [0.0] * 3
            half[along] = BRICK
            at[1 - along] = side * BRICK
            at[2] = (2 * k + 1) * half[2]
            plank = Block(at, half)
            plank.body = problem.add_box(at, half)
            if k == 0:
                problem.stand_on_ground(plank, mu)
            for under in below:
                problem.join(under, plank, 2, mu)
            level.append(plank)
        below = level
    return problem.varied(seed, 0.1, 0.1)


def arc(angle):
    """Length of a stone of a ring."""
    return 0.5 * angle * (INNER + OUTER)


def centre(angle):
    """Distance of the centre of mass of a stone from the axis: that of the piece of the ring."""
    return 4.0 / 3 * math.sin(angle / 2) / angle * (OUTER**3 - INNER**3) / (OUTER * OUTER - INNER * INNER)


def direction(dimension, angle, second_axis, length=1.0, height=0.0):
    """`length` times the direction at an angle in the plane of the first and another axis, and so far up."""
    result = [0.0] * dimension
    result[0] += length * math.cos(angle)
    result[second_axis] += length * math.sin(angle)
    result[-1] += height
    return result


def arch(dimension, size, seed):
    """A semicircular arch of equal stones stands from a thickness of 0.1075 mean radii on, and without slip from mu = 0.31 (Heyman's safe
    theorem; Milankovitch 1907); this one is 0.2 thick. Masses that differ by a share s move its line of thrust by at most s radii, and
    0.046 are free on either side."""
    mu, angle, up = 0.7, math.pi / size, dimension - 1
    problem = Problem(dimension)
    half = [BRICK / 2] * dimension
    half[0], half[up] = arc(angle) / 2, (OUTER - INNER) / 2
    for k in range(size):
        middle = (k + 0.5) * angle
        problem.add_box(direction(dimension, middle, up, centre(angle)), half, DENSITY, 0.0,
                        direction(dimension, middle + QUARTER, up), direction(dimension, middle, up))
    for k in range(size + 1):
        for radius in (INNER, OUTER):
            for side in range(dimension - 1):
                point = direction(dimension, k * angle, up, radius)
                if dimension == 3:
                    point[1] = half[1] if side else -half[1]
                problem.add_contact(k - 1 if k else GROUND, k if k < size else GROUND, point,
                                    direction(dimension, k * angle + QUARTER, up), mu)
    return problem.varied(seed, 0.03, 0.1)


def tower(_, size, seed):
    """Stone k of a course lies between the angles (k + shift) and (k + shift + 1); odd courses are shifted by half a stone."""
    mu, angle = 0.5, 2 * math.pi / AROUND
    half = [arc(angle) / 2, (OUTER - INNER) / 2, BRICK / 2]
    problem = Problem(3)

    def stone(level, k):
        return level * AROUND + (k + AROUND) % AROUND

    for level in range(size):
        for k in range(AROUND):
            middle = (k + 0.5 * (level % 2) + 0.5) * angle
            problem.add_box(direction(3, middle, 1, centre(angle), (2 * level + 1) * half[2]), half, DENSITY, 0.0,
                            direction(3, middle + QUARTER, 1), unit_vector(3, 2))
    for level in range(size):
        for k in range(AROUND):
            bed, start = 2 * level * half[2], k + 0.5 * (level % 2)
            for radius in (INNER, OUTER):
                for end in range(2):
                    for part in range(2):
                        below = stone(level - 1, k + part - (level % 2 == 0)) if level else GROUND
                        problem.add_contact(below, stone(level, k), direction(3, (start + 0.5 * (part + end)) * angle, 1, radius, bed),
                                            unit_vector(3, 2), mu)
                    joint = (start + 1) * angle
                    problem.add_contact(stone(level, k), stone(level, k + 1),
                                        direction(3, joint, 1, radius, bed + 2 * end * half[2]), direction(3, joint + QUARTER, 1), mu)
    return problem.varied(seed, 0.1, 0.1)
