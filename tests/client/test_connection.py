"""The hand-made client on a real unix socket."""

import asyncio
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from headcount import times
from headcount.client.faults import (
    Broken,
    Deaf,
    NotFound,
    NotRunning,
    Refused,
    TimedOut,
    Unavailable,
    refusal,
)
from headcount.client.transport import async_connection
from headcount.client.transport.async_connection import AsyncConnections
from headcount.client.transport.connection import Connection, Question
from tests.client.scripted_server import WireServer, answer


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "headcount.sock")


@contextmanager
def full_queue(path: str) -> Iterator[None]:
    """A listener that takes nobody in, with as many before its door as it has room for."""
    with ExitStack() as kept:
        listener = kept.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(path)
        listener.listen(0)
        while True:
            one = kept.enter_context(socket.socket(socket.AF_UNIX))
            one.setblocking(False)
            try:
                one.connect(path)
            except BlockingIOError:
                break
        yield


def test_an_answer_has_status_headers_and_data(path: str) -> None:
    with WireServer(path, lambda *_: answer({"ok": True})) as server:
        connection = Connection(path)
        got = connection.call("GET", "/healthz")
        connection.close()
    assert (got.status, got.data, got.headers["headcount-version"]) == (200, {"ok": True}, "0.1.0")
    assert server.requests[0][0] == "GET /healthz HTTP/1.1"
    assert server.requests[0][1]["host"] == "localhost"


def test_a_body_is_sent_as_json(path: str) -> None:
    with WireServer(path, lambda *_: answer({}, 202)) as server:
        connection = Connection(path)
        assert connection.call("POST", "/v1/stop", {"ä": 1}).status == 202
        connection.close()
    _, headers, body = server.requests[0]
    assert headers["content-type"] == "application/json"
    assert int(headers["content-length"]) == len(body)


def test_a_connection_is_used_again(path: str) -> None:
    with WireServer(path, lambda *_: answer({})) as server:
        connection = Connection(path)
        for _ in range(5):
            connection.call("GET", "/")
        connection.close()
        assert server.connections == 1


def test_a_question_survives_a_kept_connection_that_was_closed(path: str) -> None:
    with WireServer(path, lambda *_: answer({}, more="x: y\r\n")) as server:
        connection = Connection(path)
        connection.call("GET", "/")
        server._open[0].shutdown(socket.SHUT_RDWR)
        assert connection.call("GET", "/").status == 200
        connection.close()
        assert server.connections == 2


def test_a_command_is_never_sent_twice(path: str) -> None:
    with WireServer(path, lambda line, *_: None if line.startswith("POST") else answer({})) as server:
        connection = Connection(path)
        connection.call("GET", "/")
        with pytest.raises(Broken):
            connection.call("POST", "/", {})
        assert [line.split()[0] for line, _, _ in server.requests] == ["GET", "POST"]


def test_chunked_bodies_are_put_together(path: str) -> None:
    said = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\n[1,\r\n2;x=y\r\n2]\r\n0\r\n\r\n"
    with WireServer(path, lambda *_: said):
        connection = Connection(path)
        assert connection.call("GET", "/").data == [1, 2]
        assert connection.call("GET", "/").data == [1, 2]
        connection.close()


def test_a_missing_socket_and_a_socket_without_a_listener_are_both_not_running(path: str) -> None:
    with pytest.raises(NotRunning):
        Connection(path).call("GET", "/healthz")
    left = socket.socket(socket.AF_UNIX)
    left.bind(path)
    left.close()
    assert Path(path).exists()
    with pytest.raises(NotRunning):
        Connection(path).call("GET", "/healthz")


def test_a_daemon_that_accepts_and_is_silent_is_deaf_in_time(path: str) -> None:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(path)
        sock.listen(8)
        began = time.monotonic()
        with pytest.raises(Deaf) as caught:
            Connection(path).call("GET", "/healthz", within=0.2)
        assert 0.15 < time.monotonic() - began < 10
        assert "headcount doctor" in (caught.value.hint or "")
        assert caught.value.exit_code == 4


def test_a_daemon_whose_queue_is_full_is_deaf_and_not_absent(path: str) -> None:
    with full_queue(path), pytest.raises(Deaf):
        Connection(path).call("GET", "/healthz", within=0.2)


async def test_a_daemon_whose_queue_is_full_holds_up_one_call_and_not_the_loop_that_made_it(
    path: str,
) -> None:
    with full_queue(path):
        asked = asyncio.create_task(AsyncConnections(path, "").call(Question("GET", "/healthz", within=0.3)))
        turns = 0
        while not asked.done():
            await asyncio.sleep(0.01)
            turns += 1
        assert turns > 1
        with pytest.raises(Deaf):
            asked.result()


async def test_a_stream_of_events_does_not_wait_for_ever_at_a_full_queue(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(async_connection, "CALL_WITHIN", 0.3)
    with full_queue(path), pytest.raises(Deaf):
        async with asyncio.timeout(20):
            await anext(AsyncConnections(path, "").stream(None))


def test_a_short_call_after_a_long_one_has_a_deadline_of_its_own(path: str) -> None:
    def once(line: str, *_: object) -> bytes | None:
        return answer({}) if "/first" in line else b""

    with WireServer(path, once):
        connection = Connection(path)
        connection.call("GET", "/first", within=300)
        with pytest.raises(Deaf):
            connection.call("GET", "/second", within=0.2)
        connection.close()


def test_a_server_that_drips_bytes_does_not_stretch_the_deadline(path: str) -> None:
    def drip(_line: str, _headers: dict[str, str], _body: bytes, conn: socket.socket) -> bytes | None:
        for _ in range(1_000):
            conn.sendall(b"H")
            time.sleep(0.02)
        return None

    with WireServer(path, drip):
        began = time.monotonic()
        with pytest.raises(Deaf):
            Connection(path).call("GET", "/", within=0.3)
        assert time.monotonic() - began < 10


def test_a_socket_path_longer_than_an_address_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path.joinpath(*["a-long-directory-name"] * 8)
    deep.mkdir(parents=True)
    assert len(str(deep)) > 150
    monkeypatch.chdir(deep)
    with WireServer("headcount.sock", lambda *_: answer({"ok": 1})):
        connection = Connection(str(deep / "headcount.sock"))
        assert connection.call("GET", "/").data == {"ok": 1}
        connection.close()


@pytest.mark.parametrize("said", [b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", b"\0" * 70_000])
def test_whoever_does_not_speak_http_is_unavailable(path: str, said: bytes) -> None:
    with WireServer(path, lambda *_: said), pytest.raises(Unavailable):
        Connection(path).call("GET", "/", within=1)


def _event(seq: int) -> bytes:
    text = f'id: {seq}\nevent: session.heard\ndata: {{"seq": {seq}}}\n\n'.encode()
    return b"%x\r\n%s\r\n" % (len(text), text)


HEAD = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-type: text/event-stream\r\n\r\n"


def test_a_stream_gives_events_and_says_when_it_ends(path: str) -> None:
    with WireServer(path, lambda *_: HEAD + _event(1) + _event(2) + b"0\r\n\r\n") as server:
        stream = Connection(path).stream("/v1/events", "0")
        assert [next(stream).id, next(stream).id] == ["1", "2"]
        with pytest.raises(Broken):
            next(stream)
    assert server.requests[0][1]["last-event-id"] == "0"


def test_a_stream_ends_at_the_callers_deadline(path: str) -> None:
    with WireServer(path, lambda *_: HEAD + _event(1)):
        stream = Connection(path).stream("/v1/events", until=time.monotonic() + 0.2)
        assert next(stream).id == "1"
        with pytest.raises(TimedOut):
            next(stream)


def test_a_silent_stream_is_given_up(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(times, "STREAM_SILENT_AFTER", 0.1)
    with WireServer(path, lambda *_: HEAD), pytest.raises(Broken):
        next(Connection(path).stream("/v1/events"))


def test_a_refusal_keeps_the_daemons_words_and_has_its_exit_code() -> None:
    body = {"error": {"code": "ambiguous", "message": '"7" matches 7f3a, 71c0.', "hint": None}}
    fault = refusal(400, body)
    assert (fault.code, fault.message, fault.exit_code) == ("ambiguous", '"7" matches 7f3a, 71c0.', 2)
    assert isinstance(refusal(404, body), NotFound)
    assert refusal(404, body).exit_code == 5
    assert refusal(409, body).exit_code == 3


@pytest.mark.parametrize("body", [None, "text", [], {"error": "x"}, {"error": {"message": 3}}])
def test_a_refusal_without_a_proper_body_is_still_a_refusal(body: object) -> None:
    assert isinstance(refusal(500, body), Refused)
