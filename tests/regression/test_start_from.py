"""`scree run DECK --from CHECKPOINT`: the checkpoint brings bodies, motion and what contacts remember, the deck all
else. What that gives on any number of ranks, what the log says about it, and what is refused."""
import json

from refusal import refused
from scree_program import (check, check_close, check_in, read_arrays, run_ok)
DECK = """\
[simulation]
title = "heap"
dimension = 2
end_time = "{end}"
seed = 5
scheme = "dem"
[dem]
law = "linear"

[domain]
lower = [0, 0]
upper = [2, 2]

[time]
step = "0.1 ms"

[physics]
gravity = [0, -9.81]

[decomposition]
block_cells = 1

[materials.stone]
density = "2500 kg/m3"

[pairs."stone-stone"]
friction = {friction}
restitution = 0.3
stiffness = "1e7 N/m"

{locked}
[particles.stones]
material = "stone"
{stones}
{obstacles}
[output.checkpoint]
every = "50 ms"
keep = 20

[analysis]
every = "50 ms"

[measures.energy]
type = "energy"
"""

# Groups of the deck; what comes from a checkpoint needs no source.
UNPLACED = """[particles.locked]
material = "stone"
rotates = false
"""
LOCKED = UNPLACED + """radius = { distribution = "constant", value = "8 cm" }
source = { type = "file", path = "locked.csv" }
"""
STONES = """radius = { distribution = "uniform", min = "5 cm", max = "7 cm" }
random_speed = 0.3
source = { type = "lattice", spacing = 0.15, region = { lower = [0.9, 0.02], upper = [1.98, 0.8] } }
"""
FLOOR = """[obstacles.floor]
type = "plane"
material = "stone"
point = [0, 0]
normal = [0, 1]
"""
OTHERS = """[obstacles.side]
type = "segment"
material = "stone"
a = [0.8, 0]
b = [0.8, 2]

[obstacles.right]
type = "plane"
material = "stone"
point = [2, 0]
normal = [-1, 0]

[obstacles.slope]
type = "segment"
material = "stone"
a = [0.1, 1]
b = [0.7, 1.2]
"""


def write(folder, name, end="0.4 s", friction=0.5, locked=LOCKED, stones=STONES, obstacles=FLOOR + OTHERS, more=""):
    # The disk touches the middle of the slope, which falls by 1 in 3.
    (folder / "locked.csv").write_text("x,y\n0.37470178,1.17589466\n")
    path = folder / name
    path.write_text(DECK.format(end=end, friction=friction, locked=locked, stones=stones, obstacles=obstacles) + more)
    return path


def checkpoint(folder, name, step):
    return folder / "results" / name / "checkpoint" / f"{name}_{step:09}.scree"


def summary(folder, name):
    return json.loads((folder / "results" / name / "summary.json").read_text())


def scalars(folder, name):
    """Columns of the time series by their heads."""
    head, *rows = (line.split(",") for line in (folder / f"results/{name}/{name}.scalars.csv").read_text().splitlines())
    return {column: [float(value) for value in values] for column, values in zip(head, zip(*rows))}


def log_of(folder, name):
    return (folder / "results" / name / f"{name}.log").read_text()


def bodies(path):
    arrays = read_arrays(path)
    return {int(i): row for row, i in enumerate(arrays["arrays/id"])}, arrays


def prepared(folder):
    run_ok("run", write(folder, "first.toml"), folder=folder)
    return checkpoint(folder, "first", 4000)


def test_motion_and_springs_are_taken_on_any_number_of_ranks(folder):
    start = prepared(folder)
    # The same bodies under the same laws, with the obstacles in another order and no source of bodies.
    deck = write(folder, "second.toml", end="0.1 s", locked=UNPLACED, stones="", obstacles=OTHERS + FLOOR)
    hashes = set()
    for ranks in (1, 2, 3):
        run_ok("run", deck, "--from", start, "--force", folder=folder, ranks=ranks)
        hashes.add(summary(folder, "second")["state_hash"])
    check(len(hashes) == 1, "the same bits on any number of ranks", hashes)
    run_ok("restart", start, "--set", "simulation.end_time=0.5", folder=folder)
    row_of, here = bodies(checkpoint(folder, "second", 1000))
    rows, there = bodies(checkpoint(folder, "first", 5000))
    check(row_of.keys() == rows.keys(), "the same bodies by their ids")
    for name, most in (("position", 2e-6), ("velocity", 1e-4), ("angular_velocity", 1e-2)):
        a, b = here[f"arrays/{name}"], there[f"arrays/{name}"]
        worst = max(abs(a[row_of[i]] - b[rows[i]]).max() for i in rows)
        check(worst < most, f"{name} as in the run that went on", worst)
    # A spring that was forgotten would let the disk on the slope slide by its length, m g sin / k = 5e-5 m.
    _, before = bodies(start)
    moved = abs(here["arrays/position"][row_of[0]] - before["arrays/position"][0]).max()
    check(moved < 1e-6, "friction holds the disk on the slope without a break", moved)
    times = scalars(folder, "second")["time[s]"]
    check([round(time, 9) for time in times] == [0, 0.05, 0.1], "the clock starts at 0", times)


def test_the_deck_rules_and_the_log_lists_what_differs(folder):
    start = prepared(folder)
    deck = write(folder, "other.toml", end="0.1 s", friction=0.1, locked=UNPLACED, stones="",
                 obstacles=FLOOR + OTHERS.replace("obstacles.slope", "obstacles.ramp"))
    run_ok("run", deck, "--from", start, folder=folder, ranks=2)
    log = log_of(folder, "other")
    for words in ('pairs.stone-stone.friction = 0.1, before 0.5', "simulation.end_time = 0.1, before 0.4",
                  "[obstacles.ramp] is new", "[obstacles.slope] is gone", "1 contacts with obstacles that this run does "
                  "not have are forgotten", "run first, step 4000, t = 0.4 s"):
        check_in(words, log, "what the log says")
    row_of, here = bodies(checkpoint(folder, "other", 1000))
    _, before = bodies(start)
    check(here["arrays/position"][row_of[0]][0] < before["arrays/position"][0][0] - 1e-3,
          "with less friction the disk slides down the slope")
    started = summary(folder, "other")["provenance"]["started_from"]
    check_in("run first, step 4000", started, "summary.json names the checkpoint")
    # The run goes on from its own checkpoints, and still knows where it came from.
    end = summary(folder, "other")["state_hash"]
    run_ok("restart", checkpoint(folder, "other", 500), "--set", "output.name=again", folder=folder, ranks=3)
    check(summary(folder, "again")["state_hash"] == end, "half of the run and the rest are the run")
    check(summary(folder, "again")["provenance"]["started_from"] == started, "restarts keep the provenance")


def test_another_scheme_takes_what_it_can(folder):
    packing = folder / "packing.toml"
    packing.write_text("""[simulation]
dimension = 2
end_time = 0.2
[domain]
lower = [0, 0]
upper = [2, 2]
[time]
step = 0.01
[velocity]
type = "attraction"
point = [1, 1]
rate = 0.3
[pbd]
sweeps = 30
[particles.locked]
source = { type = "file", path = "locked.csv" }
radius = { distribution = "constant", value = "8 cm" }
[particles.stones]
radius = { distribution = "uniform", min = "5 cm", max = "7 cm" }
source = { type = "random", count = 60, region = { lower = [0.9, 0.1], upper = [1.9, 1.9] } }
""")
    deck = write(folder, "grains.toml", end="10 ms", locked=UNPLACED, stones="velocity = [0, -1]\n", obstacles=FLOOR)
    run_ok("run", packing, folder=folder)
    run_ok("run", deck, "--from", checkpoint(folder, "packing", 20), folder=folder)
    log = log_of(folder, "grains")
    check_in("knows no inertia: velocities are those of [particles.NAME]", log, "what the log says of velocities")
    check_in("(multipliers) is not taken: contacts of this run remember springs", log, "what it says of contacts")
    row_of, here = bodies(checkpoint(folder, "grains", 100))
    check(len(row_of) == 61, "all bodies came")
    check_close(min(here["arrays/mass"]), 2500 * 3.141592653589793 * min(here["arrays/radius"]) ** 2,
                "masses are those of the deck's material", relative=1e-12)
    rigid = write(folder, "rigid.toml", end="10 ms", locked=UNPLACED, stones="", obstacles=FLOOR + OTHERS)
    rigid.write_text(rigid.read_text().replace('scheme = "dem"\n[dem]\nlaw = "linear"', 'scheme = "nonsmooth"\n[solver]\n'
                                               'type = "nsgs"').replace("0.1 ms", "2 ms"))
    run_ok("run", rigid, "--from", prepared(folder), folder=folder)
    check_in("(springs) is not taken: contacts of this run remember impulses", log_of(folder, "rigid"), "dem to nonsmooth")


def test_walls_that_move_in_time_begin_at_their_start(folder):
    sinking = FLOOR + '[obstacles.floor.motion]\ntype = "translate"\nvelocity = [0, -0.01]\n'
    first = write(folder, "first.toml", end="0.1 s", obstacles=sinking + OTHERS)
    run_ok("run", first, folder=folder)
    again = write(folder, "again.toml", end="0.1 s", locked=UNPLACED, stones="", obstacles=sinking + OTHERS)
    again.write_text(again.read_text().replace("end_time", "allow_overlap = true\nend_time"))
    run_ok("run", again, "--from", checkpoint(folder, "first", 1000), folder=folder)
    log = log_of(folder, "again")
    check_in("obstacle 'floor' stands where the deck has it at t = 0, not where it was at t = 0.1 s", log, "what the log says of the floor")
    check("obstacle 'side'" not in log, "and not of walls at rest")


def test_what_does_not_fit_is_refused(folder):
    start = prepared(folder)
    deck = write(folder, "renamed.toml", locked=UNPLACED, stones="")
    deck.write_text(deck.read_text().replace("particles.stones", "particles.pebbles"))
    refused(folder, "run", deck, "--from", start, words=('of "stones"', "the deck has: locked, pebbles"))
    deck = write(folder, "extra.toml", locked=UNPLACED, stones="",
                 more='[particles.more]\nmaterial = "stone"\nradius = { distribution = "constant", value = 0.05 }\n'
                      'source = { type = "random", count = 2 }\n')
    refused(folder, "run", deck, "--from", start, words=("[particles.more] is no group of", "extra.toml:"))
    deck = write(folder, "bare.toml", stones="")
    refused(folder, "run", deck, words=("[particles.stones] needs a source", "--from CHECKPOINT"))
    refused(folder, "check", deck, "--from", folder / "none.scree", words=("none.scree",))
    check_in("valid", run_ok("check", deck, "--from", start, folder=folder).stdout, "check takes --from, too")
    deck = write(folder, "small.toml", locked=UNPLACED, stones="", obstacles=FLOOR.replace("point = [0, 0]", "point = [0, 0.03]")
                 + OTHERS)
    refused(folder, "run", deck, "--from", start, words=('overlaps obstacle "floor"', "up to 0.03 is accepted",
                                                         "simulation.allow_overlap"))
    deck = write(folder, "narrow.toml", locked=UNPLACED, stones="")
    deck.write_text(deck.read_text().replace("upper = [2, 2]", "upper = [1.5, 2]"))
    refused(folder, "run", deck, "--from", start, words=("outside the domain",))


# Spheres packed at random between two periodic faces fall on a floor.
IN_SPACE = """[simulation]
title = "bed"
dimension = 3
end_time = {end}
scheme = "{scheme}"

[domain]
lower = [0, 0, 0]
upper = [0.1, 0.08, 0.2]
periodic = [true, true, false]

[time]
step = {step}
{scheme_tables}
[particles.grains]
{material}radius = {{ distribution = "uniform", min = 0.008, max = 0.011 }}
{source}
[obstacles.floor]
type = "plane"
{material}point = [0, 0, 0]
normal = [0, 0, 1]

[output.checkpoint]
every_steps = 20
keep = 20
"""
INERTIA = """[physics]
gravity = [0, 0, -9.81]
[materials.stone]
density = 2500
[pairs.stone-stone]
friction = 0.5
restitution = 0.2
"""
SCHEMES = {"pbd": (0.002, '[velocity]\ntype = "constant"\nvelocity = [0, 0, -0.3]\n[pbd]\nsweeps = 30\n'),
           "nonsmooth": (0.001, INERTIA + '[solver]\ntype = "nsgs"\n'),
           "dem": (0.0001, INERTIA + 'stiffness = 1e5\n[dem]\nlaw = "linear"\n')}
PACKED = 'source = {{ type = "packed", {}region = {{ lower = [0, 0, 0.01], upper = [0.1, 0.08, 0.1] }} }}\n'


def write_in_space(folder, name, scheme, steps, source=""):
    step, tables = SCHEMES[scheme]
    material = "" if scheme == "pbd" else 'material = "stone"\n'
    (folder / f"{name}.toml").write_text(IN_SPACE.format(end=steps * step, scheme=scheme, step=step, scheme_tables=tables,
                                                         material=material, source=source))
    return f"{name}.toml"


def test_in_space_and_resumed(folder):
    for scheme in SCHEMES:
        first = write_in_space(folder, f"{scheme}_first", scheme, 60, PACKED.format("solid_fraction = 0.5, "))
        run_ok("run", first, folder=folder)
        start = checkpoint(folder, f"{scheme}_first", 60)
        whole = write_in_space(folder, f"{scheme}_whole", scheme, 60)
        run_ok("run", whole, "--from", start, folder=folder, ranks=2)
        expected = summary(folder, f"{scheme}_whole")["state_hash"]
        # The same in two pieces, on other ranks.
        run_ok("run", write_in_space(folder, f"{scheme}_pieces", scheme, 30), "--from", start, folder=folder)
        run_ok("run", write_in_space(folder, f"{scheme}_pieces", scheme, 60), "--resume", folder=folder, ranks=3)
        result = summary(folder, f"{scheme}_pieces")
        check(result["state_hash"] == expected, f"{scheme}: a start from a checkpoint can be resumed", result)
        check_in("step 60", result["provenance"]["started_from"], "and still knows where it came from")


def test_packed_starts_of_all_schemes(folder):
    for scheme in SCHEMES:
        hashes = set()
        deck = write_in_space(folder, scheme, scheme, 40, PACKED.format(""))
        for ranks in (1, 3):
            run_ok("run", deck, "--force", folder=folder, ranks=ranks)
            hashes.add(summary(folder, scheme)["state_hash"])
        check(len(hashes) == 1, f"{scheme}: packed until they jam, the same on 1 and 3 ranks", hashes)


LID = """[obstacles.lid]
type = "plane"
material = "stone"
point = [0, {height}]
normal = [0, -1]
motion = {{ type = "driven", axis = [0, -1], load = "{load}", max_speed = 0.5 }}

[measures.lid]
type = "driven"
"""


def lid_at_start(folder, name):
    return scalars(folder, name)["lid_position_lid[m]"][0]


def test_a_piston_stands_where_its_load_has_moved_it(folder):
    def deck(name, height=1.9, load="2 kN"):
        return write(folder, f"{name}.toml", end="1.5 s" if name == "pressed" else "0.05 s", locked="",
                     obstacles=FLOOR + OTHERS.split("[obstacles.slope]")[0] + LID.format(height=height, load=load))
    run_ok("run", deck("pressed"), folder=folder)
    end = scalars(folder, "pressed")["lid_position_lid[m]"][-1]
    start = checkpoint(folder, "pressed", 15000)
    for name, height in (("on", 1.9), ("elsewhere", 1.95)):
        run_ok("run", deck(name, height, "4 kN"), "--from", start, folder=folder, ranks=2)
    check_in("obstacle 'lid' stands at", log_of(folder, "on"), "the log says where the lid stands")
    check(lid_at_start(folder, "on") == end > 0.1, "the lid stands on the stones", (lid_at_start(folder, "on"), end))
    check_in("obstacle 'lid' stands where the deck has it", log_of(folder, "elsewhere"), "another lid is no lid that was pressed")
    check(lid_at_start(folder, "elsewhere") == 0, "the deck has its place")


CELL = """\
[simulation]
dimension = 2
end_time = {end}
allow_overlap = true
seed = 5
scheme = "dem"
[dem]
law = "linear"
[domain]
lower = [0, 0]
upper = [2, 1.5]
periodic = [true, true]
{deformation}
[time]
step = "0.2 ms"
[materials.stone]
density = 2500
[pairs.stone-stone]
friction = 0.5
restitution = 0.3
stiffness = 1e6
[particles.stones]
material = "stone"
radius = {{ distribution = "uniform", min = "3 cm", max = "5 cm" }}
source = {{ type = "random", count = 200 }}
[analysis]
every_steps = 1
[measures.speed]
type = "energy"
"""
SHEAR = """[domain.deformation]
flow = "x"
gradient = "y"
shear_rate = {rate}
stress = {{ y = 2000 }}
max_rate = 2
[measures.cell]
type = "cell"
"""


def test_a_deformed_cell_goes_on_as_it_was_left(folder):
    def deck(name, rate=None, end=0.02):
        path = folder / f"{name}.toml"
        path.write_text(CELL.format(end=end, deformation="" if rate is None else SHEAR.format(rate=rate)))
        return path
    run_ok("run", deck("sheared", 10, 0.1), folder=folder)
    start = checkpoint(folder, "sheared", 500)
    hashes = {name: set() for name in ("faster", "rests")}
    for ranks in (1, 3):
        for name, rate in (("faster", 20), ("rests", None)):
            run_ok("run", deck(name, rate), "--from", start, "--force", folder=folder, ranks=ranks)
            hashes[name].add(summary(folder, name)["state_hash"])
    check(all(len(found) == 1 for found in hashes.values()), "the same bits on 1 and 3 ranks", hashes)
    check_in("the domain is that of the checkpoint", log_of(folder, "rests"), "the log says what the domain is")
    check_in("tilted by", log_of(folder, "rests"), "and how far it leans")
    # Where nothing shears on, the motion about the flow dies away; no body has overlapped another through a face at the start.
    energy = scalars(folder, "rests")["speed_kinetic[J]"]
    check(0 < energy[-1] < energy[0], "a domain that rests loses energy", (energy[0], energy[-1]))
