"""Frames of runs from impact to impact: contacts have no friction, and frames say so."""
from decks import constant, grains, lattice
from scree_program import check, run_ok

DECK = grains({
    "pairs.stone-stone": {"friction": 0, "restitution": 0},
    "particles.grains": {"radius": constant(0.04), "source": lattice(0.0801, [0.1, 0.0], [0.9, 0.0801])},
    "output.vtk": {"every_steps": 1, "asynchronous": False}}, scheme="event", end=0.2, step=0.01)


def test_frames_with_contacts_are_written_and_read(folder):
    (folder / "row.toml").write_text(DECK)
    run_ok("-q", "run", "row.toml", folder=folder)
    frames = sorted((folder / "results/row/vtk").rglob("*contacts*.vtp"))
    check(len(frames) >= 20, "a frame per step", frames)
    last = frames[-1].read_text(errors="replace")
    number = int(last.split('NumberOfLines="')[1].split('"')[0])
    check(number > 0, "there are contacts at the end", number)
    check('Name="tangential_force"' in last, "friction has its column", frames[-1])
