"""`scree bench --ranks ...`: one program after the other for each case and number of ranks, and the results side by side."""
import os
import time

from .launch import InputError, Launcher, counted
from .machine import describe_machine, format_machine, n_processors, processor_text
from .results import Results
from .rows import compare_ranks
from .steps import row_of_steps
from .tables import format_rows


def default_launcher():
    # mpirun asks root to confirm; whoever runs this as root has decided.
    return "mpirun --allow-run-as-root -n {ranks}" if os.geteuid() == 0 else "mpirun -n {ranks}"


def ranks_of(settings):
    """Numbers of ranks to start, ascending."""
    available = n_processors()
    ranks = sorted(set(settings.get("ranks") or ([1, 2] if available > 1 else [1])))
    may_share = os.environ.get("OMPI_MCA_rmaps_base_oversubscribe", "0") != "0"
    if "launcher" not in settings and not may_share and ranks[-1] > available:
        raise InputError(f"--ranks {ranks[-1]}: there are {available} processors here; give a --launcher that starts so many ranks, "
                         "or export OMPI_MCA_rmaps_base_oversubscribe=1 to let them share")
    return ranks


def require_as_many(found, wanted, launcher):
    if found != wanted:
        raise InputError(f'--ranks {wanted}: "{launcher}" started {counted(found)} of one job')


def arguments_of(case, settings, out):
    """The command line of scree_bench for one case, or for the deck."""
    words = ["--stream", "--mode", settings["mode"]]
    if "deck" in settings:
        words += ["--deck", settings["deck"]]
        for name in ("from", "warm_up", "steps"):
            if name in settings:
                words += ["--" + name.replace("_", "-"), str(settings[name])]
        for key in settings.get("set", []):
            words += ["--set", key]
    else:
        words += ["--case", case]
    if settings["quick"]:
        words.append("--quick")
    for name in ("bodies", "repetitions"):
        if name in settings:
            words += ["--" + name, str(settings[name])]
    return words + (["--folder", os.path.abspath(out)] if out else [])


def measure_machine(launcher, all_ranks):
    """describe_machine() with what each number of ranks measured."""
    machine = describe_machine() | {"measured": []}

    def take(kind, value):
        if kind == "machine":
            of_ranks, = value.pop("measured")
            require_as_many(of_ranks["ranks"], ranks, launcher.words)
            measured = machine.pop("measured")
            machine.update(value, measured=[*measured, of_ranks])

    for ranks in all_ranks:
        launcher.run(ranks, ["--stream", "--machine"], "the measurement of the machine", take)
    return machine


def measure_case(launcher, case, settings, out):
    """Rows of all numbers of ranks, compared."""
    rows = []

    def take(kind, value):
        if kind in ("row", "steps"):
            require_as_many(value["ranks"], ranks, launcher.words)
            rows.append(row_of_steps(value) if kind == "steps" else value)

    for ranks in settings["ranks"]:
        launcher.run(ranks, arguments_of(case, settings, out), case, take)
    return compare_ranks(rows)


def launch_study(request):
    """Measures, prints and writes what `scree bench` was asked for: `request` as src/bench/study.hpp says."""
    settings = dict(request["settings"])
    settings["ranks"] = ranks_of(settings)
    is_here = "launcher" not in settings
    settings.setdefault("launcher", default_launcher())
    launcher = Launcher(settings["launcher"], request["program"])
    start = time.monotonic()
    results = Results(request["command"], settings, measure_machine(launcher, settings["ranks"]))
    print(format_machine(results.machine), end="", flush=True)
    if is_here and settings["ranks"][-1] > n_processors():
        print(f"{settings['ranks'][-1]} ranks share {n_processors()} processors here: their times say little", flush=True)
    for case, summary in request["cases"].items():
        rows = measure_case(launcher, case, settings, request["out"])
        print(f"\n{case}: {summary} ({time.monotonic() - start:.0f} s so far)\n" +
              format_rows(rows, processor_text(results.machine)), end="", flush=True)
        results.rows += rows
        if request["out"]:
            results.write(request["out"])
