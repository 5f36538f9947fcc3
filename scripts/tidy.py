"""clang-tidy over sources in one unit per folder, several at a time: reading headers takes most of its time. Files that a unit does not
compile with, as names of two are the same, go alone. Exit code 1 if anything was found.

    scripts/tidy.sh [FILE...]    configures the build and calls this; FILEs go alone

A unit does not warn of names that shadow those of another file. Two checks see only the main file, and so nothing in units: unused
using-declarations and unused aliases of namespaces.
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LARGEST = 12    # files of a unit
ONLY_OF_UNITS = ["--checks=-bugprone-suspicious-include", "--extra-arg=-Wno-shadow"]


def read_commands(build):
    """{source below the working directory: words of its compile command, without input and output}."""
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        for option in ("-o", "-c"):
            at = words.index(option)
            del words[at:at + 2]
        commands[os.path.relpath(entry["file"])] = words
    return commands


def flags_of_all(commands):
    """The first command, with folders of headers and definitions of all of them."""
    words = list(commands[0])
    for command in commands[1:]:
        for at, word in enumerate(command):
            if word == "-isystem":
                words += command[at:at + 2]
            elif word.startswith(("-I", "-D")) and word not in words:
                words.append(word)
    return words


def check(sources, commands, build):
    """Whether clang-tidy finds nothing in these sources, as one unit if there are several; prints what it finds."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        unit = Path(folder) / "unit.cpp"
        unit.write_text("".join(f'#include "{Path(source).resolve()}"\n' for source in sources))
        file = str(unit if len(sources) > 1 else Path(sources[0]).resolve())
        command = [*flags_of_all([commands[source] for source in sources]), "-c", file]
        (Path(folder) / "compile_commands.json").write_text(json.dumps([{"directory": str(build.resolve()), "file": file, "arguments": command}]))
        # Clang does not know every warning option of GCC.
        done = subprocess.run(["clang-tidy", "-p", folder, "--quiet", f"--config-file={Path('.clang-tidy').resolve()}",
                               *(ONLY_OF_UNITS if len(sources) > 1 else []), "--extra-arg=-Wno-unknown-warning-option", file],
                              capture_output=True, text=True)
    if len(sources) > 1 and "[clang-diagnostic-error]" in done.stdout:
        blamed = [source for source in sources if re.search(rf"^\S*/{re.escape(source)}:.*\[clang-diagnostic-error\]", done.stdout, re.M)]
        parts = [[source] for source in blamed] + [[source for source in sources if source not in blamed]]
        if len(blamed) in (0, len(sources)):
            parts = [sources[:len(sources) // 2], sources[len(sources) // 2:]]
        return all([check(part, commands, build) for part in parts])
    found = done.returncode != 0
    print(f"{'found' if found else 'clean'} {time.monotonic() - start:6.1f} s  {' '.join(sources)}\n{done.stdout}", end="", flush=True)
    if found and not done.stdout:
        print(done.stderr)
    return not found


def units(sources, commands):
    """Sources of each folder of src/ and drivers/, in parts of at most LARGEST; those of an instruction set alone."""
    folders = {}
    for source in sources:
        alone = any(word.startswith("-m") for word in commands[source])
        folders.setdefault(source if alone else "/".join(source.split("/")[:2]), []).append(source)
    for of_folder in folders.values():
        n = -(-len(of_folder) // LARGEST)
        yield from (of_folder[k * len(of_folder) // n:(k + 1) * len(of_folder) // n] for k in range(n))


def main(build, *files):
    commands = read_commands(Path(build))
    sources = sorted(source for source in commands if source.startswith(("src/", "drivers/")))
    of_build = [[os.path.relpath(file)] for file in files] or units(sources, commands)
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        clean = list(pool.map(lambda unit: check(unit, commands, Path(build)), of_build))
    print(f"{len(clean)} units, {clean.count(False)} with findings")
    return 0 if all(clean) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
