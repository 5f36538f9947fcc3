"""Started by the programs scree, scree_bench and scree_replay with what is asked for as JSON (src/bench/study.hpp):

    scree/bench study '{"program": ..., "command": ..., "settings": ..., "cases": ..., "out": ...}'
    scree/bench decks '{"case": ..., "options": ..., "folder": ..., "program": ..., "is_study": ...}'
    scree_bench ... | scree/bench show '{"command": ..., "settings": ..., "is_study": ..., "out": ..., "csv": ..., "json": ...}'
    scree_replay ... | scree/bench replay '{"csv": ..., "json": ...}'
"""
import json
import signal
import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])    # not the package scree, which needs numpy

from bench.decks import print_decks
from bench.launch import InputError, RunError
from bench.replays import show_replays
from bench.show import show_tables
from bench.study import launch_study


def main():
    work, request = sys.argv[1], json.loads(sys.argv[2])
    if work in ("show", "replay"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)    # it ends when the other program does
    try:
        {"study": launch_study, "show": show_tables, "replay": show_replays, "decks": print_decks}[work](request)
    except (InputError, RunError) as error:
        print(f"scree: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, InputError) else 1)
    except OSError as error:
        print(f"scree: cannot write to {error.filename or 'standard output'}: {error.strerror}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


main()
