"""The same physics written in another way: functions of a deck (tables, folder of its files) that make another one, and how places of
the one are places of the other."""
import copy
import itertools
import math

import h5py
import numpy as np

# Exponents of length, time and mass of a unit. Disks are 1 m thick, so that these three of the plane are others.
UNITS = {"m": (1, 0, 0), "s": (0, 1, 0), "kg": (0, 0, 1), "m/s": (1, -1, 0), "m/s2": (1, -2, 0), "rad/s": (0, -1, 0), "1/s": (0, -1, 0),
         "N": (1, -2, 1), "Pa": (-1, -2, 1), "kg/m3": (-3, 0, 1), "N/m": (0, -2, 1), "J": (2, -2, 1), "kg/s": (0, -1, 1),
         "N m": (2, -2, 1), "m2": (2, 0, 0), "m3": (3, 0, 0), "kg m2": (2, 0, 1), "1/m": (-1, 0, 0), "1/m2": (-2, 0, 0), "m2/s": (2, -1, 0),
         "m/s^0.5": (1, -0.5, 0)}
IN_THE_PLANE = {"Pa": (0, -2, 1), "kg/m3": (-2, 0, 1)}
# Of exponents that are even where roots are taken.
SCALES = {"lengths up": (8, 0, 0), "lengths down": (-8, 0, 0), "times": (0, 6, 0), "masses": (0, 0, 20), "all three": (4, -6, 12)}

POINTS = {"point", "center", "a", "b", "points", "polygon", "line", "region", "cabin", "door"}
VECTORS = {"normal", "velocity", "surface_velocity", "translate", "amplitude", "gravity", "positions"}
TURNED = {"rate", "angles", "torque", "amplitude"}      # of motions in the plane: change their sign in a mirror
ARRAYS = ("position", "velocity", "angular_velocity", "orientation", "radius", "id")


CUBE = [(1, 2, 3), (1, 3, 4), (5, 7, 6), (5, 8, 7), (1, 5, 6), (1, 6, 2), (2, 6, 7), (2, 7, 3), (3, 7, 8), (3, 8, 4), (4, 8, 5), (4, 5, 1)]


def obj(path, lower, upper):
    """A cuboid of triangles."""
    (a, b, c), (p, q, r) = lower, upper
    corners = [(a, b, c), (a, q, c), (p, q, c), (p, b, c), (a, b, r), (a, q, r), (p, q, r), (p, b, r)]
    path.write_text("".join(f"v {x!r} {y!r} {z!r}\n" for x, y, z in corners) + "".join(f"f {i} {j} {k}\n" for i, j, k in CUBE))


class State:
    """Bodies by id: arrays of a frame or a checkpoint, with groups."""

    def __init__(self, arrays):
        order = np.argsort(arrays["id"], kind="stable")
        self.arrays = {name: np.asarray(values)[order] for name, values in arrays.items()}

    def __getitem__(self, name):
        return self.arrays[name]

    def __contains__(self, name):
        return name in self.arrays


def first_frame(path):
    with h5py.File(path) as file:
        group = file["particles/all"]
        return State({name: item["value"][0] if isinstance(item, h5py.Group) else item[()] for name, item in group.items()
                      if name in (*ARRAYS, "type")})


def checkpoint(path):
    with h5py.File(path) as file:
        return State({name: item[()] for name, item in file["arrays"].items() if not name.startswith("memory")})


def write_bodies(path, state, chosen):
    """The bodies `chosen` of a state, as a file that a deck can start from."""
    with h5py.File(path, "w") as file:
        for name in ARRAYS:
            if name in state:
                file[f"particles/all/{name}"] = state[name][chosen]


def from_file(tables, folder, state, prefix="start"):
    """The deck with its bodies as they were at the start, from files: nothing is drawn at random."""
    made = copy.deepcopy(tables)
    for k, (name, table) in enumerate(made["particles"].items()):
        chosen = np.flatnonzero(state["type"] == k)
        write_bodies(folder / f"{prefix}_{name}.h5", state, chosen)
        table["source"] = {"type": "file", "path": f"{prefix}_{name}.h5", "overlap_limit": 1.0}
        for key in ("radius", "velocity", "angular_velocity", "random_speed", "orientation", "angle"):
            table.pop(key, None)
        if not made["simulation"]["scheme"] in ("nonsmooth", "dem", "event"):
            table["source"]["velocities"] = True
    made.pop("inlets", None)
    return made


def bare(tables):
    """Without measures, and with no output but checkpoints."""
    made = copy.deepcopy(tables)
    made["measures"] = {}
    made["analysis"] = {"every_steps": 1000000}
    made["output"] = {name: value for name, value in made["output"].items() if name in ("name", "checkpoint")}
    return made


# ---- other units

def scaled(tables, reference, scale, prefix, folder, state):
    """All quantities in units that are powers of two of the old ones."""
    exponents = SCALES[scale]
    plane = tables["simulation"]["dimension"] == 2
    made = copy.deepcopy(tables)

    def factor(unit, path=()):
        # Hertz's contact is that of balls in the plane, too.
        of = IN_THE_PLANE[unit] if plane and unit in IN_THE_PLANE and not (path[:1] == ("materials",) and unit == "Pa") else UNITS.get(unit, (0, 0, 0))
        return 2.0 ** sum(a * b for a, b in zip(of, exponents))

    def multiply(value, by):
        if isinstance(value, bool) or isinstance(value, str):
            return value
        return [multiply(item, by) for item in value] if isinstance(value, list) else value * by

    def walk(table, path):
        for key, value in table.items():
            if isinstance(value, dict):
                walk(value, (*path, key))
            elif isinstance(value, list) and value and isinstance(value[0], dict):
                for entry in value:
                    walk(entry, (*path, key))
            elif (unit := reference.unit(path, key, [v for v in table.values() if isinstance(v, str)])) in UNITS:
                table[key] = multiply(value, factor(unit, path))
    walk(made, ())
    for shape in made.get("shapes", {}).values():
        if shape["type"] == "hull":
            shape["scale"] = shape.get("scale", 1.0) * factor("m")
    units = {"position": "m", "velocity": "m/s", "angular_velocity": "rad/s", "radius": "m"}
    other = State({name: values * factor(units[name]) if name in units else values for name, values in state.arrays.items()})
    made = from_file(made, folder, other, prefix)
    return made, lambda found: State({name: values / factor(units[name]) if name in units else values for name, values in found.arrays.items()})


# ---- other axes

class Frame:
    """A signed permutation of the axes and a shift."""

    def __init__(self, rows, shift):
        self.q, self.shift = np.array(rows, float), np.array(shift, float)
        self.sign = round(float(np.linalg.det(self.q)))
        self.axis = [int(np.flatnonzero(self.q[:, k])[0]) for k in range(len(rows))]     # where each old axis goes

    def point(self, values):
        return (self.q @ values + self.shift).tolist()

    def vector(self, values):
        return (self.q @ values).tolist()

    def pseudo(self, values):
        values = np.asarray(values, float)
        return (self.sign * (self.q @ values)).tolist() if len(values) == len(self.q) == 3 else (self.sign * values).tolist()

    def back(self):
        return Frame(self.q.T, -(self.q.T @ self.shift))


def frames(dimension, name):
    """Mirror along x, axes in turn, and another origin."""
    unit = np.eye(dimension)
    if name == "mirror":
        return Frame(np.diag([-1.0] + [1.0] * (dimension - 1)), [0.0] * dimension)
    if name == "turn":
        return Frame([[0, -1], [1, 0]] if dimension == 2 else np.roll(unit, 1, axis=0), [0.0] * dimension)
    return Frame(unit, [4.0, -2.0, 8.0][:dimension])


def placed(tables, frame):
    """The tables with their points, vectors, and boxes in the frame."""
    made = copy.deepcopy(tables)

    def corners(table, low, high):
        ends = sorted(zip(frame.point(table[low]), frame.point(table[high])), key=lambda pair: 0)
        table[low], table[high] = [min(pair) for pair in ends], [max(pair) for pair in ends]

    def walk(table, path):
        if "lower" in table and "upper" in table:
            corners(table, "lower", "upper")
        turns = "torque" in table or table.get("type") in ("rotate", "swing", "table")
        for key, value in list(table.items()):
            if isinstance(value, dict):
                if key != "shapes":     # which turn with their bodies
                    walk(value, (*path, key))
            elif isinstance(value, list) and value and isinstance(value[0], dict):
                for entry in value:
                    walk(entry, (*path, key))
            elif key in POINTS and isinstance(value, list):
                table[key] = [frame.point(p) for p in value] if isinstance(value[0], list) else frame.point(value)
            elif key == "axis" and isinstance(value, list):
                table[key] = frame.pseudo(value) if turns else frame.vector(value)
            elif key in VECTORS and isinstance(value, list):
                table[key] = [frame.vector(p) for p in value] if isinstance(value[0], list) else frame.vector(value)
            elif key in TURNED and len(frame.q) == 2 and path[-1] in ("motion", "further", "drive"):
                table[key] = [frame.sign * v for v in value] if isinstance(value, list) else frame.sign * value
            elif key == "periodic" or key == "stiffness" and isinstance(value, list):
                table[key] = [value[frame.axis.index(k)] for k in range(len(value))]
    walk(made, ())
    return made


def in_frame(tables, frame, folder, state, prefix, wrap=lambda place: place):
    """`wrap`: brings places of bodies into the domain."""
    made = placed(tables, frame)
    letters = "xyz"
    domain = made["domain"]
    for cell in [domain.get("deformation", {}), *(stage.get("deformation", {}) for stage in made.get("stages", []))]:
        old = tables["domain"].get("deformation", {})
        if "flow" in old:
            for key in ("flow", "gradient"):
                if key in cell:
                    cell[key] = letters[frame.axis[letters.index(old[key])]]
            sign = math.prod(frame.q[frame.axis[k], k] for k in (letters.index(old["flow"]), letters.index(old["gradient"])))
            for key in ("shear_rate", "shear_stress"):
                if key in cell:
                    cell[key] *= sign
        for key in ("strain_rate", "stress"):
            if key in cell:
                cell[key] = {letters[frame.axis[letters.index(axis)]]: value for axis, value in cell[key].items()}
    for wall in made["obstacles"].values():
        if wall["type"] == "mesh":
            wall["file"] = mesh_in_frame(folder, wall["file"], frame, prefix)
    moved = bodies_in_frame(state, frame)
    moved.arrays["position"] = wrap(moved["position"])
    made = from_file(made, folder, moved, prefix)
    return made, lambda found: bodies_in_frame(found, frame.back())


def along_periodic_axes(tables, folder, state):
    """Bodies and walls moved by a share of the period, so that others of them are near the faces."""
    domain, walls = tables["domain"], tables["obstacles"].values()
    periodic = np.array(domain.get("periodic", [False]))
    if not periodic.any() or "deformation" in domain or any(path in tables for path in ("outlets", "inlets", "forces")) or \
            tables.get("velocity", {}).get("type", "constant") != "constant" or any(wall.get("side") == "inside" or wall.get("closed") for wall in walls):
        return None, None
    lower, upper = np.array(domain["lower"]), np.array(domain["upper"])
    frame = Frame(np.eye(len(lower)), np.where(periodic, 0.375 * (upper - lower), 0.0))
    made, back = in_frame(tables, frame, folder, state, "shift", lambda x: np.where(periodic, lower + (x - lower) % (upper - lower), x))
    made["domain"] |= {"lower": domain["lower"], "upper": domain["upper"]}
    return made, back


def bodies_in_frame(state, frame):
    other = dict(state.arrays)
    other["position"] = state["position"] @ frame.q.T + frame.shift
    if "velocity" in state:
        other["velocity"] = state["velocity"] @ frame.q.T
    if "angular_velocity" in state:
        spin = state["angular_velocity"]
        other["angular_velocity"] = frame.sign * (spin @ frame.q.T if spin.ndim == 2 and spin.shape[1] == 3 else spin)
    if "orientation" in state:
        other["orientation"] = turned(state["orientation"], frame)
    return State(other)


def turned(orientation, frame):
    """Orientations of bodies of shapes that are the same in the mirror x -> -x of their own axes."""
    if len(frame.q) == 2:
        angle = math.atan2(frame.q[1, 0], frame.q[0, 0]) if frame.sign > 0 else 0.0
        return frame.sign * orientation + angle
    mirror = np.diag([frame.sign, 1.0, 1.0])
    return np.array([quaternion(frame.q @ matrix(q) @ mirror) for q in orientation])


def matrix(q):
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def quaternion(m):
    """The unit quaternion of a rotation, by its largest component (Shepperd)."""
    t = np.array([np.trace(m), m[0, 0], m[1, 1], m[2, 2]])
    k = int(np.argmax(t))
    q = np.empty(4)
    if k == 0:
        q[:] = 1 + t[0], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
    else:
        i, j, l = k - 1, k % 3, (k + 1) % 3
        q[0] = m[l, j] - m[j, l]
        q[1 + i], q[1 + j], q[1 + l] = 1 + 2 * m[i, i] - t[0], m[j, i] + m[i, j], m[l, i] + m[i, l]
    return q / np.linalg.norm(q)


def mesh_in_frame(folder, name, frame, prefix):
    lines = []
    for line in (folder / name).read_text().splitlines():
        words = line.split()
        if words[0] == "v":
            words[1:] = map(repr, frame.point(list(map(float, words[1:]))))
        elif frame.sign < 0:
            words[1:] = words[:0:-1]
        lines.append(" ".join(words))
    (folder / f"{prefix}_{name}").write_text("\n".join(lines) + "\n")
    return f"{prefix}_{name}"


# ---- other words

def renamed(tables):
    """Other names of materials, groups and walls, in the same order of the letters."""
    made = copy.deepcopy(tables)
    names = {"stone": "granite"} | {name: f"q_{name}" for path in ("particles", "obstacles", "outlets", "forces", "shapes") for name in made.get(path, {})}

    def walk(value):
        if isinstance(value, dict):
            return {"-".join(names.get(part, part) for part in key.split("-")) if key not in ("shape",) or isinstance(item, dict) else key: walk(item)
                    for key, item in value.items()}
        if isinstance(value, list):
            return [walk(item) for item in value]
        return value
    for path in ("particles", "obstacles", "outlets", "forces", "shapes", "materials", "pairs"):
        if path in made:
            made[path] = {"-".join(names.get(part, part) for part in key.split("-")): table for key, table in made[path].items()}
    for table in itertools.chain(*(made.get(path, {}).values() for path in ("particles", "obstacles"))):
        for key in ("material", "shape"):
            if key in table:
                table[key] = names[table[key]]
    for stage in made.get("stages", []):
        for key in ("remove_obstacles", "add_obstacles"):
            if key in stage:
                stage[key] = [names[name] for name in stage[key]]
        for order in stage.get("drive", []):
            order["obstacle"] = names[order["obstacle"]]
    return made


def reordered(tables):
    """Walls in the other order."""
    made = copy.deepcopy(tables)
    made["obstacles"] = dict(reversed(made["obstacles"].items()))
    return made


def in_halves(tables):
    """Each stage in two halves; a run without stages in two of them."""
    made = copy.deepcopy(tables)
    stages = made.get("stages") or [{"name": "all", "duration": made["simulation"]["end_time"]}]
    if any("duration" not in stage for stage in stages):
        return None
    made["simulation"].pop("end_time", None)
    made["stages"] = []
    for stage in stages:
        half = stage["duration"] / 2
        made["stages"] += [stage | {"duration": half}, {"name": stage["name"] + " on", "duration": half}]
    return made


def as_planes(tables):
    """A container that is a box as planes."""
    made = copy.deepcopy(tables)
    box = made["obstacles"].pop("box", None)
    if box is None or any(made["domain"].get("periodic", [])):
        return None     # planes across a periodic axis have no images
    dimension = len(box["lower"])
    for axis in range(dimension):
        for side in (0, 1):
            vector = [0.0] * dimension
            vector[axis] = box[("lower", "upper")[side]][axis]
            normal = [0.0] * dimension
            normal[axis] = 1.0 - 2 * side
            made["obstacles"][f"box{axis}{side}"] = {key: value for key, value in box.items() if key not in ("side", "lower", "upper")} | {
                "type": "plane", "point": vector, "normal": normal}
    return made


def as_meshes(tables, folder):
    """Boxes as meshes, in the plane as closed lines. "event" takes neither."""
    made = copy.deepcopy(tables)
    boxes = {name: wall for name, wall in made["obstacles"].items() if wall["type"] == "box"}
    if not boxes or any(made["domain"].get("periodic", [])) or made["simulation"]["scheme"] == "event":
        return None
    for name, wall in boxes.items():
        lower, upper = wall.pop("lower"), wall.pop("upper")
        if len(lower) == 2:
            side = wall.pop("side", "outside")
            corners = [lower, [upper[0], lower[1]], upper, [lower[0], upper[1]]]
            wall.update({"type": "polygon", "points": corners} if side == "outside" else {"type": "polyline", "closed": True, "points": corners})
        else:
            obj(folder / f"mesh_{name}.obj", lower, upper)
            wall |= {"type": "mesh", "file": f"mesh_{name}.obj", "scale": 1.0, "side": wall.get("side", "outside")}
    return made


def tabulated(tables, end_time):
    """Steady motions of the extra wall as tables."""
    made = copy.deepcopy(tables)
    motion = made["obstacles"].get("wall", {}).get("motion", {})
    if motion.get("type") not in ("translate", "rotate"):
        return None
    start, end = motion.pop("start", 0.0), 2 * end_time
    motion["times"] = [0.0, start, end] if start > 0 else [0.0, end]
    amounts = [max(0.0, time - start) for time in motion["times"]]
    if motion["type"] == "translate":
        velocity = motion.pop("velocity")
        motion["positions"] = [[speed * amount for speed in velocity] for amount in amounts]
    else:
        rate = motion.pop("rate")
        motion["angles"] = [rate * amount for amount in amounts]
    motion["type"] = "table"
    return made


def in_two(tables, folder):
    """The extra wall as two that are flush."""
    made = copy.deepcopy(tables)
    wall = made["obstacles"].get("wall")
    if wall is None or "motion" in wall or wall["type"] not in ("box", "segment"):
        return None
    ends = ("lower", "upper") if wall["type"] == "box" else ("a", "b")
    low, high = wall[ends[0]], wall[ends[1]]
    share = 0.4
    first, second = dict(wall), dict(wall)
    if wall["type"] == "segment":
        middle = [a + share * (b - a) for a, b in zip(low, high)]
        first["b"], second["a"] = middle, middle
    else:
        cut = low[0] + share * (high[0] - low[0])
        first["upper"], second["lower"] = [cut, *high[1:]], [cut, *low[1:]]
    made["obstacles"]["wall"] = first
    made["obstacles"]["wall_2"] = second
    for stage in made.get("stages", []):
        for key in ("remove_obstacles", "add_obstacles"):
            if key in stage:
                stage[key] = ["wall", "wall_2"]
    return made
