"""Problems made from a solution: M (v - v_free) = H^T r, u = H v + w and Coulomb's law hold to round-off."""
import math
from typing import NamedTuple

from .problem import BRICK, DENSITY, GRAVITY, GROUND, SPEED, TIME_STEP, Problem, block_of_column, bottom, overlap, unit_vector
from .random_stream import BODY, CONTACT, IMPULSE, ORDER, VELOCITY, RandomStream, cross, dot, normalized

MAX_DECADES = 6
TILT = 1e-3


class Solved(NamedTuple):
    """A problem with a solution of it, not always the only one: r is one of many where contacts are redundant."""
    problem: Problem
    v: list     # of bodies [m/s, rad/s]
    r: list     # of contacts [N s]
    u: list     # of contacts [m/s]


def inverse_mass_times(block, x, dimension):
    """M^-1 x for one body, with a mass block as add_body() makes it."""
    q = len(x)
    y = [x[k] / block[0] for k in range(dimension)]
    if dimension == 2:
        return [*y, x[2] / block[2 * q + 2]]
    columns = [[block[(3 + i) * q + 3 + j] for i in range(3)] for j in range(3)]
    determinant = dot(columns[0], cross(columns[1], columns[2]))
    return y + [dot(x[3:], cross(columns[(j + 1) % 3], columns[(j + 2) % 3])) / determinant for j in range(3)]    # Cramer's rule


def drawn_contact(problem, contact, seed, carried):
    """(r, u) of a contact: about a third each is open, sticks and slips, strictly so but where mu = 0."""
    D = problem.dimension
    random = RandomStream(seed, contact, IMPULSE)
    lighter = min(problem.mass[body][0] for body in problem.pairs[contact] if body >= 0)
    kind, normal, tangential = random.uniform(), random.uniform(0.2, 1), random.uniform(0.2, 0.9)
    direction = random.direction(D - 1)
    still = [0.0] * D
    if carried and carried[contact][0] > 0:
        return list(carried[contact]), still
    if 3 * kind < 1:
        return still, [normal * SPEED] + [tangential * SPEED * e for e in direction]
    r = [normal * lighter * SPEED]
    slips = 3 * kind > 2
    r += [(1 if slips else tangential) * problem.mu[contact] * r[0] * e for e in direction]
    return r, [0.0] + [-tangential * SPEED * e for e in direction] if slips else still


def manufacture(problem, seed, carried=None):
    """Keeps bodies, contacts, masses and mu of the problem, draws a solution of about the size of a step under gravity, and sets free
    velocities and bias (all D components) to what makes it one:
        v_free = v - M^-1 H^T r,   w = u - H v.
    Contacts with an impulse in `carried` (inside their cones) stick with that impulse."""
    D, q = problem.dimension, problem.q
    v = []
    for i, block in enumerate(problem.mass):
        random = RandomStream(seed, i, VELOCITY)
        v.append([SPEED * random.uniform(-1, 1) * math.sqrt(block[0] / block[k * q + k]) for k in range(q)])
    drawn = [drawn_contact(problem, c, seed, carried) for c in range(len(problem.pairs))]
    push = [[0.0] * q for _ in v]       # H^T r
    for c, (r, u) in enumerate(drawn):
        for k in range(D):
            bias = u[k]
            for side, body in enumerate(problem.pairs[c]):
                if body >= 0:
                    row = problem.jacobian[c][side][k]
                    for j in range(q):
                        push[body][j] += row[j] * r[k]
                        bias -= row[j] * v[body][j]
            problem.bias[c][k] = bias
    problem.free_velocity = [[speed - gained for speed, gained in zip(of_body, inverse_mass_times(block, impulse, D))]
                             for of_body, block, impulse in zip(v, problem.mass, push)]
    return Solved(problem, v, [r for r, _ in drawn], [u for _, u in drawn])


def turned_box(problem, number, at, seed):
    """A box of random size, density and orientation."""
    D = problem.dimension
    random = RandomStream(seed, number, BODY)
    half = [BRICK * random.uniform(0.25, 0.5) for _ in range(D)]
    first, last = random.direction(D), random.direction(D)
    along = dot(first, last)
    last = normalized([x - along * e for x, e in zip(last, first)])
    problem.add_box(at, half, DENSITY * random.uniform(0.5, 2), 0.0, first, last)


def manufactured(dimension, size, seed):
    """Boxes on a lattice. Each touches the one before it along each axis, or the ground, at none, one or two points."""
    n_wide = math.ceil(size**(1.0 / dimension) - 1e-9)
    problem = Problem(dimension)
    for i in range(size):
        turned_box(problem, i, [(i // n_wide**k % n_wide + 0.5) * BRICK for k in range(dimension)], seed)
    for i in range(size):
        for k in range(dimension):
            stride = n_wide**k
            random = RandomStream(seed, i * dimension + k, CONTACT)
            n = 1 if i == 0 and k == 0 else int(3 * random.uniform())
            for _ in range(n):
                point = list(problem.position[i])
                point[k] -= BRICK / 2
                point = [x + 0.3 * BRICK * e for x, e in zip(point, random.direction(dimension))]
                normal = normalized([x + 0.5 * e for x, e in zip(unit_vector(dimension, k), random.direction(dimension))])
                mu = 0.0 if random.uniform() < 0.1 else random.uniform()
                problem.add_contact(GROUND if i // stride % n_wide == 0 else i - stride, i, point, normal, mu)
    return manufacture(problem, seed)


def ill_conditioned(dimension, size, seed):
    """The corners of a face carry what is above it, and stick; contacts between them have impulses to match the lighter body. So a light
    body between heavy ones is in balance but for its own weight, and free velocities are of the size of g dt though impulses span all
    decades."""
    decades = min(0.5 * size, MAX_DECADES)
    turn = sorted(range(size), key=lambda i: RandomStream(seed, i, ORDER).uniform())
    problem = Problem(dimension)
    blocks = []
    for k in range(size):
        block = block_of_column(seed, k, [BRICK / 2] * dimension, 0.1)
        block.body = problem.add_box(block.at, block.half, DENSITY * 10**(decades * (turn[k] / (size - 1))))
        blocks.append(block)
    carried, mass_above, moment_above = [], 0.0, [0.0] * dimension    # moment: mass times place
    for k in reversed(range(size)):
        face = overlap(blocks[k - 1], blocks[k], dimension - 1) if k else bottom(blocks[k])
        mass = problem.mass[k][0]
        mass_above += mass
        moment_above = [x + mass * at for x, at in zip(moment_above, blocks[k].at)]
        carried += load_of_face(problem, k, face, mass_above, moment_above, seed)
    return manufacture(problem, seed, carried)


def load_of_face(problem, k, face, mass_above, moment_above, seed):
    """Adds the contacts below block k, 4 or 3 x 3 of them with normals 1e-3 apart; returns the impulse that each carries."""
    D = problem.dimension
    n_along = 4 if D == 2 else 3
    low, high = face
    impulses = []
    for i in range(n_along**(D - 1)):
        random = RandomStream(seed, k * n_along**(D - 1) + i, CONTACT)
        point, weight, rest = list(low), mass_above * GRAVITY * TIME_STEP, i
        for axis in range(D - 1):
            along, width = rest % n_along / (n_along - 1), high[axis] - low[axis]
            center = (moment_above[axis] / mass_above - low[axis]) / width
            point[axis] += along * width
            weight *= 1 - center if along == 0 else center if along == 1 else 0
            rest //= n_along
        normal = normalized([x + TILT * e for x, e in zip(unit_vector(D, D - 1), random.direction(D))])
        contact = problem.add_contact(k - 1 if k else GROUND, k, point, normal, random.uniform(0.3, 0.7))
        impulses.append([weight * row[D - 1] for row in problem.jacobian[contact][1]])
    return impulses
