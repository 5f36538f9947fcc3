"""Floor plans from DXF drawings. Layers say what lines mean: walkable area, obstacles, exits, where people start, waypoints.

Facts of the format: Autodesk, DXF Reference; the reader of its records is ezdxf (Debian: python3-ezdxf).
"""
import fnmatch
import logging
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from scree.errors import ExchangeError
from scree.exchange.curves import FULL_TURN, arc
from scree.exchange.dxf_shapes import NotTaken, entities_of, shape_of
from scree.exchange.enclosed import enclosed
from scree.exchange.outlines import (SAME, Junction, area_of, area_of_polygons, bounds, chain, crossing, distance_to, fan_area, is_within,
                                     nearest_end, nested, rectangle, without_repeats)
from scree.exchange.plan import UNITS, Plan, numbered, place, require_size, without_what_is_outside
from scree.geometry import contains

# $INSUNITS, the unit of a drawing; 0: none
INSUNITS = {1: "in", 2: "ft", 4: "mm", 5: "cm", 6: "m", 7: "km", 10: "yd", 14: "dm"}
# Layers that are taken without being named: their names hold one of these, in capitals or not.
PATTERNS = {"walkable": ("walk", "begeh"), "obstacle": ("obstacle", "hindernis"), "exit": ("exit", "ausgang"),
            "start": ("distribution", "start"), "waypoint": ("waypoint",)}
ON_BORDER = 1e-3     # m: lines of exits so near to the border of the area lie on it
MAX_OPENINGS = 10   # that notes name
LEAST_AREA = 1e-6    # m2: rings with less are slips of the pen


@dataclass
class DxfOptions:
    """How a drawing is read. `layers`: role of PATTERNS -> names of layers, with * and ?; roles that are not there take
    layers by PATTERNS. Lengths in m: `gap` between ends that are joined, `curve` from a curve to its lines,
    `thickness` of walls that open lines of obstacles are, each by itself. Without a walkable layer the area is what walls enclose,
    with openings up to `opening` closed, or from the points `inside` one gets to; where exits lie outside of it, or nothing is
    enclosed, the rectangle that reaches by `around` beyond all else. `leave_open`: lines that close no ring are left out, not refused."""
    layers: dict = field(default_factory=dict)
    unit: str = None
    gap: float = 0.001
    curve: float = 0.005
    thickness: float = None
    around: float = None
    inside: tuple = ()
    opening: float = 2.0
    leave_open: bool = False


def read(path, options=None):
    """The plan of a drawing. Raises ExchangeError, which names layer and place."""
    reader = _Drawing(path, options or DxfOptions())
    plan = reader.plan
    taken = set()
    rings = {role: reader.take(role) for role in PATTERNS}
    plan.walkable = nested([ring for _, found in rings["walkable"] for ring in found])
    for layer, found in rings["obstacle"]:
        for name, ring in zip(numbered(layer, len(found), taken), found):
            plan.obstacles[name] = ring
        taken |= set(plan.obstacles)
    for role, tables in (("exit", plan.exits), ("waypoint", plan.waypoints)):
        for layer, found in rings[role]:
            for name, ring in zip(numbered(layer, len(found), tables), found):
                tables[name] = {"line": ring} if len(ring) == 2 else {"polygon": ring}
    for layer, found in rings["start"]:
        plan.starts |= dict(zip(numbered(layer, len(found), plan.starts), found))
    if not plan.walkable:
        reader.take_area()
    require_size(path, plan, f"it was taken as {reader.unit}; --unit overrules $INSUNITS")
    if not plan.exits:
        plan.notes.append("exits: no layer has any; --exit LAYER, or add [exits.NAME]")
    return without_what_is_outside(plan)


def layers_of(path):
    """What the layers of a drawing hold, as text: a line for each layer, blocks taken apart."""
    drawing = _Drawing(path, DxfOptions(unit="m"))
    lines = [f"{path}: {drawing.document.acad_release}, unit {INSUNITS.get(drawing.insunits, 'none')}"]
    for layer in sorted(drawing.found, key=str.lower):
        kinds = Counter(entity.dxftype() for entity in drawing.found[layer])
        what = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        role = next((role for role in PATTERNS if layer in drawing.layers[role]), None)
        hidden = " (hidden)" if drawing.is_hidden(layer) else ""
        lines.append(f"  {layer}{hidden}: {what}" + (f"    -> {role}" if role else ""))
    return "\n".join(lines)


class _Drawing:
    """A drawing, its entities by layer, and what was left out of it."""

    def __init__(self, path, options):
        self.path, self.options = path, options
        self.document, is_repaired = _open(path)
        self.plan = Plan(path.stem, f"DXF drawing {path.name}")
        if is_repaired:
            self.plan.notes.append("the drawing is damaged and was read as far as it could be repaired: look at the plan")
        self.insunits = int(self.document.header.get("$INSUNITS", 0))
        self.found = {}
        for entity, layer in entities_of(self.document.modelspace()):
            self.found.setdefault(layer, []).append(entity)
        self.layers = self._layers_of_roles()
        self._leave_out_other_layers()
        self.unit = options.unit or INSUNITS.get(self.insunits)
        if self.unit is None:
            raise ExchangeError(f"{path}: $INSUNITS is {self.insunits}, which is no unit: give --unit ({', '.join(UNITS)}); "
                                f"{self._extent()}")
        self.scale = UNITS[self.unit]
        self.walls, self.solids = [], []    # of obstacles, in m: lines that are walls, and rings

    def is_hidden(self, layer):
        known = self.document.layers
        return layer in known and (known.get(layer).is_off() or known.get(layer).is_frozen())

    def take(self, role):
        """[(layer, rings in m)] of the layers of a role."""
        return [(layer, self._rings(layer, role)) for layer in self.layers[role]]

    def take_area(self):
        """Without a walkable layer: what walls enclose, or the rectangle around all else."""
        plan, options = self.plan, self.options
        exits = {name: next(iter(table.values())) for name, table in plan.exits.items()}
        rings = [*plan.obstacles.values(), *plan.starts.values(), *exits.values()]
        if self.layers["walkable"]:
            held = ", ".join(what for what, where in self.plan.left_out if where.startswith(f"layer {self.layers['walkable'][0]}"))
            raise ExchangeError(f"{self.path}: layer {self.layers['walkable'][0]}: no ring in it, only {held or 'nothing'}")
        if options.around is None and not options.inside or not rings:
            raise ExchangeError(f"{self.path}: no layer with the walkable area; give --walkable LAYER" +
                                (", or --around METRES: what walls enclose, else the rectangle around all obstacles and exits" if rings else "") +
                                f". Layers: {self._list()}")
        self._open_rooms([*exits.values(), *plan.starts.values(), *(np.array([point], float) for point in options.inside)])
        around, box = options.around, None
        if around is not None:
            lower, upper = bounds(np.concatenate(rings))
            box = rectangle(lower - around, upper + around)
        found = enclosed(self.walls, self.solids, options.opening, options.inside, box)
        if found is None:
            raise ExchangeError(f"{self.path}: from {' and '.join(place(point) for point in options.inside)} m one gets outside of all walls, "
                                f"over openings wider than {options.opening:g} m (--opening); --around METRES takes what is outside, too")
        beyond = [name for name in exits if not self._leads_out(name, found)]
        area = area_of_polygons(found.polygons)
        if beyond and box is None:
            raise ExchangeError(f"{self.path}: exit {beyond[0]} lies outside of the {area:.6g} m2 that the walls enclose; --around METRES takes "
                                "what is outside, too, or draw exits into openings")
        plan.walkable = found.polygons if found.polygons and not beyond else [[box]]
        if box is not None:
            outside = f"{abs(area_of(box)) - area:.6g} m2 of the rectangle around all else and {around:g} m more"
        if not found.polygons:
            plan.notes.append(f"walkable area: {outside}; walls enclose nothing, even with openings up to {options.opening:g} m "
                              "closed (--opening), so people may start on all sides of them")
            return
        where = "" if box is None else f"; outside are {outside}"
        if beyond:
            where += ", which are walkable, too, as exits lie there; people start inside"
            plan.starts = plan.starts or dict(zip(numbered("inside", len(found.polygons), ()), (outer for outer, *_ in found.polygons)))
        plan.notes.append(f"walkable area: what walls enclose, {area:.6g} m2 with the walls in it{where}")
        for p, q in found.openings[:MAX_OPENINGS]:
            plan.notes.append(f"opening to the outside, {np.hypot(*(q - p)):.3g} m wide, from {place(p)} to {place(q)} m" +
                              ("" if beyond else ": closed, unless there is an exit"))
        if len(found.openings) > MAX_OPENINGS:
            plan.notes.append(f"{len(found.openings) - MAX_OPENINGS} more openings to the outside")
        if len(found.parts) > 1:
            plan.notes.append("parts that no opening joins: " + ", ".join(f"{size:.4g} m2 around {place(point)} m" for size, point in found.parts) +
                              "; --inside X,Y takes that around a place")

    def _leads_out(self, name, found):
        """Whether an exit is one of the enclosed area: a region in it, or a line on its border. A line in an opening is put onto its free
        part, between walls with a thickness."""
        table = self.plan.exits[name]
        if "polygon" in table:
            return bool(is_within(found.polygons, table["polygon"]).all())
        middle, half = table["line"].mean(axis=0), (self.options.thickness or 0) / 2
        for p, q in found.openings:
            way = (q - p) / np.hypot(*(q - p))
            along, aside = np.sort((table["line"] - p) @ way), np.abs((table["line"] - p) @ np.array([-way[1], way[0]]))
            along = np.clip(along, half, np.hypot(*(q - p)) - half)
            if (aside <= max(2 * half, ON_BORDER)).all() and along[1] > along[0]:
                moved = np.array([p + at * way for at in along])
                if np.abs(np.sort(moved, axis=0) - np.sort(table["line"], axis=0)).max() > ON_BORDER:
                    self.plan.notes.append(f"exit {name}: put onto the opening from {place(moved[0])} to {place(moved[1])} m")
                table["line"] = moved
                return True
        return any(distance_to(ring, middle) < ON_BORDER for polygon in found.polygons for ring in polygon)

    def _open_rooms(self, others):
        """Rings on obstacle layers that hold something else are walls around a room, not solid."""
        for ring in list(self.solids):
            rest = [*self.walls, *(other for other in self.solids if other is not ring), *others]
            if not any(contains(ring, corners).any() for corners in rest):
                continue
            name = next(name for name, obstacle in self.plan.obstacles.items() if obstacle is ring)
            if not self.options.thickness:
                raise ExchangeError(f"{self.path}: the ring {name} of obstacles, at {place(ring[0])} m, holds others, exits or starts. If it is a "
                                    "wall around a room: --thickness METRES; if it is the area: --walkable LAYER")
            del self.plan.obstacles[name]
            self.solids = [other for other in self.solids if other is not ring]
            self.walls.append(np.vstack([ring, ring[:1]]))
            walls = [_wall(p, q, self.options.thickness / 2) for p, q in zip(ring, np.roll(ring, -1, axis=0))]
            self.plan.obstacles |= dict(zip(numbered(name, len(walls), self.plan.obstacles), walls))
            self.plan.notes.append(f"the ring {name} of obstacles holds others: it is walls {self.options.thickness:g} m thick around a room")

    def _layers_of_roles(self):
        chosen, there = {}, list(self.found)
        for role, parts in PATTERNS.items():
            given = self.options.layers.get(role)
            if given is None:
                chosen[role] = [layer for layer in there if any(part in layer.lower() for part in parts)
                                and not self.is_hidden(layer)]
                continue
            chosen[role] = []
            for pattern in given:
                hits = [layer for layer in there if fnmatch.fnmatchcase(layer.lower(), pattern.lower())]
                if not hits:
                    raise ExchangeError(f"{self.path}: layer {pattern!r} holds nothing or is not there. Layers: {self._list()}")
                chosen[role] += [layer for layer in hits if layer not in chosen[role]]
        named = [layer for role, layers in self.options.layers.items() for layer in chosen[role]]
        taken = set()
        for role in PATTERNS:
            if role not in self.options.layers:
                chosen[role] = [layer for layer in chosen[role] if layer not in named]
            for layer in taken & set(chosen[role]):
                raise ExchangeError(f"{self.path}: layer {layer!r} would be {role} and something else: "
                                    "say what it is with --walkable, --obstacle, --exit, --start or --waypoint")
            taken |= set(chosen[role])
        return chosen

    def _leave_out_other_layers(self):
        taken = {layer for layers in self.layers.values() for layer in layers}
        for layer, entities in self.found.items():
            if layer not in taken:
                hidden = ", which is hidden" if self.is_hidden(layer) else ""
                for entity in entities:
                    self.plan.leave_out(entity.dxftype(), f"layer {layer}{hidden}")

    def _list(self):
        return ", ".join(sorted(self.found)) or "none has a line"

    def _extent(self):
        points = [shape.points for layer in self.found for entity in self.found[layer]
                  if (shape := self._shape(entity, None)) is not None]
        if not points:
            return "the drawing holds no lines"
        size = np.subtract(*bounds(np.concatenate(points))[::-1])
        return f"the drawing is {size[0]:.6g} x {size[1]:.6g} units"

    def _shape(self, entity, layer):
        """The shape of an entity, or None; it is then left out if a layer is given."""
        try:
            return shape_of(entity, self.options.curve / UNITS.get(self.options.unit or INSUNITS.get(self.insunits), 1))
        except NotTaken as what:
            if layer is not None:
                self.plan.leave_out(str(what), f"layer {layer}")
            return None

    def _rings(self, layer, role):
        """Rings of a layer in m; exits may be lines."""
        rings, paths = [], []
        for entity in self.found[layer]:
            shape = self._shape(entity, layer)
            if shape is None:
                continue
            if shape.kind == "circle" and role == "obstacle":
                self.plan.columns.append(tuple(float(self.scale * v) for v in (*shape.points[0], shape.radius)))
            elif shape.kind == "circle":
                rings.append(arc(shape.points[0], shape.radius, 0, FULL_TURN, self.options.curve / self.scale))
            else:
                (rings if shape.kind == "ring" else paths).append(shape.points)
        if role == "obstacle" and self.options.thickness:
            lines = self._walls(layer, paths)
        elif role == "exit":
            lines = [path[k:k + 2] for path in paths for k in range(len(path) - 1)]
        else:
            chained = self._chain(layer, paths, rings)
            rings += chained.rings
            lines = self._open(layer, role, chained.open)
        kept = [self.scale * ring for ring in (self._checked(layer, ring) for ring in rings) if ring is not None]
        if role == "obstacle":
            self.solids += kept
        return kept + [self.scale * line for line in lines]

    def _chain(self, layer, paths, rings):
        size = max((np.ptp(points, axis=0).max() for points in [*paths, *rings]), default=1.0)
        try:
            chained = chain(paths, self.options.gap / self.scale, SAME * size)
        except Junction as junction:
            raise ExchangeError(f"{self.path}: layer {layer}: {junction.count} lines end at {place(junction.place)}, so it is "
                                "not clear how the ring goes on: draw closed polylines there. If the lines are walls: "
                                f"--obstacle {layer!r} --thickness METRES") from None
        if chained.twice:
            self.plan.leave_out("line that is there twice", f"layer {layer}", chained.twice)
        if chained.empty:
            self.plan.leave_out("line without a length", f"layer {layer}", chained.empty)
        if chained.closed:
            length, where = max(chained.closed, key=lambda gap: gap[0])
            self.plan.notes.append(f"layer {layer}: {len(chained.closed)} gaps closed, the widest {length * self.scale:.3g} m "
                                   f"at {place(where)}")
        return chained

    def _walls(self, layer, paths):
        """Rectangles along open lines."""
        half = self.options.thickness / 2 / self.scale
        walls = [_wall(p, q, half) for path in paths for p, q in zip(path, path[1:]) if (p != q).any()]
        self.walls += [self.scale * path for path in paths]
        if walls:
            self.plan.notes.append(f"layer {layer}: {len(walls)} open lines are walls {self.options.thickness:g} m thick")
        return walls

    def _open(self, layer, role, paths):
        """Refuses open paths, or leaves them out; nothing is in their place."""
        if paths and not self.options.leave_open:
            end, other, distance = min((nearest_end(path, paths) for path in paths), key=lambda found: found[2])
            more = f" ({len(paths) - 1} more lines are open)" if len(paths) > 1 else ""
            wall = ", --thickness makes walls of open lines" if role == "obstacle" else ""
            raise ExchangeError(
                f"{self.path}: layer {layer}: a ring is open at {place(end)}: the nearest end, at {place(other)}, is "
                f"{distance * self.scale:.3g} m away{more}. --gap {_above(distance * self.scale)} closes it{wall}, "
                "--leave-open leaves open lines out")
        for path in paths:
            self.plan.leave_out("line that closes no ring", f"layer {layer}, from {place(path[0])} to {place(path[-1])}")
        return []

    def _checked(self, layer, ring):
        """The ring without corners at one place; None if it has no area. Raises ExchangeError where it crosses itself."""
        ring = without_repeats(ring, SAME * max(np.ptp(ring, axis=0).max(), 1e-300))
        if len(ring) < 3 or fan_area(ring) * self.scale**2 < LEAST_AREA:
            self.plan.leave_out("ring without an area", f"layer {layer}, at {place(ring[0])}")
            return None
        where = crossing(ring)
        if where is not None:
            raise ExchangeError(f"{self.path}: layer {layer}: a ring crosses or touches itself at {place(where)}")
        return ring


def _open(path):
    """The document, and whether it had to be repaired."""
    try:
        import ezdxf
        from ezdxf import recover
    except ImportError:
        raise ExchangeError(f"{path}: DXF drawings need ezdxf (Debian: apt-get install python3-ezdxf)") from None
    logging.getLogger("ezdxf").setLevel(logging.CRITICAL)    # what it repairs is in the list
    try:
        return ezdxf.readfile(path), False
    except Exception:    # a reader of others, on files that may be damaged anywhere
        pass
    try:
        return recover.readfile(path)[0], True
    except Exception as error:
        raise ExchangeError(f"{path}: is no DXF drawing that can be read: {str(error) or type(error).__name__}") from error


def _wall(p, q, half):
    """The rectangle along p, q that reaches `half` to all sides, so that walls that meet leave no hole."""
    along = half * (q - p) / np.hypot(*(q - p))
    across = np.array([-along[1], along[0]])
    return np.array([p - along - across, q + along - across, q + along + across, p - along + across])


def _above(length):
    """A length with two digits that is no shorter."""
    digits = 10.0 ** (np.floor(np.log10(max(length, 1e-9))) - 1)
    return f"{np.ceil(length / digits * (1 - 1e-12)) * digits:.6g}"
