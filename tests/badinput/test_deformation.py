"""Deforming domains that cannot work end with one message that names the key and the reason, and exit code 2."""
from decks import edited
from refusal import refused
from scree_program import run_ok

DECK = """\
[simulation]
dimension = 3
scheme = "dem"
end_time = "1 ms"

[domain]
lower = [0, 0, 0]
upper = [1, 1, 1]
periodic = [true, true, true]

[domain.deformation]
flow = "x"
gradient = "y"
shear_rate = 1

[time]
step = "0.1 ms"

[dem]
law = "linear"

[materials.glass]
density = 2500

[pairs."glass-glass"]
friction = 0.4
restitution = 0.5
stiffness = 1e4

[particles.beads]
material = "glass"
radius = { distribution = "constant", value = "5 cm" }
source = { type = "random", count = 20 }
"""
RATE = "shear_rate = 1\n"
CELL = '\n[domain.deformation]\nflow = "x"\ngradient = "y"\nshear_rate = 1\n'
STAGE = '\n[[stages]]\nname = "shear"\nduration = 1\n'
WAITING = '\n[[stages]]\nname = "press"\nuntil = { stress_within = 0.1, max_time = 1 }\n'


def refused_deck(folder, *changes, words, more=""):
    path = folder / "cell.toml"
    path.write_text(edited(DECK, *changes) + more)
    refused(folder, "run", path, words=["cell.toml:", *words])


def test_axes(folder):
    refused_deck(folder, ('gradient = "y"\n', ""), words=["flow and gradient belong together"])
    refused_deck(folder, ('gradient = "y"', 'gradient = "x"'), words=["two different axes"])
    refused_deck(folder, ('flow = "x"\ngradient = "y"\n', ""), words=["shear_rate needs the axes flow and gradient"])
    refused_deck(folder, ("[true, true, true]", "[true, true, false]"), words=["periodic along all axes", "axis z is open"])


def test_stresses(folder):
    refused_deck(folder, (RATE, RATE + "stress = { y = 10 }\n"), words=["need max_rate"])
    refused_deck(folder, (RATE, RATE + "max_rate = 1\nstress = { y = -10 }\n"), words=["domain.deformation.stress", "y"])
    refused_deck(folder, (RATE, RATE + "max_rate = 1\nstress = { y = 10 }\nstrain_rate = { y = 1 }\n"), words=["axis y has a stress and a strain_rate"])
    refused_deck(folder, (RATE, RATE + "max_rate = 1\npressure = 10\nstrain_rate = { y = 1 }\n"), words=["pressure moves all axes alike"])
    refused_deck(folder, (RATE, "shear_stress = 5\n"), words=["need max_rate"])
    refused_deck(folder, (RATE, RATE + "max_rate = 1\nshear_stress = 5\n"), words=["a shear_stress and a shear_rate"])
    refused_deck(folder, (RATE, "max_rate = 1\nshear_stress = 0\n"), words=["shear_stress = 0 is the only stress"])
    refused_deck(folder, ('flow = "x"\ngradient = "y"\nshear_rate = 1\n', "max_rate = 1\nshear_stress = 5\n"), words=["shear_stress needs the axes flow and gradient"])
    refused_deck(folder, ('flow = "x"', 'flow = ["x", "z"]'), words=["'flow' in [domain.deformation]"])
    refused_deck(folder, (RATE, RATE + "presure = 10\n"), words=["unknown key 'presure'", "pressure"])


def test_what_it_does_not_go_with(folder):
    refused_deck(folder, more="\n[physics]\ngravity = [0, 0, -9.81]\n", words=["does not go with gravity"])
    refused_deck(folder, more='\n[obstacles.floor]\ntype = "plane"\npoint = [0, 0, 0]\nnormal = [0, 0, 1]\nmaterial = "glass"\n',
                 words=["does not go with obstacles", "floor"])
    refused_deck(folder, ("radius =", "mobility = 0\nradius ="), words=["mobility = 0", "what is fixed"])
    refused_deck(folder, ('law = "linear"\n', 'law = "linear"\nfriction = "dae"\n'), words=['"nonsmooth" and "dem"', 'not for "dem"'])
    refused_deck(folder, more='\n[output.continuum]\nevery = 1\nkernel = "gauss"\nwidth = 0.06\ncell = 0.1\n', words=["output.continuum", "stress"])


def test_rigid_contact(folder):
    """Rates go with every solver, stresses with one."""
    rigid = ('scheme = "dem"', 'scheme = "nonsmooth"'), ('[dem]\nlaw = "linear"\n', '[solver]\ntype = "admm"\n'), ("stiffness = 1e4\n", "")
    path = folder / "rates.toml"
    path.write_text(edited(DECK, *rigid))
    run_ok("check", path, folder=folder)
    refused_deck(folder, *rigid, (RATE, RATE + "max_rate = 1\npressure = 10\n"), words=['"nonsmooth"', "stresses and pressure need", '"nsgs"'])
    refused_deck(folder, *rigid, (RATE, RATE + "max_rate = 1\n"), more=STAGE + "deformation = { pressure = 10 }\n", words=["stresses and pressure need"])


def test_room(folder):
    refused_deck(folder, ("upper = [1, 1, 1]", "upper = [1, 1, 0.15]"), ("count = 20", "count = 4"), words=["long along axis z", "larger domain"])


def test_stages(folder):
    refused_deck(folder, (CELL, ""), more=STAGE + "deformation = { pressure = 1 }\n", words=["there is no [domain.deformation]"])
    refused_deck(folder, more=STAGE + "deformation = { pressure = 1 }\n", words=["need max_rate"])


def test_stages_that_wait_for_stresses(folder):
    pressed, strained = "max_rate = 1\npressure = 10\n", "deformation = { strain_rate = { x = 0, y = 0, z = 0 } }\n"
    refused_deck(folder, (CELL, ""), more=WAITING, words=['"press" waits for stresses of the domain', "there is no [domain.deformation]"])
    refused_deck(folder, more=WAITING, words=['"press" waits for stresses of the domain', "is asked for none by then", "give stress, pressure or shear_stress"])
    # A stage before has ended the stresses of the deck.
    refused_deck(folder, (RATE, RATE + pressed), more=STAGE + strained + WAITING, words=["is asked for none by then"])
    refused_deck(folder, (RATE, RATE + pressed), more=WAITING + strained, words=["is asked for none by then"])
    # A stage before, or the stage itself, asks for some.
    for number, more in enumerate((STAGE + "deformation = { pressure = 10 }\n" + WAITING, WAITING + "deformation = { stress = { y = 10 } }\n")):
        path = folder / f"right_{number}.toml"
        path.write_text(edited(DECK, (RATE, RATE + "max_rate = 1\n")) + more)
        run_ok("check", path, folder=folder)


def test_measure(folder):
    refused_deck(folder, more='\n[measures.stress]\ntype = "stress"\nregion = { lower = [0, 0, 0], upper = [1, 1, 0.5] }\n',
                 words=["a region has a place in space", "remove it"])
    refused_deck(folder, (CELL, ""), more='\n[measures.cell]\ntype = "cell"\n', words=["[domain.deformation], which the deck does not have"])
