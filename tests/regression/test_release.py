"""scripts/release.sh on a copy of the source folder: what it refuses, and what the files of a release hold. (The script itself
builds the tarball and runs its quick tests; that is left out here.)"""
import hashlib
import os
import re
import shutil
import subprocess
import tarfile

import pytest
import yaml

from scree_program import check, check_in, source_folder

NOT_SOURCE = shutil.ignore_patterns("build*", "results", ".git", "__pycache__", "*.log", "scratch", "campaign-findings")


def git(tree, *words):
    names = [f"GIT_{who}_{what}" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | dict.fromkeys(names, "t@t")
    subprocess.run(["git", "-C", tree, *words], check=True, capture_output=True, env=environment)


def release(tree, *words):
    return subprocess.run([tree / "scripts/release.sh", *words], capture_output=True, text=True)


def replace(path, pattern, text):
    content, n = re.subn(pattern, text, path.read_text(), count=1, flags=re.MULTILINE)
    check(n == 1, f"{path} has {pattern}")
    path.write_text(content)


@pytest.fixture
def tree(folder):
    """A git repository of the source, whose changelog has the version."""
    if shutil.which("git") is None:
        pytest.skip("there is no git")
    tree = folder / "source"
    shutil.copytree(source_folder(), tree, ignore=NOT_SOURCE)
    version = re.search(r"project\(scree VERSION ([\d.]+)", (tree / "CMakeLists.txt").read_text())[1]
    changelog = tree / "CHANGELOG.md"
    if not re.search(rf"^## {version} \(", changelog.read_text(), re.MULTILINE):
        replace(changelog, "^## Unreleased$", f"## Unreleased\n\n## {version} (2026-01-31)")
    git(tree, "init", "-q")
    git(tree, "add", "-A")
    git(tree, "commit", "-q", "-m", "all")
    return tree, version


def test_the_tarball_and_its_recipes(tree):
    tree, version = tree
    result = release(tree, "--no-tests", "--url", "https://example.org/files/")
    check(result.returncode == 0, "exit code 0", result.stdout + result.stderr)
    check_in("not tested", result.stdout, "says what it left out")
    out = tree / f"build/release-{version}"
    data = (out / f"scree-{version}.tar.gz").read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    check_in(f"{digest}  scree-{version}.tar.gz", result.stdout, "the checksum is printed")
    with tarfile.open(out / f"scree-{version}.tar.gz") as tar:
        names = tar.getnames()
    check(all(name.startswith(f"scree-{version}") for name in names), "one folder", names[:3])
    for path in ("CMakeLists.txt", "LICENSE", "scripts/release.sh", ".github/ISSUE_TEMPLATE/bug.yml"):
        check(f"scree-{version}/{path}" in names, f"{path} is in the tarball")
    recipe = (out / "spack_repo/scree/packages/scree/package.py").read_text()
    check_in(f'version("{version}", sha256="{digest}")', recipe, "Spack knows the checksum")
    check_in(f'url = "https://example.org/files/scree-{version}.tar.gz"', recipe, "and the address")
    check("manual_download" not in recipe, "which it downloads from")
    source = yaml.safe_load((out / "conda/recipe.yaml").read_text())["source"]
    check(source == {"url": f"https://example.org/files/scree-{version}.tar.gz", "sha256": digest}, "conda does, too", source)
    shutil.rmtree(out)
    check(release(tree, "--no-tests").returncode == 0, "again, without an address")
    check((out / f"scree-{version}.tar.gz").read_bytes() == data, "the same commit gives the same bytes")
    source = yaml.safe_load((out / "conda/recipe.yaml").read_text())["source"]
    check((out / "conda" / source["path"]).resolve() == (out / f"scree-{version}.tar.gz").resolve(), "the tarball beside it", source)


def test_what_is_not_ready_is_refused(tree):
    tree, version = tree

    def refused(words, message, *arguments):
        result = release(tree, *arguments)
        check(result.returncode == 2, "exit code 2", result.stdout + result.stderr)
        check_in(message, result.stderr + result.stdout, words)
        check(not (tree / "build").exists(), "nothing is made")

    refused("an option that does not exist", "unknown option --fast", "--fast")
    (tree / "new.txt").write_text("new\n")
    refused("a file that is not committed", "new.txt")
    (tree / "new.txt").unlink()
    replace(tree / "CHANGELOG.md", rf"^## {re.escape(version)} \(.*\)$", f"## {version}")
    git(tree, "commit", "-qam", "no date")
    refused("a version without a date", f'no line "## {version} (YYYY-MM-DD)"', "--no-tests")
    replace(tree / "CITATION.cff", r"^version: .*$", "version: 9.9.9")
    git(tree, "commit", "-qam", "another version")
    refused("versions that disagree", "CITATION.cff: version 9.9.9", "--no-tests")
    replace(tree / "CITATION.cff", r"^version: .*$", f"version: {version}")
    replace(tree / "CHANGELOG.md", rf"^## {re.escape(version)}$", f"## {version} (2026-01-31)")
    git(tree, "tag", f"v{version}")
    git(tree, "commit", "-qam", "after the tag")
    refused("a tag of another commit", f"the tag v{version} is another commit", "--no-tests")
