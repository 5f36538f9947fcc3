"""The documents say what the program does: docs/decks.md is printed by it, and links lead somewhere."""
import re

from scree_program import check, run_ok, source_folder


def test_deck_reference_is_current(folder):
    printed = run_ok("info", "--reference").stdout.strip()
    kept = (source_folder() / "docs/decks.md").read_text().strip()
    check(printed == kept, "docs/decks.md is what `scree info --reference` prints (renew it with that command)")
    printed = run_ok("info", "--reference", "--laboratory").stdout.strip()
    kept = (source_folder() / "docs/decks-laboratory.md").read_text().strip()
    check(printed == kept, "docs/decks-laboratory.md is what `scree info --reference --laboratory` prints")


def test_links_lead_to_files(folder):
    documents = [source_folder() / "README.md", source_folder() / "CONTRIBUTING.md",
                 *(source_folder() / "docs").rglob("*.md")]
    check(len(documents) > 5, "there are documents to check")
    for document in documents:
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
            check((document.parent / target).exists(), f"{document.name} links to {target}, which exists")


def n_lines(*names):
    return sum(len((source_folder() / name).read_text().splitlines()) for name in names)


def test_pages_of_results_say_what_holds_now(folder):
    """What was measured and tried before goes to docs/history."""
    n = n_lines("docs/verification.md", "docs/performance.md", "docs/performance-friction.md")
    check(n < 1000, "three pages of less than 1000 lines", n)


def test_the_readme_fits_on_a_screen(folder):
    check(n_lines("README.md") <= 40, "the README has at most 40 lines", n_lines("README.md"))
    for command in ("scripts/quickstart.sh", "scripts/test.sh"):
        check(f"```sh\n{command}\n```" in (source_folder() / "README.md").read_text(), f"it has the command {command}")
