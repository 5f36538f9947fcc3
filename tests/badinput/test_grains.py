"""Decks of grains that cannot be: materials, pairs and schemes that do not fit together end with one message and exit
code 2; steps that are too long and walls that press bodies where they have no room, with the code of their failure."""
import json

from decks import edited
from refusal import failed, refused
from scree_program import check, check_in, findings, run_ok

SOLVER_FAILURE = 3

DECK = """\
[simulation]
dimension = 2
scheme = "nonsmooth"
end_time = "0.1 s"

[domain]
lower = [0, -0.5]
upper = [1, 2]

[time]
step = "5 ms"

[physics]
gravity = [0, -9.81]

[solver]
type = "nsgs"
tolerance = 1e-3

[materials.glass]
density = 2500

[materials.steel]
density = 7800

[pairs."glass-glass"]
friction = 0.4
restitution = 0.5

[pairs."glass-steel"]
friction = 0.3
restitution = 0.6

[particles.beads]
material = "glass"
radius = { distribution = "constant", value = "5 cm" }
source = { type = "lattice", spacing = 0.1, region = { lower = [0, 0], upper = [1, 0.5] } }

[obstacles.floor]
type = "plane"
material = "steel"
point = [0, 0]
normal = [0, 1]
"""

SIDES = """
[obstacles.left]
type = "plane"
material = "steel"
point = [0, 0]
normal = [1, 0]

[obstacles.right]
type = "plane"
material = "steel"
point = [1, 0]
normal = [-1, 0]
"""

LID = """
[obstacles.lid]
type = "plane"
material = "steel"
point = [0, 0.51]
normal = [0, -1]
motion = { type = "translate", velocity = [0, -0.2] }
"""


def write_deck(folder, *changes, more=""):
    (folder / "grains.toml").write_text(edited(DECK, *changes) + more)
    return "grains.toml"


def refused_deck(folder, *changes, words, more="", ranks=(3,)):
    refused(folder, "run", write_deck(folder, *changes, more=more), words=words, ranks=ranks)


def fails(folder, *changes, more="", code, words):
    """The run begins, and ends like that."""
    failed(folder, "run", write_deck(folder, *changes, more=more), "--force", code=code, words=words)


def test_the_deck_runs_as_it_is(folder):
    run_ok("run", write_deck(folder, more=SIDES), folder=folder)


def test_coefficients_out_of_range(folder):
    for value in ("1.01", "-0.1", "nan"):
        refused_deck(folder, ("restitution = 0.6", f"restitution = {value}"), words=["restitution", "grains.toml:32"])
    refused_deck(folder, ("friction = 0.3", "friction = -0.3"), words=["friction", ">= 0"])
    refused_deck(folder, ("density = 7800", "density = 0"), words=["density", "> 0"])


def test_what_impacts_through_bodies_do_not_go_with(folder):
    wave = '[nonsmooth]\nimpacts = "wave"\n'
    for elasticity in ("0.9", "2.1"):
        refused_deck(folder, ("[materials.glass]", f"{wave}elasticity = {elasticity}\n[materials.glass]"), words=["elasticity", "[1, 2]"])
    refused_deck(folder, ("[materials.glass]", "[nonsmooth]\nelasticity = 1\n[materials.glass]"), words=["elasticity", "no effect", "wave"])
    refused_deck(folder, ("friction = 0.3", "friction = 0.3\nimpact_stiffness = 2"), words=["impact_stiffness", "glass", "steel", "no effect", "wave"])
    refused_deck(folder, ("friction = 0.3", "friction = 0.3\nimpact_stiffness = 0"), words=["impact_stiffness", "> 0"])
    refused_deck(folder, ("[materials.glass]", f"{wave}[materials.glass]"), ("friction = 0.3", "friction = 0.3\nstiffness = 1e5"),
                 words=["wave", "stiffness", "glass", "steel"])
    refused_deck(folder, ("[materials.glass]", f"{wave}[materials.glass]"), words=["wave", "attract", "glass"],
                 more='\n[pairs."glass-glass".cohesion]\ntype = "force"\npull_off = 1\n')
    refused_deck(folder, ("[materials.glass]", f"{wave}[materials.glass]"), words=["wave", "driven"],
                 more=LID.replace('{ type = "translate", velocity = [0, -0.2] }', '{ type = "driven", axis = [0, -1], load = 10, max_speed = 1 }'))


def test_pairs_that_are_missing_or_name_nothing(folder):
    text = DECK[DECK.index('[pairs."glass-steel"]'):DECK.index("[particles.beads]")]
    refused_deck(folder, (text, ""), words=["glass", "steel", 'pairs."glass-steel"', "friction"], ranks=(1, 3))
    refused_deck(folder, ('[pairs."glass-steel"]', '[pairs."glass-wood"]'), words=["glass-wood", "glass, steel"])
    refused_deck(folder, more='\n[pairs."steel-glass"]\nfriction = 0\nrestitution = 0\n', words=["twice", "steel"])
    refused_deck(folder, ("restitution = 0.6", ""), words=["restitution", "missing"])


def test_materials_that_are_missing_or_unknown(folder):
    refused_deck(folder, ('material = "glass"', 'material = "glas"'), words=["glas", "glass, steel"], ranks=(1, 3))
    refused_deck(folder, ('material = "glass"\n', ""), words=["grains.toml:34", "material", "glass, steel"])
    refused_deck(folder, ('material = "steel"\n', ""), words=["grains.toml:39", "material", "glass, steel"])


def test_without_a_solver_there_is_one(folder):
    solver = DECK[DECK.index("[solver]"):DECK.index("[materials.glass]")]
    deck = write_deck(folder, (solver, ""))
    result = run_ok("info", deck, folder=folder)
    check_in("[solver]", result.stdout, "the table of the default solver is in the resolved deck")
    (folder / "resolved.toml").write_text(result.stdout)
    run_ok("check", folder / "resolved.toml", folder=folder)
    refused_deck(folder, (solver, "[solver]\nsolver_sweeps = 3\n\n"), words=["'solver_sweeps' in [solver]"])
    # Its tolerance is that of grains; bodies with shapes need a smaller one.
    shape = ('radius = { distribution = "constant", value = "5 cm" }', 'shape = "square"')
    for changes, more, limit in (((), "", 1e-2), ((shape,), '\n[shapes.square]\ntype = "box"\nsize = [0.08, 0.08]\n', 1e-3)):
        deck = write_deck(folder, (solver, ""), *changes, more=SIDES + more)
        run_ok("-q", "run", deck, "--force", folder=folder)
        worst = json.loads((folder / "results/grains/summary.json").read_text())["certificate_worst"]["residual"]
        check(worst["limit"] == limit and 0 < worst["value"] <= limit, f"the tolerance is {limit}", worst)


def test_a_material_need_be_named_only_where_there_are_several(folder):
    named, steel = ('material = "glass"\n', ""), ('material = "steel"\n', "")
    refused_deck(folder, named, words=["a material is missing", "glass, steel"])
    one = (named, steel, ("[materials.steel]\ndensity = 7800\n\n", ""), ('[pairs."glass-steel"]\nfriction = 0.3\nrestitution = 0.6\n\n', ""))
    run_ok("check", write_deck(folder, *one), folder=folder)
    refused_deck(folder, *one, ("[materials.glass]\ndensity = 2500\n\n", ""), ('[pairs."glass-glass"]\nfriction = 0.4\nrestitution = 0.5\n\n', ""),
                 words=["a material is missing", "there is none"])


def test_check_asks_about_a_density_that_no_solid_has(folder):
    reported = findings(write_deck(folder, ("density = 2500", "density = 2.5")), folder=folder)
    check(any("density of glass is 2.5 kg/m3" in text and '"2.5 g/cm3" meant' in text for text in reported), "it is named", reported)
    for changes in ((), (("density = 7800", "density = 7.8"),)):    # steel is that of the floor alone
        reported = findings(write_deck(folder, *changes), folder=folder)
        check(not any("density" in text for text in reported), "others are not", reported)


def test_inertia_in_a_scheme_that_knows_none(folder):
    solver = DECK[DECK.index("[solver]"):DECK.index("[materials.glass]")]
    first_order = (('scheme = "nonsmooth"', 'scheme = "pbd"'), (solver, '[velocity]\ntype = "rest"\n\n'))
    refused_deck(folder, *first_order, words=["gravity", "no effect", "pbd"], ranks=(1, 3))
    still = first_order + (("[physics]\ngravity = [0, -9.81]\n\n", ""),)
    refused_deck(folder, *still, words=["material", "no effect", "pbd"])
    bare = still + (('material = "glass"\n', ""),)
    refused_deck(folder, *bare, ("[particles.beads]\n", "[particles.beads]\nvelocity = [1, 0]\n"),
                 words=["velocity", "no effect"])
    refused_deck(folder, *bare, ("[particles.beads]\n", "[particles.beads]\nrotates = false\n"),
                 words=["rotates", "no effect"])
    obstacle = DECK[DECK.index("[materials.glass]"):DECK.index("[particles.beads]")]
    refused_deck(folder, *bare, (obstacle, ""), ('material = "steel"\n', ""), more="\n[output.fclib]\nevery_steps = 5\n",
                 words=["grains.toml:", "output.fclib", "no contact problems", "pbd"])


def test_forces(folder):
    spring = '\n[forces.pull]\ntype = "spring"\nstiffness = [1, 0]\n'
    run_ok("check", write_deck(folder, more=spring + 'groups = ["beads"]\n'), folder=folder)
    refused_deck(folder, more=spring + 'groups = ["bead"]\n', words=["grains.toml:48", "[particles.bead]", "valid: beads"],
                 ranks=(1, 3))
    refused_deck(folder, more=spring.replace("[1, 0]", "[1, -1]"), words=["stiffness", ">= 0"])
    refused_deck(folder, more=spring.replace("[1, 0]", "[1]"), words=["stiffness", "2 entries"])
    refused_deck(folder, more=spring.replace("spring", "sprnig"), words=["type", 'did you mean "spring"'])
    refused_deck(folder, more=spring + "coefficient = 1\n", words=["'coefficient'", "'drag'", "'spring'"])
    refused_deck(folder, more='\n[forces.air]\ntype = "drag"\n', words=["coefficient", "missing"])
    # Each of 2500 kg/m2 and 5 cm has 19.6 kg, which a step of 5 ms keeps bounded up to 2 m/dt = 7854 kg/s.
    run_ok("check", write_deck(folder, more='\n[forces.air]\ntype = "drag"\ncoefficient = 7853\n'), folder=folder)
    refused_deck(folder, more='\n[forces.air]\ntype = "drag"\ncoefficient = 7855\n', ranks=(1, 3),
                 words=["grains.toml:46", "too long", '"air"', "body 0 ", "0.005 s"])
    solver = DECK[DECK.index("[solver]"):DECK.index("[materials.glass]")]
    refused_deck(folder, ('scheme = "nonsmooth"', 'scheme = "pbd"'), (solver, '[velocity]\ntype = "rest"\n\n'),
                 ("[physics]\ngravity = [0, -9.81]\n\n", ""), more=spring, words=["forces.pull", "no effect", "pbd"])


def test_tables_of_schemes_that_do_not_run(folder):
    run_ok("check", write_deck(folder, more='\n[pbd]\nsweeps = 3\n\n[velocity]\ntype = "rest"\n'), folder=folder)
    refused_deck(folder, more="\n[pbd]\nsweep = 3\n", words=["'sweep' in [pbd]", "did you mean 'sweeps'"], ranks=(1, 3))
    refused_deck(folder, more="\n[pbd]\nsweeps = 0\n", words=["sweeps", ">= 1"])
    refused_deck(folder, more="\n[velocity]\n", words=["missing key 'type' in [velocity]"])


def test_files_of_contact_problems(folder):
    table = "\n[output.fclib]\n"
    for line in ('every = "0 s"', "every_steps = 0", "on_failure = -1"):
        refused_deck(folder, more=table + line + "\n", words=[line.split()[0], "[output.fclib]"])
    refused_deck(folder, more=table + 'every = 1\nevery_steps = 5\n', words=["every or every_steps, not both"])
    refused_deck(folder, more=table + "on_failures = 3\n", words=["on_failures", "did you mean 'on_failure'"])
    refused_deck(folder, more="\n[output]\nfailed_problems = 3\n",
                 words=["grains.toml:", "failed_problems", "on_failure", "[output.fclib]"], ranks=(1, 3))


def test_a_step_so_long_that_bodies_cross(folder):
    # Neither ends the run: the list gets a wider skin, then steps are cut.
    changes = (("[particles.beads]\n", "[particles.beads]\nvelocity = [3, 0]\n"), )
    deck = write_deck(folder, *changes, more=SIDES + "\n[neighbors]\nskin = 0.001\n")
    for step, word in (("0.005", "takes a skin of"), ("0.5", "it is cut to")):
        result = run_ok("run", deck, "--set", f"time.step={step}", "--set", "simulation.end_time=1", "--set", "domain.outside=keep", "--force",
                        folder=folder)
        check(result.stderr.count(word) == 1, "reported once", result)
        summary = json.loads((folder / "results" / "grains" / "summary.json").read_text())
        key = "skin_widened" if step == "0.005" else "steps_cut"
        check(summary[key] > 0, "and counted", summary)
        check_in("lists of neighbours: ", result.stderr, "and summed up")
    # Bodies fill the room between two walls, and none has a way to bounce off one of them.
    result = run_ok("run", deck, "--set", "time.step=0.5", "--set", "simulation.end_time=1", "--set", "nonsmooth.max_travel=0.2",
                    "--force", folder=folder)
    check(0 < json.loads((folder / "results" / "grains" / "summary.json").read_text())["certificate_worst"]["without_rebound"]["value"],
          "steps without solution are solved without restitution", result)


def test_check_tries_the_first_step(folder):
    check_in("first step: taken", run_ok("check", write_deck(folder, more=SIDES), folder=folder).stdout, "said")
    result = run_ok("check", write_deck(folder, ("[particles.beads]\n", "[particles.beads]\nvelocity = [3, 0]\n"), more=SIDES),
                    "--set", "time.step=0.5", "--json", folder=folder)
    check(json.loads(result.stdout)["first_step"].startswith("taken, but cut from 0.1 s to "), "said", result)
    hard = ("tolerance = 1e-3", "tolerance = 1e-12\nmax_sweeps = 3")
    deck = write_deck(folder, hard, more=SIDES + LID + '\n[nonsmooth]\non_failure = "stop"\n')
    failed(folder, "check", deck, code=SOLVER_FAILURE, words=["the first step fails", "residual"])
    check(sorted(path.name for path in folder.iterdir()) == ["grains.toml"], "nothing is written")


def test_a_wall_that_presses_bodies_where_they_have_no_room(folder):
    # No impulses solve this, so the sweeps are few.
    changes = (("tolerance = 1e-3", "tolerance = 1e-3\nmax_sweeps = 100"), ('end_time = "0.1 s"', "end_time = 0.5"))
    more = SIDES + LID + "\n[nonsmooth]\noverlap_limit = 0.1\n"
    fails(folder, *changes, more=more, code=SOLVER_FAILURE,
          words=["overlap by", "overlap_limit = 0.1", "press bodies where they have no room"])
    deck = write_deck(folder, *changes, more=more)
    result = run_ok("run", deck, "--set", "nonsmooth.on_overlap=warn", "--set", "simulation.end_time=0.3", "--force",
                    folder=folder)
    check(result.stderr.count("beyond overlap_limit") == 1, "one warning, however many steps it lasts", result)


def test_a_contact_problem_that_is_not_solved(folder):
    hard = ("tolerance = 1e-3", "tolerance = 1e-12\nmax_sweeps = 3")
    fails(folder, hard, more=SIDES + '\n[nonsmooth]\non_failure = "stop"\n', code=SOLVER_FAILURE,
          words=["step 0", "residual", "solver.tolerance = 1e-12", "on_failure"])
    fails(folder, hard, more=SIDES + '\n[nonsmooth]\non_failure = "halve"\n', code=SOLVER_FAILURE,
          words=["residual", "solver.tolerance = 1e-12", "even in a step of"])
    result = run_ok("run", write_deck(folder, hard, more=SIDES), "--force", folder=folder)
    check(result.stderr.count("above solver.tolerance") == 1, "one warning, however many steps it lasts", result)
