#!/usr/bin/env python3
"""Writes the body files and the stone of inputs/convex: where the bodies of a scene are, one table per shape.

    scripts/convex-scenes.py [FOLDER]          default: inputs/convex

Lengths in m. Every number follows from the constants below; the same call writes the same bytes.
"""
import math
import pathlib
import random
import sys

ROUNDING = 1e-3  # of cards [m]


def about(axis, angle):
    """Quaternion (w, x, y, z) of a turn about the axis with this number."""
    turn = [math.cos(angle / 2), 0.0, 0.0, 0.0]
    turn[1 + axis] = math.sin(angle / 2)
    return turn


def write(path, what, rows):
    lines = [f"# {what}; scripts/convex-scenes.py writes this file", "x,y,z,qw,qx,qy,qz"]
    for position, turn in rows:
        lines.append(",".join(f"{0.0 + round(value, 12):.12g}" for value in [*position, *turn]))
    path.write_text("\n".join(lines) + "\n")


# ---- house of cards -------------------------------------------------------------------------------------------

LENGTH, THICKNESS, LEAN, STOREYS = 2.5, 0.02, math.radians(65), 5


def leaning(x, z):
    """The two cards of a tent whose centres are x to the left and right of its middle."""
    return [((-x, z), about(1, -LEAN)), ((x, z), about(1, LEAN))]


def house(pitch, tent_at, bridge_at, tilt):
    """Cards of all tents, bottom first and left to right, then of all bridges. `tent_at(storey)`: centre of the right card
    relative to the middle of its tent; `bridge_at(storey)`: height of the bridges under this storey."""
    tents, bridges = [], []
    for storey in range(STOREYS):
        n = STOREYS - storey
        for j in range(n):
            middle = (j - 0.5 * (n - 1)) * pitch
            for (x, z), turn in leaning(*tent_at(storey)):
                tents.append(((middle + x, 0, z), turn))
            if storey > 0:
                bridges.append(((middle, 0, bridge_at(storey)), about(1, tilt)))
    return tents, bridges


def tight_house():
    """All gaps 1 mm, the feet of neighbouring tents 5 cm apart, bridges end to end: shorter than the other cards."""
    gap, between_feet = 1e-3, 0.05
    along, across = LENGTH / 2 - ROUNDING, THICKNESS / 2 - ROUNDING
    half_height = along * math.sin(LEAN) + across * math.cos(LEAN) + ROUNDING
    half_width = along * math.cos(LEAN) + across * math.sin(LEAN) + ROUNDING
    pitch = gap + 4 * half_width + between_feet
    storey_height = 2 * half_height + 2 * gap + THICKNESS
    tents, bridges = house(
        pitch, lambda storey: (gap / 2 + half_width, storey * storey_height + gap + half_height),
        lambda storey: storey * storey_height - THICKNESS / 2, 0.0)
    return tents, bridges, pitch - gap


def generator_house():
    """Numbers of the scene generator card_house.py of the program Rigid-IPC (MIT licence): half gap 0.55, angles 65 and -1
    degrees, heights from tan(65 deg) and tan(3 deg). Bridges are as long as the other cards and lie like shingles."""
    half_gap = 0.55
    pitch = 4 * half_gap
    storey_height = (math.tan(LEAN) + math.tan(math.radians(3))) * pitch / 2
    tents, bridges = house(pitch, lambda storey: (half_gap, (storey + 0.5) * storey_height),
                           lambda storey: storey * storey_height, math.radians(1))
    return tents, bridges, LENGTH


def write_houses(folder):
    for name, (tents, bridges, length) in (("tight", tight_house()), ("generator", generator_house())):
        write(folder / f"cards_{name}_tents.csv", f"house of cards, geometry '{name}': cards that lean, the top two last", tents)
        write(folder / f"cards_{name}_bridges.csv",
              f"house of cards, geometry '{name}': cards that lie, {length:.6f} m long", bridges)


# ---- wall -----------------------------------------------------------------------------------------------------

def write_wall(folder):
    """Ten rows of ten bricks in running bond; every other row begins and ends with half a brick."""
    length, depth, joint = 0.2, 0.1, 1e-3
    pitch = length + joint
    bricks, halves = [], []
    for row in range(10):
        z = (row + 0.5) * depth
        shifted = row % 2
        for k in range(10 - shifted):
            bricks.append(((0, (k - 4.5 + 0.5 * shifted) * pitch, z), about(2, math.pi / 2)))
        if shifted:
            for side in (-1, 1):
                halves.append(((0, side * (5 * pitch - 0.25 * pitch), z), about(2, math.pi / 2)))
    write(folder / "wall_bricks.csv", "wall of ten rows: whole bricks", bricks)
    write(folder / "wall_halves.csv", "wall of ten rows: half bricks at the ends of every other row", halves)


# ---- dominoes -------------------------------------------------------------------------------------------------

def write_dominoes(folder):
    """A spiral: dominoes 48 mm high and 7.5 mm thick stand one every 24 mm; each faces along the curve."""
    height, step, count = 0.048, 0.024, 120
    inner, growth = 0.08, 0.05 / (2 * math.pi)  # the arms are 50 mm apart
    angle, rows = 0.0, []
    for _ in range(count):
        radius = inner + growth * angle
        heading = angle + math.atan2(radius, growth)  # of the tangent
        rows.append(((radius * math.cos(angle), radius * math.sin(angle), height / 2), about(2, heading)))
        angle += step / math.hypot(radius, growth)
    write(folder / "dominoes_first.csv", "the domino that is pushed, at the inner end of a spiral", rows[:1])
    write(folder / "dominoes.csv", "dominoes in a spiral", rows[1:])


# ---- stone ----------------------------------------------------------------------------------------------------

def corners_of_stone():
    """Points on a lump with three unlike axes, as far from each other as can be had from a few hundred tries."""
    chance = random.Random(7)
    chosen = []
    while len(chosen) < 40:
        best, farthest = None, -1.0
        for _ in range(60):
            direction = [chance.gauss(0, 1) for _ in range(3)]
            size = math.hypot(*direction)
            point = [axis * value / size for axis, value in zip((10e-3, 8e-3, 6e-3), direction)]
            distance = min((math.dist(point, other) for other in chosen), default=1.0)
            if distance > farthest:
                best, farthest = point, distance
        chosen.append(best)
    return [[round(value, 6) for value in point] for point in chosen]


def minus(a, b):
    return [p - q for p, q in zip(a, b)]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def dot(a, b):
    return sum(p * q for p, q in zip(a, b))


def hull(points):
    """Triangles of the convex hull, counter-clockwise from outside: all triples with no point in front. For a few points."""
    n, faces = len(points), []
    for i in range(n):
        for j in range(i + 1, n):
            for k in range(j + 1, n):
                a, b, c = points[i], points[j], points[k]
                normal = cross(minus(b, a), minus(c, a))
                sides = [dot(normal, minus(p, a)) for m, p in enumerate(points) if m not in (i, j, k)]
                if all(side < 0 for side in sides):
                    faces.append((i, j, k))
                elif all(side > 0 for side in sides):
                    faces.append((i, k, j))
    return faces


def write_stone(folder):
    points = corners_of_stone()
    lines = ["solid stone"]
    for face in hull(points):
        a, b, c = (points[i] for i in face)
        normal = cross(minus(b, a), minus(c, a))
        size = math.hypot(*normal)
        lines.append("facet normal " + " ".join(f"{value / size:.6f}" for value in normal))
        lines.append("outer loop")
        lines.extend("vertex " + " ".join(f"{1000 * value:.3f}" for value in p) for p in (a, b, c))
        lines.extend(["endloop", "endfacet"])
    (folder / "stone.stl").write_text("\n".join(lines + ["endsolid stone"]) + "\n")


def main():
    here = pathlib.Path(__file__).resolve().parent.parent
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "inputs" / "convex"
    write_houses(folder)
    write_wall(folder)
    write_dominoes(folder)
    write_stone(folder)


if __name__ == "__main__":
    main()
