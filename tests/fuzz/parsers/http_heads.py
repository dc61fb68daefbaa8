"""Heads of requests at the gate, and of answers at our own client.

The gate is asked with a head made of the input; an oracle that shares no code with it says who may come in. Nothing is
answered with 5xx, nothing is answered twice, and what a client reads does not depend on how the bytes were cut.
"""

import os
from collections.abc import Coroutine, Iterable, Iterator
from typing import Any

from headcount.client.faults import ClientFault
from headcount.client.transport.response import EventParser, ResponseReader
from headcount.daemon.http.answer import HttpAnswer
from headcount.daemon.http.request import ConnectionFacts, Request
from headcount.daemon.http.request_checks import BODY_MOST, Gate
from headcount.system.loopback import Loopback, Names
from headcount.system.unix_peer import Peer
from tests.fuzz.target import Target

PORT = 7777
OWN = b"0a1b2c.localhost:7777"
PLAIN = (b"127.0.0.1:7777", b"localhost:7777")
Pairs = list[tuple[bytes, bytes]]


class Ours(Loopback, frozen=True):
    """A connection of our own: the kernel has none of that address to ask about."""

    def is_from_us(self) -> bool:
        return True


LINE = Ours(("127.0.0.1", PORT), ("127.0.0.1", 9), Names(frozenset({OWN}), frozenset({OWN, *PLAIN})))


def request_of(data: bytes) -> tuple[str, str, Pairs, bytes]:
    """Method and path on the first line, a header a line, a body after an empty one: as a parser hands them on."""
    head, _, body = data.replace(b"\r\n", b"\n").partition(b"\n\n")
    first, *lines = head.split(b"\n")
    words = first.decode("latin-1").split(" ")
    pairs = [
        (name.strip().lower(), value.strip()) for name, _, value in (line.partition(b":") for line in lines)
    ]
    return words[0], words[1] if len(words) > 1 else "/", pairs, body


def check(data: bytes) -> None:
    method, path, pairs, body = request_of(data)
    for loopback in (None, LINE):
        reached, statuses = _run(_asked(Gate, method, path, pairs, body, loopback))
        assert len(statuses) == 1, f"answered {len(statuses)} times"
        assert 200 <= statuses[0] < 500, f"answered {statuses[0]}"
        assert reached == (statuses[0] == 200)
        assert not reached or may_come_in(method, pairs, body, loopback is not None), (
            "a web page would have got in"
        )


def may_come_in(method: str, pairs: Pairs, body: bytes, loopback: bool) -> bool:
    """Who may, said once more and plainly."""
    values: dict[bytes, list[bytes]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    hosts = [OWN, *PLAIN] if loopback else [b"localhost"]
    host = values.get(b"host", [])
    if len(host) != 1 or host[0] not in hosts:
        return False
    origins = values.get(b"origin", [])
    if origins and not (loopback and origins == [b"http://" + host[0]]):
        return False
    if loopback and b"service-worker" in values:
        return False
    if set(values.get(b"sec-fetch-site", [])[:1]) - {b"same-origin", b"none"}:
        return False
    if method not in ("GET", "HEAD", "POST", "DELETE") or len(body) > BODY_MOST:
        return False
    kinds = [value.split(b";")[0].strip().lower() for value in values.get(b"content-type", [])]
    return method != "POST" or kinds[:1] == [b"application/json"]


async def _asked(
    gate: type[Gate], method: str, path: str, pairs: Pairs, body: bytes, loopback: Loopback | None
) -> tuple[bool, list[int]]:
    reached = False

    async def app(request: Request) -> HttpAnswer:
        nonlocal reached
        reached = True
        return HttpAnswer(200)

    peer = Peer(os.getpid(), os.getuid(), os.getgid()) if loopback is None else None
    request = Request(ConnectionFacts(peer, loopback), method, path, b"", pairs, body)
    made = gate(app)
    answer = made.admit(request) or await made.answer(request)
    assert isinstance(answer, HttpAnswer)
    return reached, [answer.status]


def _run(asked: Coroutine[Any, Any, tuple[bool, list[int]]]) -> tuple[bool, list[int]]:
    """Nothing in it waits for anything, so no event loop is needed."""
    try:
        asked.send(None)
    except StopIteration as over:
        return over.value
    raise AssertionError("the gate waited for something")


class NaiveGate(Gate):
    """Looks whether the host's name is ours somewhere, as many do."""

    def admit(self, request: Request) -> HttpAnswer | None:
        headers = dict(request.headers)
        allowed = (
            b"localhost" in headers.get(b"host", b"")
            and int(headers.get(b"content-length", b"0")) <= BODY_MOST
        )
        return None if allowed else HttpAnswer(403)


def naive(data: bytes) -> None:
    method, path, pairs, body = request_of(data)
    reached, _ = _run(_asked(NaiveGate, method, path, pairs, body, None))
    assert not reached or may_come_in(method, pairs, body, loopback=False)


def heads() -> list[bytes]:
    post = b"POST /v1/claims\nHost: localhost\nContent-Type: application/json\nContent-Length: 2\n"
    return [
        post + b"\n{}",
        post + b"Origin: http://localhost\n\n{}",
        post + b"Sec-Fetch-Site: cross-site\n\n{}",
        b"GET /v1/sessions\nHost: 127.0.0.1:7777\nOrigin: http://127.0.0.1:7777\nSec-Fetch-Site: same-origin\n\n",
        b"GET /v1/sessions\nHost: localhost\nHost: evil.example\n\n",
        b"DELETE /v1/claims/task:x?fence=1\nHost: localhost\nContent-Length: 99999999999999999999999\n\n",
        b"OPTIONS /\nHost: localhost\nAccess-Control-Request-Method: POST\n\n",
    ]


# --- what a client reads ---------------------------------------------------------------------------


def check_answer(data: bytes) -> None:
    """A head and a body, from bytes in one piece and in many: the same answer or the same kind of fault."""
    whole, cut = _answer(iter([data])), _answer(pieces(data))
    assert whole == cut, f"{whole} in one piece, {cut} in pieces"


def pieces(data: bytes) -> Iterator[bytes]:
    """The beginning byte by byte, what follows in ever larger pieces: no input takes long."""
    at = 0
    while at < len(data):
        size = 1 if at < 300 else 1 + at // 50
        yield data[at : at + size]
        at += size


def _answer(pieces: Iterable[bytes]) -> tuple[Any, ...]:
    rest = iter(pieces)
    reader = ResponseReader(lambda: next(rest, b""))
    try:
        head = reader.head()
        return head.status, reader.body(head)
    except ClientFault as fault:
        return (type(fault).__name__,)


def naive_answer(data: bytes) -> None:
    head, _, body = data.partition(b"\r\n\r\n")
    status = int(head.split()[1]) if head else 0
    assert (status, body) == _answer(iter([data]))


def check_stream(data: bytes) -> None:
    """Events do not depend on where the bytes were cut, and none is half."""
    whole, cut = list(EventParser().feed(data)), []
    parser = EventParser()
    for piece in pieces(data):
        cut += parser.feed(piece)
    assert whole == cut, f"{len(whole)} in one piece, {len(cut)} in pieces"
    for event in whole:
        assert event.type and "\0" not in (event.id or "") and "\r" not in event.data


def naive_stream(data: bytes) -> None:
    """Each piece parsed for itself."""
    whole = [part for part in data.split(b"\n\n") if b"data:" in part]
    cut = [
        part for at in range(0, len(data), 7) for part in data[at : at + 7].split(b"\n\n") if b"data:" in part
    ]
    assert len(whole) == len(cut)


def answers() -> list[bytes]:
    return [
        b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 11\r\n\r\n{"ok":true}',
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.0 503 no\r\n\r\nuntil the end",
    ]


def streams() -> list[bytes]:
    return [
        b'id: 7\nevent: session.ended\ndata: {"seq": 7}\n\n: still here\n\n',
        b"data: a\r\ndata: b\r\n\r\nevent: x\rdata: c\r\r",
        b"id: 1\0\ndata\ndata:\n\n",
    ]


TARGETS = (
    Target("head", check, naive, heads, slow=True),
    Target("answer", check_answer, naive_answer, answers),
    Target("stream", check_stream, naive_stream, streams),
)
