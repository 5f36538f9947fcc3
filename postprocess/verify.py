#!/usr/bin/python3
"""Compares runs with closed forms, published and reference numbers. `scree verify` starts this script.

    verify.py                        lists the verifications
    verify.py grains --ranks 2       runs one: its tables; exit code 0 if every check holds
"""
import argparse
import sys
from pathlib import Path

from interpreter import end, with_modules

HERE = Path(__file__).resolve().parent


def load():
    from scree.verify import VERIFICATIONS, verify

    return VERIFICATIONS, verify


def main():
    verifications, verify = with_modules("verify", load)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", help="name of a verification; none: lists them")
    parser.add_argument("--case", default="all", help="group of its cases")
    parser.add_argument("--quick", action="store_true", help="only cases that take seconds")
    parser.add_argument("--ranks", type=int, default=1, help="of each run (default 1)")
    parser.add_argument("--csv", type=Path, help="table to write")
    parser.add_argument("--source", type=Path, default=HERE.parent, help="folder that holds inputs and tests/reference")
    options = parser.parse_args()
    if options.name is None:
        for name, about in verifications.items():
            print(f"{name:14} {about.summary}" + (f"\n{'':14} --case {', '.join(about.groups)}" if about.groups else ""))
        print("others         scree_verify --help")
        return
    if options.name not in verifications:
        end("verify", f"{options.name!r} is none of {', '.join(verifications)}; others: scree_verify --help")
    groups = verifications[options.name].groups
    if options.case not in ("all", *groups):
        end("verify", f"--case {options.case} is none of {', '.join((*groups, 'all'))}")
    for folder in ("inputs/verification", "tests/reference"):
        if not (options.source / folder).is_dir():
            end("verify", f"{options.source} has no folder {folder}: --source says where it is")
    holds = verify(options.name, options.case, quick=options.quick, ranks=options.ranks, csv=options.csv, source=options.source,
                   show=lambda line: print(line, flush=True))
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
