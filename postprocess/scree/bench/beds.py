"""Bodies of benchmarks of whole runs, in files that decks name."""
import itertools
import math
import os
import subprocess
from pathlib import Path

from .launch import InputError, RunError, message_in

TILE_EDGE = 16                  # diameters along x and y
TILE = TILE_EDGE**3             # bodies
DIAMETER = 0.01                 # [m]
RADIUS = 5e-4                   # of small spheres of a mixture [m]
SPACING = 2 * RADIUS * 1.02     # of them [m]


def box_on_floor(scheme, width, depth, height, material, end_time=1e9, allow_overlap=False):
    """Tables of a deck: grains fall in a box [m] that is periodic sideways onto a floor of the material."""
    return f"""\
[simulation]
dimension = 3
scheme = "{scheme}"
end_time = {end_time}
allow_overlap = {str(allow_overlap).lower()}
[domain]
lower = [0, 0, -0.01]
upper = [{width}, {depth}, {height}]
periodic = [true, true, false]
[physics]
gravity = [0, 0, -9.81]
[obstacles.floor]
type = "plane"
point = [0, 0, 0]
normal = [0, 0, 1]
material = "{material}"
"""


def run_deck(program, folder, text):
    """Runs a deck on one rank, also where this process is one of several ranks: MPI of the run knows nothing of them."""
    deck = Path(folder) / "tile.toml"
    deck.write_text(text, encoding="utf-8")
    alone = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMIX_", "PMI_", "MPI_LOCAL", "SLURM_"))}
    process = subprocess.run([program, "run", str(deck), "--quiet"], cwd=folder, env=alone, text=True, capture_output=True,
                             stdin=subprocess.DEVNULL, check=False)
    if process.returncode != 0:
        raise (InputError if process.returncode == 2 else RunError)(message_in(process.stderr).replace(str(deck), "benchmark deck"))


class Bed:
    """Beds of equal spheres on a flat floor, periodic along x and y, some 16 diameters high: a tile of 4096 is settled once, larger beds
    are copies of it side by side, so their contacts are the same. `tables` of the scheme: time step, material, solver. The tile
    falls from a `loose` lattice, as rigid grains need it, or starts dense, with small overlaps."""

    def __init__(self, program, folder, scheme, tables, settling_time, loose=False):
        self.program, self.folder, self.scheme, self.tables, self.loose = program, folder, scheme, tables, loose
        self.tile = self.settled(settling_time)

    def settled(self, settling_time):
        """Positions [m] by id after this time [s]."""
        try:
            import h5py    # only here: tables need no package
        except ImportError as error:
            raise InputError("beds are read with the Python package h5py, which is not there; SCREE_PYTHON names another interpreter") from error
        # Dense: along z the lattice does not close on itself.
        places = f"count = {TILE}, jitter = 0.09" if self.loose else f"spacing = {DIAMETER}, jitter = 0.05"
        upper = [TILE_EDGE * DIAMETER, TILE_EDGE * DIAMETER, (35 if self.loose else TILE_EDGE + 0.5) * DIAMETER]
        source = f'{{ type = "lattice", {places}, region = {{ lower = [0, 0, 0], upper = {upper} }} }}'
        output = f'[output]\ndirectory = "{self.folder}"\nname = "tile"\n[output.h5md]\nevery = {settling_time}\n'
        run_deck(self.program, self.folder, self.deck_of(1, 1, f"random_speed = 0.2\nsource = {source}", settling_time) + output)
        with h5py.File(Path(self.folder) / "tile/tile.h5", "r") as file:
            tile = file["particles/all/position/value"][-1].tolist()
        assert len(tile) == TILE, len(tile)
        return tile

    def deck_of(self, columns, rows, source, end_time=1e9):
        edge = TILE_EDGE * DIAMETER
        height = 0.4 if self.loose else 0.3
        return box_on_floor(self.scheme, columns * edge, rows * edge, height, "glass", end_time, allow_overlap=True) + f"""\
[particles.grains]
material = "glass"
radius = {{ distribution = "constant", value = {DIAMETER / 2} }}
{source}
{self.tables}"""

    def deck(self, bodies):
        """The deck of a settled bed of a multiple of TILE bodies, as square as a whole number of tiles can be. Velocities are zero."""
        tiles = bodies // TILE
        rows = next(n for n in range(math.isqrt(tiles), 0, -1) if tiles % n == 0)
        edge = TILE_EDGE * DIAMETER

        def wrapped(x):
            return min(max(x - math.floor(x / edge) * edge, 0.0), edge)

        path = Path(self.folder) / f"bed{bodies}.csv"
        tile = [(wrapped(x), wrapped(y), z) for x, y, z in self.tile]
        lines = (f"{x + column * edge:.12g},{y + row * edge:.12g},{z:.12g}\n" for column in range(tiles // rows) for row in range(rows)
                 for x, y, z in tile)
        path.write_text("x,y,z\n" + "".join(lines), encoding="utf-8")
        return self.deck_of(tiles // rows, rows, f'source = {{ type = "file", path = "{path}" }}')


def mixture(path, bodies, ratio):
    """Writes about so many spheres of two sizes in a box with walls, as much volume of the one as of the other: small ones, 1 mm wide, on a
    cubic lattice 2 % wider than their diameter, and large ones, `ratio` times as wide, in their midst that took the places of those
    in the way. Ratio 1: the small ones alone. Returns the edge of the box [m] and how many spheres there are, and large ones."""
    large, of_large = ratio * RADIUS, ratio**3
    # Large ones on a cubic lattice whose number comes near.
    per_edge = min(range(1, 100), key=lambda k: abs(math.log(k**3 * of_large / bodies))) if ratio > 1 else 0
    n_large = per_edge**3
    n_small = n_large * of_large if ratio > 1 else bodies
    volume = n_small * SPACING**3 + n_large * 4 / 3 * math.pi * (large + 0.5 * RADIUS)**3
    sites = round(volume**(1 / 3) / SPACING)
    edge = sites * SPACING
    cell = edge / max(per_edge, 1)
    balls = [[(k + 0.5) * cell for k in place] for place in itertools.product(range(per_edge), repeat=3)]
    taken = set()
    reach = large + RADIUS
    for ball in balls:
        near = [range(max(0, math.floor((x - reach) / SPACING)), min(sites, math.ceil((x + reach) / SPACING))) for x in ball]
        taken |= {site for site in itertools.product(*near) if math.dist([(k + 0.5) * SPACING for k in site], ball) < reach}
    rows = [(ball[::-1], large) for ball in balls]
    for z, y, x in itertools.product(range(sites), repeat=3):
        if (x, y, z) not in taken:
            rows.append(([(k + 0.5) * SPACING for k in (x, y, z)], RADIUS))
    lines = (f"{x:.9g},{y:.9g},{z:.9g},{radius:.9g}\n" for (x, y, z), radius in rows)
    Path(path).write_text("x,y,z,radius\n" + "".join(lines), encoding="utf-8")
    return edge, len(rows), n_large
