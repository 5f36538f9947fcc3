"""Writes a report of a run, or of several runs of one case, as one HTML file that needs nothing else.

    scree report results/concourse                          -> results/concourse/report.html
    scree report results/room --output room.html            an ensemble: all runs seed_N in the folder
    scree report results/a results/b --output both.html     several runs
"""
from pathlib import Path

from scree.commands import parser_of
from scree.report import MAX_MEGABYTES, write_report


def main(words):
    parser = parser_of("report", __doc__)
    parser.add_argument("results", nargs="+", type=Path, help="results folders of runs or of ensembles")
    parser.add_argument("--output", type=Path, help="file to write (default: report.html in the first folder)")
    parser.add_argument("--density-limit", type=float, default=4.0, metavar="D",
                        help="crowds: map of the time with more than D persons per square metre (default 4)")
    parser.add_argument("--megabytes", type=float, default=MAX_MEGABYTES,
                        help=f"paths of people are thinned until the file is about as large at most (default {MAX_MEGABYTES:g})")
    parser.add_argument("--no-picture", action="store_true", help="grains: no picture of the last frame")
    options = parser.parse_args(words)
    if not 1 <= options.megabytes <= 1000:
        parser.error("--megabytes is from 1 to 1000")
    if not options.density_limit > 0:
        parser.error("--density-limit is above 0")
    path = write_report(options.results, options.output, options.density_limit, options.megabytes, not options.no_picture)
    print(f"{path} ({path.stat().st_size / 1e6:.1f} MB)")
