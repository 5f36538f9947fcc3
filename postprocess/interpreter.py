"""What scripts that the program starts share: messages as the program has them, and an interpreter that has the packages."""
import os
import sys

DEBIAN_PYTHON = "/usr/bin/python3"
TRIED = "SCREE_PYTHON_TRIED"        # set for the interpreter that is tried second


def end(verb, message):
    """Ends as the program does when its input is wrong."""
    print(f"scree: {verb}: {message}", file=sys.stderr)
    sys.exit(2)


def with_modules(verb, load):
    """What load() returns, which imports the package. Where modules are missing Debian's own Python is tried, which sees the
    packages python3-*."""
    try:
        return load()
    except ModuleNotFoundError as error:
        if os.path.realpath(sys.executable) != os.path.realpath(DEBIAN_PYTHON) and os.access(DEBIAN_PYTHON, os.X_OK) \
                and TRIED not in os.environ and "SCREE_PYTHON" not in os.environ:
            os.execve(DEBIAN_PYTHON, [DEBIAN_PYTHON, *sys.argv], os.environ | {TRIED: sys.executable})
        tried = " and ".join(filter(None, [os.environ.get(TRIED), sys.executable]))
        package = (error.name or "").split(".")[0]
        end(verb, f"the Python module {package} is missing in {tried}: install it (Debian: apt-get install python3-{package}; "
                  "else pip install it), or name another interpreter by the environment variable SCREE_PYTHON")
        raise
