"""Outputs of people that cannot be made: one message that names the key, exit code 2, on any number of ranks."""
from refusal import refused
from small_deck import write_deck

DECK = """
[simulation]
dimension = 2
scheme = "crowd"
end_time = "5 s"
[time]
step = "0.05 s"
[walkable]
wkt = "POLYGON((0 0, 8 0, 8 5, 0 5, 0 0))"
[exits.east]
line = [[8, 2], [8, 3]]
[populations.crowd]
count = 10
"""


def refused_deck(folder, more, words):
    (folder / "hall.toml").write_text(DECK + more)
    refused(folder, "run", folder / "hall.toml", words=words)


def test_unknown_or_no_fields(folder):
    refused_deck(folder, '[output.fields]\nevery = 1\nwhich = ["densty"]\n', words=["densty", 'did you mean "density"'])
    refused_deck(folder, "[output.fields]\nevery = 1\nwhich = []\n", words=["which", "empty"])


def test_cells_that_are_too_many(folder):
    refused_deck(folder, '[output.fields]\nevery = 1\ncell = "1e-5 m"\n', words=["[output.fields]", "1e-05 m", "at most"])


def test_more_frames_than_steps(folder):
    refused_deck(folder, "[output.trajectory]\nfps = 25\n", words=["hall.toml:", "fps = 25", "20 per second"])
    refused_deck(folder, "[output.trajectory]\n", words=["fps", "missing"])


def test_outputs_of_people_in_a_run_without(folder):
    for table in ("trajectory]\nfps = 1\n", "fields]\nevery = 1\n"):
        deck = write_deck(folder, more="[output." + table)
        refused(folder, "run", deck, words=["about people", 'scheme = "crowd"'])


def test_whatever_loses_people_unseen(folder):
    refused_deck(folder, "[outlets.drain]\nregion = { lower = [0, 0], upper = [1, 1] }\n", words=["[outlets]", "people leave by [exits.NAME]"])
    for outside in ("delete", "keep"):
        refused_deck(folder, f'[domain]\noutside = "{outside}"\n', words=["hall.toml:", f'outside = "{outside}"', "lose"])
    refused_deck(folder, "[domain]\nlower = [-1, -1]\nupper = [7, 6]\n",
                 words=["hall.toml:", "along x, with the room behind its exits", "[domain] only from -1 to 7 m"])


def test_exits_with_equal_columns(folder):
    refused_deck(folder, "[exits.'a,b']\nline = [[0, 1], [0, 2]]\n[exits.'a<b']\nline = [[0, 3], [0, 4]]\n",
                 words=["hall.toml:", '"a,b" and "a<b"', '"a_b"', "rename"])


def test_nobody_at_all(folder):
    (folder / "hall.toml").write_text(DECK[:DECK.index("[populations")])
    refused(folder, "run", folder / "hall.toml", words=["the deck makes no people"])


def test_errors_of_check_refuse_a_run(folder):
    (folder / "hall.toml").write_text(DECK.replace("[8, 3]]", "[8, 2.3]]"))
    words = ["have no route to any destination", "the widest route is 0.3 m wide at (8, 2.15)"]
    refused(folder, "check", folder / "hall.toml", words=words)
    refused(folder, "run", folder / "hall.toml", words=words)


def test_walls_cannot_be_staged(folder):
    refused_deck(folder, '[[stages]]\nname = "first"\nduration = "1 s"\nremove_obstacles = ["walls"]\n',
                 words=["hall.toml:", "walls and columns of a floor plan", "stages cannot"])


def test_period_that_is_too_short(folder):
    deck = DECK.replace("[walkable]", '[domain]\nlower = [0, -2]\nupper = [2, 5]\nperiodic = [true, false]\n[walkable]')
    deck = deck.replace("POLYGON((0 0, 8 0, 8 5, 0 5, 0 0))", "POLYGON((0 0, 2 0, 2 5, 0 5, 0 0))")
    (folder / "hall.toml").write_text(deck.replace("[[8, 2], [8, 3]]", "[[0.5, 0], [1.5, 0]]"))
    refused(folder, "run", folder / "hall.toml", words=["periodic axis x", "headway_time and speed"])


def test_ensemble_of_none(folder):
    deck = write_deck(folder)
    refused(folder, "run", deck, "--set", "simulation.ensemble=0", words=["ensemble", ">= 1"])
