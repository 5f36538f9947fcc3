"""Writes generated problems, one after the other, and counts their bodies and contacts: scree/problems FAMILY DIMENSION SIZE SEED
FILE [FAMILY ...]"""
import os
import sys
from pathlib import Path

DEBIAN_PYTHON = "/usr/bin/python3"
sys.path[0] = str(Path(__file__).resolve().parents[1])    # not the package scree, which needs matplotlib

try:
    from problems.families import generate
    from problems.fclib import write_fclib
except ModuleNotFoundError as error:
    # Only Debian's own Python sees the modules of its python3-* packages.
    if os.path.realpath(sys.executable) != os.path.realpath(DEBIAN_PYTHON) and "SCREE_PYTHON" not in os.environ:
        os.execv(DEBIAN_PYTHON, [DEBIAN_PYTHON, *sys.argv])
    sys.exit(f"scree: the Python module {error.name} is missing in {sys.executable}: install it (Debian: python3-{error.name}), or name "
             "another interpreter by the environment variable SCREE_PYTHON")

words = iter(sys.argv[1:])
for family, dimension, size, seed, path in zip(words, words, words, words, words):
    problem = generate(family, int(dimension), int(size), int(seed))
    write_fclib(problem, path, f"scree {family}",
                f'generated problem "{family}" in {dimension} dimensions, size {size}, seed {seed}: one step of 0.01 s')
    print(f"{len(problem.mass)} bodies, {len(problem.pairs)} contacts", end="")
