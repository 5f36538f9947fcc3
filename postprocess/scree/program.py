"""The program scree: where it is, and runs of it."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from scree.errors import ProgramMissing, RunError

# For Open MPI on one machine: as root, in containers, with more ranks than cores. What is set already stays.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
               "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_mpi_yield_when_idle": "1", "OMP_NUM_THREADS": "1",
               "OPENBLAS_NUM_THREADS": "1"}
INTERRUPTED = 4    # exit code of a run that was stopped and left a checkpoint


def program():
    """Path of the program: the variable SCREE, else the one in PATH, else that of the source tree around this package."""
    given = os.environ.get("SCREE")
    built = Path(__file__).resolve().parents[2] / "build/release/bin/scree"
    for path in (given, shutil.which("scree"), built):
        if path and Path(path).is_file():
            return str(path)
    raise ProgramMissing("there is no program scree" + (f" at {given}" if given else " in PATH") +
                         ": install it, or name it by the environment variable SCREE")


def ask(*words):
    """What the program prints on one rank. Raises RunError if it fails."""
    done = subprocess.run([program(), *map(str, words)], capture_output=True, text=True, env=ENVIRONMENT | dict(os.environ),
                          check=False)
    if done.returncode != 0:
        raise RunError(done.stderr.strip() or done.stdout.strip(), done.returncode)
    return done.stdout


def start(*words, ranks=1, progress=True):
    """Runs `scree WORDS` to its end and returns what it said. Raises RunError unless it ends well or leaves a checkpoint."""
    launcher = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
    said = []
    with subprocess.Popen([*launcher, program(), *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, env=ENVIRONMENT | dict(os.environ)) as process:
        try:
            for line in process.stdout:
                said.append(line.rstrip("\n"))
                if progress and re.match(r" *[0-9.]+ % ", line):
                    print("\r" + line.rstrip("\n"), end="", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            process.wait()    # Ctrl-C reached the run as well: it ends in good order with a checkpoint
            raise
        finally:
            if progress:
                print(file=sys.stderr)
    if process.returncode not in (0, INTERRUPTED):
        raise RunError(_message_in(said), process.returncode)
    return "\n".join(said)


def _message_in(said):
    """The program's own message, without what mpirun adds; else the last lines."""
    first = next((k for k, line in enumerate(said) if line.startswith("scree: ")), None)
    if first is None:
        return "\n".join(said[-10:])
    last = next((k for k in range(first + 1, len(said)) if not said[k].startswith(" ")), len(said))
    return "\n".join(said[first:last]).removeprefix("scree: ")
