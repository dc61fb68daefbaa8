"""Broadcast: events to whoever listens, each at its own pace.

Rules of this file
  1. Publishing never waits and never fails: a subscriber that lags is dropped and told to resume.
  2. An event is encoded once, whoever listens.
  3. What was missed is read from the journal by sequence number; nothing is kept here.

Not here: the HTTP side of a stream (routes/events.py).
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from headcount.core.events import Event
from headcount.core.world import World
from headcount.daemon.view import event_row
from headcount.times import FAREWELL_WITHIN

LAG_MOST = 20_000  # events a reader may be behind; more, and resuming from the journal is cheaper

_encode = msgspec.json.Encoder().encode


class Subscriber:
    def __init__(self, *, is_page: bool = False) -> None:
        self._waiting: deque[bytes] = deque()
        self._wake = asyncio.Event()
        self.gone = asyncio.Event()
        self.is_page = is_page
        self.dismissed = False  # its page has ended: it is told so, and does not come again
        self.dropped = False
        self.closed = False

    def push(self, frame: bytes) -> None:
        """Once it lags too far nothing more is taken: a frame after a gap would hide the gap from its reader."""
        if self.dropped:
            return
        if len(self._waiting) >= LAG_MOST:
            self._waiting.clear()
            self.dropped = True
        else:
            self._waiting.append(frame)
        self._wake.set()

    def close(self) -> None:
        self.closed = True
        self._wake.set()

    def dismiss(self) -> None:
        self.dismissed = True
        self.close()

    async def take(self, within: float) -> bytes | None:
        """All that is waiting, in one piece; empty when nothing came in time; None: the stream is over."""
        if not self._waiting and not self.over:
            self._wake.clear()
            try:
                async with asyncio.timeout(within):
                    await self._wake.wait()
            except TimeoutError:
                return b""
        if self._waiting:
            frames = b"".join(self._waiting)
            self._waiting.clear()
            return frames
        return None if self.over else b""

    @property
    def over(self) -> bool:
        return self.dropped or self.closed


class Broadcast:
    def __init__(self) -> None:
        self._subscribers: set[Subscriber] = set()
        self.dropped = 0

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

    def publish(self, events: Sequence[Event], world: World) -> None:
        if not self._subscribers or not events:
            return
        for event in events:
            frame = frame_of(event, world)
            for subscriber in self._subscribers:
                subscriber.push(frame)
        for subscriber in [each for each in self._subscribers if each.dropped]:
            self._subscribers.discard(subscriber)
            self.dropped += 1

    def close(self) -> None:
        """The daemon ends: others may come again, but a page ends with it."""
        for subscriber in self._subscribers:
            subscriber.dismiss() if subscriber.is_page else subscriber.close()

    def __len__(self) -> int:
        return len(self._subscribers)


def frame_of(event: Event, world: World) -> bytes:
    row = event_row(event, world)
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.seq, event.type.value.encode(), _encode(row))
