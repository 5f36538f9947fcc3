"""Draws results of `scree bench` on several numbers of ranks.

    scree plot scaling results.json --out pictures             one study: scree bench --case all --mode strong --out FOLDER
    scree plot scaling strong/*.json weak/*.json --out pictures --pdf

  strong.png       speed-up over the fewest ranks, total size fixed (modes strong and fixed), with the ideal line
  efficiency.png   the same as share of the ideal
  weak.png         efficiency with the size of each rank fixed (mode weak): rate of work per rank
  cost.png         processor time per body and unit of work over the number of bodies, where a case has three sizes or more
  phases.png       the shares of timers in each row
Empty pictures are not written. A panel for each case, a line for each of its rows; bars show the spread
of repetitions. Rows of several files that measured the same are merged by their medians.
"""
import json
import statistics
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib.pyplot as plt

from scree.commands import parser_of
from scree.errors import ResultsError

FORMAT = "scree benchmark"
PANELS_PER_LINE = 3


@dataclass
class Point:
    """A row on one number of ranks; values of several files side by side."""
    seconds: list = field(default_factory=list)
    spreads: list = field(default_factory=list)
    size: float = 1
    phases: dict = field(default_factory=dict)

    @property
    def median(self):
        return statistics.median(self.seconds)

    @property
    def spread(self):
        """Of repetitions or, if that is more, of files."""
        between = (max(self.seconds) - min(self.seconds)) / self.median
        return max([between, *self.spreads])


@dataclass
class Series:
    """One row of a case over numbers of ranks."""
    case: str
    mode: str
    keys: str
    label: str
    work: str
    points: dict = field(default_factory=dict)      # ranks -> Point

    def efficiencies(self):
        """[(ranks, efficiency, its uncertainty)]: rate of work per rank over that of the fewest ranks."""
        def rate(ranks):
            return self.points[ranks].size / self.points[ranks].median / ranks
        base = min(self.points)
        return [(ranks, rate(ranks) / rate(base), 0.5 * rate(ranks) / rate(base) * self.points[ranks].spread)
                for ranks in sorted(self.points)]


def read_results(path):
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise ResultsError(f"{path}: no JSON ({error})") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ResultsError(f"{path}: no results.json of scree bench")
    return content


def number_text(value):
    return f"{value:g}" if isinstance(value, float) else str(value)


def keys_of(row):
    return ", ".join(str(value) if isinstance(value, str) else f"{name} {number_text(value)}"
                     for name, value in row["keys"].items())


def label_of(row):
    words = [keys_of(row)]
    if row["mode"] != "weak":
        words += [f"{number_text(value)} {name}" for name, value in row["size"].items()]
    return ", ".join(word for word in words if word) or row["work"]


def collect(paths):
    """All series of the files. In weak mode sizes differ between numbers of ranks, so rows are distinguished by their place."""
    series = {}
    for path in paths:
        places = {}
        for row in read_results(path)["rows"]:
            group = row["case"], row["mode"], row["ranks"]
            places[group] = places.get(group, -1) + 1
            if not row.get("complete", True) or not isinstance(row["seconds"], (int, float)) or row["seconds"] <= 0:
                continue    # given up: its seconds cannot be compared
            label = label_of(row)
            key = row["case"], row["mode"], label, places[group] if row["mode"] == "weak" else 0
            one = series.setdefault(key, Series(row["case"], row["mode"], keys_of(row), label, row["work"]))
            point = one.points.setdefault(row["ranks"], Point())
            point.seconds.append(row["seconds"])
            point.spreads.append(row.get("spread", 0))
            point.size = next(iter(row["size"].values()), 1)
            point.phases = row["phases"]
    if not series:
        raise ResultsError("no rows with times in " + ", ".join(map(str, paths)))
    return list(series.values())


def panels_for(series, height_of=lambda of_case: 3.6):
    """A figure and the panel of each case; a line of panels is as high as `height_of` its cases' series asks for."""
    cases = list(dict.fromkeys(one.case for one in series))
    columns = min(PANELS_PER_LINE, len(cases))
    heights = [height_of([one for one in series if one.case == case]) for case in cases]
    heights = [max(heights[first:first + columns]) for first in range(0, len(cases), columns)]
    figure, axes = plt.subplots(len(heights), columns, squeeze=False, layout="constrained",
                                figsize=(5.2 * columns, sum(heights)), height_ratios=heights)
    for panel in axes.flat[len(cases):]:
        panel.remove()
    return figure, dict(zip(cases, axes.flat))


def set_rank_axis(panel, ranks):
    panel.set_xscale("log", base=2)
    panel.set_xticks(ranks, [str(n) for n in ranks])
    panel.minorticks_off()
    panel.set_xlabel("ranks")
    panel.grid(alpha=0.3)


def draw_lines(series, as_speed_up, y_label):
    figure, panels = panels_for(series)
    for case, panel in panels.items():
        of_case = [one for one in series if one.case == case]
        ranks = sorted({n for one in of_case for n in one.points})
        for one in of_case:
            base = min(one.points)
            points = [(n, value * (n / base if as_speed_up else 1), error * (n / base if as_speed_up else 1))
                      for n, value, error in one.efficiencies()]
            panel.errorbar(*zip(*[(n, value) for n, value, _ in points]), yerr=[error for *_, error in points], marker="o",
                           markersize=4, linewidth=1.3, capsize=3, label=one.label)
        ideal = [n / ranks[0] if as_speed_up else 1 for n in ranks]
        panel.plot(ranks, ideal, color="0.4", linestyle="--", linewidth=1, label="ideal")
        set_rank_axis(panel, ranks)
        if as_speed_up:
            panel.set_yscale("log", base=2)
            panel.set_yticks(ideal, [f"{value:g}" for value in ideal])
            panel.minorticks_off()
        else:
            panel.set_ylim(bottom=0)
        panel.set(title=case, ylabel=y_label)
        panel.legend(fontsize="x-small", frameon=False)
    return figure


def draw_costs(series):
    """Seconds of processor time per unit of size, over the size; None: no case has three sizes."""
    lines = {}
    for one in series:
        for ranks, point in one.points.items():
            if one.mode != "weak":
                lines.setdefault((one.case, one.work, one.keys, ranks), []).append(
                    (point.size, 1e9 * ranks * point.median / point.size))
    lines = {key: sorted(points) for key, points in lines.items() if len(points) > 2}
    if not lines:
        return None
    shown = {(case, work) for case, work, *_ in lines}
    figure, panels = panels_for([one for one in series if (one.case, one.work) in shown])
    for (case, work, keys, ranks), points in sorted(lines.items()):
        panel = panels[case]
        panel.plot(*zip(*points), marker="o", markersize=4, linewidth=1.3, label=f"{keys}, ranks {ranks}".lstrip(", "))
        panel.set(title=f"{case}: a {work}", xscale="log", xlabel="size", ylabel="ns of processor time per unit of size")
        panel.legend(fontsize="x-small", frameon=False)
    for panel in panels.values():
        panel.set_ylim(bottom=0)    # once all lines are there: it ends the search for the upper limit
        panel.grid(alpha=0.3)
    return figure


def draw_phases(series):
    figure, panels = panels_for(series, lambda of_case: 2.2 + 0.3 * sum(len(one.points) for one in of_case))
    colors = {}     # the same in all panels
    for case, panel in panels.items():
        bars = [(one, ranks, point) for one in series if one.case == case for ranks, point in sorted(one.points.items())
                if point.phases]
        names = list(dict.fromkeys(name for *_, point in bars for name in point.phases))
        bottom = [0.0] * len(bars)
        for name in names:
            shares = [point.phases.get(name, 0) for *_, point in bars]
            panel.barh(range(len(bars)), shares, left=bottom, label=name,
                       color=plt.get_cmap("tab20")(colors.setdefault(name, len(colors)) % 20))
            bottom = [low + share for low, share in zip(bottom, shares)]
        panel.set_yticks(range(len(bars)), [f"{one.label}\n{one.mode}, ranks {ranks}" for one, ranks, _ in bars],
                         fontsize="xx-small")
        panel.invert_yaxis()
        panel.set(title=f"{case}: a {bars[0][0].work}", xlabel="share of time", xlim=(0, 1))
        panel.legend(fontsize="xx-small", ncols=3, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.15))
    return figure


def draw_all(series):
    """{name: figure} of all pictures that have something to show."""
    several = [one for one in series if len(one.points) > 1]
    strong = [one for one in several if one.mode != "weak"]
    weak = [one for one in several if one.mode == "weak"]
    with_phases = [one for one in series if any(point.phases for point in one.points.values())]
    figures = {}
    if strong:
        figures["strong"] = draw_lines(strong, True, "speed-up")
        figures["efficiency"] = draw_lines(strong, False, "efficiency")
    if weak:
        figures["weak"] = draw_lines(weak, False, "efficiency, size per rank fixed")
    if costs := draw_costs(series):
        figures["cost"] = costs
    if with_phases:
        figures["phases"] = draw_phases(with_phases)
    return figures


def main(words):
    parser = parser_of("plot scaling", __doc__)
    parser.add_argument("results", nargs="+", type=Path, help="results.json of scree bench, one or more")
    parser.add_argument("--out", type=Path, required=True, help="folder for the pictures")
    parser.add_argument("--pdf", action="store_true", help="PDF beside PNG")
    options = parser.parse_args(words)

    figures = draw_all(collect(options.results))
    if not figures:
        raise ResultsError("nothing to draw: one number of ranks only, and no phases")
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        for name, figure in figures.items():
            for ending in ["png", "pdf"] if options.pdf else ["png"]:
                path = options.out / f"{name}.{ending}"
                figure.savefig(path, dpi=120)
                print(path)
    except OSError as error:
        raise ResultsError(f"{options.out}: {error.strerror}") from error
