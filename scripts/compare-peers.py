#!/usr/bin/python3
"""Runs the same spheres with scree, LAMMPS and LIGGGHTS: wall seconds per simulated second, and the state of the bed at the end.

    scripts/compare-peers.sh                                     both tasks, every code that is installed, 1 and 2 ranks
    scripts/compare-peers.sh --quick                             a few minutes: small sizes, short runs
    scripts/compare-peers.sh --tasks bed --bodies 4096 32768 --codes scree-dem lammps --ranks 1

Tasks (spheres of 1 cm and 2500 kg/m3 on a flat floor, periodic sideways, mu = 0.5, g = 9.81 m/s2):
    bed   a bed at rest, 16 diameters high, --bodies spheres: a tile of 4096 that scree's dem let settle, repeated. Every code
          starts from the same centres, at rest and without springs, and takes the same steps.
    pour  4096 spheres fall from a loose lattice, disturbed by the same random numbers for every code, for --seconds.
Codes:
    scree-dem         Hertz-Mindlin with history, restitution 0.5 at any speed, steps of 50 us
    scree-nonsmooth   rigid spheres, restitution 0.5, steps of 2 ms (pour only: the bed of soft spheres overlaps)
    lammps            pair_style gran/hertz/history, the fast one; damping for a restitution near 0.5 at 0.5 m/s; 50 us
    lammps-granular   pair_style granular with hertz/material, mindlin and tsuji: the law of scree-dem; 50 us
    liggghts          gran model hertz tangential history, restitution 0.5; 50 us
Soft spheres have E = 10 MPa and nu = 0.3.

Columns: wall seconds of the steps per simulated second, as each code itself times them: "Loop time of" LAMMPS and LIGGGHTS,
the timer "step" of scree's summary.json (slowest rank). Starting up, reading and the last frame do not count. Median of
--repetitions, spread (largest - least) / median; repetitions are interleaved: every code once, then every code again. program:
wall seconds of the whole program, start and files included. height, phi and z: bed_numbers.py in postprocess, on the centres
that a code ends with; E_kin: kinetic energy of the centres over N m g d; floor: Hertz's force at the floor from the overlaps of
these centres, of rigid spheres the impulse of the last step over its length, over the weight.
Rows are kept in --out/peers.json with the processor: another command with the same --out adds to them on the same processor,
and the table shows all.

Peers that are not installed are left out and named (Debian: lammps, liggghts). JuPedSim and Vadere, the peers for crowds, are
not in Debian. Run it on a machine with nothing else to do.
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
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "postprocess"))
from bed_numbers import bed_numbers  # noqa: E402
from scree_results import Results  # noqa: E402
from timings import TimingError, machine_of, processor_text, spread_of, step_seconds  # noqa: E402

EDGE = 16              # of a tile, in diameters
TILE = EDGE**3
D = 0.01               # diameter [m]
WIDTH = EDGE * D
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
neighbor 0.001 bin
neigh_modify delay 0 every 1 check yes
@LAW
fix 1 all nve/sphere
fix 2 all gravity {GRAVITY} vector 0 0 -1
timestep {SOFT_STEP}
thermo 1000000
thermo_modify lost error
run @STEPS
write_dump all custom end.txt @FORMAT
"""

# Divide the box along x and y only: it is more than twice as high as its bed, so half of a division along z would idle.
_LAMMPS = f"""\
units si
atom_style sphere
boundary p p f
newton off
comm_modify vel yes
processors * * 1
read_data start.txt
{_COMMON}"""

_LIGGGHTS = f"""\
units si
atom_style granular
atom_modify map array
boundary p p f
newton off
communicate single vel yes
processors * * 1
read_data start.txt
{_COMMON}"""

_COLUMNS = "id x y z vx vy vz"
_DIGITS = {"lammps": f"{_COLUMNS} modify format float %.12g",
           "liggghts": f"{_COLUMNS} modify format \"%d" + 6 * " %.12g" + "\""}

# Name, input and law of each peer.
PEERS = {
    "lammps": ("lmp", _LAMMPS, f"pair_style gran/{_HISTORY}\npair_coeff * *\nfix 3 all wall/gran {_HISTORY} zplane 0 NULL"),
    "lammps-granular": ("lmp", _LAMMPS, f"pair_style granular\npair_coeff * * {_BODY_MATERIAL}\n"
                        f"fix 3 all wall/gran granular {_WALL_MATERIAL} zplane 0 NULL"),
    "liggghts": ("liggghts", _LIGGGHTS, f"""\
fix e all property/global youngsModulus peratomtype {E}
fix nu all property/global poissonsRatio peratomtype {NU}
fix cor all property/global coefficientRestitution peratomtypepair 1 {RESTITUTION}
fix mu all property/global coefficientFriction peratomtypepair 1 {MU}
pair_style gran model hertz tangential history
pair_coeff * *
fix 3 all wall/gran model hertz tangential history primitive type 1 zplane 0.0"""),
}
OWN = ("scree-dem", "scree-nonsmooth")
CODES = (*OWN, *PEERS)

_DECK = """\
[simulation]
dimension = 3
scheme = "@SCHEME"
end_time = @END
allow_overlap = true
[domain]
lower = [0, 0, -0.01]
upper = [@X, @Y, @Z]
periodic = [true, true, false]
[time]
step = @STEP
[physics]
gravity = [0, 0, -@GRAVITY]
[dem]
law = "hertz"
[solver]
type = "nsgs"
tolerance = 1e-2
[materials.glass]
density = @DENSITY
young_modulus = @E
poisson_ratio = @NU
[pairs]
"glass-glass" = { friction = @MU, restitution = @RESTITUTION }
[obstacles.floor]
type = "plane"
material = "glass"
point = [0, 0, 0]
normal = [0, 0, 1]
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
[analysis]
every = @OUTPUT
[measures.floor]
type = "wall_force"
"""


class Failure(Exception):
    """A run failed."""


class Start:
    """Centres at rest that a task starts from."""

    def __init__(self, x, widths, highest):
        self.x, self.widths, self.highest = x, widths, highest

    def write_for_peers(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"spheres\n\n{len(self.x)} atoms\n1 atom types\n\n0 {self.widths[0]:.10g} xlo xhi\n"
                       f"0 {self.widths[1]:.10g} ylo yhi\n-0.01 {self.highest} zlo zhi\n\nAtoms\n\n")
            for number, (x, y, z) in enumerate(self.x, start=1):
                file.write(f"{number} 1 {D} {DENSITY} {x:.12g} {y:.12g} {z:.12g}\n")

    def write_for_scree(self, path):
        with open(path, "w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(["id", "x", "y", "z", "radius"])
            rows.writerows([number, f"{x:.12g}", f"{y:.12g}", f"{z:.12g}", D / 2] for number, (x, y, z) in enumerate(self.x))


def loose_lattice():
    """TILE spheres on a lattice, each coordinate moved at random by up to 0.09 of the spacing: a solid fraction of 0.24."""
    across, layers = 12, -(-TILE // 144)
    steps = np.array([WIDTH / across, WIDTH / across, 0.012])
    sites = np.stack(np.meshgrid(np.arange(layers), np.arange(across), np.arange(across), indexing="ij"), -1)
    sites = sites.reshape(-1, 3)[:TILE, ::-1] + 0.5
    moved = np.random.default_rng(1).uniform(-0.09, 0.09, sites.shape)
    return Start((sites + moved) * steps + [0, 0, 0.1 * D], (WIDTH, WIDTH), HIGHEST["pour"])


def settled_bed(n, options):
    """A bed of n spheres: tiles that scree's dem let settle once, kept in --out."""
    path = options.out / "tile.csv"
    if not path.exists():
        print(f"{TILE} spheres settle for {SETTLING} s", file=sys.stderr)
        with tempfile.TemporaryDirectory() as name:
            run_scree("scree-dem", loose_lattice(), round(SETTLING / SOFT_STEP), 1, Path(name), options)
            np.savetxt(path, scree_end(Path(name))[0], delimiter=",", fmt="%.12g")
    tile = np.loadtxt(path, delimiter=",")
    tiles = n // TILE
    rows = int(tiles**0.5)
    while tiles % rows:
        rows -= 1
    columns = tiles // rows
    tile[:, :2] = np.mod(tile[:, :2], WIDTH)
    x = np.concatenate([tile + [column * WIDTH, row * WIDTH, 0] for column in range(columns) for row in range(rows)])
    return Start(x, (columns * WIDTH, rows * WIDTH), HIGHEST["bed"])


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
    """The time that LAMMPS and LIGGGHTS print for their last run."""
    times = re.findall(r"^Loop time of (\S+) on \d+ procs for \d+ steps", said, re.MULTILINE)
    if not times:
        raise Failure(f"no loop time:\n{said[-800:]}")
    return float(times[-1])


def launcher(ranks):
    return ["mpirun", "-n", str(ranks)]


def run_scree(code, start, steps, ranks, folder, options):
    """Seconds of the steps and of the whole program; leaves its files in the folder."""
    start.write_for_scree(folder / "start.csv")
    step = SOFT_STEP if code == "scree-dem" else RIGID_STEP
    end = steps * step
    values = {"SCHEME": code.removeprefix("scree-"), "STEP": step, "END": f"{end:.12g}", "OUTPUT": f"{max(end, step):.12g}",
              "X": f"{start.widths[0]:.10g}", "Y": f"{start.widths[1]:.10g}", "Z": start.highest, "GRAVITY": GRAVITY,
              "DENSITY": DENSITY, "E": E, "NU": NU, "MU": MU, "RESTITUTION": RESTITUTION}
    deck = _DECK
    for key in sorted(values, key=len, reverse=True):
        deck = deck.replace("@" + key, str(values[key]))
    (folder / "deck.toml").write_text(deck, encoding="utf-8")
    wall, _ = timed([*launcher(ranks), str(options.bin / "scree"), "run", "deck.toml", "--force"], folder)
    return step_seconds(folder / "end/summary.json"), wall


def scree_end(folder):
    """Centres, velocities, and the force on the floor in the last step."""
    results = Results(folder / "end")
    with results.trajectory as trajectory:
        return trajectory.positions(-1), trajectory.velocities(-1), -results.scalars["floor_force_floor_z"][-1]


def run_peer(code, start, steps, ranks, folder):
    """As run_scree()."""
    program, template, law = PEERS[code]
    start.write_for_peers(folder / "start.txt")
    text = template.replace("@LAW", law).replace("@STEPS", str(max(steps, 1))).replace("@FORMAT", _DIGITS[code.partition("-")[0]])
    (folder / "in.txt").write_text(text, encoding="utf-8")
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


def steps_of(task, code, start, options):
    step = RIGID_STEP if code == "scree-nonsmooth" else SOFT_STEP
    steps = round(options.seconds / step) if task == "pour" else max(options.steps, options.work // len(start.x))
    return steps, steps * step


def run_once(task, code, start, ranks, options):
    """Seconds of the steps and of the program, and the state of the bed at the end: columns of a row."""
    steps, _ = steps_of(task, code, start, options)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if code in OWN:
            seconds, program = run_scree(code, start, steps, ranks, folder, options)
            x, v, floor = scree_end(folder)
        else:
            seconds, program = run_peer(code, start, steps, ranks, folder)
            x, v = peer_end(folder)
    if code != "scree-nonsmooth":
        floor = hertz_floor_force(x[:, 2])
    n = len(start.x)
    if len(x) != n:
        raise Failure(f"{code}: {len(x)} spheres are left of {n}")
    bed = bed_numbers(x, start.widths, D)
    return seconds, program, {"height": bed.height, "phi": bed.solid_fraction, "z": bed.coordination,
                              "kinetic": 0.5 * (v**2).sum() / (n * GRAVITY * D), "floor": floor / (n * MASS * GRAVITY)}


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
        _, simulated = steps_of(task, code, start, options)
        rows.append({"task": task, "spheres": len(start.x), "code": code, "ranks": ranks, "simulated": simulated,
                     "wall": statistics.median(seconds) / simulated, "spread": spread_of(seconds),
                     "program": statistics.median(programs), "repetitions": options.repetitions, **states[-1]})
    return rows, not failed


def is_there(code):
    program = PEERS[code][0]
    if shutil.which(program) is not None:
        return True
    print(f"{code} is left out: {program} is not installed (Debian: apt-get install {code.partition('-')[0]})", file=sys.stderr)
    return False


def kept_rows(path, processor):
    """Rows of earlier commands on this processor."""
    content = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"processor": processor, "rows": []}
    if not isinstance(content, dict) or content["processor"] != processor:
        sys.exit(f"compare-peers.py: {path} has rows of another processor or an earlier version: choose another --out")
    return content["rows"]


def key_of(row):
    return (list(TASKS).index(row["task"]), row["spheres"], row["ranks"], CODES.index(row["code"]))


def table_of(rows, processor):
    """Markdown. "over scree-dem": the wall time over that of scree-dem."""
    lines = [f"On {processor}:", "",
             "| task | spheres | ranks | code | wall s per s | spread | over scree-dem | program [s] | height [m] | phi | z | E_kin | "
             "floor |", "|" + 13 * "---|"]
    own = {(r["task"], r["spheres"], r["ranks"]): r["wall"] for r in rows if r["code"] == "scree-dem"}
    for r in sorted(rows, key=key_of):
        base = own.get((r["task"], r["spheres"], r["ranks"]))
        ratio = f"{r['wall'] / base:.2f}" if base else "-"
        spread = f"{100 * r['spread']:.0f} %" if r["repetitions"] > 1 else "-"
        lines.append(f"| {r['task']} | {r['spheres']} | {r['ranks']} | {r['code']} | {r['wall']:.3g} | {spread} | {ratio} | "
                     f"{r['program']:.3g} | {r['height']:.4f} | {r['phi']:.4f} | {r['z']:.2f} | {r['kinetic']:.1e} | "
                     f"{r['floor']:.4f} |")
    return "\n".join(lines)


QUICK = {"bodies": TILE, "seconds": 0.3, "work": 4_000_000}

TASKS = {"bed": settled_bed, "pour": lambda n, options: loose_lattice()}


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="folder of the built programs")
    parser.add_argument("--tasks", nargs="+", choices=list(TASKS), default=list(TASKS))
    parser.add_argument("--codes", nargs="+", choices=CODES, default=list(CODES))
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--bodies", type=int, nargs="+", default=[4096, 32768, 131072], help="of beds: multiples of 4096")
    parser.add_argument("--seconds", type=float, default=1.0, help="of pouring [s]")
    parser.add_argument("--steps", type=int, default=100, help="of beds that are timed, at least")
    parser.add_argument("--work", type=int, default=BED_WORK, help="body-steps of beds that are timed, at least")
    parser.add_argument("--repetitions", type=int, default=3, help="of each timing; the median counts")
    parser.add_argument("--quick", action="store_true",
                        help="if nothing else is given: " + " ".join(f"--{k} {v}" for k, v in QUICK.items()))
    parser.add_argument("--out", type=Path, default=Path("results/peers"),
                        help="folder of rows and of the settled tile; what is there already is used")
    if parser.parse_known_args(arguments)[0].quick:
        parser.set_defaults(**QUICK | {"bodies": [QUICK["bodies"]]})
    options = parser.parse_args(arguments)
    options.bin = options.bin.resolve()
    if any(n < TILE or n % TILE for n in options.bodies):
        parser.error(f"--bodies: beds are made of tiles, give multiples of {TILE}")
    if min([options.steps, options.work, options.repetitions, *options.ranks]) < 1 or not options.seconds >= RIGID_STEP:
        parser.error(f"--ranks, --steps, --work and --repetitions must be positive, --seconds at least {RIGID_STEP}")
    if not (options.bin / "scree").exists():
        parser.error(f"--bin: there is no scree in {options.bin}")
    return options


def main(arguments=None):
    options = parse(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    kept = options.out / "peers.json"
    processor = processor_text(machine_of(options.bin))
    rows = kept_rows(kept, processor)
    codes = [code for code in CODES if code in options.codes and (code in OWN or is_there(code))]
    failed = False
    for task in options.tasks:
        for n in options.bodies if task == "bed" else [TILE]:
            start = TASKS[task](n, options)
            for ranks in options.ranks:
                able = [code for code in codes if task == "pour" or code != "scree-nonsmooth"]
                new, all_well = measure(task, able, start, ranks, options)
                failed = failed or not all_well
                for row in new:
                    print(f"{task}, {n} spheres, ranks {ranks}, {row['code']}: {row['wall']:.3g} s per s", file=sys.stderr)
                rows = [other for other in rows if key_of(other) not in map(key_of, new)] + new
                kept.with_suffix(".new").write_text(json.dumps({"processor": processor, "rows": rows}, indent=1),
                                                    encoding="utf-8")
                kept.with_suffix(".new").replace(kept)
    print(table_of(rows, processor))
    if failed:
        sys.exit(1)


if __name__ == "__main__":
    try:
        main()
    except (Failure, TimingError) as error:
        sys.exit(f"compare-peers.py: {error}")
