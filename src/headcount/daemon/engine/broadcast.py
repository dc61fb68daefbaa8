"""Broadcast: events to whoever listens, each at its own pace.

Rules
  1. Publishing never waits. A subscriber that has not taken LAG_BYTES loses what waits for it and is behind: it gets
     a snapshot when it reads again.
  2. An event is encoded once, whoever listens: what waits for several is kept once. So is each row of a snapshot.
  3. A subscriber takes PIECE bytes at a time, of a snapshot too, so that one that does not read keeps no more than that
     of its own, and the ids of the rows that are left of a snapshot.

Not here: the HTTP side of a stream (routes/events.py).
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from headcount.core.state.world import World
from headcount.core.values.events import Event
from headcount.core.values.session import SessionId
from headcount.daemon.engine.call_observers import EVERY
from headcount.daemon.views.session_row import event_row
from headcount.times import FAREWELL_WITHIN

LAG_BYTES = 1024 * 1024
PIECE = 32 * 1024

_encode = msgspec.json.Encoder().encode


class Subscriber:
    def __init__(self, *, is_page: bool = False) -> None:
        self._waiting: deque[bytes] = deque()
        self._size = 0  # of what waits, in bytes
        self._wake = asyncio.Event()
        self.gone = asyncio.Event()
        self.is_page = is_page
        self.dismissed = False  # its page has ended: it is told so, and does not come again
        self.behind = False
        self.closed = False

    def push(self, frames: list[bytes], size: int) -> bool:
        """Whether it is behind by it. Then nothing more is kept: a frame after a gap would hide the gap from its
        reader. One batch may be larger than the bound, and puts nobody behind who had taken the ones before."""
        if self.behind:
            return False
        if self._size >= LAG_BYTES:
            self.lose()
            return True
        self._waiting.extend(frames)
        self._size += size
        self._wake.set()
        return False

    def lose(self) -> None:
        self._waiting.clear()
        self._size = 0
        self.behind = True
        self._wake.set()

    def is_caught_up(self) -> bool:
        """False: it was behind, and from now on everything is kept for it again. It needs a snapshot of now."""
        was_behind, self.behind = self.behind, False
        return not was_behind

    def close(self) -> None:
        self.closed = True
        self._wake.set()

    def dismiss(self) -> None:
        self.dismissed = True
        self.close()

    async def take(self, within: float) -> bytes | None:
        """What waits, a piece of it; empty when nothing came in time, or it is behind; None: the stream is over."""
        if not self._waiting and not self.closed and not self.behind:
            self._wake.clear()
            try:
                async with asyncio.timeout(within):
                    await self._wake.wait()
            except TimeoutError:
                return b""
        if not self._waiting:
            return None if self.closed else b""
        taken, size = [], 0
        while self._waiting and size < PIECE:
            taken.append(self._waiting.popleft())
            size += len(taken[-1])
        self._size -= size
        return b"".join(taken)


class Broadcast:
    wants = EVERY

    def __init__(self) -> None:
        self._subscribers: set[Subscriber] = set()
        self.rows: dict[tuple[int, SessionId], bytes] = {}  # of snapshots, by number, until something happens
        self.lagged = 0  # times that one was behind

    def subscribe(self, *, is_page: bool = False) -> Subscriber:
        subscriber = Subscriber(is_page=is_page)
        self._subscribers.add(subscriber)
        return subscriber

    def unsubscribe(self, subscriber: Subscriber) -> None:
        self._subscribers.discard(subscriber)
        subscriber.gone.set()

    async def dismiss_pages(self) -> None:
        """Returns when every tab was told, or does not take it."""
        pages = [each for each in self._subscribers if each.is_page]
        for each in pages:
            each.dismiss()
        with suppress(TimeoutError):
            async with asyncio.timeout(FAREWELL_WITHIN):
                for each in pages:
                    await each.gone.wait()

    def noticed(self, events: Sequence[Event], world: World) -> None:
        self.rows.clear()
        if not self._subscribers or not events:
            return
        try:
            frames = [frame_of(event, world) for event in events]
        except Exception:
            for subscriber in self._subscribers:
                subscriber.lose()  # nobody takes for whole what lacks an event
            raise
        size = sum(map(len, frames))
        self.lagged += sum(subscriber.push(frames, size) for subscriber in self._subscribers)

    def close(self) -> None:
        """The daemon ends: others may come again, but a page ends with it."""
        for subscriber in self._subscribers:
            subscriber.dismiss() if subscriber.is_page else subscriber.close()

    def __len__(self) -> int:
        return len(self._subscribers)


def frame_of(event: Event, world: World) -> bytes:
    row = event_row(event, world)
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.seq, event.type.value.encode(), _encode(row))
