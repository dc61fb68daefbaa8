"""Parse HTTP/1.1 answers and server-sent events from bytes.

Rules
  1. A head that is not HTTP/1.1, is too long, or leaves the body's length unknown is a fault.
  2. A head has at most `HEAD_MOST` bytes. Bodies come from our own daemon and are not bounded.
  3. Events are parsed as in the HTML standard, without `retry`: CR, LF and CRLF end a line, a blank line ends
     an event, an event without data and a comment are ignored.
  4. An unfinished event at the end of a stream is dropped.

Not here: sockets, deadlines and JSON (client/transport/connection.py), what an event means
  (present/event_lines.py).
"""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from headcount.client.faults import Broken, Unavailable

HEAD_MOST = 65_536
HEADS_KEPT = 64

Receive = Callable[[], bytes]
"""Gives the next bytes that came; empty at the end of the connection."""


class ServerSentEvent(NamedTuple):
    type: str
    data: str
    id: str | None  # the last id seen, as the standard wants it


class EventParser:
    def __init__(self) -> None:
        self._rest = b""
        self._type = ""
        self._data: list[str] = []
        self._id: str | None = None

    def feed(self, chunk: bytes) -> Iterator[ServerSentEvent]:
        lines = self._lines(chunk)
        for line in lines:
            event = self._line(line)
            if event is not None:
                yield event

    def _lines(self, chunk: bytes) -> list[str]:
        text = self._rest + chunk
        held = b""
        if text.endswith(b"\r"):  # may be the first half of CRLF
            text, held = text[:-1], b"\r"
        parts = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest = parts.pop() + held
        return [part.decode("utf-8", "replace") for part in parts]

    def _line(self, line: str) -> ServerSentEvent | None:
        if not line:
            return self._finish()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._type = value
        elif name == "data":
            self._data.append(value)
        elif name == "id" and "\0" not in value:
            self._id = value
        return None

    def _finish(self) -> ServerSentEvent | None:
        data, kind = self._data, self._type
        self._data, self._type = [], ""
        if not data:
            return None
        return ServerSentEvent(kind or "message", "\n".join(data), self._id)


class ResponseHead(NamedTuple):
    status: int
    headers: Mapping[str, str]
    length: int | None  # of the body; None: it comes in chunks, or goes on to the end of the connection
    is_chunked: bool
    is_last: bool  # the connection ends with it


class ResponseReader:
    """Takes exact amounts and lines out of whatever pieces arrive."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._buffer = b""

    @property
    def untouched(self) -> bool:
        return not self._buffer

    def head(self) -> ResponseHead:
        return parse_head(self._until(b"\r\n\r\n"))

    def body(self, head: ResponseHead) -> bytes:
        if head.length is not None:
            return self._exactly(head.length)
        return b"".join(self.chunks() if head.is_chunked else self._to_the_end())

    def chunks(self) -> Iterator[bytes]:
        while True:
            size_line = self._until(b"\r\n")
            try:
                size = int(size_line.split(b";")[0], 16)
            except ValueError:
                raise _not_http() from None
            if size == 0:
                self._until(b"\r\n")
                return
            yield self._exactly(size)
            self._until(b"\r\n")

    def _until(self, mark: bytes) -> bytes:
        while mark not in self._buffer:
            if len(self._buffer) > HEAD_MOST:
                raise _not_http()
            self._more()
        taken, _, self._buffer = self._buffer.partition(mark)
        return taken

    def _exactly(self, size: int) -> bytes:
        if len(self._buffer) < size:
            pieces, missing = [self._buffer], size - len(self._buffer)
            while missing > 0:
                self._buffer = b""
                self._more()
                pieces.append(self._buffer)
                missing -= len(self._buffer)
            self._buffer = b"".join(pieces)
        taken, self._buffer = self._buffer[:size], self._buffer[size:]
        return taken

    def _to_the_end(self) -> Iterator[bytes]:
        yield self._buffer
        while piece := self._receive():
            yield piece
        self._buffer = b""

    def _more(self) -> None:
        piece = self._receive()
        if not piece:
            raise Broken("The daemon closed the connection before it had answered.", "Try again.")
        self._buffer += piece


@lru_cache(HEADS_KEPT)
def parse_head(block: bytes) -> ResponseHead:
    """The daemon says the same few again and again: they are read once."""
    first, *lines = block.decode("latin-1").split("\r\n")
    version, _, rest = first.partition(" ")
    status = rest[:3]
    if not version.startswith("HTTP/1.") or not (
        status.isascii() and status.isdecimal() and len(status) == 3
    ):
        raise _not_http()
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    return ResponseHead(
        int(status),
        headers,
        0 if status in ("204", "304") else _length(headers.get("content-length")),
        headers.get("transfer-encoding", "").lower() == "chunked",
        headers.get("connection", "").lower() == "close",
    )


def _length(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal()):
        raise _not_http()
    return int(text)


def _not_http() -> Unavailable:
    return Unavailable("Something that is not headcount answers on the socket.", "See: headcount doctor")
