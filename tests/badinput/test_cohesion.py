"""Decks whose attraction cannot be: one message that names the pair, exit code 2, on one rank and on several."""
from decks import edited
from refusal import refused
from scree_program import check_in, run_ok

DECK = """\
[simulation]
dimension = 3
scheme = "dem"
end_time = "0.4 ms"

[domain]
lower = [0, 0, 0]
upper = [1, 1, 1]

[time]
step = "0.1 ms"

[physics]
gravity = [0, 0, -9.81]

[dem]
law = "hertz"

[materials.glass]
density = 2500
young_modulus = 1e8
poisson_ratio = 0.25

[materials.steel]
density = 7800
young_modulus = "rigid"

[pairs."glass-glass"]
friction = 0.4
restitution = 0.5

[pairs."glass-glass".cohesion]
type = "dmt"
work_of_adhesion = 0.1

[pairs."glass-steel"]
friction = 0.3
restitution = 0.6

[particles.beads]
material = "glass"
radius = { distribution = "constant", value = "5 cm" }
source = { type = "lattice", spacing = 0.1, region = { lower = [0, 0, 0], upper = [0.3, 0.3, 0.1] } }

[obstacles.floor]
type = "plane"
material = "steel"
point = [0, 0, 0]
normal = [0, 0, 1]
"""

DMT = 'type = "dmt"\nwork_of_adhesion = 0.1'
BRIDGE = 'type = "bridge"\nsurface_tension = 0.07\n'
RIGID = ('scheme = "dem"', 'scheme = "nonsmooth"'), ('[dem]\nlaw = "hertz"\n', "")


def write_deck(folder, *changes, more=""):
    path = folder / "sticky.toml"
    path.write_text(edited(DECK, *changes) + more)
    return path


def refused_deck(folder, *changes, words, more=""):
    refused(folder, "run", write_deck(folder, *changes, more=more), words=words)


def cohesion(keys):
    return DMT, keys


def test_the_deck_runs_with_every_type_and_in_both_schemes(folder):
    for keys in (DMT, 'type = "force"\nbond_number = 3', 'type = "force"\npull_off = "1 uN"',
                 'type = "jkr"\nwork_of_adhesion = 0.1', BRIDGE + "volume_ratio = 0.01"):
        run_ok("run", write_deck(folder, cohesion(keys)), "--force", folder=folder)
    run_ok("run", write_deck(folder, *RIGID), "--force", folder=folder)


def test_keys_that_are_missing_or_given_twice(folder):
    refused_deck(folder, cohesion('type = "force"'), words=["sticky.toml:", "needs pull_off or bond_number"])
    refused_deck(folder, cohesion('type = "force"\npull_off = 1\nbond_number = 1'), words=["sticky.toml:", "remove one"])
    refused_deck(folder, cohesion('type = "dmt"'), words=["sticky.toml:", "work_of_adhesion"])
    refused_deck(folder, cohesion(BRIDGE), words=["sticky.toml:", "needs volume or volume_ratio"])
    refused_deck(folder, cohesion("work_of_adhesion = 1"), words=["sticky.toml:", "type"])
    refused_deck(folder, cohesion('type = "glue"'), words=["sticky.toml:", "glue", "force", "dmt", "jkr", "bridge"])
    refused_deck(folder, cohesion('type = "dmt"\nwork_of_adhesion = 1\njkr_end = "load"'), words=["sticky.toml:", "jkr_end"])


def test_negative_numbers(folder):
    for keys in ('type = "force"\npull_off = -1', 'type = "force"\nbond_number = -1', 'type = "dmt"\nwork_of_adhesion = -1',
                 'type = "jkr"\nwork_of_adhesion = 0', BRIDGE + "volume = -1", BRIDGE + "volume_ratio = 0",
                 BRIDGE.replace("0.07", "-0.07") + "volume_ratio = 0.1"):
        refused_deck(folder, cohesion(keys), words=["sticky.toml:"])


def test_laws_of_other_contacts(folder):
    linear = (('law = "hertz"', 'law = "linear"'), ("young_modulus = 1e8\npoisson_ratio = 0.25\n", ""),
              ('young_modulus = "rigid"\n', ""), ("restitution = 0.5", "restitution = 0.5\nstiffness = 1000"),
              ("restitution = 0.6", "restitution = 0.6\nstiffness = 1000"))
    refused_deck(folder, cohesion('type = "jkr"\nwork_of_adhesion = 0.1'), *linear,
                 words=["sticky.toml:", "glass and glass", "Hertz", 'law = "hertz"'])
    refused_deck(folder, *RIGID, cohesion('type = "jkr"\nwork_of_adhesion = 0.1'),
                 words=["sticky.toml:", "glass and glass", "beyond contact", "dmt"])
    refused_deck(folder, *RIGID, cohesion(BRIDGE + "volume_ratio = 0.01"), words=["sticky.toml:", "beyond contact"])
    refused_deck(folder, *RIGID, cohesion(DMT + '\nfriction_load = "thornton"'), words=["sticky.toml:", "thornton"])
    refused_deck(folder, cohesion(DMT + '\nrange = "1 um"'), words=["sticky.toml:", "range", "nonsmooth"])
    refused_deck(folder, ('law = "hertz"', 'law = "hertz"\nfriction = "dae"'), words=["sticky.toml:", "cohesion"])
    refused_deck(folder, ('scheme = "dem"', 'scheme = "event"'), ('[dem]\nlaw = "hertz"', '[event]\nimpact_law = "multiple"'),
                 ("friction = 0.4", "friction = 0"), ("friction = 0.3", "friction = 0"), words=["sticky.toml:", "cohesion"])


def test_two_rigid_materials_that_attract(folder):
    both = '\n[pairs."steel-steel"]\nfriction = 0\nrestitution = 0\ncohesion = { type = "dmt", work_of_adhesion = 1 }\n'
    refused_deck(folder, more=both, words=["sticky.toml:", "steel and steel", "rigid"])


def test_pulls_that_nothing_carries(folder):
    # 2 pi w R of 25 mm against 4/3 E* sqrt(R) d^1.5 of d = 15 mm.
    refused_deck(folder, cohesion('type = "dmt"\nwork_of_adhesion = 1e7'),
                 words=["sticky.toml:", "glass and glass", "1.57e+06 N", "overlap_limit", "young_modulus"])
    refused_deck(folder, cohesion(BRIDGE + "volume = 1e-3"), words=["sticky.toml:", "0.001 m3", "R^3 = 0.000125 m3"])
    refused_deck(folder, ("gravity = [0, 0, -9.81]", "gravity = [0, 0, 0]"), cohesion('type = "force"\nbond_number = 2'),
                 words=["sticky.toml:", "bond_number", "gravity", "pull_off"])


def test_a_pull_far_above_the_weight_is_warned_of(folder):
    result = run_ok("run", write_deck(folder, cohesion('type = "force"\nbond_number = 2e4'), ("1e8", "1e11"),
                                      ('"0.1 ms"', '"1 us"'), ('"0.4 ms"', '"4 us"')), folder=folder)
    check_in("times the weight of the lightest body", result.stderr, "a warning")
