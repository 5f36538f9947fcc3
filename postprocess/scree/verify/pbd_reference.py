"""What the two experiments of position-based dynamics are held against: exact motion, and the files of tests/reference/pbd."""
import math
from dataclasses import dataclass

import numpy as np

from scree.errors import ResultsError
from scree.verify.position_methods import SLIDING_START

N_DISKS, FRAME = 40, 0.01   # [s]


def sliding_exact(t):
    """Exact positions (times, 3) of "sliding": a point that f = (0, -1, 0) drives along the circle in which two spheres intersect, until it
    leaves them (docs/verification.md)."""
    t = np.asarray(t, float)
    constant = math.log(math.tan(SLIDING_START / 2))
    u = np.exp(np.minimum(constant + t, 0))     # tan(theta/2)
    x, y = 2 * u / (1 + u * u), (1 - u * u) / (1 + u * u)
    return np.stack([x, np.where(t > -constant, -constant - t, y), np.zeros_like(t)], axis=-1)


@dataclass(frozen=True)
class Errors:
    """Euclidean norm over all coordinates [m]: largest over the path, and at the end."""
    max: float
    end: float


def expected_errors(laboratory):
    """{(case, method, parameter, step): Errors} of the prototype."""
    rows = laboratory.table("pbd/errors.csv", "case,method,parameter,h,error_max,error_end,sweeps")
    return {(*row[:3], float(row[3])): Errors(float(row[4]), float(row[5])) for row in rows}


class DisksPath:
    """The reference trajectory of the disks, frames (k, 40, 2) every 0.01 s from 0, and their end."""

    def __init__(self, laboratory):
        titles = "t," + ",".join(f"x{i},y{i}" for i in range(N_DISKS))
        rows = np.array(laboratory.table("pbd/disks40_path.csv", titles), float)
        if not np.array_equal(np.rint(rows[:, 0] / FRAME), np.arange(len(rows))):
            raise ResultsError("disks40_path.csv: the rows are not those of every 0.01 s")
        self.frames = rows[:, 1:].reshape(-1, N_DISKS, 2)
        self.end = np.full((N_DISKS, 2), np.nan)
        for row in np.array(laboratory.table("pbd/disks40_end_T4.csv", "id,x,y"), float):
            self.end[int(row[0])] = row[1:]
        sparse = {}
        for t, i, x, y in np.array(laboratory.table("pbd/disks40_trajectory.csv", "t,id,x,y"), float):
            sparse.setdefault(round(t / FRAME), np.full((N_DISKS, 2), np.nan))[int(i)] = x, y
        # Largest distance of the path from the few frames of the prototype [m]; infinite where one is beyond the path.
        self.disagreement = np.max([np.linalg.norm(self.frames[k] - frame) if k < len(self.frames) else np.inf
                                    for k, frame in sparse.items()])
        if np.isnan(self.end).any() or np.isnan(self.disagreement):
            raise ResultsError("disks40_end_T4.csv, disks40_trajectory.csv: some disks are missing")

    def errors(self, frames):
        """Of positions (k, 40, 2) at the same times."""
        if len(frames) != len(self.frames):
            raise ResultsError(f"{len(frames)} frames of the disks, expected {len(self.frames)}")
        return Errors(np.linalg.norm((frames - self.frames).reshape(len(frames), -1), axis=1).max(), np.linalg.norm(frames[-1] - self.end))
