"""Outputs of people that cannot be made: one message that names the key, exit code 2, on any number of ranks."""
from refusal import refused
from scree_program import main
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


def test_ensemble_of_none(folder):
    deck = write_deck(folder)
    refused(folder, "run", deck, "--set", "simulation.ensemble=0", words=["ensemble", ">= 1"])


if __name__ == "__main__":
    main()
