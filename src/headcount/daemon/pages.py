"""The page's door: a loopback listener that a person opens and closes, and what outlasts a restart of it.

Rules of this file
  1. It is opened by the operator alone, once; asking again gives the same address and a new code.
  2. Port and hashes of credentials are kept in a private file, so that a tab goes on after the daemon was
     restarted. A start that finds the port taken ends every credential: whoever listens there is not us. So does
     one that finds another port set: no tab can follow there.
  3. Closing ends the credentials first, then the connections.

Not here: credentials themselves (credentials.py), the server (listen.py), what is refused (gate.py).
"""

import logging
import socket
from pathlib import Path
from typing import Protocol

import msgspec

from headcount.daemon.credentials import Credentials
from headcount.own_files import open_anew, read
from headcount.system.clock import Clock
from headcount.system.loopback import HOST, open_loopback

KEPT_MOST = 64 * 1024  # bytes; 64 tabs are a tenth of it

log = logging.getLogger("headcount.pages")


class Listener(Protocol):
    def close(self) -> None: ...


class Door(Protocol):
    """What is asked of the server."""

    async def listen_also(self, sock: socket.socket) -> Listener: ...

    def hang_up(self, port: int) -> None: ...


class Kept(msgspec.Struct):
    port: int
    credentials: dict[str, float]


class Pages:
    def __init__(self, place: Path, clock: Clock, door: Door, port: int) -> None:
        self.credentials = Credentials(clock)
        self._place = place
        self._door = door
        self._wanted = port
        self._server: Listener | None = None
        self._port: int | None = None

    @property
    def url(self) -> str | None:
        return None if self._port is None else f"http://{HOST}:{self._port}/"

    async def open(self) -> str:
        """The one-time link. Raises OSError where the port cannot be had."""
        if self._port is None:
            await self._listen(self._wanted)
            self.save()
        return f"{self.url}#{self.credentials.mint_code()}"

    async def close(self) -> bool:
        """Whether it was open."""
        self.credentials.end_all()
        self._place.unlink(missing_ok=True)
        if self._server is None or self._port is None:
            return False
        self._server.close()
        self._door.hang_up(self._port)
        self._server = self._port = None
        return True

    async def reopen(self) -> None:
        """As it was before a restart, if somebody may still look."""
        kept = self._read()
        if kept is None or self._port is not None:
            return
        if self._wanted not in (0, kept.port):
            self._place.unlink(missing_ok=True)
            return
        self.credentials.remember(kept.credentials.items())
        if not self.credentials.remembered():
            self._place.unlink(missing_ok=True)
            return
        try:
            await self._listen(kept.port)
        except OSError as error:
            log.warning("the page's port %d cannot be had again: %s", kept.port, error)
            await self.close()

    def save(self) -> None:
        """Best effort: a tab that is forgotten asks for a new link."""
        if self._port is None:
            return
        new = self._place.with_suffix(".new")
        try:
            with open(open_anew(str(new)), "wb") as file:
                file.write(msgspec.json.encode(Kept(self._port, self.credentials.remembered())))
            new.replace(self._place)
        except OSError as error:
            log.warning("open pages will not outlast a restart: %s", error)

    def _read(self) -> Kept | None:
        try:
            return msgspec.json.decode(read(str(self._place), KEPT_MOST), type=Kept)
        except (OSError, msgspec.MsgspecError):
            return None

    async def _listen(self, port: int) -> None:
        sock = open_loopback(port)
        self._port = sock.getsockname()[1]
        self._server = await self._door.listen_also(sock)
