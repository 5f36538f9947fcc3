"""Inlets, outlets and stages that cannot work: one message that names them, the right exit code, on any number of
ranks."""
from refusal import failed, refused
from scree_program import check, scree
from small_deck import write_deck

FAILED = 1

RAIN = """
[inlets.rain]
type = "pour"
radius = { distribution = "constant", value = "12 cm" }
"""
STAGE = '[[stages]]\nname = "fill"\n'


def refused_deck(folder, more, words):
    refused(folder, "run", write_deck(folder, more=more), words=words)


def failed_run(folder, more, words):
    failed(folder, "run", write_deck(folder, more=more), "--force", code=FAILED, words=words)


def test_inlet_whose_region_is_full(folder):
    failed_run(folder, RAIN + 'rate = 400\nmax_delay = "0.2 s"\nregion = { lower = [0, 3], upper = [1, 3.9] }\n',
               words=['"rain"', "small.toml:", "the region (0, 3) to (1, 3.9) m", "max_delay = 0.2 s", "400 per second"])


def test_inlet_whose_region_is_too_small(folder):
    refused_deck(folder, RAIN + "rate = 10\nregion = { lower = [0, 3], upper = [0.2, 3.9] }\n",
                 words=["too small", "0.12 m", "0.1 m"])


def test_inlet_without_rate_or_radius(folder):
    refused_deck(folder, RAIN, words=["[inlets.rain]", "rate or mass_rate"])
    refused_deck(folder, '[inlets.rain]\ntype = "pour"\nrate = 5\n', words=["[inlets.rain]", "radius"])
    refused_deck(folder, '[inlets.rain]\ntype = "poor"\n', words=["poor", "pour"])
    refused_deck(folder, RAIN + "rate = 5\nmass_rate = 5\n", words=["rate or mass_rate"])


def test_old_names_of_tables(folder):
    old = RAIN.replace("inlets", "feeders") + "rate = 5\nregion = { lower = [0, 3], upper = [3, 3.9] }\n"
    deck = write_deck(folder, more=old)
    for command in ("check", "run"):
        result = scree(command, deck, folder=folder)
        said = result.stdout if command == "check" else result.stderr
        check(result.code == 0 and "'feeders' at the top level of the deck is now called 'inlets'" in said, "a warning", result)
    refused_deck(folder, old + RAIN, words=["'feeders'", "old name of 'inlets'", "small.toml:"])


def test_outlet_without_region(folder):
    refused_deck(folder, "[outlets.drain]\n", words=["region", "[outlets.drain]"])
    refused_deck(folder, '[measures.out]\ntype = "removed"\n', words=["removed", "[outlets.NAME]"])


def test_stage_that_may_never_end(folder):
    refused_deck(folder, STAGE + "until = { bodies_at_most = 3 }\n", words=["small.toml:", "max_time", "[stages[0].until]"])
    refused_deck(folder, STAGE, words=["fill", "duration or until"])


def test_stage_that_times_out(folder):
    stage = STAGE + "until = { bodies_at_most = 3, max_time = 0.3 }\n"
    failed_run(folder, stage + 'on_timeout = "stop"\n', words=["fill", "max_time of 0.3 s", "120 bodies, more than 3"])
    result = scree("run", write_deck(folder, more=stage), "--force", ranks=2, folder=folder)
    check(result.code == 0 and "max_time of 0.3 s" in result.stderr, "a warning by default", result)


def test_stages_that_are_misspelt(folder):
    refused_deck(folder, STAGE + 'duration = 1\nremove_obstacles = ["paddel"]\n', words=["paddel", "paddle"])
    refused_deck(folder, STAGE + "durations = 1\n", words=["durations", "[stages[0]]", "duration"])
    refused_deck(folder, '[stages]\nname = "fill"\nduration = 1\n', words=["array of tables", "[[stages]]"])
    deck = write_deck(folder, more=STAGE + "duration = 1\n")
    refused(folder, "run", deck, "--set", "stages.1.duration=2", words=["stages.1.duration", "counted from 0"], ranks=(1,))
