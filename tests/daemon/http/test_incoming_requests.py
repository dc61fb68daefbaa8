"""What comes in on a real socket: refusals before bodies, limits, bodies in chunks, and what is no request."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from headcount.daemon.http.connection import SENT_MOST, HttpProtocol
from headcount.daemon.http.request_checks import BODY_MOST
from headcount.daemon.http.requests_in_order import WAITING_MOST
from tests.rig.daemon.server_without_daemon import WITHIN, Scene, get, line, lone_server, post


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with lone_server(tmp_path / "s") as made:
        yield made


async def went_deaf(scene: Scene) -> HttpProtocol:
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
