#!/usr/bin/python3
"""Prints how long the last build took: all of it, what the program scree needs, and its slowest units.

Times are those of ninja's log, of the last time that each part was made: they say something about the code only if nothing else ran on
the machine and no compiler cache was used (CCACHE_DISABLE=1)."""
import argparse
import re
import subprocess
from pathlib import Path

LIMIT = 25    # seconds for one unit


def seconds_of(build):
    """{output: seconds} of all that ninja made in this folder."""
    seconds = {}
    for line in (build / ".ninja_log").read_text().splitlines()[1:]:
        start, end, _, output, _ = line.split("\t")
        seconds[output] = (int(end) - int(start)) / 1000
    return seconds


def objects_of(build, target):
    commands = subprocess.run(["ninja", "-C", build, "-t", "commands", target], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r" -o (\S+\.(?:o|gch)) ", commands))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path, nargs="?", default=Path("build/release"), help="folder of the build (default build/release)")
    build = parser.parse_args().build
    seconds = seconds_of(build)
    for target in ("all", "scree"):
        made = {name: seconds[name] for name in objects_of(build, target) if name in seconds}
        slow = sorted(((time, name) for name, time in made.items()), reverse=True)
        long = sum(time > LIMIT for time, _ in slow)
        print(f"{'missed' if long else 'met':7} {target}: {sum(made.values()):.0f} s of compiling in {len(made)} units; above {LIMIT} s: {long}; "
              "slowest: " + ", ".join(f"{name.replace('CMakeFiles/', '')} {time:.0f}" for time, name in slow[:3]))


main()
