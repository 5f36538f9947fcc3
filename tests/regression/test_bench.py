"""scree_bench friction as a user meets it: its table, its rows, the same Gauss-Seidel on any number of ranks."""
import csv

from refusal import BAD_INPUT, refused
from scree_program import check, check_close, check_in, main, run_ok, scree


def bench(folder, *arguments, ranks=1):
    return run_ok("friction", *arguments, "--csv", f"{ranks}.csv", ranks=ranks, name="scree_bench", folder=folder)


def rows_of(folder, ranks=1):
    with open(folder / f"{ranks}.csv", newline="") as file:
        return list(csv.DictReader(file))


def solvers():
    """The names that `scree list solvers` prints."""
    lines = run_ok("list", "solvers").stdout.splitlines()[1:]
    return [line.split()[0] for line in lines if line.strip()]


def test_every_solver_has_a_row_for_every_compliance(folder):
    text = bench(folder, "--bodies", "60", "--tolerances", "1e-1,1e-2", "--max-time", "0.1", ranks=2).stdout
    for words in ("60 bodies", "rigid, 2 ranks", "compliance 0.01 (", "ms per 1000 bodies", "ns per contact update"):
        check_in(words, text, "the table says what was solved and how fast its parts are")
    widest = max(text.splitlines(), key=len)
    check(len(widest) <= 140, "lines fit into a terminal", widest)
    rows = rows_of(folder, 2)
    found = [(row["case"], row["stiffness"] == "inf", row["solver"]) for row in rows]
    check(len(solvers()) >= 5, "there are solvers", solvers())
    expected = [("settled", rigid, solver) for rigid in (True, False) for solver in solvers()]
    check(found == expected, "one row for each compliance and solver", found)
    for row in rows:
        check(row["failure"] == "" and row["ranks"] == "2", "no solver gave up", row)
        for limit in ("0.1", "0.01"):
            if float(row["residual"]) <= float(limit):
                check(0 < float(row[f"seconds_to_{limit}"]) <= float(row["seconds"]), f"the time to {limit} is noted", row)
                check(int(row[f"iteration_at_{limit}"]) >= 0, "so is the iteration", row)
            else:
                check(row[f"seconds_to_{limit}"] == "", f"{limit} was not reached", row)
        spent = sum(float(row[f"{part}_seconds"]) for part in ("setup", "matrix", "factor", "krylov"))
        check(0 < spent <= float(row["seconds"]) * 1.01, "the parts of a solve do not exceed it", row)
    for row in rows[1:]:
        check(row.keys() == rows[0].keys() and None not in row and None not in row.values(), "all rows have all columns", row)


def test_gauss_seidel_is_the_same_on_any_number_of_ranks(folder):
    for ranks in (1, 2):
        text = bench(folder, "--bodies", "60", "--case", "settled-gaps,settled,arch:9", "--compliance", "6.5 kN/m",
                     "--solvers", "nsgs", "--set", "nsgs.max_sweeps=150", "--tolerances", "1e-2,1e-12", "--max-time", "100",
                     ranks=ranks).stdout
        check_in("(6.5 kN/m)", text, "the case names the stiffness")
    # Of settled piles the numbers of contacts show that the piles themselves are the same.
    columns = [name for name in rows_of(folder)[0] if name.startswith("iteration_at")] + [
        "case", "bodies", "contacts", "compliance", "stiffness", "residual", "implied_overlap", "sweeps"]
    gaps, settled, arch = rows = rows_of(folder)
    for a, b in zip(rows, rows_of(folder, 2), strict=True):
        check(all(a[name] == b[name] for name in columns), "the same to the last digit", f"{a}\n{b}")
        check_close(float(a["stiffness"]), 6500, "the stiffness of the row", relative=1e-12)
        check(float(a["implied_overlap"]) > 0, "bodies overlap under their weight", a)
        check(a is arch or a["sweeps"] == "150", "all sweeps were made", a)
    check(gaps["contacts"] == settled["contacts"] and gaps["residual"] != settled["residual"],
          "gaps that may close are another problem with the same contacts", f"{gaps}\n{settled}")


def test_numbers_out_of_range_are_named(folder):
    refused(folder, "friction", "--compliance", "6 kPa", words=["--compliance 6 kPa:", "rigid", "6.5 kN/m"], ranks=(2,),
            name="scree_bench")
    # Before the larger pile is measured, which would leave rows.
    refused(folder, "friction", "--bodies", "12,5", "--max-time", "0.1", "--csv", "1.csv", words=["5 bodies", "at least 12"],
            ranks=(2,), name="scree_bench")
    for arguments in (("--bodies", "0"), ("--seeds", "-1"), ("--max-time", "0"), ("--tolerances", "1e-3,0")):
        result = scree("friction", *arguments, name="scree_bench", folder=folder)
        check(result.code == BAD_INPUT, f"exit code {BAD_INPUT}", result)
        check_in(f"{arguments[0]}: {arguments[1].split(',')[-1]} is not a", result.stderr, "the message")


def test_rows_outlive_a_wrong_option(folder):
    """One that only the second solver asks for."""
    result = scree("friction", "--case", "stack:3", "--compliance", "rigid", "--solvers", "nsgs,ipm", "--petsc",
                   "-scree_ksp_type frob", "--csv", "1.csv", name="scree_bench", folder=folder)
    check(result.code == BAD_INPUT, f"exit code {BAD_INPUT}", result)
    check([row["solver"] for row in rows_of(folder)] == ["nsgs"], "what was measured is kept", rows_of(folder))


if __name__ == "__main__":
    main()
