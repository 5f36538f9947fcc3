"""A screen that nobody sees: VTK draws into windows of an X server."""
import os
import select
import shutil
import subprocess
from contextlib import contextmanager

from scree.errors import RenderError


@contextmanager
def virtual_screen():
    """An X server of our own, in DISPLAY; VTK would abort the process if there were none."""
    if shutil.which("Xvfb") is None:
        if not os.environ.get("DISPLAY"):
            raise RenderError("drawing needs Xvfb or a screen: install xvfb (scripts/install-deps.sh) or set DISPLAY")
        yield
        return
    server, display = _start_xvfb()
    before = os.environ.get("DISPLAY")
    os.environ["DISPLAY"] = display
    try:
        yield
    finally:
        if before is None:
            del os.environ["DISPLAY"]
        else:
            os.environ["DISPLAY"] = before
        server.terminate()
        server.wait()


def _start_xvfb():
    for _ in range(3):      # a loaded machine can make it give up
        read_end, write_end = os.pipe()
        # setpriv: the server ends with this process, however that ends.
        # Without -noreset the server restarts when its only client closes a window, and the next connection may
        # come too early: VTK aborts then.
        server = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", "Xvfb", "-displayfd", str(write_end), "-screen",
                                   "0", "640x480x24", "-noreset", "-nolisten", "tcp"], pass_fds=[write_end],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write_end)
        number = b""
        while not number.endswith(b"\n") and select.select([read_end], [], [], 30)[0]:
            piece = os.read(read_end, 16)
            if not piece:
                break
            number += piece
        os.close(read_end)
        if number.endswith(b"\n"):
            return server, f":{number.decode().strip()}"
        server.kill()
        server.wait()
    raise RenderError("Xvfb does not start; run it by hand to see why: Xvfb -displayfd 1")
