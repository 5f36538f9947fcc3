#!/usr/bin/env python3
"""docs/combinations.md: what of a deck goes with what, from the features of the covering array and what they refuse.

    tests/campaign/pairs_report.py > docs/combinations.md
"""
import concurrent.futures
import itertools
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "support"), str(Path(__file__).resolve().parents[2] / "postprocess")]

import deck_reference    # noqa: E402
import pairs    # noqa: E402
import scree_program    # noqa: E402
from decks import toml    # noqa: E402
from harness import message_of    # noqa: E402

HEAD = """# What goes with what

Which features of a deck can be used together. Written by `tests/campaign/pairs_report.py` from the features of the covering array
(`scripts/campaign.sh --pairs`, [verification.md](verification.md#combinations)), which tries every pair: what is not refused here runs, and has the properties
named there. The program itself prints [decks.md](decks.md), key by key; it finds refusals while it reads a deck and has no list of them,
so they have a page of their own.

`scree check` refuses what does not go together, with a message that names both.
"""


def text():
    """The page."""
    reference = deck_reference.Reference()
    parts = [HEAD]
    for name, family in pairs.FAMILIES.items():
        array, made = family.array(reference, 1)
        parts.append(f"## Decks of {name}\n\nFeatures and their values; the first one is the default of the tests, and goes with all others unless a "
                     "table below names it.\n\n| feature | in the deck | values |\n|---|---|---|\n")
        parts.append("".join(f"| {factor} | {family.KEYS[factor]} | {', '.join(values)} |\n" for factor, values in made.items() if factor in family.KEYS))
        if "scheme" in made:
            parts.append(_by_scheme(array, made))
        parts.append("\nRefused:\n\n| | does not go with | |\n|---|---|---|\n")
        for rule in family.REFUSED:
            sides = [_side(side, made) for side in rule]
            parts.append(f"| {sides[0]} | {sides[1]} | {'together with ' + ', '.join(sides[2:]) if len(sides) > 2 else ''} |\n")
        for dimension, factor in itertools.product((2, 3), made if hasattr(family, "only_in") else ()):
            names = [name for name in made[factor] if family.only_in(reference, factor, name) == 5 - dimension]
            if names:
                parts.append(f"| dimension {dimension}D | {factor} {', '.join(names)} | |\n")
    return "\n".join(part.rstrip("\n") + "\n" if part.startswith("#") else part for part in parts).replace("|\n\n|", "|\n|").replace("\n\n\n", "\n\n")


def _side(side, made):
    factor, _, names = side.partition("=")
    if names == "*":
        return f"any {factor}"
    return f"{factor} {', '.join(names.split('|'))}"


def _by_scheme(array, made):
    """A table of what does not go with some scheme, by itself or because of what it needs."""
    schemes = list(made["scheme"])
    lines = ["\nBy scheme (yes: it goes; -: it does not):\n\n| feature | value | " + " | ".join(schemes) + " |\n|---|---|" + "---|" * len(schemes) + "\n"]
    for factor, values in made.items():
        goes = {value: [array.possible([("scheme", scheme), (factor, value)]) for scheme in schemes] for value in values if factor != "scheme"}
        for which, names in itertools.groupby(goes, key=goes.get):
            if not all(which):
                lines.append(f"| {factor} | {', '.join(names)} | " + " | ".join("yes" if yes else "-" for yes in which) + " |\n")
    return "".join(lines)


def wrong_refusals(folder, every=1, jobs=2):
    """What the table lists and the program accepts, or refuses without naming all sides: a line each."""
    reference = deck_reference.Reference()
    tasks = []
    for name, family in pairs.FAMILIES.items():
        array, made = family.array(reference, 1)
        for k, names in enumerate(family.expanded(family.REFUSED, made)):
            row = array.alone(names) if k % every == 0 else None
            if row is not None:
                tasks.append((family, made, names, row, Path(folder) / f"{name}{k}"))

    def attempt(task):
        family, made, names, row, place = task
        place.mkdir()
        (place / "deck.toml").write_text(toml(family.deck_of(row, made, place, reference).tables))
        result = scree_program.without_launcher("-q", "check", "deck.toml", folder=place).finish()
        title = ", ".join(f"{factor} = {value}" for factor, value in names)
        if result.code != 2:
            return f"{title}: exit code {result.code}, not refused"
        said = message_of(result).lower()
        silent = [factor for factor, value in names if not any(word in said for word in (*family.WORDS.get(factor, (factor,)), f'"{value}"'))]
        return f"{title}: {', '.join(silent)} is not named: {said}" if silent else None

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return [line for line in pool.map(attempt, tasks) if line]


if __name__ == "__main__":
    scree_program.use(scree_program.source_folder() / "build/release/bin")
    print(text(), end="")
