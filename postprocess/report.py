#!/usr/bin/python3
"""Writes a report of a run, or of several runs of one case, as one HTML file that needs nothing else.

    report.py results/concourse                          -> results/concourse/report.html
    report.py results/room --output room.html            an ensemble: all runs seed_N in the folder
    report.py results/a results/b --output both.html     several runs
"""
import argparse
import os
import sys
from pathlib import Path

DEBIAN_PYTHON = "/usr/bin/python3"
TRIED = "SCREE_REPORT_TRIED"        # set for the interpreter that is tried second


def end(message):
    """Ends as the program does when its input is wrong."""
    print(f"scree: report: {message}", file=sys.stderr)
    sys.exit(2)


def with_modules():
    """Imports the package. Where modules are missing Debian's own Python is tried, which sees the packages python3-*."""
    try:
        from scree.errors import ResultsError
        from scree.report import MOST_MEGABYTES, write_report
    except ModuleNotFoundError as error:
        if os.path.realpath(sys.executable) != os.path.realpath(DEBIAN_PYTHON) and os.access(DEBIAN_PYTHON, os.X_OK) \
                and TRIED not in os.environ and "SCREE_PYTHON" not in os.environ:
            os.execve(DEBIAN_PYTHON, [DEBIAN_PYTHON, *sys.argv], os.environ | {TRIED: sys.executable})
        tried = " and ".join(filter(None, [os.environ.get(TRIED), sys.executable]))
        package = (error.name or "").split(".")[0]
        end(f"the Python module {package} is missing in {tried}: install it (Debian: apt-get install python3-{package}; "
                 "else pip install it), or name another interpreter by the environment variable SCREE_PYTHON")
    return MOST_MEGABYTES, write_report, ResultsError


def main():
    megabytes, write_report, ResultsError = with_modules()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=Path, help="results folders of runs or of ensembles")
    parser.add_argument("--output", type=Path, help="file to write (default: report.html in the first folder)")
    parser.add_argument("--density-limit", type=float, default=4.0, metavar="D",
                        help="crowds: map of the time with more than D persons per square metre (default 4)")
    parser.add_argument("--megabytes", type=float, default=megabytes,
                        help=f"paths of people are thinned until the file is about as large at most (default {megabytes:g})")
    parser.add_argument("--no-picture", action="store_true", help="grains: no picture of the last frame")
    options = parser.parse_args()
    if not 1 <= options.megabytes <= 1000:
        parser.error("--megabytes is from 1 to 1000")
    if not options.density_limit > 0:
        parser.error("--density-limit is above 0")
    try:
        path = write_report(options.results, options.output, options.density_limit, options.megabytes, not options.no_picture)
    except (ResultsError, OSError) as error:
        end(error)
    print(f"{path} ({path.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
