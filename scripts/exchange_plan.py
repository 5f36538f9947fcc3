"""How many messages and bytes a run of scree exchanges, from the geometry of its blocks alone.

    from exchange_plan import Blocks, exchange_plan
    blocks = Blocks(n_blocks=(16, 16), block_cells=(16, 16), periodic=(False, False))
    plan = exchange_plan(blocks, owner=blocks.shares(ranks=8), bodies=blocks.uniform(per_cell=1.2))
    plan.ghosts, plan.entries("middle"), plan.messages("middle")

The rules are those of docs/method.md, "Sweeps", implemented independently of the program, whose counts are compared with
this. A block reaches one cell layer beyond its upper faces, so a body in the first
cell layer of its block along some axes is updated by the blocks below it along any of these axes, each with the colour of that
block's parities. Its active copy moves from rank to rank in the order of colours; its ghosts are on all ranks that update it
and do not own it. Needs numpy.
"""
from dataclasses import dataclass, field

import numpy as np

LEGS = ("start", "within", "home", "again")
# Legs of a single sweep, and of the first, a middle and the last one of several in a row.
TURNS = {"alone": ("start", "within", "home"), "first": ("start", "within", "again"), "middle": ("within", "again"),
         "last": ("within", "home")}


def hilbert_keys(blocks, bits):
    """Places along the Hilbert curve of the cube [0, 2^bits)^D (Skilling, AIP Conf. Proc. 707 (2004) 381-387) of points, a
    row each."""
    x = np.array(blocks, dtype=np.uint64).T.copy()
    dimension = len(x)
    one = np.uint64(1)
    for bit in range(bits - 1, 0, -1):
        q = one << np.uint64(bit)
        low = q - one
        for axis in range(dimension):
            is_set = (x[axis] & q) != 0
            swap = np.where(is_set, np.uint64(0), (x[0] ^ x[axis]) & low)
            x[0] = np.where(is_set, x[0] ^ low, x[0] ^ swap)
            x[axis] ^= swap
    for axis in range(1, dimension):
        x[axis] ^= x[axis - 1]
    flip = np.zeros_like(x[0])
    for bit in range(bits - 1, 0, -1):
        q = one << np.uint64(bit)
        flip ^= np.where((x[dimension - 1] & q) != 0, q - one, np.uint64(0))
    x ^= flip
    keys = np.zeros_like(x[0])
    for bit in range(bits - 1, -1, -1):
        for axis in range(dimension):
            keys = keys << one | (x[axis] >> np.uint64(bit) & one)
    return keys


@dataclass(frozen=True)
class Blocks:
    """The lattice of blocks. Arrays of blocks are flat, the first axis running fastest."""
    n_blocks: tuple
    block_cells: tuple
    periodic: tuple

    @property
    def dimension(self):
        return len(self.n_blocks)

    @property
    def n_phases(self):
        return 2**self.dimension

    def __len__(self):
        return int(np.prod(self.n_blocks))

    def coordinates(self):
        """(number of blocks, D)."""
        return np.stack(np.unravel_index(np.arange(len(self)), self.n_blocks, order="F"), axis=-1)

    def phases(self, coordinates):
        return ((coordinates & 1) << np.arange(self.dimension)).sum(axis=-1)

    def numbers(self, coordinates):
        return np.ravel_multi_index(tuple(coordinates.T), self.n_blocks, order="F")

    def keys(self):
        """Along the curve, whose first axis is the last one of space."""
        return hilbert_keys(self.coordinates()[:, ::-1], int(max(self.n_blocks) - 1).bit_length())

    def shares(self, ranks, weights=None):
        """Owner of each block if ranks get sections of the curve of about equal weight: rank r begins with the last
        block before which there is no more than r / ranks of the weight."""
        order = np.argsort(self.keys(), kind="stable")
        weights = np.ones(len(self)) if weights is None else np.asarray(weights, dtype=float)
        before = np.concatenate([[0], np.cumsum(weights[order])[:-1]])
        first = np.searchsorted(before, np.arange(1, ranks) * weights.sum() / ranks * (1 + 1e-12), side="right") - 1
        owner = np.empty(len(self), dtype=np.int64)
        owner[order] = np.searchsorted(first, np.arange(len(self)), side="right")
        return owner

    def uniform(self, per_cell):
        """bodies[block, set of axes]: bodies in the first cell layer along just these axes, `per_cell` in each cell."""
        counts = np.empty(2**self.dimension)
        for axes in range(len(counts)):
            counts[axes] = per_cell * np.prod([1 if axes >> k & 1 else b - 1 for k, b in enumerate(self.block_cells)])
        return np.tile(counts, (len(self), 1))

    def count(self, cells):
        """The same of bodies in given cells (n, D)."""
        inside = np.asarray(cells) % self.block_cells
        axes = ((inside == 0) << np.arange(self.dimension)).sum(axis=-1)
        counts = np.zeros((len(self), 2**self.dimension))
        np.add.at(counts, (self.numbers(np.asarray(cells) // self.block_cells), axes), 1)
        return counts


@dataclass
class ExchangePlan:
    """Per rank: ghosts held, copies sent to ghosts of others, halo transfers sent by leg, partial sums sent; messages likewise."""
    n_ranks: int
    ghosts: np.ndarray
    copies_sent: np.ndarray
    copy_messages: np.ndarray
    sums_sent: np.ndarray
    sum_messages: np.ndarray
    handed: dict                # by leg
    stage_pairs: dict           # (turn, stage) -> (from, to, bodies) of the messages
    neighbours: np.ndarray = field(default=None)

    def entries(self, turn):
        """Halo transfers that each rank sends in a sweep: of 32 bytes in pbd."""
        return sum(self.handed[leg] for leg in TURNS[turn])

    def messages(self, turn):
        """Messages that each rank sends in a sweep."""
        sent = np.zeros(self.n_ranks, dtype=np.int64)
        for (of_turn, _), (source, _, _) in self.stage_pairs.items():
            if of_turn == turn:
                np.add.at(sent, source, 1)
        return sent


def exchange_plan(blocks, owner, bodies):
    """What ranks exchange if rank owner[block] owns a block and bodies[block, axes] bodies lie in it, see Blocks.uniform."""
    owner = np.asarray(owner)
    n_ranks = int(owner.max()) + 1
    dimension, n_phases = blocks.dimension, blocks.n_phases
    at = blocks.coordinates()

    # The blocks that update a body: one step down along each set of axes.
    touch = np.empty((len(blocks), n_phases), dtype=np.int64)
    phase = np.empty_like(touch)
    for axes in range(n_phases):
        down = at - np.array([axes >> k & 1 for k in range(dimension)])
        exists = np.ones(len(blocks), dtype=bool)
        for k in range(dimension):
            if blocks.periodic[k]:
                down[:, k] %= blocks.n_blocks[k]
            else:
                exists &= down[:, k] >= 0
        down = np.maximum(down, 0)
        touch[:, axes] = np.where(exists, owner[blocks.numbers(down)], -1)
        phase[:, axes] = blocks.phases(down)
    is_shared = ((touch != touch[:, :1]) & (touch >= 0)).any(axis=1)
    touch, phase, bodies = touch[is_shared], phase[is_shared], np.asarray(bodies)[is_shared]

    moves = []              # leg, from, to, ready, due, bodies
    copies, sums = [], []   # from, to, bodies
    for axes in range(n_phases):
        chosen = bodies[:, axes] > 0
        count = bodies[chosen, axes]
        subsets = [s for s in range(n_phases) if s & axes == s]
        ranks, phases = touch[chosen][:, subsets], phase[chosen][:, subsets]
        home = touch[chosen, 0]
        for k in range(1, len(subsets)):
            new = (ranks[:, k] >= 0) & (ranks[:, k] != home) & (ranks[:, 1:k] != ranks[:, k:k + 1]).all(axis=1)
            copies.append((home[new], ranks[new, k], count[new]))
        holder, ready, first = home.copy(), np.zeros_like(home), np.full_like(home, -1)
        for p in range(n_phases):
            following = np.full_like(home, -1)
            for k in range(len(subsets)):
                following = np.where((phases[:, k] == p) & (ranks[:, k] >= 0), ranks[:, k], following)
            touched = following >= 0
            opening = touched & (first < 0)
            later = touched & ~opening
            moves.append(("start", home[opening], following[opening], 0 * ready[opening], 0 * ready[opening], count[opening]))
            moves.append(("within", holder[later], following[later], ready[later], np.full(later.sum(), p), count[later]))
            foreign = touched & (following != home)
            sums.append((following[foreign], home[foreign], count[foreign]))
            first = np.where(opening, following, first)
            holder = np.where(touched, following, holder)
            ready = np.where(touched, p + 1, ready)
        end = np.full_like(home, n_phases)
        moves.append(("home", holder, home, ready, end, count))
        moves.append(("again", holder, first, ready, end, count))

    def sent(rows):
        """Bodies sent and received by each rank, messages of each rank, and the messages: from, to, bodies."""
        source, target, count = (np.concatenate(column) for column in zip(*rows))
        pairs, place = np.unique(source * n_ranks + target, return_inverse=True)
        total = np.bincount(place, weights=count, minlength=len(pairs))
        source, target = pairs // n_ranks, pairs % n_ranks
        return (np.bincount(source, total, n_ranks), np.bincount(target, total, n_ranks),
                np.bincount(source, minlength=n_ranks), (source, target, total))

    copies_sent, ghosts, copy_messages, pairs = sent(copies)
    sums_sent, _, sum_messages, _ = sent(sums)
    neighbours = np.zeros(n_ranks, dtype=np.int64)
    both = np.unique(np.concatenate([pairs[0] * n_ranks + pairs[1], pairs[1] * n_ranks + pairs[0]]))
    np.add.at(neighbours, both // n_ranks, 1)

    table = {}
    for leg in LEGS:
        columns = [np.concatenate(column) for column in zip(*(m[1:] for m in moves if m[0] == leg))]
        table[leg] = [column[columns[0] != columns[1]] for column in columns]
    handed = {leg: np.bincount(table[leg][0], table[leg][4], n_ranks) for leg in LEGS}
    stage_pairs = {}
    for turn, legs in TURNS.items():
        _meet(turn, [table[leg] for leg in legs if leg != "start"], n_ranks, n_phases, stage_pairs)
        if "start" in legs:
            stage_pairs[turn, 0] = sent([(table["start"][0], table["start"][1], table["start"][4])])[3]
    return ExchangePlan(n_ranks, ghosts, copies_sent, copy_messages, sums_sent, sum_messages, handed, stage_pairs, neighbours)


def _meet(turn, legs, n_ranks, n_phases, stage_pairs):
    """Two ranks have a common stage for as many bodies as can wait for it: the fewest stages such that each transfer finds
    one between being ready and being due. Earliest due first, at the last moment."""
    source, target, ready, due, count = (np.concatenate(column) for column in zip(*legs))
    pairs, place = np.unique(source * n_ranks + target, return_inverse=True)
    needed = np.zeros((len(pairs), n_phases + 1, n_phases + 1), dtype=bool)
    needed[place, due, ready] = True
    is_stage = np.zeros((len(pairs), n_phases + 1), dtype=bool)
    for d in range(n_phases + 1):
        for r in range(d + 1):
            is_stage[:, d] |= needed[:, d, r] & ~is_stage[:, r:d + 1].any(axis=1)
    stage = ready + np.argmax(is_stage[place[:, None], np.minimum(ready[:, None] + np.arange(n_phases + 1), n_phases)], axis=1)
    for s in range(1, n_phases + 1):
        which = np.flatnonzero(is_stage[:, s])
        bodies = np.bincount(place[stage == s], count[stage == s], len(pairs))[which]
        stage_pairs[turn, s] = (pairs[which] // n_ranks, pairs[which] % n_ranks, bodies)
