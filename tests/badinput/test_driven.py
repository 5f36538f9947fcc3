"""Driven walls that cannot work end with one message that names the key and the reason, and exit code 2."""
import pytest
from decks import edited
from refusal import refused

DECK = """\
[simulation]
dimension = 3
scheme = "nonsmooth"
end_time = "4 ms"

[domain]
lower = [0, 0, 0]
upper = [1, 1, 1]

[time]
step = "1 ms"

[neighbors]
skin = "2 cm"

[physics]
gravity = [0, 0, -9.81]

[materials.glass]
density = 2500

[pairs."glass-glass"]
friction = 0.4
restitution = 0.5

[particles.beads]
radius = { distribution = "constant", value = "5 cm" }
source = { type = "lattice", spacing = 0.1, region = { lower = [0, 0, 0], upper = [0.3, 0.3, 0.1] } }

[obstacles.floor]
type = "plane"
point = [0, 0, 0]
normal = [0, 0, 1]

[obstacles.left]
type = "plane"
point = [0, 0, 0]
normal = [1, 0, 0]

[obstacles.right]
type = "plane"
point = [1, 0, 0]
normal = [-1, 0, 0]

[obstacles.plate]
type = "plane"
point = [0, 0, 0.5]
normal = [0, 0, -1]

[obstacles.plate.motion]
type = "driven"
axis = [0, 0, -1]
load = "160 N"
max_speed = "1 m/s"
"""
LOAD = 'load = "160 N"\n'
SPEED = 'max_speed = "1 m/s"\n'
AXIS = "axis = [0, 0, -1]\n"
STAGE = '\n[[stages]]\nname = "press"\n'


def refused_deck(folder, *changes, words, more=""):
    path = folder / "press.toml"
    path.write_text(edited(DECK, *changes) + more)
    refused(folder, "run", path, words=["press.toml:", *words])


def test_loads(folder):
    refused_deck(folder, (LOAD, LOAD + 'pressure = "1 kPa"\narea = 1\n'), words=["one of load, pressure and torque, 2 are given"])
    refused_deck(folder, (LOAD, ""), words=["one of load, pressure and torque, 0 are given"])
    refused_deck(folder, (LOAD, 'pressure = "1 kPa"\n'), words=["a pressure needs either area or between"])
    refused_deck(folder, (LOAD, 'pressure = "1 kPa"\narea = 1\nbetween = ["left"]\n'), words=["either area or between"])
    refused_deck(folder, (LOAD, LOAD + "area = 1\n"), words=["area is for a pressure only"])


def test_planes_around(folder):
    def between(names, *words):
        refused_deck(folder, (LOAD, f'pressure = "1 kPa"\nbetween = {names}\n'), words=["between", *words])
    between('["left", "rihgt"]', "no obstacle 'rihgt'", "right")
    between('["left", "right"]', "1 pairs of planes, 2 needed")
    between('["left"]', "no plane faces 'left'")
    between('["floor", "plate"]', "'floor' is not along the axis")


def test_speeds_and_axes(folder):
    refused_deck(folder, (SPEED, ""), words=["max_speed", "missing"])
    refused_deck(folder, (SPEED, "max_speed = 0\n"), words=["max_speed"])
    refused_deck(folder, (SPEED, 'max_speed = "40 m/s"\n'), words=["max_speed = 40", "'plate'", "skin", "at most"])
    refused_deck(folder, (AXIS, "axis = [0, 0, 0]\n"), words=["axis", "no direction"])
    refused_deck(folder, (AXIS, ""), words=["missing key 'axis'"])


def test_inertia(folder):
    refused_deck(folder, (LOAD, LOAD + 'control = "free"\n'), words=["missing key 'mass'"])
    refused_deck(folder, (LOAD, LOAD + "mass = 1\n"), words=["mass has no effect", "servo"])


def test_torques(folder):
    torque = 'torque = "1 N m"\n'
    refused_deck(folder, (LOAD, torque), words=["missing key 'point'"])
    refused_deck(folder, (LOAD, torque + "point = [0, 0, 0]\n"), words=["missing key 'max_rate'"])
    refused_deck(folder, (LOAD, LOAD + "point = [0, 0, 0]\n"), words=["point is for a torque only"])


def test_further_directions(folder):
    def further(*entries, words):
        refused_deck(folder, more="".join(f"[[obstacles.plate.motion.further]]\n{entry}\n" for entry in entries), words=words)
    side = 'name = "side"\naxis = [1, 0, 0]\nload = 1\nmax_speed = 1\n'
    turn = 'name = "turn"\npoint = [0, 0, 0.5]\naxis = [0, 0, 1]\ntorque = 1\nmax_rate = 0.1\n'
    further(side.replace('name = "side"\n', ""), words=["missing key 'name'"])
    further(side.replace("[1, 0, 0]", "[1, 0, 1]"), words=["not at right angles to the axis of the motion"])
    further(side, side.replace("side", "skew").replace("[1, 0, 0]", "[1, 1, 0]"), words=["not at right angles to the axis of 'side'"])
    further(side, side.replace("[1, 0, 0]", "[0, 1, 0]"), words=["'side' is given twice"])
    further(turn, side, words=["turns comes last"])
    further(side + 'control = "free"\nmass = 1\n', words=["all directions of a wall have the same control"])
    measure = '\n[measures.plate]\ntype = "driven"\nobstacles = ["plate.sied"]\n'
    refused_deck(folder, more=f"[[obstacles.plate.motion.further]]\n{side}{measure}", words=["no driven obstacle 'plate.sied'", "plate, plate.side"])
    drive = 'duration = "4 ms"\ndrive = [{ obstacle = "plate.sied", load = 1 }]\n'
    refused_deck(folder, more=f"[[obstacles.plate.motion.further]]\n{side}{STAGE}{drive}", words=["no obstacle 'plate.sied'", "plate.side"])


def test_schemes(folder):
    refused_deck(folder, ('scheme = "nonsmooth"', 'scheme = "dem"'), more='\n[dem]\nfriction = "dae"\n',
                 words=['"driven"', '"dem"', "nonsmooth", '"spring" or "none"'])


@pytest.mark.parametrize("solver", ["newton", "ipm", "admm", "proximal"])
def test_solvers(folder, solver):
    refused_deck(folder, more=f'\n[solver]\ntype = "{solver}"\n',
                 words=["this solver moves no walls", 'type = "driven"', '[solver] type = "nsgs" or "auto"'])


def test_stages(folder):
    wait = 'until = { load_within = 0.01, of = ["plate"], max_time = 1 }\n'
    refused_deck(folder, more=STAGE + wait.replace("plate", "plaet"), words=["no obstacle 'plaet'", "plate"])
    refused_deck(folder, more=STAGE + wait.replace("plate", "floor"), words=["'floor' has no motion of the type \"driven\""])
    refused_deck(folder, more=STAGE + wait.replace(', of = ["plate"]', ""), words=["load_within and of belong together"])
    refused_deck(folder, more=STAGE + 'until = { load_within = 0.01, of = ["plate"] }\n', words=["max_time"])
    refused_deck(folder, more=STAGE + wait + 'remove_obstacles = ["plate"]\n', words=["waits for the load", "'plate'", "not there"])
    drive = 'drive = [{ obstacle = "plate", %s }]\n'
    refused_deck(folder, more=STAGE + wait + drive % "speed = 0", words=["waits for the load", "has a speed"])
    refused_deck(folder, more=STAGE + wait + drive % "load = 0", words=["waits for the load", "is 0 by then"])
    refused_deck(folder, more=STAGE + wait + drive % "torque = 1", words=["moves along a line", "load, pressure or speed"])
    refused_deck(folder, more=STAGE + wait + drive % "pressure = 1", words=["neither area nor between"])
    refused_deck(folder, more=STAGE + wait + drive % "speed = 2", words=["above the max_speed"])
    refused_deck(folder, more=STAGE + wait + drive % "load = 1, speed = 0", words=["not two"])


def test_pressures_between_planes_that_stages_take_away(folder):
    walls = "".join(f'[obstacles.{name}]\ntype = "plane"\npoint = [0, {y}, 0]\nnormal = [0, {1 - 2 * y}, 0]\n\n' for name, y in (("front", 0), ("back", 1)))
    planes = (LOAD, 'pressure = "1 kPa"\nbetween = ["left", "right", "front", "back"]\n'), ("[obstacles.plate]\n", walls + "[obstacles.plate]\n")
    away = STAGE + 'duration = "2 ms"\nremove_obstacles = ["back"]\n'
    refused_deck(folder, *planes, more=away, words=["pressure of obstacle 'plate'", "'back' is not there", "area"])


def test_measures(folder):
    refused_deck(folder, more='\n[measures.plate]\ntype = "driven"\nobstacles = ["floor"]\n', words=["no driven obstacle 'floor'", "plate"])
