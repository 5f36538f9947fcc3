"""Prints a page about a program: scree/pages man|completion|reference|laboratory|schema PROGRAM"""
import json
import subprocess
import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])    # not the package scree, which needs numpy

from pages.command_line import bash_completion, man_page    # noqa: E402
from pages.reference import deck_reference    # noqa: E402
from pages.schema import deck_schema    # noqa: E402

page, program = sys.argv[1:]
question = ["--describe"] if page in ("man", "completion") else ["info", "--keys"]
asked = subprocess.run([program, *question], capture_output=True, text=True)
if asked.returncode != 0:
    sys.exit(asked.stderr.strip())
answer = json.loads(asked.stdout)
if page == "man":
    text = man_page(answer)
elif page == "completion":
    text = bash_completion(answer)
elif page == "schema":
    text = json.dumps(deck_schema(answer["keys"]), indent=2, ensure_ascii=False) + "\n"
else:
    text = deck_reference(answer, page == "laboratory")
print(text, end="")
