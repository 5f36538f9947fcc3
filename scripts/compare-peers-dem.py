#!/usr/bin/python3
"""Speed of soft contact beside LAMMPS and LIGGGHTS: the settled bed of `scree_bench dem`.

    compare-peers-dem.py --bin build/release/bin                        4096, 32768, 131072 spheres on 1 and 2 ranks
    compare-peers-dem.py --bin build/release/bin --bodies 4096 --steps 500

Spheres of 1 cm and 2500 kg/m3, E = 10 MPa, nu = 0.3, mu = 0.5, steps of 50 us, under gravity on a flat floor, periodic
sideways, some 16 diameters high. Each code settles a tile of 4096 for 0.5 s; its centres, repeated, are the larger beds.
Contacts form anew there, for 200 steps, and then at least --steps are timed. Rates are of processor time, which other programs do
not take part in and waiting for messages does: of peers that of a run of 200 + --steps less that of 200 steps, from the
operating system, mean over ranks and least of --repetitions; of scree what scree_bench prints (the slowest rank, median).
Damping is that of each code, for a restitution near 0.5.

Peers that are not installed are left out (Debian: lammps, liggghts). Run it on a machine with nothing else to do.
"""
import argparse
import csv
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

EDGE = 16              # of a tile, in diameters
TILE = EDGE**3
D = 0.01               # diameter [m]
DT = 5e-5              # [s]
SETTLING = 10_000      # steps
WARM_UP = 200
LEAST_WORK = 40_000_000  # body-steps that are timed: seconds, so that starting a program does not count
E, NU, MU, DENSITY = 1e7, 0.3, 0.5, 2500

# gran/hertz/history takes 4/3 E* and 8 G*; its damping 2e5 gives a restitution of 0.5 at 0.5 m/s.
_KN = 4 / 3 * E / (2 * (1 - NU**2))
_KT = 8 * E / (2 * (1 + NU)) / (2 * (2 - NU))
_GRAN = f"hertz/history {_KN:.6g} {_KT:.6g} 2.0e5 1.0e5 {MU} 1"

LAMMPS = f"""\
units si
atom_style sphere
boundary p p f
newton off
comm_modify vel yes
@BODIES
pair_style gran/{_GRAN}
pair_coeff * *
neighbor 0.001 bin
neigh_modify delay 0 every 1 check yes
fix 1 all nve/sphere
fix 2 all gravity 9.81 vector 0 0 -1
fix 3 all wall/gran {_GRAN} zplane 0 NULL
timestep {DT}
thermo 100000
thermo_modify lost error
@RUN
"""

LIGGGHTS = f"""\
units si
atom_style granular
atom_modify map array
boundary p p f
newton off
communicate single vel yes
@BODIES
neighbor 0.001 bin
neigh_modify delay 0 every 1 check yes
fix e all property/global youngsModulus peratomtype {E}
fix nu all property/global poissonsRatio peratomtype {NU}
fix cor all property/global coefficientRestitution peratomtypepair 1 0.5
fix mu all property/global coefficientFriction peratomtypepair 1 {MU}
pair_style gran model hertz tangential history
pair_coeff * *
fix 1 all nve/sphere
fix 2 all gravity 9.81 vector 0 0 -1
fix 3 all wall/gran model hertz tangential history primitive type 1 zplane 0.0
timestep {DT}
thermo 100000
thermo_modify lost error
@RUN
"""

PEERS = {"LAMMPS": ("lmp", LAMMPS), "LIGGGHTS": ("liggghts", LIGGGHTS)}

# A lattice, a little disturbed, that falls together.
LOOSE = f"""\
region box block 0 {EDGE * D} 0 {EDGE * D} -0.01 0.3 units box
create_box 1 box
lattice sc {D} origin 0.5 0.5 0.5
region fill block 0 {EDGE * D} 0 {EDGE * D} 0 {EDGE * D} units box
create_atoms 1 region fill
set group all diameter {D} density {DENSITY}
displace_atoms all random 0.0005 0.0005 0.0002 32452843 units box
"""


class Failure(Exception):
    """A run of a peer that did not end well."""


def cpu_seconds(command, folder):
    """Processor time of a command and of all processes that it started and waited for."""
    with open(folder / "output.txt", "w", encoding="utf-8") as output:
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT,
                                   env=os.environ | {"OMP_NUM_THREADS": "1"})
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        tail = (folder / "output.txt").read_text(encoding="utf-8", errors="replace")[-800:]
        raise Failure(f"{' '.join(map(str, command))} ended with {process.returncode}:\n{tail}")
    return usage.ru_utime + usage.ru_stime


def run_peer(peer, bodies, commands, folder, ranks):
    program, template = PEERS[peer]
    (folder / "in.txt").write_text(template.replace("@BODIES", bodies).replace("@RUN", commands), encoding="utf-8")
    return cpu_seconds(["mpirun", "--bind-to", "none", "-n", str(ranks), program, "-in", "in.txt"], folder)


def settle(peer, folder):
    """Centres of a tile that has come to rest."""
    run_peer(peer, LOOSE, f"run {SETTLING}\nwrite_dump all custom tile.txt x y z\n" if peer == "LAMMPS" else
             f"dump 1 all custom {SETTLING} tile.txt x y z\nrun {SETTLING}\n", folder, 1)
    lines = (folder / "tile.txt").read_text(encoding="utf-8").splitlines()
    # The last frame is that of the end.
    first = len(lines) - lines[::-1].index(next(line for line in lines[::-1] if line.startswith("ITEM: ATOMS")))
    centres = [tuple(map(float, line.split())) for line in lines[first:]]
    if len(centres) != TILE:
        raise Failure(f"{peer}: {len(centres)} spheres have come to rest, not {TILE}")
    return centres


def tiles_along(n_tiles):
    """As square as a whole number of tiles can be."""
    rows = int(n_tiles**0.5)
    while n_tiles % rows:
        rows -= 1
    return n_tiles // rows, rows


def write_bed(path, centres, n_tiles):
    columns, rows = tiles_along(n_tiles)
    edge = EDGE * D
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"bed\n\n{n_tiles * TILE} atoms\n1 atom types\n\n0 {columns * edge:.10g} xlo xhi\n"
                   f"0 {rows * edge:.10g} ylo yhi\n-0.01 0.3 zlo zhi\n\nAtoms\n\n")
        number = 0
        for column in range(columns):
            for row in range(rows):
                for x, y, z in centres:
                    number += 1
                    x, y = x % edge + column * edge, y % edge + row * edge
                    file.write(f"{number} 1 {D} {DENSITY} {x:.12g} {y:.12g} {z:.12g}\n")


def measure_peer(peer, options):
    """{(bodies, ranks): million body-steps per second}."""
    if shutil.which(PEERS[peer][0]) is None:
        print(f"{peer} is left out: {PEERS[peer][0]} is not installed (Debian: apt-get install {peer.lower()})", file=sys.stderr)
        return {}
    rates = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        centres = settle(peer, folder)
        for n in options.bodies:
            write_bed(folder / "bed.txt", centres, n // TILE)
            for ranks in options.ranks:
                def run(more, on=ranks):
                    return run_peer(peer, "read_data bed.txt\n", f"run {WARM_UP + more}\n", folder, on)
                steps = max(options.steps, LEAST_WORK // n)
                seconds = min(run(steps) - run(0) for _ in range(options.repetitions))
                rates[n, ranks] = 1e-6 * n * steps * ranks / seconds
                print(f"{peer}, {n} spheres, ranks {ranks}: {rates[n, ranks]:.2f}", file=sys.stderr)
    return rates


def measure_scree(options):
    rates = {}
    with tempfile.TemporaryDirectory() as name:
        table = Path(name) / "dem.csv"
        for ranks in options.ranks:
            cpu_seconds(["mpirun", "--bind-to", "none", "-n", str(ranks), str(options.bin / "scree_bench"), "dem", "--bodies",
                         *map(str, options.bodies), "--csv", str(table)], Path(name))
            with open(table, newline="", encoding="utf-8") as file:
                for n, row in zip(options.bodies, csv.DictReader(file)):
                    rates[n, ranks] = 1e-6 * float(row["body_steps_per_second"])
    return rates


def table_of(options, rates):
    peers = [peer for peer in PEERS if rates.get(peer)]
    lines = ["million body-steps per second of processor time, all ranks",
             f"{'spheres':>8} {'ranks':>5} {'scree':>8}" + "".join(f" {peer:>9} {'scree/':>7}" for peer in peers)]
    for n in options.bodies:
        for ranks in options.ranks:
            ours = rates["scree"][n, ranks]
            line = f"{n:>8} {ranks:>5} {ours:>8.2f}"
            lines.append(line + "".join(f" {rates[peer][n, ranks]:>9.2f} {ours / rates[peer][n, ranks]:>7.2f}" for peer in peers))
    return "\n".join(lines)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="folder of the built programs")
    parser.add_argument("--bodies", type=int, nargs="+", default=[4096, 32768, 131072], help="multiples of 4096")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--steps", type=int, default=1000, help="that are timed, at least")
    parser.add_argument("--repetitions", type=int, default=3, help="of each peer's timing, of which the fastest counts")
    options = parser.parse_args(arguments)
    options.bin = options.bin.resolve()
    if any(n < TILE or n % TILE for n in options.bodies):
        parser.error(f"--bodies: beds are made of tiles, give multiples of {TILE}")
    if min([options.steps, options.repetitions, *options.ranks]) < 1:
        parser.error("--ranks, --steps and --repetitions must be positive")
    if not (options.bin / "scree_bench").exists():
        parser.error(f"--bin: there is no scree_bench in {options.bin}")
    return options


def main(arguments=None):
    options = parse(arguments)
    try:
        rates = {peer: measure_peer(peer, options) for peer in PEERS}
        rates["scree"] = measure_scree(options)
    except Failure as failure:
        sys.exit(f"compare-peers-dem.py: {failure}")
    print(table_of(options, rates))


if __name__ == "__main__":
    main()
