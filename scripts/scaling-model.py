#!/usr/bin/python3
"""The model of a step on many ranks (docs/scaling.md): evaluates it, draws it, and checks its counts against runs.

    scripts/scaling-model.py table                               the tables of docs/scaling.md
    scripts/scaling-model.py figure docs/scaling.png             its figure
    scripts/scaling-model.py check results/SHORT results/LONG    messages and bytes of a run beside those of the model
    scripts/scaling-model.py constants results.json --output docs/scaling-constants.json
                                                                 measured constants, from `scree bench --case
                                                                 pbd,dem,nonsmooth,crowd --ranks 1 --out DIR`

Counts come from the geometry of blocks (scripts/exchange_plan.py), times of computing from docs/scaling-constants.json,
those of a network from the assumptions --latency, --overhead and --bandwidth.
`check` needs two runs of pbd or dem that differ in the number of steps alone, on more than one rank, with [output.vtk] at the
start and the end, in which lists were built once, as with bodies at rest: the extra traffic of the longer one belongs to its steps.
"""
import argparse
import json
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "postprocess"))
from exchange_plan import Blocks, exchange_plan  # noqa: E402
from scree.errors import ResultsError  # noqa: E402
from scree.results import Results, read_checkpoint  # noqa: E402

CONSTANTS = ROOT / "docs/scaling-constants.json"
SAMPLE_RANKS = 1000     # ranks whose exchange is computed; it depends little on the number of further ranks
ROUGHNESS = {2: 1.15, 3: 1.0}
FACTS_STEPS_PER_LIST = 40  # where a case does not say
SWEEPS_IN_A_ROW = 12    # that are simulated colour by colour
PBD_RECORD_BYTES = 32   # of a halo transfer: position and radius, in the plane as well


def dem_bytes(dimension):
    """Bytes of a body in a step of dem: copied to ghosts (position, velocity, spin), summed for owners (force, torque)."""
    spins = 1 if dimension == 2 else 3
    return 8 * (2 * dimension + spins), 8 * (dimension + spins)


class ModelError(Exception):
    """Input that is missing or does not match."""


@dataclass(frozen=True)
class Network:
    """latency [s] and bandwidth [B/s] of a message between two ranks, overhead [s] that each end spends on it."""
    latency: float = 2e-6
    overhead: float = 0.5e-6
    bandwidth: float = 10e9

    def reduction(self, ranks):
        """Allreduce of a few numbers: a message each way per doubling."""
        return int(ranks - 1).bit_length() * (self.latency + 2 * self.overhead)

    def exchange(self, messages, n_bytes):
        """All messages of a rank at once; the slowest rank."""
        return np.max(2 * self.overhead * messages + self.latency * (messages > 0) + n_bytes / self.bandwidth, initial=0)

    def delivery(self, ranks, messages, n_bytes):
        """Sparse all-to-all: each message is announced, then a nonblocking barrier."""
        return self.exchange(2 * messages, n_bytes) + self.reduction(ranks)


@dataclass(frozen=True)
class Scheme:
    """Exchanges of a step, as in the program, and its computing time, as measured on one rank."""
    title: str
    dimension: int
    block_cells: int
    bodies_per_cell: float      # within the packing
    sweeps: float               # of a step, in a row
    record_bytes: int           # of a halo transfer
    turn: str = "alone"         # of exchange_plan: whether bodies return after each sweep, or sweeps in a row are "middle"
    copies: tuple = ()          # bytes of each copy of owners to ghosts
    sums: tuple = ()            # bytes of each partial sum to owners
    reductions: float = 0       # of a step
    list_reductions: float = 19
    list_parcels: int = 3       # contact memory to owners, migration, ghosts
    fetch_bytes: float = 100    # of a ghost with its memory, when lists are built
    sweep_ns: float = 0         # per body and sweep
    other_ns: float = 0         # per body and step: all but sweeps and lists
    list_ns: float = 0          # per body and list
    steps_per_list: float = 1

    def step_ns(self):
        """Per body and step of computing."""
        return self.sweeps * self.sweep_ns + self.other_ns + self.list_ns / self.steps_per_list


def load_schemes(path):
    with open(path, encoding="utf-8") as file:
        constants = json.load(file)
    return {name: Scheme(**{key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()})
            for name, entry in constants["schemes"].items()}, constants["machine"]


@dataclass(frozen=True)
class Share:
    """Work and exchange of ranks that own so many blocks each."""
    plan: object
    blocks_of_rank: np.ndarray
    by_phase: np.ndarray    # [rank, colour]: boundary blocks
    inside: np.ndarray      # [rank, colour]: interior blocks
    bodies_per_block: float

    @property
    def mean_blocks(self):
        return self.blocks_of_rank.mean()

    @property
    def imbalance(self):
        return self.blocks_of_rank.max() / self.mean_blocks


@lru_cache(maxsize=None)
def share_of(dimension, block_cells, bodies_per_cell, ranks, bodies_per_rank):
    """Sections of the Hilbert curve through a full square or cube, for `ranks` or as many as suffice. An even number of blocks
    along its edge, so that all colours have as many: with an odd one, ranks at the faces have more of some colours."""
    bodies_per_block = bodies_per_cell * block_cells**dimension
    blocks_per_rank = bodies_per_rank / bodies_per_block
    edge = 2 * max(1, round((min(ranks, SAMPLE_RANKS) * blocks_per_rank)**(1 / dimension) / 2))
    blocks = Blocks((edge,) * dimension, (block_cells,) * dimension, (False,) * dimension)
    n_ranks = max(1, min(round(len(blocks) / blocks_per_rank), len(blocks)))
    owner = blocks.shares(n_ranks)
    plan = exchange_plan(blocks, owner, blocks.uniform(bodies_per_cell))
    phase = blocks.phases(blocks.coordinates())
    # A block and all those below update bodies in its corner cell: boundary blocks, unless all have one owner.
    at = blocks.coordinates()
    at_rim = np.zeros(len(blocks), dtype=bool)
    corners = [np.array([axes >> k & 1 for k in range(dimension)]) for axes in range(2**dimension)]
    owners = np.stack([np.where((at - c >= 0).all(axis=1), owner[blocks.numbers(np.maximum(at - c, 0))], -1) for c in corners])
    mixed = ((owners >= 0) & (owners != owners[0])).any(axis=0)
    for c in corners:
        exists = (at - c >= 0).all(axis=1)
        at_rim[blocks.numbers((at - c)[exists & mixed])] = True
    n_phases = blocks.n_phases
    table = np.bincount((owner * n_phases + phase)[at_rim], minlength=n_ranks * n_phases).reshape(n_ranks, n_phases)
    inside = np.bincount((owner * n_phases + phase)[~at_rim], minlength=n_ranks * n_phases).reshape(n_ranks, n_phases)
    return Share(plan, np.bincount(owner, minlength=n_ranks), table, inside, bodies_per_block)


def smooth_ghosts(scheme, bodies_per_rank):
    """Ghosts of a rank in the mean, without a lattice: a layer of one cell about three faces of a cube of as many cells as the
    rank has, of a square's two sides; sections of the Hilbert curve have ROUGHNESS times as much surface. Within 20 % of the
    exact number for two blocks a rank and more."""
    cells = bodies_per_rank / scheme.bodies_per_cell
    edge = cells**(1 / scheme.dimension)
    return ROUGHNESS[scheme.dimension] * scheme.bodies_per_cell * ((edge + 1)**scheme.dimension - cells)


def sweep_seconds(share, seconds, record_bytes, network, turn="alone"):
    """Time of one of many sweeps in a row, rank by rank and colour by colour: a rank runs its boundary blocks of a colour, sends,
    runs its interior blocks, and waits for messages of its neighbours before the next colour. `seconds`: mean time of the blocks
    of a rank."""
    per_block = seconds / share.mean_blocks
    n_ranks, n_phases = share.by_phase.shape
    if n_ranks == 1:
        return seconds
    messages = [share.plan.stage_pairs[turn, phase + 1] for phase in range(n_phases)]
    start = share.plan.stage_pairs.get((turn, 0))
    clock = np.zeros(n_ranks)
    for _ in range(SWEEPS_IN_A_ROW):
        if start is not None:
            source, target, bodies = start
            sent = clock + network.overhead * np.bincount(source, minlength=n_ranks)
            ready = sent.copy()
            np.maximum.at(ready, target, sent[source] + network.latency + bodies * record_bytes / network.bandwidth)
            clock = ready + network.overhead * np.bincount(target, minlength=n_ranks)
        for phase, (source, target, bodies) in enumerate(messages):
            rim_done = clock + per_block * share.by_phase[:, phase]
            sends = np.bincount(source, minlength=n_ranks)
            receives = np.bincount(target, minlength=n_ranks)
            sent = rim_done + network.overhead * sends
            ready = sent + per_block * share.inside[:, phase]
            arrival = sent[source] + network.latency + bodies * record_bytes / network.bandwidth
            np.maximum.at(ready, target, arrival)
            clock = ready + network.overhead * receives
    return clock.max() / SWEEPS_IN_A_ROW


@dataclass(frozen=True)
class Step:
    """Seconds of a step by part; efficiency against one rank with the same bodies and no exchange."""
    sweeps: float
    exchange: float
    reductions: float
    lists: float
    other: float
    ideal: float
    share: Share

    @property
    def seconds(self):
        return self.sweeps + self.exchange + self.reductions + self.lists + self.other

    @property
    def efficiency(self):
        return self.ideal / self.seconds


def step_of(scheme, ranks, bodies_per_rank, network):
    share = share_of(scheme.dimension, scheme.block_cells, scheme.bodies_per_cell, ranks, bodies_per_rank)
    plan = share.plan
    fullest = 1e-9 * bodies_per_rank * share.imbalance
    many = ranks > 1
    return Step(
        sweeps=scheme.sweeps * sweep_seconds(share, 1e-9 * bodies_per_rank * scheme.sweep_ns, scheme.record_bytes, network,
                                             scheme.turn),
        exchange=many * (sum(network.exchange(plan.copy_messages, size * plan.copies_sent) for size in scheme.copies)
                         + sum(network.exchange(plan.sum_messages, size * plan.sums_sent) for size in scheme.sums)),
        reductions=scheme.reductions * network.reduction(ranks),
        lists=(scheme.list_ns * fullest + many * (
            scheme.list_reductions * network.reduction(ranks)
            + scheme.list_parcels * network.delivery(ranks, plan.copy_messages, 0)
            + network.exchange(0 * plan.copy_messages, scheme.fetch_bytes * plan.copies_sent))) / scheme.steps_per_list,
        other=scheme.other_ns * fullest,
        ideal=1e-9 * bodies_per_rank * scheme.step_ns(),
        share=share)


# ---- Runs ---------------------------------------------------------------------------------------------------------------

def blocks_of_run(results):
    """Blocks, owner of each, and bodies by block and layers: from the checkpoint and the last VTK frame."""
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOXML import vtkXMLPPolyDataReader

    arrays, numbers = read_checkpoint(results.checkpoints()[-1])
    axes = "xyz"[:int(numbers["numbers@dimension"])]

    def of_axes(name):
        return np.array([numbers[f"numbers@lattice_{name}_{axis}"] for axis in axes])

    periodic = tuple(_resolved(results)["domain"].get("periodic", [False] * len(axes)))
    blocks = Blocks(tuple(of_axes("blocks").astype(int)), tuple(of_axes("block_cells").astype(int)), periodic)
    # Lists belong to the reference positions.
    position = arrays["arrays/reference_position"]
    cells = np.floor((position - of_axes("origin")) / of_axes("cell_edge")).astype(int)
    cells = np.clip(cells, 0, of_axes("cells").astype(int) - 1)

    frames = results.vtk_frames("particles")
    if not frames:
        raise ModelError(f"{results.folder}: there are no VTK frames to read the owners from; set [output.vtk] every")
    reader = vtkXMLPPolyDataReader()
    reader.SetFileName(str(frames[-1][1]))
    reader.Update()
    point_data = reader.GetOutput().GetPointData()
    rank, number = (vtk_to_numpy(point_data.GetArray(name)) for name in ("rank", "id"))
    rank_of_body = rank[np.argsort(number)]
    block_of_body = blocks.numbers(cells // blocks.block_cells)
    owner = np.full(len(blocks), -1)
    owner[block_of_body] = rank_of_body
    if (owner[block_of_body] != rank_of_body).any():
        raise ModelError(f"{results.folder}: bodies of one block are with several ranks: they have moved since the list was built")
    # Blocks without bodies lie on the curve between others.
    order = np.argsort(blocks.keys())
    known = order[owner[order] >= 0]
    place = np.empty(len(blocks), dtype=int)
    place[order] = np.arange(len(blocks))
    before = np.searchsorted(place[known], place, side="right") - 1
    low, high = owner[known[np.maximum(before, 0)]], owner[known[np.minimum(before + 1, len(known) - 1)]]
    if (owner < 0)[low != high].any():
        raise ModelError(f"{results.folder}: who owns empty blocks cannot be known")
    return blocks, np.where(owner < 0, low, owner), blocks.count(cells)


def _resolved(results):
    import tomllib
    return tomllib.loads((results.folder / f"{results.name}.resolved.toml").read_text(encoding="utf-8"))


def volumes_of_step(folder):
    """{kind of traffic: (messages, bytes)} of a step of a run of pbd or dem by the model, all ranks together."""
    results = Results(folder)
    blocks, owner, bodies = blocks_of_run(results)
    if results.summary["list_rebuilds"] != 1:
        raise ModelError(f"{folder}: lists were built {results.summary['list_rebuilds']} times, the check needs a run with one")
    plan = exchange_plan(blocks, owner, bodies)
    deck = _resolved(results)
    dimension, scheme = blocks.dimension, deck["simulation"]["scheme"]
    if scheme == "pbd":
        # A pass for the kept multipliers, then the sweeps: one row, at whose end active copies are back with their owners.
        n_sweeps = deck["pbd"]["sweeps"] + (deck["pbd"].get("warm_start", 0.9) > 0)
        turns = ["alone"] if n_sweeps == 1 else ["first", *["middle"] * (n_sweeps - 2), "last"]
        return {"halo_transfers": (sum(int(plan.messages(turn).sum()) for turn in turns),
                               PBD_RECORD_BYTES * sum(int(plan.entries(turn).sum()) for turn in turns))}
    if scheme == "dem":
        of_copy, of_sum = dem_bytes(dimension)
        return {"ghost_copies": (int(plan.copy_messages.sum()), of_copy * int(plan.copies_sent.sum())),
                "partial_sums": (int(plan.sum_messages.sum()), of_sum * int(plan.sums_sent.sum()))}
    raise ModelError(f"{folder}: counts are known of pbd and dem, this is {scheme}")


def compare_volumes(shorter, longer):
    """{kind: (by the model, counted)} of the extra steps of the longer run."""
    first, second = (Results(folder).summary for folder in (shorter, longer))
    steps = second["steps_this_run"] - first["steps_this_run"]
    if steps <= 0:
        raise ModelError(f"{longer} has no more steps than {shorter}")

    def counted(kind):
        return tuple(second["communication"][kind][q] - first["communication"][kind][q] for q in ("messages", "bytes"))

    return {kind: (tuple(steps * number for number in volume), counted(kind))
            for kind, volume in volumes_of_step(longer).items()}


def table(schemes, network, options):
    """Markdown: weak scaling, then strong; milliseconds of a step and efficiency on each number of ranks, and where the time
    goes on the most."""
    lines = []
    for title, sizes in (("weak", options.weak), ("strong", options.strong)):
        if not sizes:
            continue
        lines += [f"| {title} | bodies | blocks | ghosts | neighbours | " + " | ".join(f"{r:.0e} ranks" for r in options.ranks)
                  + " | sweeps | exchange | reductions | lists |", "|" + (9 + len(options.ranks)) * "---|"]
        for scheme in schemes.values():
            for size in sizes:
                steps = [step_of(scheme, r, size if title == "weak" else size / r, network) for r in options.ranks]
                last = steps[-1]
                of_rank = size if title == "weak" else size / options.ranks[-1]
                times = " | ".join(f"{1e3 * step.seconds:.3g} ms, {step.efficiency:.2f}" for step in steps)
                parts = " | ".join(f"{100 * part / last.seconds:.0f} %"
                                   for part in (last.sweeps, last.exchange, last.reductions, last.lists))
                lines.append(f"| {scheme.title} | {size:.0e} | {last.share.mean_blocks:.3g} | "
                             f"{100 * last.share.plan.ghosts.mean() / of_rank:.0f} % | {last.share.plan.neighbours.mean():.0f} | "
                             f"{times} | {parts} |")
        lines.append("")
    return "\n".join(lines).replace("e+0", "e")


def constants(paths):
    """The schemes of docs/scaling-constants.json from results of scree bench on one rank."""
    rows, machines = [], []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        rows += [row for row in content["rows"] if row["ranks"] == 1]
        machines.append(content["machine"])

    def largest(case, **keys):
        chosen = [row for row in rows if row["case"] == case and all(row["keys"].get(k) == v for k, v in keys.items())]
        if not chosen:
            raise ModelError(f"no rows of {case} on one rank")
        return max(chosen, key=lambda row: next(iter(row["size"].values())))

    def entry(row, facts, sweep_ns=None):
        """`sweep_ns`: per body and sweep; what else the step takes, but for lists, is the rest."""
        per_body = 1e9 * row["seconds"] / next(iter(row["size"].values()))
        steps_per_list = row["values"].get("steps_per_rebuild") or FACTS_STEPS_PER_LIST
        sweep_ns = sweep_ns or 0
        listing = row["phases"].get("neighbours", 0) * per_body
        return facts | {"sweep_ns": round(sweep_ns, 3), "list_ns": round(listing * steps_per_list, 1),
                        "other_ns": round(per_body - facts["sweeps"] * sweep_ns - listing, 2),
                        "steps_per_list": round(steps_per_list, 1)}

    def share_ns(row, name, sweeps):
        return 1e9 * row["seconds"] * row["phases"].get(name, 0) / next(iter(row["size"].values())) / sweeps

    schemes = {}
    for dimension, cells, per_cell in ((2, 16, 2.26), (3, 6, 3.41)):
        row = largest("pbd", dimension=dimension)
        schemes[f"pbd{dimension}"] = entry(
            row, {"title": f"pbd {dimension}D", "dimension": dimension, "block_cells": cells, "bodies_per_cell": per_cell,
                  "sweeps": 3, "record_bytes": PBD_RECORD_BYTES, "turn": "middle", "reductions": 3}, share_ns(row, "sweeps", 3))
    schemes["pbd3_4"] = schemes["pbd3"] | {"title": "pbd 3D, 4 cells", "block_cells": 4}
    schemes["dem"] = entry(largest("dem"), {
        "title": "dem 3D", "dimension": 3, "block_cells": 8, "bodies_per_cell": 1.55, "sweeps": 0, "record_bytes": 48,
        "copies": [dem_bytes(3)[0]], "sums": [dem_bytes(3)[1]], "reductions": 4})
    row = largest("nonsmooth")
    schemes["nonsmooth"] = entry(
        row, {"title": "nonsmooth 3D", "dimension": 3, "block_cells": 8, "bodies_per_cell": 2.9,
              "sweeps": row["values"]["sweeps_per_step"], "record_bytes": 48, "turn": "middle", "copies": [48] * 12,
              "reductions": 33}, row["values"]["ns_per_contact_sweep"] * row["values"]["contacts_per_body"])
    row = largest("crowd")
    sweeps = row["values"]["sweeps"]
    schemes["crowd"] = entry(
        row, {"title": "crowd", "dimension": 2, "block_cells": 2, "bodies_per_cell": 70, "sweeps": sweeps, "record_bytes": 16,
              "copies": [16, 24, 16, 16, 16], "reductions": 15}, share_ns(row, "projection", sweeps))
    return {"machine": machines[0], "schemes": schemes}


def figure(schemes, network, options):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    drawing, (weak, strong) = plt.subplots(1, 2, figsize=(11, 4.2))
    colours = plt.rcParams["axes.prop_cycle"].by_key()["color"]
    styles = ("-", "--", ":", "-.")
    for colour, scheme in zip(colours, schemes.values()):
        for style, size in zip(styles, options.weak):
            steps = [step_of(scheme, ranks, size, network) for ranks in options.ranks]
            weak.plot(options.ranks, [step.efficiency for step in steps], style, color=colour, marker="o", markersize=3)
        for style, size in zip(styles, options.strong):
            steps = [step_of(scheme, ranks, size / ranks, network) for ranks in options.ranks]
            strong.plot(options.ranks, [1 / step.seconds for step in steps], style, color=colour, marker="o", markersize=3,
                        label=scheme.title if style == "-" else None)
            strong.plot(options.ranks, [ranks / (1e-9 * size * scheme.step_ns()) for ranks in options.ranks], color=colour,
                        linewidth=0.5, alpha=0.6)

    def listed(sizes):
        return ", ".join(f"{size:.0e} ({style})".replace("e+0", "e") for style, size in zip(styles, sizes))

    weak.set(xscale="log", xlabel="ranks", ylabel="efficiency", ylim=(0, 1.02), title=f"weak: bodies a rank {listed(options.weak)}")
    strong.set(xscale="log", yscale="log", xlabel="ranks", ylabel="steps per second",
               title=f"strong: bodies {listed(options.strong)}; thin: ideal")
    for axes in (weak, strong):
        axes.grid(alpha=0.3)
    strong.legend(fontsize=8)
    drawing.tight_layout()
    drawing.savefig(options.output, dpi=110)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, ranks in (("table", [1000, 10_000, 100_000]), ("figure", [1, 10, 100, 1000, 10_000, 100_000])):
        command = commands.add_parser(name)
        if name == "figure":
            command.add_argument("output", type=Path)
        command.add_argument("--constants", type=Path, default=CONSTANTS)
        command.add_argument("--ranks", type=int, nargs="+", default=ranks)
        command.add_argument("--weak", type=float, nargs="*", default=[1e4, 1e5], help="bodies per rank")
        command.add_argument("--strong", type=float, nargs="*", default=[1e8], help="bodies of all ranks")
        command.add_argument("--schemes", nargs="+")
        command.add_argument("--latency", type=float, default=Network.latency, help="of a message [s]")
        command.add_argument("--overhead", type=float, default=Network.overhead, help="of a message, at each end [s]")
        command.add_argument("--bandwidth", type=float, default=Network.bandwidth, help="of a rank [B/s]")
    command = commands.add_parser("check")
    command.add_argument("shorter", type=Path, help="results folder")
    command.add_argument("longer", type=Path, help="results folder")
    command = commands.add_parser("constants")
    command.add_argument("results", type=Path, nargs="+", help="results.json of scree bench")
    command.add_argument("--output", type=Path, default=CONSTANTS)
    return parser.parse_args(arguments)


def run(options):
    if options.command == "check":
        volumes = compare_volumes(options.shorter, options.longer)
        for kind, (of_model, counted) in volumes.items():
            print(f"{kind}: {counted[0]} messages, {counted[1]} bytes counted; {of_model[0]}, {of_model[1]} of the model")
        return int(any(of_model != counted for of_model, counted in volumes.values()))
    if options.command == "constants":
        options.output.write_text(json.dumps(constants(options.results), indent=1) + "\n", encoding="utf-8")
        return 0
    schemes, _ = load_schemes(options.constants)
    if options.schemes:
        unknown = set(options.schemes) - set(schemes)
        if unknown:
            raise ModelError(f"no scheme {', '.join(sorted(unknown))}; there are: {', '.join(schemes)}")
        schemes = {name: schemes[name] for name in options.schemes}
    network = Network(options.latency, options.overhead, options.bandwidth)
    if options.command == "table":
        print(table(schemes, network, options))
    else:
        figure(schemes, network, options)
    return 0


def main(arguments=None):
    try:
        sys.exit(run(parse(arguments)))
    except (ModelError, ResultsError, OSError) as error:
        sys.exit(f"scaling-model.py: {error}")


if __name__ == "__main__":
    main()
