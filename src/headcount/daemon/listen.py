"""Listening: the private unix socket, the page's loopback port, their peers, and a server that does not wake for nothing.

Rules of this file
  1. The socket is made under umask 0177 in a 0700 directory; a leftover file is replaced only by
     whoever holds the lock.
  2. The kernel's word on the peer is taken when the connection is made and closed with it.
  3. A request that does not arrive in time is closed; one that is no HTTP, or whose head is too large, is
     refused in the same form as by the gate.
  4. No timer runs while nobody calls.

Not here: what is allowed (gate.py), what is answered (routes/).
"""

import asyncio
import contextlib
import os
import socket
from pathlib import Path
from typing import Any

import msgspec
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from headcount.daemon.joined import JoinedWrites
from headcount.daemon.lineage import Seen
from headcount.system.loopback import Loopback
from headcount.system.peer import Peer
from headcount.times import BODY_WITHIN, DRAIN_STREAMS_WITHIN, HEADERS_WITHIN, KEEP_ALIVE
from headcount.wire.messages import Fault, FaultBody

BACKLOG = 512
HEAD_MOST = 32 * 1024
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


class Protocol(HttpToolsProtocol):
    """uvicorn's protocol with the peer in the scope and a deadline for slow senders."""

    _peer: Peer | None = None
    loopback: Loopback | None = None  # of a connection of the page
    _deadline: asyncio.TimerHandle | None = None
    _due: float | None = None  # how long what is coming in may take from its beginning
    _parts = 0  # beginnings and ends of heads and bodies so far
    _in_head = False
    _head = 0
    _too_large = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.transport = JoinedWrites(transport, self.loop)  # type: ignore[assignment]
        sock = transport.get_extra_info("socket")
        if sock is not None and sock.family == socket.AF_UNIX:
            with contextlib.suppress(OSError):
                self._peer = Peer.of(sock)
        elif sock is not None and sock.family == socket.AF_INET:
            with contextlib.suppress(OSError):
                self.loopback = Loopback.of(sock)
        self.app_state = {
            **self.app_state,
            "peer": self._peer,
            "loopback": self.loopback,
            "seen": Seen(),
        }
        self._within(HEADERS_WITHIN)

    def connection_lost(self, exc: Exception | None) -> None:
        self._within(None)
        super().connection_lost(exc)
        if self._peer is not None:
            self._peer.close()
            self._peer = None

    def data_received(self, data: bytes) -> None:
        before = self._parts
        super().data_received(data)
        if self._in_head:
            self._head += len(data)
            if self._head > HEAD_MOST:
                self._refuse_head()
        if self._parts != before:
            self._within(self._due)  # a request that came whole needs no timer
        elif self._deadline is None and (self.cycle is None or self.cycle.response_complete):
            self._within(HEADERS_WITHIN)  # line ends between requests: they too must come to something

    def send_400_response(self, msg: str) -> None:
        """Called for whatever the parser does not take, also for what `on_headers_complete` raised."""
        if self._too_large:
            self._refuse_head()
        else:
            self._refuse(b"400 Bad Request", "not-http", "This is not HTTP/1.1 as headcount speaks it.")

    def _refuse_head(self) -> None:
        message = f"A request line and its headers may have {HEAD_MOST} bytes."
        self._refuse(b"431 Request Header Fields Too Large", "head-too-large", message)

    def _refuse(self, status: bytes, code: str, message: str) -> None:
        if self.transport.is_closing():
            return
        body = msgspec.json.encode(FaultBody(error=Fault(code=code, message=message)))
        head = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close" % len(body)
        self.transport.write(b"HTTP/1.1 %s\r\n%s\r\n\r\n%s" % (status, head, body))
        self.transport.close()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._head = True, 0
        self._now_due(HEADERS_WITHIN)

    def on_headers_complete(self) -> None:
        self._in_head = False
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > HEAD_MOST:
            self._too_large = True  # it came whole in one piece, so nothing was counted before
            raise ValueError("the head is too large")
        super().on_headers_complete()
        self._now_due(BODY_WITHIN)

    def on_message_complete(self) -> None:
        self._now_due(None)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self.transport.flush()  # type: ignore[attr-defined]
        super().on_response_complete()

    def _now_due(self, seconds: float | None) -> None:
        self._due = seconds
        self._parts += 1

    def _within(self, seconds: float | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(seconds, self._too_slow) if seconds is not None else None

    def _too_slow(self) -> None:
        if self.transport is not None and not self.transport.is_closing():
            self.transport.close()


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
