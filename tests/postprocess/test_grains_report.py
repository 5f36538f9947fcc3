"""The report of a run of grains: energy balance, time series, certificate, picture."""
import re

import numpy as np

from browser import Browser
from scree_program import check, check_close, check_in, run_ok, source_folder, without_launcher
from scree.report import write_report
from scree.results import Results


def test_a_run_of_grains(folder):
    deck = source_folder() / "inputs/convex/dominoes.toml"
    run_ok("run", deck, "--set", "simulation.end_time=0.1", "--set", f'output.directory="{folder}"', folder=folder)
    run = folder / "dominoes"
    result = without_launcher("report", run).finish()
    check(result.code == 0, "scree report ends with exit code 0", result)
    scalars = Results(run).scalars
    with Browser(folder) as browser:
        browser.open(run / "report.html")
        check(not browser.errors and len(browser.requests) >= 1, "no error", browser.errors)
        check(all(address.startswith(("file:", "data:")) for address in browser.requests), "nothing is loaded", browser.requests)
        cells = browser.run("[...document.querySelector('#balance tbody tr').cells].map(c => c.textContent)")
        largest = np.abs(scalars["energy_imbalance"]).max()
        check(cells[1] == "energy_imbalance" and cells[2] == f"{largest:.3g} J", "the imbalance is that of the table", (cells, largest))
        worst = browser.run("[...document.querySelectorAll('#certificate-table tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
        known = Results(run).summary["certificate_worst"]
        row = next(row for row in worst if row[0] == "residual")
        check_close(float(row[1]), known["residual"]["value"], "the worst residual", relative=6e-3)
        check(row[3] == "yes" and float(row[2]) == known["residual"]["limit"], "its limit", row)
        check(browser.run("document.querySelector('img.picture')?.naturalWidth ?? 0") == 1000, "the last frame is a picture of 1000 pixels")
    without = without_launcher("report", run, "--no-picture", "--output", folder / "small.html").finish()
    check(without.code == 0, "a report without a picture", without)
    check_in("No picture was asked for", (folder / "small.html").read_text(), "it says so")


def test_several_runs_and_one_that_was_stopped(folder):
    for seed, end in ((1, 1.0), (2, 0.5)):
        (folder / f"run{seed}").mkdir()
        times = np.arange(0, end + 0.05, 0.1)
        rows = "".join(f"{t},{k},{2 * t + seed},{0.1 * t}\n" for k, t in enumerate(times))
        (folder / f"run{seed}/case.scalars.csv").write_text(f"time[s],step[-],height[m],speed[m/s]\n{rows}" + "1.1,1" * (seed == 2))
        (folder / f"run{seed}/case.resolved.toml").write_text(f"[simulation]\nseed = {seed}\nend_time = 1.0\n[physics]\ngravity = [0.0, {-seed}.0]\n")
    result = without_launcher("report", folder / "run1", folder / "run2", "--no-picture", "--output", folder / "both.html").finish()
    check(result.code == 0, "two runs", result)
    text = (folder / "both.html").read_text()
    for words in ("height, mean and range of 2 runs", "decks of these runs differ", "physics.gravity", "no summary.json"):
        check_in(words, text, "the page")


def test_lines_of_one_chart_can_be_read(folder):
    """Columns of one unit whose values are far apart get charts of their own; in "dem" the imbalance is no round-off."""
    (folder / "case.scalars.csv").write_text("time[s],step[-],few[-],many[-],some[-],energy_kinetic[J],energy_imbalance[J]\n"
                                             "0,0,1,1000,3,1,0\n1,1,2,2000,4,2,1e-4\n")
    for scheme, words in (("dem", "an error of the time step"), ("nonsmooth", "round-off")):
        (folder / "case.resolved.toml").write_text(f'[simulation]\nscheme = "{scheme}"\n')
        text = write_report([folder], picture=False).read_text()
        check_in(f"are added up: {words}", text, f"what the imbalance is in {scheme}")
    series = text.partition('id="time-series"')[2].partition("</section>")[0]
    charts = [re.findall(r"</svg>(\w+)</li>", chart) for chart in series.split('<svg class="chart"')[1:]]
    check(charts == [["few", "some"], ["many"]], "charts", charts)
