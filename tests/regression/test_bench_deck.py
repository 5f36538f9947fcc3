"""`scree bench --deck`: what a row says of the steps of a deck, that nothing is written beside --out, and what is refused."""
import csv
import json
import subprocess

from refusal import BAD_INPUT, refused
from scree_program import check, check_close, check_in, python_command, run_ok, source_folder
from small_deck import content_of
from study import study
PATIENT = ["--launcher", "env OMPI_MCA_mpi_yield_when_idle=1 mpirun -n {ranks}"]    # other tests may run beside this one
DECK = """\
[simulation]
dimension = 2
scheme = "nonsmooth"
end_time = "{end}"
[time]
step = "1 ms"
[domain]
lower = [0, 0]
upper = [1, 1]
[physics]
gravity = [0, -9.81]
[materials.glass]
density = 2500
[pairs]
"glass-glass" = {{ friction = 0.5, restitution = 0.2 }}
[solver]
type = "nsgs"
tolerance = 1e-2
[particles.grains]
material = "glass"
radius = {{ distribution = "uniform", min = "1 cm", max = "1.5 cm" }}
source = {{ type = "random", count = 300, region = {{ lower = [0, 0], upper = [1, 0.6] }} }}
[obstacles.tray]
type = "box"
lower = [0, 0]
upper = [1, 1]
side = "inside"
material = "glass"
[analysis]
every = "1 ms"
[measures.energy]
type = "energy"
[output.h5md]
every = "1 ms"
[output.checkpoint]
every = "0.15 s"
"""


def write_deck(folder, end="1 s"):
    (folder / "decks").mkdir(exist_ok=True)
    (folder / "decks/tray.toml").write_text(DECK.format(end=end))
    return "decks/tray.toml"


def rows_of(folder):
    return json.loads((folder / "results.json").read_text())["rows"]


def test_a_deck_is_measured_on_numbers_of_ranks_and_writes_nothing_else(folder):
    deck = write_deck(folder)
    before = content_of(folder)
    result = study(folder, "--deck", deck, "--ranks", "2,1", "--warm-up", "30", "--steps", "10", "--repetitions", "2", "--mode",
                   "strong", "--set", "solver.tolerance=1e-3", "--set", "simulation.seed=7", "--out", "out", *PATIENT)
    check(result.code == 0, "exit code 0", result)
    left = {name: content for name, content in content_of(folder).items() if not str(name).startswith("out")}
    check(left == before, "no file beside --out is made or changed", left.keys() ^ before.keys())
    names = sorted(path.name for path in (folder / "out").iterdir())
    check(names == ["deck.csv", "results.json"], "files", names)
    settings = json.loads((folder / "out/results.json").read_text())["settings"]
    check(settings == {"deck": deck, "set": ["solver.tolerance=1e-3", "simulation.seed=7"], "warm_up": 30, "steps": 10, "quick": False,
                       "mode": "strong", "ranks": [1, 2], "repetitions": 2, "launcher": PATIENT[1]}, "settings", settings)
    one, two = rows_of(folder / "out")
    for row, ranks in ((one, 1), (two, 2)):
        check((row["case"], row["mode"], row["ranks"], row["work"]) == ("deck", "strong", ranks, "step"), "what it is", row)
        check(row["keys"] == {"deck": "tray", "set": "solver.tolerance=1e-3 simulation.seed=7", "warm_up": 30}, "keys", row)
        check(row["size"] == {"bodies": 300}, "bodies", row)
        values = row["values"]
        check(row["seconds"] > 0 and row["spread"] >= 0, "a time with its spread", row)
        check_close(values["us_per_body_step"], 1e6 * row["seconds"] * ranks / 300, "work of all ranks", relative=1e-12)
        check_close(values["hours_of_run"], row["seconds"] * 1000 / 3600, "1000 steps of 1 ms", relative=1e-12)
        check(1e7 < values["memory_of_rank"] < 4e9, "memory in bytes", row)
        check(0 < values["bytes_per_body"] < 1e6 and values["load_of_fullest_rank"] >= 1, "bytes and load", row)
        check(values["share_of_steps_solved"] == 1 and values["steps_per_rebuild"] >= 1, "steps are solved", row)
        check(0.9 < sum(row["phases"].values()) <= 1 + 1e-9 and "contact problem" in row["phases"], "shares of time", row)
    for name in ("contacts", "sweeps_per_step"):
        check(one["values"][name] == two["values"][name] > 0, f"{name}: the same steps on both", (one, two))
    check_close(two["values"]["speed_up"], one["seconds"] / two["seconds"], "speed-up", relative=1e-9)
    check_close(two["values"]["efficiency"], one["seconds"] / two["seconds"] / 2, "efficiency", relative=1e-9)
    with open(folder / "out/deck.csv", newline="") as file:
        check([line["ranks"] for line in csv.DictReader(file)] == ["1", "2"], "the table has both rows")
    drawn = subprocess.run(python_command("plot", "scaling", "out/results.json", "--out", "pictures"),
                           cwd=folder, capture_output=True, text=True)
    check(drawn.returncode == 0 and (folder / "pictures/strong.png").exists(), "scree plot scaling draws it", drawn.stderr)


def test_a_settled_state_is_measured_from_its_checkpoint(folder):
    deck = write_deck(folder, end="0.15 s")
    run_ok("run", deck, ranks=2, folder=folder)    # grains have come to lie on each other, with more overlap than a start may have
    checkpoint, = (folder / "results/tray/checkpoint").glob("*.scree")
    few = ["--warm-up", "2", "--steps", "3", "--repetitions", "2"]
    run_ok("bench", "--deck", deck, *few, "--out", "loose", folder=folder)
    run_ok("bench", "--deck", deck, "--from", str(checkpoint), "--set", "simulation.allow_overlap=true", *few, "--out", "settled",
           ranks=2, folder=folder)
    (loose,), (settled,) = rows_of(folder / "loose"), rows_of(folder / "settled")
    check(settled["keys"]["from"] == checkpoint.name and "from" not in loose["keys"], "the row says so", settled)
    check(settled["values"]["contacts"] > 10 * (loose["values"]["contacts"] + 1), "grains lie on each other", (loose, settled))


def test_other_schemes_and_decks_whose_bodies_come_and_go(folder):
    """Disks in the plane and spheres, people, a spout: with the steps of --quick on the ranks that are there."""
    inputs = source_folder() / "inputs"
    for deck, settings in (("quickstart/attraction.toml", []), ("granular/bed.toml", []), ("crowd/room.toml", []),
                           ("granular/heap2d.toml", ["--warm-up", "100"]), ("verification/cradle.toml", ["--warm-up", "0"])):
        run_ok("bench", "--deck", str(inputs / deck), "--quick", *settings, "--out", "out", ranks=2, folder=folder)
        row, = rows_of(folder / "out")
        check(row["seconds"] > 0 and row["size"]["bodies"] > 0, f"{deck} is measured", row)
        check(row["values"]["contacts"] >= 0, f"{deck}: contacts are counted", row)
        check(not (folder / "results").exists(), f"{deck}: no results are written")


def test_decks_that_cannot_be_measured(folder):
    deck = write_deck(folder, end="20 ms")
    (folder / "decks/wrong.toml").write_text(DECK.format(end="1 s").replace("gravity", "gravvity"))
    before = content_of(folder)
    for arguments, code, words in (
            (["--deck", "none.toml"], BAD_INPUT, ["none.toml: cannot read the deck: No such file"]),
            (["--deck", "decks/wrong.toml"], BAD_INPUT, ["decks/wrong.toml:11:1", "gravvity", "gravity"]),
            (["--deck", deck, "--set", "time.stepp=1"], BAD_INPUT, ["time.stepp"]),
            (["--deck", deck, "--mode", "weak"], BAD_INPUT, ["--mode weak: a deck has one size"])):
        result = study(folder, *arguments)
        check(result.code == code, f"exit code {code}", result)
        check(result.stderr.startswith("scree: ") and result.stderr.count("scree: ") == 1, "one message", result)
        check("triad" not in result.stdout, "before anything is measured", result)
        for word in words:
            check_in(word, result.stderr, "the message")
    for arguments, words in ((["--case", "pbd", "--deck", deck], ["--case", "--deck"]), (["--from", "x.scree"], ["--from", "--deck"]),
                             (["--deck", deck, "--bodies", "100"], ["--bodies", "--deck"]),
                             (["--deck", deck, "--steps", "0"], ["--steps", "0"])):
        result = study(folder, *arguments)
        check(result.code == BAD_INPUT and not result.stdout, f"exit code {BAD_INPUT}", result)
        for word in words:
            check_in(word, result.stderr, "the message")
    refused(folder, "bench", "--deck", deck, "--from", "none.scree", words=["none.scree"], ranks=(2,))
    refused(folder, "bench", "--deck", deck, "--warm-up", "15", "--steps", "3", "--repetitions", "2", ranks=(1, 2),
            words=[f"{deck}: the run ends after 20 steps, at t = 0.02 s; 21 are to be measured", "--warm-up"])
    check(content_of(folder) == before, "no file is made")


def test_a_deck_that_fails_in_a_step_ends_the_study_with_its_message(folder):
    """The tray has no right wall any more: a body leaves the domain."""
    deck = write_deck(folder)
    result = study(folder, "--deck", deck, "--set", "obstacles.tray.upper=[5, 1]", "--set", "particles.grains.velocity=[20, 0]",
                   "--ranks", "1", "--warm-up", "0", "--steps", "100", *PATIENT)
    check(result.code == 1, "exit code 1", result)
    check_in("deck on 1 rank: ", result.stderr, "the message says what failed")
    check_in("left the domain", result.stderr, "and why")
    check(result.stderr.count("scree: ") == 1, "one message", result)
