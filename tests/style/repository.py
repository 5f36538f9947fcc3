"""Files of the repository and the report of a style check, shared by the check_*.py beside it."""
import argparse
import sys
from pathlib import Path

# Not written by hand, or not ours.
_SKIPPED_FOLDERS = {".git", "results", "__pycache__", ".cache", ".vscode", ".idea"}


def source_folder() -> Path:
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=Path, default=Path(__file__).resolve().parents[2],
                        help="root of the repository")
    parser.add_argument("--bin", help="accepted for uniformity, not used")
    return parser.parse_args().source.resolve()


def files(root, suffixes=None):
    """All files below `root`, sorted, as paths relative to it; only those with one of `suffixes` if given."""
    found = []
    folders = [root]
    while folders:
        for entry in folders.pop().iterdir():
            if entry.is_dir() and not entry.is_symlink():
                is_package = (entry / "__init__.py").is_file()      # scree.results is no folder of results
                if is_package or (entry.name not in _SKIPPED_FOLDERS and not entry.name.startswith("build")):
                    folders.append(entry)
            elif suffixes is None or entry.suffix in suffixes:
                found.append(entry.relative_to(root))
    return sorted(found)


def text_of(path):
    """The text of a file, or None if it is not UTF-8 text."""
    data = path.read_bytes()
    try:
        return None if b"\0" in data else data.decode()
    except UnicodeDecodeError:
        return None


def report(problems, n_checked, what):
    """Prints the problems and ends the check: exit code 1 if there are any, or if nothing was checked."""
    for problem in problems:
        print(problem)
    print(f"{n_checked} {what} checked, {len(problems)} problems")
    sys.exit(1 if problems or n_checked == 0 else 0)
