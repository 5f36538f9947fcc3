"""Published methods for dx/dt = f(x) with constraints gap_c(x) >= 0 that position-based dynamics is compared with, in numpy (docs/method.md,
"Other methods"; S. Plunder, S. Merino-Aceituno, arXiv:2310.01215). Few bodies only."""
import itertools

import numpy as np

SLIDING_DISTANCE, SLIDING_START = 10, np.pi / 16    # C: of the centres of the spheres from the origin [m]; angle of the start
DISK_RADIUS = 0.1   # [m]


class Constraints:
    """gap_c = |d_c| - distance with d_c = sum over bodies of `share[c, body]` x_body - centre_c: share is 1, and -1 for the second body of a
    pair. `near`: only constraints with less gap [m] are looked at in sweeps, since no body moves as far in a step."""

    def __init__(self, share, centre, distance, near=np.inf):
        self.share, self.centre, self.distance, self.near = np.asarray(share, float), np.asarray(centre, float), distance, near
        self.total = np.abs(self.share).sum(axis=1)     # of the mobilities of its bodies

    def __len__(self):
        return len(self.total)

    def at(self, x):
        """Gaps (c,) [m] and their gradients by the first body (c, D)."""
        d = self.share @ x - self.centre
        length = np.sqrt((d * d).sum(axis=1))
        return length - self.distance, d / length[:, None]

    def displacement(self, push, normal):
        """Of the bodies (n, D)."""
        return self.share.T @ (push[:, None] * normal)


def sliding_balls():
    """A point outside of two spheres of radius sqrt(1 + C^2)."""
    centres = [[0, 0, SLIDING_DISTANCE], [0, 0, -SLIDING_DISTANCE]]
    return Constraints([[1], [1]], centres, np.sqrt(1 + SLIDING_DISTANCE**2))


def disk_pairs(n):
    """All pairs of n disks, in the order i = 1..n-1, j < i."""
    pairs = [(i, j) for i, j in itertools.product(range(n), range(n)) if j < i]
    share = np.zeros((len(pairs), n))
    for c, (i, j) in enumerate(pairs):
        share[c, i], share[c, j] = 1, -1
    return Constraints(share, 0, 2 * DISK_RADIUS, near=DISK_RADIUS)


class HalfSpaces:
    """PGS: sweeps of projections on half-spaces frozen at the predicted positions, until the change of one sweep is at most
    tolerance (|x| + 0.01 m). `dual`: with accumulated multipliers, which finds the nearest point instead of some point."""

    def __init__(self, tolerance, dual=False, max_sweeps=10_000):
        self.tolerance, self.dual, self.max_sweeps = tolerance, dual, max_sweeps

    def step(self, constraints, x, way):
        """The next positions, and sweeps; 0 of these if they did not converge."""
        before = y = x + way
        gap, normal = constraints.at(y)
        looked_at = np.flatnonzero(gap < constraints.near)
        jacobian = (constraints.share[looked_at, :, None] * normal[looked_at, None, :]).reshape(len(looked_at), -1)
        gap, coupling, multiplier = gap[looked_at].tolist(), jacobian @ jacobian.T, [0.0] * len(looked_at)
        neighbours = [[(int(k), float(row[k])) for k in np.flatnonzero(row)] for row in coupling]
        total = constraints.total[looked_at].tolist()
        for sweep in range(1, self.max_sweeps + 1):
            for c, own in enumerate(total):
                push = max(-gap[c] / own, -multiplier[c] if self.dual else 0.0)
                if push == 0:
                    continue
                multiplier[c] += push
                for k, coupled in neighbours[c]:
                    gap[k] += coupled * push
            now = y + (jacobian.T @ multiplier).reshape(y.shape)
            change, before = np.linalg.norm(now - before), now
            # The size is that of the positions before the sweep; after it they are the same to first order of the change.
            if change <= self.tolerance * (0.01 + np.linalg.norm(now)):
                return now, sweep
        return before, 0


class Jacobi:
    """Adds the corrections of all contacts, each divided by the larger number of contacts of its two bodies."""

    def step(self, constraints, x, way):
        y = x + way
        gap, normal = constraints.at(y)
        touching = (gap < 0).astype(float)
        of_body = np.abs(constraints.share.T) @ touching
        max_share = np.max(np.abs(constraints.share) * of_body, axis=1)
        push = np.maximum(-gap, 0) / constraints.total / np.maximum(max_share, 1)
        return y + constraints.displacement(push, normal), 1


class Penalty:
    """Explicit Euler on f - rate sum_c depth_c grad depth_c; `share` is rate times the step."""

    def __init__(self, share):
        self.share = share

    def step(self, constraints, x, way):
        gap, normal = constraints.at(x)
        return x + way + constraints.displacement(self.share * np.maximum(-gap, 0) / constraints.total, normal), 1
