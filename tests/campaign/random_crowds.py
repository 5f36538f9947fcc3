"""Random decks of people: a hall with doors, or a building of two to four floors that stairs, ramps, escalators, bridges and
lifts join."""

STEP = 0.05
RUN = 6.0       # of people in a building, so that some of them get to another floor [s]


def rectangle(x0, y0, x1, y1):
    return [[x0, y0], [x1, y0], [x1, y1], [x0, y1]]


def crowd(rng):
    """A deck without outputs."""
    deck, size, floors = building(rng) if rng.random() < 0.4 else hall(rng)
    journeys(rng, deck, size, floors)
    for table in deck["populations"].values():
        if rng.random() < 0.3:
            table["premovement"] = {"distribution": "uniform", "min": 0.0, "max": 1.0}
        if table["count"] >= 5 and rng.random() < 0.3:
            table["groups"] = groups(rng)
    deck["crowd"] = {"noise": rng.choice([0.0, 0.02])}
    if floors == [None] and rng.random() < 0.3:
        deck["crowd"]["model"] = "pbd"
    elif rng.random() < 0.2:
        deck["crowd"]["solver"] = {"type": "nsgs"}
    if rng.random() < 0.3:
        deck["crowd"]["avoidance"] = {"horizon": 1.0}
    if rng.random() < 0.2:
        deck["navigation"]["density_cost"] = {"weight": 0.5, "update": 0.5}
    deck["analysis"] = {"every_steps": rng.choice([1, 5])}
    return deck


def on(floor, table):
    """The table with the floor that it is on, in a building of several."""
    return table if floor is None else table | {"floor": floor}


def head(rng, end_time):
    """What every deck has."""
    return {"simulation": {"title": "random", "dimension": 2, "scheme": "crowd", "seed": rng.randrange(1000), "end_time": end_time},
            "time": {"step": STEP}, "decomposition": {"block_cells": rng.choice([1, 2, "auto"])},
            "navigation": {"cell": rng.choice([0.1, 0.2])}}


def add_doors(rng, deck, floor, length, width, below=False):
    """Exits of a floor, at its right end or below it and at its left end, and measures. Returns where the middle of the first
    one is along its wall."""
    door = rng.uniform(0.9, 2)
    at = rng.uniform(0.5, (length if below else width) - door - 0.5)

    def across(away):
        """The line of the door, so far from it into the floor."""
        return [[at, away], [at + door, away]] if below else [[length - away, at], [length - away, at + door]]

    deck["exits"] = {"door": on(floor, {"line": across(0)})}
    if rng.random() < 0.4:
        deck["exits"]["back"] = on(floor, {"line": [[0, 1], [0, 2.5]], "open_from": [0.5], "open_until": [2.0]})
    if rng.random() < 0.3:
        deck["exits"]["door"]["max_flow"] = 2.0
    deck["measures"] = {"inside": {"type": "count"}, "line": {"type": "line_flow", "line": across(0.5)}}
    return at + door / 2


def hall(rng):
    """One floor. Returns the deck, its size and its floors: none with a name."""
    length, width = rng.uniform(6, 14), rng.uniform(4, 8)
    deck = head(rng, 3.0)
    ring = [*rectangle(0, 0, length, width), [0, 0]]
    deck["walkable"] = {"wkt": f"POLYGON(({', '.join(f'{x} {y}' for x, y in ring)}))"}
    middle = add_doors(rng, deck, None, length, width)
    deck["populations"] = {"all": {"count": rng.randrange(5, 60)}}
    if rng.random() < 0.4:
        deck["walkable"]["obstacles"] = {"post": {"circles": [[0.7 * length, middle, 0.3]]}}
    if rng.random() < 0.4:
        deck["sources"] = {"in": {"region": rectangle(1, 1, 2, 2), "rate": rng.uniform(0.5, 4), "limit": 6}}
    if rng.random() < 0.3:
        deck["zones"] = {"mud": {"polygon": rectangle(2, 0, 4, width), "speed_factor": 0.6}}
    return deck, (length, width), [None]


# ---- buildings

def building(rng):
    """Floors above each other, or side by side. A route leads down from each, the exits are on the lowest."""
    n = rng.randrange(2, 5)
    floors = [f"floor_{k}" for k in range(n)]
    deck = head(rng, RUN)
    is_stack = rng.random() < 0.7
    size = (stack if is_stack else row)(rng, deck, floors)
    length, width = size
    add_doors(rng, deck, floors[0], length, width, below=not is_stack)
    deck["populations"] = {f"on_{floor}": {"floor": floor, "count": rng.randrange(3, 30)} for floor in floors}
    if rng.random() < 0.3:
        name = rng.choice([*deck["connectors"], *deck.get("lifts", {})])
        deck["populations"]["between"] = {"floor": name, "count": rng.randrange(1, 4)}
    origin = deck["floors"][floors[-1]]["walkable"]["polygon"][0][0]
    if rng.random() < 0.4:
        deck["sources"] = {"in": {"floor": floors[-1], "region": rectangle(origin + 0.4, 0.5, origin + 1.6, 2),
                                  "rate": rng.uniform(0.5, 4), "limit": 6}}
    if rng.random() < 0.3:
        deck["zones"] = {"mud": {"floor": floors[-1], "polygon": rectangle(origin, 0, origin + 3, width), "speed_factor": 0.6}}
    if rng.random() < 0.3:
        deck["zones"] = deck.get("zones", {}) | {"worn": {"floor": next(iter(deck["connectors"])), "speed_factor": 0.8,
                                                         "polygon": rectangle(-1, -1, 200, 20)}}
    deck["measures"]["window"] = {"type": "window", "floor": rng.choice(floors[:1] + list(deck["connectors"])[:1]),
                                  "lower": [0, 0], "upper": [100, width], "method": rng.choice(["classic", "voronoi"])}
    return deck, size, floors


def stack(rng, deck, floors):
    """Floors above each other with a well or two, in which a connector goes from each floor to the next."""
    steps = rng.uniform(4, 6)                               # length of a connector in plan
    length, width = 2 * steps + rng.uniform(6.5, 9), rng.uniform(7, 9)
    wells = {}
    for name, x in (("west", 2.2), ("east", length - 2.2 - steps))[:rng.choice([1, 2, 2])]:
        wide = rng.uniform(1.2, 2)
        y = rng.uniform(2, width - 1 - wide)
        wells[name] = rectangle(x, y, x + steps, y + wide)
    storey = rng.uniform(2.5, 4)
    post = {"circles": [[length / 2, rng.uniform(2.2, width - 1), 0.3]]}
    deck["floors"], deck["connectors"] = {}, {}
    for k, floor in enumerate(floors):
        obstacles = {name: {"polygon": ring} for name, ring in wells.items()}
        if rng.random() < 0.4:
            obstacles["post"] = post
        deck["floors"][floor] = {"elevation": k * storey, "walkable": {"polygon": rectangle(0, 0, length, width),
                                                                       "obstacles": obstacles}}
    # All flights of a well begin on its one side: on each floor one line leads down, the line across the well up.
    sides = {name: rng.sample([[ring[0], ring[3]], [ring[1], ring[2]]], 2) for name, ring in wells.items()}
    for low, high in zip(floors, floors[1:]):
        for k, (name, ring) in enumerate(wells.items()):
            begin, end = sides[name]
            deck["connectors"][f"{name}_{low}"] = connector(rng, ring, (low, begin), (high, end), is_needed=k == 0)
    if rng.random() < 0.4:
        lifts(rng, deck, floors, length, width)
    return length, width


def lifts(rng, deck, floors, length, width):
    """One or two behind the upper wall, which lead down; with more than two floors the highest may have no other route."""
    deck["lifts"] = {}
    x = rng.uniform(0.3, 2)
    for k in range(rng.choice([1, 1, 2])):
        wide, deep = rng.uniform(1.3, 2), rng.uniform(1.2, 2)
        served = floors if k == 0 else [floors[0], *rng.sample(floors[1:], rng.randrange(1, len(floors)))]
        table = {"cabin": rectangle(x, width, x + wide, width + deep), "floors": rng.sample(served, len(served)), "to": floors[0],
                 "door": [[x + 0.1, width], [x + rng.uniform(0.8, wide - 0.1), width]], "speed": rng.uniform(2, 6),
                 "door_time": rng.choice([0.0, 0.3, 1.0]), "dwell": rng.uniform(0.2, 2)}
        if rng.random() < 0.6:
            table["capacity"] = rng.randrange(1, 6)
        if rng.random() < 0.3:
            table["wait"] = rng.choice([0.0, 5.0])
        if rng.random() < 0.2:
            table["closed_from"] = rng.uniform(0.5, RUN)
        deck["lifts"][f"lift_{k}"] = table
        x += wide + rng.uniform(0.3, 1)
    if len(floors) > 2 and rng.random() < 0.5:
        deck["lifts"]["lift_0"].pop("closed_from", None)
        for name in [name for name in deck["connectors"] if name.endswith("_" + floors[-2])]:
            del deck["connectors"][name]


def row(rng, deck, floors):
    """Floors side by side, each higher than the one before or as high, joined by one connector at their walls."""
    length, width, steps = rng.uniform(6, 10), rng.uniform(5, 8), rng.uniform(4, 6)
    deck["floors"], deck["connectors"] = {}, {}
    x = elevation = 0.0
    for k, floor in enumerate(floors):
        deck["floors"][floor] = {"elevation": elevation, "walkable": {"polygon": rectangle(x, 0, x + length, width)}}
        if k + 1 == len(floors):
            break
        wide = rng.uniform(1.2, 2)
        y = rng.uniform(0.8, width - 0.8 - wide)
        ring = rectangle(x + length, y, x + length + steps, y + wide)
        near, far = [ring[0], ring[3]], [ring[1], ring[2]]
        rise = rng.choice([0.0, rng.uniform(0.3, 4)])
        deck["connectors"][f"from_{floor}"] = connector(rng, ring, (floor, near), (floors[k + 1], far), is_needed=True,
                                                        is_level=rise == 0)
        x, elevation = x + length + steps, elevation + rise
    return length, width


def connector(rng, ring, bottom, top, is_needed, is_level=False):
    """One between two lines; one that is needed leads down."""
    table = {"polygon": ring, "bottom": {"floor": bottom[0], "line": bottom[1]}, "top": {"floor": top[0], "line": top[1]}}
    table["type"] = "level" if is_level else rng.choice(["stair", "stair", "ramp", "escalator"])
    if table["type"] == "escalator":
        table |= {"speed": rng.uniform(0.4, 0.8), "walk": rng.choice([0.0, 0.4, 1.0]),
                  "direction": "down" if is_needed else rng.choice(["up", "down"])}
    for key in ("up_factor", "down_factor"):
        if rng.random() < 0.3:
            table[key] = rng.uniform(0.3, 1.2)
    if rng.random() < 0.2:
        table["closed_from"] = rng.uniform(0.5, RUN)
    return table


# ---- where people go

def journeys(rng, deck, size, floors):
    length, width = size
    lowest = floors[0]
    if rng.random() < 0.4:
        deck["journeys"] = {"leave": {"steps": [{"choice": "quickest", "update": 0.5}]}}
    if rng.random() < 0.3:
        queue = {"line": [[0.7 * length, 1], [0.3 * length, 1]], "spacing": 0.6, "servers": rng.choice([1, 2]),
                 "service": {"distribution": "uniform", "min": 0.1, "max": rng.uniform(0.2, 2)}}
        deck["journeys"] = {"leave": {"steps": [{"queue": on(lowest, queue)}, {"choice": rng.choice(["nearest", "quickest"])}]}}
        deck["measures"]["queue"] = {"type": "queue"}
    elif leads_up(deck) and rng.random() < 0.3:
        x = deck["floors"][floors[-1]]["walkable"]["polygon"][0][0]
        deck["waypoints"] = {"desk": {"floor": floors[-1], "polygon": rectangle(x + 0.5, 0.4, x + 1.7, 1.6)}}
        deck["journeys"] = {"leave": {"steps": [{"waypoint": "desk", "wait": rng.choice([0.0, 0.5])}, {"choice": "nearest"}]}}


def leads_up(deck):
    """Whether the highest floor can be reached from all others: no escalator is on the route, and a lift is not the only one."""
    connectors = deck.get("connectors", {}).values()
    return len(connectors) > 0 and "lifts" not in deck and all(table["type"] != "escalator" for table in connectors)


def groups(rng):
    sizes = rng.sample([1, 2, 3, 4, 5], rng.randrange(1, 4))
    return {"sizes": sizes, "shares": [rng.uniform(0.1, 1) for _ in sizes], "reach": rng.choice([1.0, 3.0]),
            "side_by_side": rng.random() < 0.5, "wait": rng.random() < 0.8, "stay": rng.choice(["slowest", "slowest", "none"])}
