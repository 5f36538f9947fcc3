"""docs/gallery: the page is what scripts/gallery.py writes, pictures are there and small, and decks with their overrides are valid."""
import importlib.util
import shlex

from scree_program import check, check_in, run_ok, source_folder


def gallery():
    """scripts/gallery.py as a module."""
    specification = importlib.util.spec_from_file_location("gallery", source_folder() / "scripts/gallery.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def runs(picture):
    """Arguments of each `scree run` among the commands of a picture."""
    for line in picture["commands"].replace("\\\n", " ").split("\n"):
        words = shlex.split(line)
        if words[:2] == ["scree", "run"]:
            yield words[2:]


def test_the_page_is_written_from_the_list():
    script = gallery()
    page = (source_folder() / "docs/gallery/index.md").read_text()
    check(page == script.page(script.read_gallery()), "docs/gallery/index.md is current (renew it: scripts/gallery.py --page)")


def test_every_picture_is_there_and_small():
    script = gallery()
    pictures = script.read_gallery()
    check(len(pictures) >= 12, "there are twelve pictures or more", len(pictures))
    for name in pictures:
        file = script.GALLERY / f"{name}.png"
        check(file.exists(), f"{file.name} is there")
        check(file.stat().st_size <= script.LARGEST_FILE, f"{file.name} has at most {script.LARGEST_FILE} bytes", file.stat().st_size)
    strays = {file.stem for file in script.GALLERY.glob("*.png")} - set(pictures)
    check(not strays, "no other picture lies there", strays)


def test_decks_with_their_overrides_are_valid():
    found = 0
    for picture in gallery().read_gallery().values():
        for arguments in runs(picture):
            found += 1
            check(arguments[0] in picture["decks"], f"{picture['name']} names its deck", arguments[0])
            check_in("valid", run_ok("check", *arguments, folder=source_folder()).stdout, f"{picture['name']}: its deck is valid")
    check(found >= 12, "commands were found", found)
