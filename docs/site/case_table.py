#!/usr/bin/python3
"""Tables of the cases that verify scree, made from the cases: tests of tests/verification and tests/vv with the claim in
their names and docstrings, contracts of tests/contract with the claim as their name, and the decks of inputs/verification with their first comment.

    docs/site/case_table.py          prints them in Markdown; the site has them as a page
"""
import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLACE = "reference/cases.md"
TESTS = {"tests/verification": "Closed forms, published numbers, other programs", "tests/vv": "Guidelines and experiments of evacuation"}
CONTRACTS = "tests/contract"
DECKS = "inputs/verification"
CONTRACT = re.compile(r'TEST_CASE(?:_\w+)?\(\s*((?:"[^"]*"\s*)+)[,)]')
CODE = re.compile(r"(`[^`]*`)")
MARKS = re.compile(r"([\\*_\[\]<>|~])")


def in_line(text):
    """Text on one line in which nothing means Markdown but code."""
    pieces = CODE.split(" ".join(text.split()))
    return "".join(piece.replace("|", "\\|") if piece.startswith("`") else MARKS.sub(r"\\\1", piece) for piece in pieces)


def first_paragraph(text):
    return text.strip().partition("\n\n")[0]


def tests_of(path):
    """What a file of tests is about, and its tests: (name, claim, what its docstring adds)."""
    module = ast.parse(path.read_text())
    found = [(node.name, node.name.removeprefix("test_").replace("_", " "), ast.get_docstring(node) or "")
             for node in module.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    return first_paragraph(ast.get_docstring(module) or ""), found


def contracts_of(path):
    """What a file of C++ tests is about, its first comment, and their names."""
    text = path.read_text()
    about = re.match(r"(?://.*\n)*", text)[0]
    return about.replace("//", " "), ["".join(re.findall(r'"([^"]*)"', name)) for name in CONTRACT.findall(text)]


def about_deck(path):
    """The comment at the head of a deck."""
    lines = []
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# "))
    return " ".join(lines)


def tables(link):
    """The page; `link` makes the link to a file of the repository."""
    lines = ["# Cases", "", "What is verified, case by case, as the tests and decks say it themselves (`docs/site/case_table.py`). "
             f"Numbers found: [verification]({link('docs/verification.md')}).", ""]
    for folder, title in TESTS.items():
        lines += [f"## {title}", "", f"`pytest-3 {folder}/FILE -k PART_OF_A_NAME` runs some of them.", ""]
        for path in sorted((ROOT / folder).glob("test_*.py")):
            about, tests = tests_of(path)
            name = path.relative_to(ROOT).as_posix()
            lines += [f"### {path.stem}", "", f"{in_line(about)} ([file]({link(name)}))", ""]
            lines += [f"- {in_line(claim)}" + f": {in_line(more)}" * bool(more) for _, claim, more in tests] + [""]
    lines += ["## Contracts and exact motions", "", "`ctest -L contract` runs them.", ""]
    for path in sorted((ROOT / CONTRACTS).glob("*.cpp")):
        about, names = contracts_of(path)
        lines += [f"### {path.stem}", "", f"{in_line(about)} ([file]({link(path.relative_to(ROOT).as_posix())}))".lstrip(), ""]
        lines += [f"- {in_line(name)}" for name in names] + [""]
    lines += ["## Decks", "", "`scree run DECK` runs one.", "", "| deck | what it is |", "|---|---|"]
    for path in sorted((ROOT / DECKS).glob("*.toml")):
        name = path.relative_to(ROOT).as_posix()
        lines.append(f"| [{path.stem}]({link(name)}) | {in_line(about_deck(path))} |")
    return "\n".join(lines) + "\n"


def write(site):
    """Writes the page of the site."""
    origin = Path("docs") / PLACE
    site.write(PLACE, site.rewrite(origin, PLACE, tables(lambda name: f"../../{name}")))


if __name__ == "__main__":
    print(tables(lambda name: name), end="")
