"""Markdown tables from results of scree bench: units that suit, columns left out, what is missing."""
import json
import subprocess
import sys

from scree_program import check, source_folder

SCRIPT = source_folder() / "scripts/benchmark_tables.py"
MACHINE = {"processor": "Some Processor", "cores": 4, "compiler": "GNU 12", "instruction_set": "avx2", "load_at_start": 0.25,
           "commit": "abc123", "measured": [{"ranks": 2, "triad_one_rank": 30e9, "triad_each_rank": 20e9, "latency_8_B": 5e-7,
                                             "latency_1_MiB": 4e-5, "allreduce_8_B": 7e-7}]}


def row(case, seconds, **values):
    return {"case": case, "mode": "fixed", "ranks": 1, "work": "step", "seconds": seconds, "spread": 0.034, "keys": {"dimension": 2},
            "size": {"bodies": 1000}, "values": values, "phases": {"sweeps": 0.75, "other": 0.25},
            "units": {"dimension": "-", "bodies": "-", "rate": "1/s", "ns_per_body": "ns", "secret": "-", "verdict": "-",
                      "seconds_to_0.1": "s", "set_up_s": "s"},
            "spreads": {}, "only_in_files": ["secret"], "notes": []}


def tables(path):
    return subprocess.run([sys.executable, SCRIPT, path], text=True, capture_output=True, timeout=60)


def test_cells_have_units_that_suit(folder):
    rows = [row("pbd", 2.5e-3, rate=5.43e8, ns_per_body=17.21, secret=1), row("pbd", 4e-4, rate=2e6, verdict="yes"),
            row("dem", 3e-6), row("friction", 2e-3, **{"seconds_to_0.1": 4e-4}, set_up_s=2e-6)]
    rows[-1]["only_in_files"].append("bodies")      # what keeps rows apart is shown all the same
    path = folder / "results.json"
    path.write_text(json.dumps({"format": "scree benchmark", "format_version": 1, "date": "2030-01-02", "rows": rows,
                                "command": "/some/where/scree bench --case pbd", "machine": MACHINE}))
    process = tables(path)
    check(process.returncode == 0, process.stderr)
    lines = process.stdout.splitlines()
    check(f"## {folder.name}/results" in lines, "a heading names the study", process.stdout)
    check("    scree bench --case pbd" in lines, "the command, without the place of the program", process.stdout)
    check("Ranks 2: triad 30.0 GB/s alone, 20.0 each, message of 8 B 0.50 us, 1 MiB 40 us, allreduce 0.70 us." in lines,
          "the machine", process.stdout)
    first = lines.index("### pbd")
    check(lines[first + 2:first + 6] == [
        "| dimension | bodies | ranks | step [ms] | spread | rate [M/s] | ns per body | verdict | shares |",
        "|---|---|---|---|---|---|---|---|---|",
        "| 2 | 1000 | 1 | 2.5 | 3 % | 543 | 17.2 |  | sweeps 75 %, other 25 % |",
        "| 2 | 1000 | 1 | 0.4 | 3 % | 2 |  | yes | sweeps 75 %, other 25 % |"], "rows of pbd", lines[first:first + 6])
    check("| dimension | bodies | ranks | step [us] | spread | shares |" in lines, "each case has its own columns", process.stdout)
    check("| dimension | bodies | ranks | step [ms] | spread | seconds to 0.1 [s] | set up [us] | shares |" in lines,
          "times to tolerances keep one unit", process.stdout)


def test_files_that_are_none(folder):
    path = folder / "nothing.json"
    path.write_text("{}")
    process = tables(path)
    check(process.returncode == 1 and "no results.json of scree bench" in process.stderr, "refused", process)
