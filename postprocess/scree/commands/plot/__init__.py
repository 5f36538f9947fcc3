"""Draws plots of results: `scree plot KIND`, of which each has a help of its own, `scree plot KIND --help`.

    scree plot scalars results/pour       time series of a run
"""
from importlib import import_module

from scree.commands import parser_of
from scree.errors import ResultsError

KINDS = {"scalars": "columns of time series over time, of one or several runs",
         "sweep": "a quantity of a parameter study over a key, with intervals",
         "continuum": "profiles and maps of [output.continuum]",
         "load-test": "stress and strain of samples under driven walls",
         "rheology": "friction and solid fraction over the inertial number",
         "density": "crowds: maps of density, speed, load, levels of service",
         "evacuation": "crowds: who is inside and has left over time, and paths",
         "flow": "crowds: flows through exits over time, or over the width of a door",
         "fundamental-diagram": "crowds: speed and flow over density, beside published ones",
         "scaling": "results of scree bench on several numbers of ranks",
         "performance-profile": "results of scree_replay: shares of problems within a multiple of the least time"}


def main(words):
    kind = words[0] if words else "--help"
    if kind in KINDS:
        return import_module(f"scree.commands.plot.{kind.replace('-', '_')}").main(words[1:])
    if kind.startswith("-"):
        width = max(map(len, KINDS))
        kinds = "\n".join(f"    {name:{width}}  {what}" for name, what in KINDS.items())
        parser = parser_of("plot", f"{__doc__}\n\nkinds:\n{kinds}")
        parser.add_argument("kind", metavar="KIND", help="one of these")
        return parser.parse_args([kind] if words else ["--help"])
    raise ResultsError(f"no plot {kind!r}; there are: {', '.join(KINDS)}")
