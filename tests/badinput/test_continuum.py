"""Tables [output.continuum] that cannot be, or do not suit the run: one message; lengths that do not suit the bodies: a
warning."""
from decks import grains
from refusal import refused
from scree_program import check, check_in, scree

TABLE = {"every": 0.02, "kernel": "gauss", "width": 0.05, "cell": 0.05}
DISKS = {"radius": {"distribution": "constant", "value": 0.05},
         "source": {"type": "lattice", "spacing": 0.1, "region": {"lower": [0, 0], "upper": [1, 0.3]}}}


def write_deck(folder, keys=(), changes=(), **how):
    table = {**TABLE, **dict(keys)}
    table = {key: value for key, value in table.items() if value is not None}
    text = grains({"particles.disks": DISKS, "output.continuum": table, **dict(changes)}, **how)
    (folder / "fields.toml").write_text(text)
    return "fields.toml"


def refused_table(folder, *words, ranks=(3,), **keys):
    refused(folder, "run", write_deck(folder, keys), words=words, ranks=ranks)


def test_the_deck_runs_as_it_is_without_a_warning(folder):
    result = scree("run", write_deck(folder), folder=folder)
    check(result.code == 0 and "warning" not in (result.stdout + result.stderr).lower(), "it runs", result)


def test_a_kernel_without_what_it_needs(folder):
    refused_table(folder, "kernel", "fields.toml", ranks=(1, 3), kernel=None)
    refused_table(folder, "gaus", "gauss", "lucy", kernel="gaus")
    refused_table(folder, "width", width=None)
    refused_table(folder, "width", "> 0", width=0)
    refused_table(folder, "cell", "> 0", cell=-0.1)
    refused_table(folder, "every", every=None)


def test_axes_that_are_none(folder):
    refused_table(folder, "axes", '"xy"', axes="z")
    refused_table(folder, "axes", '"xy"', axes="xyz")
    refused_table(folder, "axes", '"xy"', axes="")


def test_averages_that_do_not_fit_between_frames(folder):
    refused_table(folder, "average", "multiple", average=0.05)
    refused_table(folder, "average", "64 times", average=2)
    refused_table(folder, "average", ">= 0", average=-1)
    refused_table(folder, "average", "every_steps", every=None, every_steps=5, average=0.01)
    refused_table(folder, "stride", "average", stride=2)


def test_a_kernel_that_reaches_around_a_period(folder):
    refused(folder, "run", write_deck(folder, {"axes": "x", "width": 0.1}, {"domain.periodic": [True, False]}),
            words=["width", "half the period along x", "0.0833"])


def test_grids_of_too_many_cells(folder):
    refused_table(folder, "cell", "cells", axes="xy", cell=1e-5)


def test_a_scheme_without_inertia(folder):
    deck = '[simulation]\ndimension = 2\nscheme = "pbd"\nend_time = 1\n[domain]\nlower = [0, 0]\nupper = [1, 1]\n[time]\n' \
           'step = 0.1\n[particles.a]\nradius = { distribution = "constant", value = 0.1 }\nsource = { type = "lattice", ' \
           'spacing = 0.3, region = { lower = [0, 0], upper = [1, 1] } }\n' \
           '[velocity]\ntype = "constant"\nvelocity = [0, -1]\n[output.continuum]\nevery = 0.1\nkernel = "lucy"\nwidth = 0.3\ncell = 0.1\n'
    (folder / "pbd.toml").write_text(deck)
    refused(folder, "run", "pbd.toml", words=["pbd.toml:18", "inertia"])


def warns(folder, words, keys=(), changes=(), **how):
    result = scree("run", write_deck(folder, keys, changes, **how), "--force", folder=folder)
    check(result.code == 0, "the run ends", result)
    for word in words:
        check_in(word, result.stdout + result.stderr, "the warning")


def test_a_width_that_shows_single_grains_and_cells_too_far_apart(folder):
    warns(folder, ["half the mean radius"], {"width": 0.02, "cell": 0.01})
    warns(folder, ["longer than the width"], {"cell": 0.06})


def test_a_stage_that_ends_within_an_average_starts_it_anew(folder):
    stages = [{"name": "first", "duration": 0.03}, {"name": "second", "duration": 0.05}]
    warns(folder, ["starts again", "t = 0.03 s"], {"average": 0.02}, {"stages": stages})
