"""Plots as functions: each draws on `axes`, or on a new figure, and returns the axes. `style` is "screen" or "paper", a
column of a journal (scree.style); style.save(axes.figure, "figure.pdf") writes vectors."""
import fnmatch
import math
import re
from dataclasses import dataclass

import matplotlib
import numpy as np

from scree.errors import ResultsError
from scree.results import AXES, OF_THE_METHOD
from scree.style import PALE_INK, SIGNED_COLOURS, context, label, unit_text

MAX_NAMES = 8              # in a legend
MAX_ROWS, MAX_PANELS = 5, 15
FEWEST_BINS = 4             # that make a map
LOWEST_PANEL = 1.35         # [inch], for the words beside it
# Panels in this order, then those of other units.
ORDER_OF_UNITS = ("J", "m/s", "rad/s", "N", "N m", "Pa", "kg/s", "1/s", "deg", "kg", "m")


def is_of_the_method(scalars, name):
    """Whether a column says how the method or the machine fared, and nothing about what was simulated."""
    return name in OF_THE_METHOD or name == "stage" or (name.startswith("wall_") and scalars.units[name] == "s")


def matching_columns(scalars, patterns=None, everything=False):
    """Columns that match one of `patterns` (shell style), in the order of the table. Without patterns what was
    measured; with `everything`, or if nothing was measured, then those of the method too."""
    if not patterns:
        names = [name for name in scalars.names if name not in AXES]
        measured = [name for name in names if not is_of_the_method(scalars, name)]
        return measured + [name for name in names if name not in measured] if everything or not measured else measured
    for pattern in patterns:
        if not fnmatch.filter(scalars.names, pattern):
            raise ResultsError(f"no column matches {pattern!r}; there are: {', '.join(scalars.names)}")
    return [name for name in scalars.names if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]


@dataclass
class Profile:
    """Columns NAME_0, NAME_1, ...: values in bins along an axis."""
    name: str
    columns: list
    faces: np.ndarray       # of the bins [m], or their numbers
    axis: str


def find_profiles(results, names):
    """Profiles among columns, by name. The deck says where the bins lie; without it they are counted."""
    families = {}
    for name in names:
        if found := re.fullmatch(r"(.+)_(\d+)", name):
            families.setdefault(found[1], []).append((int(found[2]), name))
    profiles = {}
    for family, members in families.items():
        members.sort()
        n = len(members)
        if n < FEWEST_BINS or [number for number, _ in members] != list(range(n)):
            continue
        profiles[family] = Profile(family, [name for _, name in members], *_faces(results.deck, family, n))
    return profiles


def _faces(deck, family, n):
    measures = {name: measure for name, measure in deck.get("measures", {}).items()
                if family.startswith(name + "_") and measure.get("type") == "profile" and measure.get("bins") == n}
    if not measures:
        return np.arange(n + 1) - 0.5, "bin"
    measure = measures[max(measures, key=len)]
    region = measure.get("region") or deck["domain"]
    k = "xyz".index(measure["axis"])
    return np.linspace(region["lower"][k], region["upper"][k], n + 1), label(measure["axis"], "m")


def scalars(results, columns=None, log=False, everything=False, style="screen"):
    """Columns of the time series over time: a panel per unit, and a map over time and place for each profile.
    `results`: Results or a list of them, which are overlaid; `columns`: names, * and ? match as in a shell; without
    them what was measured in all runs and is not 0 throughout, with `everything` how the method fared too. A legend has
    the eight columns with the largest values, others are grey. Returns the axes, one per panel."""
    import matplotlib.pyplot as plt

    runs = results if isinstance(results, (list, tuple)) else [results]
    names = matching_columns(runs[0].scalars, [columns] if isinstance(columns, str) else columns, everything)
    if not columns:
        names = [name for name in names if all(name in run.scalars for run in runs)]
    if not names:
        raise ResultsError(f"{runs[0].folder} has no column to draw that the other runs have too" if len(runs) > 1 else
                           f"{runs[0].folder} has no column to draw")
    for run in runs[1:]:
        if missing := [name for name in names if name not in run.scalars]:
            raise ResultsError(f"{run.folder} has no column {missing[0]!r}, which {runs[0].folder} has")
    profiles = find_profiles(runs[0], names)
    in_profiles = {name for profile in profiles.values() for name in profile.columns}
    in_lines = [name for name in names if name not in in_profiles]
    if not columns:
        in_lines = [name for name in in_lines if any(_largest(run, name) > 0 for run in runs)] or in_lines
    panels = [(some, None) for some in _panels(runs[0], in_lines)]
    panels += [(profile, run) for profile in profiles.values() for run in runs]
    left_out, panels = len(panels) - MAX_PANELS, panels[:MAX_PANELS]
    n_columns = math.ceil(len(panels) / MAX_ROWS)
    n_rows = math.ceil(len(panels) / n_columns)
    with context(style):
        width = plt.rcParams["figure.figsize"][0]
        size = (0.3 + 0.7 * n_columns) * width, 0.08 * width + max(0.27 * width, LOWEST_PANEL) * n_rows
        figure, grid = plt.subplots(n_rows, n_columns, sharex=True, squeeze=False, figsize=size)
        places = list(grid.T.ravel())
        for (what, run), axes in zip(panels, places):
            if run is None:
                _draw_lines(axes, runs, what, log)
            else:
                _draw_map(axes, run, what, log, len(runs) > 1)
        for axes in places[len(panels):]:
            axes.remove()
        places = places[:len(panels)]
        for k, axes in enumerate(places):
            if (k + 1) % n_rows == 0 or k + 1 == len(places):
                axes.set_xlabel(label("time", runs[0].scalars.units["time"]))
                axes.tick_params(labelbottom=True)
        if left_out > 0:
            figure.suptitle(f"{left_out} more panels are left out: choose columns", fontsize="small")
    return places


def _largest(run, name):
    """The largest absolute value of a column; 0 if there is none."""
    values = run.scalars[name]
    return np.max(np.abs(values[np.isfinite(values)]), initial=0.0)


def _panels(run, names):
    """Columns by unit, those of the method last; those without a unit by the measure they are of."""
    measures = sorted(run.deck.get("measures", {}), key=len, reverse=True)
    groups = {}
    for name in names:
        unit = run.scalars.units[name]
        measure = next((measure for measure in measures if name.startswith(measure + "_")), "") if unit == "-" else ""
        groups.setdefault((is_of_the_method(run.scalars, name), unit, measure), []).append(name)
    rank = {unit: k for k, unit in enumerate((*ORDER_OF_UNITS, "other", "-"))}
    return [groups[key] for key in sorted(groups, key=lambda key: (key[0], rank.get(key[1], rank["other"])))]


def _draw_lines(axes, runs, names, log):
    lines = [(run, name) for name in names for run in runs]
    named = lines
    if len(lines) > MAX_NAMES:
        largest = sorted(lines, key=lambda line: _largest(*line), reverse=True)[:MAX_NAMES - 1]
        named = [line for line in lines if line in largest]
    unit = runs[0].scalars.units[names[0]]
    shared = _shared_start(names)
    for run, name in (line for line in lines if line not in named):
        axes.plot(run.scalars["time"], run.scalars[name], color=PALE_INK, linestyle="-", linewidth=0.5, zorder=1.5)
    for run, name in named:
        text = name[len(shared):].lstrip("_")
        if len(runs) > 1:
            text = f"{text} ({run.folder.name})".lstrip()
        axes.plot(run.scalars["time"], run.scalars[name], label=text)
    if len(named) < len(lines):
        axes.plot([], [], color=PALE_INK, linestyle="-", linewidth=0.5, label=f"{len(lines) - len(named)} more")
    if log:
        axes.set_yscale("log")
    axes.set_ylabel(label(shared, unit) if unit_text(unit) or shared else "")
    if len(lines) > 1 or not shared:
        outside = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.03)} if len(named) > 3 else {"loc": "best"}
        axes.legend(**outside, handlelength=1.4, labelspacing=0.25)


def _shared_start(names):
    """The words, joined by _, that all names begin with; of one name all of it, unless it is too long for an axis."""
    if len(names) == 1:
        return names[0] if len(names[0]) <= 20 else ""
    words = [name.split("_") for name in names]
    shared = []
    for at_place in zip(*(some[:-1] for some in words)):
        if len(set(at_place)) > 1:
            break
        shared.append(at_place[0])
    return "_".join(shared)


def _draw_map(axes, run, profile, log, with_folder):
    values = np.array([run.scalars[name] for name in profile.columns])
    time = run.scalars["time"]
    between = (time[1:] + time[:-1]) / 2
    edges = np.concatenate([time[:1], between, time[-1:]]) if len(time) > 1 else time[0] + np.array([-0.5, 0.5])
    finite = values[np.isfinite(values) & ((values > 0) | (not log))]
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
    if log:
        how = {"norm": matplotlib.colors.LogNorm(low, high) if low < high else None}
    elif -0.1 * high > low and high > -0.1 * low:       # both signs matter: white is 0
        how = {"cmap": SIGNED_COLOURS, "vmin": min(low, -high), "vmax": max(high, -low)}
    else:
        how = {"vmin": low, "vmax": high if high > low else low + 1.0}
    picture = axes.pcolormesh(edges, profile.faces, values, rasterized=True, **how)
    axes.grid(False)
    axes.set_facecolor("0.9")       # where there is no value
    axes.set_ylabel(profile.axis)
    title = profile.name + (f" ({run.folder.name})" if with_folder else "")
    title = label(title, run.scalars.units[profile.columns[0]])
    bar = axes.figure.colorbar(picture, ax=axes, label=title, pad=0.01, aspect=12)
    bar.outline.set_visible(False)


def sweep(study, quantity, key=None, axes=None, style="screen"):
    """Mean and 95 % interval of a quantity over a key (the first one by default), a line for each combination of the
    others."""
    if axes is None:
        with context(style):
            return sweep(study, quantity, key, _new_axes())
    found = study[quantity]
    key = key or study.keys[0]
    others = [name for name in study.keys if name != key]
    combinations = list(dict.fromkeys(zip(*(found[name] for name in others)))) if others else [()]
    is_number = found[key].dtype.kind == "f"
    for combination in combinations:
        here = slice(None)
        if others:
            here = np.all([found[name] == value for name, value in zip(others, combination)], axis=0)
        x = found[key][here] if is_number else np.arange(len(found[key][here]))
        mean = found["mean"][here]
        half = np.nan_to_num(found["upper_95"][here] - mean)
        text = ", ".join(f"{name} = {value}" for name, value in zip(others, combination))
        axes.errorbar(x, mean, yerr=half, marker="o", capsize=3, label=text or None)
        if not is_number:
            axes.set_xticks(x, found[key][here])
    axes.set_xlabel(key)
    axes.set_ylabel(label(quantity, study.unit(quantity)))
    if others:
        axes.legend()
    return axes


def bodies(results, frame=-1, colour=None, axes=None, style="screen"):
    """The bodies of a frame of NAME.h5 as disks: in the plane, or a projection on x and z. `colour`: a field, drawn in
    colours; of a vector its length."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Circle

    if axes is None:
        with context(style):
            return bodies(results, frame, colour, _new_axes())
    trajectory = results.trajectory
    x, radius = trajectory.positions(frame), trajectory.radius(frame)
    across = x[:, :2] if x.shape[1] == 2 else x[:, [0, 2]]
    order = np.arange(len(x)) if x.shape[1] == 2 else np.argsort(-x[:, 1])    # the nearest last
    disks = PatchCollection([Circle(across[i], radius[i]) for i in order], linewidths=0.2, edgecolors="black")
    if colour is not None:
        values = trajectory.field(colour, frame)
        values = np.linalg.norm(values, axis=1) if values.ndim > 1 else values
        disks.set_array(values[order])
        axes.figure.colorbar(disks, ax=axes, label=label(colour, trajectory.unit(colour)))
    axes.add_collection(disks)
    axes.set_aspect("equal")
    axes.autoscale_view()
    axes.set_xlabel("x [m]")
    axes.set_ylabel("y [m]" if x.shape[1] == 2 else "z [m]")
    axes.set_title(f"t = {trajectory.times[frame]:.4g} s")
    return axes


def _new_axes():
    import matplotlib.pyplot as plt

    return plt.subplots()[1]
