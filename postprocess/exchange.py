#!/usr/bin/python3
"""Files of LAMMPS, LIGGGHTS, YADE and MercuryDPM and STL scenes as decks, and frames of a run as data files of LAMMPS.

    exchange.py import packing.data                -> packing.toml, packing_type1.csv, ... in the current folder
    exchange.py import dump.final --folder decks   the last frame of a dump
    exchange.py import silo.stl --scale 1e-3       walls of a scene in mm
    exchange.py import stones.stl --bodies         a body from each closed convex solid
    exchange.py export results/pour                -> results/pour/pour.data, the last frame
    exchange.py export results/pour --frame 0 --output start.data

What a file is, its content tells. Contact laws are in none of them: `scree check` names what is left to fill in.
"""
import argparse
import sys
from pathlib import Path

from scree import Results, ResultsError
from scree.exchange import FORMATS, ExchangeError, read, write_data, write_deck


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    importing = verbs.add_parser("import", help="a file of another program as a deck")
    importing.add_argument("file")
    importing.add_argument("--format", choices=FORMATS, help="what the file is (default: found by its content)")
    importing.add_argument("--folder", type=Path, default=Path(), help="where to write (default: here)")
    importing.add_argument("--scheme", default="dem", help="of the deck (default: dem)")
    importing.add_argument("--force", action="store_true", help="overwrite a deck that is there")
    importing.add_argument("--scale", type=float, default=1.0, help="of STL: what lengths are multiplied with to be m")
    importing.add_argument("--bodies", action="store_true", help="of STL: closed convex solids are bodies, not walls")
    exporting = verbs.add_parser("export", help="a frame of a run as a data file of LAMMPS")
    exporting.add_argument("results", help="results folder of a run with [output.h5md]")
    exporting.add_argument("--frame", type=int, default=-1, help="number of the frame; negative ones from the end")
    exporting.add_argument("--output", type=Path, help="file to write (default: NAME.data in the folder)")
    options = parser.parse_args()
    if options.verb == "import":
        scene = read(options.file, options.format, options.scale, options.bodies)
        print(write_deck(scene, options.folder, options.scheme, options.force))
        if scene.left_out:
            print(f"left out: {', '.join(scene.left_out)}", file=sys.stderr)
        for name, what in scene.unknown.items():
            print(f"no shape for the wall {name}: {what}", file=sys.stderr)
    else:
        results = Results(options.results)
        print(write_data(results, options.output or results.folder / f"{results.name}.data", options.frame))


if __name__ == "__main__":
    try:
        main()
    except (ExchangeError, ResultsError) as error:
        sys.exit(f"exchange.py: {error}" + (" (--force overwrites it)" if "is there already" in str(error) else ""))
