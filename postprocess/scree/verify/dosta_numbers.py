"""Numbers of the published comparison of DEM codes (inputs/granular/comparison): silo, drum, impact.

Times count from the start of the process: the opening of the orifice, the first turn, the sphere at z = 0.06 m.
"""
import numpy as np

from scree.errors import ResultsError

BALL_START = 0.06       # height of the sphere at time 0 of the impact [m]
BALL_SPEED = 5.0        # its speed then [m/s]


def of_deck(results, *keys):
    """A value of the deck of a run."""
    value = results.deck
    try:
        for key in keys:
            value = value[key]
    except (KeyError, IndexError):
        raise ResultsError(f"{results.folder}: its deck has no {'.'.join(map(str, keys))}; is it a run of this case?") from None
    return value


def discharge(results):
    """(t, n): time since the orifice opened [s], and grains that have not passed it yet."""
    start = of_deck(results, "stages", 0, "duration")
    scalars = results.scalars
    t = scalars["time"] - start
    now = t >= -1e-9
    if not now.any():
        raise ResultsError(f"{results.folder}: the run ended before the orifice opened, at {start:g} s")
    passed = scalars["orifice_n_bodies"]
    return t[now], scalars["n_bodies"][0] - passed[now]


def discharge_rate(t, n, low=0.5, high=3.5):
    """Grains per second: slope of the line through (t, n) between two times, while more than 2 % of the grains are left."""
    used = (t >= low) & (t <= high) & (n > 0.02 * n[0])
    if used.sum() < 3:
        raise ResultsError(f"no discharge rate: fewer than three rows between {low:g} s and {high:g} s with grains left")
    return -np.polyfit(t[used], n[used], 1)[0]


def zone_counts(x, small):
    """Small and large grains in zone 1 (x > 0, z > 0) and in zone 2 (x < 0, z < 0)."""
    zones = (x[:, 0] > 0) & (x[:, 2] > 0), (x[:, 0] < 0) & (x[:, 2] < 0)
    return [np.count_nonzero(zone & kind) for zone in zones for kind in (small, ~small)]


def lacey_index(x, small, cell=0.02, least=10):
    """Lacey's mixing index from shares by number in cubic cells with at least `least` grains: 0 for kinds apart, 1 for a random
    mixture. P. M. C. Lacey, J. Appl. Chem. 4 (1954) 257, with the variances weighted by the grains of a cell."""
    _, where, total = np.unique(np.floor(x / cell).astype(int), axis=0, return_inverse=True, return_counts=True)
    where = where.ravel()
    share = np.bincount(where, weights=small) / total
    used = total >= least
    if not used.any():
        raise ResultsError(f"no mixing index: no cell of {cell:g} m has {least} grains")
    mean = np.average(share[used], weights=total[used])
    apart = mean * (1 - mean)
    mixed = apart * used.sum() / total[used].sum()
    found = np.average((share[used] - mean)**2, weights=total[used])
    if apart <= mixed:
        raise ResultsError("no mixing index: there is one kind of grains only")
    return (apart - found) / (apart - mixed)


def mixing(results):
    """(t, counts (n, 4), index (n)): time since the drum turns [s], what zone_counts and lacey_index say of each frame."""
    start = of_deck(results, "obstacles", "drum", "motion", "start")
    trajectory = results.trajectory
    frames = [k for k, t in enumerate(trajectory.times) if t >= start - 1e-9]
    if not frames:
        raise ResultsError(f"{results.folder}: no frame after the drum starts to turn, at {start:g} s")
    counts, index = [], []
    for k in frames:
        x, radius = trajectory.positions(k), trajectory.radius(k)
        small = radius < 0.5 * (radius.min() + radius.max())
        counts.append(zone_counts(x, small))
        index.append(lacey_index(x, small))
    return trajectory.times[frames] - start, np.array(counts), np.array(index)


def ball_path(results):
    """(t, z): time since the sphere was at z = 0.06 m [s], and the height of its centre [m], frame by frame from then on."""
    trajectory = results.trajectory
    ball = trajectory.ids(0)[trajectory.radius(0).argmax()]
    z = np.array([trajectory.positions(k)[trajectory.ids(k) == ball, 2][0] for k in range(trajectory.n_frames)])
    # The sphere flies freely from its start to 0.06 m, where it has BALL_SPEED: z0 = 0.06 + v0 s + g s^2 / 2, v0 = 5 - g s.
    g = -of_deck(results, "physics", "gravity", 2)
    lead = (BALL_SPEED - np.sqrt(BALL_SPEED**2 - 2 * g * (z[0] - BALL_START))) / g
    t = trajectory.times - lead
    now = t >= -1e-9
    if not now.any():
        raise ResultsError(f"{results.folder}: the run ended before the sphere was at {BALL_START} m")
    return t[now], z[now]


def rebound(t, z, at=0.05, half=0.005):
    """Speed upwards of the sphere at a time after the impact [m/s]: slope of the line through its path within `half` of it."""
    near = np.abs(t - at) <= half + 1e-9
    return float(np.polyfit(t[near], z[near], 1)[0])
