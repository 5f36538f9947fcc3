"""The published interior-point method with separate multipliers of the normal and the friction constraint, for a cube on a slope, against
the published table (docs/verification.md, "Published table").

Source: Y.-L. Chen, M. Ly, C. Wojtan, "Primal-Dual Non-Smooth Friction for Rigid Body Animation", SIGGRAPH 2024, Table 7 of the supplement.
Equations: docs/method.md, I.10-I.18. All cubes of the table are solved at once: arrays have one entry per cube first.
"""
import csv as csv_reader
import math

import numpy as np

from scree.verify.checks import Checks

G, DT, N_STEPS = 9.81, 0.01, 501        # [m/s2], [s]
ANGLE = math.radians(26.565)
HALF, MASS = 1.0, 8000.0                # of the cube [m], [kg]
INERTIA = MASS * (2 * HALF)**2 / 6      # [kg m2]
MAX_CREEP = 100                         # velocity of a cube that sticks, as a multiple of eps_T [m/s]
LEAST_HESSIAN = 1e-6                    # eps_p^2 of the second derivative at least
KEPT, TAKEN = 0.1, 0.99                 # share of the distance to a constraint that a step keeps; share of a clipped step that is taken


def corner_rows():
    """H of the four lower corners (4, 3, 6): along the normal, down the slope, across."""
    rows = np.zeros((4, 3, 6))
    for corner, (x, y) in enumerate((x, y) for x in (-HALF, HALF) for y in (-HALF, HALF)):
        for i, axis in enumerate(np.eye(3)[[2, 0, 1]]):
            rows[corner, i] = np.concatenate([axis, np.cross([x, y, -HALF], axis)])
    return rows


def on_disc(x, radius):
    """x (..., 2) cut to |x| <= radius."""
    length = np.linalg.norm(x, axis=-1)
    return x * np.where(length > radius, radius / np.where(length > 0, length, 1), 1)[..., None]


class Iterate:
    """Impulses r (n, 4, 3), velocities y (n, 6), multipliers (n, 4, 2), and how far they are from a solution (I.12)."""

    def __init__(self, cubes, r, y, multipliers):
        self.r, self.y, self.multipliers = r, y, multipliers
        self.c = cubes.constraints(r)
        self.momentum = y - cubes.free - np.einsum("cij,nci->nj", cubes.J, r)
        u = np.einsum("cij,nj->nci", cubes.J, y)
        slip, limit = np.linalg.norm(u[..., 1:], axis=-1), cubes.mu * r[..., 0]
        gradient = r[..., 1:] / cubes.smooth_norm(r)[..., None]
        self.stationarity = np.concatenate([(multipliers[..., 0] - u[..., 0])[..., None],
                                            -u[..., 1:] - multipliers[..., 1:] * gradient], axis=-1)
        weight = np.clip(limit / (slip + 1e-8) * cubes.W_NN, 1e-3, 1)
        product = multipliers * self.c
        law = r - u     # Alart and Curnier
        law = np.concatenate([np.maximum(law[..., :1], 0), on_disc(law[..., 1:], limit)], axis=-1) - r
        self.momentum2 = (self.momentum**2).sum(axis=-1)
        self.stationarity2 = (self.stationarity[..., 0]**2 + weight**2 * (self.stationarity[..., 1:]**2).sum(axis=-1)).sum(axis=-1)
        self.product2, self.law2 = (product**2).sum(axis=(1, 2)), (law**2).sum(axis=(1, 2))
        self.gap = -product.mean(axis=(1, 2))

    def barrier2(self, tau):
        """Sum of (lambda c + tau)^2."""
        n = self.multipliers[0].size
        return np.maximum(self.product2 + n * tau * (tau - 2 * self.gap), 0)

    def merits(self, tau):
        """(I.17)."""
        return (self.momentum2 + self.stationarity2 + self.barrier2(tau), self.momentum2 + self.law2 + self.product2)

    def take(self, other, which):
        """The other one where `which` says so."""
        for name, value in vars(other).items():
            getattr(self, name)[which] = value[which]


class Cubes:
    """Contact problems of one step in the published scales: cubes with friction mu and widths eps_p = eps_s = eps of the cone, (n, 1) each."""

    def __init__(self, mu, eps, speed, free):
        """`speed`: largest at a corner when the step begins [m/s]; `free`: velocities without contacts [m/s, rad/s]."""
        self.mu, self.eps = mu, eps
        self.mass = (3 * MASS + 3 * INERTIA) / 6
        self.speed = np.maximum(speed, 0.25 * G * DT)
        self.root = np.sqrt(np.repeat([MASS, INERTIA], 3) / self.mass)
        self.J = corner_rows() / self.root
        self.W_NN = (self.J[:, 0]**2).sum(axis=-1)
        self.free = free * self.root / self.speed[:, None]

    def smooth_norm(self, r):
        return np.hypot(np.linalg.norm(r[..., 1:], axis=-1), self.eps)

    def constraints(self, r):
        """(I.10)."""
        return np.stack([-r[..., 0], self.smooth_norm(r) - self.mu * r[..., 0] - 2 * self.eps], axis=-1)

    def start(self):
        """Unit normal impulses, and multipliers of the size of the other residuals."""
        r = np.zeros((len(self.free), 4, 3))
        r[..., 0] = 1
        multipliers = np.full((len(r), 4, 2), 1e-2)
        at = Iterate(self, r, self.free.copy(), multipliers)
        factor = np.minimum(np.sqrt(np.minimum(at.momentum2, at.stationarity2) / at.barrier2(KEPT * at.gap)), 10)
        return Iterate(self, r, self.free.copy(), multipliers * np.where(factor > 0, factor, 1)[:, None, None])

    def newton_step(self, at, tau, regulariser):
        """(I.14)-(I.16): changes of r, y and the multipliers."""
        r, multipliers, c, rho = at.r, at.multipliers, at.c, at.stationarity
        eps, tau = regulariser[:, None], tau[:, None, None]
        slope, product = 1 / (c - eps[..., None] * multipliers), multipliers * c + tau
        gradient = r[..., 1:] / self.smooth_norm(r)[..., None]
        hessian = np.maximum(self.eps**2, LEAST_HESSIAN)
        curved = (r[..., 1:]**2).sum(axis=-1) + hessian
        along, across = -multipliers[..., 1] * slope[..., 1], multipliers[..., 1] / curved**1.5
        turned = np.stack([r[..., 2], -r[..., 1]], axis=-1)
        inverse = np.zeros((*r.shape, 3))
        inverse[..., 0, 0] = eps - multipliers[..., 0] * slope[..., 0]
        inverse[..., 1:, 1:] = ((eps + across * hessian)[..., None, None] * np.eye(2)
                                + along[..., None, None] * gradient[..., :, None] * gradient[..., None, :]
                                + across[..., None, None] * turned[..., :, None] * turned[..., None, :])
        K = np.linalg.inv(inverse)
        x = rho.copy()
        x[..., 0] -= product[..., 0] * slope[..., 0]
        x[..., 1:] += gradient * (product[..., 1] * slope[..., 1])[..., None]
        x = np.einsum("ncij,ncj->nci", K, x)
        system = np.einsum("cij,ncik,ckl->njl", self.J, K, self.J) + (1 + eps)[..., None] * np.eye(6)
        dy = np.linalg.solve(system, (np.einsum("cij,nci->nj", self.J, x) - at.momentum)[..., None])[..., 0]
        dr = x - np.einsum("ncij,cjk,nk->nci", K, self.J, dy)
        growth = np.stack([-dr[..., 0], (gradient * dr[..., 1:]).sum(axis=-1)], axis=-1)
        return dr, dy, -(multipliers * growth + product) * slope

    def trial(self, at, step, length):
        """At this share of the step, each contact moved back inside its constraints."""
        dr, dy, dmultipliers = step
        share = length[:, None, None]
        normal = at.r[..., 0] + length[:, None] * dr[..., 0]
        normal = np.where(normal <= 0, KEPT * at.r[..., 0], normal)
        clipped = np.concatenate([normal[..., None], at.r[..., 1:] + share * dr[..., 1:]], axis=-1)
        wanted = KEPT * at.c[..., 1] + self.mu * normal + 2 * self.eps
        radius = np.sqrt(np.maximum((wanted - self.eps) * (wanted + self.eps), 0)) * (wanted > self.eps)
        outside = (self.constraints(clipped)[..., 1] >= 0)[..., None]
        clipped[..., 1:] = np.where(outside, on_disc(clipped[..., 1:], radius), clipped[..., 1:])
        multipliers = np.maximum(at.multipliers + share * dmultipliers, 0)
        return Iterate(self, at.r + TAKEN * (clipped - at.r), at.y + TAKEN * length[:, None] * dy,
                       at.multipliers + TAKEN * (multipliers - at.multipliers))

    def search(self, at, step, tau, halvings, which):
        """Halves the step until one of the merits falls, and takes it then: (which cubes found one, its length)."""
        length, left = np.ones(len(tau)), which.copy()
        before = at.merits(tau)
        for _ in range(halvings + 1):
            if not left.any():
                break
            trial = self.trial(at, step, length)
            falls = left & np.logical_or(*(new <= (1 - 1e-4 * length) * old for new, old in zip(trial.merits(tau), before)))
            at.take(trial, falls)
            left &= ~falls
            length[left] /= 2
        return which & ~left, length

    def solve(self, eps_T, max_steps=200):
        """Velocities of the bodies [m/s, rad/s] and Newton steps, of each cube: until the published test (I.18) holds or nothing helps."""
        at = self.start()
        regulariser, n_failed, steps = (np.full(len(eps_T), value) for value in (1e-4, 0, 0))
        goes_on = np.ones(len(eps_T), bool)
        for _ in range(max_steps + 1):
            tau = KEPT * at.gap
            barrier, momentum = at.barrier2(tau), np.sqrt(at.momentum2) / 6
            first = np.maximum.reduce([momentum, np.sqrt(at.stationarity2) / 12, np.sqrt(barrier) / 8, at.gap])
            second = np.maximum(momentum, np.sqrt(at.law2) / 12)
            goes_on &= (np.minimum(first, second) >= eps_T) & (steps < max_steps)
            if not goes_on.any():
                break
            steps += goes_on
            step = self.newton_step(at, tau, regulariser * np.cbrt(at.momentum2 + at.stationarity2 + barrier))      # (I.13)
            found, length = self.search(at, step, tau, 10, goes_on)
            regulariser = np.clip(np.where(found & (length == 1), regulariser / 4, 4 * regulariser), 1e-6, 1)
            n_failed = np.where(found, 0, n_failed + 1)
            goes_on &= n_failed < 10
            # Down the residuals themselves, only where no part of the Newton step helps.
            others = goes_on & ~found
            gradient = at.stationarity, -at.momentum, at.multipliers * at.c + tau[:, None, None]
            goes_on &= found | self.search(at, gradient, tau, 20, others)[0]
        y = self.free + np.einsum("cij,nci->nj", self.J, at.r)
        return y / self.root * self.speed[:, None], steps


def slide(mu, eps, eps_T):
    """Mean velocity [m/s] over all steps, mean acceleration [m/s2] from the first to the last, Newton steps: of cubes that start at rest."""
    v, rows = np.zeros((len(mu), 6)), corner_rows()
    gravity = DT * G * np.array([math.sin(ANGLE), 0, -math.cos(ANGLE), 0, 0, 0])
    speeds, work = [], np.zeros(len(mu), int)
    for _ in range(N_STEPS):
        speed = np.linalg.norm(np.einsum("cij,nj->nci", rows, v), axis=-1).max(axis=-1)
        v, steps = Cubes(mu[:, None], eps[:, None], speed, v + gravity).solve(eps_T)
        work += steps
        speeds.append(v[:, 0])
    return np.mean(speeds, axis=0), (speeds[-1] - speeds[0]) / ((N_STEPS - 1) * DT), work


def band_of(mu, eps_T):
    """Largest relative difference from a published entry of a cube that slides; 0: entries of this tolerance differ by what the method
    does before it has converged, which the source does not fix."""
    if mu >= 0.5 or eps_T > 2e-6:
        return 0
    return 3e-3 if eps_T > 2e-7 else 5e-4


def verify(laboratory, _group, csv, show):
    """Every row of the table; with `quick` those of eps_T = 1e-7."""
    table = Checks(show, ("eps_p", "mu", "eps_T", "mean_velocity", "mean_acceleration", "published_velocity", "published_acceleration",
                          "newton_steps"))
    with open(laboratory.source / "tests/reference/primal-dual/cube_on_slope.csv", encoding="utf-8") as file:
        rows = [[float(row[name]) for name in ("log10_eps_p", "mu", "newton_tolerance", "mean_velocity", "mean_acceleration")]
                for row in csv_reader.DictReader(line for line in file if not line.startswith("#"))]
    if laboratory.quick:
        rows = [row for row in rows if 5e-8 < row[2] < 2e-7]
    log_eps, mu, eps_T, *_ = columns = np.array(rows).T
    show("Cube on a slope, split interior point: mean velocity [m/s] and acceleration [m/s2]; \"off\" is the relative\n"
         "difference from the published entry.\n")
    show(f"{'eps':>6} {'mu':>6} {'eps_T':>6} {'v publ.':>11} {'v':>11} {'off':>8} {'a publ.':>11} {'a':>11} {'off':>8} {'band':>6} {'steps':>7}")
    for values in zip(10**log_eps, *columns[1:], *slide(mu, 10**log_eps, eps_T)):
        eps, mu_, tolerance, v_published, a_published, v, a, work = map(float, values)
        band, slides, off = band_of(mu_, tolerance), mu_ < 0.5, (v / v_published - 1, a / a_published - 1)
        words = [f"{x:.1e}" if slides else "-" for x in off]
        show(f"{eps:>6g} {mu_:>6g} {tolerance:>6g} {v_published:>11.4e} {v:>11.4e} {words[0]:>8} {a_published:>11.4e} {a:>11.4e} "
             f"{words[1]:>8} {f'{100 * band:g}%' if band else '-':>6} {work / N_STEPS:>7.1f}")
        table.record(eps, mu_, tolerance, v, a, v_published, a_published, int(work))
        name = f"eps = {eps:g}, mu = {mu_:g}, eps_T = {tolerance:g}"
        if band:
            table.count(abs(off[0]) <= band, f"{name}: the velocity is outside the band")
            table.count(abs(off[1]) <= band, f"{name}: the acceleration is outside the band")
        if not slides and tolerance < 2e-7:
            table.count(abs(v) <= MAX_CREEP * tolerance, f"{name}: the cube creeps")
    show("")
    return table.finish(csv)
