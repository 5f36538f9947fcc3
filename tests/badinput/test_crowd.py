"""People, exits and journeys that cannot be: one message with the place and what would do, on any number of ranks."""
from refusal import refused
from scree_program import run_ok

DECK = """\
[simulation]
title = "hall"
dimension = 2
scheme = "crowd"
end_time = "1 s"

[time]
step = "0.05 s"

[walkable]
polygon = [[0, 0], [10, 0], [10, 8], [0, 8]]

[exits.east]
line = [[10, 3], [10, 5]]
"""
CROWD = "[populations.crowd]\ncount = 50\n"


def refused_deck(folder, more, words, deck=DECK):
    path = folder / "hall.toml"
    path.write_text(deck + more)
    refused(folder, "check", path, words=words)


def test_people_who_do_not_fit(folder):
    refused_deck(folder, "[populations.crowd]\ncount = 1000\n",
                 words=["hall.toml:16:", "1000 people", "[populations.crowd]", "80 m2", "at most"])
    refused_deck(folder, "[populations.crowd]\ndensity = 8\n", words=["hall.toml:16:", "found no room", "at most"])
    refused_deck(folder, CROWD + "region = [[20, 0], [22, 0], [22, 2]]\n", words=["hall.toml:16:", "walkable"])


def test_populations_that_are_misspelt(folder):
    refused_deck(folder, "[populations.crowd]\n", words=["[populations.crowd]", "count or density"])
    refused_deck(folder, CROWD + 'agents = ["adlt"]\n[agents.adult]\n', words=["hall.toml:17:", "adlt", "adult"])
    refused_deck(folder, CROWD + 'journey = "leaf"\n', words=["hall.toml:17:", "leaf", "leave"])
    refused_deck(folder, CROWD + 'placement = "latice"\n', words=["latice", "lattice"])
    refused_deck(folder, CROWD + "region = [[0, 0], [2, 2], [2, 0], [0, 2]]\n", words=["meets itself"])


def test_agents_without_bounds(folder):
    refused_deck(folder, CROWD + '[agents.a]\nspeed = { distribution = "lognormal", median = 1.3, sigma = 0.2 }\n',
                 words=["hall.toml:18:", "max"])
    refused_deck(folder, CROWD + '[agents.a]\nradius = { distribution = "normal", mean = "0.2 m/s", deviation = 0.1 }\n',
                 words=["hall.toml:18:", "0.2 m/s"])


def test_sources(folder):
    source = "[sources.gate]\nregion = [[1, 1], [2, 1], [2, 2], [1, 2]]\n"
    refused_deck(folder, source, words=["[sources.gate]", "schedule or rate"])
    refused_deck(folder, source + "schedule = [[10, 2], [5, 0]]\n", words=["hall.toml:17:", "rise"])


def test_exits(folder):
    refused_deck(folder, CROWD + "[exits.odd]\nline = [[4, 4], [5, 4]]\n", words=["hall.toml:18:"])
    refused_deck(folder, CROWD + "[exits.odd]\n", words=["[exits.odd]", "line, polygon and color"])
    refused_deck(folder, CROWD + "[exits.odd]\nline = [[0, 3], [0, 4]]\nopen_from = [5]\nopen_until = [3]\n",
                 words=["hall.toml:", "rise"])


def test_journeys(folder):
    step = CROWD + "[[journeys.go.steps]]\n"
    refused_deck(folder, step + 'exits = ["eats"]\n', words=["hall.toml:18:", "eats", "east"])
    refused_deck(folder, step + 'choice = "weights"\nweights = [1, 2]\n', words=["one weight"])
    refused_deck(folder, step + 'waypoint = "gate"\n', words=["hall.toml:18:", "gate"])


def test_groups(folder):
    groups = CROWD + "[populations.crowd.groups]\n"
    refused_deck(folder, groups, words=["[populations.crowd.groups]", "sizes"])
    refused_deck(folder, groups + "sizes = []\n", words=["hall.toml:18:", "no size"])
    refused_deck(folder, groups + "sizes = [2, 2.5]\nshares = [1, 1]\n", words=["hall.toml:18:", "whole number", "2.5"])
    refused_deck(folder, groups + "sizes = [0]\n", words=["hall.toml:18:", "whole number"])
    refused_deck(folder, groups + "sizes = [2, 2]\nshares = [1, 1]\n", words=["hall.toml:18:", "twice"])
    refused_deck(folder, groups + "sizes = [2, 3]\n", words=["a share for each of the 2 sizes, not 0"])
    refused_deck(folder, groups + "sizes = [2, 3]\nshares = [1]\n", words=["hall.toml:19:", "2 sizes, not 1"])
    refused_deck(folder, groups + "sizes = [2, 3]\nshares = [0, 0]\n", words=["hall.toml:19:", "sum to 0"])
    refused_deck(folder, groups + "sizes = [51]\n", words=["hall.toml:18:", "group of 51", "50 people"])
    refused_deck(folder, groups.replace("count = 50", "density = 0.1") + "sizes = [9]\n",
                 words=["hall.toml:18:", "group of 9", "8 people"])
    refused_deck(folder, groups + "sizes = [2]\nwait_factor = 0\n", words=["hall.toml:19:", "wait_factor"])
    refused_deck(folder, groups + "sizes = [2]\nreach = 0\n", words=["hall.toml:19:", "reach"])
    refused_deck(folder, groups + 'sizes = [2]\nstay = "slow"\n', words=["hall.toml:19:", "slowest"])
    refused_deck(folder, groups + "sizes = [2]\n[[journeys.go.steps]]\nchoice = \"weights\"\nweights = [1]\n",
                 words=["hall.toml:17:", "share their exit", "weights"])


def test_queues(folder):
    def journey(queue, last='exits = ["east"]', more=""):
        return f"{CROWD}[[journeys.go.steps]]\nqueue = {{ {queue} }}\n{more}[[journeys.go.steps]]\n{last}\n"
    line, service = "line = [[8, 4], [5, 4]]", 'service = { distribution = "constant", value = 3 }'
    refused_deck(folder, journey(service), words=["hall.toml:18:", "line"])
    refused_deck(folder, journey(line), words=["hall.toml:18:", "service"])
    refused_deck(folder, journey(f"line = [[8, 4]], {service}"), words=["hall.toml:18:", "two corners"])
    refused_deck(folder, journey(f"line = [[8, 4], [8, 4]], {service}"), words=["hall.toml:18:", "two corners"])
    refused_deck(folder, journey(f"line = [[8, 4], [8, 9]], {service}"),
                 words=["hall.toml:18:", "place 8", "(8, 8.2)", "not walkable"])
    refused_deck(folder, journey(f'{line}, {service}, spacing = "0.3 m"'), words=["hall.toml:18:", "0.3 m apart", "0.398 m wide"])
    refused_deck(folder, journey(f"{line}, {service}, spacing = 1e-9"), words=["hall.toml:18:", "places"])
    refused_deck(folder, journey(f"{line}, {service}, servers = 7"), words=["hall.toml:18:", "6 places", "7 servers"])
    refused_deck(folder, journey(f"{line}, {service}, servers = 0"), words=["hall.toml:18:", "servers"])
    refused_deck(folder, journey(f"{line}, {service}, server = 2"), words=["hall.toml:18:", "server", "servers"])
    refused_deck(folder, journey(f"{line}, {service}", more="wait = 3\n"), words=["hall.toml:19:", "neither waypoint nor wait"])
    refused_deck(folder, journey(f"{line}, {service}", more='exits = ["east"]\n'), words=["hall.toml:19:", "queue has no exits"])
    refused_deck(folder, journey(f"{line}, {service}", last=f"queue = {{ {line}, {service} }}"),
                 words=["hall.toml:", "cannot end in a queue"])
    refused_deck(folder, journey(f'name = "a", {line}, {service}', last=f'queue = {{ name = "a", {line}, {service} }}'),
                 words=["hall.toml:20:", 'queue "a" already'])
    good = journey(f"{line}, {service}")
    refused_deck(folder, CROWD + '[measures.q]\ntype = "queue"\n[analysis]\nevery = 1\n', words=["hall.toml:", "no queue"])
    refused_deck(folder, good + '[measures.q]\ntype = "queue"\nqueue = "go_2"\n[analysis]\nevery = 1\n',
                 words=["hall.toml:23:", "go_2", "go_1"])


RING = DECK.replace("[[0, 0], [10, 0], [10, 8], [0, 8]]", "[[-2, 0], [12, 0], [12, 8], [-2, 8]]").replace(
    "[[10, 3], [10, 5]]", "[[4, 8], [6, 8]]") + "[domain]\nlower = [0, -1]\nupper = [10, 10]\nperiodic = [true, false]\n"


def test_places_across_periodic_faces(folder):
    "What reaches beyond a periodic face would count on its own side only."
    across = "[[9, 1], [11, 1], [11, 2], [9, 2]]\n"
    queue = '[[journeys.go.steps]]\nqueue = { line = [[11, 4], [8, 4]], service = { distribution = "constant", value = 3 } }\n'
    for table, more in (("[exits.odd]", "polygon = " + across), ("[waypoints.odd]", "polygon = " + across),
                        ("[zones.odd]", "speed_factor = 0.5\npolygon = " + across), ("[populations.odd]", "count = 1\nregion = " + across),
                        ("[sources.odd]", "rate = 1\nregion = " + across), ("[exits.odd]", "line = [[9, 0], [11, 0]]\n"),
                        ('the queue "go_1"', queue + '[[journeys.go.steps]]\nexits = ["east"]\n')):
        refused_deck(folder, CROWD + (f"{table}\n{more}" if table[0] == "[" else more),
                     words=["hall.toml:", table, "beyond the domain, 0 to 10 m along the periodic axis x"], deck=RING)
    post = CROWD + "[walkable.obstacles.post]\npolygon = [[9, 1], [11, 1], [11, 2], [9, 2]]\n"
    refused_deck(folder, post, words=["hall.toml:", "beyond the periodic face", "draw walls and obstacles on both sides"], deck=RING)
    (folder / "hall.toml").write_text(RING + post + "[walkable.obstacles.image]\npolygon = [[-1, 1], [1, 1], [1, 2], [-1, 2]]\n")
    run_ok("check", folder / "hall.toml", folder=folder)


def test_lengths_of_ways_that_zones_change(folder):
    guest = CROWD + '[agents.guest]\nknows = ["east"]\nnotices = 3\n'
    refused_deck(folder, guest + "[zones.mud]\npolygon = [[1, 1], [2, 1], [2, 2], [1, 2]]\nspeed_factor = 0.5\n",
                 words=["hall.toml:19:", "notices of [agents.guest]", "speed_factor of [zones.mud]"])
    refused_deck(folder, guest + "[navigation.density_cost]\nweight = 1\n", words=["hall.toml:19:", "notices of [agents.guest]", "[navigation.density_cost]"])
