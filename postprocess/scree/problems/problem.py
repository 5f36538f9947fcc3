"""A friction problem as lists, and the boxes and faces that problems are made of.

Numbers are added in the order of the C++ that reads these problems, so that equal seeds give equal bits everywhere.
"""
from .random_stream import FRICTION, JITTER, MASS, RandomStream, cross, normalized

GRAVITY = 9.81          # m/s2
TIME_STEP = 0.01        # s
SPEED = GRAVITY * TIME_STEP
DENSITY = 2500.0        # kg/m3; in the plane of plates 1 m deep
BRICK = 0.1             # m, the length bodies are made of
GROUND = -1


def unit_vector(dimension, axis, length=1.0):
    return [length if k == axis else 0.0 for k in range(dimension)]


def contact_frame(normal):
    """Normal and tangents (n, t1[, t2]): orthonormal, right-handed, a function of n alone. The first tangent in space lies across the
    axis with which the normal is least aligned."""
    if len(normal) == 2:
        return normal, [-normal[1], normal[0]]
    x, y, z = map(abs, normal)
    tangent = normalized(cross(normal, unit_vector(3, 2 if z < min(x, y) else 1 if y < x else 0)))
    return normal, tangent, cross(normal, tangent)


def contact_row(f, lever, sign):
    """A row of H for one body: sign f . (v + omega x lever)."""
    if len(f) == 2:
        return [sign * f[0], sign * f[1], sign * (lever[0] * f[1] - lever[1] * f[0])]
    return [sign * x for x in (*f, *cross(lever, f))]


class Problem:
    """Bodies and contacts, numbered from 0, in SI units."""

    def __init__(self, dimension):
        self.dimension = dimension
        self.q = 3 if dimension == 2 else 6     # velocities of a body
        self.position, self.mass, self.free_velocity = [], [], []       # of bodies; mass: q x q, row by row
        self.pairs, self.jacobian, self.bias, self.mu = [], [], [], []  # of contacts; Jacobian: a list of D rows of q for each side

    def add_body(self, at, mass, inertia, velocity):
        """A body with an inertia about its centre (2D: one number, 3D: 3 x 3, row by row)."""
        D, q = self.dimension, self.q
        block = [0.0] * (q * q)
        for k in range(D):
            block[k * q + k] = mass
        for i in range(q - D):
            for j in range(q - D):
                block[(D + i) * q + D + j] = inertia[i * (q - D) + j]
        self.position.append(at)
        self.mass.append(block)
        self.free_velocity.append(velocity)
        return len(self.position) - 1

    def add_contact(self, a, b, point, normal, mu):
        """A contact of bodies a and b (-1: static) at a point [m], with the unit normal from a to b."""
        frame = contact_frame(normal)
        rows = []
        for body, sign in ((a, -1.0), (b, 1.0)):
            lever = [x - y for x, y in zip(point, self.position[body])] if body >= 0 else None
            rows.append([contact_row(f, lever, sign) if body >= 0 else [0.0] * self.q for f in frame])
        self.pairs.append((a, b))
        self.jacobian.append(rows)
        self.bias.append([0.0] * self.dimension)
        self.mu.append(mu)
        return len(self.pairs) - 1

    def add_box(self, at, half, rho=DENSITY, speed=0.0, first=None, last=None):
        """A box, free to fall from rest or with `speed` along the x axis; `first` and `last` are the directions of its axes."""
        D = self.dimension
        mass = rho
        for length in half:
            mass *= 2 * length
        xx, zz = mass / 3 * half[0] * half[0], mass / 3 * half[-1] * half[-1]
        velocity = [speed] + [0.0] * (self.q - 1)
        velocity[D - 1] = -GRAVITY * TIME_STEP
        if D == 2:
            return self.add_body(at, mass, [xx + zz], velocity)
        yy = mass / 3 * half[1] * half[1]
        e, f = first or unit_vector(3, 0), last or unit_vector(3, 2)
        inertia = [(xx + zz if i == j else 0) + (yy - xx) * e[i] * e[j] + (yy - zz) * f[i] * f[j]
                   for i in range(3) for j in range(3)]
        return self.add_body(at, mass, inertia, velocity)

    def add_face(self, a, b, face, axis, mu):
        """Contacts at the corners of the region in which the faces of two boxes meet; `axis` is the normal from a to b."""
        low, high = face
        for corner in range(2**self.dimension):
            if not corner >> axis & 1:
                self.add_contact(a, b, [high[k] if corner >> k & 1 else low[k] for k in range(self.dimension)],
                                 unit_vector(self.dimension, axis), mu)

    def join(self, first, second, axis, mu):
        """Contacts where the faces of two blocks overlap, if they do."""
        face = overlap(first, second, axis)
        if face:
            self.add_face(first.body, second.body, face, axis, mu)

    def stand_on_ground(self, block, mu):
        self.add_face(GROUND, block.body, bottom(block), self.dimension - 1, mu)

    def varied(self, seed, share_of_mass, share_of_mu):
        """Multiplies each mass and each mu by a factor of its own, at most 1 +- the share; returns the problem."""
        def factor(number, use, share):
            return 1 + share * RandomStream(seed, number, use).uniform(-1, 1)

        for i, block in enumerate(self.mass):
            of_body = factor(i, MASS, share_of_mass)
            self.mass[i] = [x * of_body for x in block]
        self.mu = [mu * factor(c, FRICTION, share_of_mu) for c, mu in enumerate(self.mu)]
        return self


class Block:
    """A box along the axes that has been added."""

    def __init__(self, at, half):
        self.body, self.at, self.half = 0, at, half


def overlap(first, second, axis):
    """(low, high) where the face of `first` towards the positive `axis` and the opposite face of `second` overlap."""
    low, high = [], []
    for k, (a, b, h, i) in enumerate(zip(first.at, second.at, first.half, second.half)):
        low.append(max(a - h, b - i))
        high.append(min(a + h, b + i))
        if k != axis and high[k] - low[k] < 1e-6 * h:
            return None
    low[axis] = high[axis] = first.at[axis] + first.half[axis]
    return low, high


def bottom(block):
    """(low, high) of the lower face."""
    low = [x - h for x, h in zip(block.at, block.half)]
    high = [x + h for x, h in zip(block.at, block.half)]
    high[-1] = low[-1]
    return low, high


def block_of_column(seed, k, half, jitter):
    """Box k of a column, shifted sideways by at most `jitter` half widths."""
    random = RandomStream(seed, k, JITTER)
    at = [jitter * half[axis] * random.uniform(-1, 1) for axis in range(len(half) - 1)]
    return Block([*at, (2 * k + 1) * half[-1]], half)


