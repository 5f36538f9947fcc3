"""The program as a user meets it: shipped decks, runs that are stopped and go on, outputs that change nothing."""
import json
import re
import signal
import time

from scree_program import check, check_in, run_ok, scree, source_folder, start
from small_deck import content_of, write_deck


def summary_of(results):
    return json.loads((results / "summary.json").read_text())


def run(folder, *arguments, ranks=1, code=0, **options):
    """`scree -q run ...` (or another verb) in a folder; the run has to end with `code`."""
    result = scree("-q", *arguments, ranks=ranks, folder=folder, **options)
    check(result.code == code, f"exit code {code}", result)
    return result


def check_same_results(folder, a, b):
    """Folders of two runs of the same deck: the same state, tables byte for byte, the same indices."""
    result = run(folder, "compare", a, b)
    check_in("bitwise equal", result.stdout, "the comparison looked at something")
    check(summary_of(a)["state_hash"] == summary_of(b)["state_hash"], "the states have the same hash")
    for name in ("small.scalars.csv", "vtk/small_particles.pvd", "vtk/small_contacts.pvd", "vtk/small_obstacles.pvd"):
        check((a / name).read_bytes() == (b / name).read_bytes(), f"{name} is the same file",
              f"{(a / name).read_text()}\n{(b / name).read_text()}")
    for path in a.glob("vtk/obstacles/*.vtp"):
        check((b / path.relative_to(a)).exists(), f"{path.name} is there")


def check_index(results, n_frames):
    """The .pvd lists every frame once, in order, and the files exist."""
    for series in ("particles", "contacts", "obstacles"):
        text = (results / f"vtk/small_{series}.pvd").read_text()
        times = [float(t) for t in re.findall(r'timestep="([^"]+)"', text)]
        files = re.findall(r'file="([^"]+)"', text)
        check(len(times) == n_frames and times == sorted(set(times)), f"{series}: {n_frames} times, ascending", text)
        check(len(set(files)) == n_frames, f"{series}: {n_frames} different files", text)
        for file in files:
            check((results / "vtk" / file).exists(), f"{file} exists")


# ---- shipped decks and the small verbs ------------------------------------------------------------------------


def test_every_shipped_deck_is_valid(folder):
    decks = sorted((source_folder() / "inputs").rglob("*.toml"))
    check(len(decks) >= 4, "there are decks", decks)
    for deck in decks:
        # What ten million bodies would show, ten thousand do as well.
        fewer = ["--set", "particles.disks.source.count=10000"] if deck.stem == "disks_1e7" else []
        one = run_ok("-q", "check", deck, *fewer, ranks=1, folder=folder)
        two = run_ok("-q", "check", deck, *fewer, ranks=2, folder=folder)
        check_in("valid", one.stdout, f"{deck.name} is valid")
        # Memory is counted with what ghosts need, so it may grow with the ranks.
        reported = [re.sub(r"about [0-9.]+ MiB of memory", "", result.stdout) for result in (one, two)]
        check(reported[0] == reported[1], f"{deck.name}: two ranks say the same", f"{reported[0]}\n{reported[1]}")
        report = json.loads(run_ok("-q", "check", "--json", deck, *fewer, folder=folder).stdout)
        check(report["bodies"] + report["bodies_to_come"] > 0 and report["steps"] > 0 and report["radius_min_m"] > 0,
              f"{deck.name}: the JSON form has numbers", report)
    check(not any(folder.iterdir()), "check writes nothing")


def test_list_names_what_is_registered(folder):
    everything = run_ok("list").stdout
    for word in ("pbd", "attraction", "polygon", "rotate", "random", "lognormal", "overlap"):
        check_in(word, everything, "`scree list` names it")
    for topic in ("schemes", "velocities", "obstacles", "motions", "sources", "distributions", "measures"):
        part = run_ok("list", topic, ranks=2).stdout
        check(part.strip() != "" and part in everything, f"`scree list {topic}` is a part of `scree list`", part)


def test_lists_name_what_is_for_the_laboratory_only_if_asked(folder):
    users, all_of_them = run_ok("list").stdout, run_ok("list", "--laboratory").stdout
    for word in ("nsgs", "auto"):
        check_in(f"  {word} ", users, "a solver for users")
    for word in ("admm", "ipm", "newton", "proximal", "gear"):
        check(f"  {word} " not in users, f"`scree list` does not name {word}", users)
        check_in(f"  {word} ", all_of_them, "`scree list --laboratory` does")


def test_a_run_names_once_the_keys_of_the_laboratory_that_it_uses(folder):
    deck = write_deck(folder, ("end_time = 1\n", "end_time = 0.1\n"), more="[nonsmooth]\nbaumgarte = 0.3\n")
    for ranks in (1, 2):
        said = run_ok("run", deck, "--force", ranks=ranks, folder=folder).stderr
        lines = [line for line in said.splitlines() if "laboratory" in line]
        check(len(lines) == 1 and "nonsmooth.baumgarte = 0.3" in lines[0] and "docs/decks-laboratory.md" in lines[0], "one line", said)
    write_deck(folder, ("end_time = 1\n", "end_time = 0.1\n"))
    check("laboratory" not in run_ok("run", deck, "--force", folder=folder).stderr, "other runs say nothing")
    said = run_ok("run", folder / "results/small/small.resolved.toml", "--force", folder=folder).stderr
    check("laboratory" not in said, "nor do resolved decks, which give defaults", said)


def test_version_names_the_libraries(folder):
    text = run_ok("--version", ranks=2).stdout
    for word in ("scree", "commit", "PETSc", "HDF5"):
        check_in(word, text, "`scree --version`")
    check(text.count("PETSc") == 1, "it is reported once", text)


def test_info_describes_every_kind_of_file(folder):
    deck = write_deck(folder)
    run(folder, "run", deck, ranks=2)
    results = folder / "results/small"
    resolved = run_ok("-q", "info", deck).stdout
    check_in("max_sweeps", resolved, "the resolved deck has the defaults")
    (folder / "resolved.toml").write_text(resolved)
    again = run_ok("-q", "info", folder / "resolved.toml").stdout
    check(again == resolved, "the resolved deck is a deck, and resolves to itself", f"{resolved}\n{again}")
    latest = sorted(results.glob("checkpoint/*.scree"))[-1]
    for file, words in ((latest, ("120", "50")), (results / "small.h5", ("120", "position", "m s-1")),
                        (results / "vtk/small_particles.pvd", ("11",))):
        one, two = run_ok("-q", "info", file).stdout, run_ok("-q", "info", file, ranks=2).stdout
        check(one == two, f"{file.name}: two ranks say the same", f"{one}\n{two}")
        for word in words:
            check_in(word, one, f"`scree info` of {file.name}")


# ---- the same results for any number of ranks and any outputs -------------------------------------------------


def test_any_number_of_ranks_writes_the_same_results(folder):
    for ranks in (1, 2, 3):
        (folder / str(ranks)).mkdir()
        run(folder / str(ranks), "run", write_deck(folder / str(ranks)), ranks=ranks)
    for ranks in (2, 3):
        check_same_results(folder, folder / "1/results/small", folder / f"{ranks}/results/small")
    check(summary_of(folder / "3/results/small")["bodies_migrated"] > 0, "bodies moved between ranks")
    check_index(folder / "1/results/small", 11)


def test_outputs_change_nothing(folder):
    hashes = set()
    for name, more in (("all", []), ("none", ["--set", "output.vtk.every=1e9", "--set", "output.h5md.every=1e9",
                                              "--set", "output.checkpoint.every=1e9", "--set", "analysis.every=1e9"]),
                       ("dense", ["--set", "output.vtk.every='20 ms'", "--set", "output.checkpoint.every='20 ms'"])):
        run(folder, "run", write_deck(folder), *more, "--set", f"output.name={name}", ranks=2)
        hashes.add(summary_of(folder / "results" / name)["state_hash"])
    check(len(hashes) == 1, "one state for all outputs", hashes)


# ---- stopping and going on -----------------------------------------------------------------------------------


def whole_run(folder):
    """The run that was never stopped, on one rank."""
    run(folder, "run", write_deck(folder), "--set", "output.directory=whole")
    return folder / "whole/small"


def test_half_and_restart_is_the_whole(folder):
    whole = whole_run(folder)
    for first, second in ((3, 2), (1, 3)):
        results = folder / f"halves{first}{second}/small"
        run(folder, "run", write_deck(folder), "--set", f"output.directory=halves{first}{second}", "--set",
            "simulation.end_time=0.46", ranks=first)
        check(summary_of(results)["steps"] == 23, "half way: 23 steps")
        checkpoint = sorted(results.glob("checkpoint/*.scree"))[-1]
        run(folder, "restart", checkpoint, "--set", "simulation.end_time=1", ranks=second)
        check(summary_of(results)["steps_this_run"] == 27, "the rest is 27 steps")
        check_same_results(folder, whole, results)
        check_index(results, 11)
    # Once more from an earlier checkpoint, in the same folder: what came later is replaced.
    run(folder, "restart", results / "checkpoint/small_000000015.scree", "--set", "simulation.end_time=1", ranks=2)
    check_same_results(folder, whole, results)
    check_index(results, 11)


def test_restart_in_a_new_folder_leaves_the_old_one_alone(folder):
    whole = whole_run(folder)
    before = content_of(whole)
    run(folder, "restart", whole / "checkpoint/small_000000030.scree", "--set", "output.name=branch", ranks=2)
    check(content_of(whole) == before, "the results of the first run are untouched")
    branch = folder / "whole/branch"
    check(summary_of(branch)["state_hash"] == summary_of(whole)["state_hash"], "the branch ends in the same state")
    check((branch / "branch.scalars.csv").read_text().count("\n") == 1 + 10, "rows of the second part only")
    run(folder, "compare", "--last", whole / "small.h5", branch / "branch.h5")


def test_checkpoints_after_a_restart_further_back_are_removed(folder):
    whole = whole_run(folder)
    run(folder, "restart", whole / "checkpoint/small_000000015.scree", "--set", "simulation.end_time=0.4")
    left = [path.name for path in sorted(whole.glob("checkpoint/*"))]
    check(left == ["small_000000015.scree", "small_000000020.scree"], "no checkpoint lies in the future", left)


def test_keep_limits_the_checkpoints(folder):
    run(folder, "run", write_deck(folder, ("keep = 20", "keep = 2")))
    left = [path.name for path in sorted((folder / "results/small/checkpoint").iterdir())]
    check(left == ["small_000000045.scree", "small_000000050.scree"], "the two latest are kept", left)


def long_deck(folder):
    """A deck that runs for some seconds: much longer than it takes to stop it."""
    return write_deck(folder, ("end_time = 1\n", "end_time = 40\n"), ('every = "0.1 s"\n\n[output.h5md]',
                                                                      'every = "10 s"\n\n[output.h5md]'),
                      ('every = "0.1 s"\n\n[output.checkpoint]', 'every = "10 s"\n\n[output.checkpoint]'),
                      ('every = "0.3 s"', 'every = "30 s"'), ('every = "0.04 s"', 'every = "1 s"'))


def stopped_and_resumed(folder, stop):
    """Stops a run with stop(deck) -> result, resumes it on two ranks, and compares with the whole run."""
    deck = long_deck(folder)
    run(folder, "run", deck, "--set", "output.directory=whole")
    whole = summary_of(folder / "whole/small")
    result = stop(deck)
    check(result.code == 4, "a stopped run ends with exit code 4", result)
    stopped = summary_of(folder / "results/small")
    check(stopped["status"] == "interrupted" and 0 < stopped["steps"] < whole["steps"], "it stopped on the way", stopped)
    checkpoints = [path.name for path in (folder / "results/small/checkpoint").iterdir()]
    check(f"small_{stopped['steps']:09}.scree" in checkpoints, "it left a checkpoint of its last step", checkpoints)
    run(folder, "run", deck, "--resume", ranks=2)
    resumed = summary_of(folder / "results/small")
    check(resumed["steps"] == whole["steps"] and resumed["steps_this_run"] == whole["steps"] - stopped["steps"],
          "it went on where it stopped", resumed)
    check(resumed["state_hash"] == whole["state_hash"], "it ends in the state of the run that never stopped", resumed)
    table = "results/small/small.scalars.csv", "whole/small/small.scalars.csv"
    check((folder / table[0]).read_bytes() == (folder / table[1]).read_bytes(), "the tables are the same")


def stop_by(folder, number, ranks):
    def stop(deck):
        process = start("-q", "run", deck, ranks=ranks, folder=folder)
        table = folder / "results/small/small.scalars.csv"
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not (table.exists() and table.read_text().count("\n") >= 4):
            time.sleep(0.02)
        process.send(number)
        result = process.finish(timeout=60)
        check(not result.timed_out, "the run ends soon after the signal", result)
        return result
    return stop


def test_usr1_leaves_a_checkpoint_and_the_run_goes_on(folder):
    stopped_and_resumed(folder, stop_by(folder, signal.SIGUSR1, 1))


def test_usr1_on_two_ranks(folder):
    stopped_and_resumed(folder, stop_by(folder, signal.SIGUSR1, 2))


def test_max_wall_time_leaves_a_checkpoint_and_the_run_goes_on(folder):
    stopped_and_resumed(folder, lambda deck: scree("-q", "run", deck, "--max-wall-time", "0.2", ranks=2, folder=folder))


def test_resume_starts_where_there_is_nothing_to_resume(folder):
    deck = write_deck(folder)
    run(folder, "run", deck, "--resume", ranks=2)
    check(summary_of(folder / "results/small")["steps_this_run"] == 50, "it ran from the start")
    for path in [*(folder / "results/small/checkpoint").iterdir(), folder / "results/small/summary.json"]:
        path.unlink()       # as if it had been killed before its first checkpoint
    run(folder, "run", deck, "--resume")
    check(summary_of(folder / "results/small")["steps_this_run"] == 50, "it ran from the start again")


def test_compare_finds_one_changed_number(folder):
    import shutil

    import h5py

    a, b = whole_run(folder) / "small.h5", folder / "changed.h5"
    shutil.copy(a, b)
    run(folder, "compare", a, b)
    with h5py.File(b, "r+") as file:
        values = file["particles/all/position/value"]
        before = values[7, 17, 0]
        values[7, 17, 0] = before * (1 + 2.3e-16)
        check(values[7, 17, 0] != before, "the last bit of one number is another")
    for ranks in (1, 2):
        result = run(folder, "compare", a, b, ranks=ranks, code=1)
        line = next((line for line in result.stdout.splitlines() if "position" in line), "")
        check("equal" not in line and "17" in line and "35" in line, "field, body and step are named", result)
        first = run(folder, "compare", "--first", a, b, ranks=ranks, code=1).stdout
        check(first.startswith("first difference: step 35, ") and "position[0], body 17" in first and "1 ulps apart" in first,
              "--first: field, body, step and units in the last place", first)
    run(folder, "compare", "--last", a, b)
