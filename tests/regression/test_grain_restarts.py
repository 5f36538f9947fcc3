"""Decks with materials, all schemes of grains with inertia: half a run and the rest, by `scree restart` and by
`scree run --resume`, end where the run that never stopped ends."""
import json

from decks import grains, lattice, uniform
from scree_program import check, check_in, run_ok

DECK = {
    "simulation.seed": 5, "domain.upper": [2, 2], "physics.gravity": [0.5, -9.81], "neighbors.skin": "5 cm",
    "decomposition.block_cells": 1, "materials.stone.young_modulus": "1 MPa",
    "materials.steel": {"density": 7800, "young_modulus": "1 MPa"},
    "particles.stones": {"radius": uniform("8 cm", "10 cm"), "source": lattice(0.22, [0.1, 0.02], [1.8, 0.6]),
                         "random_speed": 0.3},
    "obstacles.floor": None,
    "obstacles.box": {"type": "box", "side": "inside", "material": "steel", "lower": [0, 0], "upper": [2, 2]},
    "output.checkpoint.every": "0.1 s", "analysis.every": "50 ms", "measures.energy": {"type": "energy"}}
# Scheme, friction of soft bodies, time step, friction, ranks of the two halves.
SCHEMES = {
    "nonsmooth": ("nonsmooth", None, "5 ms", 0.3, (2, 2)),    # sums depend on the ranks
    "spring": ("dem", "spring", "0.1 ms", 0.3, (1, 3)),
    "dae": ("dem", "dae", "0.1 ms", 0.3, (2, 2)),    # as in "nonsmooth"
    "event": ("event", None, "50 ms", 0, (1, 3)),
}


def _hash(results):
    return json.loads((results / "summary.json").read_text())["state_hash"]


def _check_halves(folder, name):
    scheme, soft_friction, step, friction, (first, second) = SCHEMES[name]
    pair = {"friction": friction} | ({"stiffness": "2e6 N/m"} if scheme == "dem" else {})
    changes = DECK | {"pairs": {"stone-stone": pair | {"restitution": 0.4}, "stone-steel": pair | {"restitution": 0.6}}}
    if soft_friction:
        changes["dem.friction"] = soft_friction
    deck = folder / "grains.toml"
    deck.write_text(grains(changes, scheme=scheme, end="0.2 s", step=step))

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
