"""Listening: the private unix socket, the page's loopback port, and a server that does not wake for nothing.

Rules of this file
  1. The socket is made under umask 0177 in a 0700 directory; a leftover file is replaced only by
     whoever holds the lock.
  2. No timer runs while nobody calls.

Not here: a connection and its peer (protocol.py), what is allowed (gate.py), what is answered (routes/).
"""

import asyncio
import os
import socket
from pathlib import Path
from typing import Any

import uvicorn

from headcount.daemon.protocol import Protocol
from headcount.times import DRAIN_STREAMS_WITHIN, KEEP_ALIVE

BACKLOG = 512
PATH_MOST = 100  # of the kernel's 108


def open_unix_socket(path: Path) -> socket.socket:
    """A path that is too long for an address is reached through its directory."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    before = os.umask(0o177)
    try:
        path.unlink(missing_ok=True)
        long = len(os.fsencode(path)) > PATH_MOST
        sock.bind(f"/proc/self/fd/{directory}/{path.name}" if long else str(path))
        sock.listen(BACKLOG)
        sock.setblocking(False)
    except BaseException:
        sock.close()
        raise
    finally:
        os.umask(before)
        os.close(directory)
    return sock


async def _nobody(*_: Any) -> None:
    raise RuntimeError("no application yet")


class Server(uvicorn.Server):
    """uvicorn's server, waiting on an event instead of waking ten times a second."""

    def __init__(self) -> None:
        super().__init__(
            uvicorn.Config(
                _nobody,
                http=Protocol,
                ws="none",
                lifespan="off",
                loop="asyncio",
                log_config=None,
                access_log=False,
                date_header=False,
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=KEEP_ALIVE,
                timeout_graceful_shutdown=DRAIN_STREAMS_WITHIN,
                backlog=BACKLOG,
            )
        )
        self._ending = asyncio.Event()
        self._listening = asyncio.Event()

    def serve_app(self, app: Any) -> None:
        """The application is made of the parts that need the server, so it comes last."""
        self.config.app = app

    async def serve_on(self, sock: socket.socket) -> None:
        """Without uvicorn's own signal handlers: the daemon has its own."""
        await self._serve(sockets=[sock])

    async def main_loop(self) -> None:
        self._listening.set()
        await self._ending.wait()

    async def listen_also(self, sock: Any) -> asyncio.Server:
        """One more listener, with the same application, after the first; it ends with the others."""
        await self._listening.wait()

        def protocol() -> asyncio.Protocol:
            return Protocol(self.config, self.server_state, self.lifespan.state)

        loop = asyncio.get_running_loop()
        server: asyncio.Server = await loop.create_server(protocol, sock=sock, backlog=BACKLOG)
        self.servers.append(server)
        return server

    def hang_up(self, port: int) -> None:
        """Closes every connection that came in by that port."""
        for connection in list(self.server_state.connections):
            if isinstance(connection, Protocol) and connection.loopback and connection.loopback.port == port:
                connection.transport.close()

    async def ended(self) -> None:
        """Returns when the server was told to end."""
        await self._ending.wait()

    def end(self) -> None:
        self.should_exit = True
        self._ending.set()
