"""Pictures of scaling from results of scree bench: efficiencies, several files, what cannot be drawn."""
import json
import subprocess

import matplotlib.image

from scree.commands.plot import scaling
from scree_program import check, check_close, check_in, python_command


def row(ranks, seconds, *, case="pbd", mode="strong", size=1000, phases=None, spread=0.1, **keys):
    return {"case": case, "mode": mode, "ranks": ranks, "work": "step", "seconds": seconds, "spread": spread, "keys": keys,
            "size": {"bodies": size}, "values": {}, "units": {}, "spreads": {}, "phases": phases or {}, "only_in_files": [],
            "notes": []}


def write(path, rows):
    path.write_text(json.dumps({"format": "scree benchmark", "format_version": 1, "rows": rows}))
    return path


def run_script(*arguments):
    return subprocess.run(python_command("plot", "scaling", *arguments), text=True,
                          capture_output=True, timeout=300)


def test_efficiency_is_work_per_rank_and_second(folder):
    strong = write(folder / "strong.json", [row(1, 8.0, dimension=2), row(1, 9.0, dimension=3), row(2, 5.0, dimension=2),
                                            row(2, 4.5, dimension=3), row(4, 4.0, dimension=2)])
    first, second = scaling.collect([strong])
    check([one.label for one in (first, second)] == ["dimension 2, 1000 bodies", "dimension 3, 1000 bodies"], "labels")
    values = [value for _, value, _ in first.efficiencies()]
    for value, expected in zip(values, [1, 0.8, 0.5], strict=True):
        check_close(value, expected, "efficiency", relative=1e-12)
    check_close(second.efficiencies()[1][1], 1, "efficiency of the other row", relative=1e-12)

    # 2.2 times the work in 1.1 times the time: what counts is the rate, as sizes are rounded.
    weak = write(folder / "weak.json", [row(1, 1.0, mode="weak", size=100), row(2, 1.1, mode="weak", size=220)])
    series, = scaling.collect([weak])
    check_close(series.efficiencies()[1][1], 1, "efficiency of rounded sizes", relative=1e-12)


def test_work_that_was_given_up(folder):
    rows = [row(1, 1.0), row(2, 0.1), row(1, 3.0, solver="other"), row(2, 3.0, solver="other")]
    rows[3]["complete"] = False
    first, second = scaling.collect([write(folder / "results.json", rows)])
    check(sorted(first.points) == [1, 2] and list(second.points) == [1], "it is left out", second)


def test_files_are_put_together(folder):
    paths = [write(folder / "a.json", [row(1, 1.0), row(2, 0.5)]), write(folder / "b.json", [row(1, 3.0)]),
             write(folder / "c.json", [row(1, 2.0)])]
    series, = scaling.collect(paths)
    check(series.points[1].median == 2.0 and series.points[2].median == 0.5, "medians over files", series)
    check_close(series.points[1].spread, 1.0, "the spread is that between files", relative=1e-12)


def test_pictures(folder):
    phases = {"sweeps": 0.7, "exchange": 0.2, "other": 0.1}
    study = write(folder / "results.json", [
        row(n, 1.0 / n, case=case, mode=mode, size=1000 * (n if mode == "weak" else 1), phases=phases)
        for case in ("pbd", "dem") for mode in ("strong", "weak") for n in (1, 2, 4)])
    result = run_script(study, "--out", folder / "pictures", "--pdf")
    check(result.returncode == 0, "exit code 0", result.stderr)
    for name in ("strong", "efficiency", "weak", "phases"):
        check(matplotlib.image.imread(folder / f"pictures/{name}.png")[..., :3].std() > 0.02, "not blank", name)
        check((folder / f"pictures/{name}.pdf").read_bytes().startswith(b"%PDF"), "a PDF beside it", name)

    alone = write(folder / "alone.json", [row(2, 1.0, phases=phases)])
    result = run_script(alone, "--out", folder / "alone")
    check(result.returncode == 0, "exit code 0", result.stderr)
    check([path.name for path in (folder / "alone").iterdir()] == ["phases.png"], "one number of ranks scales nowhere")


def test_costs_over_sizes(folder):
    study = write(folder / "sizes.json", [row(1, seconds, mode="fixed", size=size)
                                          for size, seconds in ((1000, 2e-3), (100, 3e-4), (10000, 1e-2))])
    figure = scaling.draw_costs(scaling.collect([study]))
    line, = figure.axes[0].get_lines()
    check(list(line.get_xdata()) == [100, 1000, 10000], "sizes ascend", line.get_xdata())
    for value, expected in zip(line.get_ydata(), [3000, 2000, 1000], strict=True):
        check_close(value, expected, "ns per unit of size", relative=1e-12)
    check(scaling.draw_costs(scaling.collect([study])[:2]) is None, "two sizes are no curve")


def test_files_of_another_kind(folder):
    (folder / "text.json").write_text("seconds: 3")
    (folder / "other.json").write_text('{"rows": []}')
    write(folder / "empty.json", [])
    write(folder / "alone.json", [row(1, 1.0)])
    for name, words in (("nowhere.json", "No such file"), ("text.json", "no JSON"), ("other.json", "no results.json of"),
                        ("empty.json", "no rows"), ("alone.json", "one number of ranks only")):
        result = run_script(folder / name, "--out", folder / "pictures")
        check(result.returncode == 2 and result.stderr.startswith("scree: plot: "), "one message", result)
        check_in(words, result.stderr, "the message")
    result = run_script(write(folder / "two.json", [row(1, 1.0), row(2, 1.0)]), "--out", folder / "text.json")
    check(result.returncode == 2, "a folder that cannot be made", result)
    check_in("text.json", result.stderr, "the message")
