"""Entities of DXF drawings as rings, circles and open paths in the plane of the drawing, in its unit. Blocks are taken
apart, also within each other; curves become lines that enclose the same area, splines lines within the tolerance."""
import math
from dataclasses import dataclass

import numpy as np

from scree.exchange.curves import FULL_TURN, arc, bulged, ellipse

MAX_BLOCKS = 32    # within each other: more is a block that holds itself


@dataclass
class Shape:
    """`kind`: "ring" (corners, once each), "path" (open) or "circle" (points: centre; radius)."""
    kind: str
    points: np.ndarray
    radius: float = 0.0


class NotTaken(Exception):
    """An entity that is no line in the plane; its text says what it is."""


def entities_of(container, layer=None, depth=0):
    """All entities with the layer they count to: those of blocks on layer 0 lie on the layer of the block."""
    for entity in container:
        own = entity.dxf.layer if layer is None or entity.dxf.layer != "0" else layer
        if entity.dxftype() != "INSERT":
            yield entity, own
        elif depth < MAX_BLOCKS:
            inserts = list(entity.multi_insert()) if entity.mcount > 1 else [entity]
            parts = [part for insert in inserts for part in insert.virtual_entities()]
            yield from entities_of(parts, own, depth + 1) if parts else [(entity, own)]


def shape_of(entity, tolerance):
    """The shape of an entity. Raises NotTaken with what it is instead."""
    reader = READERS.get(entity.dxftype())
    if reader is None:
        raise NotTaken("block without lines in it" if entity.dxftype() == "INSERT" else entity.dxftype())
    return reader(entity, tolerance)


def _line(entity, tolerance):
    return Shape("path", np.array([_xy(entity.dxf.start), _xy(entity.dxf.end)]))


def _circle(entity, tolerance):
    to_world, _ = _plane(entity)
    return Shape("circle", to_world([_xy(entity.dxf.center)]), float(entity.dxf.radius))


def _arc(entity, tolerance):
    to_world, _ = _plane(entity)
    start, end = (math.radians(angle) for angle in (entity.dxf.start_angle, entity.dxf.end_angle))
    angle = (end - start) % FULL_TURN or FULL_TURN
    points = to_world(arc(_xy(entity.dxf.center), entity.dxf.radius, start, angle, tolerance))
    return Shape("ring" if angle == FULL_TURN else "path", points)


def _ellipse(entity, tolerance):
    major, up = np.array(entity.dxf.major_axis.xyz), np.array(entity.dxf.extrusion.xyz)
    minor = np.cross(up / np.linalg.norm(up), major) * entity.dxf.ratio
    if abs(major[2]) + abs(minor[2]) > 1e-9 * np.linalg.norm(major):
        raise NotTaken("ELLIPSE that is tilted out of the plane")
    start, end = entity.dxf.start_param, entity.dxf.end_param
    angle = (end - start) % FULL_TURN
    is_whole = angle < 1e-9 or FULL_TURN - angle < 1e-9
    points = ellipse(_xy(entity.dxf.center), major[:2], minor[:2], start, FULL_TURN if is_whole else angle, tolerance)
    return Shape("ring" if is_whole else "path", points)


def _light_polyline(entity, tolerance):
    corners = [(x, y) for x, y, _ in entity.get_points("xyb")]
    return _polyline_of(entity, corners, [bulge for _, _, bulge in entity.get_points("xyb")], entity.closed, tolerance)


def _heavy_polyline(entity, tolerance):
    if not (entity.is_2d_polyline or entity.is_3d_polyline):
        raise NotTaken("POLYLINE that is a mesh")
    vertices = [v for v in entity.vertices if not v.dxf.flags & 16]    # 16: a control point of a spline
    corners = [_xy(v.dxf.location) for v in vertices]
    bulges = [v.dxf.get("bulge", 0.0) if entity.is_2d_polyline else 0.0 for v in vertices]
    return _polyline_of(entity, corners, bulges, entity.is_closed, tolerance)


def _polyline_of(entity, corners, bulges, is_closed, tolerance):
    is_flat = entity.dxftype() == "POLYLINE" and entity.is_3d_polyline
    to_world, turn = (np.array, 1) if is_flat else _plane(entity)
    if len(corners) < 2:
        raise NotTaken(f"{entity.dxftype()} with one corner")
    corners = to_world(corners)
    following = [*corners[1:], corners[0]] if is_closed else corners[1:]
    points = [corners[:1]]
    for p, q, bulge in zip(corners, following, bulges):
        points.append(bulged(p, q, turn * bulge, tolerance)[1:])
    points = np.concatenate(points)
    if is_closed:
        return Shape("ring", points[:-1])
    # Some programs draw a ring as an open polyline that ends where it begins.
    return Shape("ring", points[:-1]) if len(points) > 3 and (points[0] == points[-1]).all() else Shape("path", points)


def _spline(entity, tolerance):
    points = np.array([_xy(p) for p in entity.construction_tool().flattening(tolerance, segments=8)])
    is_ring = len(points) > 3 and (entity.closed or np.hypot(*(points[0] - points[-1])) == 0)
    if is_ring and np.hypot(*(points[0] - points[-1])) <= tolerance:
        points = points[:-1]
    return Shape("ring" if is_ring else "path", points)


def _xy(point):
    return float(point[0]), float(point[1])


def _plane(entity):
    """How points of the plane of an entity become points of the drawing, and whether turns keep their sense (1 or -1)."""
    x, y, z = entity.dxf.get("extrusion", (0, 0, 1))
    if abs(x) + abs(y) > 1e-9 * abs(z):
        raise NotTaken(f"{entity.dxftype()} that is tilted out of the plane")
    sign = 1 if z > 0 else -1
    return lambda points: np.array([(sign * p[0], p[1]) for p in points], float), sign


READERS = {"LINE": _line, "CIRCLE": _circle, "ARC": _arc, "ELLIPSE": _ellipse, "LWPOLYLINE": _light_polyline,
           "POLYLINE": _heavy_polyline, "SPLINE": _spline}
