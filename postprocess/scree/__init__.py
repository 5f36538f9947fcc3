"""scree from Python: write decks, run them, study parameters, read and draw results. Lengths in m, times in s: SI throughout.

    import scree
    deck = scree.Deck("inputs/granular/heap2d.toml")
    deck["pairs.glass-glass.friction"] = 0.3
    results = scree.run(deck, ranks=2)
    results.scalars["heap_angle"], results.scalars.units["heap_angle"]
    study = scree.sweep(deck, vary={"pairs.glass-glass.friction": "0.1:0.7:0.2"}, seeds=3)
    scree.plots.sweep(study, "heap_angle")
    scree.render(results, "last.png"), scree.film(results, "run.mp4")

Needs numpy and matplotlib; h5py for trajectories and checkpoints, VTK for pictures, the program scree for runs. pandas
is used where it is there and asked for.
"""
from scree import plots, style
from scree.deck import Deck
from scree.errors import DeckError, ExchangeError, ProgramMissing, RenderError, ResultsError, RunError, ScreeError
from scree.pictures import film, render
from scree.program import program
from scree.results import Results
from scree.study import Sweep, run, sweep

__all__ = ["Deck", "DeckError", "ExchangeError", "ProgramMissing", "RenderError", "Results", "ResultsError", "RunError", "ScreeError",
           "Sweep", "film", "plots", "program", "render", "run", "style", "sweep"]
