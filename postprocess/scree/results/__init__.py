"""The results folder of a run. Lengths in m, times in s: SI throughout.

    from scree.results import Results, read_fields
    results = Results("results/attraction")
    results.scalars["time"], results.scalars.units["time"]      # the time series, array by array
    results.trajectory.positions(-1)                            # (n, D) of the last frame, in order of ids
    results.bodies(-1)["velocity"], results.contacts(-1)["normal_force"]   # fields of a frame, arrays by name
    results.vtk_frames("particles")                             # [(time, path of the .pvtp), ...]
    results.paths.frame(0), results.agents["left"]           # of crowds: who was where, who left when and how
    read_fields(results.vtk_frames("fields")[-1][1])["density"] # of crowds: a map, row by row
    results.summary                                             # the contents of summary.json

Needs numpy; h5py for trajectories and checkpoints only, VTK (Debian: python3-vtk9) for maps and contacts only.
"""
from scree.results.fields import Fields, read_fields
from scree.results.files import read_pvd
from scree.results.folder import Results
from scree.results.paths import Paths, levels_of_wkt, read_trajectory, read_wkt
from scree.results.record import DomainBox, Trajectory, read_checkpoint
from scree.results.tables import AGENTS_TEXT, AXES, OF_THE_METHOD, Agents, Scalars, read_agents

__all__ = ["AGENTS_TEXT", "AXES", "OF_THE_METHOD", "Agents", "DomainBox", "Fields", "Paths", "Results", "Scalars",
           "Trajectory", "levels_of_wkt", "read_agents", "read_checkpoint", "read_fields", "read_pvd", "read_trajectory", "read_wkt"]
