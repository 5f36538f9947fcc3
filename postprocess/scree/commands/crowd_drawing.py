"""Shared by the commands that draw crowds: their style, the runs of an ensemble, published measurements. Plans and colours: scree.crowd."""
import csv
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from scree import style
from scree.results import Results

plt.rcParams.update(style.STYLES["screen"])
REFERENCES = Path(__file__).resolve().parents[3] / "tests" / "reference" / "crowd"


def runs_of(folders):
    """The runs in results folders; an ensemble, a folder with seed_N in it, is all of its runs."""
    runs = []
    for folder in map(Path, folders):
        members = [member for member in folder.glob("seed_*") if member.is_dir()] if folder.is_dir() else []
        members.sort(key=lambda member: (len(member.name), member.name))
        runs += [Results(member) for member in members] or [Results(folder)]
    return runs


def reference(name, folder=REFERENCES):
    """A table of measurements: columns by name, numbers where possible; None without the file."""
    path = Path(folder) / f"{name}.csv"
    if not path.is_file():
        return None
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    columns = {}
    for title in rows[0]:
        values = [row[title] for row in rows]
        try:
            columns[title] = np.array([float(value) for value in values])
        except ValueError:
            columns[title] = values
    return columns


def save(figure, output):
    style.save(figure, output)
    plt.close(figure)
    print(output)
