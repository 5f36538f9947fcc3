"""Geometry of JuPedSim up to 0.8 (XML): rooms of subrooms, whose walls and doors make rings.

Facts of the format: documentation of JPSreport and JuPedSim 0.8, "geometry file": walls are `polygon`s of `vertex`es, a
`crossing` joins subrooms of a room, a `transition` rooms, or a room and the outside (id -1).
"""
import xml.etree.ElementTree as ElementTree

import numpy as np

from scree.errors import ExchangeError
from scree.exchange.jupedsim_floors import Subroom, building, inner_walls
from scree.exchange.outlines import SAME, Junction, area_of, chain, crossing, nearest_end
from scree.exchange.plan import Plan, name_of, place, require_size, without_what_is_outside

OUTSIDE = "-1"
NOT_TAKEN = ("routing", "hlines", "goals", "trainTimeTables", "platforms")


def read(path, content, gap=0.001, floor=None):
    """The plan of a geometry file. Of several floors all are taken, and stairs between them are connectors; `floor`: elevation [m]
    of the only one that is taken. Ends of walls up to `gap` [m] apart are joined. Raises ExchangeError, which names room, subroom
    and place."""
    try:
        root = ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise ExchangeError(f"{path}: is no whole XML file: {error}") from error
    if root.tag != "geometry":
        raise ExchangeError(f"{path}: the XML file is a <{root.tag}>; <geometry> is wanted")
    if root.get("unit", "m") != "m":
        raise ExchangeError(f"{path}: lengths in {root.get('unit')!r}: JuPedSim's are in m")
    try:
        return _Geometry(path, root, gap).plan_of(floor)
    except ValueError as error:
        raise ExchangeError(f"{path}: {error}") from error


class _Geometry:
    def __init__(self, path, root, gap):
        self.path, self.root, self.gap = path, root, gap
        self.name, self.source = path.stem, f"JuPedSim geometry {path.name}, version {root.get('version', 'unknown')}"
        self.doors = self._doors()
        self.notes = []

    def plan_of(self, floor):
        subrooms = [self._subroom(room, subroom) for room in self.root.iter("room") for subroom in room.iter("subroom")]
        if not subrooms:
            raise ExchangeError(f"{self.path}: no subrooms in the file")
        heights = {}
        for one in subrooms:
            if not one.is_stair:
                heights.setdefault(one.height, []).append(one)
        if floor is None and len(heights) > 1:
            plan = building(self.name, self.source, subrooms, heights, self.floor_plan)
        else:
            plan = self._one_floor(subrooms, heights, floor)
        for tag in NOT_TAKEN:
            for element in self.root.iter(tag):
                plan.leave_out(tag, "", max(1, len(element)))
        if not plan.exits and not plan.floors:
            plan.notes.append("exits: no transition leads outside (room -1)")
        plan.notes = self.notes + plan.notes
        return plan

    def _one_floor(self, subrooms, heights, floor):
        """The plan of one floor, with stairs that no other floor has, as flat; all else is left out."""
        if floor is not None and not any(abs(height - floor) < 0.01 for height in heights):
            raise ExchangeError(f"{self.path}: no floor at {floor:g} m; there are {', '.join(f'{h:g} m' for h in sorted(heights))}")
        taken, left_out = [], []
        for one in subrooms:
            if one.is_stair and len(heights) > 1:
                left_out.append(("stair between floors", one.name))
            elif one.is_stair or floor is None or abs(one.height - floor) < 0.01:
                taken.append(one)
                if one.is_stair:
                    left_out.append(("slope of a stair, which is flat here", one.name))
            else:
                left_out.append((f"subroom of the floor at {one.height:g} m", one.name))
        plan = self.floor_plan(self.name, taken)
        for what, where in left_out:
            plan.leave_out(what, where)
        return plan

    def floor_plan(self, name, subrooms):
        """The plan of subrooms at one height: areas, obstacles, walls that two subrooms share, exits."""
        plan = Plan(name, self.source)
        if any(one.doors for one in subrooms):
            for one in (one for one in subrooms if not one.doors):
                plan.leave_out("subroom without a door", f"{one.name}, at {place(one.ring.mean(axis=0))} m")
            subrooms = [one for one in subrooms if one.doors]
        plan.walkable = [[one.ring] for one in subrooms]
        for one in subrooms:
            self._take_obstacles(plan, one)
        for wall in inner_walls(subrooms, plan):
            plan.obstacles[name_of(f"wall_{len(plan.obstacles) + 1}", plan.obstacles)] = wall
        there = {one.key for one in subrooms}
        for door in self.root.iter("transition"):
            self._take_exit(plan, door, there)
        require_size(self.path, plan, "JuPedSim's lengths are metres")
        return without_what_is_outside(plan)

    def _subroom(self, room, element):
        key = (room.get("id"), element.get("id"))
        name = f"room {key[0]}, subroom {key[1]}"
        walls = [self._points(polygon, f"wall of {name}", 2) for polygon in element.findall("polygon")]
        doors = self.doors.get(key, [])
        paths = walls + [line for line, _ in doors]
        if not paths:
            raise ExchangeError(f"{self.path}: {name} has neither walls nor doors")
        slope = np.array([float(element.get(at, 0) or 0) for at in ("A_x", "B_y")])
        height = float(room.get("zpos", 0) or 0) + float(element.get("C_z", element.get("C", 0)) or 0)
        return Subroom(key, name, room.get("caption") or "", element.get("class", "").lower(), slope, round(height, 2),
                       self._ring(paths, name), walls, doors, element)

    def _doors(self):
        """Doors of each subroom by (room, subroom): the line, and where it leads."""
        doors = {}
        for door in self.root.iter("transition"):
            sides = [(door.get(f"room{side}_id"), door.get(f"subroom{side}_id")) for side in "12"]
            self._add_door(doors, sides, self._points(door, f"transition {door.get('id')}", 2))
        for room in self.root.iter("room"):
            for door in room.iter("crossing"):
                sides = [(room.get("id"), door.get(f"subroom{side}_id")) for side in "12"]
                self._add_door(doors, sides, self._points(door, f"crossing {door.get('id')}", 2))
        return doors

    @staticmethod
    def _add_door(doors, sides, line):
        for here, there in (sides, sides[::-1]):
            doors.setdefault(here, []).append((line, None if there[0] == OUTSIDE else there))

    def _points(self, element, what, least):
        vertices = list(element.iter("vertex"))
        if len(vertices) < least:
            raise ExchangeError(f"{self.path}: {what} has {len(vertices)} corners; {least} are wanted")
        words = [(v.get("px", "nothing"), v.get("py", "nothing")) for v in vertices]
        try:
            return np.array(words, float)
        except ValueError as error:
            raise ExchangeError(f"{self.path}: {what}: px and py of a vertex: {error}") from None

    def _ring(self, paths, name):
        """The one ring that paths make."""
        size = np.ptp(np.concatenate(paths), axis=0).max()
        try:
            chained = chain(paths, self.gap, SAME * size)
        except Junction as junction:
            raise ExchangeError(f"{self.path}: {name}: {junction.count} walls and doors end at {place(junction.place)}") from None
        for length, where in chained.closed:
            self.notes.append(f"{name}: a gap of {length:.3g} m closed at {place(where)}")
        if chained.open:
            end, other, distance = min((nearest_end(path, chained.open) for path in chained.open), key=lambda found: found[2])
            raise ExchangeError(f"{self.path}: {name} is open at {place(end)}: the nearest end, at {place(other)}, is "
                                f"{distance:.3g} m away; --gap METRES closes gaps up to that")
        if len(chained.rings) != 1:
            raise ExchangeError(f"{self.path}: {name}: walls and doors make {len(chained.rings)} rings, not one")
        ring = chained.rings[0]
        where = crossing(ring) if len(ring) > 2 else ring[0]
        if where is not None or area_of(ring) == 0:
            raise ExchangeError(f"{self.path}: {name} crosses or touches itself at {place(ring[0] if where is None else where)}")
        return ring

    def _take_obstacles(self, plan, one):
        for obstacle in one.element.iter("obstacle"):
            what = f"obstacle {obstacle.get('id')} of {one.name}"
            paths = [self._points(polygon, what, 2) for polygon in obstacle.iter("polygon")]
            if paths:
                text = obstacle.get("caption") or f"obstacle_{obstacle.get('id')}"
                plan.obstacles[name_of(text, plan.obstacles)] = self._ring(paths, what)

    def _take_exit(self, plan, door, there):
        sides = [(door.get(f"room{side}_id"), door.get(f"subroom{side}_id")) for side in "12"]
        inside = [side for side in sides if side[0] != OUTSIDE]
        if len(inside) != 1 or inside[0] not in there:
            return
        text = door.get("caption") or f"exit_{door.get('id')}"
        line = self._points(door, f"transition {door.get('id')}", 2)
        plan.exits[name_of(text, plan.exits)] = {"line": line[[0, -1]]}
