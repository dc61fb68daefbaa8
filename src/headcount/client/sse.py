"""Server-sent events: lines in, events out.

Rules of this file
  1. The parser of the HTML standard, without `retry`: CR, LF and CRLF end a line, a blank line ends
     an event, an event without data is none, a comment is nothing.
  2. An unfinished event at the end of a stream is dropped: half an event is not an event.

Not here: bytes and sockets (client/transport/connection.py), what an event means (the faces).
"""

from collections.abc import Iterator
from typing import NamedTuple


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
