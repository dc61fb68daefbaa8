"""Senders that take their time: each gets its deadline, and nobody else waits for them."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rig.daemon import altered
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.network.raw_requests import Traces, connect, exchange, hook, read_reply, request

GOOD = b'{"session_id": "slow", "hook_event_name": "Stop"}'
DEADLINE = 0.6


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    times = altered.environment(HEADERS_WITHIN=DEADLINE, BODY_WITHIN=DEADLINE, KEEP_ALIVE=2)
    running = Daemon(tmp_path_factory.mktemp("home") / "headcount", **times)
    running.start(altered.WRAPPER)
    assert running.word == "ready"
    yield running
    assert '"level": "error"' not in running.log()
    running.stop()


def descriptors(daemon: Daemon) -> int:
    return len(list(Path(f"/proc/{daemon.pid}/fd").iterdir()))


def trickle(daemon: Daemon, whole: bytes, count: int, first: bytes = b"") -> None:
    """As many connections, each sending a byte now and then, until the daemon has closed them all."""
    daemon.get("/v1/sessions")  # the census has found whoever else runs on this machine, and holds them
    before = descriptors(daemon)
    traces = Traces(daemon)
    socks = [connect(daemon.socket) for _ in range(count)]
    try:
        for sock in socks:
            sock.sendall(first)
            sock.setblocking(False)
        open_ones, began = list(socks), time.monotonic()
        for byte in whole:
            for sock in list(open_ones):
                try:
                    sock.send(bytes([byte]))
                except (BrokenPipeError, ConnectionResetError):
                    open_ones.remove(sock)
            if not open_ones:
                break
            asked = time.monotonic()
            assert exchange(daemon.socket, request("GET", "/healthz")).status == 200
            assert time.monotonic() - asked < 2, "nobody else waits"
            time.sleep(0.05)
        took = time.monotonic() - began
        assert not open_ones, f"{len(open_ones)} of {count} are still served after {took:.1f} s"
        assert took > DEADLINE / 2
    finally:
        for sock in socks:
            sock.close()
    eventually(lambda: descriptors(daemon) <= before + 2)
    traces.assert_unchanged()


def test_heads_that_trickle_are_closed(daemon: Daemon) -> None:
    trickle(daemon, hook(GOOD, "X-Filler: " + "x" * 500), 100)


def test_bodies_that_trickle_are_closed(daemon: Daemon) -> None:
    whole = hook(GOOD + b" " * 500)
    head = whole[: whole.index(b"\r\n\r\n") + 4]
    trickle(daemon, whole[len(head) :], 100, first=head)


def test_line_ends_that_trickle_are_closed(daemon: Daemon) -> None:
    trickle(daemon, b"\r\n" * 200, 20)


def test_line_ends_after_an_answer_do_not_hold_the_connection(daemon: Daemon) -> None:
    with connect(daemon.socket) as sock:
        sock.sendall(request("GET", "/healthz"))
        assert read_reply(sock).status == 200
        sock.sendall(b"\r\n")
        began = time.monotonic()
        assert sock.recv(100) == b""
        assert time.monotonic() - began < 15


def test_who_says_nothing_is_closed(daemon: Daemon) -> None:
    with connect(daemon.socket) as sock:
        assert sock.recv(100) == b""


def test_who_asked_once_may_be_silent_longer_than_a_head_may_take(daemon: Daemon) -> None:
    with connect(daemon.socket) as sock:
        for _ in range(2):
            sock.sendall(request("GET", "/healthz"))
            assert read_reply(sock).status == 200
            time.sleep(DEADLINE * 1.5)  # the silence itself is what is tested


def test_a_stream_is_silent_without_being_closed(daemon: Daemon) -> None:
    with connect(daemon.socket) as sock:
        sock.sendall(request("GET", "/v1/events"))
        assert read_reply(sock).status == 200
        time.sleep(DEADLINE * 2)  # the silence itself is what is tested
        exchange(daemon.socket, hook(GOOD))
        assert sock.recv(65536)


def test_a_report_in_pieces_that_comes_in_time_is_taken(daemon: Daemon) -> None:
    whole = hook(GOOD)
    with connect(daemon.socket) as sock:
        for at in range(0, len(whole), 20):
            sock.sendall(whole[at : at + 20])
            time.sleep(0.01)
        assert read_reply(sock).status == 202


def test_readers_that_do_not_read_their_answers_hold_nobody_up(daemon: Daemon) -> None:
    """Answers pile up with those who asked for them."""
    socks = [connect(daemon.socket) for _ in range(20)]
    try:
        for sock in socks:
            sock.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                sock.sendall(request("GET", "/openapi.json") * 500)
        began = time.monotonic()
        assert exchange(daemon.socket, request("GET", "/healthz")).status == 200
        assert time.monotonic() - began < 10
    finally:
        for sock in socks:
            sock.close()
