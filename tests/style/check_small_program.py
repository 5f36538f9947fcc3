#!/usr/bin/python3
"""The program scree compiles nothing of the laboratories (bench, replay, verify): who wants pictures waits for no more
than pictures need. Asks ninja what it would run; skipped (exit code 77) where the build is not one of ninja."""
import argparse
import re
import subprocess
import sys
from pathlib import Path

LABORATORIES = ("bench", "replay", "verify")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", help="accepted for uniformity, not used")
    parser.add_argument("--bin", type=Path, required=True, help="folder of the programs, in the folder of the build")
    build = parser.parse_args().bin.resolve().parent
    if not (build / "build.ninja").is_file():
        print(f"skipped: {build} is no build of ninja")
        sys.exit(77)
    commands = subprocess.run(["ninja", "-C", build, "-t", "commands", "scree"], capture_output=True, text=True, check=True).stdout
    objects = re.findall(r" -o (\S+\.o) ", commands)
    wrong = [name for name in objects if re.match(rf"src/({'|'.join(LABORATORIES)})/", name)]
    for name in wrong:
        print(f"the target scree compiles {name}")
    print(f"{len(objects)} objects of scree, {len(wrong)} of laboratories")
    sys.exit(1 if wrong or not objects else 0)


main()
