"""Scenes of boxes on planes for compare-peers.py: where boxes start, how programs read it, and what is measured at the end."""
from dataclasses import dataclass

import numpy as np

BRICK = np.array([0.2, 0.1, 0.1])    # [m]
JOINT = 1e-3                         # between bricks of a row [m]
ROWS, LENGTH = 10, 10                # of the wall, in bricks
DENSITY, FRICTION = 2500, 0.5
EDGES = (0.07, 0.12)                 # of poured boxes [m]
SPACING, COLUMNS = 0.22, 7           # of the lattice they start from [m], along an edge of the container


@dataclass(frozen=True)
class BoxScene:
    """n boxes at rest: edges (n, 3) [m], centres x (n, 3) [m], turns (n, 4) as quaternions (w, x, y, z); planes as (point,
    normal); bounds of the domain."""
    edges: np.ndarray
    x: np.ndarray
    turns: np.ndarray
    planes: tuple
    lower: tuple
    upper: tuple

    def write_for_peers(self, path):
        """A line with the numbers of planes and boxes, density, friction; planes; boxes: edges, centre, turn."""
        rows = [[len(self.planes), len(self.x), DENSITY, FRICTION], *(np.ravel(plane) for plane in self.planes),
                *np.hstack([self.edges, self.x, self.turns])]
        path.write_text("".join(" ".join(f"{value:.17g}" for value in row) + "\n" for row in rows), encoding="utf-8")

    def kinds(self):
        """Number of the size of each box."""
        return np.ravel(np.unique(self.edges, axis=0, return_inverse=True)[1])

    def write_for_scree(self, folder, tolerance, step, n_steps):
        """deck.toml and a table of bodies for each size of box."""
        sizes, kinds = np.unique(self.edges, axis=0), self.kinds()
        text = [_DECK.format(end=n_steps * step, step=step, tolerance=tolerance, density=DENSITY, friction=FRICTION,
                             lower=list(self.lower), upper=list(self.upper))]
        for kind, size in enumerate(sizes):
            name = f"box{kind}"
            text.append(_KIND.format(name=name, size=[float(edge) for edge in size]))
            lines = [",".join(f"{value:.17g}" for value in row)
                     for row in np.hstack([self.x, self.turns])[kinds == kind]]
            (folder / f"{name}.csv").write_text("\n".join(["x,y,z,qw,qx,qy,qz", *lines]) + "\n", encoding="utf-8")
        for number, (point, normal) in enumerate(self.planes):
            text.append(f'[obstacles.plane{number}]\ntype = "plane"\nmaterial = "stone"\npoint = {list(map(float, point))}\n'
                        f"normal = {list(map(float, normal))}\n")
        (folder / "deck.toml").write_text("".join(text), encoding="utf-8")


_DECK = """\
[simulation]
dimension = 3
scheme = "nonsmooth"
end_time = {end}
[domain]
lower = {lower}
upper = {upper}
[time]
step = {step}
[physics]
gravity = [0, 0, -9.81]
[solver]
type = "nsgs"
tolerance = {tolerance}
[materials.stone]
density = {density}
[pairs]
"stone-stone" = {{ friction = {friction}, restitution = 0 }}
[output]
name = "end"
directory = "."
[output.h5md]
every = {end}
[output.certificate]
every_steps = 1
"""
_KIND = """\
[shapes.{name}]
type = "box"
size = {size}
[particles.{name}]
shape = "{name}"
material = "stone"
source = {{ type = "file", path = "{name}.csv" }}
"""
_FLOOR = ((0, 0, 0), (0, 0, 1))


def wall():
    """A wall of ROWS rows in running bond, bricks on each other without a gap; every other row ends with two halves."""
    pitch, half = BRICK[0] + JOINT, (BRICK[0] - JOINT) / 2
    end = (LENGTH * pitch - JOINT) / 2
    edges, x = [], []
    for row in range(ROWS):
        n = LENGTH - row % 2
        places = [((j - (n - 1) / 2) * pitch, BRICK[0]) for j in range(n)]
        if row % 2:
            places += [(half / 2 - end, half), (end - half / 2, half)]
        for place, length in places:
            edges.append([length, *BRICK[1:]])
            x.append([place, 0, (row + 0.5) * BRICK[2]])
    turns = np.tile([1.0, 0, 0, 0], (len(x), 1))
    return BoxScene(np.array(edges), np.array(x), turns, (_FLOOR,), (-3, -3, -0.2), (3, 3, 3))


def pour(n):
    """n boxes of ten sizes, turned at random, above a container with four walls."""
    random = np.random.default_rng(1)
    sizes = random.uniform(*EDGES, (10, 3))
    sites = np.array([(x, y, z) for z in range(-(-n // COLUMNS**2)) for y in range(COLUMNS) for x in range(COLUMNS)])[:n]
    turns = random.normal(size=(n, 4))
    reach = COLUMNS * SPACING / 2
    walls = [(tuple(-reach * np.array(normal)), normal) for normal in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0))]
    x = (sites + 0.5) * SPACING - [reach, reach, 0]
    return BoxScene(sizes[np.arange(n) % len(sizes)], x, turns / np.linalg.norm(turns, axis=1)[:, None],
                    (_FLOOR, *walls), (-reach - 0.2,) * 2 + (-0.2,), (reach + 0.2,) * 2 + (float(x[:, 2].max() + SPACING),))


def axes_of(turns):
    """Axes of boxes (n, 3, 3), one in each row."""
    w, x, y, z = turns.T
    return np.stack([np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], -1),
                     np.stack([2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)], -1),
                     np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], -1)], 1)


def deepest_overlap(scene, x, turns):
    """The largest of the least motions that would take two boxes, or a box and a plane, apart [m]."""
    axes = axes_of(turns)
    corners = np.einsum("kj,nji->nki", np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, 8).T,
                        axes * scene.edges[:, :, None] / 2) + x[:, None]
    deepest = max(float(-((corners - point) @ np.array(normal, dtype=float)).min()) for point, normal in scene.planes)
    reach = np.linalg.norm(scene.edges, axis=1) / 2
    order = np.argsort(x[:, 0])
    for at, i in enumerate(order):
        others = order[at + 1:np.searchsorted(x[order, 0], x[i, 0] + reach[i] + reach.max())]
        others = others[np.linalg.norm(x[others] - x[i], axis=1) < reach[others] + reach[i]]
        if len(others) == 0:
            continue
        mine = np.broadcast_to(axes[i], (len(others), 3, 3))
        edges = np.cross(mine[:, :, None], axes[others][:, None]).reshape(len(others), 9, 3)
        length = np.linalg.norm(edges, axis=2, keepdims=True)
        directions = np.concatenate([mine, axes[others], np.where(length > 1e-6, edges / np.maximum(length, 1e-12), mine[:, :1])], 1)

        def half_width(boxes, edge):
            return (np.abs(np.einsum("ndi,nki->ndk", directions, boxes)) * edge[:, None] / 2).sum(-1)

        shared = (half_width(mine, np.broadcast_to(scene.edges[i], (len(others), 3))) + half_width(axes[others], scene.edges[others])
                  - np.abs(np.einsum("ndi,ni->nd", directions, x[others] - x[i])))
        deepest = max(deepest, float(shared.min(1).max()))
    return deepest


def state_of(scene, x, turns):
    """Columns of a row: mean height over the floor [m], largest way from the start [m], deepest overlap [m]."""
    return {"height": float(x[:, 2].mean()), "moved": float(np.linalg.norm(x - scene.x, axis=1).max()),
            "overlap": deepest_overlap(scene, x, turns)}
