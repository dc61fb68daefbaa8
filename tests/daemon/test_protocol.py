"""The connection on a real socket: order, refusals before bodies, streams, readers that go, and an orderly end."""

import asyncio
import gc
import socket
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from headcount.daemon.answer import Answer, Stream
from headcount.daemon.gate import BODY_MOST, Gate
from headcount.daemon.listen import Server, open_unix_socket
from headcount.daemon.protocol import SENT_MOST, Protocol
from headcount.daemon.request import Request
from headcount.daemon.turns import WAITING_MOST

WITHIN = 10.0


class Scene:
    """A server whose routes are what a test says; `/slow` answers when it is let."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.let, self.began, self.frames_over = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.bodies: list[bytes] = []
        self.server = Server()
        self.server.serve_app(Gate(self._answer))
        self.serving = asyncio.create_task(self.server.serve_on(open_unix_socket(path)))

    async def _answer(self, request: Request) -> Answer | Stream:
        self.bodies.append(request.body)
        if request.path.startswith("/slow"):
            self.began.set()
            await self.let.wait()
        if request.path.endswith("stream"):
            return Stream(self._frames(), "text/plain")
        if request.path == "/large":
            return Answer(200, b"x" * 1_000_000)
        return Answer(200, request.path.encode())

    async def _frames(self) -> AsyncGenerator[bytes, None]:
        try:
            yield b"one"
            yield b""
            self.began.set()
            await self.let.wait()
            yield b"two"
        finally:
            self.frames_over.set()

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        for _ in range(500):
            try:
                return await asyncio.open_unix_connection(str(self.path))
            except OSError:
                await asyncio.sleep(0.01)
        raise AssertionError("nobody listens")


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    made = Scene(tmp_path / "s")
    yield made
    made.let.set()
    made.server.end()
    await made.serving


@asynccontextmanager
async def line(
    scene: Scene,
) -> AsyncIterator[tuple[Callable[[bytes], None], Callable[[], Awaitable[bytes]], asyncio.StreamReader]]:
    """`send` and `read` (one whole answer: its status and body)."""
    reader, writer = await scene.connect()

    async def read() -> bytes:
        async with asyncio.timeout(WITHIN):
            head = await reader.readuntil(b"\r\n\r\n")
            length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
            body = await reader.readexactly(int(length or 0)) if length else b""
        return head.split()[1] + b" " + body

    try:
        yield writer.write, read, reader
    finally:
        writer.close()


def get(path: str, *headers: str) -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: localhost", *headers, "", ""]).encode()


def post(path: str, *headers: str, body: bytes = b"") -> bytes:
    kind = "Content-Type: application/json"
    head = "\r\n".join([f"POST {path} HTTP/1.1", "Host: localhost", kind, *headers, "", ""])
    return head.encode() + body


async def test_answers_leave_in_the_order_of_the_requests_whoever_is_ready_first(scene: Scene) -> None:
    async with line(scene) as (send, read, _):
        send(get("/slow") + get("/fast") + get("/refused", "Origin: http://evil.example") + get("/last"))
        await scene.began.wait()
        scene.let.set()
        answers = [await read() for _ in range(4)]
    assert [each[:3] for each in answers] == [b"200", b"200", b"403", b"200"]
    assert [answers[0], answers[1], answers[3]] == [b"200 /slow", b"200 /fast", b"200 /last"]


async def went_deaf(scene: Scene) -> Protocol:
    """The one connection, once it takes no more."""
    (connection,) = scene.server._connections
    async with asyncio.timeout(WITHIN):
        while not connection._is_deaf:
            await asyncio.sleep(0.01)
    return connection


async def test_who_asks_far_ahead_is_answered_so_far_and_then_refused(scene: Scene) -> None:
    async with line(scene) as (send, read, reader):
        send(get("/slow"))
        await scene.began.wait()
        send(b"".join(get(f"/{nth}") for nth in range(5 * WAITING_MOST)))
        await went_deaf(scene)
        scene.let.set()
        assert await read() == b"200 /slow"
        assert [await read() for _ in range(WAITING_MOST + 1)] == [
            b"200 /%d" % nth for nth in range(WAITING_MOST + 1)
        ]
        assert (await read())[:3] == b"429"
        assert await reader.read() == b""


async def test_who_sends_large_bodies_ahead_is_refused_before_they_are_many(scene: Scene) -> None:
    async with line(scene) as (send, read, _):
        send(get("/slow"))
        await scene.began.wait()
        large = post("/x", f"Content-Length: {BODY_MOST}", body=b" " * BODY_MOST)
        send(large * 10)
        connection = await went_deaf(scene)
        assert connection._turns.size_waiting() <= 2 * BODY_MOST
        scene.let.set()
        assert [(await read())[:3] for _ in range(4)] == [b"200", b"200", b"200", b"429"]


async def test_a_caller_who_goes_is_noticed_however_much_it_asked_ahead(scene: Scene) -> None:
    async with line(scene) as (send, _, _reader):
        send(get("/slow") + get("/next") * 300)
        await scene.began.wait()
        (connection,) = scene.server._connections
    async with asyncio.timeout(WITHIN):
        await connection.line.lost.wait()


async def test_who_is_refused_is_told_before_its_body_and_hung_up_on(scene: Scene) -> None:
    """What it sends after that is neither its body nor a request."""
    async with line(scene) as (send, read, reader):
        send(post("/x", "Content-Length: 20", "Origin: http://evil.example"))
        assert (await read())[:3] == b"403"
        send(get("/after") + get("/after"))
        assert await reader.read() == b""
    assert scene.bodies == []


@pytest.mark.parametrize(
    "rest", ["Transfer-Encoding: gzip\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nzz\r\n"]
)
async def test_one_request_gets_one_answer(scene: Scene, rest: str) -> None:
    async with line(scene) as (send, _, reader):
        head = (
            "POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nOrigin: http://evil\r\n"
        )
        send((head + rest).encode())
        assert (await reader.read()).count(b"HTTP/1.1 ") == 1


async def test_what_follows_a_body_in_chunks_is_not_kept_and_does_not_go_on_for_ever(scene: Scene) -> None:
    """As a head would be: its lines are counted, and one without an end is no way around it."""
    for line_of_it in (b"X-Y: " + b"z" * 1000 + b"\r\n", b"z" * 1000):
        async with line(scene) as (send, read, reader):
            send(post("/x", "Transfer-Encoding: chunked", body=b"2\r\n[]\r\n0\r\nX: "))
            (connection,) = [each for each in scene.server._connections if each._is_coming] or [None]
            while connection is None:
                await asyncio.sleep(0.01)
                connection = next((each for each in scene.server._connections if each._is_coming), None)
            for _ in range(SENT_MOST // 100_000 + 3):
                send(line_of_it * 100)
                await asyncio.sleep(0)
            assert (await read())[:3] == b"413"
            assert len(connection._headers) < 10
            assert await reader.read() == b""
    assert scene.bodies == []


async def test_after_the_last_answer_nothing_is_done(scene: Scene) -> None:
    async with line(scene) as (send, read, reader):
        send(
            b"GET /slow HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n" + get("/y") + b"GET /z"
        )
        await scene.began.wait()
        scene.let.set()
        assert await read() == b"200 /slow"
        assert await reader.read() == b""
    assert len(scene.bodies) == 1


async def test_an_answer_that_somebody_cancelled_ends_its_connection(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cancelled(request: Request) -> Answer:
        raise asyncio.CancelledError

    monkeypatch.setattr(scene.server._gate, "_app", cancelled)
    async with line(scene) as (send, _, reader):
        send(get("/x") + get("/y"))
        async with asyncio.timeout(WITHIN):
            assert await reader.read() == b""


async def test_line_ends_before_a_request_are_nothing(scene: Scene) -> None:
    async with line(scene) as (send, read, _):
        for _ in range(3):
            send(b"\r\n")
            await asyncio.sleep(0.01)
        send(get("/x"))
        assert await read() == b"200 /x"


async def test_a_body_before_it_does_not_make_a_head_too_large(scene: Scene) -> None:
    async with line(scene) as (send, read, _):
        send(post("/x", "Content-Length: 40000", body=b" " * 40_000) + get("/after")[:-10])
        assert await read() == b"200 /x"
        send(get("/after")[-10:])
        assert await read() == b"200 /after"


async def test_a_connection_that_is_over_is_freed_without_a_search_for_cycles(scene: Scene) -> None:
    gc.collect()
    gc.disable()
    try:
        async with line(scene) as (send, read, _):
            send(get("/x"))
            await read()
            (connection,) = scene.server._connections
            gone = weakref.ref(connection)
            lost = connection.line.lost
            del connection
        async with asyncio.timeout(WITHIN):
            await lost.wait()
            while gone() is not None:
                await asyncio.sleep(0.01)
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /x HTTP/2.0\r\nHost: localhost\r\n\r\n",
        b"GET /x HTTP/0.9\r\nHost: localhost\r\n\r\n",
        post("/x", "Connection: upgrade", "Upgrade: h2c", "Content-Length: 2", body=b"{}"),
        b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
)
async def test_what_we_do_not_speak_is_refused_and_not_half_understood(scene: Scene, sent: bytes) -> None:
    async with line(scene) as (send, read, reader):
        send(sent)
        assert (await read())[:3] in (b"400", b"405")
        assert await reader.read() == b""
    assert scene.bodies == []


async def test_a_stream_for_somebody_who_went_meanwhile_does_not_begin(scene: Scene) -> None:
    async with line(scene) as (send, _, _reader):
        send(get("/slow-stream"))
        await scene.began.wait()
        (connection,) = scene.server._connections
    await connection.line.lost.wait()
    scene.let.set()
    async with asyncio.timeout(WITHIN):
        while scene.server._tasks:
            await asyncio.sleep(0.01)
    assert not scene.frames_over.is_set(), "it was never begun"


async def test_at_the_end_what_was_written_is_sent(scene: Scene) -> None:
    async with line(scene) as (send, read, _):
        send(get("/large"))
        async with asyncio.timeout(WITHIN):
            while not scene.bodies or scene.server._tasks:
                await asyncio.sleep(0.01)
        scene.server.end()
        assert len(await read()) == 1_000_004


async def test_who_connects_at_the_end_is_not_served(scene: Scene) -> None:
    async with line(scene) as (send, read, _):
        send(get("/x"))
        await read()
    reader, writer = await asyncio.open_unix_connection(str(scene.path))
    scene.server.end()
    writer.write(get("/late"))
    with suppress(ConnectionResetError):
        assert await reader.read() == b""
    writer.close()
    assert len(scene.bodies) == 1


async def test_who_asks_first_is_told_to_go_on_and_who_is_refused_then_is_hung_up_on(scene: Scene) -> None:
    async with line(scene) as (send, read, reader):
        send(post("/x", "Content-Length: 4", "Expect: 100-continue"))
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        send(b"true")
        assert await read() == b"200 /x"
        send(post("/x", "Content-Length: 4", "Expect: 100-continue", "Origin: http://evil.example"))
        assert (await read())[:3] == b"403"
        assert await reader.read() == b""
    assert scene.bodies == [b"true"]


async def test_who_asks_first_behind_others_is_told_in_its_turn_and_an_old_caller_never(scene: Scene) -> None:
    async with line(scene) as (send, read, reader):
        send(get("/slow") + post("/x", "Content-Length: 4", "Expect: 100-continue"))
        await scene.began.wait()
        scene.let.set()
        assert await read() == b"200 /slow"
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        send(b"true")
        assert await read() == b"200 /x"
    async with line(scene) as (send, read, _):
        send(
            post("/x", "Content-Length: 4", "Expect: 100-continue").replace(b"HTTP/1.1", b"HTTP/1.0")
            + b"true"
        )
        assert await read() == b"200 /x"


async def test_a_body_in_chunks_is_whole_when_it_is_answered_and_one_without_end_is_refused(
    scene: Scene,
) -> None:
    async with line(scene) as (send, read, reader):
        send(post("/x", "Transfer-Encoding: chunked", body=b"2\r\n[1\r\n1\r\n]\r\n0\r\n\r\n"))
        assert await read() == b"200 /x"
        send(post("/x", "Transfer-Encoding: chunked"))
        for _ in range(BODY_MOST // 65_536 + 1):
            send(b"10000\r\n" + b" " * 65_536 + b"\r\n")
        assert (await read())[:3] == b"413"
        assert await reader.read() == b""
    assert scene.bodies == [b"[1]"]


async def test_a_stream_is_in_chunks_and_ends_with_the_last_and_the_line_goes_on(scene: Scene) -> None:
    async with line(scene) as (send, read, reader):
        send(get("/stream"))
        assert b"transfer-encoding: chunked\r\n" in await reader.readuntil(b"\r\n\r\n")
        await scene.began.wait()
        scene.let.set()
        assert await reader.readuntil(b"0\r\n\r\n") == b"3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"
        send(get("/after"))
        assert await read() == b"200 /after"


async def test_who_knows_no_chunks_gets_the_frames_until_the_end(scene: Scene) -> None:
    scene.let.set()
    async with line(scene) as (send, _, reader):
        send(b"GET /stream HTTP/1.0\r\nHost: localhost\r\n\r\n")
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    assert b"chunked" not in head and b"connection: close" in head and body == b"onetwo"


async def test_of_a_stream_a_head_request_gets_the_head(scene: Scene) -> None:
    async with line(scene) as (send, read, _):
        send(b"HEAD /stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert (await read())[:3] == b"200"
        send(get("/after"))
        assert await read() == b"200 /after"


async def test_the_frames_of_a_reader_who_goes_are_closed_at_once(scene: Scene) -> None:
    async with line(scene) as (send, _, _reader):
        send(get("/stream"))
        await scene.began.wait()
    async with asyncio.timeout(WITHIN):
        await scene.frames_over.wait()


async def test_at_the_end_what_is_in_work_is_told_and_the_idle_are_closed(scene: Scene) -> None:
    async with line(scene) as (send, read, reader), line(scene) as (ask, answer, idle):
        ask(get("/before"))
        await answer()
        send(get("/slow"))
        await scene.began.wait()
        scene.server.end()
        assert await idle.read() == b""
        scene.let.set()
        assert await read() == b"200 /slow"
        assert await reader.read() == b""
    await scene.serving
    assert not scene.server._connections and not scene.server._tasks


async def test_at_the_end_a_stream_that_goes_on_is_cut(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headcount.daemon.listen.DRAIN_STREAMS_WITHIN", 0.05)
    async with line(scene) as (send, _, reader):
        send(get("/stream"))
        await scene.began.wait()
        scene.server.end()
        async with asyncio.timeout(WITHIN):
            await reader.read()
            await scene.serving
    assert scene.frames_over.is_set()


async def test_who_does_not_read_gets_no_more_answers_into_memory(scene: Scene) -> None:
    """One waits in the kernel's buffers and ours, the rest are not even worked on."""
    async with line(scene):
        sock = socket.socket(socket.AF_UNIX)
    sock.connect(str(scene.path))
    sock.sendall(get("/large") * 50)
    for _ in range(50):
        await asyncio.sleep(0.01)
    assert len(scene.bodies) < 5
    sock.close()
    async with asyncio.timeout(WITHIN):
        while scene.server._tasks:
            await asyncio.sleep(0.01)


async def test_a_bug_in_a_route_is_a_500_and_the_line_goes_on(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(request: Request) -> Answer:
        raise ZeroDivisionError

    monkeypatch.setattr(scene.server._gate, "_app", broken)
    async with line(scene) as (send, read, _):
        for _ in range(2):
            send(get("/x"))
            assert (await read())[:3] == b"500"
