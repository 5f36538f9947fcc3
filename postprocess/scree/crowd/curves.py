"""How a crowd leaves: who is inside, who has left by which exit, flows, and times by which shares of people have left."""
import math
import re

import numpy as np

from scree.errors import ResultsError

SAME_TIME = 1e-6        # [s] times that differ by round-off alone are the same


def column_name(name):
    """The name of an exit or a floor as it stands in names of columns and files."""
    return re.sub('[,"<>&\r\n]', "_", name)


def has(run, ending):
    return (run.folder / f"{run.name}{ending}").exists()


def times_of_entry(run):
    """When people came in, also those who have not left, if the run has a trajectory."""
    agents = run.agents
    times = [agents["entered"]]
    if has(run, ".trajectory.h5"):
        paths = run.paths
        inside = ~np.isin(paths.ids, agents["id"].astype(np.int64))
        first = np.full(len(paths.ids), np.inf)
        np.minimum.at(first, np.searchsorted(paths.ids, paths.id_of_row), paths.time_of_row)
        times.append(first[inside])
    return np.sort(np.concatenate(times))


def inside_at(run, times):
    """How many are inside at each of the times: as counted by the run, or from the lists of single people."""
    if not has(run, ".evacuation.csv"):
        return count_until(times_of_entry(run), times) - count_until(np.sort(run.agents["left"]), times)
    row = np.searchsorted(run.evacuation["time"], np.asarray(times) + SAME_TIME, side="right") - 1
    return np.where(row < 0, np.nan, run.evacuation["inside"][np.maximum(row, 0)])


def count_until(events, times):
    """How many of the events, in order, have happened at each of the times."""
    return np.searchsorted(events, np.asarray(times) + SAME_TIME, side="right").astype(float)


def flow_at(left, times, window):
    """Persons per second in the window before each time; at first the window is shorter. nan within its first second."""
    count = count_until(left, times) - count_until(left, times - window)
    flow = count / np.clip(times, 1e-9, window)
    flow[times < min(1.0, window)] = np.nan
    return flow


def last_time(runs):
    """The last time of anything in the files of these runs [s]."""
    lists = [run.agents["left"] for run in runs if has(run, ".agents.csv")]
    ends = [np.nanmax(left) for left in lists if np.isfinite(left).any()]
    ends += [run.paths.time_of_row.max() for run in runs if has(run, ".trajectory.h5") and len(run.paths.frames)]
    ends += [run.evacuation["time"].max() for run in runs if has(run, ".evacuation.csv") and len(run.evacuation["time"])]
    if not ends or max(ends) == 0:
        raise ResultsError(f"{runs[0].folder}: nobody has left and there is no trajectory")
    return max(ends)


def time_of_share(left, share, n=None):
    """When this share of n people (default: of those who left) had left, of rising times [s]; nan if they had not."""
    n = len(left) if n is None else n
    k = math.ceil(share * n - 1e-9)
    return float(left[k - 1]) if 0 < k <= len(left) else math.nan


def mean_and_interval(values):
    """Mean and half the width of the 95 % interval of the mean (Student's t, n - 1 degrees of freedom) of the finite values, and
    their number. nan where there are too few."""
    values = np.asarray(values, dtype=float)
    values = values[np.isfinite(values)]
    n = len(values)
    if n == 0:
        return math.nan, math.nan, 0
    half = student_t_975(n - 1) * values.std(ddof=1) / math.sqrt(n) if n > 1 else math.nan
    return float(values.mean()), float(half), n


def student_t_975(degrees):
    """97.5 % quantile of Student's t distribution, by Simpson's rule and bisection; relative error below 1e-6."""
    if degrees < 1:
        return math.nan
    # t = sqrt(degrees) tan(a) makes the density a power of a cosine on a finite interval.
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(math.pi)

    def below(angle, n=2000):
        a = np.linspace(0, angle, n + 1)
        weights = np.full(n + 1, 2.0)
        weights[1::2], weights[0], weights[-1] = 4.0, 1.0, 1.0
        return 0.5 + scale * float(np.sum(weights * np.cos(a) ** (degrees - 1))) * angle / (3 * n)

    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < 0.975 else (low, middle)
    return math.sqrt(degrees) * math.tan(low)
