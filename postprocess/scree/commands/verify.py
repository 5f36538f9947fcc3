"""Compares runs with closed forms, published and reference numbers.

    scree verify                        lists the verifications
    scree verify grains --ranks 2       runs one: its tables; exit code 0 if every check holds, else 1
"""
import os
import sys
from pathlib import Path

from scree.commands import parser_of
from scree.errors import ScreeError
from scree.verify import VERIFICATIONS, verify

SOURCE = Path(__file__).resolve().parents[3]    # of a source tree, and of share/scree


def main(words):
    parser = parser_of("verify", __doc__)
    parser.add_argument("name", nargs="?", help="name of a verification; none: lists them")
    parser.add_argument("--case", default="all", help="group of its cases")
    parser.add_argument("--quick", action="store_true", help="only cases that take seconds")
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
    for folder in ("inputs/verification", "tests/reference"):
        if not (options.source / folder).is_dir():
            raise ScreeError(f"{options.source} has no folder {folder}: --source says where it is")
    holds = verify(options.name, options.case, quick=options.quick, ranks=options.ranks, csv=options.csv, source=options.source,
                   show=lambda line: print(line, flush=True))
    if not holds:
        sys.exit(1)
