#!/usr/bin/python3
"""Prints the slowest tests of a run of ctest, from the file that its --output-junit wrote."""
import argparse
from pathlib import Path
from xml.etree import ElementTree

HERE = "build/release/tests.xml"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, nargs="?", default=Path(HERE), help=f"JUnit file (default {HERE})")
    parser.add_argument("--count", type=int, default=10, help="how many (default 10)")
    options = parser.parse_args()
    tests = [(float(case.get("time", 0)), case.get("name")) for case in ElementTree.parse(options.file).iter("testcase")]
    print(f"the slowest of {len(tests)} tests, which take {sum(seconds for seconds, _ in tests):.0f} s one after the other:")
    for seconds, name in sorted(tests, reverse=True)[:options.count]:
        print(f"{seconds:8.1f} s  {name}")


main()
