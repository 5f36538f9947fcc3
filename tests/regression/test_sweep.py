"""`scree sweep`: a deck for every combination of values, with several seeds; one table; array jobs; what is refused."""
import csv
import statistics

from scree_program import check, check_close, check_in, run_ok, scree

# Balls that fall freely, with random velocities: at t the mean velocity is g t and the seeds differ in the speed.
DECK = """\
[simulation]
dimension = 2
scheme = "nonsmooth"
end_time = 0.1
seed = 7
[domain]
lower = [0, -20]
upper = [10, 10]
[time]
step = 0.01
[physics]
gravity = [0, -10]
[materials.glass]
density = 2500
[pairs]
"glass-glass" = { friction = 0.5, restitution = 0 }
[particles.balls]
material = "glass"
random_speed = 0.1
radius = { distribution = "constant", value = 0.1 }
source = { type = "lattice", spacing = 1, region = { lower = [4, 4], upper = [6, 6] } }
[solver]
type = "nsgs"
[analysis]
every = 0.05
[measures.motion]
type = "speed"
"""
KEYS = ["--vary", "physics.gravity=[0,-5],[0,-10]", "--vary", "particles.balls.random_speed=0.1:0.3:0.1"]


def write_deck(folder, text=DECK):
    (folder / "fall.toml").write_text(text)


def table_of(folder):
    with open(folder / "results/fall_sweep/sweep.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def speeds_of(folder, point):
    speeds = []
    for run in sorted((folder / f"results/fall_sweep/point_{point:03}").glob("seed_*")):
        with open(run / f"{run.name}.scalars.csv", newline="", encoding="utf-8") as file:
            speeds.append([float(row["motion_mean_speed[m/s]"]) for row in csv.DictReader(file)])
    return speeds


def test_a_table_of_all_points(folder):
    """Points in the order of the keys, the last fastest; ends of ranges belong to them; means over seeds."""
    write_deck(folder)
    run_ok("sweep", "fall.toml", *KEYS, "--ensemble", "3", folder=folder, ranks=2)
    rows = [row for row in table_of(folder) if row["quantity"] == "motion_mean_speed"]
    points = [(row["point[-]"], row["physics.gravity"], row["particles.balls.random_speed"]) for row in rows]
    expected = [(g, v) for g in ("[0,-5]", "[0,-10]") for v in ("0.1", "0.2", "0.3")]
    check(points == [(str(i), *pair) for i, pair in enumerate(expected)], "six points in order", points)
    for row in rows:
        last = [speeds[-1] for speeds in speeds_of(folder, int(row["point[-]"]))]
        check(len(set(last)) == 3 and row["runs"] == "3" and row["unit"] == "m/s", "three seeds", row)
        check_close(float(row["mean"]), statistics.mean(last), "mean over seeds of the last rows", relative=1e-12)
        deviation = statistics.stdev(last)
        check_close(float(row["standard_deviation"]), deviation, "deviation", relative=1e-9)
        # Student's t for 2 degrees of freedom and 95 %: 4.3027 (any table).
        check_close(float(row["upper_95"]) - float(row["mean"]), 4.3027 * deviation / 3**0.5, "interval", relative=1e-4)
        fall = abs(float(row["physics.gravity"].strip("[]").split(",")[1])) * 0.1
        check(abs(float(row["mean"]) - fall) < 0.3, "balls fall at g t", row)
    # From 0.05 s on there are two rows.
    run_ok("sweep", "fall.toml", *KEYS, "--ensemble", "3", "--resume", "--mean-after", "0.05", folder=folder)
    row = [row for row in table_of(folder) if row["quantity"] == "motion_mean_speed"][0]
    means = [statistics.mean(speeds[1:]) for speeds in speeds_of(folder, 0)]
    check_close(float(row["mean"]), statistics.mean(means), "mean over the rows after a time", relative=1e-12)


def test_array_jobs_give_the_same_table(folder):
    """Runs one by one by --index, then the table by --resume, which runs nothing again."""
    keys = ["--vary", "particles.balls.random_speed=0.1,0.2", "--ensemble", "2"]
    for name in ("whole", "parts"):
        (folder / name).mkdir()
        write_deck(folder / name)
    run_ok("sweep", "fall.toml", *keys, folder=folder / "whole")
    for index in (3, 0, 2, 1):
        run_ok("sweep", "fall.toml", *keys, "--index", str(index), folder=folder / "parts")
        check(not (folder / "parts/results/fall_sweep/sweep.csv").exists(), "one run writes no table")
    result = scree("sweep", "fall.toml", *keys, "--index", "4", folder=folder / "parts")
    check(result.code == 2, "there are four runs", result)
    check_in("4 runs, 0 to 3", result.stderr, "and the message says so")
    summary = folder / "parts/results/fall_sweep/point_001/seed_8/summary.json"
    before = summary.stat().st_mtime_ns
    run_ok("sweep", "fall.toml", *keys, "--resume", folder=folder / "parts")
    check(summary.stat().st_mtime_ns == before, "runs that have ended stay as they are")
    whole, parts = ((folder / name / "results/fall_sweep/sweep.csv").read_bytes() for name in ("whole", "parts"))
    check(whole == parts, "the same table")


def test_a_run_that_fails_is_left_out(folder):
    """Where gravity pulls all balls out of an open face the run fails; the others count, and the exit code says so."""
    write_deck(folder)
    result = scree("sweep", "fall.toml", "--vary", "physics.gravity=[0,-10],[0,-1e5]", "--vary", "time.step=0.05", folder=folder)
    check(result.code == 1, "exit code 1", result)
    check_in("run 1 failed", result.stderr + result.stdout, "which one failed")
    check({row["physics.gravity"] for row in table_of(folder)} == {"[0,-10]"}, "the other is in the table")


def test_what_is_refused_before_anything_runs(folder):
    write_deck(folder)
    for vary, message in (("physics.gravity", "KEY=FIRST:LAST:STEP"), ("time.step=0.1:0.2:-0.1", "never lead"),
                          ("time.step=a:b:c", "three numbers"), ("time.step=0.1,,0.2", "a value is empty"),
                          ("time.stop=1,2", "did you mean 'step'"), ("time.step=0.01,-1", "must be"),
                          ("time.step=0:1:1e-9", "more than"), ("simulation.dimension=2,3", "simulation.dimension")):
        result = scree("sweep", "fall.toml", "--vary", vary, folder=folder)
        check(result.code == 2, f"--vary {vary} is refused", result)
        check_in(message, result.stderr, "the message says why")
    check(not (folder / "results").exists(), "nothing was written")
    run_ok("sweep", "fall.toml", "--vary", "time.step=0.01,0.02", folder=folder)
    result = scree("sweep", "fall.toml", "--vary", "time.step=0.01,0.02", folder=folder)
    check(result.code == 2, "results are not replaced", result)
    check_in("holds results already", result.stderr, "the message says so")
    run_ok("sweep", "fall.toml", "--vary", "time.step=0.01,0.02", "--force", folder=folder)
