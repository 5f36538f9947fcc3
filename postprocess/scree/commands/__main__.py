"""Starts a command (scree.commands) as the program scree asks for it, with an interpreter that has what it needs."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DEBIAN_PYTHON = "/usr/bin/python3"
TRIED = "SCREE_PYTHON_TRIED"        # set for the interpreter that is tried second


def fail_over(need):
    """What is needed is not here: Debian's own Python is tried, which sees the packages python3-*. Else the command ends."""
    if os.path.realpath(sys.executable) != os.path.realpath(DEBIAN_PYTHON) and os.access(DEBIAN_PYTHON, os.X_OK) \
            and TRIED not in os.environ and "SCREE_PYTHON" not in os.environ:
        sys.stdout.flush()
        os.execve(DEBIAN_PYTHON, [DEBIAN_PYTHON, os.path.abspath(__file__)] + sys.argv[1:], dict(os.environ, **{TRIED: sys.executable}))
    tried = " and ".join(filter(None, [os.environ.get(TRIED), sys.executable]))
    sys.stderr.write("scree: %s: %s, or name another interpreter by the environment variable SCREE_PYTHON\n" %
                     (sys.argv[1] if len(sys.argv) > 1 else "python", need % tried))
    sys.exit(2)


def main():
    sys.path = [os.path.dirname(os.path.dirname(HERE))] + [folder for folder in sys.path if folder != HERE]
    os.environ["MPLBACKEND"] = "Agg"        # no screen is needed
    if sys.version_info < (3, 11):
        fail_over("%s is older than Python 3.11: install a later one")
    try:
        from scree.commands import run
        code = run(sys.argv[1:])
    except ModuleNotFoundError as error:
        package = (error.name or "").split(".")[0]
        fail_over("the Python module %s is missing in %%s: install it (Debian: apt-get install python3-%s; else pip install it)" %
                  (package, {"vtkmodules": "vtk9", "PIL": "pil"}.get(package, package)))
    sys.exit(code)


if __name__ == "__main__":
    main()
