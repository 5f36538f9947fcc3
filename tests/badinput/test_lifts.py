"""Lifts that cannot be: one message with the place and what would do, on any number of ranks."""
from refusal import refused
from scree_program import check_in, scree

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
walkable = { polygon = [[0, 0], [4, 0], [4, 6], [0, 6]] }

[exits.door]
floor = "ground"
line = [[0, 2], [0, 4]]
[populations.crowd]
floor = "upper"
count = 5
"""
LIFT = """\
[lifts.lift]
cabin = [[4, 2], [6, 2], [6, 4], [4, 4]]
door = [[4, 2.5], [4, 3.5]]
floors = ["ground", "upper"]
to = "ground"
speed = "1 m/s"
"""


def refused_lift(folder, old, new, words, more=""):
    assert old in LIFT
    path = folder / "house.toml"
    path.write_text(DECK + LIFT.replace(old, new) + more)
    refused(folder, "check", path, words=words)


def test_the_lift_of_these_tests_is_one(folder):
    path = folder / "house.toml"
    path.write_text(DECK + LIFT)
    result = scree("check", path, folder=folder)
    assert result.code == 0, result
    check_in("valid", result.stdout, "what check says")


def test_doors_off_the_border(folder):
    refused_lift(folder, "[[4, 2.5], [4, 3.5]]", "[[4.5, 2], [4.5, 4]]",
                 ["house.toml:25:", "[lifts.lift]", "not on the boundary", "0.5 m away"])
    refused_lift(folder, "[[4, 2.5], [4, 3.5]]", "[[6, 2.5], [6, 3.5]]",
                 ["house.toml:25:", "[floors.ground]", "not on the boundary", "2 m away"])
    refused_lift(folder, "[[4, 2.5], [4, 3.5]]", "[[4, 2.5], [4, 2.7]]", ["house.toml:24:", '"lift" is 0.2 m wide', "nobody fits in", "5 people have no route", "(4, 2.6)"])
    refused_lift(folder, "[[4, 2.5], [4, 3.5]]", "[[4, 2.5]]", ["house.toml:25:", "door"])
    refused_lift(folder, "[[4, 2], [6, 2], [6, 4], [4, 4]]", "[[4, 2], [4.2, 2], [4.2, 4], [4, 4]]",
                 ["house.toml:24:", '"lift" is 0.2 m wide', "nobody fits in", "5 people have no route"])


def test_cabins_that_overlap(folder):
    refused_lift(folder, "[[4, 2], [6, 2], [6, 4], [4, 4]]", "[[4, 2], [4, 4], [2, 4], [2, 2]]",
                 ["house.toml:24:", "4 m2", "[floors.ground]", "shaft"])
    other = LIFT.replace("lifts.lift", "lifts.other").replace("[[4, 2.5], [4, 3.5]]", "[[4, 4.1], [4, 5]]")
    refused_lift(folder, "[lifts.lift]", "[lifts.lift]",
                 ["house.toml:30:", "[lifts.lift]", "[lifts.other]", "overlap by 2 m2"],
                 more=other.replace("[[4, 2], [6, 2], [6, 4], [4, 4]]", "[[4, 3], [6, 3], [6, 5], [4, 5]]"))
    refused_lift(folder, "[lifts.lift]", "[lifts.upper]", ["house.toml:23:", '"upper"', "another name"])


def test_floors_that_do_not_fit(folder):
    refused_lift(folder, '["ground", "upper"]', '["ground"]', ["house.toml:26:", "two floors or more, not 1"])
    refused_lift(folder, '["ground", "upper"]', '["ground", "uper"]', ["house.toml:26:", "uper", "upper"])
    refused_lift(folder, '["ground", "upper"]', '["ground", "upper", "upper"]', ["house.toml:26:", "listed twice"])
    refused_lift(folder, 'to = "ground"', 'to = "cellar"', ["house.toml:27:", "cellar", "none of the floors", "ground"])
    refused_lift(folder, 'to = "ground"\n', "", ["to", "missing"])
    path = folder / "flat.toml"
    path.write_text(DECK.replace('"3 m"', '"0 m"') + LIFT)
    refused(folder, "check", path, words=["flat.toml:26:", "cannot stop at both"])
    one = DECK[:DECK.index("[floors.ground]")] + "[walkable]\npolygon = [[0, 0], [4, 0], [4, 6], [0, 6]]\n"
    path.write_text(one + LIFT)
    refused(folder, "check", path, words=["lifts join floors"])


def test_numbers_that_cannot_be(folder):
    refused_lift(folder, 'speed = "1 m/s"', 'speed = "1 m/s"\ncapacity = 0', ["house.toml:29:", "capacity"])
    refused_lift(folder, 'speed = "1 m/s"', "", ["speed", "missing"])
    refused_lift(folder, 'speed = "1 m/s"', 'speed = "0 m/s"', ["house.toml:28:", "speed"])
    refused_lift(folder, 'speed = "1 m/s"', 'speed = "1 m/s"\ndwell = 0', ["house.toml:29:", "dwell"])
    refused_lift(folder, 'speed = "1 m/s"', 'speed = "1 m/s"\nfrom = "upper"', ["house.toml:29:", "from"])


def test_nobody_walks_to_a_place_in_a_lift(folder):
    path = folder / "house.toml"
    path.write_text(DECK + LIFT + '[waypoints.seat]\nfloor = "lift"\npolygon = [[5, 2], [6, 2], [6, 4], [5, 4]]\n')
    refused(folder, "check", path, words=["house.toml:31:", "waypoints.seat", 'lift "lift"', "floors only"])


def test_a_capacity_without_room_is_reported(folder):
    path = folder / "house.toml"
    path.write_text(DECK + LIFT + "capacity = 60\n")
    result = scree("check", path, folder=folder)
    check_in("will leave with fewer", result.stdout + result.stderr, "what check says")


def test_a_lift_that_leads_the_wrong_way(folder):
    refused_lift(folder, 'to = "ground"', 'to = "upper"', ["no route", "5 people"])


def test_people_who_are_in_a_lift_from_the_start(folder):
    inside = "region = [[4.2, 2], [6, 2], [6, 4], [4.2, 4]]\n"
    refused_lift(folder, "speed", "speed", ["house.toml:32:", "[sources.in]", "[lifts.lift]", "capacity"], more='[sources.in]\nfloor = "lift"\nrate = 1\n' + inside)
    refused_lift(folder, 'speed = "1 m/s"', 'speed = "1 m/s"\ncapacity = 3', ["house.toml:24:", "4 people start in [lifts.lift]", "capacity is 3"],
                 more='[populations.in]\nfloor = "lift"\ncount = 4\n' + inside)
