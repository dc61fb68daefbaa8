"""The pidfds on the daemon's loop: as many as leave descriptors free for callers.

Rules
  1. Callers come before watches. A pidfd that would use up reserved descriptors is not put on the loop. When
     less than half of the reserve is free, pidfds are given up until all of it is. In between nothing
     changes, so that a single caller's connection moves no watch.
  2. The pidfd of a process that has ended is not given up: its event is on the way.
  3. A callback removes its reader first: the pidfd of a dead process stays readable and would spin the loop.
  4. Scarcity is logged once, when it starts.

Not here: the limits (processes/descriptor_limits.py), polling the processes that were given up (processes/polling.py), verdicts
(processes/linux.py).
"""

import asyncio
import logging
import os
from collections.abc import Callable
from functools import partial

from headcount.core.values.process import ProcessIdentity
from headcount.system.log_throttle import Seldom
from headcount.system.processes import descriptor_limits
from headcount.system.processes.pidfds import calls
from headcount.times import SCARCITY_SAID_EVERY

log = logging.getLogger("headcount.processes")

OnEnd = Callable[[ProcessIdentity, int], None]
"""Called with the identity and its pidfd, which is closed afterwards."""


class Watches:
    def __init__(self, loop: asyncio.AbstractEventLoop, on_end: OnEnd) -> None:
        self._loop = loop
        self._on_end = on_end
        self._pidfds: dict[ProcessIdentity, int] = {}
        self._scarcity = Seldom(loop.time, SCARCITY_SAID_EVERY)

    def __contains__(self, identity: ProcessIdentity) -> bool:
        return identity in self._pidfds

    def find(self, identity: ProcessIdentity) -> int | None:
        return self._pidfds.get(identity)

    def has_room(self) -> bool:
        """Whether what is kept free is free."""
        if descriptor_limits.count_free() >= descriptor_limits.kept_free():
            return True
        self._say()
        return False

    def add(self, identity: ProcessIdentity, pinned: int) -> None:
        self._pidfds[identity] = pinned
        self._loop.add_reader(pinned, partial(self._on_readable, identity))

    def discard(self, identity: ProcessIdentity) -> None:
        pinned = self._pidfds.pop(identity, None)
        if pinned is not None:
            self._loop.remove_reader(pinned)
            os.close(pinned)

    def make_room(self, *, none_left: bool) -> tuple[ProcessIdentity, ...]:
        """Give up as many watches as needed and return their processes. `none_left`: a caller found no descriptor."""
        free, kept = descriptor_limits.count_free(), descriptor_limits.kept_free()
        if none_left:
            free = min(free, 0)
        if free >= kept // 2:
            return ()
        given_up = self._newest(kept - free)
        for identity in given_up:
            self.discard(identity)
        if given_up:
            self._say()
        return given_up

    def _newest(self, most: int) -> tuple[ProcessIdentity, ...]:
        found: list[ProcessIdentity] = []
        for identity, pinned in reversed(self._pidfds.items()):
            if len(found) == most:
                break
            if not calls.has_ended(pinned):
                found.append(identity)
        return tuple(found)

    def _on_readable(self, identity: ProcessIdentity) -> None:
        pinned = self._pidfds.pop(identity)
        self._loop.remove_reader(pinned)  # first: it stays readable for ever
        try:
            self._on_end(identity, pinned)
        finally:
            os.close(pinned)

    def _say(self) -> None:
        if self._scarcity.is_new():
            log.warning("few descriptors are left: some processes are looked at every second, not watched")
