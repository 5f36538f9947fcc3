"""Compares runs with closed forms, published and reference numbers.

    scree verify                        lists the verifications
    scree verify grains --ranks 2       runs one: its tables; exit code 0 if every check holds, else 1
    scree verify flows --full --folder FOLDER
                                        what takes hours; after a stop (Ctrl-C, --minutes: exit code 4) the same command goes on
"""
import math
import os
import sys
from pathlib import Path

from scree.commands import parser_of
from scree.errors import ScreeError
from scree.program import INTERRUPTED
from scree.verify import VERIFICATIONS, verify
from scree.verify.laboratory import Extent

SOURCE = Path(__file__).resolve().parents[3]    # of a source tree, and of share/scree


def main(words):
    parser = parser_of("verify", __doc__)
    parser.add_argument("name", nargs="?", help="name of a verification; none: lists them")
    parser.add_argument("--case", default="all", help="group of its cases")
    parser.add_argument("--quick", action="store_true", help="only cases that take seconds")
    parser.add_argument("--full", action="store_true", help="flows, dosta: also what takes hours")
    parser.add_argument("--seeds", type=int, help="flows: runs of each row")
    parser.add_argument("--rows", default="*", metavar="PATTERN,...", help="flows, dosta: only rows (CASE/LAW) with such names")
    parser.add_argument("--folder", type=Path, help="flows, dosta: where runs stay; what has ended there is not run again")
    parser.add_argument("--minutes", type=float, help="stop after so many; needs --folder")
    parser.add_argument("--ranks", type=int, default=1, help="of each run (default 1)")
    parser.add_argument("--csv", type=Path, help="table to write")
    parser.add_argument("--source", type=Path, default=SOURCE, help="folder that holds inputs and tests/reference")
    options = parser.parse_args(words)
    if options.name is None:
        for name, about in VERIFICATIONS.items():
            print(f"{name:14} {about.summary}" + (f"\n{'':14} --case {', '.join(about.groups)}" if about.groups else ""))
        return
    if options.name not in VERIFICATIONS:
        raise ScreeError(f"{options.name!r} is none of {', '.join(VERIFICATIONS)}")
    if "OMPI_COMM_WORLD_SIZE" in os.environ:
        raise ScreeError("the runs have ranks of their own: without mpirun, with --ranks N")
    groups = VERIFICATIONS[options.name].groups
    if options.case not in ("all", *groups):
        raise ScreeError(f"--case {options.case} is none of {', '.join((*groups, 'all'))}")
    extent = extent_of(options)
    for folder in ("inputs/verification", "tests/reference"):
        if not (options.source / folder).is_dir():
            raise ScreeError(f"{options.source} has no folder {folder}: --source says where it is")
    holds, stopped = verify(options.name, options.case, quick=options.quick, ranks=options.ranks, csv=options.csv, source=options.source,
                            extent=extent, show=lambda line: print(line, flush=True))
    if stopped or not holds:
        sys.exit(1 if not holds else INTERRUPTED)


def extent_of(options):
    """How much of a long verification is asked for. Raises ScreeError for options that this verification does not heed."""
    given = {"--full": options.full, "--seeds": options.seeds is not None, "--rows": options.rows != "*", "--folder": options.folder,
             "--minutes": options.minutes is not None}
    words = [word for word, is_given in given.items() if is_given]
    if words and not VERIFICATIONS[options.name].long:
        raise ScreeError(f"{options.name} has no {', '.join(words)}: only {' and '.join(k for k, v in VERIFICATIONS.items() if v.long)} have")
    if options.seeds is not None and options.seeds < 1:
        raise ScreeError(f"--seeds {options.seeds}: 1 at least")
    if options.minutes is not None and not options.folder:
        raise ScreeError("--minutes needs --folder, where stopped runs stay")
    if options.full and options.quick:
        raise ScreeError("--full and --quick exclude each other")
    return Extent(options.full, options.seeds, options.rows, options.folder, math.inf if options.minutes is None else options.minutes)
