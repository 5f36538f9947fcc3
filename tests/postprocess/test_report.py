"""`scree report` writes one file that a browser shows: people move, numbers are those of the tables, nothing comes from outside."""
import json

import numpy as np
import pytest

from browser import Browser
from house_run import FPS, GROUND, N_UPPER, STAIR, UPPER, left_at, make_house, place_of
from scree_program import check, check_close, check_in, run_ok, scree, source_folder, without_launcher
from scree.crowd.curves import mean_and_interval
from scree.results import Results

END = 25.0      # of the run of the room: some are still inside

# Numbers of pixels that people cover on each canvas, and the middles of them over its size.
COVERED = """[...document.querySelectorAll("figure.floor canvas")].map((canvas) => {
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  let n = 0, x = 0, y = 0;
  for (let k = 0; k < pixels.length; k += 4) if (pixels[k + 3] > 127) {
    ++n; x += (k / 4) % canvas.width; y += Math.floor(k / 4 / canvas.width);
  }
  return [n, n ? x / n / canvas.width : 0, n ? y / n / canvas.height : 0];
})"""


@pytest.fixture(scope="module")
def ensemble(shared_folder):
    """Three runs of the room with one door, and the text of their report."""
    run_ok("run", source_folder() / "inputs/crowd/room.toml", "--set", f"simulation.end_time={END}", "--set",
           f'output.directory="{shared_folder}"', "--ensemble", 3, folder=shared_folder)
    return shared_folder / "room"


def report(*arguments):
    result = without_launcher("report", *arguments).finish()
    check(result.code == 0, "scree report ends with exit code 0", result)
    return result


def opened(browser, path, part=""):
    browser.open(path, part)
    check(not browser.errors, "no error in the page", browser.errors)


def rows_of(browser, identity):
    """A table of the page as {first cell: other cells}."""
    rows = browser.run(f"[...document.querySelectorAll('#{identity} tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
    return {row[0]: row[1:] for row in rows}


def test_a_page_is_used(ensemble, folder):
    run = ensemble / "seed_1"
    result = report(run)
    check_in(f"{run}/report.html", result.stdout, "the file is named")
    agents, n_start = Results(run).agents, 100
    with Browser(folder) as browser:
        opened(browser, run / "report.html")
        for frame in (0, 60, 133, 10 * END):
            browser.set("time", int(frame), "input")
            time = frame / 10
            check(browser.text("clock") == f"{time:.1f}", "the slider sets the time", browser.text("clock"))
            inside = n_start - int(np.sum(agents["left"] <= time + 1e-6))
            check(browser.text("inside") == str(inside), f"N({time} s) is that of agents.csv", (browser.text("inside"), inside))
            check(browser.run("document.querySelector('[data-left]').textContent") == str(n_start - inside), "so is who left by the door")
        browser.set("time", 0, "input")
        at_start = browser.run(COVERED)[0]
        browser.press("play")
        check(browser.text("play") == "Pause", "it plays", browser.text("play"))
        browser.run("new Promise((done) => setTimeout(done, 1000))")
        browser.press("play")
        paused = float(browser.text("clock"))
        check(0 < paused < END and browser.text("play") == "Play", "time has passed, and it stands", paused)
        browser.run("new Promise((done) => setTimeout(done, 200))")
        check(float(browser.text("clock")) == paused, "paused is paused", browser.text("clock"))
        later = browser.run(COVERED)[0]
        check(later[1] > at_start[1] + 0.01, "people have gone to the right, to the door", (at_start, later))
        browser.set("speed", "32", "change")
        browser.press("play")
        browser.run("new Promise((done) => setTimeout(done, 2500))")
        check(browser.text("clock") == f"{END:.1f}" and browser.text("play") == "Play", "it stops at the end", browser.text("clock"))
        cells = rows_of(browser, "times")
        left = np.sort(agents["left"][agents.has_left])
        for name in ("everybody", "exit door"):
            people, first, mean, half, most, last = cells[name]
            n = n_start if name == "everybody" else len(left)
            check(people == (f"{len(left)} of 100" if n == n_start else str(len(left))), "how many left", cells[name])
            check(first == f"{left[0]:.2f}" and mean == f"{left.mean():.2f}", "first and mean time", cells[name])
            check(half == (f"{left[-(-n // 2) - 1]:.2f}" if len(left) >= n / 2 else "not reached"), "time of half", cells[name])
        check(cells["everybody"][-1] == "not reached", "not everybody is out", cells["everybody"])
        check(all(address.startswith(("file:", "data:")) for address in browser.requests), "nothing is loaded", browser.requests)
        check(not browser.errors, "no error after all this", browser.errors)
        check(browser.run("document.querySelectorAll('script[src], link[rel=stylesheet], img[src^=http]').length") == 0, "one file")
        check_in("scree 0.", browser.text("version"), "the version of the program")
        check_in("simulation.seed", browser.text("what-was-assumed"), "the deck")


def test_an_ensemble(ensemble, folder):
    output = folder / "all.html"
    report(ensemble, "--output", output)
    runs = [Results(ensemble / f"seed_{seed}") for seed in (1, 2, 3)]
    with Browser(folder) as browser:
        opened(browser, output)
        cells = rows_of(browser, "times")["exit door"]
        means = [run.agents["left"][run.agents.has_left].mean() for run in runs]
        mean, half, _ = mean_and_interval(means)
        check(cells[2] == f"{mean:.2f} ± {half:.2f}", "mean over runs and its interval", cells)
        check_in(f"{np.percentile([run.agents['left'][run.agents.has_left].max() for run in runs], 95):.2f}", cells[-1], "95 % of the runs")
        check(browser.run("document.querySelectorAll('#inside-chart polygon').length") == 1, "N(t) has a band")
        check_in("3 runs", browser.run("document.querySelector('header p').textContent"), "three runs")
        check_in("seeds 1, 2, 3", browser.text("result"), "which seeds")
        check("decks of these runs differ" not in browser.text("what-was-assumed"), "they differ in the seed alone")
    table = json.loads((ensemble / "ensemble.json").read_text())
    check(table, "the program made a table of its own", table)


def test_the_interval_is_that_of_the_program(ensemble):
    rows = [line.split(",") for line in (ensemble / "ensemble.csv").read_text().splitlines()[1:]]
    found = {row[0]: row for row in rows}
    runs = [Results(ensemble / f"seed_{seed}") for seed in (1, 2, 3)]
    mean, half, n = mean_and_interval([run.agents["left"][run.agents.has_left].mean() for run in runs])
    check(n == 3 and found["mean"][2] == "3", "three runs", found["mean"])
    check_close(mean, float(found["mean"][3]), "mean", relative=1e-9)
    check_close(mean - half, float(found["mean"][5]), "lower end of the 95 % interval", relative=1e-6)


def test_floors(folder):
    make_house(folder / "house")
    report(folder / "house")
    with Browser(folder) as browser:
        opened(browser, folder / "house/report.html")
        check(browser.run("document.title") == "House <of> two floors", "a title is a text", browser.run("document.title"))
        names = browser.run("[...document.querySelectorAll('figure.floor figcaption')].map(e => e.textContent)")
        check(names == ["ground, 0 m", "upper, 3 m"], "floors in the order of the deck", names)
        check(browser.run("document.querySelectorAll('figure.floor .connector').length") == 2, "the stair is drawn on both floors")
        for frame in (0, 35, 42, 60, 80, 5 * left_at(0) - 1):
            browser.set("time", frame, "input")
            levels = [place[0] for place in (place_of(k, frame / FPS) for k in range(N_UPPER)) if place]
            seen = browser.run(COVERED)
            one = seen[0][0] + seen[1][0]
            wanted = [levels.count(GROUND) + levels.count(STAIR), levels.count(UPPER)]     # the stair begins on the ground
            # Disks do not overlap: what they cover shows their number.
            disk = one / max(sum(wanted), 1)
            for floor in (0, 1):
                check_close(seen[floor][0], wanted[floor] * disk, f"people of floor {floor} in frame {frame}: {wanted}", absolute=0.2 * disk)
        check(browser.run("document.querySelectorAll('[data-exit=back].closed').length") == 1, "the exit that never opens is closed")
        check(browser.run("document.querySelectorAll('[data-exit=door].closed').length") == 0, "the other is not")
        check_in("1 part(s) of the area", browser.text("plan"), "the closet is left out")
        browser.set("floor", "1", "change")
        check(browser.run("[...document.querySelectorAll('figure.floor')].map(f => f.hidden)") == [True, False], "one floor is chosen")
        browser.set("time", 0, "input")
        wide = browser.run(COVERED)
        check(wide[1][0] > 0, "people of the chosen floor are drawn", wide)
        browser.set("floor", "all", "change")
        check(browser.run("[...document.querySelectorAll('figure.floor')].map(f => f.hidden)") == [False, False], "all again")
        check(not browser.errors, "no error", browser.errors)


def test_paper(ensemble, folder):
    report(ensemble / "seed_2", "--output", folder / "paper.html")
    with Browser(folder) as browser:
        opened(browser, folder / "paper.html", "#t=5")
        check(browser.text("clock") == "5.0", "the address says the time", browser.text("clock"))
        browser.ask("Emulation.setEmulatedMedia", media="print")
        shown = browser.run("Object.fromEntries(['.controls', '.plan', 'figure.floor canvas', '.chart', '#times', 'nav'].map("
                            "s => [s, getComputedStyle(document.querySelector(s)).display !== 'none']))")
        check(shown == {".controls": False, ".plan": True, "figure.floor canvas": True, ".chart": True, "#times": True, "nav": False},
              "plan, people, charts and tables are printed, buttons are not", shown)
        browser.print(folder / "paper.pdf")
        pages = (folder / "paper.pdf").read_bytes().count(b"/Type /Page\n") or (folder / "paper.pdf").read_bytes().count(b"/Type /Page")
        check(2 <= pages <= 14, "the report is some pages long", pages)


def test_runs_that_did_not_end(ensemble, folder):
    make_house(folder / "stopped")
    summary = json.loads((folder / "stopped/summary.json").read_text())
    (folder / "stopped/summary.json").write_text(json.dumps(summary | {"status": "interrupted", "time_s": 21}))
    report(folder / "stopped")
    text = (folder / "stopped/report.html").read_text()
    check_in("stopped was stopped at t = 21 s of 60 s", text, "the page says that the run was stopped")

    killed = folder / "killed"
    make_house(killed)
    (killed / "summary.json").unlink()
    (killed / "house.resolved.toml").unlink()
    agents = (killed / "house.agents.csv").read_text()
    (killed / "house.agents.csv").write_text(agents[:agents.rindex("upstairs")])     # half a row
    data = (killed / "house.trajectory.h5").read_bytes()
    (killed / "house.trajectory.h5").write_bytes(data[:len(data) // 2])
    report(killed)
    text = (killed / "report.html").read_text()
    for words in ("it still runs, or it was killed", "house.trajectory.h5 cannot be read", "[output.trajectory]", "no house.resolved.toml"):
        check_in(words, text, "the page says what is missing")
    with Browser(folder) as browser:
        opened(browser, killed / "report.html")
        check(rows_of(browser, "times")["everybody"][0] == f"{N_UPPER - 1} of {N_UPPER}", "whole rows count", rows_of(browser, "times"))

    (killed / "house.evacuation.csv").write_text("time[s],inside[-],came[-],left[-],left_door[-]\n")
    (killed / "house.agents.csv").write_text("id[-],population[-],agent_type[-],radius[m],desired_speed[m/s],entered[s],left[s],exit[-]\n")
    (killed / "house.trajectory.h5").unlink()
    report(killed)
    check_in("Nobody has left yet", (killed / "report.html").read_text(), "a run that has only begun")


def test_what_cannot_be_reported(ensemble, folder):
    def refused(words, *arguments):
        result = without_launcher("report", *arguments).finish()
        check(result.code != 0 and result.stderr.count("\n") <= 3, "one message", result)
        for word in words:
            check_in(word, result.stderr, "the message")

    refused(["no/such", "is not a folder"], folder / "no/such")
    refused([str(folder), "no results of a run"], folder)
    study = folder / "study"
    (study / "point_000/seed_1").mkdir(parents=True)
    refused(["parameter study", "point_000"], study)
    refused(["crowds and of grains"], ensemble / "seed_1", grains_folder(folder))
    refused(["--megabytes", "1000"], ensemble, "--megabytes", 0)
    refused(["--density-limit"], ensemble, "--density-limit", -1)
    refused(["results"])


def grains_folder(folder):
    (folder / "grains").mkdir()
    (folder / "grains/case.scalars.csv").write_text("time[s],step[-],speed[m/s]\n0,0,1\n")
    return folder / "grains"


def test_without_python_or_its_modules(ensemble, folder):
    def said(**variables):
        return without_launcher("report", ensemble / "seed_1", "--output", folder / "x.html", **variables).finish()

    result = said(SCREE_PYTHON="/no/such/python3")
    check(result.code == 2 and "cannot start /no/such/python3" in result.stderr and "SCREE_PYTHON" in result.stderr,
          "no interpreter", result)
    bare = folder / "bare"
    bare.write_text("#!/bin/sh\nexec /usr/bin/python3 -I -S -c '"
                    'import runpy, sys; sys.argv = sys.argv[1:]; sys.path.insert(0, sys.argv[0].rpartition("/")[0]); '
                    "runpy.run_path(sys.argv[0], run_name=\"__main__\")' \"$@\"\n")
    bare.chmod(0o755)
    result = said(SCREE_PYTHON=str(bare))
    check(result.code == 2 and "the Python module" in result.stderr and "Traceback" not in result.stderr, "no modules", result)


def test_on_several_ranks_one_writes(ensemble, folder):
    result = scree("report", ensemble / "seed_1", "--output", folder / "two.html", ranks=2)
    check(result.code == 0 and result.stdout.count("two.html") == 1, "one rank writes", result)


def test_the_fallen_have_not_left(folder):
    """Gas upstream of a door: log, summary and report separate those who left from those who lie inside, to the end of the run."""
    (folder / "gas.csv").write_text("x,y,CO,CO2\n" + "".join(f"{x},{y},{0 if x >= 10 else 0.1},0.1\n" for x in (0, 8, 10, 12) for y in (0, 8)))
    (folder / "gassed.toml").write_text('''\
[simulation]
dimension = 2
scheme = "crowd"
end_time = "200 s"
[time]
step = "0.05 s"
[walkable]
polygon = [[0, 0], [12, 0], [12, 8], [0, 8]]
[exits.east]
line = [[12, 3], [12, 5]]
[populations.near]
region = [[10.5, 1], [11.5, 1], [11.5, 7], [10.5, 7]]
count = 7
[populations.far]
region = [[1, 1], [5, 1], [5, 7], [1, 7]]
count = 9
[hazard]
file = "gas.csv"
''')
    result = run_ok("run", folder / "gassed.toml", "--set", f'output.directory="{folder}"', folder=folder, ranks=2)
    said_at_end = result.stdout + result.stderr
    check_in("only people who are incapacitated are left", said_at_end, "the log says why the run ends")
    check("nobody is left" not in said_at_end, "and not that nobody is left", result)
    check_in("7 left, 9 still inside at t = 2.7 s, all of them incapacitated", " ".join(said_at_end.split()), "the summary says who lies inside")
    run = folder / "gassed"
    hazard = json.loads((run / "summary.json").read_text())["evacuation"]["hazard"]
    check((hazard["incapacitated"], hazard["incapacitated_inside"], hazard["vanished"]) == (9, 9, 0), "counts", hazard)
    report(run)
    with Browser(folder) as browser:
        opened(browser, run / "report.html")
        numbers = browser.run("Object.fromEntries([...document.querySelectorAll('.numbers div')].map("
                              "d => [d.querySelector('span').textContent, d.querySelector('b').textContent]))")
        check(numbers["people"] == "16" and numbers["still inside at the end"] == "9" and numbers["incapacitated"] == "9", "numbers", numbers)
        check(not numbers["until 100 % had left"].endswith(" s"), "not all had left", numbers)
        rows = rows_of(browser, "times")
        check(set(rows) == {"everybody", "exit east", "population near", "population far", "incapacitated"}, "no row for those without an exit", rows)
        check(rows["everybody"][0] == "7 of 16" and rows["population far"][0].startswith("0"), "the fallen have not left", rows)
    vanished = run_ok("run", folder / "gassed.toml", "--set", f'output.directory="{folder}"', "hazard.fallen=vanish", "output.name=gone", folder=folder)
    check_in("nobody is left or to come", vanished.stdout + vanished.stderr, "nobody is there")
    check("all of them incapacitated" not in vanished.stdout + vanished.stderr, "nobody lies inside", vanished)
    text = (folder / "gassed.toml").read_text()
    (folder / "none.toml").write_text(text[:text.index("[populations.near]")] + text[text.index("[populations.far]"):])
    run_ok("run", folder / "none.toml", "--set", f'output.directory="{folder}"', folder=folder)
    report(folder / "none")     # nobody has left


def test_the_office_tower(folder):
    """Five floors and eight flights for 60 s: N(t) on the slider is that of agents.csv, and floors can be chosen."""
    run_ok("run", source_folder() / "inputs/crowd/office_tower.toml", "--set", "simulation.end_time=60", "--set",
           f'output.directory="{folder}"', folder=folder)
    run = folder / "office_tower"
    report(run)
    left = Results(run).agents["left"]
    with Browser(folder) as browser:
        opened(browser, run / "report.html")
        for frame in (0, 100, 180, 240):
            browser.set("time", frame, "input")
            time = float(browser.text("clock"))
            check_close(time, frame / 4, "the slider sets the time", absolute=0.051)
            inside = 600 - int(np.sum(left <= frame / 4 + 1e-6))
            check(browser.text("inside") == str(inside), f"N({time} s)", (browser.text("inside"), inside))
        names = browser.run("[...document.querySelectorAll('figure.floor figcaption')].map(c => c.textContent)")
        for name in ("ground", "first", "second", "third", "fourth"):
            check(any(name in text for text in names), f"the floor {name} is shown", names)
        check(not browser.errors, "no error after all this", browser.errors)
