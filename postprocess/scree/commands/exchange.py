"""Files of other programs as decks, and frames of a run as data files of LAMMPS.

Grains: LAMMPS, LIGGGHTS, YADE, MercuryDPM, STL
    scree exchange import packing.data                -> packing.toml, packing_type1.csv, ... in the current folder
    scree exchange import dump.final --folder decks   the last frame of a dump
    scree exchange import silo.stl --scale 1e-3       walls of a scene in mm
    scree exchange import stones.stl --bodies         a body from each closed convex solid

Plans of crowds: DXF, Vadere, JuPedSim, Pathfinder, trajectories
    scree exchange import station.dxf --list          what its layers hold
    scree exchange import station.dxf --people 200    -> station.toml, station.wkt, station.left_out.txt
    scree exchange import station.dxf --walkable FLOOR --obstacle "WALL*" COLUMNS --exit DOORS --unit mm --gap 0.02
    scree exchange import walls.dxf --obstacle WALLS --thickness 0.1 --around 2      single lines as walls, and what they enclose
    scree exchange import rimea_06.scenario           a scenario of Vadere; or a zip file of web-based JuPedSim
    scree exchange import ground.dxf upper.dxf --floors ground=0 upper=3.5           a drawing for each floor, and its elevation
    scree exchange import geometry.xml                a geometry of JuPedSim up to 0.8: all floors, and stairs between them
    scree exchange import run.sqlite --people count   area and people of the first frame of JuPedSim; or .h5
    scree exchange import traj.txt --plan hall.dxf --frame 400    people of the Juelich archive in a plan; or of Pathfinder's results

    scree exchange export results/pour                -> results/pour/pour.data, the last frame
    scree exchange export results/pour --frame 0 --output start.data

What a file is, its content shows. Contact laws are in none of the files of grains: `scree check` names what is left to
fill in. Of plans, NAME.left_out.txt lists what is not in the deck.
"""
import argparse
import sys
from pathlib import Path

from scree import Results
from scree.commands import parser_of
from scree.errors import ExchangeError
from scree.exchange import (FORMATS, OPTIONS, Plan, layers_of, left_out_text, read, read_building, write_data, write_deck,
                            write_plan)
from scree.exchange.plan import UNITS

ROLES = ("walkable", "obstacle", "exit", "start", "waypoint")


def parser_of_files():
    parser = parser_of("exchange", __doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    importing = verbs.add_parser("import", help="a file of another program as a deck", description=__doc__,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
    importing.add_argument("file", nargs="+", help="what to import; several: the floors of a building (--floors)")
    importing.add_argument("--format", choices=FORMATS, help="what the file is (default: found by its content)")
    importing.add_argument("--folder", type=Path, default=Path(), help="where to write (default: here)")
    importing.add_argument("--force", action="store_true", help="overwrite a deck that is there")
    of_grains = importing.add_argument_group("grains")
    of_grains.add_argument("--scheme", default="dem", help="of the deck (default: dem)")
    of_grains.add_argument("--scale", type=float, help="of STL: what lengths are multiplied with to be m")
    of_grains.add_argument("--bodies", action="store_true", default=None, help="of STL: closed convex solids are bodies, not walls")
    _add_options_of_plans(importing.add_argument_group("plans of crowds"))
    exporting = verbs.add_parser("export", help="a frame of a run as a data file of LAMMPS")
    exporting.add_argument("results", help="results folder of a run with [output.h5md]")
    exporting.add_argument("--frame", type=int, default=-1, help="number of the frame; negative ones from the end")
    exporting.add_argument("--output", type=Path, help="file to write (default: NAME.data in the folder)")
    return parser


def _add_options_of_plans(group):
    for role, what in zip(ROLES, ("where people can be", "what is cut out of it", "exits: areas, or lines in walls",
                                  "regions where people start", "areas on their way")):
        group.add_argument(f"--{role}", nargs="+", metavar="LAYER", action="extend",
                           help=f"of DXF: layers with {what}, * and ? stand for letters (default: by their names)")
    group.add_argument("--list", action="store_true", help="of DXF: only say what the layers hold")
    group.add_argument("--unit", choices=UNITS,
                       help="of DXF and text trajectories: the unit, where the file is wrong or silent; with --plan that of the trajectory")
    group.add_argument("--gap", type=float, help="of DXF and XML: ends up to so many m apart are joined (default: 0.001)")
    group.add_argument("--curve", type=float, help="of DXF: m from curves to the lines in their place (default: 0.005)")
    group.add_argument("--thickness", type=float, help="of DXF: open lines of obstacles are walls of so many m")
    group.add_argument("--around", type=float, help="of DXF without a walkable layer: what walls enclose; where exits lie outside of it, "
                       "or nothing is enclosed, the rectangle around all else and so many m")
    group.add_argument("--inside", nargs="+", metavar="X,Y", help="of DXF without a walkable layer: only where one gets to from these "
                       "places [m]")
    group.add_argument("--opening", type=float, help="of DXF without a walkable layer: openings in walls up to so many m close them (default: 2)")
    group.add_argument("--leave-open", action="store_true", default=None, help="of DXF: lines that close no ring are left out")
    group.add_argument("--floors", nargs="+", metavar="NAME=ELEVATION", help="of several files: name and elevation [m] of the floor of each")
    group.add_argument("--shift", nargs="+", metavar="NAME=X,Y", help="of several files: moves a floor, so that floors lie above each other [m]")
    group.add_argument("--name", default="building", help="of several files: name of the deck (default: building)")
    group.add_argument("--floor", type=float, help="of JuPedSim's XML: elevation of the only floor to take [m] (default: all)")
    group.add_argument("--plan", type=Path, help="of trajectories: file with area, exits and obstacles (DXF, XML, WKT, Vadere)")
    group.add_argument("--frame", type=int, help="of trajectories: whose people are taken (default: the first)")
    group.add_argument("--people", default="file", metavar="file|count|N",
                       help="file: at their places, in a CSV file; count: as many at random; N: so many, where the file has none")


def options_of(given):
    """What was given on the command line for the reader."""
    options = {name: getattr(given, name) for name in OPTIONS if getattr(given, name, None) is not None}
    if "inside" in options:
        options["inside"] = [point_of(text, f"--inside {text}: X,Y is wanted, such as 5,2.5") for text in given.inside]
    layers = {role: getattr(given, role) for role in ROLES if getattr(given, role) is not None}
    return options | ({"layers": layers} if layers else {})


def do_import(given):
    if given.list:
        for path in given.file:
            print(layers_of(path))
        return
    options = options_of(given)
    if "plan" in options:
        of_plan = {name: options.pop(name) for name in ("layers", "gap", "curve", "thickness", "around", "inside", "opening", "leave_open", "floor")
                   if name in options}
        options["plan"] = read(options["plan"], **of_plan)
    if len(given.file) > 1 or given.floors:
        found = read_building(floors_of(given), given.name, given.format, shifts_of(given), **options)
    else:
        found = read(given.file[0], given.format, **options)
    if isinstance(found, Plan):
        print(write_plan(found, given.folder, people_of(given.people), given.force))
        print(left_out_text(found), end="", file=sys.stderr)
        return
    print(write_deck(found, given.folder, given.scheme, given.force))
    if found.left_out:
        print(f"left out: {', '.join(found.left_out)}", file=sys.stderr)
    for name, what in found.unknown.items():
        print(f"no shape for the wall {name}: {what}", file=sys.stderr)


def floors_of(given):
    """Files and elevations of floors by name, one for each file in order."""
    pairs = [text.partition("=") for text in given.floors or []]
    try:
        floors = {name: (path, float(elevation)) for path, (name, _, elevation) in zip(given.file, pairs)}
    except ValueError:
        raise ExchangeError(f"--floors {' '.join(given.floors)}: NAME=ELEVATION is wanted for each file, such as upper=3.5") from None
    if len(pairs) != len(given.file) or len(floors) != len(pairs):
        raise ExchangeError(f"{len(given.file)} files and {len(floors)} floors with names of their own: give --floors NAME=ELEVATION "
                            "for each file, in their order")
    return floors


def shifts_of(given):
    """By how much floors are moved, by name."""
    pairs = [text.partition("=") for text in given.shift or []]
    return {name: point_of(words, f"--shift {name}={words}: NAME=X,Y is wanted, such as upper=-40,0") for name, _, words in pairs}


def point_of(text, wanted):
    try:
        x, y = map(float, text.split(","))
    except ValueError:
        raise ExchangeError(wanted) from None
    return [x, y]


def people_of(text):
    if text in ("file", "count"):
        return text
    if not text.isdigit() or int(text) == 0:
        raise ExchangeError(f"--people {text}: file, count or a number of people is wanted")
    return int(text)


def main(words):
    given = parser_of_files().parse_args(words)
    if given.verb == "import":
        try:
            do_import(given)
        except ExchangeError as error:
            if "is there already" not in str(error):
                raise
            raise ExchangeError(f"{error} (--force overwrites it)") from None
    else:
        results = Results(given.results)
        print(write_data(results, given.output or results.folder / f"{results.name}.data", given.frame))
