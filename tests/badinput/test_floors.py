"""Floors and connectors that cannot be: one message with the place and what would do, on any number of ranks."""
from refusal import refused

DECK = """\
[simulation]
title = "house"
dimension = 2
scheme = "crowd"
end_time = "1 s"

[time]
step = "0.05 s"

[floors.ground]
elevation = "0 m"
walkable = { polygon = [[0, 0], [4, 0], [4, 6], [0, 6]] }
[floors.upper]
elevation = "3 m"
walkable = { polygon = [[10, 0], [14, 0], [14, 6], [10, 6]] }

[exits.door]
floor = "ground"
line = [[0, 2], [0, 4]]
[populations.crowd]
floor = "upper"
count = 5
"""
STAIR = """\
[connectors.stair]
polygon = [[4, 2], [10, 2], [10, 4], [4, 4]]
bottom = { floor = "ground", line = [[4, 2], [4, 4]] }
top = { floor = "upper", line = [[10, 2], [10, 4]] }
"""


def refused_deck(folder, text, words):
    path = folder / "house.toml"
    path.write_text(text)
    refused(folder, "check", path, words=words)


def test_lines_off_the_border(folder):
    refused_deck(folder, DECK + STAIR.replace("line = [[4, 2], [4, 4]]", "line = [[4.5, 2], [4.5, 4]]"),
                 words=["house.toml:25:", "[floors.ground]", "connector outside the area", "0.5 m away"])
    refused_deck(folder, DECK + STAIR.replace("line = [[10, 2], [10, 4]]", "line = [[12, 0], [13.5, 0]]"),
                 words=["house.toml:26:", "[connectors.stair]", "not on the boundary"])
    refused_deck(folder, DECK + STAIR.replace("[[4, 2], [10, 2], [10, 4], [4, 4]]",
                                              "[[4, 2], [4, 4], [2, 4], [2, 2]]"),
                 words=["house.toml:25:", "same side of the line"])
    refused_deck(folder, DECK + STAIR.replace("line = [[4, 2], [4, 4]]", "line = [[4, 2], [4, 2.3]]"),
                 words=["house.toml:24:", '"stair" is 0.3 m wide', "5 people", "the widest route is 0.3 m wide at (4, 2.15)"])


def test_two_connectors_on_one_line(folder):
    other = STAIR.replace("stair", "ramp").replace("[[4, 2], [4, 4]]", "[[4, 3], [4, 4]]")
    refused_deck(folder, DECK + STAIR + other, words=["house.toml:29:", "[floors.ground]", "another connector"])


def test_ends_that_do_not_fit(folder):
    refused_deck(folder, DECK + STAIR.replace('floor = "ground"', 'floor = "grond"'),
                 words=["house.toml:25:", "grond", "ground"])
    refused_deck(folder, DECK + STAIR.replace('floor = "ground"', 'floor = "upper"'), words=["both ends"])
    refused_deck(folder, DECK.replace('"3 m"', '"-3 m"') + STAIR, words=["house.toml:26:", "3 m below", "exchange"])
    refused_deck(folder, DECK.replace('"3 m"', '"12 m"') + STAIR, words=["house.toml:26:", "60 degrees"])
    refused_deck(folder, DECK.replace('"3 m"', '"0 m"') + STAIR, words=["one elevation", "level"])
    refused_deck(folder, DECK + STAIR + 'type = "level"\n', words=["house.toml:27:", "ramp"])
    refused_deck(folder, DECK + STAIR + 'type = "escalator"\n', words=["speed", "missing"])
    refused_deck(folder, DECK + STAIR + 'type = "escalator"\nspeed = 0.5\n', words=["direction", "missing"])
    refused_deck(folder, DECK + STAIR + 'speed = 0.5\n', words=["house.toml:27:", "'speed'", "a key of type 'escalator', not of 'stair'"])
    refused_deck(folder, DECK + STAIR + 'type = "lift"\n', words=["house.toml:27:", "lift", "stair"])


def test_floors_that_are_not_named(folder):
    refused_deck(folder, DECK.replace('floor = "upper"\ncount', "count") + STAIR,
                 words=["house.toml:20:", "which floor", "upper", "stair"])
    refused_deck(folder, DECK.replace('floor = "upper"\ncount', 'floor = "uper"\ncount') + STAIR,
                 words=["house.toml:21:", "uper", "upper"])
    refused_deck(folder, DECK.replace('floor = "ground"\nline', "line") + STAIR,
                 words=["house.toml:17:", "which floor"])
    one = DECK[:DECK.index("[floors.ground]")] + "[walkable]\npolygon = [[0, 0], [4, 0], [4, 6], [0, 6]]\n"
    refused_deck(folder, one + '[exits.door]\nfloor = "ground"\nline = [[0, 2], [0, 4]]\n',
                 words=["house.toml:13:", "no [floors.NAME]"])
    refused_deck(folder, one + STAIR, words=["connectors join floors"])
    refused_deck(folder, DECK + "[walkable]\npolygon = [[0, 0], [4, 0], [4, 6], [0, 6]]\n",
                 words=["house.toml:23:", "[floors.NAME.walkable]"])


def test_measures_and_obstacles_on_floors(folder):
    measures = {"line_flow": "line = [[1, 0], [1, 6]]\n", "one_dimensional": "", "profile": "bins = 2\n", "solid_fraction": "",
                "coordination": "", "fabric": "", "flow": "point = [1, 0]\nnormal = [1, 0]\n",
                "window": "lower = [0, 0]\nupper = [2, 2]\n"}
    one = DECK[:DECK.index("[floors.ground]")] + "[walkable]\npolygon = [[0, 0], [4, 0], [4, 6], [0, 6]]\n" \
        "[populations.crowd]\ncount = 5\n[analysis]\nevery = 1\n"
    for kind, keys in measures.items():
        table = f'[measures.one]\ntype = "{kind}"\n{keys}'
        house = DECK + STAIR + '[analysis]\nevery = 1\n' + table
        refused_deck(folder, house, words=["house.toml:29:", "which floor", "upper", "stair"])
        refused_deck(folder, house + 'floor = "uper"\n', words=["house.toml:", "uper", "upper"])
        refused_deck(folder, one + table + 'floor = "upper"\n', words=["house.toml:", "no [floors.NAME]"])
    post = '[obstacles.post]\ntype = "disk"\ncenter = [2, 3]\nradius = 0.3\nfloor = '
    refused_deck(folder, DECK + STAIR + post + '"uper"\n', words=["house.toml:31:", "uper", "upper"])
    refused_deck(folder, one + post + '"upper"\n', words=["house.toml:", "no [floors.NAME]"])


def test_speeds_by_age(folder):
    by_age = DECK + STAIR + 'factors = "fruin"\n'
    refused_deck(folder, by_age, words=["house.toml:24:", "go by age", "[agents.person]", "30 to 50"])
    refused_deck(folder, by_age + "up_factor = 0.5\n", words=["house.toml:28:", "remove up_factor"])
    refused_deck(folder, by_age + 'type = "ramp"\n', words=["house.toml:27:", "'factors'", "a key of type 'stair', not of 'ramp'"])
    refused_deck(folder, by_age.replace("fruin", "frun"), words=["house.toml:27:", "frun", "fruin"])
    refused_deck(folder, by_age + '[agents.one]\nage = "40"\n', words=["house.toml:29:", "30 to 50"])


def test_what_one_floor_only_can(folder):
    refused_deck(folder, DECK + STAIR + '[crowd]\nmodel = "pbd"\n', words=["pbd", "one floor"])
    refused_deck(folder, DECK + STAIR + "[domain]\nperiodic = [false, true]\n", words=["periodic", "several floors"])


def test_floors_without_a_route(folder):
    refused_deck(folder, DECK, words=['"upper"', "no route"])
    refused_deck(folder, DECK + STAIR + 'type = "escalator"\nspeed = 0.5\ndirection = "up"\n',
                 words=["no route", "5 people"])


def test_lines_that_somebody_spans(folder):
    """0.3 m from line to line: who is before the one does not see who is behind the other."""
    short = DECK.replace('"3 m"', '"0 m"').replace("[[10, 0], [14, 0], [14, 6], [10, 6]]", "[[4.3, 0], [8.3, 0], [8.3, 6], [4.3, 6]]")
    refused_deck(folder, short + STAIR.replace("10, ", "4.3, ") + 'type = "level"\n',
                 words=["house.toml:24:", '"stair" is 0.3 m long from the line to "ground" to that to "upper"', "it takes 0.618 m"])
