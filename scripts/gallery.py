#!/usr/bin/python3
"""Makes the pictures of docs/gallery and its page, index.md, from docs/gallery/gallery.toml.

    scripts/gallery.py                 all pictures and the page: about twenty minutes on one core
    scripts/gallery.py drum cards      these pictures and the page
    scripts/gallery.py --draw drum     the same without new runs: draws what the last ones left
    scripts/gallery.py --page          the page alone

The page shows the commands that this script runs. They run in build/gallery/NAME, where links lead to the folders of the
repository, with the programs of build/release/bin (--bin). The last command of a picture has to leave results/NAME.png; it is stored with at most 150 kB, if need be with fewer colours.
"""
import argparse
import io
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GALLERY = ROOT / "docs/gallery"
LARGEST_FILE = 150_000      # bytes
PALETTES = (256, 128, 64)
THUMBNAILS_PER_ROW = 4


def read_gallery():
    """{name: picture}; a picture has section, title, text, alt, decks, commands."""
    table = tomllib.loads((GALLERY / "gallery.toml").read_text())
    return {picture["name"]: picture for picture in table["picture"]}


def anchor(title):
    """The anchor that GitHub gives to a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def page(pictures):
    """Text of index.md."""
    lines = ["# Gallery", "",
             "<!-- scripts/gallery.py writes this page from gallery.toml: edit that file. -->", "",
             "Each picture stands above the commands that make it, for the root of the repository after a build:", "",
             "```sh", ". scripts/environment.sh", "PATH=$PWD/build/release/bin:$PATH", "```", "",
             "`scripts/gallery.py NAME` runs the same commands and stores the picture here. Each takes at most two minutes on one",
             "core; decks are shortened by `--set` where they take longer.", ""]
    lines += thumbnails(list(pictures.values()))
    section = None
    for picture in pictures.values():
        if picture["section"] != section:
            section = picture["section"]
            lines += ["", f"## {section}"]
        name = ": ".join([f"`{picture['name']}`", *([decks_of(picture)] if picture["decks"] else [])])
        lines += ["", f"### {picture['title']}", "", f"![{picture['alt']}]({picture['name']}.png)", "",
                  picture["text"].strip(), "", name, "", "```sh", picture["commands"].strip(), "```"]
    return "\n".join(lines) + "\n"


def decks_of(picture):
    """Links to the decks of a picture."""
    return ", ".join(f"[{deck}](../../{deck})" for deck in picture["decks"])


def thumbnails(pictures):
    """A table of all pictures, each a link to its place on the page."""
    cells = [f"[![{picture['title']}]({picture['name']}.png)](#{anchor(picture['title'])})" for picture in pictures]
    cells += [""] * (-len(cells) % THUMBNAILS_PER_ROW)
    rows = [cells[k:k + THUMBNAILS_PER_ROW] for k in range(0, len(cells), THUMBNAILS_PER_ROW)]
    rows.insert(1, ["---"] * THUMBNAILS_PER_ROW)
    return ["| " + " | ".join(row) + " |" for row in rows]


def commands_to_run(picture, draw_only):
    """The text for bash; with `draw_only` without the lines that start runs."""
    lines = picture["commands"].strip().replace("\\\n", " ").split("\n")
    if draw_only:
        lines = [line for line in lines if not re.match(r"(mpirun -n \d+ )?scree (run|sweep|restart) ", line)]
    return "\n".join(lines)


def make(picture, options):
    folder = ROOT / "build/gallery" / picture["name"]
    if not options.draw:
        shutil.rmtree(folder, ignore_errors=True)
    (folder / "results").mkdir(parents=True, exist_ok=True)
    for name, target in (("inputs", ROOT / "inputs"), ("scripts", ROOT / "scripts")):
        link = folder / name
        link.unlink(missing_ok=True)
        link.symlink_to(target)
    environment = dict(os.environ, MPLBACKEND="Agg", PYTHONPATH=str(ROOT / "postprocess"),
                       SCREE=str(options.bin.resolve() / "scree"),
                       PATH=f"{options.bin.resolve()}:/usr/bin:{os.environ['PATH']}")     # python3: Debian's, which has the modules
    begin = time.monotonic()
    text = f". {ROOT}/scripts/environment.sh\n" + commands_to_run(picture, options.draw)
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=folder, env=environment, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise SystemExit(f"{done.stdout}gallery.py: the commands of {picture['name']} ended with exit code {done.returncode}, see above")
    size = store(folder / "results" / f"{picture['name']}.png", GALLERY / f"{picture['name']}.png")
    print(f"{picture['name']}: {time.monotonic() - begin:.0f} s, {size // 1000} kB", flush=True)


def store(source, target):
    """Writes a picture in full colour, or with the largest palette that keeps it small enough. Returns its size in bytes."""
    from PIL import Image       # comes with matplotlib

    image = Image.open(source).convert("RGB")
    for colours in (None, *PALETTES):
        data = io.BytesIO()
        drawn = image if colours is None else image.quantize(colours, dither=Image.Dither.NONE)
        drawn.save(data, "PNG", optimize=True)
        if data.tell() <= LARGEST_FILE:
            target.write_bytes(data.getvalue())
            return data.tell()
    raise SystemExit(f"gallery.py: {source} has {data.tell()} bytes even with {PALETTES[-1]} colours: draw it smaller")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="pictures to make (default: all)")
    parser.add_argument("--draw", action="store_true", help="draw again what the last runs left")
    parser.add_argument("--page", action="store_true", help="write the page alone")
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin", help="folder of the programs")
    options = parser.parse_args()
    pictures = read_gallery()
    unknown = [name for name in options.names if name not in pictures]
    if unknown:
        parser.error(f"no picture {', '.join(unknown)}; there are {', '.join(pictures)}")
    if not options.page:
        for name in options.names or pictures:
            make(pictures[name], options)
    (GALLERY / "index.md").write_text(page(pictures))


if __name__ == "__main__":
    main()
