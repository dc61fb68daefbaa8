"""Our part of the roster: open sessions, sent in batches when they changed.

Rules
  1. After an outage everything is sent again: whole, in one set.
  2. An ended session leaves the roster; its host's own history keeps it.

Not here: the rows there (store/postgres/roster.py).
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Protocol

import msgspec

from headcount.core.values.events import Event
from headcount.core.values.session import SessionId
from headcount.daemon.engine.loop import Loop
from headcount.daemon.views.session_row import session_row
from headcount.store.fleet_interface import SharedUnavailable
from headcount.times import FLEET_ROSTER_EVERY

log = logging.getLogger("headcount.fleet")

_encode = msgspec.json.Encoder().encode


class Keeps(Protocol):
    async def keep(
        self, rows: dict[str, str], dropped: Sequence[str] = (), *, whole: bool = False
    ) -> None: ...


class Roster:
    def __init__(self, there: Keeps, loop: Loop) -> None:
        self._there = there
        self._loop = loop
        self._changed: set[SessionId] = set()
        self._whole = True
        self._wake = asyncio.Event()

    def noticed(self, events: Sequence[Event]) -> None:
        changed = {event.session for event in events if event.session is not None}
        if changed:
            self._changed |= changed
            self._wake.set()

    def send_all(self) -> None:
        """What is there may be old."""
        self._whole = True
        self._wake.set()

    async def run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                await self._send()
            except SharedUnavailable:
                self._whole = True  # the next renewal that succeeds wakes us
            await asyncio.sleep(FLEET_ROSTER_EVERY)

    async def _send(self) -> None:
        world = self._loop.world
        changed, self._changed = self._changed, set()
        whole, self._whole = self._whole, False
        wanted = world.open_sessions() if whole else (world.sessions.get(id) for id in changed)
        rows: dict[str, str] = {
            each.id: _encode(session_row(each, world)).decode()
            for each in wanted
            if each is not None and each.is_open
        }
        gone = [] if whole else [id for id in changed if id not in rows]
        try:
            await self._there.keep(rows, gone, whole=whole)
        except SharedUnavailable:
            self._changed |= changed
            self._whole = whole or self._whole
            raise
