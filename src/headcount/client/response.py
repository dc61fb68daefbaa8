"""Responses: the head and body of one HTTP/1.1 answer, read from a source of bytes.

Rules of this file
  1. Strict: a head that is not HTTP/1.1, too long, or with a body of unknown length is a fault.
  2. Bounded: a head has at most `HEAD_MOST` bytes. Bodies are our own daemon's and are not bounded.

Not here: sockets and deadlines (connection.py), JSON.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from headcount.client.faults import Broken, Unavailable

HEAD_MOST = 65_536

Receive = Callable[[], bytes]
"""Gives the next bytes that came; empty at the end of the connection."""


class Head(NamedTuple):
    status: int
    headers: Mapping[str, str]


_HEADS: dict[bytes, Head] = {}  # of answers of before, as they came
HEADS_KEPT = 64


class Reader:
    """Takes exact amounts and lines out of whatever pieces arrive."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._buffer = b""

    @property
    def untouched(self) -> bool:
        return not self._buffer

    def head(self) -> Head:
        """The daemon says the same few again and again: they are read once."""
        block = self._until(b"\r\n\r\n")
        known = _HEADS.get(block)
        if known is None:
            known = parse_head(block)
            if len(_HEADS) >= HEADS_KEPT:
                _HEADS.clear()
            _HEADS[block] = known
        return known

    def body(self, head: Head) -> bytes:
        if head.status in (204, 304):
            return b""
        if "content-length" in head.headers:
            return self._exactly(_length(head.headers["content-length"]))
        if head.headers.get("transfer-encoding", "").lower() == "chunked":
            return b"".join(self.chunks())
        return b"".join(self._to_the_end())

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
        pieces, have = [self._buffer], len(self._buffer)
        while have < size:
            self._buffer = b""
            self._more()
            pieces.append(self._buffer)
            have += len(self._buffer)
        whole = b"".join(pieces)
        self._buffer = whole[size:]
        return whole[:size]

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


def parse_head(block: bytes) -> Head:
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
    return Head(int(status), headers)


def _length(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise _not_http()
    return int(text)


def _not_http() -> Unavailable:
    return Unavailable("Something that is not headcount answers on the socket.", "See: headcount doctor")
