"""Floods: senders that never finish, and senders that send more than anybody reads.

Rules of this file
  1. Only on this machine's own sockets, with a bounded number of connections, and over when told to stop.
  2. What is sent is never a request that changes anything.

Not here: what it does to a daemon (tests/campaign/web/slow_loris.py).
"""

import contextlib
import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

Address = str | tuple[str, int]

HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Filler: "
PACE = 0.1
PIECES = 20


def connected(address: Address) -> socket.socket:
    family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.settimeout(10)
    try:
        sock.connect(address)
    except BaseException:
        sock.close()
        raise
    return sock


class SlowOnes:
    """Connections that send a byte at a time: in their head, in a body that they announced, or line ends only."""

    def __init__(self, addresses: list[Address], count: int, chance: random.Random) -> None:
        self.open_ones = count
        self.closed = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(addresses, count, chance), daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _run(self, addresses: list[Address], count: int, chance: random.Random) -> None:
        body = b"POST /v1/hooks/none HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n"
        waiting = [
            (addresses[nth % len(addresses)], chance.choice((HEAD, body, b""))) for nth in range(count)
        ]
        socks: dict[socket.socket, bytes] = {}
        while not self._over.is_set() and (waiting or socks):
            for address, first in waiting[:PIECES]:  # a listener's queue is short: they come in turns
                sock = self._begun(address, first)
                if sock is not None:
                    socks[sock] = b"\r" if first == b"" else b"x"
            del waiting[:PIECES]
            for sock, byte in list(socks.items()):
                if not _takes(sock, byte):
                    sock.close()
                    del socks[sock]
                    self.closed += 1
            self.open_ones = len(socks) + len(waiting)
            self._over.wait(PACE if not waiting else 0.01)
        for sock in socks:
            sock.close()

    def _begun(self, address: Address, first: bytes) -> socket.socket | None:
        try:
            sock = connected(address)
            sock.sendall(first)
            sock.setblocking(False)
            return sock
        except OSError:
            self.closed += 1
            return None


def _takes(sock: socket.socket, byte: bytes) -> bool:
    """Whether the other end still listens: it has closed when reading ends."""
    try:
        sock.send(byte)
    except BlockingIOError:
        pass
    except OSError:
        return False
    try:
        return sock.recv(65536) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


class Flood(threading.Thread):
    """One connection after the other, full of one kind of nonsense."""

    def __init__(self, address: Address, kind: str) -> None:
        super().__init__(daemon=True)
        self.sent = 0
        self._address = address
        self._data = {
            "garbage": bytes(range(256)) * 64,
            "heads": b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X-Filler: " + b"y" * 200_000,
            "pipelined": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200,
        }[kind]
        self._over = threading.Event()

    def run(self) -> None:
        while not self._over.is_set():
            with contextlib.suppress(OSError), connected(self._address) as sock:
                sock.sendall(self._data)
                self.sent += 1
                while sock.recv(65536) and self._data[:4] != b"GET /h":
                    pass
            time.sleep(0.005)  # two cores are shared with the daemon that reports deaths

    def stop(self) -> None:
        self._over.set()
        self.join()


STOCK = """
import socket, sys, uvicorn
async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"ok"})
sock = socket.socket()
sock.bind(("127.0.0.1", 0))
sock.listen(512)
print(sock.getsockname()[1], flush=True)
server = uvicorn.Server(uvicorn.Config(app, http="httptools", lifespan="off", log_level="critical"))
server.run(sockets=[sock])
"""


@contextlib.contextmanager
def stock_server() -> Iterator[int]:
    """A well-kept server as it comes, with the parser that the daemon has; gives its port."""
    with subprocess.Popen([sys.executable, "-c", STOCK], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield int(server.stdout.readline())
        finally:
            server.kill()
