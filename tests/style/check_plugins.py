#!/usr/bin/python3
"""Plug-in folders (those with a .def list of SCREE_ENTRY lines): each source defines a plug-in named like its file, and the folder's
.def list names every plug-in once. What is in a folder but not in its list would be compiled and never offered.
A folder without further sources has one folder per plug-in, and in it a source of the same name."""
import re

from repository import report, source_folder

PLUGIN = re.compile(r"\bSCREE_(?:PLUGIN(?:_ONLY)?\(\s*\w+\s*,\s*(?:\d\s*,\s*)?|BENCH_CASE\(\s*)(\w+)\s*,")
ENTRY = re.compile(r"^\s*SCREE_ENTRY\(\s*(\w+)\s*\)", re.MULTILINE)


def check_folder(folder, where):
    lists = sorted(folder.glob("*.def"))
    if len(lists) != 1:
        return [f"{where}: one .def list is expected, found {len(lists)}"]
    listed = ENTRY.findall(lists[0].read_text())
    problems = [f"{where}/{lists[0].name}: {name} is listed twice" for name in sorted(set(listed))
                if listed.count(name) > 1]
    defined = set()
    sources = sorted(path for path in folder.glob("*.cpp") if path.name != "registry.cpp")
    for source in sources or sorted(path for path in folder.glob("*/*.cpp") if path.stem == path.parent.name):
        names = PLUGIN.findall(source.read_text())
        if source.stem not in names:
            problems.append(f"{where}/{source.name}: no SCREE_PLUGIN or SCREE_BENCH_CASE defines {source.stem}")
        defined.update(names)
    problems += [f"{where}/{lists[0].name}: add SCREE_ENTRY({name}), it is defined in this folder"
                 for name in sorted(defined - set(listed))]
    problems += [f"{where}/{lists[0].name}: {name} is listed, but no source of this folder defines it"
                 for name in sorted(set(listed) - defined)]
    return problems


def main():
    root = source_folder()
    folders = sorted(path.parent for path in (root / "src").rglob("*.def") if ENTRY.search(path.read_text()))
    problems = []
    for folder in folders:
        problems += check_folder(folder, folder.relative_to(root))
    report(problems, len(folders), "plug-in folders")


main()
