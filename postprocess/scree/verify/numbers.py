"""Numbers as text, and small numerical methods that closed forms need."""
import numpy as np


def shortest(value):
    """A number with as many digits as it takes to read the same number back."""
    text = repr(float(value))
    return text.removesuffix(".0")


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
