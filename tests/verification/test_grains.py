"""`scree verify grains` finds the closed forms of rigid and soft grains with the decks' own code, on one rank and on three."""
import csv

from decks import constant, grains
from scree_program import check, check_close, run_ok, verified, verify

SLIDING = grains({
    "domain.lower": [0, -0.1], "domain.upper": [2, 1], "solver": None, "pairs.stone-stone.restitution": 0,
    "particles.block": {"radius": constant("5 cm"), "velocity": [1, 0], "rotates": False,
                        "source": {"type": "file", "path": "block.csv"}},
    "analysis.every": 0.5, "measures.block": {"type": "extent"}}, end=0.5, step="2 ms")


def _found(rows, case, quantity, variant):
    found = [float(row["found"]) for row in rows
             if (row["case"], row["quantity"], row["variant"]) == (case, quantity, variant)]
    check(len(found) == 1, f"one row for {case}, {quantity}, {variant}", found)
    return found[0]


def _check_numbers(rows):
    # mu (1 + e) v_n = 0.4 * 1.5 * 0.2 m/s, and 2.5/r of it.
    case = "Chung 6, spinning, plane"
    check_close(abs(_found(rows, case, "v_t [m/s]", "spin 21 rad/s")), 0.12, "velocity of a sphere that slips", 1e-9)
    check_close(abs(_found(rows, case, "spin [rad/s]", "spin 21 rad/s")), 21 - 3.0, "its spin", 1e-9)
    # 3 m/s of 21 m/s are lost, r omega = 7.5 m/s.
    case = "Chung 5, tangential, plane"
    check_close(abs(_found(rows, case, "v_t [m/s]", "v_t = 21 m/s")), 18, "tangential velocity of a fast impact", 1e-9)
    check_close(abs(_found(rows, case, "spin [rad/s]", "v_t = 21 m/s")), 7.5e5, "its spin", 1e-9)
    check_close(_found(rows, "slide to roll, sphere", "u rolling [m/s]", "u0 = 2 m/s"), 10 / 7, "rolling speed", 1e-9)
    check_close(_found(rows, "slope, sphere", "u at 0.5 s [m/s]", "mu = 0.6"), 0.5 * 9.81 * 5 / 7 / 5**0.5,
                "speed of a sphere that rolls down", 1e-9)
    # Hertz's impacts: numbers of the closed forms by another program.
    for case, solid, overlap, force, contact in (
            ("Chung 1, head-on, soft", "glass", 274.11, 10.697, 40.34),
            ("Chung 1, head-on, soft", "limestone", 368.30, 7.108, 54.20),
            ("Chung 2, plane, soft", "Al alloy", 49.717, 11.370, 731.7),
            ("Chung 2, plane, soft", "Mg alloy", 52.123, 7.233, 767.1)):
        for quantity, value in (("overlap [um]", overlap), ("force [kN]", force), ("contact [us]", contact)):
            check_close(_found(rows, case, quantity, solid), value, f"{case}, {solid}: {quantity}", 0.01)
    case = "pyramid of three disks"
    check(_found(rows, case, "sinks at first [m/s2]", "mu = 0.1355") > 8e-3, "the pyramid falls below 0.136294")
    check(abs(_found(rows, case, "sunk after 1 s [m]", "mu = 0.137")) < 1e-10, "and stands above")


def test_all_rows_hold_are_the_same_on_1_and_3_ranks_and_as_worked_out_by_hand(folder):
    rows = verified(folder / "grains1.csv", "grains")
    _check_numbers(rows)
    check(all(row["holds"] == "yes" for row in rows), "all rows hold")
    check(len(rows) > 1300, "no case is left out", len(rows))
    on_three = verified(folder / "grains3.csv", "grains", ranks=3)
    check(len(on_three) == len(rows), "the same rows")
    for one, three in zip(rows, on_three):
        # Solvers that work on all contacts at once agree to their tolerance only.
        if "auto" not in one["case"]:
            check(one == three, "three ranks find the bits that one finds", f"{one}\n{three}")


def test_groups_of_cases(folder):
    result = verify("grains", "--case", "impacts", ranks=2)
    check(result.code == 0 and "Chung 8" in result.stdout and "slide to roll" not in result.stdout, "only the cases asked for", result)
    result = verify("grains", "--case", "motion")
    check(result.code == 2 and "impacts" in result.stderr, "a group that does not exist ends with the names of all", result)


def test_a_block_that_slides_to_rest_comes_half_a_step_short(folder):
    # Positions follow the velocity at the end of the step (docs/method.md, "Order"): v^2 / (2 mu g) - dt v / 2.
    (folder / "block.csv").write_text("x,y\n0.2,0.05\n")
    (folder / "slide.toml").write_text(SLIDING)
    run_ok("-q", "run", folder / "slide.toml", folder=folder)
    with open(folder / "results/slide/slide.scalars.csv", newline="") as file:
        last = list(csv.DictReader(file))[-1]
    exact, short = 1 / (2 * 0.3 * 9.81), 0.5 * 2e-3
    # The step in which it stops is not a whole one: at most dt^2 mu g / 8.
    check_close(float(last["block_center_x[m]"]) - 0.2, exact - short, "way of the block", absolute=2e-6)
    check_close(short / exact, 0.006, "the share that the documents have", absolute=2e-4)
