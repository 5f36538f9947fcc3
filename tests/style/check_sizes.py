#!/usr/bin/python3
"""Sizes of C++: no function above 60 lines, no class above 25 members of data, no file above 450 lines, and no more of the
words that docs/conventions.md has better ones for.

Kernels (`*_set.cpp`, which are compiled once per instruction set) and tables of keys (functions `describe...`) may have
120 lines. Exceptions are in sizes.txt, with the size that each may have; one that is no longer needed has to go.
--list prints those of today, --update takes from sizes.txt what has become smaller, --summary counts what is above the limits."""
import argparse
import re
from collections import Counter
from pathlib import Path

from cpp_text import code_of, parts_of
from repository import files, report

LIMITS = {"function": 60, "class": 25, "file": 450}
LONG_FUNCTION = 120     # of kernels and tables
# Words of our own, as parts of names, and the field's. A capital: of types only.
WORDS = {"anew": "again", "anybody": "any", "book": "update", "drive": "driven", "held": "local, fixed", "hold": "keep, fix",
         "keeper": "guard", "leftover": "remaining", "leftovers": "remaining", "let": "release, allow", "misfit": "residual", "most": "max",
         "note": "record", "notes": "remarks", "party": "group", "rebounds": "restitution", "recall": "restore", "reconsider": "reset",
         "scene": "environment", "see": "detect", "sees": "detects", "soften": "add_compliance", "stale": "outdated",
         "tell": "log, export", "tells": "logs, exports", "told": "logged, sent", "touching": "contact",
         "way": "displacement, direction, route", "ways": "displacements, directions, routes",
         "Carried": "FieldSet", "Carry": "AffineDisplacement", "DeformingCell": "DomainDeformation", "Fill": "InitialPacking",
         "Found": "what it is the result of", "Journeys": "JourneyPlan", "ListedProblem": "SerialProblem", "Meeting": "SeparationState",
         "Seen": "Detected"}
EXCEPTIONS = Path(__file__).with_name("sizes.txt")


def words_of(name):
    """Of which a name consists: CrowdScene is "CrowdScene", "crowd" and "scene"."""
    parts = name.split("_")
    return parts + [word.lower() for part in parts if not part.islower() for word in re.findall(r"[A-Z][a-z]+", part)]


def sizes_of(root):
    """{(kind, place): size} of everything in src/ and drivers/; the place of a word is the word."""
    sizes = Counter()
    for path in files(root, {".cpp", ".hpp"}):
        if path.parts[0] not in ("src", "drivers"):
            continue
        text = (root / path).read_text()
        functions, classes = parts_of(text)
        sizes["file", str(path)] = text.count("\n")
        for function in functions:
            place = ("function", f"{path}:{function.name}")
            sizes[place] = max(sizes[place], function.lines)
        for one in classes:
            place = ("class", f"{path}:{one.name}")
            sizes[place] = max(sizes[place], one.members)
        parts = Counter(part for name in re.findall(r"\b[A-Za-z_]\w*", code_of(text)) for part in words_of(name))
        for word in WORDS:
            sizes["word", word] += parts[word]
    return sizes


def limit_of(kind, place):
    if kind == "word":
        return 0
    name = place.rpartition(":")[2].rpartition("::")[2]
    is_long = kind == "function" and ("_set.cpp:" in place or name.startswith("describe"))
    return LONG_FUNCTION if is_long else LIMITS[kind]


def exceptions():
    """{(kind, place): size} of sizes.txt."""
    lines = [line.split() for line in EXCEPTIONS.read_text().splitlines() if line and not line.startswith("#")]
    return {(kind, place): int(size) for kind, size, place in lines}


def problems_of(above, allowed):
    problems = []
    for (kind, place), size in above.items():
        if size <= allowed.get((kind, place), limit_of(kind, place)):
            continue
        what = {"function": "lines", "file": "lines", "class": "members of data"}.get(kind, f"times in names: {WORDS.get(place)}")
        problems.append(f"{place}: {size} {what}, at most {allowed.get((kind, place), limit_of(kind, place))}")
    for kind, place in allowed.keys() - above.keys():
        problems.append(f"tests/style/sizes.txt: {kind} {place} needs no exception: remove the line")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, default=Path(__file__).resolve().parents[2], help="root of the repository")
    parser.add_argument("--bin", help="accepted for uniformity, not used")
    parser.add_argument("--list", action="store_true", help="print the lines of sizes.txt as of today")
    parser.add_argument("--update", action="store_true", help="make exceptions of sizes.txt smaller, or remove them")
    parser.add_argument("--summary", action="store_true", help="print how many are above the limits, as met or missed")
    options = parser.parse_args()
    sizes = sizes_of(options.source.resolve())
    above = {key: size for key, size in sizes.items() if size > limit_of(*key)}
    if options.list:
        for (kind, place), size in sorted(above.items()):
            print(f"{kind} {size} {place}")
        return
    if options.update:
        head = [line for line in EXCEPTIONS.read_text().splitlines() if line.startswith("#")]
        kept = [f"{kind} {min(size, above[kind, place])} {place}" for (kind, place), size in exceptions().items() if (kind, place) in above]
        EXCEPTIONS.write_text("\n".join(head + kept) + "\n")
        return
    if options.summary:
        for kind, limit in LIMITS.items():
            of_kind = sorted(((size, place) for (its_kind, place), size in above.items() if its_kind == kind), reverse=True)
            print(f"{'missed' if of_kind else 'met':7} {kind}: {len(of_kind)} above {limit}; largest: "
                  + ", ".join(f"{place} {size}" for size, place in of_kind[:3]))
        words = [f"{place} {size}" for (kind, place), size in sorted(above.items()) if kind == "word"]
        print(f"{'missed' if words else 'met':7} words of our own in names: {', '.join(words)}")
        return
    report(problems_of(above, exceptions()), len(sizes), "sizes")


main()
