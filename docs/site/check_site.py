#!/usr/bin/python3
"""Checks the built site: every link and anchor leads somewhere, nothing is loaded from outside of the site, every
picture has words.

    docs/site/check_site.py build/docs/html

Exit code 0: nothing is wrong; 1: the problems are listed.
"""
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser loads by itself, by the tag that names it.
LOADED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src", "video": "src"}
# <link rel=...> that only say where something is.
NOT_LOADED = {"index", "search", "next", "prev", "canonical"}


class Page(HTMLParser):
    """Anchors, links and loaded files of a page."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loads, self.problems = set(), [], [], []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(values[name] for name in ("id", "name") if values.get(name))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag in LOADED and values.get(LOADED[tag]) and values.get("rel") not in NOT_LOADED:
            self.loads.append(values[LOADED[tag]])
        if tag == "img" and not values.get("alt"):
            self.problems.append(f"picture without words: {values.get('src')}")


def check(folder):
    """Problems of all pages below a folder, and the number of links looked at."""
    pages = {path.resolve(): Page(path) for path in sorted(folder.rglob("*.html"))}
    problems, n_links = [], 0
    for path, page in pages.items():
        where = path.relative_to(folder.resolve())
        problems += [f"{where}: {problem}" for problem in page.problems]
        problems += [f"{where}: loads {target} from outside of the site" for target in page.loads
                     if urlsplit(target).netloc or target.startswith("/")]
        for target in page.links + page.loads:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            n_links += 1
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not to.exists():
                problems.append(f"{where}: {target} leads nowhere")
            elif parts.fragment and to in pages and unquote(parts.fragment) not in pages[to].anchors:
                problems.append(f"{where}: {target}: there is no such anchor")
    for path in sorted(folder.rglob("*.css")):
        for target in re.findall(r"url\(\s*['\"]?(?!data:)([^'\")]+)", path.read_text()):
            if urlsplit(target).netloc or target.startswith("/"):
                problems.append(f"{path.relative_to(folder)}: loads {target} from outside of the site")
    return problems, len(pages), n_links


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: check_site.py FOLDER_OF_HTML")
    problems, n_pages, n_links = check(Path(sys.argv[1]))
    for problem in problems:
        print(problem)
    print(f"{n_pages} pages, {n_links} links, {len(problems)} problems")
    sys.exit(1 if problems or n_pages == 0 else 0)


if __name__ == "__main__":
    main()
