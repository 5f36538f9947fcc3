"""A small deck with everything in it, for tests of the program from outside."""
from decks import edited

DECK = """\
[simulation]
title = "small"
dimension = 2
end_time = 1
seed = 3

[domain]
lower = [0, 0]
upper = [6, 4]
periodic = [true, false]

[time]
step = "20 ms"

[velocity]
type = "attraction"
point = [0.5, 0.3]
rate = "0.8 1/s"

[pbd]
sweeps = 3
warm_start = 0.9
overlap_limit = 0

[neighbors]
skin = "15 cm"

[decomposition]
block_cells = 2

[particles.grains]
radius = { distribution = "uniform", min = "8 cm", max = "15 cm" }
source = { type = "random", count = 120, region = { lower = [0, 0.2], upper = [6, 3.8] } }

[obstacles.floor]
type = "plane"
point = [0, 0]
normal = [0, 1]

[obstacles.paddle]
type = "segment"
a = [2, 0.5]
b = [2, 1.5]
motion = { type = "rotate", center = [2, 1], rate = "2 rad/s" }

[output.vtk]
every = "0.1 s"

[output.h5md]
every = "0.1 s"

[output.checkpoint]
every = "0.3 s"
keep = 20

[analysis]
every = "0.04 s"

[measures.overlap]
type = "overlap"

[measures.speed]
type = "speed"
"""


def write_deck(folder, *changes, name="small.toml", more=""):
    """Writes the deck to folder/name, with changes (old, new) of its text, and returns the path."""
    path = folder / name
    path.write_text(edited(DECK, *changes) + more)
    return path


def content_of(folder):
    """Every file below a folder: relative name -> bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def long_deck(folder, **options):
    """Some seconds long; a row each second of the model says how far it is."""
    return write_deck(folder, ("end_time = 1\n", "end_time = 40\n"),
                      ('every = "0.1 s"\n\n[output.h5md]', 'every = "10 s"\n\n[output.h5md]'),
                      ('every = "0.1 s"\n\n[output.checkpoint]', 'every = "10 s"\n\n[output.checkpoint]'),
                      ('every = "0.3 s"', 'every = "30 s"'), ('every = "0.04 s"', 'every = "1 s"'), **options)
