"""Stalls: one slow sweep over the working, for whoever stands still.

Rules
  1. Only while something is working: an idle machine is not woken for this.
  2. A look reads, in a thread and with a limit: the processor time of the process and what it started, and the size of its transcript.
     It tells when each last stirred, and concludes nothing.
  3. After a gap (a machine that slept, a clock that was set) nothing is known of the time between: both count as
     stirred now.
  4. A first look has nothing to compare with, so whatever it sees has just stirred.

Not here: what a stall is (core/sessions/stalls.py), reading processor time (system/processes).
"""

import asyncio
import logging
import os
from collections.abc import Sequence
from functools import partial

from msgspec import Struct

from headcount import times
from headcount.bounded_thread import BoundedThreads, Late
from headcount.core.sessions.stalls import is_watched
from headcount.core.state.world import World
from headcount.core.values.events import Event
from headcount.core.values.evidence import Looked
from headcount.core.values.session import Session, SessionId
from headcount.daemon.engine.call_observers import OF_SESSIONS, Part
from headcount.daemon.engine.loop import Loop
from headcount.system.clock import Clock
from headcount.system.processes.interface import Processes

log = logging.getLogger("headcount.stalls")

Size = tuple[int, int]  # of a transcript: bytes, and when it was written


class StallSample(Struct, frozen=True):
    """What one session's sources showed at a look, and when each had last been seen to stir."""

    at: float
    cpu: float | None
    cpu_at: float
    size: Size | None
    size_at: float


class Stalls(Part):
    wants = OF_SESSIONS

    def __init__(
        self, loop: Loop, processes: Processes, clock: Clock, patience: float, looks: BoundedThreads
    ) -> None:
        self._loop = loop
        self._processes = processes
        self._clock = clock
        self._patience = patience
        self._looks = looks
        self._every = min(times.STALL_LOOK_EVERY, patience / times.STALL_LOOKS_LEAST)
        self._sights: dict[SessionId, StallSample] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._looking: asyncio.Task[None] | None = None
        self.looks = 0

    def start(self, world: World) -> None:
        self.want(world)

    def noticed(self, events: Sequence[Event], world: World) -> None:
        """Starts the sweep when something works; it stops by itself when nothing does."""
        if (
            self._timer is None
            and self._looking is None
            and any(self._is_of_one(each, world) for each in events)
        ):
            self._set_timer()

    def want(self, world: World) -> None:
        """At a start: whoever works already is not told of again."""
        if self._timer is None and any(is_watched(each) for each in world.open_sessions()):
            self._set_timer()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._looking is not None:
            self._looking.cancel()

    def _is_of_one(self, event: Event, world: World) -> bool:
        session = world.sessions.get(event.session) if event.session else None
        return session is not None and is_watched(session)

    def _set_timer(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._every, self._start)

    def _start(self) -> None:
        self._timer = None
        self._looking = asyncio.create_task(self._sweep())

    async def _sweep(self) -> None:
        working = [each for each in self._loop.world.open_sessions() if is_watched(each)]
        kept = {each.id for each in working}
        self._sights = {id: sight for id, sight in self._sights.items() if id in kept}
        try:
            paths = sorted({each.transcript for each in working if each.transcript})
            sizes = await self._looks.each(_size, paths, times.WORKTREE_WITHIN)
            look = partial(self._look_at_all, working, sizes)
            seen = await self._looks.ask(look, times.STALL_LOOK_WITHIN)
        except Late:
            seen = {}
        except Exception:  # a bug of ours; the next look may succeed
            log.exception("a look for stalls failed")
            self._loop.counts["bugs"] += 1
            seen = {}
        self._sights |= seen
        for id, sight in seen.items():
            self._loop.put(_told(id, sight, self._patience))
        self._looking = None
        self.want(self._loop.world)  # whoever began to work meanwhile too

    # --- in a thread -------------------------------------------------------------------------------

    def _look_at_all(
        self, working: list[Session], sizes: dict[str, Size | None]
    ) -> dict[SessionId, StallSample]:
        self.looks += 1
        return {each.id: self._look(each, sizes.get(each.transcript or "")) for each in working}

    def _look(self, session: Session, size: Size | None) -> StallSample:
        assert session.process is not None
        cpu = self._processes.cpu_time(session.process)
        now = self._clock.now()  # of this read: a loaded machine makes one session wait for another's
        before = self._sights.get(session.id)
        if before is None or not 0 <= now - before.at <= times.STALL_BLIND_AFTER * self._every:
            return StallSample(now, cpu, now, size, now)
        works = _works(before.cpu, cpu, now - before.at)
        return StallSample(
            now, cpu, now if works else before.cpu_at, size, now if size != before.size else before.size_at
        )


def _works(before: float | None, now: float | None, span: float) -> bool:
    """A figure that went down is of a descendant that went elsewhere: something happened."""
    if before is None or now is None:
        return True
    return abs(now - before) > times.STILL_SHARE * span


def _told(id: SessionId, sight: StallSample, patience: float) -> Looked:
    return Looked(
        id,
        sight.at,
        None if sight.cpu is None else sight.cpu_at,
        None if sight.size is None else sight.size_at,
        patience,
    )


def _size(path: str) -> Size | None:
    try:
        seen = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    return seen.st_size, seen.st_mtime_ns
