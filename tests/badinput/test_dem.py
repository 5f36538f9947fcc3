"""Decks of soft bodies that cannot be run end with one message and exit code 2: steps beyond the stability limit, laws
that the materials and pairs do not determine, keys that do not exist; bodies pressed too deep into each other end with
the code of that failure."""
from decks import edited
from refusal import failed, refused
from scree_program import check_in, run_ok

BAD_INPUT = 2
SOLVER_FAILURE = 3

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

MODULI = "young_modulus = 1e8\npoisson_ratio = 0.25\n"
STIFF = 'restitution = 0.5\nstiffness = "1 kN/m"'


def write_deck(folder, *changes, more=""):
    path = folder / "soft.toml"
    path.write_text(edited(DECK, *changes) + more)
    return path


def refused_deck(folder, *changes, words, more=""):
    refused(folder, "run", write_deck(folder, *changes, more=more), words=words)


def test_a_density_in_another_unit(folder):
    refused_deck(folder, ("density = 2500", "density = 2.5"),
                 words=["time.step = 0.0001 s is unstable", "soft.toml:2", "the density of glass is 2.5 kg/m3", "2.5 g/cm3"])


def test_the_deck_itself_runs_and_tells_how_long_its_step_is(folder):
    run_ok("run", write_deck(folder), folder=folder)
    # The Rayleigh time is pi R sqrt(rho / G) / (0.1631 nu + 0.8766), G = E / (2 (1 + nu)): 1.354 ms.
    result = run_ok("run", write_deck(folder, ('"0.1 ms"', '"0.3 ms"'), ('"0.4 ms"', '"0.6 ms"')), "--force", folder=folder)
    check_in("0.00027 s is advised", result.stderr, "a step longer than a fifth of the Rayleigh time is warned of")


def test_a_step_beyond_the_stability_limit_is_refused_with_limit_and_body(folder):
    refused_deck(folder, ('"0.1 ms"', '"1.5 ms"'),
                 words=["time.step = 0.0015 s", "0.001354 s", "Rayleigh time", "body 0", "at most 0.00027 s"])
    # A smaller body, among those added last, sets another limit.
    small = """
[particles.one]
material = "glass"
radius = { distribution = "constant", value = "1 cm" }
source = { type = "lattice", spacing = 0.02, region = { lower = [0.5, 0.5, 0.5], upper = [0.52, 0.52, 0.52] } }
"""
    refused_deck(folder, ('"0.1 ms"', '"1 ms"'), more=small, words=["0.0002707 s", "of body 9"])
    # 2 sqrt(m*/k) (sqrt(1 + beta^2) - beta), m* half of the 1.309 kg of a body, k = 1 kN/m, beta = 0.2155 for e = 0.5.
    linear = (('law = "hertz"', 'law = "linear"'), (MODULI, ""), ('young_modulus = "rigid"\n', ""),
              ("restitution = 0.5", STIFF), ("restitution = 0.6", 'restitution = 0.6\nstiffness = 500'))
    run_ok("run", write_deck(folder, *linear), folder=folder)
    refused_deck(folder, *linear, ('"0.1 ms"', '"60 ms"'), words=["0.04132 s", "stability limit of a contact", "body 0"])
    # No restitution is critical damping, and a collision would last for ever.
    critical = (*linear[:3], ("restitution = 0.5", STIFF.replace("0.5", "0")), linear[4])
    refused_deck(folder, *critical, ('"0.1 ms"', '"22 ms"'), words=["0.02119 s", "at most 0.008 s"])


def test_a_rigid_body_on_a_soft_floor_has_a_limit(folder):
    swapped = (('[materials.glass]\ndensity = 2500\n' + MODULI, '[materials.glass]\ndensity = 2500\nyoung_modulus = "rigid"\n'),
               ('density = 7800\nyoung_modulus = "rigid"\n', 'density = 7800\n' + MODULI))
    one = ("upper = [0.3, 0.3, 0.1] } }", "upper = [0.1, 0.1, 0.1] } }")
    run_ok("run", write_deck(folder, *swapped, one), folder=folder)
    # As if the body had the modulus of its floor.
    refused_deck(folder, *swapped, one, ('"0.1 ms"', '"1.5 ms"'), words=["0.001354 s", "Rayleigh time", "body 0"])
    # Two of them may meet, and would not deform.
    refused_deck(folder, *swapped, words=["soft.toml:", "glass and glass", "rigid", "young_modulus"])
    refused_deck(folder, (MODULI, 'young_modulus = "rigid"\n'), words=["soft.toml:", "glass and glass", "rigid"])


def test_bodies_that_are_poured_have_limits_too(folder):
    inlet = """
[inlets.rain]
type = "pour"
material = "glass"
rate = 1e5
radius = { distribution = "constant", value = "2 mm" }
region = { lower = [0.5, 0.5, 0.5], upper = [0.8, 0.8, 0.8] }
"""
    for ranks in (1, 3):
        failed(folder, "run", write_deck(folder, more=inlet), "--force", code=BAD_INPUT, ranks=(ranks, ),
               words=["step ", "time.step = 0.0001 s", "5.415e-05 s", "of body 9"])


def test_a_law_needs_its_numbers(folder):
    refused_deck(folder, (MODULI, ""), words=["soft.toml:", "glass", "young_modulus", "poisson_ratio"])
    refused_deck(folder, ('young_modulus = "rigid"\n', ""), words=["soft.toml:", "glass and steel", "materials.steel"])
    refused_deck(folder, ("restitution = 0.5", STIFF), words=["soft.toml:", "stiffness", "Hertz", 'law = "linear"'])
    refused_deck(folder, ('law = "hertz"', 'law = "linear"'), words=["soft.toml:", "glass and glass", "pairs", "stiffness"])
    linear = (('law = "hertz"', 'law = "linear"'), ("restitution = 0.6", "restitution = 0.6\nstiffness = 500"))
    refused_deck(folder, *linear, ("restitution = 0.5", 'restitution = 0.5\nstiffness = "rigid"'),
                 words=["soft.toml:29", "glass and glass", "is rigid"])
    refused_deck(folder, *linear, ("restitution = 0.5", STIFF + '\ntangential_ratio = "rigid"'),
                 words=["soft.toml:29", "glass and glass", 'tangential_ratio = "rigid"', "2/7"])
    refused_deck(folder, ("restitution = 0.5", "restitution = 0.5\nreference_load = 1\n" + MODULI),
                 words=["soft.toml:29", "glass and glass", "young_modulus", "[materials]"])


def test_keys_and_words_that_do_not_exist(folder):
    refused_deck(folder, ('law = "hertz"', 'law = "herz"'), words=["soft.toml:17", "[dem]", "hertz", "linear"])
    refused_deck(folder, ('law = "hertz"', 'frictoin = "none"'), words=["soft.toml:17", "frictoin", "[dem]"])
    refused_deck(folder, ('law = "hertz"', 'overlap_limit = 0'), words=["soft.toml:17", "overlap_limit"])
    refused_deck(folder, ('law = "hertz"', 'attraction = 1'), words=["soft.toml:17", "attraction"])
    refused_deck(folder, ('law = "hertz"', 'friction = "dae"\nattraction = true'), words=["soft.toml:18", "attraction", "dae"])
    refused_deck(folder, ('law = "hertz"', 'tangential = "mindlin"'), words=["soft.toml:17", "tangential", "rescaled"])
    refused_deck(folder, ('law = "hertz"', 'law = "linear"\ntangential = "whole"'), words=["soft.toml:18", "tangential", "hertz"])
    refused_deck(folder, ('law = "hertz"', 'friction = "none"\ntangential = "whole"'), words=["soft.toml:18", "tangential", "spring"])
    refused_deck(folder, ("restitution = 0.5", "restitution = 1.5"), words=["soft.toml", "restitution"])


def test_a_body_that_is_lost_is_named(folder):
    for speed, words in (("1e200", ["body 3", "not finite"]), ("1e12", ["body 3", "would move by 1e+08 m"])):
        fast = f"""
[particles.fast]
material = "glass"
velocity = [{speed}, 0, 0]
radius = {{ distribution = "constant", value = "5 cm" }}
source = {{ type = "lattice", spacing = 0.1, region = {{ lower = [0.5, 0.5, 0.5], upper = [0.6, 0.6, 0.6] }} }}
"""
        changes = (("upper = [0.3, 0.3, 0.1]", "upper = [0.3, 0.1, 0.1]"), )
        failed(folder, "run", write_deck(folder, *changes, more="\n[neighbors]\nskin = 0.05\n" + fast), "--force", code=1, words=words)


def test_bodies_pressed_too_deep_end_the_run(folder):
    lid = """
[obstacles.lid]
type = "plane"
material = "steel"
point = [0, 0, 0.11]
normal = [0, 0, -1]
motion = { type = "translate", velocity = [0, 0, -2] }
"""
    failed(folder, "run", write_deck(folder, ('"0.4 ms"', '"0.1 s"'), more=lid), "--force", code=SOLVER_FAILURE,
           words=["bodies overlap by", "overlap_limit = 0.3", "young_modulus"])
