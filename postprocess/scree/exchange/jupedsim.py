"""Geometry of JuPedSim up to 0.8 (XML): rooms of subrooms, whose walls and doors make rings.

Facts of the format: documentation of JPSreport and JuPedSim 0.8, "geometry file": walls are `polygon`s of `vertex`es, a
`crossing` joins subrooms of a room, a `transition` rooms, or a room and the outside (id -1).
"""
import xml.etree.ElementTree as ElementTree

import numpy as np

from scree.exchange.outlines import SAME, Junction, area_of, chain, crossing, nearest_end
from scree.exchange.plan import Plan, name_of, place, require_size, without_what_is_outside
from scree.exchange.scene import ExchangeError

OUTSIDE = "-1"
NOT_TAKEN = ("routing", "hlines", "goals", "trainTimeTables", "platforms")


def read(path, content, gap=0.001, floor=None):
    """The plan of a geometry file. `floor`: elevation [m] of the floor that is taken, where there are several; ends of
    walls up to `gap` [m] apart are joined. Raises ExchangeError, which names room, subroom and place."""
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
        self.plan = Plan(path.stem, f"JuPedSim geometry {path.name}, version {root.get('version', 'unknown')}")
        self.doors = self._doors()

    def plan_of(self, floor):
        plan = self.plan
        subrooms = [(room, subroom) for room in self.root.iter("room") for subroom in room.iter("subroom")]
        if not subrooms:
            raise ExchangeError(f"{self.path}: no subrooms in the file")
        taken = self._floor_of(subrooms, floor)
        for room, subroom in taken:
            plan.walkable.append([self._outline(room, subroom)])
            self._take_obstacles(room, subroom)
        there = {(room.get("id"), subroom.get("id")) for room, subroom in taken}
        for door in self.root.iter("transition"):
            self._take_exit(door, there)
        for tag in NOT_TAKEN:
            for element in self.root.iter(tag):
                plan.leave_out(tag, "", max(1, len(element)))
        if not plan.exits:
            plan.notes.append("exits: no transition leads outside (room -1)")
        require_size(self.path, plan, "JuPedSim's lengths are metres")
        return without_what_is_outside(plan)

    def _floor_of(self, subrooms, floor):
        """Subrooms of one floor, and stairs that no other floor has; the others are left out."""
        heights = {}
        for room, subroom in subrooms:
            if not _is_slope(subroom):
                heights.setdefault(_height(room, subroom), []).append((room, subroom))
        if floor is None and len(heights) > 1:
            listed = ", ".join(f"{height:g} m ({len(found)} subrooms)" for height, found in sorted(heights.items()))
            raise ExchangeError(f"{self.path}: floors at {listed}: choose one with --floor ELEVATION")
        if floor is not None and not any(abs(height - floor) < 0.01 for height in heights):
            raise ExchangeError(f"{self.path}: no floor at {floor:g} m; there are {', '.join(f'{h:g} m' for h in sorted(heights))}")
        taken = []
        for room, subroom in subrooms:
            if _is_slope(subroom) and len(heights) > 1:
                self.plan.leave_out("stair between floors", _name(room, subroom))
            elif _is_slope(subroom) or floor is None or abs(_height(room, subroom) - floor) < 0.01:
                taken.append((room, subroom))
                if _is_slope(subroom):
                    self.plan.leave_out("slope of a stair, which is flat here", _name(room, subroom))
            else:
                self.plan.leave_out(f"subroom of the floor at {_height(room, subroom):g} m", _name(room, subroom))
        return taken

    def _doors(self):
        """Doors of each subroom by (room, subroom), as paths."""
        doors = {}
        for door in self.root.iter("transition"):
            for side in "12":
                key = (door.get(f"room{side}_id"), door.get(f"subroom{side}_id"))
                doors.setdefault(key, []).append(self._points(door, f"transition {door.get('id')}", 2))
        for room in self.root.iter("room"):
            for door in room.iter("crossing"):
                for side in "12":
                    key = (room.get("id"), door.get(f"subroom{side}_id"))
                    doors.setdefault(key, []).append(self._points(door, f"crossing {door.get('id')}", 2))
        return doors

    def _points(self, element, what, least):
        vertices = list(element.iter("vertex"))
        if len(vertices) < least:
            raise ExchangeError(f"{self.path}: {what} has {len(vertices)} corners; {least} are wanted")
        words = [(v.get("px", "nothing"), v.get("py", "nothing")) for v in vertices]
        try:
            return np.array(words, float)
        except ValueError as error:
            raise ExchangeError(f"{self.path}: {what}: px and py of a vertex: {error}") from None

    def _outline(self, room, subroom):
        name = _name(room, subroom)
        walls = [self._points(polygon, f"wall of {name}", 2) for polygon in subroom.findall("polygon")]
        paths = walls + self.doors.get((room.get("id"), subroom.get("id")), [])
        if not paths:
            raise ExchangeError(f"{self.path}: {name} has neither walls nor doors")
        return self._ring(paths, name)

    def _ring(self, paths, name):
        """The one ring that paths make."""
        size = np.ptp(np.concatenate(paths), axis=0).max()
        try:
            chained = chain(paths, self.gap, SAME * size)
        except Junction as junction:
            raise ExchangeError(f"{self.path}: {name}: {junction.count} walls and doors end at {place(junction.place)}") from None
        for length, where in chained.closed:
            self.plan.notes.append(f"{name}: a gap of {length:.3g} m closed at {place(where)}")
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

    def _take_obstacles(self, room, subroom):
        for obstacle in subroom.iter("obstacle"):
            what = f"obstacle {obstacle.get('id')} of {_name(room, subroom)}"
            paths = [self._points(polygon, what, 2) for polygon in obstacle.iter("polygon")]
            if paths:
                text = obstacle.get("caption") or f"obstacle_{obstacle.get('id')}"
                self.plan.obstacles[name_of(text, self.plan.obstacles)] = self._ring(paths, what)

    def _take_exit(self, door, there):
        sides = [(door.get(f"room{side}_id"), door.get(f"subroom{side}_id")) for side in "12"]
        inside = [side for side in sides if side[0] != OUTSIDE]
        if len(inside) != 1 or inside[0] not in there:
            return
        text = door.get("caption") or f"exit_{door.get('id')}"
        line = self._points(door, f"transition {door.get('id')}", 2)
        self.plan.exits[name_of(text, self.plan.exits)] = {"line": line[[0, -1]]}


def _name(room, subroom):
    return f"room {room.get('id')}, subroom {subroom.get('id')}"


def _slopes(subroom):
    return [float(subroom.get(key, 0) or 0) for key in ("A_x", "B_y")]


def _is_slope(subroom):
    return any(_slopes(subroom)) or subroom.get("class", "").lower() in ("stair", "stairs", "escalator_up", "escalator_down")


def _height(room, subroom):
    """Elevation [m]: of the room, in older versions, and of the subroom."""
    return round(float(room.get("zpos", 0) or 0) + float(subroom.get("C_z", subroom.get("C", 0)) or 0), 2)
