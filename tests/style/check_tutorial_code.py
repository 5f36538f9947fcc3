#!/usr/bin/python3
"""C++ in tutorials is that of a file which a test compiles: a block that begins with `// FILE` is, without this line, the text of
tests/examples/FILE."""
import re

from repository import report, source_folder

BLOCK = re.compile(r"^```cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"// (\S+\.cpp)\n")


def main():
    root = source_folder()
    problems, n_blocks = [], 0
    for page in sorted((root / "docs" / "tutorials").glob("*.md")):
        for block in BLOCK.findall(page.read_text()):
            name = NAMED.match(block)
            if name is None:
                continue
            n_blocks += 1
            example = root / "tests" / "examples" / name.group(1)
            if not example.exists():
                problems.append(f"{page.relative_to(root)}: there is no {example.relative_to(root)}, so no test compiles this code")
            elif example.read_text() != block[name.end():]:
                problems.append(f"{page.relative_to(root)}: the code of {name.group(1)} is not that of {example.relative_to(root)}")
    report(problems, n_blocks, "blocks of C++ in tutorials")


main()
