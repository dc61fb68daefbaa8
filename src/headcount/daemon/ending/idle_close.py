"""Idle close: sessions that have been idle for longer than the settings allow are closed. Off unless it is set.

Rules
  1. Only a living session of a recognised program that is idle, by a source that says so, without work in the background, without a second
     writer, without an alarm, and alone in its process.
  2. Idleness is measured by our own steady clock since we first saw it: a clock that jumps closes nobody, and a
     restart counts anew.
  3. It is announced, and only then, if nothing was heard until the very signal, closed: by the same hand and in the
     same order as `close`, in the audit as "policy". `resume` undoes it.
  4. Whoever refuses to end is left alone until it was at work again.

Not here: ending (stop_close_reap.py), what idle means (core/values/activity.py).
"""

import asyncio
import logging

from msgspec import Struct

from headcount.core.state.world import World
from headcount.core.values.activity import Doing
from headcount.core.values.evidence import Noticed
from headcount.core.values.leftover import LeftoverKind
from headcount.core.values.session import Liveness, Session, SessionId
from headcount.daemon.ending.signal_process import Wish
from headcount.daemon.ending.stop_close_reap import StopCloseReap
from headcount.daemon.engine.loop import Loop, NotStored
from headcount.daemon.identity.caller_ancestry import hosted_by
from headcount.system.clock import Clock
from headcount.times import IDLE_LOOKED_AT_EVERY, IDLE_NOTICE

log = logging.getLogger("headcount.idle")


class Idle(Struct):
    """One stretch of idleness. Any word from the session begins another."""

    sign: tuple[object, ...]
    seen_at: float  # steady
    noticed_at: float | None = None  # steady
    tried: bool = False


class IdleClose:
    def __init__(self, loop: Loop, closing: StopCloseReap, clock: Clock, limit: float) -> None:
        self._loop = loop
        self._closing = closing
        self._clock = clock
        self._limit = limit
        self._idle: dict[SessionId, Idle] = {}

    async def run(self) -> None:
        while True:
            await self.look()
            await asyncio.sleep(min(IDLE_LOOKED_AT_EVERY, self._limit))

    async def look(self) -> None:
        world, now = self._loop.world, self._clock.boottime()
        idle = {each.id: each for each in world.open_sessions() if may_be_closed(each, world)}
        self._idle = {id: stretch for id, stretch in self._idle.items() if id in idle}
        for id, session in idle.items():
            stretch = self._idle.get(id)
            if stretch is None or stretch.sign != _sign(session):
                self._idle[id] = Idle(_sign(session), now)
            elif not stretch.tried:
                await self._go_on(session, stretch, now)

    async def _go_on(self, session: Session, stretch: Idle, now: float) -> None:
        if stretch.noticed_at is None:
            if now - stretch.seen_at >= self._limit:
                await self._notice(session, stretch, now)
        elif now - stretch.noticed_at >= min(IDLE_NOTICE, self._limit):
            stretch.tried = True
            await self._close(session)

    async def _notice(self, session: Session, stretch: Idle, now: float) -> None:
        at = self._clock.now()
        since = session.activity.since or session.started_at
        try:
            await self._loop.ask(Noticed(session.id, at, since, at + min(IDLE_NOTICE, self._limit)))
        except NotStored:
            return  # who was not told of it is not closed; the next look tries again
        stretch.noticed_at = now

    async def _close(self, session: Session) -> None:
        """Asked once more, of the world as it is now: between the look and this it may have been heard."""
        if not self._is_still_idle(session):
            return
        wish = Wish("close", "policy", still=lambda: self._is_still_idle(session))
        try:
            closed = await self._closing.close(session, (), wish, all=False, window=False)
        except NotStored as fault:
            log.warning("an idle session was not closed: %s", fault)
            return
        if not closed.is_closed:
            log.warning("an idle session did not end: %s", session.id[:4])

    def _is_still_idle(self, session: Session) -> bool:
        current = self._loop.world.sessions.get(session.id)
        return (
            current is not None
            and _sign(current) == _sign(session)
            and may_be_closed(current, self._loop.world)
        )


def may_be_closed(session: Session, world: World) -> bool:
    if session.liveness is not Liveness.ALIVE or session.process is None or session.provisional:
        return False
    if session.is_only_named:
        return False
    if session.activity.doing is not Doing.IDLE or session.background or session.alarms:
        return False
    if len(hosted_by(world, session.process)) != 1:
        return False
    return not any(
        each.kind is LeftoverKind.SECOND_WRITER and each.is_there
        for each in world.remains.of_session(session.id)
    )


def _sign(session: Session) -> tuple[object, ...]:
    return (session.process, session.activity, session.last_event_at, session.status, session.turned)
