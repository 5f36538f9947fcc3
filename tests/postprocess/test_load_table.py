"""The table of evenness of load, from the summary of a run."""
import json
import subprocess
import sys

from scree_program import check, source_folder


def table(*arguments):
    return subprocess.run([sys.executable, source_folder() / "docs/figures/load_table.py", *arguments], text=True,
                          capture_output=True, timeout=60)


def test_a_line_for_each_run(folder):
    for name, most in (("a", 1.256), ("b", 8)):
        (folder / name).mkdir()
        load = {key: {"mean": 1.114, "worst": most} for key in ("bodies_and_pairs", "pairs_by_colour", "computing")}
        (folder / name / "summary.json").write_text(
            json.dumps({"load": {"weights": "counts", **load}, "rebalances": 69, "bodies_migrated": 375706}))
    done = table(folder / "a", folder / "b" / "summary.json")
    lines = done.stdout.splitlines()
    check(done.returncode == 0 and len(lines) == 4, "head, rule and two runs", done)
    check(lines[2] == "| a (counts) | 1.11 / 1.26 | 1.11 / 1.26 | 1.11 / 1.26 | 69 | 375706 |", "numbers of the first", lines)
    check(lines[3].startswith("| b (counts) | 1.11 / 8.00 |"), "and of the second", lines)


def test_what_is_no_run_is_said(folder):
    (folder / "empty.json").write_text("{}")
    for name in ("empty.json", "missing"):
        done = table(folder / name)
        check(done.returncode == 1 and "no summary of a run" in done.stderr, "a word of why", done)
