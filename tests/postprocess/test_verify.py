"""What verifications make of their numbers: tables, means over seeds, agreement, impacts of the damped oscillator."""
import math

from scree.verify.checks import CaseTable, Checks, Row
from scree.verify.flows import Mean, agree, at_infinite_stiffness, mean_of_seeds
from scree.verify.numbers import impact_damping, runge_kutta, shortest
from scree_program import check, check_close, verify


def test_mean_deviation_and_error_over_seeds():
    mean = mean_of_seeds([1, 2, 6])
    check_close(mean.value, 3, "mean", 1e-15)
    check_close(mean.deviation, math.sqrt(7), "deviation: (4 + 1 + 9) / 2", 1e-15)
    check_close(mean.error, math.sqrt(7 / 3), "error of the mean", 1e-15)
    check((mean_of_seeds([4]).value, mean_of_seeds([4]).error) == (4, 0), "of one run")
    check(mean_of_seeds([]) is None, "no run, no mean")


def test_a_straight_line_over_the_duration_of_contacts_is_found_again():
    values = [0.25 + 0.1 / math.sqrt(k) for k in (1, 4, 16)]
    check_close(at_infinite_stiffness([1, 4, 16], values), 0.25, "value at infinite stiffness", 1e-12)
    check_close(at_infinite_stiffness([1, 4], [2, 2]), 2, "a constant", 1e-12)


def test_agreement_is_3_percent_or_twice_the_scatter_of_seeds():
    def mean(value, deviation, n=3):
        return Mean(value, deviation, n)

    check(agree(mean(1.029, 0), mean(1, 0)), "within 3 %")
    check(not agree(mean(1.031, 0), mean(1, 0)), "beyond 3 %")
    check(not agree(mean(-1, 0), mean(1, 0)), "another sign")
    check(agree(mean(1.099, 0.03), mean(1, 0.04)), "within 2 * 0.05")
    check(not agree(mean(1.101, 0.03), mean(1, 0.04)), "beyond it")
    check(agree(mean(1.11, 0, 1), mean(1, 0.04)), "one run is as scattered as those of the other")
    check(not agree(mean(1.12, 0, 1), mean(1, 0.04)), "but no more")
    check(not agree(mean(math.nan, 0), mean(1, 0)), "a number that is none agrees with nothing")


def test_rows_hold_within_their_bound_and_the_worst_is_shown(folder):
    lines = []
    table = CaseTable(lines.append, "Title")
    table.add("case", [Row("q [m]", "a", 1, 1.5, 1), Row("q [m]", "b", 1, 1.7, 1), Row("q [m]", "c", 1, 1.6, 1)])
    check(" b " in lines[-1] and f"{'3':>4}" in lines[-1], "the worst of three rows", lines[-1])
    check(table.finish(folder / "all.csv"), "all hold")
    check(len((folder / "all.csv").read_text().splitlines()) == 4, "titles and all rows")
    for found in (2.1, math.nan):
        lines = []
        table = CaseTable(lines.append, "Title")
        table.add("case", [Row("q [m]", "a", 1, 1.99, 1), Row("q [m]", "b", 1, found, 1)])
        check(" b " in lines[-1], "what does not hold is shown", lines[-1])
        check(not table.finish() and any(line.startswith("FAILED case, b") for line in lines), "and fails", lines)
    checks = Checks(lines.append)
    checks.require("share", 0.5, 0.6, 1)
    check(lines[-1].startswith("FAILED share = 0.5000"), "a bound with a line of its own", lines[-1])


def test_small_numerical_methods():
    for e in (1, 0.8, 0.5, 0.05):
        check_close(impact_damping(e).restitution, e, "restitution", 1e-12)
    check_close(impact_damping(1).duration, math.pi, "duration of an elastic impact", 1e-15)
    check_close(runge_kutta(lambda y: -y, 1.0, 1, 100), math.exp(-1), "exponential decay", 1e-9)
    check([shortest(x) for x in (1.0, 0.1, 1e-7, math.nan)] == ["1", "0.1", "1e-07", "nan"], "numbers as text")


def test_what_verify_is_asked_for():
    said = verify()
    check(said.code == 0 and "contact-law" in said.stdout, "without a name it lists the verifications", said)
    said = verify("grain")
    check(said.code == 2 and "grains" in said.stderr, "a name that does not exist ends with those that do", said)
    said = verify("grains", "--source", "nowhere")
    check(said.code == 2 and "--source" in said.stderr, "a folder without decks", said)
