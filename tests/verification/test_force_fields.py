"""Forces of decks: a free and a damped oscillator against their closed forms, with a closed energy balance."""
import math

from decks import constant, grains, lattice
from scree_program import check, check_close, rows_of, run_ok



def _end(folder, name, step, drag=0.0, end=2.0, x0=1.5, v0=0.0, periodic=False):
    """The last row of a run."""
    deck = folder / f"{name}.toml"
    deck.write_text(grains({
        "physics": None, "obstacles": None, "domain": {"lower": [-4, -1], "upper": [4, 1], "periodic": [periodic, False]},
        "forces.spring": {"type": "spring", "stiffness": [3, 0]}, "forces.medium": {"type": "drag", "coefficient": drag},
        "materials.stone.density": 0.9549296585513721,    # pi / 0.3 kg/m2 makes 0.75 kg of R = 0.5 m
        "pairs.stone-stone": {"friction": 0, "restitution": 0},
        "particles.disk": {"radius": constant(0.5), "source": lattice(1, [x0 - 0.5, -0.5], [x0 + 0.5, 0.5]), "velocity": [v0, 0]},
        "analysis.every": end, "measures": {"energy": {"type": "energy"}, "extent": {"type": "extent"}}}, end=end, step=step))
    run_ok("-q", "run", deck, folder=folder)
    row = rows_of(folder / "results" / name / f"{name}.scalars.csv")[-1]
    check_close(row["energy_imbalance"], 0, "the energy balance closes", absolute=1e-12)
    return row


def _exact(time, drag, x0, v0=0.0):
    """m x'' = -k x - c x' with m = 0.75, k = 3."""
    decay = drag / 1.5
    omega = math.sqrt(4 - decay * decay)
    return math.exp(-decay * time) * (x0 * math.cos(omega * time) + (v0 + decay * x0) / omega * math.sin(omega * time))


def test_oscillators_converge_with_order_one_and_their_books_close(folder):
    for drag in (0.0, 0.6):
        errors = []
        for step in (0.01, 0.005, 0.0025):
            row = _end(folder, f"drag{drag:g}_{step:g}", step, drag)
            errors.append(abs(row["extent_center_x"] - _exact(2.0, drag, 1.5)))
            check((row["energy_force_work"] < -0.1) == (drag > 0), "drag takes energy, a spring does not", row)
        check(errors[0] < 0.05, "the oscillator is where it should be", errors)
        for coarse, fine in zip(errors, errors[1:]):
            check(1.7 < coarse / fine < 2.3, "half the step, half the error", errors)


def test_a_spring_holds_a_body_through_a_periodic_face(folder):
    row = _end(folder, "periodic", 0.001, x0=3.0, v0=6.0, periodic=True)
    check_close(row["extent_center_x"], _exact(2.0, 0, 3.0, 6.0), "the place after it has crossed", absolute=0.02)
