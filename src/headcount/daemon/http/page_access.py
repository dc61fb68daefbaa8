"""The page's door: a loopback listener that a person opens and closes.

Rules of this file
  1. It is opened by the operator alone, once; asking again gives the same address and a new code.
  2. Each opening has an origin of its own, `http://NONCE.localhost:PORT`. While the port is not ours anybody may
     listen there and leave a page or a service worker at an origin that a browser remembers; nobody can leave one at
     an origin that was never there.
  3. At 127.0.0.1 the page is served only on a port that was free, never on one that settings name. Routes are there
     on both, behind the credential.
  4. Nothing is kept over a restart: credentials end with the daemon. Closing ends them first, then the connections.

Not here: credentials themselves (credentials.py), the server (listen.py), what is refused (request_checks.py).
"""

import secrets
import socket
from typing import Protocol

from headcount.daemon.credentials import Credentials
from headcount.system.clock import Clock
from headcount.system.loopback import HOST, Names, can_ask_kernel, open_loopback

NONCE_BYTES = 16


class Listener(Protocol):
    def close(self) -> None: ...


class Door(Protocol):
    """What is asked of the server."""

    async def listen_also(self, sock: socket.socket, names: Names) -> Listener: ...

    def hang_up(self, port: int) -> None: ...


class Pages:
    def __init__(self, clock: Clock, door: Door, port: int) -> None:
        self.credentials = Credentials(clock)
        self._door = door
        self._wanted = port
        self._server: Listener | None = None
        self._kept_free: socket.socket | None = None
        self._port: int | None = None
        self._host = ""
        self.knows_callers = can_ask_kernel()

    @property
    def url(self) -> str | None:
        return None if self._port is None else f"http://{HOST}:{self._port}/"

    async def open(self) -> tuple[str, str | None]:
        """The one-time link, and the same at 127.0.0.1 where the page is served there. Raises OSError where the port
        cannot be had."""
        if self._port is None:
            await self._listen()
        code = self.credentials.mint_code()
        return f"http://{self._host}/#{code}", None if self._wanted else f"{self.url}#{code}"

    async def close(self) -> bool:
        """Whether it was open."""
        self.credentials.end_all()
        if self._server is None or self._port is None:
            return False
        self._server.close()
        self._door.hang_up(self._port)
        if self._kept_free is not None:
            self._kept_free.close()
        self._server = self._kept_free = self._port = None
        return True

    async def _listen(self) -> None:
        sock, self._kept_free = open_loopback(self._wanted)
        self._port = sock.getsockname()[1]
        self._host = f"{secrets.token_hex(NONCE_BYTES)}.localhost:{self._port}"
        own = frozenset({self._host.encode()})
        plain = frozenset({b"%s:%d" % (name, self._port) for name in (b"127.0.0.1", b"localhost")})
        names = Names(page=own if self._wanted else own | plain, routes=own | plain)
        self._server = await self._door.listen_also(sock, names)
