"""Plots show what was measured first, profiles as maps, in bounded size; vector files are vectors; colours suit all
eyes."""
import re
import subprocess
from itertools import combinations

import matplotlib

matplotlib.use("Agg")

import matplotlib.colors
import matplotlib.pyplot as plt
import numpy as np
import pytest

import scree
from scree import style
from scree_program import check, check_close, check_in, python_command

METHOD = "dt[s],n_bodies[-],stage[-],contacts[-],residual[-],solved[-],sweeps[-],max_overlap[m]"
MEASURED = ("bed_mean_speed[m/s],energy_kinetic[J],energy_potential[J],energy_wall_work[J],lid_force_lid_y[N],"
            "wall_force_left_x[N]")
N_BINS = 6
DECK = f"""[domain]
lower = [0, -1]
upper = [2, 5]
[measures.bed]
type = "speed"
[measures.layers]
type = "profile"
axis = "y"
bins = {N_BINS}
region = {{ lower = [0, 0], upper = [2, 3] }}
"""


def make_run(folder, titles, rows, deck=""):
    folder.mkdir(exist_ok=True)
    table = ["time[s],step[-]," + titles] + [",".join(map(repr, map(float, row))) for row in rows]
    (folder / "case.scalars.csv").write_text("\n".join(table) + "\n")
    (folder / "case.resolved.toml").write_text(deck)
    return scree.Results(folder)


@pytest.fixture
def run(folder):
    n = len((METHOD + MEASURED).split(",")) + 1
    rows = [[0.1 * k, 10 * k, *np.arange(1, n + 1) * (k + 1)] for k in range(5)]
    for row in rows:
        row[2 + (METHOD + "," + MEASURED).split(",").index("energy_wall_work[J]")] = 0
    yield make_run(folder / "run", METHOD + "," + MEASURED, rows, DECK)
    plt.close("all")


def words_of(panels):
    """All words beside the axes and in legends."""
    words = []
    for axes in panels:
        words.append(axes.get_ylabel())
        words += [text.get_text() for text in axes.get_legend().get_texts()] if axes.get_legend() else []
    return words


def test_what_was_measured_comes_first_and_alone(run):
    panels = scree.plots.scalars(run)
    check([axes.get_ylabel() for axes in panels] == ["energy [J]", "bed_mean_speed [m/s]", "[N]"],
          "panels in the order of physics", words_of(panels))
    check(words_of(panels)[1:3] == ["kinetic", "potential"], "a column of zeros is left out", words_of(panels))
    check("wall_force_left_x" in words_of(panels), "a measure called wall is no wall-clock time", words_of(panels))
    with_all = scree.plots.scalars(run, everything=True)
    check([axes.get_ylabel() for axes in with_all[:3]] == [axes.get_ylabel() for axes in panels], "measures stay first",
          words_of(with_all))
    check({"dt [s]", "max_overlap [m]", "sweeps", "residual", "stage"} <= set(words_of(with_all)), "then the method",
          words_of(with_all))
    chosen = scree.plots.scalars(run, ["sweeps", "energy_wall*"])
    check(set(words_of(chosen)) == {"energy_wall_work [J]", "sweeps"}, "columns asked for are drawn", words_of(chosen))


def test_without_measures_the_method_is_drawn(folder):
    run = make_run(folder / "bare", "dt[s],sweeps[-]", [[0, 0, 0.1, 3], [1, 1, 0.1, 4]])
    check(words_of(scree.plots.scalars(run)) == ["dt [s]", "sweeps"], "rather than nothing")


def test_the_command_line_has_all_and_styles(run):
    script = python_command("plot", "scalars", run.folder)
    for options, has_dt in (((), False), (("--all",), True)):
        subprocess.run([*script, *options, "--output", run.folder / "a.svg"], check=True, capture_output=True)
        words = re.findall(r"<text[^>]*>([^<]*)</text>", (run.folder / "a.svg").read_text(encoding="utf-8"))
        check(("dt [s]" in words) == has_dt and "bed_mean_speed [m/s]" in words, "words of the figure", words)
    subprocess.run([*script, "--style", "paper", "--output", run.folder / "a.pdf"], check=True, capture_output=True)
    content = (run.folder / "a.pdf").read_bytes()
    width = float(re.search(rb"/MediaBox \[ ?0 0 ([\d.]+)", content)[1])
    check_close(width / 72 * 25.4, 85, "a column of 85 mm", absolute=0.2)
    check(b"/Subtype /Image" not in content and b"/FontFile2" in content, "lines and letters, no pixels")


def test_many_columns_make_a_figure_of_bounded_size(folder):
    names = [f"m{k:02}_value[{unit}]" for k, unit in enumerate(f"m{p}" for p in range(2, 22))]
    run = make_run(folder / "many", ",".join(names), [[t, t, *np.arange(1, 21) * (t + 1)] for t in range(3)])
    panels = scree.plots.scalars(run)
    width, height = panels[0].figure.get_size_inches() * panels[0].figure.dpi
    check(len(panels) == 15 and height < 1500 and width < 2500, "15 panels, not 3504 pixels high", (width, height))
    check_in("5 more panels", panels[0].figure._suptitle.get_text(), "what is left out is counted")
    names = [f"energy_part{chr(97 + k)}[J]" for k in range(20)]
    run = make_run(folder / "lines", ",".join(names), [[t, t, *np.arange(1, 21) * (t + 1)] for t in range(3)])
    axes, = scree.plots.scalars(run)
    words = [text.get_text() for text in axes.get_legend().get_texts()]
    check(words == [f"part{chr(97 + k)}" for k in range(13, 20)] + ["13 more"], "the largest have names", words)
    check(sum(len(line.get_xdata()) == 3 for line in axes.lines) == 20, "all lines are drawn")
    plt.close("all")


def profile_run(folder, deck):
    kinds = ("v_x", "m/s"), ("solid", "-")
    titles = ",".join(f"layers_{what}_{k}[{unit}]" for k in range(N_BINS) for what, unit in kinds)
    rows = [[t, t, *(value for k in range(N_BINS) for value in (k - 2.5 + t, float("nan") if k == 5 else 0.1 * k + t))]
            for t in (0, 1, 2, 4)]
    return make_run(folder, "bed_mean_speed[m/s]," + titles, [[*row[:2], 1 + row[0], *row[2:]] for row in rows], deck)


def test_profiles_are_maps_over_time_and_place(folder):
    panels = scree.plots.scalars(profile_run(folder / "a", DECK))
    check([axes.get_ylabel() for axes in panels] == ["bed_mean_speed [m/s]", "y [m]", "y [m]"], "a line and two maps",
          words_of(panels))
    for axes, expected in zip(panels[1:], ((0, 1), (1, 0))):
        mesh, = axes.collections
        values = np.ma.filled(mesh.get_array(), np.nan).reshape(N_BINS, 4)
        check_close(values[3, 2], 3 - 2.5 + 2 if expected == (0, 1) else 2.3, "bin 3 at 2 s", absolute=1e-12)
        check(np.isnan(values[5]).all() == (expected == (1, 0)), "no value, no colour")
        check(axes.get_ylim() == (0, 3) and axes.get_xlim() == (0, 4), "over the region of the measure and the time")
    bars = [axes.get_ylabel() for axes in panels[0].figure.axes if axes not in panels]
    check(bars == ["layers_v_x [m/s]", "layers_solid"], "what the colours show", bars)
    signed = panels[1].collections[0]
    check(signed.get_cmap().name == style.SIGNED_COLOURS and signed.get_clim() == (-6.5, 6.5), "0 is white")
    panels = scree.plots.scalars(profile_run(folder / "b", ""), "layers_v*")
    check([axes.get_ylabel() for axes in panels] == ["bin"], "without the deck, bins")
    check(panels[0].get_ylim() == (-0.5, 5.5), "by number")
    panels = scree.plots.scalars(profile_run(folder / "c", DECK), ["layers_v_x_1", "layers_v_x_2"])
    check(len(panels) == 1 and len(panels[0].lines) == 2, "single bins are lines")
    plt.close("all")


def test_runs_are_overlaid_by_what_they_share(folder):
    runs = [make_run(folder / name, f"a_x[m],{other}_y[m]", [[0, 0, 1, 2], [1, 1, 3, 4]])
            for name, other in (("one", "b"), ("two", "c"))]
    panels = scree.plots.scalars(runs)
    check(words_of(panels) == ["a_x [m]", "(one)", "(two)"], "the shared column", words_of(panels))
    with pytest.raises(scree.ResultsError, match="two has no column 'b_y'"):
        scree.plots.scalars(runs, "b_y")
    plt.close("all")


def test_ticks_are_round_and_few():
    check(style.round_ticks(0, 1.668) == [0, 0.5, 1, 1.5], "not 0.417, 0.834", style.round_ticks(0, 1.668))
    random = np.random.default_rng(5)
    for _ in range(500):
        low, size = random.normal() * 10.0 ** random.integers(-8, 8), 10.0 ** random.uniform(-9, 9)
        low *= random.integers(0, 2) * min(1.0, size)
        ticks = style.round_ticks(low, low + size)
        step = np.diff(ticks).mean() if len(ticks) > 1 else None
        check(2 <= len(ticks) <= 6 and low - 1e-9 * size <= ticks[0] and ticks[-1] <= low + size * (1 + 1e-9),
              "inside, 2 to 6", (low, size, ticks))
        lead = step / 10.0 ** np.floor(np.log10(step) + 1e-6)
        check(min(abs(lead - nice) for nice in (1, 2, 5)) < 1e-4, "1, 2 or 5 times a power of ten apart", ticks)
        in_steps = np.array(ticks) / step
        check(np.allclose(in_steps, np.round(in_steps), atol=1e-3), "multiples of the step", ticks)
    check(style.tick_texts([0, 0.5, 1.0]) == ["0.0", "0.5", "1.0"], "as many digits for all")
    check(style.tick_texts([0, 2e6, 4e6])[1] == r"$2\times10^{6}$", "powers of ten for large numbers")
    check([style.round_below(x) for x in (0.19, 0.2, 4.9, 51)] == [0.1, 0.2, 2.0, 50.0], "lengths of scale bars")


def test_units_are_written_for_the_eye():
    for unit, text in (("m s-1", "m/s"), ("m/s", "m/s"), ("kg/m3", "kg/m³"), ("kg m2 s-2", "kg m²/s²"), ("-", ""),
                       ("1/(m s)", "1/(m s)"), ("s-1", "1/s"), ("N", "N"), ("m2/s2", "m²/s²")):
        check(style.unit_text(unit) == text, f"{unit} is {text}", style.unit_text(unit))
    for value, unit, expected in ((0.05, "m", (1e3, "mm")), (3.0, "N", (1.0, "N")), (2e-5, "s", (1e6, "µs")),
                                  (0.0, "N", (1.0, "N")), (3000, "s", (1.0, "s")), (3000, "m", (1e-3, "km"))):
        factor, text = style.scaled(value, unit)
        check((round(factor, 9), text) == expected, f"{value} {unit} is given in {expected[1]}", (factor, text))


def test_lines_can_be_told_apart_by_all_eyes():
    """As seen without the cones for red, or for green; matrices: source G. M. Machado, M. M. Oliveira, L. A. F.
    Fernandes, IEEE Trans. Visualization and Computer Graphics 15 (2009) 1291-1298, severity 1."""
    sights = {"protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                             [-0.003882, -0.048116, 1.051998]],
              "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                               [-0.011820, 0.042940, 0.968881]],
              "usual": np.eye(3)}

    def closest(colours, sight):
        seen = np.array([matplotlib.colors.to_rgb(colour) for colour in colours]) @ np.array(sight).T
        return min(np.linalg.norm(a - b) for a, b in combinations(seen, 2))

    for name, sight in sights.items():
        check(closest(style.LINE_COLOURS, sight) > 0.19, f"{name}: all colours differ", closest(style.LINE_COLOURS, sight))
        if name != "usual":
            usual = matplotlib.colormaps["tab10"].colors
            check(closest(usual, sight) < 0.11, f"{name}: the usual colours of matplotlib fail", closest(usual, sight))


def test_a_style_is_for_one_figure_and_unknown_ones_are_named(run):
    before = plt.rcParams["font.size"]
    axes = scree.plots.scalars(run, "energy_kinetic", style="paper")[0]
    check(plt.rcParams["font.size"] == before and axes.yaxis.label.get_size() == 8, "8 point in the figure only")
    with pytest.raises(scree.ResultsError, match="there are: screen, paper"):
        scree.plots.scalars(run, style="poster")
