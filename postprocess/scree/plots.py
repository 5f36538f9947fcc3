"""Plots as functions: each draws on `axes`, or on a new figure, and returns the axes."""
import fnmatch

import numpy as np

from scree.results import AXES, OF_THE_METHOD, ResultsError


def matching_columns(scalars, patterns=None):
    """Columns that match one of `patterns` (shell style), in the order of the table. Without patterns all, measures first, then
    those of the method."""
    if not patterns:
        names = [name for name in scalars.names if name not in AXES]
        return sorted(names, key=lambda name: name in OF_THE_METHOD)
    for pattern in patterns:
        if not fnmatch.filter(scalars.names, pattern):
            raise ResultsError(f"no column matches {pattern!r}; there are: {', '.join(scalars.names)}")
    return [name for name in scalars.names if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]


def scalars(results, columns=None, log=False):
    """Columns of the time series over time, one panel per unit. `results`: Results or a list of them, which are overlaid;
    `columns`: names, * and ? match as in a shell. Returns the axes, one per unit."""
    import matplotlib.pyplot as plt

    runs = results if isinstance(results, (list, tuple)) else [results]
    names = matching_columns(runs[0].scalars, [columns] if isinstance(columns, str) else columns)
    units = list(dict.fromkeys(runs[0].scalars.units[name] for name in names))
    _, panels = plt.subplots(len(units), 1, sharex=True, squeeze=False, layout="constrained", figsize=(8, 1.2 + 2.8 * len(units)))
    for unit, panel in zip(units, panels[:, 0]):
        for name in (name for name in names if runs[0].scalars.units[name] == unit):
            for run in runs:
                label = name if len(runs) == 1 else f"{name} ({run.folder.name})"
                panel.plot(run.scalars["time"], run.scalars[name], label=label, linewidth=1.4)
        if log:
            panel.set_yscale("log")
        panel.set_ylabel(f"[{unit}]")
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small", frameon=False)
    panels[-1, 0].set_xlabel(runs[0].scalars.label("time"))
    return panels[:, 0]


def sweep(study, quantity, key=None, axes=None):
    """Mean and 95 % interval of a quantity over a key (the first one by default), a line for each combination of the others."""
    axes = _axes(axes)
    found = study[quantity]
    key = key or study.keys[0]
    others = [name for name in study.keys if name != key]
    combinations = list(dict.fromkeys(zip(*(found[name] for name in others)))) if others else [()]
    is_number = found[key].dtype.kind == "f"
    for combination in combinations:
        here = np.all([found[name] == value for name, value in zip(others, combination)], axis=0) if others else slice(None)
        x = found[key][here] if is_number else np.arange(len(found[key][here]))
        mean = found["mean"][here]
        half = np.nan_to_num(found["upper_95"][here] - mean)
        label = ", ".join(f"{name} = {value}" for name, value in zip(others, combination))
        axes.errorbar(x, mean, yerr=half, marker="o", capsize=3, linewidth=1.2, label=label or None)
        if not is_number:
            axes.set_xticks(x, found[key][here])
    axes.set_xlabel(key)
    axes.set_ylabel(f"{quantity} [{study.unit(quantity)}]")
    axes.grid(alpha=0.3)
    if others:
        axes.legend(fontsize="small", frameon=False)
    return axes


def bodies(results, frame=-1, colour=None, axes=None):
    """The bodies of a frame of NAME.h5 as disks: in the plane, or a projection on x and z. `colour`: a field, drawn in colours; of a
    vector its length."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Circle

    axes = _axes(axes)
    trajectory = results.trajectory
    x, radius = trajectory.positions(frame), trajectory.radius(frame)
    across = x[:, :2] if x.shape[1] == 2 else x[:, [0, 2]]
    order = np.arange(len(x)) if x.shape[1] == 2 else np.argsort(-x[:, 1])    # the nearest last
    disks = PatchCollection([Circle(across[i], radius[i]) for i in order], linewidths=0.2, edgecolors="black")
    if colour is not None:
        values = trajectory.field(colour, frame)
        values = np.linalg.norm(values, axis=1) if values.ndim > 1 else values
        disks.set_array(values[order])
        unit = trajectory.unit(colour)
        axes.figure.colorbar(disks, ax=axes, label=f"{colour} [{unit}]" if unit else colour)
    axes.add_collection(disks)
    axes.set_aspect("equal")
    axes.autoscale_view()
    axes.set_xlabel("x [m]")
    axes.set_ylabel("y [m]" if x.shape[1] == 2 else "z [m]")
    axes.set_title(f"t = {trajectory.times[frame]:.4g} s")
    return axes


def _axes(axes):
    if axes is not None:
        return axes
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]
