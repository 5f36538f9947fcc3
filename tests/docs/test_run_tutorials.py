"""The runner of tutorials fails where a page does not do what it says (scripts/run_tutorials.py)."""
import subprocess
import sys

from scree_program import check, check_in, program, source_folder


def run_page(folder, text, *options):
    """Exit code and output of the runner for a page with this text."""
    page = folder / "page.md"
    page.write_text(text)
    result = subprocess.run([sys.executable, source_folder() / "scripts/run_tutorials.py", page,
                             "--bin", program().parent, "--scratch", folder / "scratch", *options],
                            text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return result.returncode, result.stdout


def check_passes(folder, text):
    code, said = run_page(folder, text)
    check(code == 0, "the page passes", said)
    return said


def check_fails(folder, text, message, *options):
    code, said = run_page(folder, text, *options)
    check(code == 1, "the page fails", said)
    check_in(message, said, "the message says where and why")


def test_a_failing_command_fails_its_page_at_its_line(folder):
    check_passes(folder, "# Page\n\n```sh\ntrue\n```\n")
    check_fails(folder, "# Page\n\n```sh\ntrue\n```\n\n```sh\nfalse\ntrue\n```\n", "page.md:7: exit code 1, not 0")
    check_fails(folder, "```sh\nfalse | true\n```\n", "page.md:1: exit code 1")
    check_fails(folder, "```python\nraise SystemExit(3)\n```\n", "page.md:1: exit code 3, not 0")


def test_an_exit_code_that_is_asked_for_must_come(folder):
    check_passes(folder, "```sh exit=2\nscree check nothing.toml\n```\n")
    check_fails(folder, "```sh exit=2\ntrue\n```\n", "exit code 0, not 2")


def test_blocks_that_are_only_shown_do_not_run(folder):
    said = check_passes(folder, "```sh norun\nfalse\n```\n\n```text\nfalse\n```\n")
    check_in("0 blocks ran, 1 only shown", said, "counts")


def test_output_must_have_each_line_in_order(folder):
    command = "```sh\necho one; echo two 2.5 s\n```\n\n"
    check_passes(folder, command + "```text output\none\ntwo ... s\n```\n")
    check_fails(folder, command + "```text output\nthree\n```\n", "page.md:5: not in the output")
    check_fails(folder, command + "```text output\ntwo\none\n```\n", "page.md:5: not in the output")
    check_fails(folder, "```text output\none\n```\n", "no block before has run")


def test_blocks_with_a_file_name_are_written_and_appended_to(folder):
    check_passes(folder, "```toml\n# deck.toml\n[a]\n```\n\n```toml\n# added to deck.toml\nx = 1\n```\n\n"
                 "```csv\n# table.csv\nx,y\n```\n\n"
                 "```sh\ndiff deck.toml <(printf '# deck.toml\\n[a]\\n\\nx = 1\\n'); diff table.csv <(echo x,y)\n```\n")
    check_fails(folder, "```toml\n# added to deck.toml\nx = 1\n```\n", "no block before has written deck.toml")


def test_a_block_that_is_not_toml_fails(folder):
    check_passes(folder, "```toml\n[a]\n```\n")
    check_fails(folder, "```toml\n[a\n```\n", "page.md:1: not TOML")


def test_a_block_beyond_its_time_fails_and_ends(folder):
    check_fails(folder, "```sh\necho begun; sleep 100 & wait\n```\n",
                "page.md:1: still running after 1.0 s\n--- output\nbegun", "--limit", "1")


def test_mistakes_of_a_page_are_named(folder):
    check_fails(folder, "```sh no-run\ntrue\n```\n", 'page.md:1: unknown word "no-run"')
    check_fails(folder, "text\n```sh\ntrue\n", "page.md:2: the block is not closed")


def test_pages_see_decks_and_programs(folder):
    check_passes(folder, "```sh\nscree check inputs/granular/drum2d.toml\n```\n\n"
                 "```python\nimport scree\nscree.Deck('inputs/granular/drum2d.toml')\n```\n")
