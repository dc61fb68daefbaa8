"""Answers: what goes back to a caller, whole or as a stream of frames, and how that looks on the wire.

Rules
  1. A whole answer is one piece of bytes and leaves in one call of the kernel.
  2. What a head says beside the length is the same for all answers of a kind, so it is put together once.
  3. An answer without a body (204, or to HEAD) has none, whatever was given.

Not here: sending (requests_in_order.py), what is answered (routes/).
"""

from collections.abc import AsyncGenerator
from functools import lru_cache
from http import HTTPStatus

import msgspec
from msgspec import Struct

from headcount import __version__, build_and_namespaces

Headers = tuple[tuple[bytes, bytes], ...]

JSON = "application/json"
NO_CONTENT = 204
HEADS_KEPT = 256
CLOSE = (b"connection", b"close")
CHUNKED = (b"transfer-encoding", b"chunked")
LAST_CHUNK = b"0\r\n\r\n"

_encode = msgspec.json.Encoder().encode


class HttpAnswer(Struct, frozen=True):
    status: int
    body: bytes = b""
    media: str = JSON
    headers: Headers = ()


class HttpStream(Struct, frozen=True):
    """Frames until they end or their reader goes."""

    frames: AsyncGenerator[bytes, None]
    media: str
    headers: Headers = ()


def json_answer(message: object, status: int = 200) -> HttpAnswer:
    return HttpAnswer(status, _encode(message))


NOTHING = HttpAnswer(NO_CONTENT)


def on_the_wire(answer: HttpAnswer, *, headless: bool, closing: bool) -> bytes:
    """`headless`: to a HEAD, which gets the head alone; `closing`: the connection ends with it."""
    beginning = head(answer.status, answer.media, answer.headers, closing)
    if answer.status == NO_CONTENT:
        return beginning + b"\r\n"
    length = b"content-length: %d\r\n\r\n" % len(answer.body)
    return beginning + length if headless else beginning + length + answer.body


def head_of(stream: HttpStream, *, chunked: bool, closing: bool) -> bytes:
    headers = (*stream.headers, CHUNKED) if chunked else stream.headers
    return head(200, stream.media, headers, closing) + b"\r\n"


def chunk(frame: bytes) -> bytes:
    """None of an empty frame: it would be the last."""
    return b"%x\r\n%s\r\n" % (len(frame), frame) if frame else b""


@lru_cache(maxsize=HEADS_KEPT)
def head(status: int, media: str, headers: Headers, closing: bool) -> bytes:
    """Without its last line, and without the length."""
    lines = [b"HTTP/1.1 %d %s" % (status, HTTPStatus(status).phrase.encode())]
    if status != NO_CONTENT:
        lines.append(b"content-type: " + media.encode())
    lines += [name + b": " + value for name, value in headers]
    lines.append(b"headcount-version: " + __version__.encode())
    lines.append(f"{build_and_namespaces.HEADER}: {build_and_namespaces.ours().to_header()}".encode("ascii"))
    if closing and CLOSE not in headers:
        lines.append(b": ".join(CLOSE))
    return b"\r\n".join(lines) + b"\r\n"
