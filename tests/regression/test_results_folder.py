"""The life of a run and its folder: signals, locks, changed decks, damaged checkpoints, folders of others, lost files."""
import json
import os
import shutil
import signal
import socket
import time

from scree_program import check, check_in, program, run_ok, scree, start, wait_for, without_launcher
from small_deck import content_of, long_deck, write_deck

# Otherwise mpirun waits two seconds after every run that fails, to see whether all ranks are gone.
os.environ.setdefault("OMPI_MCA_odls_base_sigkill_timeout", "0")

BAD_INPUT, INTERRUPTED = 2, 4
LOCK = ".scree-lock"


def summary_of(results):
    return json.loads((results / "summary.json").read_text())


def has_rows(results, n):
    table = results / "small.scalars.csv"
    return lambda: table.exists() and table.read_text().count("\n") > n


def has_one_message(result):
    return sum(line.startswith("scree: ") for line in result.stderr.splitlines()) == 1


def is_refused(folder, *arguments, words, ranks=(2,)):
    """Exit code 2, one message, every file as it was."""
    before = content_of(folder)
    for n in ranks:
        result = scree("-q", *arguments, ranks=n, folder=folder, timeout=60)
        check(result.code == BAD_INPUT, f"exit code 2 on {n} ranks", result)
        check(has_one_message(result), f"one message on {n} ranks", result)
        for word in words:
            check_in(word, result.stderr, f"the message on {n} ranks")
        after = content_of(folder)
        changed = [name for name in before.keys() | after.keys() if before.get(name) != after.get(name)]
        check(not changed, f"no file is touched on {n} ranks", changed)


# ---- signals -------------------------------------------------------------------------------------------------


def stopped_by(folder, number):
    """A run that a signal stops has said how to go on; what it says goes on to the state of the whole run."""
    deck = long_deck(folder)
    results = folder / "results/small"
    process = without_launcher("run", deck.name, folder=folder)
    wait_for(has_rows(results, 4), "the run starts")
    process.send(number)
    result = process.finish(timeout=60)
    check(result.code == INTERRUPTED, "exit code 4", result)
    check(summary_of(results)["status"] == "interrupted", "the summary has it")
    _, _, end = result.stderr.partition("stopped at t = ")
    how, go_on = end.splitlines()[:2]
    check_in(signal.Signals(number).name, how, "the signal is named")
    command = go_on.removeprefix("go on with: ")
    check(command == "scree run small.toml --resume", "it is said how to go on", result)
    check(not (results / LOCK).exists(), "the lock is gone")
    result = run_ok(*command.split()[1:], ranks=2, folder=folder)
    for word in ("left behind", "passed over", "starting again"):
        check(word not in result.stderr, "nothing is wrong with what was left", result)
    run_ok("-q", "run", deck, "--set", "output.directory=whole", folder=folder)
    for name in ("small.scalars.csv", "small.certificate.csv"):
        check((results / name).read_bytes() == (folder / "whole/small" / name).read_bytes(), f"{name} is that of the whole run")
    check(summary_of(results)["state_hash"] == summary_of(folder / "whole/small")["state_hash"], "and so is the state")


def test_ctrl_c_ends_a_run_in_good_order(folder):
    stopped_by(folder, signal.SIGINT)


def test_sigterm_ends_a_run_in_good_order(folder):
    stopped_by(folder, signal.SIGTERM)


def test_a_second_ctrl_c_ends_a_run_at_once(folder):
    # One step that takes longer than anybody waits.
    deck = write_deck(folder, ("sweeps = 3", "sweeps = 2000000000"))
    results = folder / "results/small"
    process = without_launcher("run", deck, folder=folder)
    wait_for((results / "small.log").exists, "the run starts")
    time.sleep(0.5)
    process.send(signal.SIGINT)
    time.sleep(1)
    check(process._popen.poll() is None, "the first one lets the step end")
    process.send(signal.SIGINT)
    result = process.finish(timeout=20)
    check(not result.timed_out and result.code == -signal.SIGINT, "the second one ends it", result)
    check_in("once more", result.stderr, "the first one said so")
    check((results / LOCK).exists(), "a lock is left behind")
    result = run_ok("run", deck, "--resume", "--set", "pbd.sweeps=3", folder=folder)
    check_in("was left behind by process", result.stderr, "the lock is taken over, with a word")
    check_in("no checkpoint found in results/small/checkpoint: starting again", result.stderr, "so is the start")


def test_a_signal_before_mpi_starts_ends_nothing(folder):
    deck = long_deck(folder)
    for number, delay in ((signal.SIGUSR1, 0), (signal.SIGTERM, 0.03), (signal.SIGUSR1, 0.06), (signal.SIGTERM, 0.2)):
        process = without_launcher("run", deck, "--resume", "--set", "simulation.end_time=400", folder=folder)
        # From the first line of main on; before, the program is being loaded.
        status = f"/proc/{process._popen.pid}/status"
        bit = 1 << (number - 1)

        def is_caught():
            with open(status) as lines:
                return any(int(line.split()[1], 16) & bit for line in lines if line.startswith("SigCgt"))
        wait_for(is_caught, "the program sets its handlers", 20)
        time.sleep(delay)
        process.send(number)
        result = process.finish(timeout=60)
        check(result.code == INTERRUPTED, f"signal {number} after {delay} s: the run ends in good order", result)


def test_a_signal_to_what_is_no_run_has_its_usual_effect(folder):
    deck = write_deck(folder, ("count = 120", "count = 1000000"), ("upper = [6, 4]", "upper = [600, 400]"),
                      ("upper = [6, 3.8]", "upper = [600, 399.8]"))
    process = without_launcher("check", deck, folder=folder)
    time.sleep(1.5)
    process.send(signal.SIGINT)
    result = process.finish(timeout=5)
    check(not result.timed_out and result.code == -signal.SIGINT, "it ends at once", result)


# ---- two at once ---------------------------------------------------------------------------------------------


def test_a_second_run_of_a_folder_is_refused(folder):
    deck = long_deck(folder)
    results = folder / "results/small"
    process = without_launcher("-q", "run", deck, folder=folder)
    wait_for(has_rows(results, 2), "the run starts")
    words = ["results/small is in use by process", socket.gethostname(), "since 20", "scree -q run"]
    process.send(signal.SIGSTOP)     # it waits, but it lives
    for arguments, ranks in ((["run", deck, "--resume"], 2), (["run", deck, "--force"], 1)):
        second = scree("-q", *arguments, ranks=ranks, folder=folder)
        check(second.code == BAD_INPUT and has_one_message(second), "the second is refused", second)
        for word in words:
            check_in(word, second.stderr, "who has it is reported")
    process.send(signal.SIGCONT)
    result = process.finish(timeout=120)
    check(result.code == 0, "the first one does not notice", result)
    check(not (results / LOCK).exists(), "the lock is gone")
    run_ok("-q", "run", deck, "--set", "output.directory=whole", folder=folder)
    check((results / "small.certificate.csv").read_bytes() == (folder / "whole/small/small.certificate.csv").read_bytes(),
          "no row is lost")


def test_a_lock_of_a_killed_run_is_taken_over(folder):
    deck = long_deck(folder)
    results = folder / "results/small"
    process = start("-q", "run", deck, ranks=2, folder=folder)
    wait_for(has_rows(results, 2), "the run starts")
    pid = int(next(line for line in (results / LOCK).read_text().splitlines() if line.startswith("pid")).split("=")[1])
    os.kill(pid, signal.SIGKILL)
    process.finish(timeout=60)
    check((results / LOCK).exists(), "the lock is left behind")
    result = run_ok("run", deck, "--resume", ranks=2, folder=folder)
    check_in(f"was left behind by process {pid}", result.stderr, "it is taken over, with a word")
    check(not (results / LOCK).exists(), "and gone at the end")


def test_a_lock_of_another_host_is_respected_and_an_error_leaves_none(folder):
    deck = write_deck(folder)
    run_ok("-q", "run", deck, "--set", "simulation.end_time=0.2", folder=folder)
    results = folder / "results/small"
    is_refused(folder, "run", deck, "--resume", "--set", "output.vkt.every=1", words=["vkt"])
    (results / LOCK).write_text("scree lock 1\nhost = elsewhere\nmachine = \nboot = \nprocesses = \npid = 7\nstart = 1\n"
                                "since = 2026-01-31 12:00:00\ncommand = \n")
    for arguments in (["run", deck, "--resume"], ["run", deck, "--force"],
                      ["restart", "results/small/checkpoint/small_000000010.scree", "--set", "simulation.end_time=1"]):
        is_refused(folder, *arguments, words=["process 7 on host elsewhere since 2026-01-31 12:00:00", f"remove results/small/{LOCK}"])
    (results / LOCK).unlink()
    run_ok("-q", "run", deck, "--resume", folder=folder)


# ---- --resume ------------------------------------------------------------------------------------------------


def test_resume_takes_what_may_change_and_refuses_the_rest_by_name(folder):
    deck = write_deck(folder)
    run_ok("-q", "run", deck, "--set", "simulation.end_time=0.46", folder=folder)
    checkpoint = "results/small/checkpoint/small_000000023.scree"
    where = {}
    for i, line in enumerate(deck.read_text().splitlines()):
        where.setdefault(line.split(" = ")[0], f"small.toml:{i + 1}:1")
    is_refused(folder, "run", "small.toml", "--resume", "--set", "pbd.sweeps=4",
               words=["--set pbd.sweeps: 'sweeps' in [pbd] is 4, but 3 in " + checkpoint, "simulation.end_time"])
    is_refused(folder, "restart", checkpoint, "--set", "pbd.sweeps=4",
               words=["--set pbd.sweeps: 'sweeps' in [pbd] is 4, but 3 in " + checkpoint, "simulation.end_time"])
    write_deck(folder, ("warm_start = 0.9", "warm_start = 0.5"), ('rate = "0.8 1/s"', 'rate = "0.7 1/s"'),
               more='[obstacles.more]\ntype = "plane"\npoint = [0, 0]\nnormal = [0, 1]\n')
    is_refused(folder, "run", "small.toml", "--resume",
               words=[where["warm_start"] + ": 'warm_start' in [pbd] is 0.5, but 0.9 in " + checkpoint,
                      where["rate"] + ": 'rate' in [velocity] is 0.7, but 0.8 in", "[obstacles.more] is new"])
    text = write_deck(folder).read_text()
    floor, paddle = text.index("[obstacles.floor]"), text.index("[obstacles.paddle]")
    end = text.index("[output.vtk]")
    (folder / "small.toml").write_text(text[:floor] + text[paddle:end] + text[floor:paddle] + text[end:])
    is_refused(folder, "run", "small.toml", "--resume", words=["the order of tables is another"])

    # Another way to write the same, a later end and other outputs.
    write_deck(folder, ('step = "20 ms"', "step = 0.02"), ('every = "0.3 s"', 'every = "0.2 s"'),
               ("keep = 20", "keep = 3"), ('title = "small"', 'title = "other"'))
    run_ok("-q", "run", "small.toml", "--resume", ranks=2, folder=folder)
    check(summary_of(folder / "results/small")["steps_this_run"] == 27, "it goes on")
    check_in("keep = 3", (folder / "results/small/small.resolved.toml").read_text(), "with the deck as it is now")
    check(len(list((folder / "results/small/checkpoint").iterdir())) == 3, "with its outputs")


def test_resume_of_a_finished_run_does_nothing(folder):
    deck = write_deck(folder)
    run_ok("-q", "run", deck, ranks=2, folder=folder)
    before = content_of(folder)
    result = run_ok("run", deck, "--resume", folder=folder)
    check_in("has ended already", result.stderr, "it is reported")
    check(content_of(folder) == before, "every file is as it was")
    shutil.rmtree(folder / "results/small/checkpoint")
    before = content_of(folder)
    for ranks in (1, 2):
        result = run_ok("run", deck, "--resume", ranks=ranks, folder=folder)
        check_in("has ended already", result.stderr, "without a checkpoint, too")
        check(content_of(folder) == before, "every file is as it was")
    is_refused(folder, "run", deck, "--resume", "--set", "simulation.end_time=2",
               words=["results/small", "no checkpoint to go on from", "--force"])


def test_a_damaged_checkpoint_is_passed_over_for_the_one_before(folder):
    deck = write_deck(folder)
    run_ok("-q", "run", deck, "--set", "output.directory=whole", folder=folder)
    for how in ("cut", "empty", "bit"):
        shutil.rmtree(folder / "results", ignore_errors=True)
        run_ok("-q", "run", deck, "--set", "simulation.end_time=0.8", ranks=2, folder=folder)
        results = folder / "results/small"
        before, latest = sorted((results / "checkpoint").iterdir())[-2:]
        content = latest.read_bytes()
        if how == "bit":
            import h5py

            with h5py.File(latest, "r+") as file:
                values = file["arrays/velocity"][()]
                values[3, 0] += 1
                file["arrays/velocity"][...] = values
        else:
            latest.write_bytes(content[:len(content) // 2] if how == "cut" else b"")
        for ranks in (3,) if how != "bit" else (1,):
            copy = folder / f"{how}{ranks}"
            shutil.copytree(folder / "results", copy)
            result = run_ok("run", deck, "--resume", "--set", f"output.directory={copy.name}", ranks=ranks, folder=folder)
            line = next((line for line in result.stderr.splitlines() if line.startswith("warning")), "")
            check(latest.name in line and before.name in line, "both are named", result)
            check(summary_of(copy / "small")["state_hash"] == summary_of(folder / "whole/small")["state_hash"],
                  "the run ends in the state of the whole", result)
            check((copy / "small/small.certificate.csv").read_bytes() ==
                  (folder / "whole/small/small.certificate.csv").read_bytes(), "with its rows")
    for path in (results / "checkpoint").iterdir():
        path.write_bytes(b"")
    is_refused(folder, "run", deck, "--resume", words=["no checkpoint in results/small/checkpoint can be read"])


# ---- folders and files of others ------------------------------------------------------------------------------


def test_a_checkpoint_that_a_killed_run_left_unfinished_is_removed(folder):
    deck = write_deck(folder)
    run_ok("-q", "run", deck, "--set", "simulation.end_time=0.2", folder=folder)
    unfinished = folder / "results/small/checkpoint/small_000000007.scree.part"
    unfinished.write_bytes(b"cut")
    run_ok("-q", "run", deck, "--resume", "--set", "simulation.end_time=0.3", folder=folder)
    check(not unfinished.exists(), "no later checkpoint has its name and writes over it", unfinished)


def test_force_leaves_folders_of_others_alone(folder):
    deck = write_deck(folder)
    results = folder / "results/small"
    for name in ("vtk/mine.vtp", "checkpoint/mine.scree", "summary.json", "small.h5"):
        (results / name).parent.mkdir(parents=True, exist_ok=True)
        (results / name).write_text("mine")
    for option in ("--force", "--resume"):
        is_refused(folder, "run", deck, option, words=["results/small"])
    shutil.rmtree(results)
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere/mine.vtp").write_text("mine")
    run_ok("-q", "run", deck, folder=folder)
    (results / "vtk/view.pvsm").write_text("mine")
    (results / "notes.txt").write_text("mine")
    (results / "vtk/linked").symlink_to(folder / "elsewhere")
    run_ok("-q", "run", deck, "--force", "--set", "output.vtk.every=10", "--set", "output.h5md.every=10", folder=folder)
    check((results / "vtk/view.pvsm").exists() and (results / "notes.txt").exists(), "files of others stay")
    check((folder / "elsewhere/mine.vtp").exists(), "so does what links lead to")
    steps = sorted(path.name.split("_")[2] for path in (results / "vtk/particles").glob("*.vtp"))
    check(steps == ["000000000", "000000050"], "frames of the run before are gone", steps)


def test_names_that_are_no_names_are_refused(folder):
    deck = write_deck(folder)
    for name in ("a/b", "..", "../x", ".hidden", "-f", "", "two\nlines", "a\x7f", "x" * 300, 'a"b'):
        write_deck(folder, more=f"[output]\nname = {json.dumps(name)}\n")
        line = deck.read_text().splitlines().index("[output]") + 2
        is_refused(folder, "run", "small.toml", words=[f"small.toml:{line}:1: 'name' in [output]"], ranks=(1,))
    write_deck(folder, more='[output]\ndirectory = ""\n')
    is_refused(folder, "run", "small.toml", words=["'directory' in [output] is empty"])
    write_deck(folder, name="-small.toml")
    is_refused(folder, "run", "./-small.toml", words=["the name of the run", "set 'name' in [output]"])
    run_ok("-q", "run", "./-small.toml", "--set", "output.name=ok", "--set", "simulation.end_time=0.02", folder=folder)


def test_a_table_that_is_removed_during_a_run_is_written_again(folder):
    deck = long_deck(folder)
    results = folder / "results/small"
    process = without_launcher("run", deck, folder=folder)
    wait_for(has_rows(results, 2), "the run starts")
    (results / "small.scalars.csv").unlink()
    (folder / "mine").write_text("mine")
    os.replace(folder / "mine", results / "small.certificate.csv")
    result = process.finish(timeout=120)
    check(result.code == 0, "the run goes on", result)
    for word in ("small.scalars.csv was removed during the run", "small.certificate.csv was replaced by another file"):
        check_in(word, result.stderr, "it is reported")
    check((results / "small.certificate.csv.other").read_text() == "mine", "the file of somebody else stays")
    run_ok("-q", "run", deck, "--set", "output.directory=whole", folder=folder)
    for name in ("small.scalars.csv", "small.certificate.csv"):
        check((results / name).read_bytes() == (folder / "whole/small" / name).read_bytes(), f"{name} has all rows")


def test_a_trajectory_that_is_removed_during_a_run_ends_it_with_a_message(folder):
    deck = long_deck(folder)
    process = without_launcher("run", deck, folder=folder)
    wait_for(has_rows(folder / "results/small", 2), "the run starts")
    (folder / "results/small/small.h5").unlink()
    result = process.finish(timeout=120)
    check(result.code == 1, "the run ends", result)
    check_in("small.h5", result.stderr, "the file is named")


def test_links_at_temporary_names_are_not_followed(folder):
    deck = write_deck(folder)
    run_ok("-q", "run", deck, "--set", "simulation.end_time=0.46", folder=folder)
    results = folder / "results/small"
    (folder / "precious").write_text("mine")
    for name in ("summary.json", "small.resolved.toml", "small.xdmf", "small.scalars.csv", "vtk/small_particles.pvd",
                 "checkpoint/small_000000050.scree"):
        (results / f"{name}.part").symlink_to(folder / "precious")
    run_ok("-q", "run", deck, "--resume", ranks=2, folder=folder)
    check((folder / "precious").read_text() == "mine", "what the links lead to is as it was")
    check(not list(results.rglob("*.part")), "the links are gone", list(results.rglob("*.part")))


# ---- what kills leave ----------------------------------------------------------------------------------------


def test_compare_and_info_survive_what_kills_leave(folder):
    import h5py

    deck = write_deck(folder)
    run_ok("-q", "run", deck, folder=folder)
    a, b = folder / "results/small", folder / "copy"

    def compared(words, code=1):
        for ranks in (1, 2):
            result = scree("-q", "compare", a, b, ranks=ranks, folder=folder, timeout=60)
            check(result.code == code, "the rest is compared", result)
            for word in (*words, "position"):
                check_in(word, result.stdout, "what is wrong is reported")

    def damaged(name, change):
        shutil.rmtree(b, ignore_errors=True)
        shutil.copytree(a, b)
        change(b / name)
        return b / name

    def leave_a_frame_unwritten(path):
        with h5py.File(path, "r+") as file:
            file["observables/count/value"][-1] = -1
    path = damaged("small.h5", leave_a_frame_unwritten)
    compared(["11 frames against 10"])
    check_in("10 frames", run_ok("-q", "info", path, folder=folder).stdout, "frames that are whole")

    def shorten_a_series(path):
        with h5py.File(path, "r+") as file:
            file["particles/all/velocity/value"].resize(7, axis=0)
    path = damaged("small.h5", shorten_a_series)
    compared(["11 frames against 7"])

    def count_too_many(path):
        with h5py.File(path, "r+") as file:
            file["observables/count/value"][4] = 10 ** 9
    path = damaged("small.h5", count_too_many)
    compared(["11 frames against 4"])

    damaged("small.scalars.csv", lambda path: path.write_bytes(b""))
    compared(["cannot be compared", "small.scalars.csv"])
    damaged("small.scalars.csv", lambda path: path.write_bytes(path.read_bytes()[:-30]))
    compared(["rows against"])
    latest = sorted((a / "checkpoint").iterdir())[-1].name
    damaged(f"checkpoint/{latest}", lambda path: path.write_bytes(path.read_bytes()[:3000]))
    compared(["cannot be compared", latest])
    damaged(f"checkpoint/{latest}.part", lambda path: path.write_bytes(b"half"))
    damaged("small.h5.part", lambda path: path.write_bytes(b"half"))
    compared([], code=0)
