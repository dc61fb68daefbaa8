"""Notifying: each transition is told once, to whoever asked to be told, unless he sees it anyway.

Rules
  1. Without a channel nothing is judged, kept or sent.
  2. What was judged is kept in the store before it is carried: after a crash a notice may be missing, never double.
     A start goes on from there by the journal; what is too old by then is only remembered.
  3. Nothing is told of a pane that is on a screen, not later either.
  4. The loop only puts events in a line here.

Not here: what is worth a notice (core/notifications.py), carrying (notification_channels.py).
"""

import asyncio
import logging
import os
from collections import deque
from collections.abc import Sequence

import msgspec

from headcount.core.notifications import (
    OF_TURNS,
    Memory,
    Notice,
    NotificationKind,
    begin,
    is_unattended_turn,
    judge,
)
from headcount.core.state.world import World
from headcount.core.values.events import Event
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.session import Session
from headcount.daemon.config import Config
from headcount.daemon.engine.call_observers import EVERY
from headcount.daemon.observers.notification_channels import ChannelWorker, Row, couriers_of
from headcount.daemon.views.session_row import time_text
from headcount.store.interface import StoreFault
from headcount.store.sqlite.adapter import SqliteStore
from headcount.system import tmux
from headcount.system.clock import Clock
from headcount.system.processes.ancestry import ancestors
from headcount.system.processes.interface import Processes
from headcount.times import MINUTE, NOTICE_FRESH

log = logging.getLogger("headcount.notify")

NOTE = "notices"
PAGE = 500
REPLAY_MOST = 20_000  # events; further back nothing is fresh anyhow

Entry = tuple[Event, Session | None]


class Notifier:
    wants = EVERY

    def __init__(self, config: Config, store: SqliteStore, clock: Clock, processes: Processes) -> None:
        self._config = config
        self._store = store
        self._clock = clock
        self._processes = processes
        self.couriers: list[ChannelWorker] = couriers_of(config)
        self._memory = Memory()
        self._waiting: deque[Entry] = deque()
        self._wake = asyncio.Event()

    # --- its life ------------------------------------------------------------------------------------

    async def open(self, world: World) -> None:
        """Goes on where the journal was left. Events that come meanwhile wait in line, and are known by number."""
        if not self.couriers:
            return
        for courier in self.couriers:
            courier.start()
        kept = await self._kept()
        if kept is None:
            self._memory = begin(world.sessions.values(), world.seq)
            return
        self._memory = kept
        await self._replay(world)

    async def run(self) -> None:
        while self.couriers:
            await self._wake.wait()
            self._wake.clear()
            entries = list(self._waiting)
            self._waiting.clear()
            await self._tell(entries)

    def noticed(self, events: Sequence[Event], world: World) -> None:
        if self.couriers and events:
            self._waiting.extend((each, _session_of(each, world)) for each in events)
            self._wake.set()

    def close(self) -> None:
        for courier in self.couriers:
            courier.close()

    async def test(self) -> list[tuple[str, str | None]]:
        """One notice by every channel, and what came of it: None is good."""
        at = self._clock.now()
        row = row_of(Notice(0, at, NotificationKind.TEST, None, "headcount", "This is a test."), None)
        tried = [(each.name, asyncio.wrap_future(each.try_out(row))) for each in self.couriers]
        return [(name, await answer) for name, answer in tried]

    # --- judging -------------------------------------------------------------------------------------

    async def _replay(self, world: World) -> None:
        until = world.seq
        after = max(self._memory.seq, until - REPLAY_MOST)
        while after < until:
            events = await self._store.history(after=after, until=until, limit=PAGE)
            await self._tell([(each, _session_of(each, world)) for each in events])
            after = events[-1].seq if events else after + PAGE

    async def _tell(self, entries: Sequence[Entry]) -> None:
        found: list[tuple[Notice, Session | None]] = []
        for event, session in entries:
            notice = judge(self._memory, event, session, self._config.notify_long_turn_minutes * MINUTE)
            if notice is not None:
                found.append((notice, session))
        if not found or not await self._keep():
            return
        wanted = [each for each in found if self._is_wanted(*each)]
        seen = await self._looked_at([session for notice, session in wanted if notice.kind in OF_TURNS])
        rows = [
            row_of(notice, session)
            for notice, session in wanted
            if notice.kind not in OF_TURNS or session is None or session.id not in seen
        ]
        if rows:
            for courier in self.couriers:
                courier.put(rows)

    def _is_wanted(self, notice: Notice, session: Session | None) -> bool:
        kinds = self._config.notify_kinds
        if is_unattended_turn(notice, session) or (kinds and notice.kind.value not in kinds):
            return False
        return self._clock.now() - notice.at < NOTICE_FRESH

    async def _looked_at(self, sessions: Sequence[Session | None]) -> frozenset[str]:
        """Those whose terminal is on a screen now. Who cannot be asked shows nothing."""
        processes = {
            each.id: each.process for each in sessions if each is not None and each.process is not None
        }
        if not processes:
            return frozenset()
        shown = await asyncio.to_thread(tmux.looked_at, os.environ)
        if not shown:
            return frozenset()
        return frozenset(id for id, process in processes.items() if shown & self._chain(process))

    def _chain(self, process: ProcessIdentity) -> set[int]:
        return {facts.pid for facts in ancestors(self._processes, process.pid)}

    # --- remembering ---------------------------------------------------------------------------------

    async def _kept(self) -> Memory | None:
        try:
            text = await self._store.notes.find(NOTE)
            return None if text is None else msgspec.json.decode(text, type=Memory)
        except (StoreFault, msgspec.MsgspecError) as fault:
            log.warning("what was told is not known any more: %s", fault)
            return None

    async def _keep(self) -> bool:
        """What cannot be kept is not told: it would be told again."""
        try:
            await self._store.notes.keep(NOTE, msgspec.json.encode(self._memory).decode())
        except StoreFault as fault:
            log.warning("notices are not sent while nothing can be stored: %s", fault)
            return False
        return True


def _session_of(event: Event, world: World) -> Session | None:
    return world.sessions.get(event.session) if event.session else None


def row_of(notice: Notice, session: Session | None) -> Row:
    """As it is sent. Nothing of a conversation but what `ps` shows."""
    return {
        "seq": notice.seq,
        "at": time_text(notice.at),
        "kind": notice.kind.value,
        "title": notice.title,
        "text": notice.text,
        "session": None
        if session is None
        else {"id": session.id, "agent": session.agent, "name": session.name, "cwd": session.cwd},
    }
