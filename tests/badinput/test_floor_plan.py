"""Plans that nobody can walk in: one message with the place in deck and plan, exit code 2, on any number of ranks."""
import json

from refusal import refused

DECK = """\
[simulation]
dimension = 2
scheme = "crowd"
end_time = "5 s"
[time]
step = "0.05 s"
[populations.crowd]
count = 10
"""
ROOM = 'wkt = "POLYGON((0 0, 8 0, 8 5, 0 5, 0 0))"\n'


def refused_plan(folder, plan, words):
    (folder / "hall.toml").write_text(DECK + "[walkable]\n" + plan)
    refused(folder, "check", folder / "hall.toml", words=words)


def test_no_plan_or_two(folder):
    (folder / "hall.toml").write_text(DECK)
    refused(folder, "check", folder / "hall.toml", words=["hall.toml:1:1", "'walkable'"])
    refused_plan(folder, "", words=["hall.toml:9:1", "give wkt, file or polygon"])
    refused_plan(folder, ROOM + "polygon = [[0, 0], [1, 0], [0, 1]]\n", words=["wkt and polygon are given"])


def test_rings_that_are_open_or_cross_themselves(folder):
    refused_plan(folder, 'wkt = "POLYGON((0 0, 8 0, 8 5, 0 5))"\n',
                 words=["hall.toml:10:1", "ring 1 of 1 is open", "(0, 0)", "(0, 5)"])
    refused_plan(folder, 'wkt = "POLYGON((0 0, 4 4, 4 0, 0 4, 0 0))"\n', words=["Self-intersection at (2, 2)"])


def test_files(folder):
    refused_plan(folder, 'file = "none.wkt"\n', words=["hall.toml:10:1", "none.wkt' is not there"])
    refused_plan(folder, 'file = "hall.dxf"\n', words=["hall.dxf", ".wkt, .geojson, .json or .png"])
    lines = {"type": "MultiLineString", "coordinates": [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]}
    (folder / "lines.geojson").write_text(json.dumps(lines))
    refused_plan(folder, 'file = "lines.geojson"\n',
                 words=["lines.geojson: holds 2 lines, the first one starts at (1, 2)"])
    (folder / "hall.png").write_bytes(b"no image")
    refused_plan(folder, 'file = "hall.png"\npixel = 0.1\n', words=["hall.png: cannot be read as PNG"])
    refused_plan(folder, 'file = "hall.png"\n', words=["hall.toml:9:1", "size of a pixel is missing"])


def test_a_message_spells_control_characters_out(folder):
    (folder / "hall.wkt").write_bytes(b"\x1b[2JPOLYGON((0 0, 8 0, 8 5, 0 0))")
    refused_plan(folder, 'file = "hall.wkt"\n', words=["hall.wkt", "\\x1b[2J"])


def test_keys_of_another_form(folder):
    refused_plan(folder, ROOM + 'pixel = "0.1 m"\n', words=["hall.toml:11:1", "'pixel' is a key of images only"])


def test_obstacles(folder):
    post = ROOM + "[walkable.obstacles.post]\n"
    refused_plan(folder, post, words=["hall.toml:11:", "give polygon or circles"])
    refused_plan(folder, post + "circles = [[9, 2, 0.5]]\n", words=["circle 1 at (9, 2)", "wholly outside"])


def test_exits_that_open_nothing(folder):
    exit_at = ROOM + "[exits.east]\nline = "
    refused_plan(folder, exit_at + "[[9, 2], [9, 3]]\n",
                 words=["hall.toml:12:1", "exit outside the area", "(8, 2) is 1 m away"])
    refused_plan(folder, ROOM + '[exits.east]\ncolor = "#00ff00"\n', words=["the plan is no image"])
