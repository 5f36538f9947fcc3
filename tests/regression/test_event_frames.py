"""Frames of runs from impact to impact: contacts have no friction, and frames say so."""
from scree_program import check, run_ok

DECK = """\
[simulation]
dimension = 2
scheme = "event"
end_time = 0.2
[domain]
lower = [0, 0]
upper = [1, 1]
[time]
step = 0.01
[physics]
gravity = [0, -9.81]
[materials.stone]
density = 2500
[pairs.stone-stone]
friction = 0
restitution = 0
[event]
impact_law = "multiple"
[particles.grains]
material = "stone"
radius = { distribution = "constant", value = 0.04 }
source = { type = "lattice", spacing = 0.0801, region = { lower = [0.1, 0.0], upper = [0.9, 0.0801] } }
[obstacles.floor]
type = "plane"
point = [0, 0]
normal = [0, 1]
material = "stone"
[output.vtk]
every_steps = 1
asynchronous = false
"""


def test_frames_with_contacts_are_written_and_read(folder):
    (folder / "row.toml").write_text(DECK)
    run_ok("-q", "run", "row.toml", folder=folder)
    frames = sorted((folder / "results/row/vtk").rglob("*contacts*.vtp"))
    check(len(frames) >= 20, "a frame per step", frames)
    last = frames[-1].read_text(errors="replace")
    number = int(last.split('NumberOfLines="')[1].split('"')[0])
    check(number > 0, "there are contacts at the end", number)
    check('Name="friction"' in last, "friction has its column", frames[-1])
