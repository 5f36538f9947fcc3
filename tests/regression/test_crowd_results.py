"""Files of runs with people: the same bytes on any number of ranks and after a restart; summaries; ensembles."""
import csv
import json
import shutil

import h5py

from scree_program import check, check_close, check_in, run_ok, scree

DECK = """\
[simulation]
title = "hall with two doors"
dimension = 2
scheme = "crowd"
end_time = "40 s"
seed = 3
{more_of_run}
[time]
step = "0.05 s"

[walkable]
wkt = "POLYGON((0 0, 8 0, 8 5, 0 5, 0 0))"
[walkable.obstacles.post]
circles = [[7.2, 3.4, 0.2]]

[exits.east]
line = [[8, 2], [8, 3]]
[exits.west]
line = [[0, 2], [0, 2.8]]

[populations.crowd]
region = [[2, 0.5], [7, 0.5], [7, 4.5], [2, 4.5]]
count = 60

[sources.more]
region = [[3, 1], [5, 1], [5, 2], [3, 2]]
rate = "2 1/s"
limit = 10

[output.trajectory]
fps = 5
z = "2 m"

[output.fields]
every = "2 s"
cell = "0.4 m"
density_limit = 2
load_limit = 20

[output.vtk]
every = "4 s"
contacts = false

[output.checkpoint]
every = "5 s"
keep = 100

[analysis]
every = "1 s"
"""


def write_deck(folder, more_of_run=""):
    (folder / "hall.toml").write_text(DECK.format(more_of_run=more_of_run))
    return folder / "hall.toml"


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def same_files(first, second):
    """All result files but checkpoints, logs and what is about the run itself."""
    names = sorted(str(path.relative_to(first)) for path in first.rglob("*")
                   if path.suffix in (".csv", ".vti", ".pvti", ".vtp", ".pvtp", ".pvd"))
    check(len(names) > 40, "there are files to compare", names)
    for name in names:
        if "particles" in name:
            continue    # in the order of the ranks
        check((second / name).exists() and (first / name).read_bytes() == (second / name).read_bytes(),
              f"{name} is the same", f"{first}\n{second}")
    with h5py.File(first / "hall.trajectory.h5") as a, h5py.File(second / "hall.trajectory.h5") as b:
        check(dict(a.attrs) == dict(b.attrs), "attributes are the same")
        check((a["trajectory"][:] == b["trajectory"][:]).all(), "trajectories are the same")


def evacuation(results):
    summary = json.loads((results / "summary.json").read_text())["evacuation"]
    summary.pop("certificate_worst")    # of the steps since the restart
    return summary


def test_files_do_not_depend_on_ranks_nor_on_restarts(folder):
    deck = write_deck(folder)
    for ranks in (1, 2, 3):
        run_ok("run", deck, "--set", f'output.directory="on{ranks}"', ranks=ranks, folder=folder)
    one = folder / "on1" / "hall"
    for ranks in (2, 3):
        same_files(one, folder / f"on{ranks}" / "hall")
        check(evacuation(one) == evacuation(folder / f"on{ranks}" / "hall"), "summaries are the same")

    for ranks in (1, 3):
        saved = folder / f"again{ranks}"
        shutil.copytree(folder / "on2", saved / "on2")
        states = sorted((saved / "on2" / "hall" / "checkpoint").iterdir())
        check(len(states) > 3, "there are checkpoints", states)
        run_ok("restart", states[1], "--set", f'output.directory="{saved}/on2"', ranks=ranks, folder=saved)
        same_files(one, saved / "on2" / "hall")
        check(evacuation(one) == evacuation(saved / "on2" / "hall"), "summaries are the same")


def test_tables_and_summary_agree(folder):
    run_ok("run", write_deck(folder), ranks=2, folder=folder)
    results = folder / "results" / "hall"
    everybody = rows_of(results / "hall.agents.csv")
    people = [row for row in everybody if row["state[-]"] == "left"]
    check(len(everybody) == 70 and everybody[:len(people)] == people, "everybody has a row, those who left first", len(everybody))
    curve = rows_of(results / "hall.evacuation.csv")
    exits = rows_of(results / "hall.exits.csv")
    summary = evacuation(results)

    order = [(float(row["left[s]"]), int(row["id[-]"])) for row in people]
    check(order == sorted(order) and len(set(order)) == len(order), "rows are by time, then id", order)
    check(summary["at_start"] == 60 and summary["came"] == 10, "who was there", summary)
    check(summary["left"] == len(people) and summary["left"] + summary["still_inside"] == 70, "nobody is lost", summary)
    check({row["population[-]"] for row in people} <= {"crowd", "more"}, "populations have their names", people[0])
    for row in people:
        check(float(row["entered[s]"]) <= float(row["premovement_end[s]"]) < float(row["left[s]"]), "times are in order", row)
        check(0.15 <= float(row["radius[m]"]) <= 0.24 and float(row["walked[m]"]) > 0, "numbers are possible", row)

    check(float(curve[0]["time[s]"]) == 0 and curve[0]["inside[-]"] == "60", "N(t) begins at the start", curve[0])
    for row in curve:
        here = int(row["left_east[-]"]) + int(row["left_west[-]"])
        check(here == int(row["left[-]"]) == sum(time <= float(row["time[s]"]) for time, _ in order), "N(t) counts", row)
        check(int(row["inside[-]"]) == 60 + int(row["came[-]"]) - here, "nobody is lost", row)
    times = [time for time, _ in order]
    check(summary["t50_s"] == times[34], "half of 70 have left with the 35th", summary)
    check_close(summary["mean_s"], sum(times) / len(times), "mean time", relative=1e-12)
    for row in exits:
        mine = sorted(float(p["left[s]"]) for p in people if p["exit[-]"] == row["exit[-]"])
        check(int(row["persons[-]"]) == len(mine) and float(row["first[s]"]) == mine[0] and
              float(row["last[s]"]) == mine[-1], "exits count", row)
        check(summary["exits"][row["exit[-]"]]["persons"] == len(mine), "summary has the exits", summary)


def test_who_never_leaves_is_named(folder):
    result = run_ok("run", write_deck(folder), "--set", "simulation.end_time=1.5", folder=folder)
    summary = evacuation(folder / "results" / "hall")
    check(len(summary["never_left"]) == 3 and summary["t90_s"] is None, "three of those inside are named", summary)
    for person in summary["never_left"]:
        check_in(f"person {person['id']} at (", result.stderr, "they are named on the terminal")


def test_any_name_can_stand_in_files(folder):
    name = 'east, "by" <the> sea'
    deck = write_deck(folder)
    deck.write_text(deck.read_text().replace("[exits.east]", f"[exits.'{name}']"))
    run_ok("run", deck, "--set", "simulation.end_time=6", folder=folder)
    results = folder / "results" / "hall"
    check(name in {row["exit[-]"] for row in rows_of(results / "hall.agents.csv")}, "people have their exit")
    check({row["exit[-]"] for row in rows_of(results / "hall.exits.csv")} == {name, "west"}, "exits have their names")
    states = sorted((results / "checkpoint").iterdir())
    before = (results / "hall.agents.csv").read_bytes()
    run_ok("restart", states[0], folder=folder)
    check((results / "hall.agents.csv").read_bytes() == before, "a restart finds its rows again")
    frame = sorted((results / "vtk" / "fields").glob("*.pvti"))[0].read_text()
    check_in('"travel_time_east_ _by_ _the_ sea"', frame, "columns have names that XML can hold")


def test_ensemble(folder):
    deck = write_deck(folder, "ensemble = 3\n")
    run_ok("run", deck, ranks=2, folder=folder)
    results = folder / "results" / "hall"
    report = json.loads((results / "ensemble.json").read_text())
    check(report["seeds"] == [3, 4, 5], "seeds are one after the other", report)
    t50 = report["quantities"]["t50"]
    values = [evacuation(results / f"seed_{seed}")["t50_s"] for seed in (3, 4, 5)]
    check(t50["values"] == values and len(set(values)) > 1, "values are those of the runs", report)
    mean = sum(values) / 3
    deviation = (sum((v - mean) ** 2 for v in values) / 2) ** 0.5
    check_close(t50["mean"], mean, "mean", relative=1e-12)
    check_close(t50["standard_deviation"], deviation, "standard deviation", relative=1e-12)
    # Student's t, 2 degrees of freedom, 97.5 %: 4.302653.
    check_close(t50["upper_95"] - mean, 4.302653 * deviation / 3 ** 0.5, "confidence interval", relative=1e-6)
    table = (results / "ensemble.csv").read_text()
    check(table.splitlines()[1].startswith("t50,s,3,"), "the table has the same", table)

    # The same again, two of the runs being there already; the first is what a single run is.
    shutil.rmtree(results / "seed_4")
    (results / "ensemble.csv").unlink()
    again = run_ok("run", deck, "--resume", folder=folder)
    check(again.stderr.count("has ended already") == 2, "what has ended is not done again", again)
    check((results / "ensemble.csv").read_text() == table, "the table is the same", again)
    run_ok("run", deck, "--ensemble", 1, "--set", 'output.name="single"', folder=folder)
    check(evacuation(folder / "results" / "single") == evacuation(results / "seed_3"), "one run is the first")
    refused = scree("run", deck, folder=folder)
    check(refused.code == 2 and "holds results already" in refused.stderr, "results are not replaced unasked", refused)


def ensemble_is_of(results, n_people, seeds):
    report = json.loads((results / "ensemble.json").read_text())
    check(report["seeds"] == seeds, "seeds are one after the other", report)
    members = sorted(path.name for path in results.iterdir() if path.is_dir())
    check(members == [f"seed_{seed}" for seed in seeds], "there are no other runs", members)
    for member in members:
        check(evacuation(results / member)["at_start"] == n_people, "all runs are of this deck", member)


def test_ensembles_never_mix_decks(folder):
    deck = write_deck(folder, "ensemble = 3\n")
    short = ["--set", "simulation.end_time=1", "--set", "output.fields.every=5", "--set", "output.vtk.every=5"]
    fewer = [*short, "--set", "populations.crowd.count=20"]
    results = folder / "results" / "hall"
    run_ok("run", deck, *fewer, folder=folder)
    ensemble_is_of(results, 20, [3, 4, 5])

    # Another deck takes the place of all runs, from the first of its own on.
    stopped = scree("run", deck, *short, "--force", "--max-wall-time", 1e-9, folder=folder)
    check(stopped.code == 4, "it was stopped", stopped)
    members = [path.name for path in results.iterdir() if path.is_dir()]
    check(members == ["seed_3"], "nothing is left of the other", members)
    run_ok("run", deck, *short, "--resume", folder=folder)
    ensemble_is_of(results, 60, [3, 4, 5])

    # Nor does one go on with runs of another.
    before = (results / "ensemble.csv").read_bytes()
    for ranks in (1, 3):
        refused = scree("run", deck, *fewer, "--resume", ranks=ranks, folder=folder)
        check(refused.code == 2, "another deck is refused", refused)
        for word in ("--set populations.crowd.count: 'count' in [populations.crowd] is 20, but 60 in", "hall/seed_3"):
            check_in(word, refused.stderr, "the message says what differs")
    check((results / "ensemble.csv").read_bytes() == before, "the table is the same")

    # A later end and more runs are the same deck; --force leaves the files of others and no run of before.
    longer = ["--set", "simulation.end_time=2", *short[2:]]
    run_ok("run", deck, *longer, "--ensemble", 4, "--resume", folder=folder)
    again = run_ok("run", deck, *longer, "--ensemble", 4, "--resume", folder=folder)
    check(again.stderr.count("has ended already") == 4, "what has ended is not done again", again)
    (results / "notes.txt").write_text("mine")
    run_ok("run", deck, *short, "--ensemble", 2, "--force", folder=folder)
    ensemble_is_of(results, 60, [3, 4])
    check((results / "notes.txt").exists(), "files of others stay")


def test_runs_say_what_check_says_and_count_their_work(folder):
    deck = write_deck(folder)
    deck.write_text(deck.read_text() + '[navigation]\ncell = "0.3 m"\n')
    result = run_ok("run", deck, folder=folder)
    check_in("too coarse", result.stderr, "findings are warnings of a run")
    summary = json.loads((folder / "results" / "hall" / "summary.json").read_text())
    check(summary["bodies"] == 0 and summary["body_steps_this_run"] > 60, "work is that of those who were there", summary)
