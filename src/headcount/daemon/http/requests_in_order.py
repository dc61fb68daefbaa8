"""The requests of one connection, answered one after the other.

Rules
  1. Answers leave in the order of the requests, whichever is ready first; one is worked on at a time.
  2. A whole answer leaves in one write. Nothing is written for somebody who is gone, or who does not read what came
     before.
  3. A stream is one task, which ends with its frames or with its reader.
  4. A request whose answer will never come ends its connection: nobody waits for nothing.

Not here: reading requests (connection.py), what is answered (request_checks.py), how an answer looks on the wire (answer.py).
"""

import asyncio
import logging
import weakref
from collections import deque
from contextlib import aclosing
from typing import Protocol

from headcount.daemon.http.answer import (
    CLOSE,
    LAST_CHUNK,
    HttpAnswer,
    HttpStream,
    chunk,
    head_of,
    on_the_wire,
)
from headcount.daemon.http.request import ConnectionFacts, Request
from headcount.daemon.http.request_checks import BODY_MOST, Gate

WAITING_MOST = 64  # requests that wait for their turn on one connection

log = logging.getLogger("headcount.turns")


class Owner(Protocol):
    """The connection."""

    def answered(self, *, closing: bool) -> None: ...
    def rested(self) -> None: ...


class RequestsInOrder:
    def __init__(
        self,
        gate: Gate,
        line: ConnectionFacts,
        transport: asyncio.Transport,
        tasks: set[asyncio.Task[None]],
        ending: asyncio.Event,
        owner: Owner,
    ) -> None:
        self._gate = gate
        self._line = line
        self._transport = transport
        self._tasks = tasks
        self._ending = ending  # the server's: what is in work is each connection's last
        self._owner: Owner = weakref.proxy(owner)  # which has us; nobody would free the two
        self.in_work: Request | None = None
        self._waiting: deque[tuple[Request, HttpAnswer | None]] = deque()
        self.is_paused = False  # nobody reads what we write
        self._writable = asyncio.Event()
        self._streaming: asyncio.Task[None] | None = None

    def take(self, request: Request, refused: HttpAnswer | None) -> bool:
        """Whether more wait now than may; `refused` is its answer, where there is one already."""
        self._waiting.append((request, refused))
        if self.in_work is None:
            self._next()
            return False
        return len(self._waiting) > WAITING_MOST or self.size_waiting() > BODY_MOST

    def size_waiting(self) -> int:
        return sum(len(request.body) for request, _ in self._waiting)

    def clear(self) -> None:
        self._waiting.clear()

    def pause(self) -> None:
        self.is_paused = True
        self._writable.clear()

    def resume(self) -> None:
        self.is_paused = False
        self._writable.set()

    def lose(self) -> None:
        """The connection is lost: whatever is in work is answered to nobody."""
        self._waiting.clear()
        self._writable.set()
        if self._streaming is not None:
            self._streaming.cancel()

    def _next(self) -> None:
        """The answers that are ready are sent, up to the next request that is to be worked on."""
        while self._waiting and self.in_work is None and not self._transport.is_closing():
            request, answer = self._waiting.popleft()
            self.in_work = request
            self._line.unread = None  # what was answered before is read in its turn
            if answer is not None and not self.is_paused:
                self._send(request, answer)
                continue
            self._tasks.add(asyncio.create_task(self._serve(request, answer)))
        if self.in_work is None and not self._line.lost.is_set():
            self._owner.rested()

    async def _serve(self, request: Request, answer: HttpAnswer | HttpStream | None) -> None:
        try:
            answer = answer or await self._gate.answer(request)
            if isinstance(answer, HttpStream):
                await self._send_stream(request, answer)
                return
            if self.is_paused:
                await self._writable.wait()
            self._send(request, answer)
            self._next()
        except Exception:
            log.exception("an answer could not be sent: %s %s", request.method, request.path)
        finally:
            if self.in_work is request:  # no answer comes any more, also where somebody cancelled it
                self._transport.close()
            if (task := asyncio.current_task()) is not None:
                self._tasks.discard(
                    task
                )  # by a callback it would be one more turn of the loop for each answer

    def _send(self, request: Request, answer: HttpAnswer) -> None:
        closing = request.is_last or self._ending.is_set() or CLOSE in answer.headers
        self.in_work = None
        if self._line.lost.is_set() or self._transport.is_closing():  # a closing one drops what is written
            self._line.not_read()
        else:
            self._transport.write(on_the_wire(answer, headless=request.method == "HEAD", closing=closing))
            self._owner.answered(closing=closing)

    async def _send_stream(self, request: Request, stream: HttpStream) -> None:
        """A reader that goes in mid-frame is unsubscribed now."""
        self._streaming = asyncio.current_task()
        async with aclosing(stream.frames) as frames:
            if self._line.lost.is_set():
                return
            self._transport.write(head_of(stream, chunked=request.in_chunks, closing=request.is_last))
            if request.method != "HEAD":
                async for frame in frames:
                    if self.is_paused:
                        await self._writable.wait()
                    if self._line.lost.is_set():
                        return
                    self._transport.write(chunk(frame) if request.in_chunks else frame)
                if request.in_chunks:
                    self._transport.write(LAST_CHUNK)
        self._streaming = self.in_work = None
        if not self._line.lost.is_set():
            self._owner.answered(closing=request.is_last or self._ending.is_set())
            self._next()
