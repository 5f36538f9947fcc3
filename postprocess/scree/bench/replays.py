"""What scree_replay finds, as a table on the terminal and as files: one object with one member per line of standard input."""
import csv
import io
import json
import math
import sys

from .results import write_atomically
from .rows import number_text
from .tables import wrapped

MAX_LENGTH_OF_FAILURE = 100    # characters of a line; the table is wider, but this is text


def seconds_text(seconds):
    """At most six characters below 10^6 s."""
    if seconds == 0:
        return "0"
    digits = 4 if seconds < 0.1 else 2 if seconds < 10 else 1 if seconds < 1000 else 0
    return f"{seconds:.{digits}f}"


def table_head(tolerances):
    head = f"{'form':>6} {'nc':>6} {'dofs':>6} {'solver':>8} |" + "".join(f" {tolerance:>6.0e}" for tolerance in tolerances)
    return (f"{head} | {'sweeps':>6} {'its':>6} {'newton':>6} | {'res':>7} {'rel':>7} {'natural':>7} {'ok':>3} | {'penetr.':>7} {'cone':>7} "
            f"{'compl.':>7} {'dissip.':>7} | file\n")


def table_row(solve):
    form = "elim." if solve["form"] != solve["solved_as"] else solve["form"]
    text = f"{form:>6} {solve['contacts']:>6} {solve['velocities'] or '-':>6} {solve['solver']:>8} |"
    for reached in solve["reached"]:
        text += f" {'-' if reached['seconds'] is None else seconds_text(reached['seconds']):>6}"
    if solve["failure"]:
        return f"{text} | {solve['file']}\n" + wrapped("failed: " + solve["failure"], " " * 29 + " | ", MAX_LENGTH_OF_FAILURE)
    counts, residual = solve["counts"], {name: float(value) for name, value in solve["residual"].items()}
    confirmed = "-" if not solve["converged"] else "yes" if solve["confirmed"] else "NO"
    return (f"{text} | {counts['sweeps']:>6} {counts['iterations']:>6} {counts['newton_steps']:>6} | {residual['fclib_absolute']:>7.1e} "
            f"{residual['fclib_relative']:>7.1e} {residual['natural']:>7.1e} {confirmed:>3} | {residual['penetration_rate']:>7.1e} "
            f"{residual['cone_violation']:>7.1e} {residual['complementarity']:>7.1e} {residual['dissipation_error']:>7.1e} | "
            f"{solve['file']}\n")


def csv_row(solve, head):
    """Columns of a line of the CSV file."""
    row = {name: solve[name] for name in ("file", "form", "solved_as", "dimension", "contacts", "velocities", "constraints")}
    row |= {"ranks": head["ranks"], "solver": solve["solver"], "measure": head["measure"], "converged": int(solve["converged"]),
            "confirmed": int(solve["confirmed"]), "failure": solve["failure"]}
    of = solve["residual"]
    row |= {name: of[name] for name in ("natural", "fclib_absolute", "fclib_relative")}
    row |= {name.replace("fclib", "checked"): value for name, value in solve["checked"].items()}
    row |= {name: of[name] for name in ("penetration_rate", "cone_violation", "complementarity", "dissipation_error")} | solve["counts"]
    for part, seconds in solve["seconds"].items():
        row["seconds" if part == "solve" else f"{part}_seconds"] = f"{seconds:.4g}"
    for reached in solve["reached"]:
        tolerance, solved = f"{reached['tolerance']:g}", reached["solved"]
        row[f"seconds_to_{tolerance}"] = f"{reached['seconds']:.4g}" if solved else ""
        row[f"iteration_at_{tolerance}"] = reached["iteration"] if solved else ""
    return {name: number_text(value) for name, value in row.items()}


def finite_or_null(value):
    """JSON has no infinities: scree_replay prints them as texts."""
    if isinstance(value, dict):
        return {name: finite_or_null(part) for name, part in value.items()}
    return None if value in ("inf", "-inf", "nan", "-nan") else value


class Replays:
    """The solves of a run: those of one file follow each other, each file with the same solvers."""

    def __init__(self, request):
        self.csv, self.json = request["csv"], request["json"]
        self.head, self.solves = {}, []

    def take_head(self, head):
        self.head = head
        self.show(table_head(head["tolerances"]))

    def take_solve(self, solve):
        self.solves.append(solve)
        self.show(table_row(solve))

    def take_file(self, _):
        if self.csv:
            write_atomically(self.csv, self.csv_text())
        if self.json:
            write_atomically(self.json, self.json_text())

    def take_done(self, _):
        self.show(self.summary_text())

    def show(self, text):
        print(text, end="", flush=True)

    def seconds_to(self, tolerance):
        """Of each file by solver; infinite: not solved. `tolerance`: its place among all."""
        reached = [solve["reached"][tolerance] for solve in self.solves]
        seconds = [entry["seconds"] if entry["solved"] else math.inf for entry in reached]
        n = len(self.head["solvers"])
        return [dict(zip(self.head["solvers"], seconds[k:k + n])) for k in range(0, len(seconds), n)]

    def summary(self):
        """What each solver did with all files to each tolerance; common: files that all solvers solve."""
        sums = []
        for place, tolerance in enumerate(self.head["tolerances"]):
            files = self.seconds_to(place)
            common = [file for file in files if all(map(math.isfinite, file.values()))]
            for solver in self.head["solvers"]:
                solved = [file[solver] for file in files if math.isfinite(file[solver])]
                sums.append({"tolerance": tolerance, "solver": solver, "files": len(files), "solved": len(solved),
                             "seconds": math.fsum(solved), "common": len(common),
                             "common_seconds": math.fsum(file[solver] for file in common)})
        return sums

    def summary_text(self):
        text = f"\n{'tolerance':>9} {'solver':>8} | {'solved':>11} {'seconds':>8} | {'common':>6} {'seconds':>8}\n"
        for part in self.summary():
            solved = f"{part['solved']} of {part['files']}"
            text += (f"{part['tolerance']:>9.0e} {part['solver']:>8} | {solved:>11} {seconds_text(part['seconds']):>8} | "
                     f"{part['common']:>6} {seconds_text(part['common_seconds']):>8}\n")
        return text + f"""
Form: how the problem was solved, with bodies (global), as W and q (local) or so after elimination (elim.).
Below tolerances: wall seconds of the solve until the {self.head["measure"]} residual was first reached (-: not reached).
res, rel: FCLIB measures of the result; ok: the residual recomputed from the file agrees (-: the least tolerance was missed).
penetr. [m/s], cone [N s], compl. [J], dissip. [J]: the worst contact. common: files that every solver of this run solves.
"""

    def csv_text(self):
        text = io.StringIO()
        rows = [csv_row(solve, self.head) for solve in self.solves]
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue()

    def json_text(self):
        """Everything; numbers that are not finite are null."""
        solves = [{name: [[*sample[:2], finite_or_null(sample[2])] for sample in value] if name == "trace" else finite_or_null(value)
                   for name, value in solve.items()} for solve in self.solves]
        return json.dumps(self.head | {"solves": solves, "summary": self.summary()}, indent=1, ensure_ascii=False) + "\n"


def show_replays(request):
    """Shows what comes from standard input until it ends; `request`: {"csv": ..., "json": ...}, files to write or empty."""
    replays = Replays(request)
    for line in sys.stdin:
        kind, value = next(iter(json.loads(line).items()))
        getattr(replays, f"take_{kind}")(value)
