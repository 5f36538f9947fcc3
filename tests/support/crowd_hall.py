"""A deck in which people do all that they can: a hall with a post, a door that opens and closes, one that lets few through;
people come in during the run, choose the quickest exit, avoid each other and the crowd, and stagger. Numbers of people and
the time are left to the test: DECK.format(count=250, limit=30, end="30 s")."""

DECK = """\
[simulation]
title = "hall with everything"
dimension = 2
scheme = "crowd"
end_time = "{end}"
seed = 11
[time]
step = "0.05 s"
[crowd]
noise = 0.02
[crowd.avoidance]
horizon = "1 s"
[decomposition]
block_cells = 1
[walkable]
polygon = [[0, 0], [16, 0], [16, 8], [0, 8]]
[walkable.obstacles.post]
circles = [[13, 4.6, 0.3]]
[exits.east]
line = [[16, 3.4], [16, 4.8]]
max_flow = "2 1/s"
[exits.west]
line = [[0, 3], [0, 5]]
open_from = [1, 8]
open_until = [5]
[zones.mud]
polygon = [[3, 1], [6, 1], [6, 7], [3, 7]]
speed_factor = 0.8
[journeys.leave]
[[journeys.leave.steps]]
choice = "quickest"
update = "1 s"
[navigation]
cell = "0.2 m"
[navigation.density_cost]
weight = 0.5
update = "1 s"
[agents.small]
[agents.large]
radius = {{ distribution = "uniform", min = 0.22, max = 0.28 }}
headway_time = "0.7 s"
[populations.crowd]
agents = ["small", "large"]
shares = [0.7, 0.3]
region = [[1, 1], [15, 1], [15, 7], [1, 7]]
count = {count}
premovement = {{ distribution = "uniform", min = 0, max = 3 }}
[sources.middle]
region = [[8, 2], [10, 2], [10, 3], [8, 3]]
rate = "2 1/s"
limit = {limit}
"""

# Settings that promise the same bits on any number of ranks.
MODELS = {"projection": (), "pbd": ("crowd.model=pbd",), "nsgs": ("crowd.solver.type=nsgs",)}

# A hall with one door and nobody in it.
ONE_DOOR = """\
[simulation]
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
