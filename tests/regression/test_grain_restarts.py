"""Decks with materials, all schemes of grains with inertia: half a run and the rest, by `scree restart` and by
`scree run --resume`, end where the run that never stopped ends."""
import json

from scree_program import check, check_in, run_ok

DECK = """\
[simulation]
title = "grains"
dimension = 2
end_time = "0.2 s"
seed = 5
{scheme}
[domain]
lower = [0, 0]
upper = [2, 2]

[time]
step = "{step}"

[physics]
gravity = [0.5, -9.81]

[neighbors]
skin = "5 cm"

[decomposition]
block_cells = 1

[materials.stone]
density = "2500 kg/m3"
young_modulus = "1 MPa"

[materials.steel]
density = 7800
young_modulus = "1 MPa"

[pairs."stone-stone"]
friction = {friction}
restitution = 0.4
{stiffness}
[pairs."stone-steel"]
friction = {friction}
restitution = 0.6
{stiffness}
[particles.stones]
material = "stone"
radius = {{ distribution = "uniform", min = "8 cm", max = "10 cm" }}
source = {{ type = "lattice", spacing = 0.22, region = {{ lower = [0.1, 0.02], upper = [1.8, 0.6] }} }}
random_speed = 0.3

[obstacles.box]
type = "box"
side = "inside"
material = "steel"
lower = [0, 0]
upper = [2, 2]

[output.checkpoint]
every = "0.1 s"

[analysis]
every = "50 ms"

[measures.energy]
type = "energy"
"""

DEM = 'scheme = "dem"\n[dem]\nlaw = "linear"\nfriction = "{}"\n'
# Table of the scheme, time step, friction, ranks of the two halves.
SCHEMES = {
    "nonsmooth": ('scheme = "nonsmooth"\n[solver]\ntype = "nsgs"\n', "5 ms", 0.3, (2, 2)),    # sums depend on the ranks
    "spring": (DEM.format("spring"), "0.1 ms", 0.3, (1, 3)),
    "dae": (DEM.format("dae"), "0.1 ms", 0.3, (2, 2)),    # as in "nonsmooth"
    "event": ('scheme = "event"\n[event]\nimpact_law = "multiple"\n', "50 ms", 0, (1, 3)),
}


def _hash(results):
    return json.loads((results / "summary.json").read_text())["state_hash"]


def _check_halves(folder, name):
    scheme, step, friction, (first, second) = SCHEMES[name]
    deck = folder / "grains.toml"
    deck.write_text(DECK.format(scheme=scheme, step=step, friction=friction,
                                stiffness='stiffness = "2e6 N/m"\n' if "dem" in scheme else ""))

    def run(*arguments, ranks):
        return run_ok("-q", *arguments, ranks=ranks, folder=folder)

    run("run", deck, "--set", "output.directory=whole", ranks=second)
    whole = folder / "whole/grains"
    for way in ("restart", "resume"):
        results = folder / way / "grains"
        directory = "output.directory=" + way
        run("run", deck, "--set", directory, "simulation.end_time=0.1", ranks=first)
        check(_hash(results) != _hash(whole), f"{name}: half of the run is not the whole")
        if way == "restart":
            checkpoint = sorted(results.glob("checkpoint/*.scree"))[-1]
            run("restart", checkpoint, "--set", "simulation.end_time=0.2", ranks=second)
        else:
            run("run", deck, "--resume", "--set", directory, ranks=second)
        result = run("compare", whole, results, ranks=1)
        check_in("bitwise equal", result.stdout, f"{name}, {way}: the comparison looked at something")
        check(_hash(results) == _hash(whole), f"{name}, {way}: the same state at the end")


def test_nonsmooth(folder):
    _check_halves(folder, "nonsmooth")


def test_soft_contact_with_springs(folder):
    _check_halves(folder, "spring")


def test_soft_contact_with_friction_as_a_constraint(folder):
    _check_halves(folder, "dae")


def test_events(folder):
    _check_halves(folder, "event")
