"""Responses: the head and body of one HTTP/1.1 answer, read from a source of bytes.

Rules of this file
  1. Strict: a head that is not HTTP/1.1, too long, or with a body of unknown length is a fault.
  2. Bounded: a head has at most `HEAD_MOST` bytes. Bodies are our own daemon's and are not bounded.

Not here: sockets and deadlines (connection.py), JSON.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from headcount.client.faults import Broken, Unavailable

HEAD_MOST = 65_536
HEADS_KEPT = 64

Receive = Callable[[], bytes]
"""Gives the next bytes that came; empty at the end of the connection."""


class Head(NamedTuple):
    status: int
    headers: Mapping[str, str]
    length: int | None  # of the body; None: it comes in chunks, or goes on to the end of the connection
    is_chunked: bool
    is_last: bool  # the connection ends with it


class Reader:
    """Takes exact amounts and lines out of whatever pieces arrive."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._buffer = b""

    @property
    def untouched(self) -> bool:
        return not self._buffer

    def head(self) -> Head:
        return parse_head(self._until(b"\r\n\r\n"))

    def body(self, head: Head) -> bytes:
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
def parse_head(block: bytes) -> Head:
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
    return Head(
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
