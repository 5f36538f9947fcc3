"""`scree verify friction`: slope, oscillator and stacks with every scheme against exact answers."""
import math
import shutil

from scree.verify.laboratory import Laboratory
from scree.verify.sticking_stacks import stack_deck
from scree_program import check, check_close, check_in, program, run_ok, source_folder, verified, verify

SCHEMES = {"nonsmooth nsgs", "nonsmooth ipm", "dem spring", "dem dae"}
SAME_BITS = {"nonsmooth nsgs", "dem spring"}


def _table(folder, case, *arguments, ranks=1):
    return verified(folder / f"{case}{ranks}.csv", "friction", "--case", case, *arguments, ranks=ranks)


def test_all_schemes_agree_with_exact_answers(folder):
    rows = _table(folder, "compare")
    cases = {row["case"] for row in rows}
    check(len(cases) == 12, "six slopes, three oscillators, three stacks", cases)
    for case in cases:
        check({row["scheme"] for row in rows if row["case"] == case} >= SCHEMES, f"{case}: all schemes are there", rows)

    def found(case, scheme, step, column):
        values = [float(row[column]) for row in rows
                  if (row["case"], row["scheme"], float(row["dt[s]"])) == (case, scheme, step)]
        check(len(values) == 1, f"one row of {case} with {scheme}", values)
        return values[0]

    # A block that slides from 1 m/s to 8.3575 m/s: half a step of the difference is too much.
    for step in (1e-2, 1e-3):
        check_close(found("slope 0.5 tan down", "nonsmooth nsgs", step, "error[m]"), step / 2 * 7.3575,
                    "error of a block that slides", relative=1e-6)
    # mu N / k = tan(30 deg) * 8.4957 N / 1e5 N/m late.
    check_close(found("slope 1 tan down", "dem spring", 2e-4, "error[m]"), 4.905e-5, "soft contact is late", relative=1e-3)
    # Friction springs push a block that turns back; rigid contact does not.
    check(found("slope 0.5 tan up", "dem spring", 2e-4, "speed[m/s]") > 3e-3, "springs push")
    check(found("slope 0.5 tan up", "nonsmooth nsgs", 1e-3, "speed[m/s]") < 1e-3, "rigid contact does not")


def test_the_same_rows_on_one_and_two_ranks(folder):
    one = _table(folder, "compare", "--quick")
    two = _table(folder, "compare", "--quick", ranks=2)
    check(len(one) == len(two), "the same rows")
    n_same = 0
    for a, b in zip(one, two):
        if a["scheme"] in SAME_BITS:
            n_same += 1
            check({**a, "wall[s]": ""} == {**b, "wall[s]": ""}, "two ranks find the bits that one finds", f"{a}\n{b}")
    check(n_same == 5, "slope, oscillator and stack", n_same)


def test_threshold(folder):
    exact = (math.sqrt(15) - 2 * math.sqrt(3)) / 3
    rows = {row["scheme"]: row for row in _table(folder, "threshold")}
    check(rows.keys() >= SCHEMES, "all schemes are there", rows)
    for scheme, row in rows.items():
        rigid = scheme.startswith("nonsmooth")
        check_close(float(row["mu_c"]), exact, f"threshold of {scheme}", absolute=1e-5 if rigid else 1e-3)
        check(0 < float(row["stands"]) - float(row["falls"]) < 1e-5, "the bracket is narrow", row)
    quick = {row["scheme"]: row for row in _table(folder, "threshold", "--quick")}
    check(quick.keys() == rows.keys(), "the quick form has the same schemes", quick)
    for scheme, row in quick.items():
        check_close(float(row["mu_c"]), exact, f"quick threshold of {scheme}", absolute=2e-3)


def test_the_smallest_stack_rests_exactly_with_projection_and_never_without(folder):
    rows = _table(folder, "settling", "--quick")
    for projection, above, below in (("velocity", 0, 1e-24), ("none", 1e-13, 1e-6)):
        late = [float(row["kinetic_energy[J]"]) for row in rows if row["projection"] == projection and float(row["time[s]"]) > 2]
        check(len(late) > 5 and all(above <= energy < below for energy in late), f"floor with projection = {projection}", late)


def test_a_changed_height_of_the_prototype_fails_the_check(folder):
    reference = folder / "tests/reference/dae/cannonball.csv"
    reference.parent.mkdir(parents=True)
    shutil.copytree(source_folder() / "inputs/verification", folder / "inputs/verification")
    text = (source_folder() / "tests/reference/dae/cannonball.csv").read_text()
    changed = text.replace("3,1,3,5.210089e-27,4,4,0.5,1.3657901568", "3,1,3,5.210089e-27,4,4,0.5,1.3656901568")
    check(changed != text, "the reference has the row to be changed")
    reference.write_text(changed)
    result = verify("friction", "--case", "settling", "--quick", "--source", folder)
    check(result.code == 1, "exit code of a failed check is 1", result)
    check_in("FAILED 3 disks: height of the top", result.stdout, "the failed check is named")


def test_a_stack_with_too_little_friction_falls(monkeypatch):
    monkeypatch.setenv("SCREE", str(program()))
    with Laboratory(source=source_folder()) as laboratory:
        decks = [stack_deck(laboratory, 3, "velocity", mu=mu, end=1, integrator="symplectic_euler") for mu in (0.12, 0.15)]
        falls, stands = (course.bodies().position[-1, 1] for course in laboratory.run_all(decks))
    check(falls < 1.36 < stands, "the top falls with mu = 0.12 and stays with 0.15", (falls, stands))


def test_decks_run_on_any_number_of_ranks(folder):
    # Three ranks and one disk, or three: some have none.
    soft = ("simulation.scheme=dem", "time.step=2e-4", "pairs.body-body.stiffness=1e5", "pairs.body-floor.stiffness=1e5")
    for name in ("slope", "oscillator", "stack3", "stack6", "stack10"):
        deck = source_folder() / "inputs" / "verification" / f"{name}.toml"
        for scheme, overrides in (("rigid", ()), ("soft", soft)):
            if scheme == "soft" and name not in ("slope", "stack10"):
                continue
            for ranks in (1, 3):
                run_ok("-q", "run", deck, "--set", "simulation.end_time=0.02", f"output.name={name}{scheme}{ranks}",
                       *overrides, ranks=ranks, folder=folder)
            result = run_ok("compare", folder / "results" / f"{name}{scheme}1", folder / "results" / f"{name}{scheme}3")
            check_in("the results are bitwise equal", result.stdout, f"{name}, {scheme}: one rank and three")
