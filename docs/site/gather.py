#!/usr/bin/python3
"""Gathers the pages of the site in one folder, from where Sphinx builds them.

    docs/site/gather.py build/docs/source --bin build/release/bin

Pages of docs/ are copied. Pages of what a program prints (keys of decks, commands, lists) and of files of the
repository are written here, and links lead to them: a page of docs/ may link to any file, as on GitHub.
"""
import argparse
import os
import re
import shutil
import sys
from pathlib import Path

import case_table
import command_reference
from deck_reference import DeckReference

ROOT = Path(__file__).resolve().parents[2]
# Pages outside docs/, and their places in the site.
OUTSIDE = {"CONTRIBUTING.md": "project/contributing.md", "CHANGELOG.md": "project/changelog.md"}
# Links to these pages lead elsewhere: the landing page replaces the README, and pages by table the one long reference.
REPLACED = {"README.md": "index.md", "docs/README.md": "index.md", "docs/decks.md": "reference/decks/index.md"}
NOT_PAGES = {"docs/site", "docs/decks.md"}
LINK = re.compile(r"(?P<head>\]\()(?P<target>[^)\s#]*)(?P<anchor>#[^)\s]*)?(?P<tail>\))")
FENCED = re.compile(r"^( *)(`{3,}|~{3,}).*?^\1\2`*$", re.MULTILINE | re.DOTALL)
TOCTREE = re.compile(r"^```\{toctree\}\n(?P<options>(?::.*\n)*)(?P<entries>[^`]*)^```$", re.MULTILINE)
ENTRY = re.compile(r"(?:.* <)?(?P<page>[^<>]+)>?$")         # "page" or "Title <page>"
PICTURES = {".png", ".svg", ".gif", ".jpg", ".mp4", ".webm"}
LEXERS = {".toml": "toml", ".py": "python", ".sh": "bash", ".cpp": "cpp", ".hpp": "cpp", ".c": "c", ".json": "json",
          ".csv": "text", ".txt": "text"}
ORPHAN = "---\norphan: true\n---\n\n"       # for pages that are in no menu
LONGEST_SHOWN = 400     # lines of a file that is shown; longer ones are cut


class Site:
    """The folder of gathered pages, and the places that files of the repository have in it."""

    def __init__(self, folder):
        self.folder = folder
        self.places = {}            # path in the repository -> path in the site
        self.deck_anchors = {}      # anchor in docs/decks.md -> page and anchor in the site
        self.problems = []          # links that lead nowhere
        self._to_show = []

    def write(self, place, text):
        path = self.folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def copy(self, path, place):
        """A file of the repository as it is, for pictures and downloads."""
        self.places[path.as_posix()] = place
        (self.folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, self.folder / place)

    def place_of(self, path):
        """Where the site shows a file or folder of the repository; made if it is not there yet."""
        name = path.as_posix()
        if name not in self.places:
            if not (ROOT / path).is_dir() and not is_text(ROOT / path):
                self.copy(path, f"files/{name}")
            else:
                ending = "/index.md" if (ROOT / path).is_dir() else "" if path.suffix == ".md" else ".md"
                self.places[name] = f"files/{name}{ending}"
                self._to_show.append(path)
        return self.places[name]

    def link(self, origin, target, anchor):
        """The link of a page of the repository (`origin`) as a link of the site, from root to root."""
        path = Path(os.path.normpath(origin.parent / target)) if target else origin
        if path.as_posix() == "docs/decks.md" and anchor:
            if anchor[1:] in self.deck_anchors:
                return self.deck_anchors[anchor[1:]]
        elif (ROOT / path).exists():
            return self.place_of(path) + (anchor or "")
        self.problems.append(f"{origin} links to {target}{anchor or ''}, which is not there")
        return "index.md"

    def rewrite(self, origin, place, text):
        """The text of a page with its links led to places of the site."""
        def one(match):
            if "://" in match["target"] or match["target"].startswith("mailto:"):
                return match[0]
            to, _, anchor = self.link(origin, match["target"], match["anchor"]).partition("#")
            relative = "" if to == place and anchor else os.path.relpath(to, Path(place).parent)
            return match["head"] + relative + (f"#{anchor}" if anchor else "") + match["tail"]

        pieces, end = [], 0
        for fence in FENCED.finditer(text):
            pieces += [LINK.sub(one, text[end:fence.start()]), fence[0]]
            end = fence.end()
        return "".join([*pieces, LINK.sub(one, text[end:])])

    def complete_menu(self):
        """An index.md without a toctree gets the pages beside it, first those that it links to. Entries whose pages are
        not there are left out; Sphinx warns of pages that are in no toctree."""
        for page in self.folder.rglob("*.md"):
            def existing(match):
                entries = [entry for entry in filter(None, match["entries"].splitlines())
                           if (page.parent / f"{ENTRY.match(entry)['page']}.md").exists()]
                return "```{toctree}\n" + match["options"] + "\n" + "".join(f"{entry}\n" for entry in entries) + "```"
            text = page.read_text()
            if "{toctree}" in text:
                page.write_text(TOCTREE.sub(existing, text))
            elif page.name == "index.md" and not text.startswith(ORPHAN):
                beside = sorted(other.stem for other in page.parent.glob("*.md") if other != page)
                if not beside:
                    continue
                linked = [match["target"].removesuffix(".md") for match in LINK.finditer(text)]
                names = sorted(beside, key=lambda name: linked.index(name) if name in linked else len(linked))
                page.write_text(text + "\n```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```\n")

    def show_files(self):
        """Pages for the files and folders that pages link to; they may bring more."""
        while self._to_show:
            path = self._to_show.pop()
            place = self.places[path.as_posix()]
            if (ROOT / path).is_dir():
                text = self._folder_page(path, place)
            elif path.suffix == ".md":
                text = self.rewrite(path, place, (ROOT / path).read_text())
            else:
                text = self._file_page(path)
            self.write(place, ORPHAN + text)

    def _file_page(self, path):
        text = (ROOT / path).read_text()
        lines = text.splitlines()
        cut = "" if len(lines) <= LONGEST_SHOWN else f"\nThe first {LONGEST_SHOWN} of {len(lines)} lines:\n"
        fence = "`" * 4
        return (f"# {path.name}\n\n`{path}` in the repository.\n{cut}\n{fence}{LEXERS.get(path.suffix, 'text')}\n"
                + "\n".join(lines[:LONGEST_SHOWN]) + f"\n{fence}\n")

    def _folder_page(self, path, place):
        entries = sorted(entry for entry in (ROOT / path).iterdir()
                         if entry.suffix in LEXERS or entry.relative_to(ROOT).as_posix() in self.places)
        places = [os.path.relpath(self.place_of(entry.relative_to(ROOT)), Path(place).parent) for entry in entries]
        lines = [f"- [{entry.name}]({link})" for entry, link in zip(entries, places)]
        return f"# {path.name}/\n\nFolder `{path}` of the repository.\n\n" + "\n".join(lines) + "\n"


def is_text(path):
    """Whether a file can be shown on a page."""
    try:
        path.read_text()
    except UnicodeDecodeError:
        return False
    return path.suffix not in PICTURES


def files_below(folder):
    """Files below a folder of the repository, as paths from its root."""
    return sorted(path.relative_to(ROOT) for path in (ROOT / folder).rglob("*") if path.is_file())


def gather(folder, programs):
    """Writes all pages to a folder; returns what is wrong with their links."""
    shutil.rmtree(folder, ignore_errors=True)
    site = Site(folder)
    pages = []
    for path in files_below("docs"):
        if any(path.is_relative_to(name) for name in NOT_PAGES):
            continue
        place = path.relative_to("docs").as_posix()
        if path.suffix == ".md":
            site.places[path.as_posix()] = place
            pages.append(path)
        elif path.suffix in PICTURES:
            site.copy(path, place)
    for name, place in OUTSIDE.items():
        site.places[name] = place
        pages.append(Path(name))
    site.places.update(REPLACED)

    reference = DeckReference(site, (ROOT / "docs/decks.md").read_text(), programs)
    site.deck_anchors = reference.anchors()
    reference.write()
    command_reference.write(site, programs)
    case_table.write(site)
    for path in pages:
        place = site.places[path.as_posix()]
        site.write(place, site.rewrite(path, place, (ROOT / path).read_text()))
    site.show_files()
    site.complete_menu()
    return site.problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder to write; what is in it is removed")
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin", help="folder of the built programs")
    arguments = parser.parse_args()
    problems = gather(arguments.folder, arguments.bin.resolve())
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
