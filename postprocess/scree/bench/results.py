"""Files of a benchmark."""
import datetime
import json
import os
from pathlib import Path

from .machine import processor_text
from .tables import rows_as_csv


def write_atomically(path, text):
    """Under a temporary name first: a file is complete or absent."""
    part = Path(f"{path}.part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


class Results:
    """All that a benchmark reports, for files."""

    def __init__(self, command, settings, machine):
        self.command, self.settings, self.machine = command, settings, machine
        self.date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.rows = []

    def json(self):
        """results.json as text."""
        content = {"format": "scree benchmark", "format_version": 1, "date": self.date, "command": self.command,
                   "settings": self.settings, "machine": self.machine, "rows": self.rows}
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

    def csv(self, rows):
        return rows_as_csv(rows, processor_text(self.machine))

    def write(self, folder):
        """Writes results.json, and CASE.csv for each case, into the folder."""
        write_atomically(f"{folder}/results.json", self.json())
        for case in dict.fromkeys(row["case"] for row in self.rows):
            write_atomically(f"{folder}/{case}.csv", self.csv([row for row in self.rows if row["case"] == case]))
