"""Rows of benchmarks whose unit of work is a step of a run: names for what scree_bench measured (src/bench/steps.cpp).

`found` has: case, mode, ranks; row (what decks.py printed); seconds of a step and spread; bodies (mean of the steps), steps, wall; warm_up {steps,
seconds}; timers {name: seconds, mean over ranks} and phases; certificate {name: {sum, max}, texts where not finite} and solved; rebuilds; contacts, pairs, lanes,
blocks (after the warm-up); imbalance, bytes, memory_of_rank (at the end); run_time (of all steps of the deck).
"""
import math


class Row:
    """A row of a case, as results.json has it."""

    def __init__(self, found):
        self.found, self.parameters = found, found["row"]
        self.bodies, self.ranks, self.steps = found["bodies"], found["ranks"], found["steps"]
        self.row = {"case": found["case"], "mode": found["mode"], "ranks": self.ranks, "work": "step", "seconds": found["seconds"],
                    "complete": True, "spread": found["spread"], "keys": {}, "size": {}, "values": {}, "units": {}, "spreads": {},
                    "phases": found["phases"], "only_in_files": [], "notes": []}

    def key(self, name, value, unit="-"):
        self.row["keys"][name], self.row["units"][name] = value, unit

    def size(self, name, value):
        self.row["size"][name], self.row["units"][name] = value, "-"

    def add(self, name, unit, value):
        self.row["values"][name], self.row["units"][name] = value, unit

    def per_body(self, name, unit, names, count=None, factor=1):
        """Processor time per body and count [unit] of some timers; per step without a count."""
        count = self.steps if count is None else count
        seconds = sum(self.found["timers"].get(timer, 0.0) for timer in names)
        scale = {"us": 1e6, "ns": 1e9}[unit] * self.ranks / self.bodies / count if count else 0.0
        self.add(name, unit, factor * seconds * scale)

    def sum(self, name):
        """Over all steps, of a number that the certificate has; None: it does not."""
        entry = self.found["certificate"].get(name)
        return None if entry is None else float(entry["sum"])

    def worst(self, *names):
        """The largest; a text where it is not finite."""
        values = [float(self.found["certificate"].get(name, {}).get("max", 0)) for name in names]
        worst = math.nan if any(map(math.isnan, values)) else max(values)
        return worst if math.isfinite(worst) else str(worst)

    def add_steps_per_rebuild(self, of_none=0.0):
        rebuilds = self.found["rebuilds"]
        self.add("steps_per_rebuild", "-", self.steps / rebuilds if rebuilds else of_none)

    def add_us_per_body_step(self, name="us_per_body_step"):
        self.add(name, "us", 1e6 * self.found["seconds"] * self.ranks / self.bodies)

    def add_bytes_per_body(self, name="bytes_per_body"):
        self.add(name, "-", self.found["bytes"] / self.bodies)


def name_deck(row):
    found = row.found
    for name, value in row.parameters.items():
        row.key(name, value)
    row.size("bodies", math.ceil(row.bodies))
    row.add_us_per_body_step()
    row.add("body_steps_per_second", "1/s", row.bodies / found["seconds"])
    contacts = row.sum("contacts")
    row.add("contacts", "-", found["contacts"] if contacts is None else contacts / row.steps)
    if row.sum("sweeps") is not None:
        row.add("sweeps_per_step", "-", row.sum("sweeps") / row.steps)
    if found["solved"] is not None:
        row.add("share_of_steps_solved", "-", found["solved"] / row.steps)
    row.add_steps_per_rebuild(row.steps)
    row.add("load_of_fullest_rank", "-", found["imbalance"])
    row.add_bytes_per_body()
    row.add("memory_of_rank", "B", float(found["memory_of_rank"]))
    if found["run_time"] is not None:
        row.add("hours_of_run", "-", found["run_time"] / 3600)


def name_dem(row):
    row.key("law", row.parameters["law"])
    row.size("bodies", round(row.bodies))
    row.add("contacts_per_body", "-", row.found["contacts"] / row.bodies)
    row.add("pairs_per_body", "-", row.found["pairs"] / row.bodies)
    row.add("body_steps_per_second", "1/s", row.bodies / row.found["seconds"])
    timers = row.found["timers"]
    forces = timers.get("forces", 0.0)
    within = timers.get("exchange", 0.0) + timers.get("move", 0.0)
    row.per_body("forces_ns_per_body", "ns", ["forces"], factor=1 - within / forces if forces else 0.0)
    for name, timer in (("exchange", "exchange"), ("move", "move"), ("neighbours", "neighbours")):
        row.per_body(f"{name}_ns_per_body", "ns", [timer])
    row.add_steps_per_rebuild()
    row.add_bytes_per_body()


def name_sizes(row):
    found = row.found
    row.key("ratio", row.parameters["ratio"])
    row.size("bodies", row.parameters["bodies"])
    row.add("large", "-", row.parameters["large"])
    row.add("blocks", "-", found["blocks"])
    row.add("contacts_per_body", "-", found["contacts"] / row.bodies)
    row.add("pairs_per_body", "-", found["pairs"] / row.bodies)
    row.add("places_per_pair", "-", found["lanes"] / max(1, found["pairs"]))
    row.add("step_ns_per_body", "ns", 1e9 * found["seconds"] * row.ranks / row.bodies)
    row.per_body("forces_ns_per_body", "ns", ["forces"])
    for name, timer in (("rebuild", "neighbours"), ("search", "search"), ("classes", "classes")):
        row.per_body(f"{name}_ns_per_body", "ns", [timer], found["rebuilds"])
    row.add_steps_per_rebuild()
    row.add_bytes_per_body()


def name_nonsmooth(row):
    row.key("solver", row.parameters["solver"])
    name_solved_steps(row)


def name_convex(row):
    row.key("shape", row.parameters["shape"])
    pour = row.found["warm_up"]
    row.add("pour_us_per_body_step", "us", 1e6 * pour["seconds"] * row.ranks / (pour["steps"] * row.bodies))
    name_solved_steps(row)


def name_solved_steps(row):
    """Of the scheme "nonsmooth"."""
    sweeps, contacts = row.sum("sweeps") or 0.0, row.sum("contacts")
    row.size("bodies", round(row.bodies))
    row.add_us_per_body_step()
    row.add("sweeps_per_step", "-", sweeps / row.steps)
    row.add("contacts_per_body", "-", contacts / row.steps / row.bodies)
    of_sweeps = row.found["timers"].get("nsgs sweep", 0.0)
    row.add("ns_per_contact_sweep", "ns", 1e9 * of_sweeps * row.ranks / (contacts / row.steps) / sweeps if sweeps else 0.0)
    row.per_body("friction_us_per_body", "us", ["friction"])
    row.per_body("neighbours_us_per_body", "us", ["neighbours"])
    row.add_steps_per_rebuild(row.steps)
    row.add("worst_residual", "-", row.worst("residual"))
    row.add("share_of_steps_solved", "-", (row.found["solved"] or 0.0) / row.steps)
    row.add_bytes_per_body()


def name_crowd(row):
    parameters = row.parameters
    row.key("model", parameters["model"])
    row.size("agents", round(row.bodies))
    row.key("density", parameters["density"], "1/m2")
    row.key("columns", parameters["columns"])
    row.add_us_per_body_step("us_per_agent_step")
    row.add("real_time_factor", "-", row.steps * parameters["step"] / row.found["wall"])
    for name, timers in (("routes", ["directions"]), ("ahead", ["look ahead"]), ("apart", ["projection", "sweeps on positions"]),
                         ("lists", ["neighbours"]), ("people", ["people"])):
        row.per_body(f"{name}_us", "us", timers)
    row.add("contacts_per_agent", "-", (row.sum("contacts") or 0.0) / row.steps / row.bodies)
    row.add("sweeps", "-", (row.sum("sweeps") or 0.0) / row.steps)
    row.add("worst_overlap_m", "m", row.worst("max_overlap", "overlap_met"))
    row.add("worst_residual_m", "m", row.worst("residual"))
    row.add_bytes_per_body("bytes_per_agent")


NAMES = {"deck": name_deck, "dem": name_dem, "sizes": name_sizes, "nonsmooth": name_nonsmooth, "convex": name_convex, "crowd": name_crowd}


def row_of_steps(found):
    """The row that tables and files have."""
    row = Row(found)
    NAMES[found["case"]](row)
    return row.row
