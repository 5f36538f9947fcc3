"""The split interior-point method for friction, in numpy: Y.-L. Chen, M. Ly, C. Wojtan, "Primal-Dual Non-Smooth Friction for Rigid Body
Animation", SIGGRAPH 2024, with its supplement. Equations (I.10) to (I.18): docs/method.md, "Interior points".

Many problems with one Jacobian are solved side by side: the first axis of every array counts them.
"""
from dataclasses import dataclass

import numpy as np

MAX_STEPS = 200
KEPT = 0.1          # share of the distance to a constraint that a step which would violate it keeps; also tau over the gap
TAKEN = 0.99        # share of a clipped step that is taken
ENOUGH = 1e-4       # a merit must fall by this share of the step length
LEAST_HESSIAN_P = 1e-6      # smoothing of the second derivative of |r_T| where sticking contacts carry next to no friction
LEAST_REGULARISER, MAX_REGULARISER, MAX_FAILED = 1e-6, 1.0, 10


def on_disc(tangents, radius):
    """Tangents (..., 2) cut to discs of these radii (...); of a negative radius 0 is left."""
    length = np.linalg.norm(tangents, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(length > radius, np.maximum(radius, 0) / length, 1.0)
    return tangents * share[..., None]


@dataclass
class Iterate:
    """Impulses r (problems, contacts, 3), multipliers lam (problems, contacts, 2) >= 0, velocities y (problems, velocities)."""
    r: np.ndarray
    lam: np.ndarray
    y: np.ndarray

    def taking(self, which, other):
        """This one, but of the problems of the mask `which` the other."""
        choose = [np.where(which.reshape(-1, *[1] * (mine.ndim - 1)), theirs, mine)
                  for mine, theirs in zip((self.r, self.lam, self.y), (other.r, other.lam, other.y))]
        return Iterate(*choose)


class SplitInteriorPoint:
    """Contacts on bodies with the identity as mass matrix: `jacobian` (contacts, 3, velocities), N first; coefficients `mu`, widths
    `eps` (eps_p = eps_s) and tolerances `eps_T` of each problem."""

    def __init__(self, jacobian, mu, eps, eps_T):
        self.J, self.mu, self.eps, self.eps_T = jacobian, mu[:, None], eps[:, None], eps_T
        self.n_contacts, _, self.n_velocities = jacobian.shape
        self.w_nn = np.einsum("cv,cv->c", jacobian[:, 0], jacobian[:, 0])

    def constraints(self, r):
        """(I.10)"""
        length = np.sqrt(r[..., 1]**2 + r[..., 2]**2 + self.eps**2)
        return np.stack([-r[..., 0], length - self.mu * r[..., 0] - 2 * self.eps], axis=-1)

    def impulse(self, r):
        return np.einsum("pci,civ->pv", r, self.J)

    def evaluate(self, at, free):
        """Residuals (I.12), the gap, and squares of norms that tests and merits need."""
        at.momentum = at.y - free - self.impulse(at.r)
        at.c = self.constraints(at.r)
        u = np.einsum("civ,pv->pci", self.J, at.y)
        length = np.sqrt(at.r[..., 1]**2 + at.r[..., 2]**2 + self.eps**2)
        at.rho = -u
        at.rho[..., 0] += at.lam[..., 0]
        at.rho[..., 1:] -= (at.lam[..., 1] / length)[..., None] * at.r[..., 1:]
        weight = np.clip(self.mu * at.r[..., 0] / (np.linalg.norm(u[..., 1:], axis=-1) + 1e-8) * self.w_nn, 1e-3, 1)
        product = at.lam * at.c
        law = at.r - u
        law[..., 0] = np.maximum(law[..., 0], 0)
        law[..., 1:] = on_disc(law[..., 1:], self.mu * at.r[..., 0])
        at.momentum2 = (at.momentum**2).sum(axis=1)
        at.stationarity2 = (at.rho[..., 0]**2 + weight**2 * (at.rho[..., 1:]**2).sum(axis=-1)).sum(axis=1)
        at.product2, at.law2 = (product**2).sum(axis=(1, 2)), ((law - at.r)**2).sum(axis=(1, 2))
        at.gap = -product.mean(axis=(1, 2))
        return at

    def barrier2(self, at, tau):
        """|rho_lambda|^2"""
        return np.maximum(at.product2 + 2 * self.n_contacts * tau * (tau - 2 * at.gap), 0)

    def start(self, free):
        n = len(free)
        r, lam = np.zeros((n, self.n_contacts, 3)), np.full((n, self.n_contacts, 2), 1e-2)
        r[..., 0] = 1
        at = self.evaluate(Iterate(r, lam, free.copy()), free)
        others = np.minimum(at.momentum2, at.stationarity2)
        factor = np.minimum(np.sqrt(others / self.barrier2(at, KEPT * at.gap)), 10)
        return self.evaluate(Iterate(r, lam * np.where(factor > 0, factor, 1)[:, None, None], at.y), free)

    def newton_step(self, at, tau, epsilon):
        """(I.14) to (I.16): changes of r, lam, y."""
        tau, epsilon = tau[:, None], epsilon[:, None]
        d = 1 / (at.c - epsilon[..., None] * at.lam)
        product = at.lam * at.c + tau[..., None]
        t2 = at.r[..., 1]**2 + at.r[..., 2]**2
        hessian_p = np.maximum(self.eps**2, LEAST_HESSIAN_P)
        curved = t2 + hessian_p
        along, across = -at.lam[..., 1] * d[..., 1], at.lam[..., 1] / (curved * np.sqrt(curved))
        gradient = at.r[..., 1:] / np.sqrt(t2 + self.eps**2)[..., None]
        turned = np.stack([-at.r[..., 2], at.r[..., 1]], axis=-1)
        block = (along[..., None, None] * gradient[..., :, None] * gradient[..., None, :] +
                 across[..., None, None] * turned[..., :, None] * turned[..., None, :] +
                 (epsilon + across * hessian_p)[..., None, None] * np.eye(2))
        K = np.zeros((*at.r.shape, 3))
        K[..., 0, 0] = 1 / (epsilon - at.lam[..., 0] * d[..., 0])
        K[..., 1:, 1:] = np.linalg.inv(block)
        x = at.rho.copy()
        x[..., 0] -= product[..., 0] * d[..., 0]
        x[..., 1:] += gradient * (product[..., 1] * d[..., 1])[..., None]
        x = np.einsum("pcij,pcj->pci", K, x)
        system = np.einsum("civ,pcij,cjw->pvw", self.J, K, self.J) + (1 + epsilon)[..., None] * np.eye(self.n_velocities)
        dy = np.linalg.solve(system, (self.impulse(x) - at.momentum)[..., None])[..., 0]
        dr = x - np.einsum("pcij,cjv,pv->pci", K, self.J, dy)
        growth = np.stack([-dr[..., 0], (gradient * dr[..., 1:]).sum(axis=-1)], axis=-1)
        return dr, -(at.lam * growth + product) * d, dy

    def trial(self, at, step, length):
        """At this share of the step, each contact moved back inside its constraints."""
        dr, dlam, dy = step
        clipped = at.r + length * dr
        clipped[..., 0] = np.where(clipped[..., 0] <= 0, KEPT * at.r[..., 0], clipped[..., 0])
        wanted = KEPT * at.c[..., 1] + self.mu * clipped[..., 0] + 2 * self.eps
        radius = np.sqrt(np.maximum((wanted - self.eps) * (wanted + self.eps), 0) * (wanted > self.eps))
        outside = self.constraints(clipped)[..., 1] >= 0
        clipped[..., 1:] = np.where(outside[..., None], on_disc(clipped[..., 1:], radius), clipped[..., 1:])
        lam = np.maximum(at.lam + length * dlam, 0)
        return Iterate(at.r + TAKEN * (clipped - at.r), at.lam + TAKEN * (lam - at.lam), at.y + TAKEN * length * dy)

    def search(self, at, free, step, tau, halvings, asked):
        """Halves the steps of the problems `asked` until one of the merits (I.17) falls. Returns the iterates, which problems found one and
        which of these at full length."""
        before = at.momentum2 + at.stationarity2 + self.barrier2(at, tau), at.momentum2 + at.law2 + at.product2
        found, full, length, result = np.zeros(len(asked), bool), np.zeros(len(asked), bool), 1.0, at
        for _ in range(halvings + 1):
            new = self.evaluate(self.trial(at, step, length), free)
            after = new.momentum2 + new.stationarity2 + self.barrier2(new, tau), new.momentum2 + new.law2 + new.product2
            falls = asked & ~found & np.any([a <= (1 - ENOUGH * length) * b for a, b in zip(after, before)], axis=0)
            result, found = result.taking(falls, new), found | falls
            full |= falls & (length == 1)
            if found[asked].all():
                break
            length /= 2
        return self.evaluate(result, free), found, full

    def solve(self, free):
        """Impulses for the velocities `free` (problems, velocities) without contact, and Newton steps of each problem."""
        at = self.start(free)
        n = len(free)
        regulariser, n_failed, n_steps, active = np.full(n, 1e-4), np.zeros(n, int), np.zeros(n, int), np.ones(n, bool)
        while True:
            tau = KEPT * at.gap
            barrier = self.barrier2(at, tau)
            momentum = np.sqrt(at.momentum2) / self.n_velocities
            first = np.max([momentum, np.sqrt(at.stationarity2) / (3 * self.n_contacts), np.sqrt(barrier) / (2 * self.n_contacts), at.gap],
                           axis=0)
            second = np.maximum(momentum, np.sqrt(at.law2) / (3 * self.n_contacts))
            active = active & (np.minimum(first, second) >= self.eps_T) & (n_steps < MAX_STEPS)
            if not active.any():
                return at.r, n_steps
            epsilon = regulariser * np.cbrt(at.momentum2 + at.stationarity2 + barrier)      # (I.13)
            n_steps += active
            at, found, full = self.search(at, free, self.newton_step(at, tau, epsilon), tau, 10, active)
            grown = np.where(full, np.maximum(regulariser / 4, LEAST_REGULARISER), np.minimum(4 * regulariser, MAX_REGULARISER))
            regulariser = np.where(active, grown, regulariser)
            n_failed = np.where(active & ~found, n_failed + 1, 0)
            lost = active & ~found
            if lost.any():      # down the residuals themselves
                step = at.rho, at.lam * at.c + tau[:, None, None], -at.momentum
                at, found, _ = self.search(at, free, step, tau, 20, lost & (n_failed < MAX_FAILED))
                active &= ~lost | found
