"""The model of docs/scaling.md: messages and bytes of runs are those that follow from the geometry of their blocks alone, and
what the model says of many ranks holds together."""
import importlib.util
import itertools
import sys

import numpy as np

from exchange_plan import LEGS, TURNS, Blocks, exchange_plan
from scree_program import check, check_close, run_ok, source_folder


def load_model():
    spec = importlib.util.spec_from_file_location("scaling_model", source_folder() / "scripts/scaling-model.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["scaling_model"] = module
    spec.loader.exec_module(module)
    return module


DECK = """\
[simulation]
dimension = {dimension}
scheme = "{scheme}"
end_time = {end_time}
[domain]
lower = {lower}
upper = {upper}
periodic = {periodic}
[time]
step = 1e-4
{more}
[particles.all]
radius = {{ distribution = "constant", value = 0.5 }}
{of_bodies}
source = {{ type = "lattice", spacing = {spacing} }}
[decomposition]
block_cells = {block_cells}
rebalance = false
[output.vtk]
every = {end_time}
contacts = false
"""

PBD = """\
[velocity]
type = "rest"
[pbd]
sweeps = {sweeps}
warm_start = {warm_start}
"""

DEM = """\
[physics]
gravity = {gravity}
[dem]
law = "linear"
[materials.glass]
density = 2500
[pairs]
"glass-glass" = {{ friction = 0.5, restitution = 0.5, stiffness = 1e6 }}
"""


def check_volumes(model, folder, name, scheme, edges, ranks, periodic, more, block_cells=4):
    """Bodies at rest on a lattice: what five steps send more than two."""
    dimension = len(edges)

    def listed(values):
        return "[" + ", ".join(map(str, values)) + "]"

    for steps in (2, 5):
        deck = folder / f"{name}_{steps}.toml"
        deck.write_text(DECK.format(
            dimension=dimension, scheme=scheme, end_time=steps * 1e-4, lower=listed([0] * dimension), upper=listed(edges),
            periodic=listed([str(p).lower() for p in periodic]), more=more, of_bodies='material = "glass"' if scheme == "dem" else "",
            spacing=1.0, block_cells=block_cells))
        run_ok("run", deck, "--set", f'output.directory="{folder}"', ranks=ranks)
    volumes = model.compare_volumes(folder / f"{name}_2", folder / f"{name}_5")
    check(volumes, f"{name}: there are volumes to compare")
    for kind, (of_model, counted) in volumes.items():
        check(of_model[0] > 0 and of_model[1] > 0, f"{name}: ranks have something to say", of_model)
        check(of_model == counted, f"{name}: {kind}, messages and bytes are those of the model", f"model {of_model}\nrun {counted}")


def test_sweeps_of_disks(folder):
    """Rows of sweeps of every length, with and without periodic faces, on up to eight ranks."""
    model = load_model()
    for ranks, edges, periodic, sweeps, warm in ((2, (40, 40), (False, False), 3, 0.9), (4, (41, 29), (False, False), 1, 0),
                                                 (4, (40, 40), (True, True), 2, 0), (3, (37, 50), (True, False), 1, 0.9),
                                                 (8, (60, 45), (False, False), 4, 0.9)):
        check_volumes(model, folder, f"disks{ranks}_{sweeps}_{edges[0]}_{periodic[0]}", "pbd", edges, ranks, periodic,
                      PBD.format(sweeps=sweeps, warm_start=warm))


def test_sweeps_of_spheres(folder):
    model = load_model()
    for ranks, edges, periodic, sweeps in ((2, (14, 14, 14), (False,) * 3, 2), (4, (18, 14, 12), (True, False, False), 2),
                                           (8, (16, 16, 16), (True,) * 3, 1)):
        check_volumes(model, folder, f"spheres{ranks}_{sweeps}", "pbd", edges, ranks, periodic,
                      PBD.format(sweeps=sweeps, warm_start=0.9), block_cells=3)


def test_forces(folder):
    """Of dem: a copy of motions and a sum of partial forces a step."""
    model = load_model()
    check_volumes(model, folder, "soft_disks", "dem", (40, 33), 4, (False, True), DEM.format(gravity="[0, 0]"))
    check_volumes(model, folder, "soft_spheres", "dem", (14, 15, 16), 3, (True, False, False), DEM.format(gravity="[0, 0, 0]"),
                  block_cells=3)


def test_stored_constants_have_the_bytes_of_runs(folder):
    """What the tests above compare with runs is what docs/scaling-constants.json has."""
    model = load_model()
    for name, scheme in model.load_schemes(model.CONSTANTS)[0].items():
        if name.startswith("pbd"):
            check(scheme.record_bytes == model.PBD_RECORD_BYTES, f"{name}: a halo transfer", scheme)
        if name == "dem":
            check((scheme.copies, scheme.sums) == tuple((n,) for n in model.dem_bytes(3)), "dem: copies and sums", scheme)


def fewest_stages(intervals, n_stages):
    """The least number of stages such that each interval (ready, due) holds one: all sets are tried."""
    return next(size for size in range(n_stages + 1) for stages in itertools.combinations(range(n_stages), size)
                if all(any(ready <= s <= due for s in stages) for ready, due in intervals))


def test_plan_against_one_body_at_a_time(folder):
    """exchange_plan on random owners and bodies against a walk along the ranks that touch each body."""
    random = np.random.default_rng(7)
    for n_blocks, block_cells, periodic, ranks, bodies in (((4, 6), (3, 2), (True, False), 5, 300), ((3, 4), (2, 3), (False, False), 3, 40),
                                                           ((4, 2, 3), (2, 2, 2), (True, True, False), 6, 200)):
        dimension = len(n_blocks)
        blocks = Blocks(n_blocks, block_cells, periodic)
        owner = np.concatenate([np.arange(ranks), random.integers(0, ranks, len(blocks) - ranks)])
        random.shuffle(owner)
        cells = np.stack([random.integers(0, n * c, bodies) for n, c in zip(n_blocks, block_cells)], axis=-1)
        plan = exchange_plan(blocks, owner, blocks.count(cells))

        ghosts = np.zeros(ranks)
        handed = {leg: np.zeros(ranks) for leg in LEGS}
        intervals = {turn: {} for turn in TURNS}
        starts, sums = set(), np.zeros(ranks)
        for cell in cells:
            block = cell // block_cells
            home = owner[blocks.numbers(block[None])[0]]
            by_phase = {}
            for down in itertools.product(*([0, 1] if cell[k] % block_cells[k] == 0 else [0] for k in range(dimension))):
                other = block - down
                if any(other[k] < 0 and not periodic[k] for k in range(dimension)):
                    continue
                other = other % n_blocks
                by_phase[sum((other[k] & 1) << k for k in range(dimension))] = owner[blocks.numbers(other[None])[0]]
            path = [by_phase[phase] for phase in sorted(by_phase)]
            ready = [0] + [phase + 1 for phase in sorted(by_phase)]
            due = [0] + sorted(by_phase)[1:] + [blocks.n_phases]
            for rank in set(path) - {home}:
                ghosts[rank] += 1
            for rank in path:
                sums[rank] += rank != home
            moves = [("start", home, path[0], 0, 0)]
            moves += [("within", a, b, ready[k + 1], due[k + 1]) for k, (a, b) in enumerate(zip(path, path[1:]))]
            moves += [("home", path[-1], home, ready[-1], due[-1]), ("again", path[-1], path[0], ready[-1], due[-1])]
            for leg, source, target, begin, end in moves:
                if source == target:
                    continue
                handed[leg][source] += 1
                if leg == "start":
                    starts.add((source, target))
                for turn, legs in TURNS.items():
                    if leg in legs and leg != "start":
                        intervals[turn].setdefault((source, target), []).append((begin, end))
        check((plan.ghosts == ghosts).all(), "ghosts of each rank", f"{plan.ghosts} {ghosts}")
        check((plan.sums_sent == sums).all(), "partial sums of each rank", f"{plan.sums_sent} {sums}")
        for leg in LEGS:
            check((plan.handed[leg] == handed[leg]).all(), f"halo transfers {leg} of each rank", f"{plan.handed[leg]} {handed[leg]}")
        for turn, legs in TURNS.items():
            messages = np.zeros(ranks)
            for (source, _), of_pair in intervals[turn].items():
                messages[source] += fewest_stages(of_pair, blocks.n_phases + 1)
            for source, _ in starts if "start" in legs else ():
                messages[source] += 1
            check((plan.messages(turn) == messages).all(), f"messages of a sweep, {turn}", f"{plan.messages(turn)} {messages}")


def test_hilbert_curve(folder):
    """It visits every block once, and from one to the next it is one step."""
    for edge, dimension in ((16, 2), (8, 3)):
        blocks = Blocks((edge,) * dimension, (4,) * dimension, (False,) * dimension)
        keys = blocks.keys()
        check((np.sort(keys) == np.arange(edge**dimension)).all(), "all places along the curve")
        steps = np.abs(np.diff(blocks.coordinates()[np.argsort(keys)], axis=0)).sum(axis=1)
        check((steps == 1).all(), "neighbours along the curve touch")


def test_smooth_formula(folder):
    """The formula of docs/scaling.md for ghosts is within 20 % of the exact number, from 2.3 to 300 blocks a rank; a sweep hands
    over two copies per ghost, within 10 %."""
    model = load_model()
    for dimension, cells, per_cell in ((2, 16, 1.2), (3, 8, 1.4)):
        scheme = model.Scheme("", dimension, cells, per_cell, 1, 32)
        for blocks_per_rank in (2.3, 5, 14, 33, 64, 100, 300):
            bodies = blocks_per_rank * per_cell * cells**dimension
            share = model.share_of(dimension, cells, per_cell, 512 if blocks_per_rank < 100 else 128, bodies)
            of_rank = share.mean_blocks * share.bodies_per_block
            exact = share.plan.ghosts.mean()
            check_close(model.smooth_ghosts(scheme, of_rank), exact, f"{dimension}D, {blocks_per_rank} blocks", relative=0.2)
            check_close(share.plan.entries("middle").mean(), 2 * exact, f"{dimension}D halo transfers", relative=0.1)


def test_time_of_a_sweep(folder):
    """Without a network a sweep takes the work of its phases, at least that of the fullest rank; latency adds to it, and with
    nothing to compute it is all that there is: one per stage that has messages on the longest way."""
    model = load_model()
    share = model.share_of(3, 8, 1.4, 64, 14 * 1.4 * 512)
    free = model.Network(latency=0, overhead=0, bandwidth=np.inf)
    work = 1e-4
    computing = model.sweep_seconds(share, work, 32, free)
    fullest = work * share.imbalance
    check(fullest <= computing * (1 + 1e-12), "no sweep is shorter than its fullest rank", f"{fullest} {computing}")
    slow = model.Network(latency=1e-3, overhead=0, bandwidth=np.inf)
    phases = model.sweep_seconds(share, 0, 32, slow) / 1e-3
    check(1 <= phases <= 9 * (1 + 1e-9), "latencies of a sweep are at most one per stage", phases)
    check(model.sweep_seconds(share, work, 32, slow) >= computing, "latency takes time")
