"""The families of problems that Python makes; names, sizes and what they show: src/replay/generated_problems.cpp."""
from .columns import mass_ratio, redundant, sliding, stack
from .jammed import jammed
from .masonry import arch, kapla, tower, wall
from .solutions import ill_conditioned, manufactured

FAMILIES = {
    "stack": stack, "mass_ratio": mass_ratio, "sliding": sliding, "redundant": redundant, "wall": wall, "arch": arch, "tower": tower,
    "kapla": kapla, "jammed": jammed,
    "manufactured": lambda *arguments: manufactured(*arguments).problem,
    "ill_conditioned": lambda *arguments: ill_conditioned(*arguments).problem,
}


def generate(family, dimension, size, seed=1):
    """The problem of a family in 2 or 3 dimensions."""
    return FAMILIES[family](dimension, size, seed)
