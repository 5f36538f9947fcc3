"""Pages of docs/migration: each holds a complete deck that `scree check` accepts and that can begin; keys of the tables exist."""
import re

from scree_program import check, check_in, run_ok, source_folder

BLOCK = re.compile(r"^```toml\n# (\S+\.toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`]+)`")
TABLE = re.compile(r"^\[+([a-z_]+(?:\.[A-Za-z_\"-]+)*)\]+$")
KEY = re.compile(r"(?:^|[{,] *)([a-z_]+) = ")


def pages():
    found = sorted((source_folder() / "docs/migration").glob("*.md"))
    check(len(found) == 9, "there is a page for each of eight codes, and one for all", found)
    return [page for page in found if page.stem != "index"]


def tables_and_keys(reference):
    """Names of the tables in the pages of deck keys, and of all of their keys, those of tables in tables included."""
    tables = set(re.findall(r"^#+ `\[+([^\]]+)\]+`", reference, re.MULTILINE))
    keys = set(re.findall(r"^\| `([a-z_]+)` \|", reference, re.MULTILINE))
    return tables, keys | {part for table in tables for part in table.split(".")}


def test_each_page_has_a_deck_that_checks(folder):
    for page in pages():
        decks = BLOCK.findall(page.read_text())
        check(len(decks) == 1, f"{page.name} has one complete deck", decks)
        for name, text in decks:
            check(name.startswith(page.stem), f"the deck {name} of {page.name} is named after it")
            (folder / name).write_text(text)
            check_in("valid", run_ok("check", folder / name, folder=folder).stdout, f"{page.name}: its deck is valid")


def test_tables_name_keys_that_exist():
    tables, keys = tables_and_keys("".join((source_folder() / f"docs/{name}.md").read_text() for name in ("decks", "decks-laboratory")))
    check({"dem", "obstacles.NAME"} <= tables and "restitution" in keys, "the reference was read")
    wanted = 0
    for page in pages():
        for line in page.read_text().split("\n"):
            cells = line.split(" | ")
            if not line.startswith("| ") or len(cells) < 3:
                continue
            for code in CODE.findall(cells[1]):
                table = TABLE.match(code)
                if table:
                    wanted += 1
                    name = re.sub(r"^pairs\..*", "pairs.NAME", table[1])
                    check(name in tables, f"{page.name}: there is a table [{table[1]}]", line)
                for key in KEY.findall(code):
                    wanted += 1
                    check(key in keys, f"{page.name}: there is a key {key}", line)
    check(wanted > 150, "the tables name tables and keys", wanted)
