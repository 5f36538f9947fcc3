#!/usr/bin/python3
"""Every C++ file is as clang-format (.clang-format, version 14) would write it."""
import shutil
import subprocess
import sys

from repository import files, report, source_folder


def main():
    if shutil.which("clang-format") is None:
        print("skipped: clang-format is not installed (scripts/install-deps.sh)")
        sys.exit(77)
    root = source_folder()
    sources = files(root, {".cpp", ".hpp"})
    result = subprocess.run(["clang-format", "--dry-run", "--ferror-limit=1", *sources], cwd=root, text=True,
                            stderr=subprocess.PIPE, check=True)
    problems = [line for line in result.stderr.splitlines() if "-Wclang-format-violations" in line]
    if problems:
        problems.append("to repair: clang-format -i <file>")
    report(problems, len(sources), "C++ files")


main()
