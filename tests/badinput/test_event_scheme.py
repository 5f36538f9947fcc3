"""Decks that the scheme "event" cannot run: friction, too many bodies, walls that move or have no contact times."""
from decks import edited
from refusal import failed, refused
from scree_program import scree

DECK = """\
[simulation]
dimension = 2
scheme = "event"
end_time = "1 s"

[domain]
lower = [0, 0]
upper = [4, 4]

[time]
step = "0.1 s"

[physics]
gravity = [0, -10]

[event]
impact_law = "multiple"

[materials.ball]
density = 1000

[pairs."ball-ball"]
friction = 0
restitution = 0.5

[particles.balls]
material = "ball"
radius = { distribution = "constant", value = 0.1 }
source = { type = "lattice", spacing = 0.5, region = { lower = [0, 1], upper = [4, 2] } }

[obstacles.floor]
type = "plane"
material = "ball"
point = [0, 0]
normal = [0, 1]
"""


def _deck(folder, *changes, more=""):
    path = folder / "deck.toml"
    path.write_text(edited(DECK, *changes) + more)
    return path


def test_what_it_does_not_know(folder):
    for changes, more, words in (
            ([("friction = 0\n", "friction = 0.1\n")], "", ["deck.toml:2", '"ball-ball"', "has friction", "set it to 0"]),
            ([("upper = [4, 4]\n", "upper = [4, 4]\nperiodic = [true, false]\n")], "", ["no periodic axes"]),
            ([], 'motion = { type = "translate", velocity = [0, 1] }\n', ["deck.toml:3", 'obstacle "floor" has a motion']),
            ([("value = 0.1", "value = 0.01"), ("spacing = 0.5", "spacing = 0.04")], "", ["2500 bodies", "up to 2000"]),
            ([('"multiple"', '"simple"')], "", ["deck.toml:1", "impact_law", "multiple"]),
            ([('"multiple"', '"multiple"\ntolerance = 0')], "", ["deck.toml:18", "tolerance", "(0, 0.001]"]),
            ([("restitution = 0.5", "restitution = 1.5")], "", ["restitution", "1"]),
            ([('impact_law = "multiple"\n', "")], "", ["impact_law"])):
        refused(folder, "run", _deck(folder, *changes, more=more), words=words, ranks=(1, 3))


def test_what_needs_the_forces_of_impacts(folder):
    floor = '[measures.floor]\ntype = "{}"\n'
    for more in (*(floor.format(kind) for kind in ("wall_force", "stress", "contact_status")),
                 '[output.continuum]\nevery_steps = 1\ncell = 0.5\nkernel = "gauss"\nwidth = 0.2\n'):
        refused(folder, "check", _deck(folder, more=more), words=["deck.toml:", "floor" if "floor" in more else "[output.continuum]",
                                                                  '"event" does not report those of impacts'])


def test_obstacle_that_a_stage_adds_on_bodies(folder):
    more = ('[obstacles.shelf]\ntype = "plane"\nmaterial = "ball"\npoint = [0, 1.5]\nnormal = [0, 1]\n'
            '[[stages]]\nname = "first"\nduration = 0.1\n[[stages]]\nname = "second"\nduration = 0.1\nadd_obstacles = ["shelf"]\n')
    failed(folder, "run", _deck(folder, more=more), "--force", code=3, words=["step 1", 'obstacle "shelf" overlap', "add_obstacles"])


def test_too_many_events_end_the_run_and_name_the_body(folder):
    deck = _deck(folder, ('impact_law = "multiple"', 'impact_law = "multiple"\nmax_events = 5'))
    failed(folder, "run", deck, "--force", code=1, words=["more than 5 events", "body", "max_events"])


def test_slides_inside_a_ball_need_a_rest_speed(folder):
    drum = ('type = "plane"\nmaterial = "ball"\npoint = [0, 0]\nnormal = [0, 1]',
            'type = "disk"\nmaterial = "ball"\ncenter = [2, 2]\nradius = 3\nside = "inside"')
    still = [drum, ("restitution = 0.5", "restitution = 0"), ("gravity = [0, -10]", "gravity = [0, 0]")]
    refused(folder, "check", _deck(folder, *still), words=["deck.toml:", "rest_speed is 0", "restitution = 0", 'obstacle "floor"'])
    _deck(folder, *still, ('"multiple"', '"multiple"\nrest_speed = 0.01'))
    assert scree("check", folder / "deck.toml").code == 0
