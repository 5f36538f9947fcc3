"""Draws columns of a run's time series over time, one panel per unit, profiles as maps; several runs are overlaid.

    scree plot scalars results/attraction                               what was measured
    scree plot scalars results/attraction --all                         how the method fared too: dt, sweeps, residual, ...
    scree plot scalars results/attraction --columns max_overlap --log
    scree plot scalars results/a results/b --columns kinetic_energy --output compare.pdf --style paper
"""
from scree import Results, plots, style
from scree.commands import parser_of


def main(words):
    parser = parser_of("plot scalars", __doc__)
    parser.add_argument("results", nargs="+", help="results folders")
    parser.add_argument("--columns", nargs="+", metavar="NAME", help="columns to draw; * and ? match as in a shell")
    parser.add_argument("--all", action="store_true", help="columns of the method too")
    parser.add_argument("--log", action="store_true", help="logarithmic values")
    style.add_options(parser, "NAME_scalars.png in the first folder")
    options = parser.parse_args(words)
    runs = [Results(folder) for folder in options.results]
    output = options.output or runs[0].folder / f"{runs[0].name}_scalars.png"
    style.save(plots.scalars(runs, options.columns, options.log, options.all, options.style)[0].figure, output)
    print(output)
