#!/usr/bin/python3
"""Text habits: no path of one machine, no tab, no blank at a line's end, a newline at the file's end, no note to
oneself, and a source for every reference file."""
import re

from repository import files, report, source_folder, text_of

MACHINE_PATH = re.compile(r"(?<![\w.$}*-])/(?:home|root|work|tmp|Users|scratch|mnt)/[\w.-]")
NOTE_TO_SELF = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b")
SOURCE = re.compile(r"\bsources?\b", re.IGNORECASE)
TABS_ARE_SYNTAX = {"Makefile", ".gitmodules"}


def problems_of_text(path, text):
    problems = []
    if text and not text.endswith("\n"):
        problems.append(f"{path}: does not end in a newline")
    for number, line in enumerate(text.split("\n"), start=1):
        where = f"{path}:{number}"
        if "\r" in line:
            problems.append(f"{where}: carriage return")
        elif line != line.rstrip():
            problems.append(f"{where}: blank at the end of the line")
        if "\t" in line and path.name not in TABS_ARE_SYNTAX:
            problems.append(f"{where}: tab")
        if MACHINE_PATH.search(line):
            problems.append(f"{where}: path of one machine")
        if NOTE_TO_SELF.search(line):
            problems.append(f"{where}: unfinished work noted; finish it or open an issue")
    return problems


def names_its_source(root, path, text):
    """A reference file says where it is from at its head, or the nearest README beside or above it does, naming the file
    or a folder that holds it."""
    if text is not None and SOURCE.search("\n".join(text.split("\n")[:15])):
        return True
    for folder in path.parents[:-2]:    # the last two are "tests" and "."
        readme = root / folder / "README.md"
        if readme.is_file():
            words = readme.read_text()
            return path.relative_to(folder).parts[0] in words and SOURCE.search(words) is not None
    return False


def main():
    root = source_folder()
    problems = []
    all_files = files(root)
    for path in all_files:
        text = text_of(root / path)
        if text is not None:
            problems += problems_of_text(path, text)
        if path.parts[:2] == ("tests", "reference") and not names_its_source(root, path, text):
            problems.append(f"{path}: names no source, neither at its head nor in the README.md beside it")
    report(problems, len(all_files), "files")


main()
