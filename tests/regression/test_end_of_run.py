"""What a run says at its end: how it ended and how to go on, what its steps proved, where results are and how to look at them;
once on any number of ranks, in lines that fit a terminal. Timers are for the log."""
import json
import shlex

from decks import constant, grains, lattice
from scree_program import check, check_in, run_ok, scree, source_folder
from small_deck import long_deck, write_deck

INTERRUPTED = 4


def lines_of(result):
    """Of the end of a run: from "ended at" or "stopped at" on, before what mpirun adds."""
    lines = result.stderr.split("\n-----")[0].splitlines()
    return lines[next(i for i, line in enumerate(lines) if line.startswith(("ended at ", "stopped at "))):]


OUTPUT = {"output.vtk": {"every": 0.05}, "analysis": {"every": 0.01}}


def grain_deck(folder, changes=None, output=None):
    """Fifty disks that fall; 20 steps."""
    deck = folder / "grains.toml"
    disks = {"radius": constant(0.04), "source": lattice(0.1, [0, 0], [1, 0.5])}
    deck.write_text(grains({"particles.disks": disks, **(OUTPUT if output is None else output), **(changes or {})}))
    return deck


def test_the_end_fits_a_terminal_and_is_told_once(folder):
    deck = grain_deck(folder)
    for ranks in (1, 2):
        result = run_ok("run", deck, "--force", ranks=ranks, folder=folder)
        lines = lines_of(result)
        check(lines[0] == "ended at t = 0.1 s", "how it ended comes first", result)
        check(max(map(len, lines)) <= 100, "no line is longer than 100 characters", result)
        check(len(lines) <= 8, "a few lines", result)
        for word in ("20 steps, 50 bodies at the end", "results in results/grains", "see it: paraview results/grains/vtk/"):
            check(result.stderr.count(word) == 1, f"reported once: {word}", result)
        check("calls" not in result.stderr, "no table of timers", result)
    text = (folder / "results/grains/grains.log").read_text()
    check("calls" in text and "worst of all steps: contacts " in text, "the log has timers and all worst values", text)
    check_in("calls", run_ok("-v", "run", deck, "--force", folder=folder).stderr, "-v shows timers")
    check(run_ok("-q", "run", deck, "--force", folder=folder).stderr == "", "-q shows nothing")


def test_commands_that_show_results_work(folder):
    deck = grain_deck(folder)
    lines = lines_of(run_ok("run", deck, folder=folder))
    start = next(i for i, line in enumerate(lines) if line.startswith("see it: "))
    commands = [shlex.split(line.removeprefix("see it:")) for line in lines[start:]]
    check((folder / commands[0][1]).exists() and commands[0][0] == "paraview", "the file for ParaView exists", lines)
    check(commands[1:] == [["scree", "render", "results/grains"], ["scree", "plot", "scalars", "results/grains"]], "two commands", lines)
    for command in commands[1:]:
        result = run_ok(*command[1:], folder=folder)
        check((folder / result.stdout.strip()).exists(), f"{command} names the picture that it made", result)
    quiet = run_ok("run", deck, "--set", "output.vtk.every=1e9", "--set", "analysis.every=1e9", "--set", "output.directory=quiet",
                   folder=folder)
    check_in("see it: ", quiet.stderr, "frames of the end are frames")


def test_nothing_to_see_is_not_offered(folder):
    result = run_ok("run", grain_deck(folder, output={}), folder=folder)
    check("see it" not in result.stderr, "there is nothing to see", result)
    check_in("results in results/grains", result.stderr, "but a folder")
    result = run_ok("run", grain_deck(folder, output={"output.h5md": {"every": 0.05}}), "--force", folder=folder)
    check_in("see it: paraview results/grains/grains.xdmf", result.stderr, "frames of H5MD are")
    check("scree render results/grains" in result.stderr and "scree plot" not in result.stderr, "and they can be drawn", result)


def test_worst_values_stand_beside_their_limits(folder):
    result = run_ok("run", grain_deck(folder, {"solver.tolerance": 1e-2}), folder=folder)
    line = next(line for line in lines_of(result) if "solved" in line)
    check(line.startswith("every step solved, worst residual 0.00") and "(limit 0.01)" in line, "the residual", result)
    check_in("(limit 0.012 m)", line, "overlap: 0.3 of the smaller radius")
    worst = json.loads((folder / "results/grains/summary.json").read_text())["certificate_worst"]
    check(worst["residual"]["limit"] == 0.01 and "limit" not in worst["sweeps"], "limits are in the summary", worst)
    # One sweep does not solve a bed.
    deck = grain_deck(folder, {"solver": {"tolerance": 1e-10, "max_sweeps": 1}})
    result = run_ok("run", deck, "--force", folder=folder)
    worst = json.loads((folder / "results/grains/summary.json").read_text())["certificate_worst"]
    missed = int(worst["steps_not_solved"]["value"])
    check(missed > 0, "steps miss the tolerance", worst)
    check_in(f"{missed} of 20 steps missed the tolerance, worst residual ", result.stderr, "they are counted")
    check_in("(above the limit 1e-10)", result.stderr, "and the limit is named")


def test_sweeps_of_a_given_number_promise_nothing(folder):
    result = run_ok("run", write_deck(folder), folder=folder)
    check("solved" not in result.stderr, "so it is not claimed that they solved anything", result)


def test_a_stop_by_wall_time_says_when_why_and_how_to_go_on(folder):
    deck = long_deck(folder)
    result = scree("run", deck.name, "--max-wall-time", "0.3", ranks=2, folder=folder)
    check(result.code == INTERRUPTED, "exit code 4", result)
    lines = lines_of(result)
    check(lines[0].startswith("stopped at t = ") and lines[0].endswith(" s of 40 s by the limit of 0.3 s of wall time"), "when and why", lines)
    check(lines[1] == "go on with: mpirun -n 2 scree run small.toml --resume", "how to go on", lines)
    command = lines[1].removeprefix("go on with: mpirun -n 2 scree ").split()
    again = run_ok(*command, "--set", "simulation.end_time=40", ranks=2, folder=folder)
    check(lines_of(again)[0] == "ended at t = 40 s", "it goes on to the end", again)
