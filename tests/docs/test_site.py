"""The docs site: nothing of the deck reference is lost or invented, and its check finds what is wrong (docs/site/)."""
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from scree_program import check, check_in, program, source_folder

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs/site"))
from gather import Site     # noqa: E402  its folder comes first


EXAMPLE = re.compile(r"^Example, from \[([^\]]*)\][^\n]*\n\n```toml\n(.*?)\n```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def gathered(shared_folder):
    """The folder of gathered pages."""
    subprocess.run([sys.executable, source_folder() / "docs/site/gather.py", shared_folder / "source",
                    "--bin", program().parent], check=True)
    return shared_folder / "source"


def rows_of(text):
    """Rows of tables that describe a key."""
    return [line for line in text.splitlines() if line.startswith("| `") and line.count(" | ") >= 4]


def test_pages_have_every_key_of_the_reference(gathered):
    kept = rows_of((source_folder() / "docs/decks.md").read_text())
    shown = [row for page in sorted((gathered / "reference/decks").glob("*.md")) for row in rows_of(page.read_text())]
    check(len(kept) > 500, "the reference has keys", len(kept))
    check(sorted(kept) == sorted(shown), "pages by table have the rows of docs/decks.md", set(kept) ^ set(shown))


def test_examples_are_lines_of_decks(gathered):
    n_examples = 0
    for page in (gathered / "reference/decks").glob("*.md"):
        for name, text in EXAMPLE.findall(page.read_text()):
            deck = (source_folder() / "inputs" / name).read_text()
            for block in text.split("\n\n"):
                check_in(block, deck, f"{page.name}: an example of {name}")
            check(page.stem in tomllib.loads(text), f"{page.name}: the example has a table {page.stem}", text)
            n_examples += 1
    check(n_examples > 40, "there are examples", n_examples)


def test_every_drawing_is_of_a_kind_that_the_program_has(gathered):
    folder = gathered / "reference/decks"
    drawings = {path.name for path in (folder / "drawings").glob("*.svg")}
    check(len(drawings) > 25, "there are drawings", drawings)
    shown = {name for page in folder.glob("*.md") for name in re.findall(r"\]\(drawings/(.*?)\)", page.read_text())}
    check(drawings == shown, "each is shown beside its keys", drawings ^ shown)


def test_links_that_lead_nowhere_are_named(folder):
    site = Site(folder)
    site.deck_anchors = {"pbd": "reference/decks/pbd.md#pbd"}
    text = "[a](gone.md) [b](decks.md#gone) [c](decks.md#pbd) [d](../README.md)\n```sh\n[e](gone.md)\n```\n"
    site.rewrite(Path("docs/method.md"), "method.md", text)
    check(site.problems == ["docs/method.md links to gone.md, which is not there",
                            "docs/method.md links to decks.md#gone, which is not there"], "two of them", site.problems)


def test_pages_of_commands_have_every_verb(gathered):
    text = (gathered / "reference/commands.md").read_text()
    for verb in ("run", "sweep", "restart", "check", "info", "compare", "list", "bench"):
        check_in(f"### scree {verb}\n", text, "commands of scree")


def test_the_page_of_cases_has_every_test_contract_and_deck(gathered):
    text = (gathered / "reference/cases.md").read_text()
    n_tests = 0
    for path in [*(source_folder() / "tests/verification").glob("test_*.py"), *(source_folder() / "tests/vv").glob("test_*.py")]:
        for name in re.findall(r"^def test_(\w+)", path.read_text(), re.MULTILINE):
            check_in(f"- {name.replace('_', ' ')}", text, path.name)
            n_tests += 1
    check(n_tests > 200, "there are tests", n_tests)
    contracts = list((source_folder() / "tests/contract").glob("*.cpp"))
    n_listed = len(re.findall("^- ", text.split("\n## Contracts")[1].split("\n## Decks")[0], re.MULTILINE))
    check(n_listed == sum(path.read_text().count("TEST_CASE") for path in contracts) > 50, "contracts", n_listed)
    check_in("- Dry friction: turns round inside a step\n", text, "one without a tag")
    for path in (source_folder() / "inputs/verification").glob("*.toml"):
        check_in(f"| [{path.stem}](", text, "decks")


def check_site(folder, **pages):
    """Exit code and output of the check for pages with these bodies."""
    for name, body in pages.items():
        (folder / f"{name}.html").write_text(f"<html><body>{body}</body></html>")
    result = subprocess.run([sys.executable, source_folder() / "docs/site/check_site.py", folder],
                            text=True, stdout=subprocess.PIPE)
    return result.returncode, result.stdout


def test_a_sound_site_passes(folder):
    code, said = check_site(folder, a='<h1 id="top">a</h1><a href="b.html#here">b</a><a href="#top">up</a>'
                            '<a href="https://example.org">elsewhere</a>', b='<p id="here">b</p>')
    check(code == 0, "no problems", said)


def test_the_check_finds_dead_links_anchors_and_foreign_files(folder):
    for body, message in (('<a href="gone.html">x</a>', "gone.html leads nowhere"),
                          ('<a href="#gone">x</a>', "#gone: there is no such anchor"),
                          ('<img alt="x" src="https://example.org/x.png">', "from outside of the site"),
                          ('<script src="//example.org/x.js"></script>', "from outside of the site"),
                          ('<img src="a.html">', "picture without words")):
        code, said = check_site(folder, a=body)
        check(code == 1, "the check fails", body)
        check_in(message, said, body)
    (folder / "a.css").write_text("@import url(https://example.org/x.css)")
    check_in("a.css: loads https://example.org/x.css", check_site(folder, a="")[1], "style sheets are looked at")
