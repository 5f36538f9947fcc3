"""Draws a quantity of a parameter study (`scree sweep`) over a key, with 95 % intervals; without --quantity lists them.

    scree plot sweep results/heap2d_sweep --quantity heap_angle
    scree plot sweep results/heap2d_sweep --quantity heap_angle --key time.step --output steps.pdf --style paper
"""
from scree import Sweep, plots, style
from scree.commands import parser_of
from scree.errors import ResultsError


def main(words):
    parser = parser_of("plot sweep", __doc__)
    parser.add_argument("folder", help="of the study: NAME_sweep")
    parser.add_argument("--quantity", help="what to draw")
    parser.add_argument("--key", help="over which key (default: the first); the others make lines")
    style.add_options(parser, "QUANTITY.png in the folder")
    options = parser.parse_args(words)
    study = Sweep(options.folder)
    if options.quantity is None:
        print("\n".join(study.quantities))
        return
    if options.key is not None and options.key not in study.keys:
        raise ResultsError(f"no key {options.key!r}; there are: {', '.join(study.keys)}")
    output = options.output or study.folder / f"{options.quantity}.png"
    style.save(plots.sweep(study, options.quantity, options.key, style=options.style).figure, output)
    print(output)
