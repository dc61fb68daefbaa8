"""Answers: what goes back to a caller, and how that looks on the wire.

Rules of this file
  1. A whole answer is one piece of bytes and leaves in one call of the kernel.
  2. What a head says beside the length is the same for all answers of a kind, so it is put together once.
  3. An answer without a body (204, or to HEAD) has none, whatever was given.

Not here: sending (cycle.py), what is answered (routes/), streams (routes/stream.py).
"""

from functools import lru_cache
from http import HTTPStatus
from typing import Any

import msgspec
from msgspec import Struct

from headcount import __version__

Headers = tuple[tuple[bytes, bytes], ...]

JSON = "application/json"
NO_CONTENT = 204
HEADS_KEPT = 256

_encode = msgspec.json.Encoder().encode


class Answer(Struct, frozen=True):
    status: int
    body: bytes = b""
    media: str = JSON
    headers: Headers = ()


def json_answer(message: Any, status: int = 200) -> Answer:
    return Answer(status, _encode(message))


NOTHING = Answer(NO_CONTENT)


def on_the_wire(answer: Answer, *, headless: bool, closing: bool) -> bytes:
    """`headless`: to a HEAD, which gets the head alone; `closing`: the connection ends with it."""
    beginning = head(answer.status, answer.media, answer.headers, closing)
    if answer.status == NO_CONTENT:
        return beginning + b"\r\n"
    length = b"content-length: %d\r\n\r\n" % len(answer.body)
    return beginning + length if headless else beginning + length + answer.body


@lru_cache(maxsize=HEADS_KEPT)
def head(status: int, media: str, headers: Headers, closing: bool) -> bytes:
    """Without its last line, and without the length."""
    lines = [b"HTTP/1.1 %d %s" % (status, HTTPStatus(status).phrase.encode())]
    if status != NO_CONTENT:
        lines.append(b"content-type: " + media.encode())
    lines += [name + b": " + value for name, value in headers]
    lines.append(b"headcount-version: " + __version__.encode())
    if closing:
        lines.append(b"connection: close")
    return b"\r\n".join(lines) + b"\r\n"
