"""The first deck that a user writes: ten lines, the rest by default; and what `scree check` says of a run before it is started."""
import json

from decks import edited
from scree_program import check, check_close, check_in, findings, run_ok, scree, source_folder
from scree.results import Results

TEN_LINES = """\
simulation = { dimension = 3, scheme = "nonsmooth", end_time = "1 s" }
time.step = "2 ms"
domain = { lower = [0, 0, 0], upper = [0.1, 0.1, 0.3], periodic = [true, true, false] }
physics.gravity = [0, 0, -9.81]
materials.glass.density = 2500
pairs.glass-glass = { friction = 0.5, restitution = 0.5 }
particles.balls.radius = { distribution = "constant", value = "5 mm" }
particles.balls.source = { type = "random", count = 500 }
obstacles.floor = { type = "plane", point = [0, 0, 0], normal = [0, 0, 1] }
output.vtk.every = "20 ms"
"""


def test_ten_lines_drop_balls_on_a_floor(folder):
    deck = folder / "first.toml"
    deck.write_text(TEN_LINES)
    check(TEN_LINES.count("\n") == 10, "ten lines", TEN_LINES)
    checked = run_ok("check", deck, folder=folder).stdout
    check_in("valid", checked, "scree check")
    check("to look at" not in checked or "upper z" not in checked, "nothing but gravity closes the top", checked)
    result = run_ok("run", deck, "--set", "output.h5md.every=1", folder=folder)
    check_in("every step solved", result.stderr, "by the default solver to its own tolerance")
    height = Results(folder / "results/first").bodies()["position"][:, 2]
    check(len(height) == 500 and height.min() > 0.0049, "all lie on the floor or above", height.min())
    check(height.max() < 0.08, "in a bed of some layers", height.max())


def findings_of_changed(folder, *changes):
    """What `scree check` says of the ten lines with changes (old, new)."""
    deck = folder / "changed.toml"
    deck.write_text(edited(TEN_LINES, *changes))
    return findings(deck, folder=folder)


def test_obstacles_that_differ_on_two_faces_of_a_periodic_axis_are_named(folder):
    check(findings_of_changed(folder) == [], "a level floor is alike on all faces")
    for normal, axis in (("[0.1, 0, 1]", "x"), ("[0, -0.1, 1]", "y")):
        (folder / "changed.toml").write_text(edited(TEN_LINES, ("normal = [0, 0, 1]", f"normal = {normal}")))
        refused = scree("check", "changed.toml", folder=folder)
        check(refused.code == 2 and f'obstacle "floor" goes on for ever, but not along the periodic axis {axis}' in refused.stderr,
              "a floor on a slant", refused)
    box = '\nobstacles.block = { type = "box", lower = [%s, 0, 0], upper = [%s, 0.1, %s] }\n'
    for lower, upper, height in ((-0.02, 0.12, 0.01), (-0.02, 0.03, 0.1), (0, 0.02, 0.1)):
        reported = findings_of_changed(folder, ("output.vtk", (box % (lower, upper, height)).lstrip() + "output.vtk"))
        check(not any("[obstacles.block]" in text for text in reported), f"a block from {lower} to {upper}: it has images", reported)


def test_the_memory_told_is_what_a_run_takes(folder):
    inputs = source_folder() / "inputs/granular"
    # With bodies of the start, with soft contact, and with bodies that come.
    for name, ranks, end in (("pour", 1, 0.1), ("pour", 2, 0.1), ("bed", 2, 0.01), ("funnel", 1, 0.3)):
        arguments = (inputs / f"{name}.toml", "--set", f"simulation.end_time={end}")
        reported = json.loads(run_ok("check", "--json", *arguments, ranks=ranks, folder=folder).stdout)
        run_ok("-q", "run", *arguments, "--force", ranks=ranks, folder=folder)
        taken = json.loads((folder / f"results/{name}/summary.json").read_text())["peak_memory_mib"]
        check_close(reported["memory_per_rank_mib"], taken, f"{name} on {ranks} ranks: MiB reported and taken", relative=0.3)
