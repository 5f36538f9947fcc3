#!/usr/bin/python3
"""Runs the cases of `scree verify flows` with LAMMPS and writes tests/reference/flows/lammps.csv, which that command reads.

    scripts/flows-lammps.py --bin build/release/bin                            all cases and seeds: half an hour on one core
    scripts/flows-lammps.py --bin build/release/bin --cases chute --seeds 1    one run; its rows replace those of the file

Each run starts from the bodies that scree puts into the deck of the case (inputs/flows) with this seed: places, velocities, radii.
The law is that of "dem" with law = "linear" (docs/method.md, "Soft contact"): `pair_style granular` with `hooke` and
`linear_history`, stiffness of the deck, tangential ratio 2/7, the same damping along the normal and the tangent, no attraction. What
differs: LAMMPS lets the tangential spring balance the damping where contacts slide. The time step is the deck's.
LAMMPS comes from Debian 12: apt-get install lammps.
"""
import argparse
import csv
import math
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "postprocess"))
from scree.results import Results  # noqa: E402

HEAD = ["case", "seed", "quantity", "value"]
SAMPLE = 0.01          # [s] between rows of a run
COLUMN = 0.2           # length of the columns that collapse [m]
RATIO = 2 / 7          # tangential over normal stiffness
SMALL_STEP = 1e-6      # of impacts [s]


class Failure(Exception):
    """A run failed."""


def tsuji(alpha):
    """The number that LAMMPS's `damping tsuji` turns into this alpha = gamma / sqrt(m k): its polynomial, inverted."""
    def polynomial(e):
        return 1.2728 - 4.2783 * e + 11.087 * e**2 - 22.348 * e**3 + 27.467 * e**4 - 18.022 * e**5 + 4.8218 * e**6
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if polynomial(middle) > alpha else (low, middle)
    return low


def damping_share(restitution):
    """beta = gamma / (2 sqrt(m k)) of a contact that never pulls: it ends when the force falls to 0, at the time t, with the speed
    exp(-beta t) of what it began with (T. Schwager, T. Poeschel, Granular Matter 9 (2007) 465)."""
    def rebound(beta):
        omega = math.sqrt(1 - beta * beta)
        return math.exp(-beta / omega * (math.pi - math.atan2(2 * beta * omega, 1 - 2 * beta * beta)))
    low, high = 0.0, 0.9
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if rebound(middle) > restitution else (low, middle)
    return low


def law(stiffness, restitution, friction):
    damping = "0" if restitution == 1 else f"{tsuji(2 * damping_share(restitution)):.12g}"
    model = "mass_velocity" if restitution == 1 else "tsuji"
    return (f"hooke {stiffness:.12g} {damping} tangential linear_history {RATIO * stiffness:.12g} {RATIO**0.5:.12g} "
            f"{friction:.12g} damping {model} limit_damping")


class Case:
    """A deck with settings, and what LAMMPS gets beside bodies and law."""

    def __init__(self, deck, settings, inputs, numbers):
        self.deck, self.settings, self.inputs, self.numbers = deck, settings, inputs, numbers


class Start:
    """Bodies and settings of a deck as scree reads it."""

    def __init__(self, case, seed, binaries, folder):
        command = [str(binaries / "scree"), "run", str(ROOT / "inputs/flows" / f"{case.deck}.toml"), "--force", "--set",
                   f'output.directory="{folder}"', 'output.name="start"', "output.h5md.every=1", f"simulation.seed={seed}",
                   *case.settings]
        # The first frame shows the start.
        run([*command, "simulation.end_time=1e-9"], folder)
        results = Results(folder / "start")
        with results.trajectory as trajectory:
            self.x, self.v = (self._in_space(a) for a in (trajectory.positions(0), trajectory.velocities(0)))
            self.radius = trajectory.radius(0)
            types = trajectory.field("type", 0)
        resolved = tomllib.loads((folder / "start/start.resolved.toml").read_text(encoding="utf-8"))
        self.deck = resolved
        as_written = tomllib.loads((ROOT / "inputs/flows" / f"{case.deck}.toml").read_text(encoding="utf-8"))
        self.end_time = float(as_written["simulation"].get("end_time", "nan s").split()[0])
        self.flat = resolved["simulation"]["dimension"] == 2
        names = list(resolved["particles"])
        self.held = np.array([resolved["particles"][names[g]].get("mobility", 1) == 0 for g in types])
        self.density = resolved["materials"]["glass"]["density"]

    @staticmethod
    def _in_space(a):
        return a if a.shape[1] == 3 else np.insert(a, 2, 0, axis=1)

    @property
    def durations(self):
        stages = self.deck.get("stages")
        return [s["duration"] for s in stages] if stages else [self.end_time]

    def add_lining(self):
        """The obstacles of the drum, as bodies of a third kind."""
        disks = [o for o in self.deck["obstacles"].values() if o["type"] == "disk"]
        places = np.array([[*o["center"], 0] for o in disks])
        self.n_grains = len(self.x)
        self.x = np.vstack([self.x, places])
        self.v = np.vstack([self.v, np.zeros_like(places)])
        self.radius = np.append(self.radius, [o["radius"] for o in disks])
        self.held = np.append(self.held, np.zeros(len(disks), bool))
        return disks[0]["motion"]["rate"]

    def kinds(self):
        """1: grains, 2: held, 3: lining."""
        kinds = np.where(self.held, 2, 1)
        kinds[getattr(self, "n_grains", len(kinds)):] = 3
        return kinds

    def write(self, path):
        domain = self.deck["domain"]
        low, high = domain["lower"], domain["upper"]
        if self.flat:
            low, high = [*low, -0.005], [*high, 0.005]
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"spheres\n\n{len(self.x)} atoms\n3 atom types\n\n")
            for axis, a, b in zip("xyz", low, high):
                file.write(f"{a:.12g} {b:.12g} {axis}lo {axis}hi\n")
            file.write("\nAtoms\n\n")
            for i, (x, r, kind) in enumerate(zip(self.x, self.radius, self.kinds()), start=1):
                file.write(f"{i} {kind} {2 * r:.15g} {self.density} {x[0]:.15g} {x[1]:.15g} {x[2]:.15g}\n")
            file.write("\nVelocities\n\n")
            for i, v in enumerate(self.v, start=1):
                file.write(f"{i} {v[0]:.15g} {v[1]:.15g} {v[2]:.15g} 0 0 0\n")

    def head(self, lining=False):
        pair = self.deck["pairs"]["glass-glass"]
        periodic = self.deck["domain"].get("periodic") or [False] * 3
        faces = ["p" if p else "f" for p in periodic]
        if self.flat:
            faces = ["f", "f", "p"]
        g = np.zeros(3)
        g[:len(self.deck["physics"]["gravity"])] = self.deck["physics"]["gravity"]
        self.law = law(pair["stiffness"], pair["restitution"], pair["friction"])
        disc = " disc" if self.flat else ""
        return f"""\
units si
dimension {2 if self.flat else 3}
atom_style sphere
boundary {' '.join(faces)}
newton off
comm_modify vel yes
read_data start.txt
{'set group all density/disc ' + str(self.density) if self.flat else ''}
group grains type 1
group held type 2
group lining type 3
{'set group lining density/disc ' + str(1e6 * self.density) if lining else ''}
neighbor 0.002 bin
neigh_modify delay 0 every 1 check yes exclude group held held
neigh_modify exclude group lining lining
pair_style granular
pair_coeff * * {self.law}
fix move_grains grains nve/sphere{disc}
fix weight grains gravity {np.linalg.norm(g):.12g} vector {g[0]:.12g} {g[1]:.12g} {g[2]:.12g}
fix hold held freeze
timestep {self.deck["time"]["step"]:.12g}
thermo 1000000
thermo_modify lost ignore
"""

    @property
    def every(self):
        return round(SAMPLE / self.deck["time"]["step"])

    def steps(self, seconds):
        return round(seconds / self.deck["time"]["step"])


def run(command, folder):
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-1500:]}")


def rows_of(folder):
    return np.loadtxt(folder / "rows.txt", comments="#", ndmin=2)


ROWS = 'variable time_now equal "step*dt"\n'


def print_rows(start, *columns):
    words = " ".join("${" + c + "}" for c in ("time_now", *columns))
    return ROWS + f'fix rows all print {start.every} "{words}" file rows.txt screen no title ""\n'


def mean_after(rows, column, since, until=math.inf):
    chosen = (rows[:, 0] > since + 1e-9) & (rows[:, 0] < until + 1e-9)
    return rows[chosen, column].mean()


def slope_inputs(start):
    return start.head() + f"""\
variable speed equal vcm(grains,x)
variable height equal xcm(grains,z)
{print_rows(start, "speed", "height")}run {start.steps(start.durations[0])}
"""


def slope_numbers(start, folder):
    rows = rows_of(folder)
    return {"speed [m/s]": mean_after(rows, 1, 4), "height of centres [d]": mean_after(rows, 2, 4) / 0.01}


def collapse_inputs(start):
    settle, run_out = start.durations
    return start.head() + f"""\
fix wall grains wall/gran granular {start.law} xplane 0 NULL
fix gate grains wall/gran granular {start.law} xplane NULL {COLUMN}
run {start.steps(settle)}
unfix gate
run {start.steps(run_out)}
write_dump grains custom end.txt x modify format float %.12g
"""


def collapse_numbers(start, folder):
    lines = (folder / "end.txt").read_text(encoding="utf-8").splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("ITEM: ATOMS")) + 1
    x = np.array(lines[first:], dtype=float) / COLUMN
    return {f"x{share} [L0]": np.quantile(x, share / 100) for share in (50, 90, 95)}


def drum_inputs(start):
    rate = start.add_lining()
    return start.head(lining=True) + f"""\
fix turn lining move rotate 0 0 0 0 0 {1 if rate > 0 else -1} {2 * math.pi / abs(rate):.15g}
fix flat all enforce2d
compute twist lining property/atom tqz
variable moment atom x*fy-y*fx+c_twist
compute torque lining reduce sum v_moment
variable torque equal c_torque
variable angle equal "atan2(-xcm(grains,x), -xcm(grains,y))*180/PI"
variable sum_torque equal c_torque
{print_rows(start, "torque", "angle")}run {start.steps(start.durations[0])}
"""


def drum_numbers(start, folder):
    rows = rows_of(folder)
    return {"torque [N m]": mean_after(rows, 1, 4), "angle of the centre of mass [deg]": mean_after(rows, 2, 4)}


def silo_inputs(start):
    fill, discharge = start.durations
    return start.head() + f"""\
region above block INF INF INF INF 0 INF units box
variable above equal count(grains,above)
fix wall grains wall/gran granular {start.law} zcylinder {start.deck["obstacles"]["wall"]["radius"]}
fix closed grains wall/gran granular {start.law} zplane 0 NULL
run {start.steps(fill)}
unfix closed
{print_rows(start, "above")}run {start.steps(discharge)}
"""


def silo_numbers(start, folder):
    rows = rows_of(folder)
    since = rows[:, 0] - start.durations[0]
    chosen = since > 0.15 - 1e-9
    return {"rate [1/s]": -np.polyfit(since[chosen], rows[chosen, 1], 1)[0]}


def janssen_inputs(start):
    motion = start.deck["obstacles"]["floor"]["motion"]
    first, last, v = motion["start"], motion["stop"], motion["velocity"][2]
    step = start.deck["time"]["step"]
    return start.head() + f"""\
variable sunk equal "{v}*(v_clock>{first})*(v_clock<={last})*(v_clock-{first})+{v * (last - first)}*(v_clock>{last})"
variable clock equal step*{step}
region floor plane 0 0 0 0 0 1 side in units box move NULL NULL v_sunk
fix wall grains wall/gran granular {start.law} zcylinder {start.deck["obstacles"]["wall"]["radius"]}
fix floor grains wall/gran/region granular {start.law} region floor contacts
compute load grains reduce sum f_floor[4]
variable load equal "-c_load"
{print_rows(start, "load")}run {start.steps(start.durations[0])}
"""


def janssen_numbers(start, folder):
    rows = rows_of(folder)
    weight = 9.81 * start.density * 4 / 3 * math.pi * (start.radius**3).sum()
    return {"floor load poured [weight]": -mean_after(rows, 1, 1.2, 1.4) / weight,
            "floor load sunk [weight]": -mean_after(rows, 1, 1.8) / weight}


def collapse(aspect):
    """A column `aspect` times as high as wide; as in postprocess/scree/verify/flows.py."""
    root, base = aspect**0.5, 0.4 + 0.6 * aspect
    return Case("collapse", [f"particles.grains.source.count={round(2290 * aspect)}",
                             f"particles.grains.source.region.upper=[0.2, 0.05, {0.45 * aspect:.12g}]",
                             f"particles.base.source.region.upper=[{base:.12g}, 0.05, 0]",
                             f"domain.upper=[{base + 0.02:.12g}, 0.05, {0.45 * aspect + 0.02:.12g}]",
                             f"stages.0.duration={0.35 + 0.35 * root:.4f}", f"stages.1.duration={0.5 + 0.654 * root:.4f}"],
                collapse_inputs, collapse_numbers)


CASES = {
    "layers": Case("layers", [], slope_inputs, slope_numbers),
    "chute": Case("chute", [], slope_inputs, slope_numbers),
    **{f"collapse {aspect:g}": collapse(aspect) for aspect in (0.5, 1, 2, 4)},
    "drum": Case("drum", [], drum_inputs, drum_numbers),
    "silo": Case("silo", [], silo_inputs, silo_numbers),
    "Janssen": Case("janssen", [], janssen_inputs, janssen_numbers),
}
IMPACTS = {"binary": (2, 0.5, False), "ternary": (3, 0.5, True), "cradle": (5, 1, False)}


def impact(name, folder):
    """Spheres of 1 cm in a row; the first, at the far end, hits the others, which touch, at 1 m/s. "ternary": the last rests on a
    plane. No gravity. Velocities away from the plane after 20 ms, the first sphere first."""
    n, restitution, on_floor = IMPACTS[name]
    contact = law(6500, restitution, 0)
    atoms = "".join(f"{i + 1} 1 0.01 2500 0 0 {0.005 + 0.01 * (n - 1 - i):.12g}\n" for i in range(n))
    velocities = "".join(f"{i + 1} 0 0 {-1 if i == 0 else 0} 0 0 0\n" for i in range(n))
    (folder / "start.txt").write_text(f"row\n\n{n} atoms\n1 atom types\n\n-0.1 0.1 xlo xhi\n-0.1 0.1 ylo yhi\n-0.2 0.2 zlo zhi\n\n"
                                      f"Atoms\n\n{atoms}\nVelocities\n\n{velocities}", encoding="utf-8")
    floor = f"fix floor all wall/gran granular {contact} zplane 0 NULL\n" if on_floor else ""
    (folder / "in.txt").write_text(f"""\
units si
atom_style sphere
boundary f f f
newton off
comm_modify vel yes
read_data start.txt
neighbor 0.002 bin
neigh_modify delay 0 every 1 check yes
pair_style granular
pair_coeff * * {contact}
fix move_grains all nve/sphere
{floor}timestep {SMALL_STEP}
run {round(0.02 / SMALL_STEP)}
write_dump all custom end.txt id vz modify sort id format float %.15g
""", encoding="utf-8")
    run(["lmp", "-in", "in.txt", "-log", "none"], folder)
    lines = (folder / "end.txt").read_text(encoding="utf-8").splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("ITEM: ATOMS")) + 1
    v = [float(line.split()[1]) for line in lines[first:]]
    return {f"v of {i + 1} [m/s]": value for i, value in enumerate(v)}


def numbers_of(name, seed, binaries):
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        if name in IMPACTS:
            return impact(name, folder)
        case = CASES[name]
        start = Start(case, seed, binaries, folder)
        inputs = case.inputs(start)
        start.write(folder / "start.txt")
        (folder / "in.txt").write_text(inputs, encoding="utf-8")
        run(["lmp", "-in", "in.txt", "-log", "none"], folder)
        return case.numbers(start, folder)


def version():
    said = subprocess.run(["lmp", "-h"], capture_output=True, text=True, check=True).stdout
    return next(line for line in said.splitlines() if "Simulator" in line).partition(" - ")[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="folder of the built programs")
    parser.add_argument("--cases", nargs="+", choices=[*IMPACTS, *CASES], default=[*IMPACTS, *CASES])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--out", type=Path, default=ROOT / "tests/reference/flows/lammps.csv")
    options = parser.parse_args()
    rows = []
    if options.out.exists():
        with open(options.out, newline="", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(line for line in file if not line.startswith("#"))]
    for name in options.cases:
        for seed in options.seeds if name in CASES else [1]:
            try:
                found = numbers_of(name, seed, options.bin.resolve())
            except Failure as failure:
                sys.exit(f"flows-lammps.py: {name}, seed {seed}: {failure}")
            rows = [row for row in rows if not (row["case"] == name and int(row["seed"]) == seed)]
            for quantity, value in found.items():
                print(f"{name}, seed {seed}: {quantity} = {value:.6g}", file=sys.stderr, flush=True)
                rows.append(dict(zip(HEAD, (name, seed, quantity, f"{value:.9g}"))))
            order = [*IMPACTS, *CASES]
            rows.sort(key=lambda row: (order.index(row["case"]), int(row["seed"])))
            with open(options.out, "w", newline="", encoding="utf-8") as file:
                file.write(f"# Source: LAMMPS {version()} (Debian 12), cases of scree verify flows run by scripts/flows-lammps.py\n")
                writer = csv.DictWriter(file, HEAD, lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)


if __name__ == "__main__":
    main()
