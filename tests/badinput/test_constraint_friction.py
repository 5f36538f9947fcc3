"""Decks of soft bodies with friction as a constraint: what is refused or warned about."""
from decks import constant, grains, lattice
from refusal import refused
from scree_program import check, check_in, run_ok

# A disk of 1 kg that is thrown along a rough floor.
DECK = grains({
    "domain": {"lower": [-2, -1], "upper": [2, 2]}, "physics.gravity": [0, -10], "dem.friction": "dae",
    "materials": {"body": {"density": 1.2732395447351628}, "floor": {"density": 1}},
    "pairs": {"body-body": {"friction": 0.5, "restitution": 0.5, "stiffness": 1e5},
              "body-floor": {"friction": 2, "restitution": 0.5, "stiffness": 1e5}},
    "particles.disk": {"rotates": False, "velocity": [0.5, 0], "radius": constant(0.5), "source": lattice(1, [-0.5, 0], [0.5, 1])},
    "obstacles.floor.material": "floor"}, scheme="dem", end="0.2 s", step="0.2 ms", material="body")


def _deck(folder, name="disk"):
    path = folder / f"{name}.toml"
    path.write_text(DECK)
    return path


def test_what_has_no_effect_or_no_meaning_is_refused(folder):
    deck = _deck(folder)
    for options, words in (
        (("dem.friction=spring", "dem.integrator=gear"), ("dem.integrator", 'friction = "dae"')),
        (("dem.friction=none", "dem.projection=false"), ("dem.projection", 'friction = "dae"')),
        (("dem.integrator=euler", ), ("integrator", "symplectic_euler")),
        (('pairs."body-floor".rolling_friction=0.1', ), ("floor", "rolling_friction")),
        (("time.step=5e-3", ), ("unstable", "body 0")),
    ):
        refused(folder, "run", deck, *(word for option in options for word in ("--set", option)), words=list(words))


def test_too_long_a_step_is_reported(folder):
    # 35 steps to the period 2 pi sqrt(m / 2 k) of 14 ms.
    output = ("--set", f"output.directory={folder}")
    result = run_ok("run", _deck(folder), *output, "--set", "time.step=5e-4")
    check_in("at most 0.0004 s is advised", result.stderr, "more than a 35th of a period")
    check("advised" not in run_ok("run", _deck(folder, "short"), *output).stderr, "a 70th is fine", result)


def test_a_resolved_deck_means_the_same(folder):
    for friction in ("dae", "spring"):
        text = run_ok("info", _deck(folder), "--set", f"dem.friction={friction}").stdout
        resolved = folder / f"{friction}.toml"
        resolved.write_text(text)
        check(run_ok("info", resolved).stdout == text, f"friction = {friction}: resolved again it is the same", text)
