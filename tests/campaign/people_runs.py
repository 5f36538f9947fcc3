"""What runs of people have to obey, for the covering array: nobody outside, nobody lost, no overlap, and the same building written in
another way."""
import copy

import numpy as np

import crowd_runs
from pairs_crowds import KEYS, REFUSED, WORDS, array, deck_of, expanded    # noqa: F401: part of the family
from rewritings import SCALES, Frame, bare, frames, in_frame, scaled
from scree_program import Failure

REWRITINGS = 3
# The same building in another frame has its floor field on another grid, and sweeps in another order: totals.
MOST_APART = 2          # people inside at the end
FAR = 0.5               # mean place of those inside [m]


def promises_bits(deck):
    """Whether the manual promises the same bits on any number of ranks."""
    return deck.values["solver"] in ("none", "nsgs")


def audited(deck):
    tables = copy.deepcopy(deck.tables)
    tables["output"] |= {"trajectory": {"fps": 20}, "certificate": {"every_steps": 1}, "h5md": {"every_steps": deck.n_steps}, "fields": {"every": 4.0}}
    return tables


def start_of(trial):
    return None


def properties(trial, start):
    run = crowd_runs.CrowdRun(trial.results("audited"), "run", trial.deck.tables, None)
    for check in crowd_runs.CHECKS:
        if check is crowd_runs.check_certificate and (trial.deck.values["model"] == "pbd" or trial.deck.values["solver"] != "none"):
            continue        # other columns
        try:
            check(run)
        except Failure as failure:
            trial.case.finding(f"crowd: {str(failure).splitlines()[0]}", failure)


def rewritten(trial, start):
    """As of grains; people are drawn at random in regions, so those of a file only can be moved."""
    deck, case = trial.deck, trial.case
    tables, folder = bare(deck.tables), case.folder
    trial.base = "whole"
    rows = [("names", lambda: (renamed(tables), None)), ("halves of stages", lambda: (in_halves(tables), None))]
    case.random.shuffle(rows)
    for name, make in rows[:REWRITINGS]:
        made, back = make()
        if made is not None:
            yield name, made, back, True


def in_halves(tables):
    from rewritings import in_halves as of_all
    return of_all(tables)


def renamed(tables):
    """Other names of floors, exits, agents and the like, in the same order of the letters."""
    made = copy.deepcopy(tables)
    names = {name: f"q_{name}" for path in ("floors", "connectors", "lifts", "exits", "waypoints", "zones", "journeys", "agents", "populations", "sources", "obstacles")
             for name in made.get(path, {})}
    if any("file" in table for path in ("populations", "sources") for table in made.get(path, {}).values()):
        names = {name: new for name, new in names.items() if name not in made.get("floors", {}) and name not in made.get("agents", {})}

    def walk(value, is_table_of_names):
        if isinstance(value, dict):
            return {names.get(key, key) if is_table_of_names else key: walk(item, False) if not (key in ("closes",)) else walk(item, True)
                    for key, item in value.items()}
        if isinstance(value, list):
            return [walk(item, False) for item in value]
        return names.get(value, value) if isinstance(value, str) else value

    kept = ("simulation", "time", "crowd", "output", "stages", "decomposition", "domain", "navigation")
    return {key: value if key in kept else walk(value, True) for key, value in made.items()}


def compare(trial, first, second, claim, is_exact, back):
    deck = trial.deck
    a, b = trial.end(first), trial.end(second)
    b = back(b) if back else b
    if is_exact:
        same = len(a["id"]) == len(b["id"]) and (a["id"] == b["id"]).all() and np.array_equal(a["position"], b["position"])
        if not same:
            trial.case.finding(f"crowd: {claim}: other bits", f"{len(a['id'])} and {len(b['id'])} people")
        return
    if abs(len(a["id"]) - len(b["id"])) > MOST_APART:
        trial.case.finding(f"crowd: {claim}: other totals", f"{len(a['id'])} and {len(b['id'])} people inside")
    elif min(len(a["id"]), len(b["id"])) > 4 and np.abs(a["position"].mean(axis=0) - b["position"].mean(axis=0)).max() > FAR:
        trial.case.finding(f"crowd: {claim}: other places", f"mean {a['position'].mean(axis=0)} and {b['position'].mean(axis=0)}")
