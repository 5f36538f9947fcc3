"""Numbers of dense flows: what is read from a run, means over seeds, the limit of stiff springs, agreement."""
import math
from dataclasses import dataclass

import numpy as np

DIAMETER = 0.01             # [m]
STEADY = 4                  # [s], from when on flows are steady
SHEARED = 2                 # shear strain from which on a sheared domain is


class Samples:
    """Series of a run, SAMPLE_EVERY apart, of the bodies that are not fixed: mean place and velocity, how many are above 0, places along x,
    and who is there at the end. Bodies may leave."""

    def __init__(self, course):
        self.course = course
        fixed = [k for k, table in enumerate(course.results.deck["particles"].values()) if table.get("mobility") == 0]
        record = course.results.trajectory
        self.time = record.times
        self.centre, self.velocity, self.above, self.along = [], [], [], []
        for frame in range(record.n_frames):
            free = ~np.isin(record.field("type", frame), fixed)
            self.position = record.positions(frame)[free]
            self.along.append(self.position[:, 0])
            self.centre.append(self.position.mean(axis=0))
            self.velocity.append(record.velocities(frame)[free].mean(axis=0))
            self.above.append(np.count_nonzero(self.position[:, -1] > 0))
        self.centre, self.velocity, self.above = map(np.array, (self.centre, self.velocity, self.above))
        self.mass = record.field("mass", -1)[free].sum()
        box = record.box
        self.period = (box.upper - box.lower)[0] if box.periodic[0] else math.inf    # along x [m]

    def average(self, numbers, since=STEADY, until=math.inf):
        """Mean over samples with since < time <= until."""
        within = (self.time > since + 1e-9) & (self.time < until + 1e-9)
        return float(numbers[within].mean())

    def columns(self, *parts):
        """Sum of the scalars whose names hold all of these parts."""
        scalars = self.course.scalars
        return sum(scalars[name] for name in scalars if all(part in name for part in parts))


def carried(samples):
    """How fast a periodic flow carries its grains along x [m/s]: the grains that cross a plane in a second, over their number per length,
    as a mean over all planes. What moves grains without a velocity, as a correction of places may, counts too."""
    late = samples.time > STEADY - 1e-9
    moved = np.diff(np.array(samples.along)[late], axis=0)
    moved -= samples.period * np.rint(moved / samples.period)    # between two samples no grain goes half a period
    return float(moved.sum() / moved.shape[1] / np.ptp(samples.time[late]))


def turned_over(samples):
    """Grains of a drum that pass the plane x = 0 one way in a second [1/s]. A grain has passed when it is a radius beyond."""
    late = samples.time > STEADY - 1e-9
    passed = 0
    for x in np.array(samples.along)[late].T:
        sides = np.sign(x[np.abs(x) > DIAMETER / 2])
        passed += np.count_nonzero(np.diff(sides) > 0)
    return passed / float(np.ptp(samples.time[late]))


def numbers_of(flow, samples):
    """The quantities of a case."""
    centre = samples.centre
    if flow.deck in ("chute", "layers"):
        return {"speed [m/s]": samples.average(samples.velocity[:, 0]), "transport [m/s]": carried(samples),
                "height of centres [d]": samples.average(centre[:, -1] / DIAMETER)}
    if flow.deck == "drum":
        return {"transport [1/s]": turned_over(samples), "torque [N m]": samples.average(samples.columns("_torque_")),
                "angle of the centre of mass [deg]": samples.average(np.degrees(np.arctan2(-centre[:, 0], -centre[:, 1])))}
    if flow.deck == "shear":
        scalars = samples.course.scalars
        late = scalars["cell_shear_strain"] >= SHEARED
        shear, normal = (np.mean((scalars[f"stress_contact_{axes}"] + scalars[f"stress_kinetic_{axes}"])[late]) for axes in ("xy", "yy"))
        # The slowest flow is reported, without a band.
        more = " of the slowest" if flow.name == "shear 0.0001" else ""
        return {f"friction{more} [-]": float(-shear / normal),
                f"solid fraction{more} [-]": float(np.mean(scalars["solid_solid_fraction"][late]))}
    if flow.deck == "silo":
        late = samples.time > 0.75 - 1e-9
        return {"rate [1/s]": -float(np.polyfit(samples.time[late], samples.above[late], 1)[0])}
    if flow.deck == "janssen":
        load = samples.columns("_force_floor_z") / (samples.mass * -9.81)
        return {"floor load poured [weight]": samples.average(load, 1.2, 1.4), "floor load sunk [weight]": samples.average(load, 1.8)}
    length = 0.2    # [m], of the column
    return {f"x{share} [L0]": float(np.quantile(samples.position[:, 0], share / 100)) / length for share in (50, 90, 95)}


@dataclass(frozen=True)
class Mean:
    """Of the runs of one law with several seeds; the deviation is the standard deviation over seeds, 0 for one."""
    value: float
    deviation: float
    n: int

    @property
    def error(self):
        return self.deviation / math.sqrt(self.n) if self.n > 1 else 0.0

    def __str__(self):
        return f"{self.value:.4g}" if self.n < 2 else f"{self.value:.4g}+-{self.error:.2g}"


def mean_of_seeds(values):
    """None for no values."""
    if len(values) == 0:
        return None
    return Mean(float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0, len(values))


def at_infinite_stiffness(stiffness, values):
    """The value at infinite stiffness of values at stiffnesses k: the straight line over k^(-1/2), to which the duration of a contact is
    proportional, at 0. Least squares. At least two of each."""
    return float(np.polyfit(np.asarray(stiffness, float)**-0.5, values, 1)[1])


def agree(found, reference, share=0.03, scatters=2):
    """Whether two means agree: within this share of the second or twice the scatter of seeds (`scatters`), whichever is more. A mean of
    one seed has the scatter of the other."""
    found_scatter = found.deviation if found.n > 1 else reference.deviation
    reference_scatter = reference.deviation if reference.n > 1 else found.deviation
    return abs(found.value - reference.value) <= max(share * abs(reference.value), scatters * math.hypot(found_scatter, reference_scatter))
