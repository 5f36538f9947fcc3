"""Studies of `scree bench`, which starts ranks itself."""
import os

from scree_program import Process, program


def study(folder, *arguments, variables=()):
    """`scree bench` as a user types it, without mpirun."""
    before = {name: os.environ.get(name) for name, _ in variables}
    os.environ.update(variables)
    try:
        return Process([program("scree"), "bench", *arguments], folder).finish()
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
