"""Listen on the private unix socket and the page's loopback port, and accept callers even if descriptors run out.

Rules
  1. Callers come before watches. If no descriptor is left for a caller, watches are asked to give some up.
     They are also asked with each accepted caller, because identifying it needs descriptors too.
  2. If nothing can be given up, callers wait in the kernel's queue and the socket is left alone for a moment.
     A socket that cannot be served stays readable and would spin the loop.
  3. A refused caller is disconnected. Nothing that it sent is read.
  4. A lack of descriptors is logged when it begins, not for each caller and each try.
  5. The unix socket is made under umask 0177 in a 0700 directory. Only the holder of the lock replaces a
     socket file that was left behind.
  6. No timer runs while nobody calls.

Not here: a connection (daemon/http/connection.py) and its facts (daemon/http/request.py), what is allowed
  (daemon/http/request_checks.py), what is answered (daemon/routes), who gives a descriptor up
  (system/processes/pidfds/watches.py).
"""

import asyncio
import errno
import logging
import os
import select
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from headcount.daemon.http.connection import HttpProtocol
from headcount.daemon.http.request import ConnectionFacts
from headcount.daemon.http.request_checks import Gate
from headcount.system.log_throttle import Seldom
from headcount.system.loopback import Names
from headcount.system.processes.descriptor_limits import count_free
from headcount.times import ACCEPT_AGAIN_AFTER, DRAIN_STREAMS_WITHIN, SCARCITY_SAID_EVERY

AT_ONCE = 64  # then others have their turn
NOBODY_CAME = (BlockingIOError, InterruptedError, ConnectionAbortedError)

log = logging.getLogger("headcount.listen")

BACKLOG = 512
PATH_MOST = 100  # of the kernel's 108
A_CALLER_NEEDS = 8  # descriptors: its connection, its pidfd, and looks at it and those above it


class MakeRoom(Protocol):
    def __call__(self, *, none_left: bool = False) -> int:
        """How many descriptors were given up for callers."""
        ...


def no_room(*, none_left: bool = False) -> int:
    """Of a server beside which nobody holds descriptors."""
    return 0


class Accepting:
    """On one socket, until it is closed. (asyncio's own server tries as often as its queue is long each time that
    it finds no descriptor, and logs each try with a trace.)"""

    def __init__(
        self,
        sock: socket.socket,
        connected: Callable[[socket.socket], asyncio.BaseProtocol | None],
        make_room: MakeRoom,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._sock = sock
        self._connected = connected
        self._make_room = make_room
        self._loop = loop
        self._tasks: set[asyncio.Task[None]] = set()
        self._again: asyncio.TimerHandle | None = None
        self._first: socket.socket | None = None  # of those who wait: it has its connection already
        self._scarcity = Seldom(loop.time, SCARCITY_SAID_EVERY)
        self.is_open = True
        self._begin()

    def close(self) -> None:
        if not self.is_open:
            return
        self.is_open = False
        if self._again is not None:
            self._again.cancel()
        if self._first is not None:
            self._first.close()
        self._loop.remove_reader(self._sock)
        self._sock.close()

    def _begin(self) -> None:
        self._again = None
        first, self._first = self._first, None
        if first is None or self._take(first):
            self._loop.add_reader(self._sock, self._accept)

    def _accept(self) -> None:
        for _ in range(AT_ONCE):
            try:
                caller, _address = self._sock.accept()
            except NOBODY_CAME:
                return
            except OSError as error:
                if not self._is_called():
                    return
                if error.errno != errno.EMFILE or self._make_room(none_left=True) == 0:
                    self._wait(error)  # what all programs lack, no watch of ours makes up for
                    return
            else:
                if not self._take(caller):
                    return

    def _take(self, caller: socket.socket) -> bool:
        """False: not even who it is could be asked. It is not let in unnamed; it waits, and all behind it."""
        while True:
            try:
                protocol = self._connected(caller)
                break
            except OSError as error:
                if self._make_room(none_left=True) == 0:
                    self._first = caller
                    self._wait(error)
                    return False
        if protocol is None:
            caller.close()
            return True
        self._make_room()  # with each: who was let in must be looked at
        task = self._loop.create_task(self._join(caller, protocol))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return True

    def _is_called(self) -> bool:
        """accept(2) looks for a descriptor first, and complains of none also when nobody waits."""
        poll = select.poll()
        poll.register(self._sock, select.POLLIN)
        return bool(poll.poll(0))

    async def _join(self, caller: socket.socket, protocol: asyncio.BaseProtocol) -> None:
        try:
            caller.setblocking(False)
            await self._loop.connect_accepted_socket(lambda: protocol, caller)
        except OSError as error:  # it has gone already
            log.debug("a caller could not be taken in: %s", error)
            caller.close()

    def _wait(self, error: OSError) -> None:
        if self._scarcity.is_new():
            log.error("callers cannot be taken in now, and wait: %s", error.strerror)
        self._loop.remove_reader(self._sock)
        self._again = self._loop.call_later(ACCEPT_AGAIN_AFTER, self._begin)


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


class HttpServer:
    """Its listeners and their connections, until it is told to end."""

    def __init__(self, make_room: MakeRoom = no_room) -> None:
        self._gate: Gate | None = None
        self._make_room = make_room
        self._listeners: list[Accepting] = []
        self._private: Accepting | None = None
        self._connections: set[HttpProtocol] = set()
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

        def connected(caller: socket.socket) -> HttpProtocol | None:
            line = ConnectionFacts.of(caller, names)
            if names is not None and (line.loopback is None or not line.loopback.is_from_us()):
                return None  # another user's, or closed already, so that nobody can say whose it was
            return HttpProtocol(gate, line, self._connections, self._tasks, self._ending, loop)

        listener = Accepting(sock, connected, self._room_for_a_caller, loop)
        self._listeners = [each for each in self._listeners if each.is_open] + [listener]
        return listener
