#!/usr/bin/python3
"""Spheres from LAMMPS and LIGGGHTS as a deck, and frames of a run as a data file for them.

    lammps.py import packing.data                    -> packing.toml, packing_type1.csv, ... in the current folder
    lammps.py import dump.final --folder decks
    lammps.py export results/pour                    -> results/pour/pour.data, the last frame
    lammps.py export results/pour --frame 0 --output start.data

import reads data files of atom_style sphere (LIGGGHTS: granular) and text dumps, of which the last frame. Contact laws are not in such
files: `scree check` names what is left to fill in.
"""
import argparse
import sys
from pathlib import Path

from scree import Results, ResultsError
from scree.lammps import LammpsError, read, write_data, write_deck


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    importing = verbs.add_parser("import", help="a data file or a dump as a deck")
    importing.add_argument("file")
    importing.add_argument("--folder", type=Path, default=Path(), help="where to write (default: here)")
    importing.add_argument("--scheme", default="dem", help="of the deck (default: dem)")
    exporting = verbs.add_parser("export", help="a frame of a run as a data file")
    exporting.add_argument("results", help="results folder of a run with [output.h5md]")
    exporting.add_argument("--frame", type=int, default=-1, help="number of the frame; negative ones from the end")
    exporting.add_argument("--output", type=Path, help="file to write (default: NAME.data in the folder)")
    options = parser.parse_args()
    if options.verb == "import":
        print(write_deck(read(options.file), options.folder, options.scheme))
    else:
        results = Results(options.results)
        print(write_data(results, options.output or results.folder / f"{results.name}.data", options.frame))


if __name__ == "__main__":
    try:
        main()
    except (LammpsError, ResultsError) as error:
        sys.exit(f"lammps.py: {error}")
