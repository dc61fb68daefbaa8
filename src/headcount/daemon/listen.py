"""Listening: the private unix socket, the page's loopback port, and a server that does not wake for nothing.

Rules of this file
  1. The socket is made under umask 0177 in a 0700 directory; a leftover file is replaced only by
     whoever holds the lock.
  2. No timer runs while nobody calls.

Not here: taking callers in (daemon/http/listen.py), a connection (daemon/http/connection.py) and its peer (daemon/http/request.py), what is allowed
(daemon/http/request_checks.py), what is answered (routes/).
"""

import asyncio
import os
import socket
from contextlib import suppress
from pathlib import Path

from headcount.daemon.http.connection import Protocol
from headcount.daemon.http.listen import Accepting, MakeRoom, no_room
from headcount.daemon.http.request import Line
from headcount.daemon.http.request_checks import Gate
from headcount.system.loopback import Names
from headcount.system.processes.descriptor_limits import count_free
from headcount.times import DRAIN_STREAMS_WITHIN

BACKLOG = 512
PATH_MOST = 100  # of the kernel's 108
A_CALLER_NEEDS = 8  # descriptors: its connection, its pidfd, and looks at it and those above it


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


class Server:
    """Its listeners and their connections, until it is told to end."""

    def __init__(self, make_room: MakeRoom = no_room) -> None:
        self._gate: Gate | None = None
        self._make_room = make_room
        self._listeners: list[Accepting] = []
        self._private: Accepting | None = None
        self._connections: set[Protocol] = set()
        self._tasks: set[asyncio.Task[None]] = set()  # answers in work
        self._listening = asyncio.Event()
        self._ending = asyncio.Event()

    def serve_app(self, gate: Gate) -> None:
        """It is made of the parts that need the server, so it comes last."""
        self._gate = gate

    def listen(self, sock: socket.socket) -> None:
        """On the unix socket; instead of the one before, whose place was taken away."""
        before, self._private = self._private, self._listen(sock)
        if before is not None:
            before.close()
        self._listening.set()

    async def serve(self) -> None:
        """Until the end, and what is being answered then has been."""
        await self._ending.wait()
        for listener in self._listeners:
            listener.close()
        for connection in tuple(self._connections):
            connection.end()
        with suppress(TimeoutError):  # a connection is lost when all that was written to it is sent
            async with asyncio.timeout(DRAIN_STREAMS_WITHIN):
                for connection in tuple(self._connections):
                    await connection.line.lost.wait()
        for task in (late := tuple(self._tasks)):
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
        for connection in tuple(self._connections):
            connection.transport.abort()

    async def listen_also(self, sock: socket.socket, names: Names) -> Accepting:
        """The page's listener, for the same gate, after the first; it ends with the others."""
        await self._listening.wait()
        return self._listen(sock, names)

    def hang_up(self, port: int) -> None:
        """Closes every connection that came in by that port."""
        for connection in tuple(self._connections):
            if connection.line.loopback is not None and connection.line.loopback.ours[1] == port:
                connection.transport.abort()

    async def ended(self) -> None:
        """Returns when the server was told to end."""
        await self._ending.wait()

    def end(self) -> None:
        self._ending.set()

    def _room_for_a_caller(self, *, none_left: bool = False) -> int:
        """Where nobody else gives a descriptor up, the connection that has rested longest is closed: whoever comes again by
        it connects again. The room that this makes is there a turn of the loop later."""
        given_up = self._make_room(none_left=none_left)
        if not given_up and (none_left or count_free() < A_CALLER_NEEDS):
            resting = [each for each in self._connections if each.rests_since is not None]
            if resting:
                min(resting, key=lambda each: each.rests_since or 0.0).cut()
        return given_up

    def _listen(self, sock: socket.socket, names: Names | None = None) -> Accepting:
        assert self._gate is not None, "nobody answers yet"
        loop, gate = asyncio.get_running_loop(), self._gate

        def connected(caller: socket.socket) -> Protocol | None:
            line = Line.of(caller, names)
            if names is not None and (line.loopback is None or not line.loopback.is_from_us()):
                return None  # another user's, or closed already, so that nobody can say whose it was
            return Protocol(gate, line, self._connections, self._tasks, self._ending, loop)

        listener = Accepting(sock, connected, self._room_for_a_caller, loop)
        self._listeners = [each for each in self._listeners if each.is_open] + [listener]
        return listener
