"""Numbers as text, and small numerical methods that closed forms need."""
import math
from dataclasses import dataclass

import numpy as np


def shortest(value):
    """A number with as many digits as it takes to read the same number back."""
    text = repr(float(value))
    return text.removesuffix(".0")


def residue(value, bound):
    """What a report shows of a number that is 0 but for round-off and for what solvers leave: the bound, or a tenth of it, whichever is the
    next above. Further digits depend on the order of sums, and so on the number of ranks. Above the bound the number itself."""
    return value if not value <= bound else bound if value > bound / 10 else bound / 10


def runge_kutta(rate, state, time, steps):
    """The state after `time` of y' = rate(y), by the classical method of fourth order with so many steps."""
    step = time / steps
    for _ in range(steps):
        a = rate(state)
        b = rate(state + step / 2 * a)
        c = rate(state + step / 2 * b)
        d = rate(state + step * c)
        state = state + step / 6 * (a + 2 * b + 2 * c + d)
    return state


def norm(vector):
    return float(np.linalg.norm(vector))


@dataclass(frozen=True)
class ImpactDamping:
    """An impact of the damped oscillator: its damping as a share of the critical one, its duration times omega until nothing pushes any
    more, and the restitution."""
    share: float
    duration: float
    restitution: float


def impact_damping(restitution):
    """The damping that gives this restitution, for a contact that pushes only: with w^2 = |1 - share^2| it lasts
    t = atan2(2 share w, 2 share^2 - 1) / w, above critical damping atanh(2 share w / (2 share^2 - 1)) / w, and e = exp(-share t)."""

    def of_share(share):
        square = 1 - share * share
        if abs(square) < 1e-9:
            return ImpactDamping(share, 2.0, math.exp(-2 * share))
        w, far = math.sqrt(abs(square)), 2 * share * share - 1
        duration = math.atan2(2 * share * w, far) / w if square > 0 else math.atanh(2 * share * w / far) / w
        return ImpactDamping(share, duration, math.exp(-share * duration))

    if restitution >= 1:
        return ImpactDamping(0.0, math.pi, 1.0)
    low, high = 0.0, 100.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if of_share(middle).restitution > restitution else (low, middle)
    return of_share((low + high) / 2)


def at_zero_step(values, order):
    """The limit of values at steps of dt, dt/2, dt/4, ..., whose errors are a power series of the step that begins with the power `order`
    (1: all powers; 2: even ones): Romberg's table."""
    values, factor = [np.asarray(value, float) for value in values], 2 if order == 1 else 4
    growth = factor
    while len(values) > 1:
        values = [b + (b - a) / (factor - 1) for a, b in zip(values, values[1:])]
        factor *= growth
    return values[0]
