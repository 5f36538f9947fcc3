"""A browser without a window for tests of pages: Chromium, driven by its DevTools protocol over a websocket.

    with Browser(folder) as browser:
        browser.open(folder / "report.html")
        browser.run("document.title")
        browser.press("play")

`browser.errors` has what the page's script complained about, `browser.requests` every address that the page asked for.
Skips the test where there is no Chromium (Debian: chromium).
"""
import base64
import json
import os
import select
import shutil
import socket
import struct
import subprocess
import time
import unittest
from pathlib import Path

START_SECONDS = 60
ANSWER_SECONDS = 60


class PageError(AssertionError):
    """The page's script threw, or the browser did not answer."""


class Browser:
    def __init__(self, folder, size=(1200, 900)):
        program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if program is None:
            raise unittest.SkipTest("there is no chromium (scripts/install-deps.sh tests)")
        self.errors, self.requests, self._number = [], [], 0
        self._profile = Path(folder) / "browser-profile"
        # As root Chromium has no sandbox; /dev/shm is small in containers.
        self._process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions", "--mute-audio",
             "--remote-debugging-port=0", f"--user-data-dir={self._profile}", "--window-size=%d,%d" % size, "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            self._socket = _connect(self._page_address())
            for domain in ("Page", "Runtime", "Network", "Log"):
                self.ask(f"{domain}.enable")
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if hasattr(self, "_socket"):
            self._socket.close()
        for _ in range(20):     # helpers of the browser may still write
            shutil.rmtree(self._profile, ignore_errors=True)
            if not self._profile.exists():
                break
            time.sleep(0.1)

    def open(self, path, part=""):
        """Opens a file, at a part of it ("#name"), and waits until it is loaded."""
        self._loaded = False
        self.ask("Page.navigate", url=Path(path).resolve().as_uri() + part)
        deadline = time.monotonic() + ANSWER_SECONDS
        while not self._loaded:
            if time.monotonic() > deadline:
                raise PageError(f"{path} was not loaded within {ANSWER_SECONDS} s")
            self._note(self._receive(deadline))

    def run(self, script):
        """Value of an expression in the page. Raises PageError if it throws."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise PageError(f"{script}: {_text_of(answer['exceptionDetails'])}")
        return answer["result"].get("value")

    def text(self, identity):
        """Text of an element."""
        return self.run(f"document.getElementById({json.dumps(identity)}).textContent")

    def set(self, identity, value, event):
        """Gives an element a value, as one who uses it, and sends its event."""
        self.run(f"(() => {{ const e = document.getElementById({json.dumps(identity)}); e.value = {json.dumps(str(value))};"
                 f" e.dispatchEvent(new Event({json.dumps(event)}, {{bubbles: true}})); }})()")

    def press(self, identity):
        """Moves to an element and presses the mouse on its middle."""
        x, y = self.run(f"(() => {{ const e = document.getElementById({json.dumps(identity)}); e.scrollIntoView({{block: 'center'}});"
                        " const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def picture(self, path, whole=False):
        """Stores what is seen, or the whole page, as a PNG."""
        found = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        Path(path).write_bytes(base64.b64decode(found["data"]))

    def print(self, path):
        """Stores the page as it is printed, as a PDF."""
        Path(path).write_bytes(base64.b64decode(self.ask("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"]))

    def ask(self, method, **parameters):
        """One command of the DevTools protocol and its result."""
        self._number += 1
        _send(self._socket, json.dumps({"id": self._number, "method": method, "params": parameters}))
        deadline = time.monotonic() + ANSWER_SECONDS
        while True:
            message = self._receive(deadline)
            if message.get("id") == self._number:
                if "error" in message:
                    raise PageError(f"{method}: {message['error'].get('message')}")
                return message["result"]
            self._note(message)

    def _note(self, message):
        what, values = message.get("method"), message.get("params", {})
        if what == "Page.loadEventFired":
            self._loaded = True
        elif what == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
        elif what == "Runtime.exceptionThrown":
            self.errors.append(_text_of(values["exceptionDetails"]))
        elif what == "Runtime.consoleAPICalled" and values["type"] in ("error", "assert"):
            self.errors.append(" ".join(str(item.get("value", item.get("description"))) for item in values["args"]))
        elif what == "Log.entryAdded" and values["entry"]["level"] == "error":
            self.errors.append(values["entry"]["text"])

    def _receive(self, deadline):
        return json.loads(_read_message(self._socket, deadline))

    def _page_address(self):
        """Port and path of the page's socket: the browser writes its port to a file."""
        from urllib.request import urlopen

        port_file = self._profile / "DevToolsActivePort"
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise PageError(f"chromium ended with code {self._process.returncode}")
            try:
                port = int(port_file.read_text().split()[0])
                with urlopen(f"http://127.0.0.1:{port}/json/list", timeout=10) as answer:
                    pages = [page for page in json.load(answer) if page["type"] == "page"]
                if pages:
                    return port, pages[0]["webSocketDebuggerUrl"].split(str(port), 1)[1]
            except (OSError, ValueError, IndexError):
                pass
            time.sleep(0.05)
        raise PageError(f"chromium did not start within {START_SECONDS} s")


# ---- websockets (RFC 6455), as much as the protocol needs

def _connect(address):
    port, path = address
    found = socket.create_connection(("127.0.0.1", port), timeout=START_SECONDS)
    key = base64.b64encode(os.urandom(16)).decode()
    found.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                  f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
    head = b""
    while not head.endswith(b"\r\n\r\n"):       # byte by byte: what follows are messages
        byte = found.recv(1)
        if not byte:
            raise PageError("the browser closed its socket")
        head += byte
    if b" 101 " not in head.split(b"\r\n")[0]:
        raise PageError(f"no websocket: {head!r}")
    return found


def _send(connection, text):
    data = text.encode()
    size = len(data)
    head = bytes([0x81]) + (bytes([0x80 | size]) if size < 126 else bytes([0xFE]) + struct.pack(">H", size) if size < 65536
                            else bytes([0xFF]) + struct.pack(">Q", size))
    mask = os.urandom(4)
    repeated = (mask * (size // 4 + 1))[:size]
    masked = (int.from_bytes(data, "big") ^ int.from_bytes(repeated, "big")).to_bytes(size, "big")
    connection.sendall(head + mask + masked)


def _read_message(connection, deadline):
    """The next text message; fragments are put together."""
    parts = []
    while True:
        first, second = _read(connection, 2, deadline)
        size = second & 0x7F
        if size == 126:
            size, = struct.unpack(">H", _read(connection, 2, deadline))
        elif size == 127:
            size, = struct.unpack(">Q", _read(connection, 8, deadline))
        content = _read(connection, size, deadline)
        if first & 0x0F == 0x8:
            raise PageError("the browser closed its socket")
        if first & 0x0F in (0x0, 0x1):
            parts.append(content)
            if first & 0x80:
                return b"".join(parts).decode()


def _read(connection, size, deadline):
    data = bytearray()
    while len(data) < size:
        if not select.select([connection], [], [], max(deadline - time.monotonic(), 0))[0]:
            raise PageError(f"the browser did not answer within {ANSWER_SECONDS} s")
        piece = connection.recv(min(size - len(data), 1 << 20))
        if not piece:
            raise PageError("the browser closed its socket")
        data += piece
    return bytes(data)


def _text_of(details):
    return details.get("exception", {}).get("description") or details.get("text", "")
