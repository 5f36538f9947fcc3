#!/usr/bin/python3
"""What scripts that measure share: the machine as scree_bench describes it, and seconds of runs.

    timings.py build/release/bin        prints the name of the folder of this processor's results
    timings.py results.json             prints the processor of these results
"""
import json
import re
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "postprocess/scree"))    # not the package scree, which needs numpy

from bench import machine as bench_machine  # noqa: E402
from bench.machine import processor_text  # noqa: E402,F401: for scripts that measure


class TimingError(Exception):
    """A program or a file that does not say what it should."""


def machine_of(programs):
    """The machine with what scree_bench in the folder `programs` measures of it on one rank."""
    program = Path(programs) / "scree_bench"
    try:
        return bench_machine.machine_of(program)
    except OSError as error:
        raise TimingError(f"{program}: {error.strerror}") from error
    except subprocess.CalledProcessError as error:
        raise TimingError(f"{program}: {error.stderr.strip()}") from error
    except ValueError as error:
        raise TimingError(str(error)) from error


def processor_folder(machine):
    """The name of the folder of this processor's results."""
    name = re.sub(r"\((r|tm)\)|\bcpu\b", " ", machine["processor"].lower())
    words = re.findall(r"[a-z0-9.]+", name) or ["unknown"]
    if "processor_family" in machine:
        words += ["family", str(machine["processor_family"]), "model", str(machine["processor_model"])]
    return "-".join(words)


def spread_of(values):
    """(largest - least) / median, as scree_bench has it."""
    return (max(values) - min(values)) / statistics.median(values)


def step_seconds(summary):
    """Wall seconds that the slowest rank of a run spent in its steps: no start, no output."""
    try:
        timers = json.loads(Path(summary).read_text(encoding="utf-8"))["timers"]
        return next(timer["max_s"] for timer in timers if timer["name"] == "step" and timer["depth"] == 0)
    except (OSError, ValueError, KeyError, StopIteration) as error:
        raise TimingError(f"{summary}: no summary of a run with steps") from error


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: {__doc__}")
    try:
        given = Path(sys.argv[1])
        if given.is_dir():
            print(processor_folder(machine_of(given)))
        else:
            print(processor_text(json.loads(given.read_text(encoding="utf-8"))["machine"]))
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"timings.py: {given}: no results of scree bench ({error})")
    except TimingError as error:
        sys.exit(f"timings.py: {error}")
