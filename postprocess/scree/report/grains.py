"""The report of a run of grains: last frame, time series, energy balance, what was assumed."""
import base64
import tempfile
from html import escape
from pathlib import Path

import numpy as np

from scree.errors import ResultsError
from scree.plots import find_profiles, is_of_the_method, matching_columns
from scree.report.charts import Line, chart
from scree.report.tables import differences, section_tables, table
from scree.style import label

KIND = "grains"
MAX_LINES = 7              # in a chart
MAX_CHARTS = 12
ALIKE = 20.0                # factor between the largest values of lines in one chart
NOT_SHOWN = ("simulation", "output", "decomposition", "neighbors", "stages", "measures", "analysis")


def parts(runs, differing, picture):
    """[(title, html)] of the page."""
    found = [("Last frame", last_frame(runs[0], picture))]
    tables_of_runs = [run for run in runs if run.part("scalars") is not None and len(run.scalars["time"])]
    if tables_of_runs:
        measured = [name for name in matching_columns(tables_of_runs[0].scalars) if not is_of_the_method(tables_of_runs[0].scalars, name)]
        profiles = {column for profile in find_profiles(tables_of_runs[0], measured).values() for column in profile.columns}
        energies = [name for name in measured if tables_of_runs[0].scalars.units[name] == "J" and name not in profiles
                    and is_not_zero(tables_of_runs, name)]
        others = [name for name in measured if name not in energies and name not in profiles]
        if energies:
            found.append(("Energy balance", energy_balance(tables_of_runs, energies)))
        found.append(("Time series", time_series(tables_of_runs, others, profiles)))
    else:
        found.append(("Time series", '<p class="missing">The run wrote no scalars: give the deck a table [analysis].</p>'))
    deck = runs[0].tables
    if deck:
        names = ["simulation", "time", *(name for name in deck if name not in NOT_SHOWN and name != "time"), "measures"]
        found.append(("What was assumed", differences(runs, differing) + section_tables(deck, names)
                      + '<p class="note">Numbers are in SI units.</p>'))
    return found


def last_frame(run, wanted):
    """The picture of scree.render, or why there is none."""
    if not wanted:
        return '<p class="missing">No picture was asked for (--no-picture).</p>'
    from scree.errors import RenderError
    from scree.pictures import render

    try:
        with tempfile.TemporaryDirectory(prefix="scree-") as folder:
            path = Path(folder) / "last.png"
            render(run, path, size=(1000, 700))
            data = base64.b64encode(path.read_bytes()).decode()
    except (RenderError, ResultsError, ImportError, OSError) as error:
        return f'<p class="missing">There is no picture: {escape(str(error))}</p>'
    return f'<img class="picture" alt="bodies in the last frame" src="data:image/png;base64,{data}">'


def energy_balance(runs, names):
    text = chart(curves(runs, names), "time [s]", "energy [J]", from_zero=False)
    rows = []
    for run in runs:
        for name in names:
            if not name.endswith("_imbalance"):
                continue
            values = run.scalars[name]
            finite = np.abs(values[np.isfinite(values)])
            largest = max((np.nanmax(np.abs(run.scalars[other])) for other in names
                           if other != name and np.isfinite(run.scalars[other]).any()), default=np.nan)
            if len(finite):
                rows.append((run.label, name, f"{finite.max():.3g} J", f"{finite.max() / largest:.1e}" if largest > 0 else "-"))
    if rows:
        text += table(("run", "what", "largest", "over the largest energy"), rows, identity="balance")
        what = ("an error of the time step" if runs[0].tables.get("simulation", {}).get("scheme") == "dem" else "round-off")
        text += f'<p class="note">The imbalance is what is left when all energies, works and losses are added up: {what}.</p>'
    return text


def is_not_zero(runs, name):
    """Whether a column is there in all runs, and has another value than 0 in any."""
    return all(name in run.scalars for run in runs) and any(np.any(np.nan_to_num(run.scalars[name]) != 0) for run in runs)


def time_series(runs, names, profiles):
    groups = {}
    for name in names:
        groups.setdefault(runs[0].scalars.units[name], []).append(name)
    charts = []
    for unit, some in groups.items():
        moving = [name for name in some if is_not_zero(runs, name)]
        for few in alike(runs, moving):
            charts.append(chart(curves(runs, few), "time [s]", label("", unit) if len(few) > 1 else label(few[0], unit), from_zero=False))
    notes = []
    if len(charts) > MAX_CHARTS:
        notes.append(f"{len(charts) - MAX_CHARTS} more charts are left out: `scree plot scalars` draws them.")
    if profiles:
        notes.append("Profiles are left out: `scree plot scalars` draws them.")
    if not charts:
        notes.append("Nothing was measured but how the method fared: give the deck tables [measures.NAME].")
    return "".join(charts[:MAX_CHARTS]) + (f'<p class="note">{" ".join(notes)}</p>' if notes else "")


def alike(runs, names):
    """Columns in groups for one chart each: the largest values of a group are within a factor, so that all lines can be read."""
    groups = []
    for name in names:
        size = max(float(np.nanmax(np.abs(run.scalars[name]), initial=0.0)) for run in runs)
        for reference, group in groups:
            if len(group) < MAX_LINES and reference / ALIKE <= size <= reference * ALIKE:
                group.append(name)
                break
        else:
            groups.append((size, [name]))
    return [group for _, group in groups]


def curves(runs, names):
    """Of one run a line for each column; of several their mean, and the band from the least to the largest."""
    if len(runs) == 1:
        return [Line(name, runs[0].scalars["time"], runs[0].scalars[name]) for name in names]
    end = min(run.scalars["time"][-1] for run in runs)
    times = np.linspace(min(run.scalars["time"][0] for run in runs), end, 400)
    lines = []
    for name in names:
        values = np.array([np.interp(times, run.scalars["time"], run.scalars[name]) for run in runs])
        lines.append(Line(f"{name}, mean and range of {len(runs)} runs", times, values.mean(axis=0), (values.min(axis=0), values.max(axis=0))))
    return lines
