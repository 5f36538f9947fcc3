"""A report of a run as one HTML file that needs nothing else: no network, no other file, no program but a browser.

    scree report results/concourse                          -> results/concourse/report.html
    write_report(["results/a", "results/b"], "report.html") the same from Python

Several folders, or one with runs seed_N in it, are one report of all of these runs.
"""
from pathlib import Path

from scree.report.runs import open_runs, what_differs

__all__ = ["write_report"]

MAX_MEGABYTES = 15.0


def write_report(folders, output=None, density_limit=4.0, megabytes=MAX_MEGABYTES, picture=True):
    """Writes the report of the runs in `folders` and returns its path: `output`, or report.html in the first folder.

    `density_limit`: maps show how long the density was above it [1/m2]. `megabytes`: paths of people are thinned until the file
    is about as large at most. `picture`: draw the last frame of a run of grains. Raises ResultsError if there is no run.
    """
    from scree.report import crowd, grains
    from scree.report.page import page

    runs = open_runs(folders)
    kind = crowd if runs[0].is_crowd else grains
    differing = what_differs(runs)
    parts = (crowd.parts(runs, differing, density_limit, megabytes) if runs[0].is_crowd else
             grains.parts(runs, differing, picture))
    output = Path(output) if output else Path(folders[0]) / "report.html"
    output.parent.mkdir(parents=True, exist_ok=True)
    part_file = output.with_name(output.name + ".part")
    part_file.write_text(page(kind.KIND, runs, parts), encoding="utf-8")
    part_file.replace(output)
    return output
