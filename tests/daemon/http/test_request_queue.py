"""What goes out on a real socket: answers in order, streams, readers that go, and an orderly end."""

import asyncio
import gc
import socket
import weakref
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from headcount.daemon.http.answer import HttpAnswer
from headcount.daemon.http.request import Request
from tests.rig.daemon.server_without_daemon import WITHIN, Scene, get, line, lone_server


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with lone_server(tmp_path / "s") as made:
        yield made


async def test_answers_leave_in_the_order_of_the_requests_whoever_is_ready_first(scene: Scene) -> None:
    async with line(scene) as (send, read, _):
        send(get("/slow") + get("/fast") + get("/refused", "Origin: http://evil.example") + get("/last"))
        await scene.began.wait()
        scene.let.set()
        answers = [await read() for _ in range(4)]
    assert [each[:3] for each in answers] == [b"200", b"200", b"403", b"200"]
    assert [answers[0], answers[1], answers[3]] == [b"200 /slow", b"200 /fast", b"200 /last"]


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


async def test_a_bug_in_a_route_is_a_500_and_the_line_goes_on(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(request: Request) -> HttpAnswer:
        raise ZeroDivisionError

    monkeypatch.setattr(scene.server._gate, "_app", broken)
    async with line(scene) as (send, read, _):
        for _ in range(2):
            send(get("/x"))
            assert (await read())[:3] == b"500"


async def test_an_answer_that_somebody_cancelled_ends_its_connection(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cancelled(request: Request) -> HttpAnswer:
        raise asyncio.CancelledError

    monkeypatch.setattr(scene.server._gate, "_app", cancelled)
    async with line(scene) as (send, _, reader):
        send(get("/x") + get("/y"))
        async with asyncio.timeout(WITHIN):
            assert await reader.read() == b""


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


async def test_the_frames_of_a_reader_who_goes_are_closed_at_once(scene: Scene) -> None:
    async with line(scene) as (send, _, _reader):
        send(get("/stream"))
        await scene.began.wait()
    async with asyncio.timeout(WITHIN):
        await scene.frames_over.wait()


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


async def test_at_the_end_what_was_written_is_sent(scene: Scene) -> None:
    async with line(scene) as (send, read, _):
        send(get("/large"))
        async with asyncio.timeout(WITHIN):
            while not scene.bodies or scene.server._tasks:
                await asyncio.sleep(0.01)
        scene.server.end()
        assert len(await read()) == 1_000_004


async def test_at_the_end_a_stream_that_goes_on_is_cut(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headcount.daemon.http.listen.DRAIN_STREAMS_WITHIN", 0.05)
    async with line(scene) as (send, _, reader):
        send(get("/stream"))
        await scene.began.wait()
        scene.server.end()
        async with asyncio.timeout(WITHIN):
            await reader.read()
            await scene.serving
    assert scene.frames_over.is_set()


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
