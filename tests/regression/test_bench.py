"""scree_bench and scree bench as users meet them: tables, rows and files of every case, studies on several numbers of
ranks, what cannot be measured; of the friction case also the same Gauss-Seidel on any number of ranks."""
import csv
import json

from refusal import BAD_INPUT, refused
from scree_program import check, check_close, check_in, run_ok, scree
from study import study
SMALL = {
    "pbd": ["--bodies", "400", "--dimensions", "2,3", "--seconds", "0.001", "--repetitions", "2", "--all-sets"],
    "dem": ["--bodies", "4096", "--settling-time", "0.002", "--seconds", "0.001", "--repetitions", "2", "--folder", "."],
    "nonsmooth": ["--bodies", "4096", "--settling-time", "0.02", "--steps", "2", "--repetitions", "2", "--folder", "."],
    "sizes": ["--bodies", "500", "--ratios", "1,4", "--seconds", "0.001", "--repetitions", "2", "--folder", "."],
    "convex": ["--bodies", "100", "--settling-time", "0.02", "--steps", "2", "--repetitions", "2"],
    "crowd": ["--agents", "60", "--columns", "4", "--densities", "1", "--warm-up", "1", "--steps", "2", "--repetitions", "2"],
    "friction": ["--bodies", "60", "--solvers", "nsgs,ipm", "--tolerances", "1e-2", "--max-time", "5"],
    "linear": ["--bodies", "60", "--linear", "direct,iterative -scree_pc_type jacobi", "--repetitions", "2"],
    "ghosts": ["--bodies", "900", "--dimensions", "2,3", "--seconds", "0.001", "--repetitions", "2"],
    "start": ["--bodies", "400", "--repetitions", "2"],
    "output": ["--bodies", "500", "--dimensions", "2,3", "--repetitions", "2", "--writers", "2", "--folder", "."],
    "restart": ["--bodies", "500", "--dimensions", "2,3", "--repetitions", "2", "--folder", "."],
}


def processor_text():
    """What /proc/cpuinfo says: the name alone may be "AMD EPYC"."""
    entries = {}
    for line in open("/proc/cpuinfo", encoding="utf-8"):
        name, _, value = line.partition(":")
        entries.setdefault(name.strip(), value.strip())
    return f"{entries['model name']} (family {entries['cpu family']}, model {entries['model']})"


def cases():
    """The names that `scree_bench --list` prints."""
    return [line.split()[0] for line in run_ok("--list", name="scree_bench").stdout.splitlines()[1:]]


def test_every_case_tells_what_it_measured(folder):
    check(sorted(SMALL) == sorted(cases()), "every case is tried here", cases())
    for name, arguments in SMALL.items():
        text = run_ok(name, *arguments, "--csv", f"{name}.csv", "--json", f"{name}.json", ranks=2, name="scree_bench",
                      folder=folder).stdout
        check(len(max(text.splitlines(), key=len)) <= 130, "lines fit into a terminal", text)
        check_in(processor_text(), text, "every table names the processor")
        results = json.loads((folder / f"{name}.json").read_text())
        with open(folder / f"{name}.csv", newline="") as file:
            table = list(csv.DictReader(file))
        check(len(table) == len(results["rows"]) > 0, "as many rows in both files", results)
        for row, line in zip(results["rows"], table):
            check(row["case"] == name and row["ranks"] == 2 and row["seconds"] > 0, "case, ranks and seconds", row)
            check(row["keys"].keys() | row["size"].keys() | row["values"].keys() == row["units"].keys(), "all have units", row)
            check(-1e-9 < sum(row["phases"].values()) <= 1 + 1e-9, "phases are shares", row)
            check(all(share >= 0 for share in row["phases"].values()), "shares are not negative", row)
            check(float(line["seconds"]) == row["seconds"], "the same in both files", line)
            check_in(processor_text(), line["processor"], "every row of the CSV names the processor")
            for key, value in (row["keys"] | row["size"] | row["values"]).items():
                check(str(value) == line[key] or float(line[key]) == value, f"{key} is the same in both files", line)
        left = [path.name for path in folder.iterdir() if path.suffix not in (".csv", ".json")]
        check(not left, "nothing else is left behind", left)


def test_the_machine_is_measured(folder):
    machine = {}
    for ranks in (1, 2):
        run_ok("start", *SMALL["start"], "--dimensions", "2", "--json", "one.json", ranks=ranks, name="scree_bench",
               folder=folder)
        machine = json.loads((folder / "one.json").read_text())["machine"]
        measured, = machine["measured"]
        check(measured["ranks"] == ranks and 1e8 < measured["triad_each_rank"] < 1e13, "triad rate in B/s", measured)
        check(("latency_8_B" in measured) == (ranks == 2), "messages need two ranks", measured)
    check(0 < measured["latency_8_B"] < measured["latency_1_MiB"], "long messages take longer", measured)
    check_close(measured["bandwidth_1_MiB"] * measured["latency_1_MiB"], 2**20, "bandwidth and time agree", relative=1e-12)
    check(1 <= machine["processors_online"] and machine["memory_bytes"] > 2**28, "processors and memory", machine)
    check(processor_text() == f"{machine['processor']} (family {machine['processor_family']}, model "
          f"{machine['processor_model']})", "name, family and model", machine)
    for name in ("processor", "compiler", "build_type", "commit", "instruction_set", "huge_pages"):
        check(machine[name], f"{name} is known", machine)


def test_volumes_of_exchanges(folder):
    for ranks in (1, 2, 3):
        run_ok("ghosts", *SMALL["ghosts"], "--json", "ghosts.json", ranks=ranks, name="scree_bench", folder=folder)
        for row in json.loads((folder / "ghosts.json").read_text())["rows"]:
            values, exchange, dimension = row["values"], row["keys"]["exchange"], row["keys"]["dimension"]
            check((values["messages_of_all_ranks"] > 0) == (ranks > 1), "messages need two ranks", row)
            check(values["bytes_of_busiest_rank"] <= values["bytes_of_all_ranks"] <= ranks * values["bytes_of_busiest_rank"],
                  "the busiest rank is one of all", row)
            width = {"copy positions to ghosts": 8 * dimension, "add vectors to owners": 8 * dimension,
                     "add counts to owners": 4}.get(exchange)
            if width:
                check(values["bytes_of_all_ranks"] == width * values["ghosts_of_all_ranks"], "each ghost travels once", row)
            if exchange != "rebuild with migration":
                check(values["migrated_bodies"] == 0, "nobody moves", row)


def test_a_study_compares_numbers_of_ranks(folder):
    patient = "env OMPI_MCA_mpi_yield_when_idle=1 mpirun -n {ranks}"    # other tests may run beside this one
    for mode, bodies in (("strong", {1: 900, 2: 900}), ("weak", {1: 900, 2: 1764})):
        result = study(folder, "--case", "ghosts,start", "--mode", mode, "--bodies", "900", "--repetitions", "2", "--ranks",
                       "2,1", "--launcher", patient, "--out", f"results/{mode}")
        check(result.code == 0, "exit code 0", result)
        check(result.stdout.count(f"on {processor_text()}, ") == 2, "each table names the processor", result)
        for words in ("triad", "ghosts:", "start:", "efficiency"):
            check_in(words, result.stdout, "the table")
        content = json.loads((folder / f"results/{mode}/results.json").read_text())
        check(content["settings"]["ranks"] == [1, 2] and content["settings"]["mode"] == mode, "settings", content["settings"])
        check([m["ranks"] for m in content["machine"]["measured"]] == [1, 2], "measured on both", content["machine"])
        plane = [row for row in content["rows"] if row["keys"]["dimension"] == 2]
        check({row["ranks"]: row["size"]["bodies"] for row in plane} == bodies, "sizes", plane)
        for one, two in zip(plane[::2], plane[1::2], strict=True):
            check(one["keys"] == two["keys"] and (one["ranks"], two["ranks"]) == (1, 2), "pairs of rows", (one, two))
            rate = two["size"]["bodies"] / two["seconds"] / (one["size"]["bodies"] / one["seconds"])
            check_close(two["values"]["speed_up"], rate, "speed-up is the ratio of rates", relative=1e-9)
            check_close(two["values"]["efficiency"], rate / 2, "efficiency", relative=1e-9)
        with open(folder / f"results/{mode}/start.csv", newline="") as file:
            check(len(list(csv.DictReader(file))) == 8, "two dimensions, two packings, two numbers of ranks")
        names = sorted(path.name for path in (folder / f"results/{mode}").iterdir())
        check(names == ["ghosts.csv", "results.json", "start.csv"], "files", names)


def test_on_ranks_that_are_there(folder):
    result = run_ok("bench", "--case", "start", "--mode", "strong", "--bodies", "400", "--out", "out", ranks=2, folder=folder)
    check_in("2 ranks: triad", result.stdout, "the machine is described")
    rows = json.loads((folder / "out/results.json").read_text())["rows"]
    check({row["ranks"] for row in rows} == {2}, "on these ranks", rows)


def test_files_of_cases_go_below_out(folder):
    """On several nodes that is the folder that all of them see."""
    small = {"dem": "4096", "nonsmooth": "4096", "output": "500", "restart": "500"}
    for name, bodies in small.items():
        refused(folder, "--case", name, "--mode", "strong", "--bodies", bodies, "--folder", "nowhere",
                words=["no folder can be made in nowhere"], name="scree_bench", ranks=(2,))
    (folder / "launch").write_text('#!/bin/sh\necho "$@" >> words\nexec "$@"\n')
    (folder / "launch").chmod(0o755)
    result = study(folder, "--case", "restart", "--mode", "strong", "--bodies", "500", "--repetitions", "2", "--ranks", "1",
                   "--out", "out", "--launcher", "./launch env RANKS={ranks}")
    check(result.code == 0, "exit code 0", result)
    check_in(f"--folder {folder / 'out'}", (folder / "words").read_text(), "what programs are given")
    names = sorted(path.name for path in (folder / "out").iterdir())
    check(names == ["restart.csv", "results.json"], "nothing else is left behind", names)


def test_shells_of_jobs(folder):
    """What `srun --pty` and `srun` leave in the environment of a shell and of a rank."""
    start = ["--case", "start", "--mode", "strong", "--bodies", "400", "--repetitions", "2", "--ranks", "1", "--launcher",
             "env -u PMI_RANK RANKS={ranks}"]
    shell = [("PMI_RANK", "0"), ("SLURM_STEP_NUM_TASKS", "1"), ("SLURM_PTY_PORT", "40000")]
    check(study(folder, *start, variables=shell).code == 0, "a shell starts ranks")
    rank = study(folder, *start, variables=shell[:2])
    check(rank.code == BAD_INPUT, f"exit code {BAD_INPUT}", rank)
    check_in("PMI_RANK is set", rank.stderr, "the message says why")


def test_studies_that_cannot_be_made(folder):
    (folder / "file").write_text("")
    start = ["--case", "start", "--mode", "strong", "--bodies", "100"]
    for arguments, words in (
            (["--case", "pbdd"], ["--case pbdd", "did you mean \"pbd\"?"]),
            ([], ["name the cases", "pbd"]),
            (["--case", "pbd", "--bodies", "100"], ["--bodies goes with --mode"]),
            ([*start, "--out", "file/below"], ["--out file/below"]),
            ([*start, "--out", "/proc/none"], ["--out /proc/none"]),
            ([*start, "--ranks", "2", "--launcher", "mpirun -n 2"], ["--launcher", "{ranks}"]),
            ([*start, "--ranks", "2", "--launcher", "no-such-launcher {ranks}"], ["no-such-launcher", "2 ranks", "No such file"]),
            ([*start, "--ranks", "2", "--launcher", "env RANKS={ranks}"], ["--ranks 2", "started 1 rank"])):
        result = study(folder, *arguments)
        check(result.code == BAD_INPUT, f"exit code {BAD_INPUT}", result)
        check(result.stderr.startswith("scree: ") and result.stderr.count("scree: ") == 1, "one message", result)
        for word in words:
            check_in(word, result.stderr, "the message")
    result = study(folder, *start, "--ranks", "4096", variables=[("OMPI_MCA_rmaps_base_oversubscribe", "0")])
    check(result.code == BAD_INPUT, f"exit code {BAD_INPUT}", result)
    check_in("--ranks 4096: there are", result.stderr, "more ranks than processors")
    refused(folder, "bench", *start, "--ranks", "1,2", words=["leave out --ranks"], ranks=(2,))
    refused(folder, "bench", "--case", "pbdd", words=["did you mean"], ranks=(2,))


def test_programs_of_a_study_that_fail(folder):
    result = study(folder, "--case", "linear", "--mode", "strong", "--bodies", "1", "--ranks", "1")
    check(result.code == BAD_INPUT, "the exit code of the program", result)
    check_in("linear on 1 rank: ", result.stderr, "the message says which")
    check_in("too small", result.stderr, "and why")
    (folder / "launch").write_text('#!/bin/sh\n"$@"\necho "scree: the cable is loose" >&2\nexit 1\n')
    (folder / "launch").chmod(0o755)
    result = study(folder, "--case", "start", "--mode", "strong", "--bodies", "100", "--ranks", "1", "--launcher",
                   "./launch env RANKS={ranks}")
    check(result.code == 1, "exit code 1", result)
    check_in("the cable is loose", result.stderr, "the message of the program")


def bench(folder, *arguments, ranks=1):
    return run_ok("friction", *arguments, "--csv", f"{ranks}.csv", ranks=ranks, name="scree_bench", folder=folder)


def rows_of(folder, ranks=1):
    with open(folder / f"{ranks}.csv", newline="") as file:
        return list(csv.DictReader(file))


def solvers():
    """The names that `scree list solvers --laboratory` prints."""
    lines = run_ok("list", "solvers", "--laboratory").stdout.splitlines()[1:]
    return [line.split()[0] for line in lines if line.strip()]


def test_every_solver_has_a_row_for_every_compliance(folder):
    text = bench(folder, "--bodies", "60", "--tolerances", "1e-1,1e-2", "--max-time", "0.1", ranks=2).stdout
    for words in ("60 bodies", "rigid, 2 ranks", "compliance 0.01 (", "ms per 1000 bodies", "ns per contact update"):
        check_in(words, text, "the table says what was solved and how fast its parts are")
    widest = max(text.splitlines(), key=len)
    check(len(widest) <= 140, "lines fit into a terminal", widest)
    rows = rows_of(folder, 2)
    found = [(row["problem"], row["stiffness"] == "inf", row["solver"]) for row in rows]
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
        text = bench(folder, "--bodies", "60", "--case", "settled-gaps,settled,pile:40,arch:9", "--compliance", "6.5 kN/m",
                     "--solvers", "nsgs", "--set", "nsgs.max_sweeps=150", "--tolerances", "1e-2,1e-12", "--max-time", "100",
                     ranks=ranks).stdout
        check_in("(6.5 kN/m)", text, "the case names the stiffness")
    # Of settled piles the numbers of contacts show that the piles themselves are the same.
    columns = [name for name in rows_of(folder)[0] if name.startswith("iteration_at")] + [
        "problem", "bodies", "contacts", "compliance", "stiffness", "residual", "implied_overlap", "sweeps"]
    gaps, settled, pile, arch = rows = rows_of(folder)
    for a, b in zip(rows, rows_of(folder, 2), strict=True):
        check(all(a[name] == b[name] for name in columns), "the same to the last digit", f"{a}\n{b}")
        check_close(float(a["stiffness"]), 6500, "the stiffness of the row", relative=1e-12)
        check(float(a["implied_overlap"]) > 0, "bodies overlap under their weight", a)
        check(a in (pile, arch) or a["sweeps"] == "150", "all sweeps were made", a)
        # In groups of eight lanes, empty ones included: impulse 24, momentum 48, a row of spheres 176, a general one 392 and the guess of
        # its slip 8. The four contacts of a joint of the arch are in four groups, its ten joints have three colours: 12 groups for 40.
        read = float(a["update_bytes"])
        check(read == 12 * 8 * 472 / 40 if a is arch else 248 <= read < 496, "bytes that are read", a)
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


def test_counts_of_cases_in_python_are_whole_numbers(folder):
    for case, option, text in (("dem", "--bodies", "0.5"), ("sizes", "--bodies", "inf"), ("nonsmooth", "--steps", "-3"), ("convex", "--bodies", "0"),
                               ("crowd", "--agents", "nan"), ("crowd", "--agents", "60.5"), ("crowd", "--columns", "-1"),
                               ("crowd", "--warm-up", "1e300")):
        if case not in cases():     # without crowds
            continue
        result = scree(case, option, text, name="scree_bench", folder=folder)
        check(result.code == BAD_INPUT, f"exit code {BAD_INPUT}", result)
        said = result.stderr.split("-----")[0].splitlines()     # mpirun has its own lines
        check(said[0].startswith(f"{option}: {text} is not a") and len(said) == 2, "one line, and one that names --help", result)


def test_rows_outlive_a_wrong_option(folder):
    """One that only the second solver asks for."""
    result = scree("friction", "--case", "stack:3", "--compliance", "rigid", "--solvers", "nsgs,ipm", "--petsc",
                   "-scree_ksp_type frob", "--csv", "1.csv", name="scree_bench", folder=folder)
    check(result.code == BAD_INPUT, f"exit code {BAD_INPUT}", result)
    check([row["solver"] for row in rows_of(folder)] == ["nsgs"], "what was measured is kept", rows_of(folder))
