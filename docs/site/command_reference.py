"""The page of commands: what each program and verb prints for --help."""
import re
import subprocess

PLACE = "reference/commands.md"
PROGRAMS = {"scree_bench": "measures speed",
            "scree_replay": "solves stored contact problems"}
VERB = re.compile(r"^  (?P<name>[a-z]+)\s{2,}\S")


def help_of(*command):
    """What a program prints for --help, without the folder of the program."""
    said = subprocess.run([*command, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return said.replace(f"{command[0].parent}/", "").strip()


def write(site, programs):
    """Writes the page of the programs in the folder `programs`."""
    scree = programs / "scree"
    overview = help_of(scree)
    lines = ["# Commands", "",
             "What the programs print for `--help`. Exit codes: [conventions](../conventions.md#exit-codes).", "",
             "## scree", "", "```text", overview, "```", ""]
    rows = map(VERB.match, overview.partition("Subcommands:")[2].splitlines())
    verbs = [row["name"] for row in rows if row]
    if not verbs:
        raise SystemExit("command_reference.py: scree --help names no verb")
    for verb in verbs:
        lines += [f"### scree {verb}", "", "```text", help_of(scree, verb), "```", ""]
    for name, what in PROGRAMS.items():
        lines += [f"## {name}", "", f"`{name}` {what}.", "", "```text", help_of(programs / name), "```", ""]
    site.write(PLACE, "\n".join(lines))
