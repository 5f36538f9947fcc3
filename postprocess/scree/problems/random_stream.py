"""Counter-based random numbers, the same bits as those of src/core/random.hpp."""
import math

JITTER = 3      # purposes of streams, one for each use; of runs
MASS, FRICTION, BODY, CONTACT, VELOCITY, IMPULSE, ORDER = range(1001, 1008)    # of these problems
WORD = 0xFFFFFFFF


def philox4x32(counter, key):
    """Philox 4x32 with 10 rounds (Salmon, Moraes, Dror, Shaw, SC'11): four random words for a counter and a key."""
    a, b, c, d = counter
    k, l = key
    for _ in range(10):
        first, second = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (second >> 32) ^ b ^ k, second & WORD, (first >> 32) ^ d ^ l, first & WORD
        k, l = (k + 0x9E3779B9) & WORD, (l + 0xBB67AE85) & WORD
    return a, b, c, d


class RandomStream:
    """Numbers that depend on seed, number of the body or contact, purpose, and how many were drawn."""

    def __init__(self, seed, number, purpose):
        self.key = seed & WORD, seed >> 32 & WORD
        self.rest = purpose, number & WORD, number >> 32 & WORD
        self.drawn = 0

    def uniform(self, low=0.0, high=1.0):
        """Between low and high."""
        words = philox4x32((self.drawn, *self.rest), self.key)
        self.drawn += 1
        return low + (high - low) * (((words[1] << 32 | words[0]) >> 11) * 2.0**-53)

    def normal(self):
        """Standard normal (Box-Muller)."""
        radius = math.sqrt(-2 * math.log(1 - self.uniform()))
        return radius * math.cos(2 * math.pi * self.uniform())

    def direction(self, dimension):
        """A unit vector drawn evenly."""
        return normalized([self.normal() for _ in range(dimension)])


def normalized(x):
    """The vector times 1 over its length."""
    factor = 1 / math.sqrt(dot(x, x))
    return [component * factor for component in x]


def dot(a, b):
    """The scalar product, summed from the first component on."""
    result = 0.0
    for x, y in zip(a, b):
        result += x * y
    return result


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
