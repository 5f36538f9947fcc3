#!/usr/bin/python3
"""Runs the same spheres with scree, LAMMPS and LIGGGHTS, and the same boxes with scree, Bullet, ODE and Siconos: wall seconds
per simulated second, and the state of the bodies.

    scripts/compare-peers.sh                                     all tasks, every code that is installed, 1 and 2 ranks
    scripts/compare-peers.sh --quick                             a few minutes: small sizes, short runs
    scripts/compare-peers.sh --tasks bed --bodies 4096 32768 --codes scree-dem lammps --ranks 1
    scripts/compare-peers.sh --tasks silo --ranks 1              the discharge of a silo of 10 000
    scripts/compare-peers.sh --tasks wall boxes --ranks 1        boxes

Tasks (spheres of 1 cm and 2500 kg/m3 on a flat floor, mu = 0.5, g = 9.81 m/s2; bed and pour are periodic sideways):
    bed   a bed at rest, 16 diameters high, --bodies spheres: a tile of 4096 that scree's dem let settle, repeated. Every code
          starts from the same centres, at rest and without springs, and takes the same steps.
    pour  4096 spheres fall from a loose lattice, disturbed by the same random numbers for every code, for --seconds.
    silo  --silo-bodies spheres fall from this lattice into a cylinder of 9 diameters radius and come to rest on a closed floor;
          then a thin floor with a round outlet of 6 diameters replaces it. --silo-seconds of both stages; both are timed. Spheres
          0.1 m below the floor leave. No LAMMPS: the rim of a hole would need a contact that its regions do not have.
Tasks of boxes (box_scenes.py; 2500 kg/m3, mu = 0.5, no restitution, steps of --box-step for every code, --box-seconds):
    wall  105 bricks of 20 x 10 x 10 cm in running bond stand on a floor.
    boxes --boxes boxes with edges of 7 to 12 cm, turned at random, fall into a container of 1.54 m. No Siconos: it took more
          than 8 minutes for the first second.
Codes:
    scree-dem         Hertz-Mindlin with history, restitution 0.5 at any speed, steps of 50 us
    scree-nonsmooth   rigid spheres, restitution 0.5, steps of 2 ms, residual 1e-2, in the silo 5e-2; not the bed of soft spheres,
                      which overlap
    lammps            pair_style gran/hertz/history, the fast one; damping for a restitution near 0.5 at 0.5 m/s; 50 us
    lammps-granular   pair_style granular with hertz/material, mindlin and tsuji: the law of scree-dem; 50 us
    liggghts          gran model hertz tangential history, restitution 0.5; 50 us
    scree-1e-2        scree-nonsmooth for boxes with a residual of 1e-2; scree-nonsmooth itself has 1e-3 there
    bullet-N          Bullet, sequential impulses, N iterations of a step; ode-N: the same by ODE's quickstep. One rank only
    siconos           Siconos, Moreau-Jean, contacts by Bullet, nsgs to a relative residual of 1e-3. One rank only
Soft spheres have E = 10 MPa and nu = 0.3.

Columns: wall seconds of the steps per simulated second, as each code itself times them: "Loop time of" LAMMPS and LIGGGHTS,
the timer "step" of scree's summary.json (slowest rank). Starting up, reading and the last frame do not count. Median of
--repetitions, spread (largest - least) / median; repetitions are interleaved: every code once, then every code again. program:
wall seconds of the whole program, start and files included. height, phi and z: bed_numbers.py, on the centres
that a code ends with; E_kin: kinetic energy of the centres over N m g d; floor: Hertz's force at the floor from the overlaps of
these centres, of rigid spheres the impulse of the last step over its length, over the weight. remain: spheres that are
there at the end; rate: how many leave per second, from 1/4 to 5/6 of the time of discharge. Of boxes: mean height over the
floor, the largest way from the start, the deepest overlap at the end, and the steps that a code says it did not solve.
Rows are kept in --out/peers.json with the processor: another command with the same --out adds to them on the same processor,
and the tables show all.

Peers that are not installed are left out and named (Debian: lammps, liggghts, libbullet-dev, libode-dev, python3-siconos).
JuPedSim and Vadere, the peers for crowds, are not in Debian. Run it on a machine with nothing else to do.
"""
import argparse
import csv
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "postprocess")]
import box_scenes  # noqa: E402
from bed_numbers import bed_numbers  # noqa: E402
from scree.results import Results  # noqa: E402
from timings import TimingError, machine_of, processor_text, spread_of, step_seconds  # noqa: E402

EDGE = 16              # of a tile, in diameters
TILE = EDGE**3
D = 0.01               # diameter [m]
WIDTH = EDGE * D
COLUMNS = 12           # of the loose lattice, across a tile
SPACING = np.array([WIDTH / COLUMNS, WIDTH / COLUMNS, 0.012])
DISTURBANCE = 0.09     # of the lattice, over its spacing
SILO, OUTLET = 9 * D, 3 * D    # radii [m]
SILO_BOX = 10 * D      # half the width of the domain [m]
LEAVE = -0.1           # spheres of the silo leave below this height [m]
E, NU, MU, DENSITY, RESTITUTION, GRAVITY = 1e7, 0.3, 0.5, 2500, 0.5, 9.81
SOFT_STEP, RIGID_STEP = 5e-5, 2e-3  # [s]
SETTLING = 0.5         # [s]
BED_WORK = 15_000_000  # body-steps of the bed that are timed: seconds
HIGHEST = {"bed": 0.3, "pour": 0.45}  # upper face of the domain [m]

MASS = DENSITY * np.pi / 6 * D**3
STIFFNESS = 4 / 3 * E / (2 * (1 - NU**2))
_TANGENTIAL = 8 * E / (2 * (1 + NU)) / (2 * (2 - NU))
_HISTORY = f"hertz/history {STIFFNESS:.6g} {_TANGENTIAL:.6g} 2.0e5 1.0e5 {MU} 1"
_MATERIAL = f"hertz/material @E {RESTITUTION} {NU} tangential mindlin NULL 1.0 {MU} damping tsuji"
_BODY_MATERIAL = _MATERIAL.replace("@E", f"{E:.6g}")
# For walls LAMMPS (2022) uses 1 - nu where Hertz has 1 - nu^2: they would be 1.3 times as stiff as in scree.
_WALL_MATERIAL = _MATERIAL.replace("@E", f"{E / (1 + NU):.6g}")

_COMMON = f"""\
neighbor @SKIN bin
neigh_modify delay 0 every 1 check yes
@LAW
fix move all nve/sphere
fix weight all gravity {GRAVITY} vector 0 0 -1
fix floor all @FLOOR
timestep {SOFT_STEP}
@STAGES
write_dump all custom end.txt @FORMAT
"""

# Divide the box along x and y only: it is more than twice as high as its bed, so half of a division along z would idle.
_LAMMPS = f"""\
units si
atom_style sphere
boundary @BOUNDARY
newton off
comm_modify vel yes
processors * * 1
read_data start.txt
{_COMMON}"""

_LIGGGHTS = f"""\
units si
atom_style granular
atom_modify map array
boundary @BOUNDARY
newton off
communicate single vel yes
processors * * 1
read_data start.txt
{_COMMON}"""

_COLUMNS = "id x y z vx vy vz"
_DIGITS = {"lammps": f"{_COLUMNS} modify format float %.12g",
           "liggghts": f"{_COLUMNS} modify format \"%d" + 6 * " %.12g" + "\""}

_LIGGGHTS_WALL = "wall/gran model hertz tangential history"

# Program, input, law and floor of each peer.
PEERS = {
    "lammps": ("lmp", _LAMMPS, f"pair_style gran/{_HISTORY}\npair_coeff * *", f"wall/gran {_HISTORY} zplane 0 NULL"),
    "lammps-granular": ("lmp", _LAMMPS, f"pair_style granular\npair_coeff * * {_BODY_MATERIAL}",
                        f"wall/gran granular {_WALL_MATERIAL} zplane 0 NULL"),
    "liggghts": ("liggghts", _LIGGGHTS, f"""\
fix e all property/global youngsModulus peratomtype {E}
fix nu all property/global poissonsRatio peratomtype {NU}
fix cor all property/global coefficientRestitution peratomtypepair 1 {RESTITUTION}
fix mu all property/global coefficientFriction peratomtypepair 1 {MU}
pair_style gran model hertz tangential history
pair_coeff * *""", f"{_LIGGGHTS_WALL} primitive type 1 zplane 0.0"),
}
OWN = ("scree-dem", "scree-nonsmooth")
# Tolerance of scree's solver for boxes; what pkg-config or Python calls each peer for boxes, its Debian package, and the
# iterations of a step, of Siconos the tolerance.
OWN_BOXES = {"scree-nonsmooth": 1e-3, "scree-1e-2": 1e-2}
BOX_PEERS = {"bullet-10": ("bullet", "libbullet-dev", 10), "bullet-100": ("bullet", "libbullet-dev", 100),
             "ode-10": ("ode", "libode-dev", 10), "ode-100": ("ode", "libode-dev", 100),
             "siconos": ("siconos", "python3-siconos", 1e-3)}
CODES = tuple(dict.fromkeys((*OWN, *PEERS, *OWN_BOXES, *BOX_PEERS)))
CODES_OF = {"bed": ("scree-dem", *PEERS), "pour": (*OWN, *PEERS), "silo": (*OWN, "liggghts"), "wall": (*OWN_BOXES, *BOX_PEERS),
            "boxes": (*OWN_BOXES, *(peer for peer in BOX_PEERS if peer != "siconos"))}
TASKS = tuple(CODES_OF)
BOX_TASKS = ("wall", "boxes")

_DECK = """\
[simulation]
dimension = 3
scheme = "@SCHEME"
end_time = @END
allow_overlap = true
[time]
step = @STEP
[physics]
gravity = [0, 0, -@GRAVITY]
[dem]
law = "hertz"
[solver]
type = "nsgs"
tolerance = @TOLERANCE
[materials.glass]
density = @DENSITY
young_modulus = @E
poisson_ratio = @NU
[pairs]
"glass-glass" = { friction = @MU, restitution = @RESTITUTION }
[particles.grains]
material = "glass"
source = { type = "file", path = "start.csv" }
[output]
name = "end"
directory = "."
[output.h5md]
every = @OUTPUT
[output.certificate]
every = 1000
@SCENE"""


@dataclass(frozen=True)
class Scene:
    """Where spheres are: the end of scree's deck and its solver's tolerance; for peers the kinds of faces, the commands that run,
    and the skin of their lists of neighbors [m]."""
    deck: str
    tolerance: float
    boundary: str
    commands: str
    skin: float


FLAT = Scene(tolerance=1e-2, boundary="p p f", skin=0.001, deck="""\
[domain]
lower = [0, 0, -0.01]
upper = [@X, @Y, @Z]
periodic = [true, true, false]
[obstacles.floor]
type = "plane"
material = "glass"
point = [0, 0, 0]
normal = [0, 0, 1]
[analysis]
every = @OUTPUT
[measures.floor]
type = "wall_force"
""", commands="""\
thermo 1000000
thermo_modify lost error
run @RUN0""")

# LIGGGHTS loses at the lower face what leaves, and prints for counts_of() how many are there. With a skin of 3 mm it takes 5 to
# 15 % less time here than with 1 mm.
SILO_SCENE = Scene(tolerance=5e-2, boundary="f f f", skin=0.003, deck=f"""\
[domain]
lower = [{-SILO_BOX}, {-SILO_BOX}, {LEAVE - 0.1}]
upper = [@X, @Y, @Z]
[obstacles.wall]
type = "cylinder"
material = "glass"
a = [0, 0, 0]
b = [0, 0, 1]
radius = {SILO}
side = "inside"
endless = true
[obstacles.closed]
type = "plate"
material = "glass"
point = [0, 0, 0]
normal = [0, 0, 1]
[obstacles.floor]
type = "plate"
material = "glass"
point = [0, 0, 0]
normal = [0, 0, 1]
hole_radius = {OUTLET}
[outlets.below]
region = {{ lower = [{-SILO_BOX}, {-SILO_BOX}, {LEAVE - 0.1}], upper = [{SILO_BOX}, {SILO_BOX}, {LEAVE}] }}
[[stages]]
name = "fill"
duration = @DURATION0
[[stages]]
name = "discharge"
remove_obstacles = ["closed"]
add_obstacles = ["floor"]
duration = @DURATION1
[analysis]
every = 0.01
""", commands=f"""\
fix wall all {_LIGGGHTS_WALL} primitive type 1 zcylinder {SILO} 0 0
thermo_style custom step atoms
thermo {round(0.01 / SOFT_STEP)}
thermo_modify lost ignore
run @RUN0
unfix floor
fix rim all mesh/surface file floor.stl type 1
fix floor all {_LIGGGHTS_WALL} mesh n_meshes 1 meshes rim
run @RUN1""")


class Failure(Exception):
    """A run failed."""


class Start:
    """Centres at rest that a task starts from, in a box."""

    def __init__(self, x, lower, upper, scene):
        self.x, self.lower, self.upper, self.scene = x, lower, upper, scene

    def write_for_peers(self, path):
        box = "".join(f"{low:.10g} {high:.10g} {axis}lo {axis}hi\n" for axis, low, high in zip("xyz", self.lower, self.upper))
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"spheres\n\n{len(self.x)} atoms\n1 atom types\n\n{box}\nAtoms\n\n")
            for number, (x, y, z) in enumerate(self.x, start=1):
                file.write(f"{number} 1 {D} {DENSITY} {x:.12g} {y:.12g} {z:.12g}\n")

    def write_for_scree(self, path):
        with open(path, "w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(["id", "x", "y", "z", "radius"])
            rows.writerows([number, f"{x:.12g}", f"{y:.12g}", f"{z:.12g}", D / 2] for number, (x, y, z) in enumerate(self.x))


def loose_lattice(n, columns):
    """n spheres in layers on these columns (k, 2), in units of the spacing; each coordinate moved at random by up to
    DISTURBANCE. A solid fraction of 0.24."""
    layers = -(-n // len(columns))
    sites = np.array([(x, y, layer + 0.5) for layer in range(layers) for x, y in columns])[:n]
    moved = np.random.default_rng(1).uniform(-DISTURBANCE, DISTURBANCE, sites.shape)
    return (sites + moved) * SPACING + [0, 0, 0.1 * D]


def square(first, last):
    """Columns of a square."""
    return [(x + 0.5, y + 0.5) for y in range(first, last) for x in range(first, last)]


def pour():
    """TILE spheres above a flat floor."""
    return Start(loose_lattice(TILE, square(0, COLUMNS)), (0, 0, -0.01), (WIDTH, WIDTH, HIGHEST["pour"]), FLAT)


def silo(n):
    """n spheres above the floor of the silo."""
    reach = (SILO - D / 2) / SPACING[0] - 2**0.5 * DISTURBANCE
    x = loose_lattice(n, [column for column in square(-COLUMNS, COLUMNS) if np.hypot(*column) < reach])
    return Start(x, (-SILO_BOX, -SILO_BOX, LEAVE), (SILO_BOX, SILO_BOX, x[:, 2].max() + D), SILO_SCENE)


def write_annulus(path, segments=64):
    """The floor with the outlet as triangles, out to the wall and half a diameter beyond."""
    angles = 2 * np.pi / segments * np.arange(segments + 1)
    inner, outer = (np.stack([r * np.cos(angles), r * np.sin(angles), 0 * angles], -1) for r in (OUTLET, SILO + D / 2))
    with open(path, "w", encoding="utf-8") as file:
        file.write("solid floor\n")
        for i in range(segments):
            for corners in ((inner[i], outer[i], outer[i + 1]), (inner[i], outer[i + 1], inner[i + 1])):
                vertices = "".join(f"vertex {x:.9g} {y:.9g} {z:.9g}\n" for x, y, z in corners)
                file.write(f"facet normal 0 0 1\nouter loop\n{vertices}endloop\nendfacet\n")
        file.write("endsolid floor\n")


def settled_bed(n, options):
    """A bed of n spheres: tiles that scree's dem let settle once, kept in --out."""
    path = options.out / "tile.csv"
    if not path.exists():
        print(f"{TILE} spheres settle for {SETTLING} s", file=sys.stderr)
        with tempfile.TemporaryDirectory() as name:
            run_scree("scree-dem", pour(), [round(SETTLING / SOFT_STEP)], 1, Path(name), options)
            np.savetxt(path, scree_end(Path(name))[0], delimiter=",", fmt="%.12g")
    tile = np.loadtxt(path, delimiter=",")
    tiles = n // TILE
    rows = int(tiles**0.5)
    while tiles % rows:
        rows -= 1
    columns = tiles // rows
    tile[:, :2] = np.mod(tile[:, :2], WIDTH)
    x = np.concatenate([tile + [column * WIDTH, row * WIDTH, 0] for column in range(columns) for row in range(rows)])
    return Start(x, (0, 0, -0.01), (columns * WIDTH, rows * WIDTH, HIGHEST["bed"]), FLAT)


def timed(command, folder):
    """Wall seconds of a command, and what it printed."""
    with open(folder / "output.txt", "w", encoding="utf-8") as output:
        began = time.monotonic()
        process = subprocess.run(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        wall = time.monotonic() - began
    said = (folder / "output.txt").read_text(encoding="utf-8", errors="replace")
    if process.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))} ended with {process.returncode}:\n{said[-800:]}")
    return wall, said


def loop_seconds(said):
    """The time that LAMMPS and LIGGGHTS print for their runs, all stages together."""
    times = re.findall(r"^Loop time of (\S+) on \d+ procs for \d+ steps", said, re.MULTILINE)
    if not times:
        raise Failure(f"no loop time:\n{said[-800:]}")
    return sum(map(float, times))


def launcher(ranks):
    return ["mpirun", "-n", str(ranks)]


def step_of(code):
    """Of spheres [s]."""
    return RIGID_STEP if code == "scree-nonsmooth" else SOFT_STEP


def filled(text, values):
    """The text with values in place of @NAME."""
    return re.sub(r"@([A-Z]+[0-9]?)", lambda match: str(values[match[1]]), text)


def run_scree(code, start, stages, ranks, folder, options):
    """Seconds of the steps and of the whole program, of so many steps in each stage; leaves its files in the folder."""
    start.write_for_scree(folder / "start.csv")
    step = step_of(code)
    end = f"{sum(stages) * step:.12g}"
    values = {"SCHEME": code.removeprefix("scree-"), "STEP": step, "END": end, "OUTPUT": end, "GRAVITY": GRAVITY,
              "TOLERANCE": start.scene.tolerance, "DENSITY": DENSITY, "E": E, "NU": NU, "MU": MU, "RESTITUTION": RESTITUTION,
              **{axis: f"{high:.10g}" for axis, high in zip("XYZ", start.upper)},
              **{f"DURATION{i}": f"{steps * step:.12g}" for i, steps in enumerate(stages)}}
    (folder / "deck.toml").write_text(filled(_DECK.replace("@SCENE", start.scene.deck), values), encoding="utf-8")
    return run_deck(ranks, folder, options)


def run_deck(ranks, folder, options):
    """scree on deck.toml: seconds of the steps and of the whole program."""
    wall, _ = timed([*launcher(ranks), str(options.bin / "scree"), "run", "deck.toml", "--force"], folder)
    return step_seconds(folder / "end/summary.json"), wall


def scree_end(folder):
    """Centres, velocities, and the force on the floor in the last step."""
    results = Results(folder / "end")
    with results.trajectory as trajectory:
        return trajectory.positions(-1), trajectory.velocities(-1), -results.scalars["floor_force_floor_z"][-1]


def run_peer(code, start, stages, ranks, folder):
    """As run_scree()."""
    program, template, law, floor = PEERS[code]
    start.write_for_peers(folder / "start.txt")
    write_annulus(folder / "floor.stl")
    values = {"BOUNDARY": start.scene.boundary, "SKIN": start.scene.skin, "LAW": law, "FLOOR": floor,
              "FORMAT": _DIGITS[code.partition("-")[0]], **{f"RUN{i}": steps for i, steps in enumerate(stages)}}
    (folder / "in.txt").write_text(filled(template.replace("@STAGES", start.scene.commands), values), encoding="utf-8")
    wall, said = timed([*launcher(ranks), program, "-in", "in.txt"], folder)
    return loop_seconds(said), wall


def peer_end(folder):
    """Centres and velocities of the last frame, in the order of the start."""
    lines = (folder / "end.txt").read_text(encoding="utf-8").splitlines()
    first = max(i for i, line in enumerate(lines) if line.startswith("ITEM: ATOMS")) + 1
    table = np.array([line.split() for line in lines[first:]], dtype=float)
    table = table[np.argsort(table[:, 0])]
    return table[:, 1:4], table[:, 4:7]


def hertz_floor_force(z):
    """Of spheres at rest on z = 0, whose material is theirs."""
    overlap = np.maximum(D / 2 - z, 0)
    return STIFFNESS * np.sqrt(D / 2) * (overlap**1.5).sum()


def bed_state(code, start, folder):
    """The bed at the end: columns of a row."""
    if code in OWN:
        x, v, floor = scree_end(folder)
    else:
        x, v = peer_end(folder)
    if code != "scree-nonsmooth":
        floor = hertz_floor_force(x[:, 2])
    n = len(start.x)
    if len(x) != n:
        raise Failure(f"{code}: {len(x)} spheres are left of {n}")
    bed = bed_numbers(x, start.upper[:2], D)
    return {"height": bed.height, "phi": bed.solid_fraction, "z": bed.coordination,
            "kinetic": 0.5 * (v**2).sum() / (n * GRAVITY * D), "floor": floor / (n * MASS * GRAVITY)}


def counts_of(code, folder):
    """Times and numbers of spheres that are there, every 10 ms."""
    if code in OWN:
        scalars = Results(folder / "end").scalars
        return scalars["time"], scalars["n_bodies"]
    said = (folder / "output.txt").read_text(encoding="utf-8", errors="replace")
    rows = re.findall(r"^ *(\d+) +(\d+) *$", said, re.MULTILINE)
    if not rows:
        raise Failure(f"{code} does not say how many spheres are there:\n{said[-800:]}")
    table = np.array(rows, dtype=float)
    return table[:, 0] * SOFT_STEP, table[:, 1]


def silo_state(code, start, stages, folder):
    """What remains in the silo and how fast it discharged: columns of a row."""
    times, counts = counts_of(code, folder)
    filling, discharge = np.array(stages) * step_of(code)
    opened, first, last = filling + discharge * np.array([0, 1 / 4, 5 / 6])
    filled_in, before, after = np.interp([opened, first, last], times, counts)
    if filled_in != len(start.x):
        raise Failure(f"{code}: {filled_in:.0f} spheres are in the closed silo of {len(start.x)}")
    return {"remain": int(counts[-1]), "rate": (before - after) / (last - first)}


def box_program(peer, options):
    """The program of a peer for boxes, compiled once into --out."""
    if peer == "siconos":
        return HERE / "peers/boxes_siconos.py"
    source, program = HERE / f"peers/boxes_{peer}.cpp", (options.out / f"boxes_{peer}").resolve()
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        libraries = subprocess.run(["pkg-config", "--cflags", "--libs", peer], check=True, capture_output=True, text=True)
        subprocess.run(["g++", "-O3", "-march=native", "-std=c++17", source, "-o", program, *libraries.stdout.split()], check=True)
    return program


def run_boxes(code, scene, n_steps, ranks, folder, options):
    """Seconds of the steps and of the whole program, and the state at the end."""
    if code in OWN_BOXES:
        scene.write_for_scree(folder, OWN_BOXES[code], options.box_step, n_steps)
        seconds, program = run_deck(ranks, folder, options)
        results = Results(folder / "end")
        with results.trajectory as trajectory:
            ids = np.argsort(scene.kinds(), kind="stable")    # scree numbers bodies kind by kind
            order = ids[trajectory.ids(-1)]
            x, turns = (np.empty((len(scene.x), n)) for n in (3, 4))
            x[order], turns[order] = trajectory.positions(-1), trajectory.field("orientation", -1)
        unsolved = int((results.certificate["solved"][1:] == 0).sum())
    else:
        peer, _, effort = BOX_PEERS[code]
        scene.write_for_peers(folder / "scene.txt")
        program, said = timed([box_program(peer, options), "scene.txt", str(effort), str(options.box_step), str(n_steps)], folder)
        seconds = float(re.search(r"^steps took (\S+) s$", said, re.MULTILINE)[1])
        end = np.loadtxt(folder / "end.txt")
        x, turns = end[:, :3], end[:, 3:]
        unsolved = int(re.search(r"^unsolved (\d+)$", said, re.MULTILINE)[1]) if peer == "siconos" else None
    if len(x) != len(scene.x) or not np.isfinite(x).all():
        raise Failure(f"{code}: {len(x)} boxes are left of {len(scene.x)}")
    return seconds, program, {**box_scenes.state_of(scene, x, turns), "unsolved": unsolved}


def stages_of(task, code, start, options):
    """Steps of each stage."""
    if task == "bed":
        return [max(options.steps, options.work // len(start.x))]
    if task in BOX_TASKS:
        return [round(options.box_seconds / options.box_step)]
    return [round(seconds / step_of(code)) for seconds in ([options.seconds] if task == "pour" else options.silo_seconds)]


def run_once(task, code, start, ranks, options):
    """Seconds of the steps and of the program, and the state at the end."""
    stages = stages_of(task, code, start, options)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if task in BOX_TASKS:
            return run_boxes(code, start, stages[0], ranks, folder, options)
        if code in OWN:
            seconds, program = run_scree(code, start, stages, ranks, folder, options)
        else:
            seconds, program = run_peer(code, start, stages, ranks, folder)
        state = silo_state(code, start, stages, folder) if task == "silo" else bed_state(code, start, folder)
    return seconds, program, state


def measure(task, codes, start, ranks, options):
    """Rows of all codes, by code: one repetition of each, then the next, so that what else happens meets all alike; and
    whether all went well."""
    runs = {code: [] for code in codes}
    failed = set()
    for _ in range(options.repetitions):
        for code in codes:
            if code in failed:
                continue
            try:
                runs[code].append(run_once(task, code, start, ranks, options))
            except (Failure, TimingError) as failure:
                print(f"compare-peers.py: {failure}", file=sys.stderr)
                failed.add(code)
    rows = []
    for code in codes:
        if code in failed:
            continue
        seconds, programs, states = zip(*runs[code])
        step = options.box_step if task in BOX_TASKS else step_of(code)
        simulated = sum(stages_of(task, code, start, options)) * step
        rows.append({"task": task, "bodies": len(start.x), "code": code, "ranks": ranks, "simulated": simulated,
                     "wall": statistics.median(seconds) / simulated, "spread": spread_of(seconds),
                     "program": statistics.median(programs), "repetitions": options.repetitions, **states[-1]})
    return rows, not failed


def is_there(code):
    if code in BOX_PEERS:
        program, package, _ = BOX_PEERS[code]
        asked = ["/usr/bin/python3", "-c", "import siconos"] if code == "siconos" else ["pkg-config", "--exists", program]
        found = shutil.which(asked[0]) is not None and subprocess.run(asked, capture_output=True).returncode == 0
    else:
        program, package = PEERS[code][0], code.partition("-")[0]
        found = shutil.which(program) is not None
    if not found:
        print(f"{code} is left out: {program} is not installed (Debian: apt-get install {package})", file=sys.stderr)
    return found


def kept_rows(path, processor):
    """Rows of earlier commands on this processor."""
    content = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"processor": processor, "rows": []}
    if not isinstance(content, dict) or content["processor"] != processor:
        sys.exit(f"compare-peers.py: {path} has rows of another processor or an earlier version: choose another --out")
    return content["rows"]


def key_of(row):
    return (TASKS.index(row["task"]), row["bodies"], row["ranks"], CODES.index(row["code"]))


# Title, key and format of the columns that show the state.
_BED_STATE = [("height [m]", "height", ".4f"), ("phi", "phi", ".4f"), ("z", "z", ".2f"), ("E_kin", "kinetic", ".1e"),
              ("floor", "floor", ".4f")]
_SILO_STATE = [("remain", "remain", "d"), ("rate [1/s]", "rate", ".0f")]
_BOX_STATE = [("height [m]", "height", ".4f"), ("moved [m]", "moved", ".2g"), ("overlap [m]", "overlap", ".2g"),
              ("unsolved", "unsolved", "d")]


def table_of(rows, state, reference):
    """Markdown, with wall times over that of the code `reference`."""
    titles = ["task", "bodies", "ranks", "code", "wall s per s", "spread", f"over {reference}", "program [s]",
              *(title for title, _, _ in state)]
    lines = [f"| {' | '.join(titles)} |", "|" + len(titles) * "---|"]
    own = {(r["task"], r["bodies"], r["ranks"]): r["wall"] for r in rows if r["code"] == reference}
    for r in sorted(rows, key=key_of):
        base = own.get((r["task"], r["bodies"], r["ranks"]))
        ratio = f"{r['wall'] / base:.2f}" if base else "-"
        spread = f"{100 * r['spread']:.0f} %" if r["repetitions"] > 1 else "-"
        cells = [r["task"], r["bodies"], r["ranks"], r["code"], f"{r['wall']:.3g}", spread, ratio, f"{r['program']:.3g}",
                 *("-" if r[key] is None else format(r[key], digits) for _, key, digits in state)]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def report_of(rows, processor):
    """The tables of beds, silos and boxes, as far as they have rows."""
    kinds = ((("bed", "pour"), _BED_STATE, "scree-dem"), (("silo",), _SILO_STATE, "scree-dem"),
             (BOX_TASKS, _BOX_STATE, "scree-nonsmooth"))
    tables = [table_of(some, state, reference) for tasks, state, reference in kinds
              if (some := [r for r in rows if r["task"] in tasks])]
    return "\n\n".join([f"On {processor}:", *tables])


QUICK = {"bodies": TILE, "seconds": 0.3, "work": 4_000_000, "silo_bodies": 2000, "boxes": 200, "box_seconds": 1.0}

STARTS = {"bed": settled_bed, "pour": lambda n, options: pour(), "silo": lambda n, options: silo(n),
          "wall": lambda n, options: box_scenes.wall(), "boxes": lambda n, options: box_scenes.pour(n)}


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="folder of the built programs")
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--codes", nargs="+", choices=CODES, default=list(CODES))
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--bodies", type=int, nargs="+", default=[4096, 32768, 131072], help="of beds: multiples of 4096")
    parser.add_argument("--seconds", type=float, default=1.0, help="of pouring [s]")
    parser.add_argument("--silo-bodies", type=int, default=10_000, help="spheres in the silo")
    parser.add_argument("--silo-seconds", type=float, nargs=2, default=[0.7, 1.2], metavar=("FILL", "DISCHARGE"),
                        help="of the stages of the silo [s]")
    parser.add_argument("--boxes", type=int, default=1000, help="boxes that are poured")
    parser.add_argument("--box-seconds", type=float, default=2.0, help="of boxes [s]")
    parser.add_argument("--box-step", type=float, default=5e-3, help="of boxes [s]")
    parser.add_argument("--steps", type=int, default=100, help="of beds that are timed, at least")
    parser.add_argument("--work", type=int, default=BED_WORK, help="body-steps of beds that are timed, at least")
    parser.add_argument("--repetitions", type=int, default=3, help="of each timing; the median counts")
    parser.add_argument("--quick", action="store_true",
                        help="if nothing else is given: " + " ".join(f"--{k.replace('_', '-')} {v}" for k, v in QUICK.items()))
    parser.add_argument("--out", type=Path, default=Path("results/peers"),
                        help="folder of rows and of the settled tile; what is there already is used")
    if parser.parse_known_args(arguments)[0].quick:
        parser.set_defaults(**QUICK | {"bodies": [QUICK["bodies"]]})
    options = parser.parse_args(arguments)
    options.bin = options.bin.resolve()
    if any(n < TILE or n % TILE for n in options.bodies):
        parser.error(f"--bodies: beds are made of tiles, give multiples of {TILE}")
    if min([options.steps, options.work, options.repetitions, options.silo_bodies, options.boxes, *options.ranks]) < 1:
        parser.error("--ranks, --steps, --work, --silo-bodies, --boxes and --repetitions must be positive")
    if not all(seconds >= RIGID_STEP for seconds in (options.seconds, *options.silo_seconds)):
        parser.error(f"--seconds at least {RIGID_STEP}, --silo-seconds too")
    if not options.box_seconds >= options.box_step > 0:
        parser.error("--box-seconds at least --box-step, which is positive")
    if not (options.bin / "scree").exists():
        parser.error(f"--bin: there is no scree in {options.bin}")
    return options


def main(arguments=None):
    options = parse(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    kept = options.out / "peers.json"
    processor = processor_text(machine_of(options.bin))
    rows = kept_rows(kept, processor)
    wanted = {code for task in options.tasks for code in CODES_OF[task]} & set(options.codes)
    codes = [code for code in CODES if code in wanted and (code.startswith("scree") or is_there(code))]
    failed = False
    for task in options.tasks:
        sizes = {"bed": options.bodies, "pour": [TILE], "silo": [options.silo_bodies], "boxes": [options.boxes]}
        for n in sizes.get(task, [None]):
            start = STARTS[task](n, options)
            for ranks in options.ranks:
                able = [code for code in codes if code in CODES_OF[task] and (ranks == 1 or code not in BOX_PEERS)]
                new, all_well = measure(task, able, start, ranks, options)
                failed = failed or not all_well
                for row in new:
                    print(f"{task}, {row['bodies']} bodies, ranks {ranks}, {row['code']}: {row['wall']:.3g} s per s", file=sys.stderr)
                rows = [other for other in rows if key_of(other) not in map(key_of, new)] + new
                kept.with_suffix(".new").write_text(json.dumps({"processor": processor, "rows": rows}, indent=1),
                                                    encoding="utf-8")
                kept.with_suffix(".new").replace(kept)
    print(report_of(rows, processor))
    if failed:
        sys.exit(1)


if __name__ == "__main__":
    try:
        main()
    except (Failure, TimingError) as error:
        sys.exit(f"compare-peers.py: {error}")
