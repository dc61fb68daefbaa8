"""Taking callers in: whoever waits at a listening socket gets a connection, also where descriptors are scarce.

Rules of this file
  1. Callers come before watches: where no descriptor is left for one, room is asked for, and the caller is taken in.
     Few are no better than none, since whoever is let in must be looked at: room is asked for with each caller.
  2. Where none can be made, callers wait in the kernel's queue, and the socket is left alone for a moment: one that
     cannot be served stays readable and would spin the loop.
  3. A refused caller is disconnected; nothing that it sent is read.
  4. It is logged when it begins, not for each caller and each try.

Not here: making a socket (listen.py), what a connection does (connection.py), who gives a descriptor up
(system/processes/pidfds/watches.py).
"""

import asyncio
import errno
import logging
import select
import socket
from collections.abc import Callable
from typing import Protocol

from headcount.system.log_throttle import Seldom
from headcount.times import ACCEPT_AGAIN_AFTER, SCARCITY_SAID_EVERY

AT_ONCE = 64  # then others have their turn
NOBODY_CAME = (BlockingIOError, InterruptedError, ConnectionAbortedError)

log = logging.getLogger("headcount.listen")


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
