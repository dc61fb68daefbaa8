"""Connections of the asyncio client: HTTP/1.1 over the unix socket, one question at a time on each.

Rules
  1. Every call has a deadline for the whole of it. A call that was cut off closes its connection.
  2. Idle connections are kept and used again; a question that may be asked twice is, when a kept one was closed.
  3. Errors of the kernel are translated here, once, into the same faults as everywhere.
  4. A connection belongs to the process that opened it. A forked copy closes its descriptor and nothing else: the loop's
     epoll is shared with the owner (fork(2)), and what is taken out of it is taken out for both.

Not here: the plain client's (connection.py), what is asked (client/claims.py).
"""

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import AsyncGenerator, AsyncIterator

from headcount.client.faults import Broken, NotRunning, refusal
from headcount.client.transport.connection import (
    Question,
    Response,
    check_peer,
    connect_unix,
    deaf,
    parsed,
    request,
    unreached,
)
from headcount.client.transport.response import (
    HEAD_MOST,
    EventParser,
    ResponseHead,
    ServerSentEvent,
    parse_head,
)
from headcount.times import CALL_WITHIN, CONNECT_RETRY_EVERY, STREAM_SILENT_AFTER

IDLE_MOST = 32


class AsyncConnection:
    """One connection."""

    def __init__(
        self, sock: socket.socket, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._sock = sock
        self._opened_by = os.getpid()
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, path: str) -> "AsyncConnection":
        sock = None
        try:
            sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            sock.setblocking(False)
            while True:
                try:
                    connect_unix(sock, path)
                    break
                except BlockingIOError:  # its queue is full: others of this loop go on meanwhile
                    await asyncio.sleep(CONNECT_RETRY_EVERY)
            check_peer(sock, path)
            return cls(sock, *await asyncio.open_unix_connection(sock=sock, limit=HEAD_MOST))
        except BaseException as error:  # also when the time was up
            if sock is not None:
                sock.close()
            if isinstance(error, OSError):
                raise unreached(path, error) from None
            raise

    async def exchange(self, data: bytes) -> Response:
        head = await self.send(data)
        content = await self._body(head)
        if head.is_last:
            self.close()
        return Response(head.status, head.headers, parsed(content))

    async def send(self, data: bytes) -> ResponseHead:
        self._writer.write(data)
        return parse_head((await self._reader.readuntil(b"\r\n\r\n"))[:-4])

    async def _body(self, head: ResponseHead) -> bytes:
        if head.length is not None:
            return await self._reader.readexactly(head.length)
        return b"".join([piece async for piece in self.chunks()])

    async def chunks(self) -> AsyncIterator[bytes]:
        while size := int((await self._reader.readuntil(b"\r\n")).split(b";")[0], 16):
            yield (await self._reader.readexactly(size + 2))[:-2]
        await self._reader.readuntil(b"\r\n")

    @property
    def is_open(self) -> bool:
        return self.is_ours and not self._writer.is_closing() and not self._reader.at_eof()

    @property
    def is_ours(self) -> bool:
        return self._opened_by == os.getpid()

    def close(self) -> None:
        if not self.is_ours:
            self._sock.close()
            return
        with contextlib.suppress(OSError):  # it is over already
            self._sock.shutdown(
                socket.SHUT_RDWR
            )  # also where a forked copy of this process has the descriptor
        self._writer.close()


class AsyncConnections:
    """The connections of one client."""

    def __init__(self, path: str, credential: str) -> None:
        self.path = path
        self._more = f"authorization: {credential}\r\n" if credential else ""
        self._idle: list[AsyncConnection] = []

    async def call(self, question: Question) -> Response:
        began, broken = time.monotonic(), None
        try:
            async with asyncio.timeout(question.within):
                kept = self._kept()
                if kept is not None:
                    try:
                        return await self._exchange(kept, self._words(question))
                    except Broken as fault:
                        broken = fault
                        if not question.again and question.method != "GET":
                            raise
                        question = question.after(time.monotonic() - began)
                return await self._exchange(await AsyncConnection.open(self.path), self._words(question))
        except NotRunning as fault:
            raise broken or fault from None  # what broke may have been heard
        except TimeoutError:
            raise deaf() from None

    def _words(self, question: Question) -> bytes:
        return request(question.method, question.path, question.body, self._more)

    async def stream(self, last: int | None) -> AsyncGenerator[ServerSentEvent, None]:
        """Events until the stream ends, by `Broken`."""
        resume = "" if last is None else f"last-event-id: {last}\r\n"
        try:
            async with asyncio.timeout(CALL_WITHIN):
                link = await AsyncConnection.open(self.path)
        except TimeoutError:
            raise deaf() from None
        try:
            more = f"accept: text/event-stream\r\n{resume}{self._more}"
            async with asyncio.timeout(CALL_WITHIN):
                head = await link.send(request("GET", "/v1/events", None, more))
            if head.status != 200:
                raise refusal(head.status, None)
            parser, chunks = EventParser(), link.chunks()
            while True:
                if not link.is_ours:  # we were forked since: what comes is the other's
                    raise Broken("The event stream is of the process that this one was forked from.")
                async with asyncio.timeout(STREAM_SILENT_AFTER):
                    piece = await anext(chunks, None)
                if piece is None:
                    raise Broken("The event stream ended.")
                for event in parser.feed(piece):
                    yield event
        except (TimeoutError, OSError, EOFError, ValueError) as error:
            raise Broken("The event stream broke.") from error
        finally:
            link.close()

    def close(self) -> None:
        for link in self._idle:
            link.close()
        self._idle.clear()

    def _kept(self) -> AsyncConnection | None:
        while self._idle:
            link = self._idle.pop()
            if link.is_open:
                return link
            link.close()
        return None

    async def _exchange(self, link: AsyncConnection, data: bytes) -> Response:
        try:
            answer = await link.exchange(data)
        except (OSError, EOFError, ValueError) as error:
            link.close()
            raise Broken("The connection to the daemon broke.", "Try again.") from error
        except BaseException:
            link.close()  # cut off in the middle of an answer: nobody may read the rest as theirs
            raise
        if link.is_open and len(self._idle) < IDLE_MOST:
            self._idle.append(link)
        else:
            link.close()
        return answer
