"""Open and close the web page's loopback listener, and exchange a one-time code for a tab's credential.

Rules
  1. Only the operator opens the page, once. Asking again gives the same address and a new code.
  2. Each opening has its own origin, `http://NONCE.localhost:PORT`. While the port is not ours, anybody may
     listen there and leave a page or a service worker at an origin that a browser remembers. Nobody can do
     that at an origin that never existed before.
  3. At 127.0.0.1 the page is served only on a port that was free, never on one that settings name. Routes are
     served on both, behind the credential.
  4. A code works once, for a minute. A credential works for a day. Both are 32 random bytes, and only their
     hashes are kept.
  5. A code that was tried is used up, whatever the outcome.
  6. Expired codes and credentials are forgotten: unknown, old and forged ones are refused alike.
  7. Everything is in memory only: credentials end with the daemon. Closing the page ends the credentials
     first, then the connections.

Not here: the server (daemon/http/listen.py), what is refused (daemon/http/request_checks.py), what a
  credential may do (daemon/api/permissions.py).
"""

import secrets
import socket
from typing import Protocol

from headcount.daemon.identity.tokens import hash_of
from headcount.system.clock import Clock
from headcount.system.loopback import HOST, Names, can_ask_kernel, open_loopback
from headcount.times import PAGE_CODE_WITHIN, PAGE_CREDENTIAL

BYTES = 32
CODES_MOST = 16
CREDENTIALS_MOST = 64  # tabs; the oldest gives way
TEXT_MOST = 256
SCHEME = "bearer "

NONCE_BYTES = 16


class Credentials:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._codes: dict[str, float] = {}  # hash -> until when
        self._tabs: dict[str, float] = {}

    def mint_code(self) -> str:
        self._drop_old()
        while len(self._codes) >= CODES_MOST:
            del self._codes[next(iter(self._codes))]
        code = secrets.token_urlsafe(BYTES)
        self._codes[hash_of(code)] = self._clock.now() + PAGE_CODE_WITHIN
        return code

    def log_in(self, code: str) -> str | None:
        """The credential that this code buys; None: it buys none."""
        until = self._codes.pop(hash_of(code), 0.0) if _is_plausible(code) else 0.0
        if self._clock.now() >= until:
            return None
        self._drop_old()
        while len(self._tabs) >= CREDENTIALS_MOST:
            del self._tabs[next(iter(self._tabs))]
        credential = secrets.token_urlsafe(BYTES)
        self._tabs[hash_of(credential)] = self._clock.now() + PAGE_CREDENTIAL
        return credential

    def admits(self, authorization: str | None) -> bool:
        if authorization is None or not authorization.lower().startswith(SCHEME):
            return False
        credential = authorization[len(SCHEME) :].strip()
        return _is_plausible(credential) and self._tabs.get(hash_of(credential), 0.0) > self._clock.now()

    def end_all(self) -> None:
        self._codes.clear()
        self._tabs.clear()

    def _drop_old(self) -> None:
        now = self._clock.now()
        self._codes = {hash: until for hash, until in self._codes.items() if until > now}
        self._tabs = {hash: until for hash, until in self._tabs.items() if until > now}


def _is_plausible(text: str) -> bool:
    return 0 < len(text) <= TEXT_MOST and text.isascii()


class ClosableSocket(Protocol):
    def close(self) -> None: ...


class PageServer(Protocol):
    """What is asked of the server."""

    async def listen_also(self, sock: socket.socket, names: Names) -> ClosableSocket: ...

    def hang_up(self, port: int) -> None: ...


class PageAccess:
    def __init__(self, clock: Clock, door: PageServer, port: int) -> None:
        self.credentials = Credentials(clock)
        self._door = door
        self._wanted = port
        self._server: ClosableSocket | None = None
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
