"""One results folder: its files by topic, opened when first asked for."""
import json
import re
import tomllib
from functools import cached_property
from pathlib import Path

from scree.errors import ResultsError
from scree.results.files import existing, read_pvd
from scree.results.old_names import DECK, summary_with_new_names, with_new_names
from scree.results.paths import Paths, read_trajectory
from scree.results.poly_data import read_contacts
from scree.results.record import Trajectory
from scree.results.tables import AXES, OF_THE_METHOD, Agents, Scalars, read_agents


class Results:
    """One results folder. Files are opened when first asked for, so a folder without an .h5 file is fine."""

    def __init__(self, folder):
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise ResultsError(f"{folder} is not a folder; give the results folder of a run, such as results/attraction")

    @cached_property
    def name(self) -> str:
        """Name of the run: the first part of its file names."""
        for pattern, ending in (("*.scalars.csv", ".scalars.csv"), ("*.trajectory.h5", ".trajectory.h5"), ("*.h5", ".h5"),
                                ("*.agents.csv", ".agents.csv"), ("*.evacuation.csv", ".evacuation.csv"),
                                ("*.certificate.csv", ".certificate.csv"),
                                ("vtk/*_particles.pvd", "_particles.pvd")):
            found = sorted(self.folder.glob(pattern))
            if found:
                return found[0].name.removesuffix(ending)
        raise ResultsError(f"{self.folder} holds no results of a run: none of NAME.scalars.csv, NAME.h5, "
                           "NAME.agents.csv, NAME.certificate.csv, vtk/NAME_particles.pvd is there")

    @cached_property
    def scalars(self) -> "Scalars":
        return Scalars(self.folder / f"{self.name}.scalars.csv")

    @cached_property
    def certificate(self) -> "Scalars":
        """Residuals and overlap of the steps that were written, from NAME.certificate.csv; the first row is the start."""
        return Scalars(self.folder / f"{self.name}.certificate.csv")

    @cached_property
    def trajectory(self) -> "Trajectory":
        return Trajectory(self.folder / f"{self.name}.h5")

    @cached_property
    def paths(self) -> "Paths":
        """Of a crowd: who was where in each frame of NAME.trajectory.h5."""
        return read_trajectory(self.folder / f"{self.name}.trajectory.h5")

    @cached_property
    def agents(self) -> "Agents":
        """Of a crowd: everybody, with when and how they left or why they stay, from NAME.agents.csv."""
        return read_agents(self.folder / f"{self.name}.agents.csv")

    @cached_property
    def evacuation(self) -> "Scalars":
        """Of a crowd: how many are inside, came and left by each exit, from NAME.evacuation.csv; a row for each time
        at which a number changed."""
        return Scalars(self.folder / f"{self.name}.evacuation.csv")

    @cached_property
    def closings(self) -> dict:
        """Of a crowd: when smoke closed exits and connectors [s], by name, from NAME.log; {} where none did."""
        path = self.folder / f"{self.name}.log"
        text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
        return {name: float(time) for name, time in re.findall(r'smoke closes the \w+ "(.*)" at t = (\S+) s', text)}

    @cached_property
    def deck(self) -> dict:
        """The deck with all defaults filled in, from NAME.resolved.toml; {} where there is none."""
        path = self.folder / f"{self.name}.resolved.toml"
        return with_new_names(tomllib.loads(path.read_text(encoding="utf-8")), DECK, path) if path.exists() else {}

    def measure(self, kind) -> str:
        """Name of the one measure of this type in the deck; ResultsError if there is none, or several."""
        names = [name for name, table in self.deck.get("measures", {}).items() if table["type"] == kind]
        if len(names) != 1:
            raise ResultsError(f"{self.folder}: {len(names)} measures of the type {kind}, one is needed")
        return names[0]

    @cached_property
    def summary(self) -> dict:
        path = existing(self.folder / "summary.json")
        return summary_with_new_names(json.loads(path.read_text()), path)

    def bodies(self, frame=-1) -> dict:
        """All fields of a frame of NAME.h5 as arrays by name, in order of ids; units: trajectory.unit(name)."""
        trajectory = self.trajectory
        return {name: trajectory.field(name, frame) for name in trajectory.fields}

    def contacts(self, frame=-1) -> dict:
        """The contacts of a frame of vtk/NAME_contacts.pvd as arrays by name: "ends" (n, 2, 3) [m], from the centre of one
        body to that of the other or to the wall, and what the run wrote for each (gap [m], normal_force [N], ...)."""
        frames = self.vtk_frames("contacts")
        if not frames:
            raise ResultsError(f"{self.folder} has no contacts: the deck needs [output.vtk]")
        return read_contacts(frames[frame][1])

    def __repr__(self):
        def line(name, what):
            return f"  {name:12} {what}\n"

        text = f"<Results {self.folder}"
        path = self.folder / "summary.json"
        if path.exists():
            summary = self.summary
            text += f": {summary.get('status')} at t = {summary.get('time_s', float('nan')):.6g} s, {summary.get('bodies')} bodies"
        text += "\n"
        if (self.folder / f"{self.name}.scalars.csv").exists():
            measured = [name for name in self.scalars.names if name not in (*AXES, *OF_THE_METHOD)]
            text += line("scalars", ", ".join(measured[:12]) + (", ..." if len(measured) > 12 else ""))
        if (self.folder / f"{self.name}.h5").exists():
            text += line("trajectory", f"{self.trajectory.n_frames} frames of {', '.join(self.trajectory.fields)}")
        if (self.folder / f"{self.name}.agents.csv").exists():
            text += line("agents", f"{len(self.agents)} people")
        return text.rstrip("\n") + ">"

    def vtk_frames(self, kind):
        """Frames of `kind` ("particles", "contacts", "obstacles", "fields", "continuum") as (time, path), or [] if
        none were written."""
        index = self.folder / "vtk" / f"{self.name}_{kind}.pvd"
        return read_pvd(index) if index.exists() else []

    def checkpoints(self):
        """Checkpoint files, oldest first."""
        return sorted(path for path in (self.folder / "checkpoint").glob("*") if not path.is_symlink())
