"""What scree_bench prints on its standard output as lines of JSON, as tables and files: one object with one member per line."""
import json
import sys

from .machine import describe_machine, format_machine, processor_text
from .results import Results, write_atomically
from .steps import row_of_steps
from .tables import format_rows


class Tables:
    """Rows are shown as a table when it is complete: at a head, at the next case and at the end."""

    def __init__(self, request):
        self.out, self.csv, self.json = request["out"], request["csv"], request["json"]
        self.results = Results(request["command"], request["settings"], {})
        self.is_study = request["is_study"]
        self.waiting = []

    def take(self, kind, value):
        getattr(self, f"take_{kind}")(value)

    def take_machine(self, value):
        self.results.machine = describe_machine() | value
        if self.is_study:
            self.show(format_machine(self.results.machine))

    def take_case(self, value):
        self.flush()
        self.show(f"\n{value['name']}: {value['summary']}\n")

    def take_head(self, text):
        self.flush()
        self.show("\n" + text)

    def take_row(self, row):
        self.waiting.append(row)
        self.results.rows.append(row)
        if self.csv:
            write_atomically(self.csv, self.results.csv(self.results.rows))
        if self.json:
            write_atomically(self.json, self.results.json())

    def take_steps(self, found):
        self.take_row(row_of_steps(found))

    def take_done(self, _):
        self.flush()

    def show(self, text):
        print(text, end="" if text.endswith("\n") else "\n", flush=True)

    def flush(self):
        if self.waiting:
            self.show(format_rows(self.waiting, processor_text(self.results.machine)))
            if self.out:
                self.results.write(self.out)
        self.waiting = []


def show_tables(request):
    """Shows what comes from standard input until it ends; what was measured before an error is shown as well."""
    tables = Tables(request)
    for line in sys.stdin:
        tables.take(*next(iter(json.loads(line).items())))
    tables.flush()
