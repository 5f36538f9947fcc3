#!/usr/bin/python3
"""Runs the command blocks of tutorials and how-tos, so that every command that a page shows has run.

    scripts/run_tutorials.py                                every page of docs/tutorials and docs/how-to
    scripts/run_tutorials.py docs/tutorials/drum.md [...]   these pages
    scripts/run_tutorials.py --list                         the pages there are

The blocks of a page run in order, in an empty folder of the page's own. It holds links to inputs/, postprocess/ and
scripts/, so commands look as in a clone of the repository. The words behind the language of a block say what happens:

    ```sh                     runs by bash; a command that fails ends the block and the page
    ```sh exit=2              must end with this exit code
    ```sh norun               is only shown
    ```python                 runs by Python
    ```toml (any language)    with a first line "# NAME.EXTENSION": is written to this file, does not run;
                              with "# added to NAME.EXTENSION": is appended to it
    ```toml                   without a file name: must be TOML
    ```text output            each line must be in the output of the block before, in this order; "..." is anything

Exit code 0: all pages passed; 1: a block failed, and the message names its file and line.
"""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("docs/tutorials", "docs/how-to")
LINKED = ("inputs", "postprocess", "scripts")
FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<words>[^`]*)$")
FILE_NAME = re.compile(r"^# (?P<added>added to )?(?P<name>[\w-]+\.\w+)$")
RUNS = {"sh": ["bash", "-euo", "pipefail", "-c"], "python": [sys.executable, "-c"]}
SHOWN = 40              # lines of output that a failure shows, the last ones


class Failure(Exception):
    """A block that did not do what its page says."""


@dataclass
class Block:
    """A fenced block: its page, the line of its fence, the words behind the ticks, its text."""
    page: Path
    line: int
    words: list
    text: str

    @property
    def language(self):
        return self.words[0] if self.words else ""

    @property
    def exit_code(self):
        """The exit code that the block must end with."""
        codes = [word.removeprefix("exit=") for word in self.words if word.startswith("exit=")]
        return int(codes[0]) if codes else 0

    def failed(self, message):
        return Failure(f"{self.page}:{self.line}: {message}")


def blocks_of(page):
    """The fenced blocks of a page, in order. Raises Failure at a fence that is not closed or has unknown words."""
    found = []
    lines = page.read_text().splitlines()
    number = 0
    while number < len(lines):
        fence = FENCE.match(lines[number])
        number += 1
        if fence is None:
            continue
        start, text = number, []
        while number < len(lines) and lines[number].strip() != fence["ticks"]:
            text.append(lines[number].removeprefix(fence["indent"]))
            number += 1
        block = Block(page, start, fence["words"].split(), "\n".join(text))
        if number == len(lines):
            raise block.failed("the block is not closed")
        for word in block.words[1:] if block.language.isalpha() else []:
            if word != "norun" and word != "output" and not re.fullmatch(r"exit=\d+", word):
                raise block.failed(f'unknown word "{word}" (valid: norun, output, exit=N)')
        found.append(block)
        number += 1
    return found


def pages_of(names):
    """The pages with these names, or all there are."""
    if names:
        return [Path(name).resolve() for name in names]
    return sorted(page for folder in FOLDERS for page in (ROOT / folder).glob("*.md") if page.name != "index.md")


def environment(programs):
    """Variables of a block: the built programs in PATH, the Python package, MPI settings of scripts/environment.sh."""
    variables = dict(os.environ)
    for line in (ROOT / "scripts/environment.sh").read_text().splitlines():
        if line.startswith("export "):
            name, _, value = line.removeprefix("export ").partition("=")
            variables[name] = value
    # python3 of a block is the one that runs this script: another one may not see Debian's modules.
    variables.update(PATH=f"{programs}:{Path(sys.executable).parent}:{variables['PATH']}",
                     PYTHONPATH=str(ROOT / "postprocess"), PYTHONDONTWRITEBYTECODE="1", MPLBACKEND="Agg",
                     SCREE=str(programs / "scree"))
    return variables


def run(block, folder, variables, limit):
    """Runs a block and returns its output; its whole process group ends with it. Raises Failure."""
    process = subprocess.Popen([*RUNS[block.language], block.text], cwd=folder, env=variables, text=True,
                               errors="backslashreplace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        raise block.failed(f"still running after {limit} s\n{tail(output)}") from None
    if process.returncode != block.exit_code:
        raise block.failed(f"exit code {process.returncode}, not {block.exit_code}\n{block.text}\n{tail(output)}")
    return output


def tail(output):
    return "\n".join(["--- output", *output.splitlines()[-SHOWN:]])


def check_output(block, output):
    """Every line of the block is part of a line of the output, in this order."""
    rest = iter(output.splitlines())
    for line in filter(None, map(str.strip, block.text.splitlines())):
        pattern = re.compile(".*".join(map(re.escape, line.split("..."))))
        if not any(pattern.search(said) for said in rest):
            raise block.failed(f"not in the output of the block before, or not in this order:\n{line}\n{tail(output)}")


def written_to(block, folder):
    """Writes a block whose first line names a file; returns whether it does."""
    first, _, text = block.text.partition("\n")
    name = FILE_NAME.match(first)
    if name is None:
        return False
    path = folder / name["name"]
    if name["added"]:
        if not path.exists():
            raise block.failed(f"no block before has written {path.name}")
        path.write_text(f"{path.read_text()}\n{text}\n")
    else:
        path.write_text(f"{text if path.suffix == '.csv' else block.text}\n")    # tables have no comments
    return True


def run_page(page, folder, variables, limit):
    """Runs a page in `folder`, which is emptied first; returns how many blocks ran and how many are only shown."""
    blocks = blocks_of(page)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in LINKED:
        (folder / name).symlink_to(ROOT / name)
    ran = shown = 0
    output = None
    for block in blocks:
        if "norun" in block.words:
            shown += 1
        elif "output" in block.words:
            if output is None:
                raise block.failed("no block before has run")
            check_output(block, output)
        elif written_to(block, folder):
            pass
        elif block.language in RUNS:
            output = run(block, folder, variables, limit)
            ran += 1
        elif block.language == "toml":
            try:
                tomllib.loads(block.text)
            except tomllib.TOMLDecodeError as error:
                raise block.failed(f"not TOML: {error}") from None
    return ran, shown


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", help="Markdown files; all pages if none is given")
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin", help="folder of the built programs")
    parser.add_argument("--scratch", type=Path, default=Path("scratch/docs"), help="where pages run")
    parser.add_argument("--limit", type=float, default=60, help="time limit of a block in seconds")
    parser.add_argument("--list", action="store_true", help="name the pages and end")
    arguments = parser.parse_args()
    pages = pages_of(arguments.pages)
    if arguments.list:
        print("\n".join(str(page.relative_to(ROOT)) for page in pages))
        return
    if not (arguments.bin / "scree").exists():
        sys.exit(f"run_tutorials.py: no program scree in {arguments.bin}; build it, or name its folder with --bin")
    variables = environment(arguments.bin.resolve())
    failed = 0
    for page in pages:
        start = time.monotonic()
        folder = arguments.scratch.resolve() / page.parent.name / page.stem
        try:
            ran, shown = run_page(page, folder, variables, arguments.limit)
            seconds = time.monotonic() - start
            print(f"passed  {page.stem}: {ran} blocks ran, {shown} only shown, {seconds:.1f} s", flush=True)
            shutil.rmtree(folder)
        except Failure as failure:
            print(f"FAILED  {page.stem}\n{failure}\nits folder stays: {folder}", flush=True)
            failed += 1
    sys.exit(1 if failed else 0)


main()
