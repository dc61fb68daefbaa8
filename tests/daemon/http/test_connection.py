"""A connection and its answers: bytes on the wire, and one timer for an idle connection however often it is used."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from headcount import __version__
from headcount.build_and_namespaces import ours
from headcount.daemon.http.answer import NOTHING, HttpAnswer, json_answer, on_the_wire
from headcount.daemon.http.connection import HttpProtocol
from headcount.daemon.http.request import ConnectionFacts, Request
from headcount.daemon.http.request_checks import Gate
from headcount.times import KEEP_ALIVE


def lines_of(answer: HttpAnswer, **how: bool) -> tuple[list[str], bytes]:
    head, _, body = on_the_wire(answer, **{"headless": False, "closing": False, **how}).partition(b"\r\n\r\n")
    return head.decode().split("\r\n"), body


def test_a_whole_answer_says_what_it_is_and_how_long() -> None:
    head, body = lines_of(json_answer({"a": 1}, 202))
    assert head[0] == "HTTP/1.1 202 Accepted" and body == b'{"a":1}'
    assert head[1:] == [
        "content-type: application/json",
        f"headcount-version: {__version__}",
        f"headcount-origin: {ours().to_header()}",
        "content-length: 7",
    ]


def test_an_answer_to_a_head_has_its_length_and_no_body() -> None:
    head, body = lines_of(json_answer({"a": 1}), headless=True)
    assert "content-length: 7" in head and body == b""


def test_nothing_has_neither_length_nor_kind() -> None:
    head, body = lines_of(NOTHING)
    assert head[0] == "HTTP/1.1 204 No Content" and body == b""
    assert [line.partition(":")[0] for line in head[1:]] == ["headcount-version", "headcount-origin"]


def test_the_last_answer_of_a_connection_says_so() -> None:
    assert "connection: close" in lines_of(json_answer(1), closing=True)[0]
    assert "connection: close" not in lines_of(json_answer(1))[0]


# --- idle connections ----------------------------------------------------------------------------------


class Timer:
    def __init__(self, at: float, call: Callable[[], None]) -> None:
        self.at, self.call, self.is_cancelled = at, call, False

    def cancel(self) -> None:
        self.is_cancelled = True


class Clock:
    """As much of an event loop as a connection needs that nobody calls on."""

    def __init__(self) -> None:
        self.now, self.timers = 0.0, list[Timer]()

    def time(self) -> float:
        return self.now

    def call_later(self, after: float, call: Callable[[], None]) -> Timer:
        self.timers.append(Timer(self.now + after, call))
        return self.timers[-1]

    def waiting(self) -> list[Timer]:
        return [each for each in self.timers if not each.is_cancelled]

    def go_to(self, at: float) -> None:
        while due := [each for each in self.waiting() if each.at <= at]:
            first = min(due, key=lambda each: each.at)
            self.timers.remove(first)
            self.now = first.at
            first.call()
        self.now = at


class Wire(asyncio.Transport):
    closed = False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def get_write_buffer_size(self) -> int:
        return 0


async def nobody(request: Request) -> HttpAnswer:
    raise AssertionError("nobody was asked")


@pytest.fixture
async def connection() -> tuple[HttpProtocol, Clock, Wire]:
    clock, wire = Clock(), Wire()
    made = HttpProtocol(Gate(nobody), ConnectionFacts(), set(), set(), asyncio.Event(), clock)  # type: ignore[arg-type]
    made.connection_made(wire)
    made._within(None)  # a request came whole
    return made, clock, wire


def come_in(connection: HttpProtocol, data: bytes) -> None:
    connection.get_buffer(-1)[: len(data)] = data
    connection.buffer_updated(len(data))


async def test_a_connection_that_is_used_is_kept_and_has_one_timer(
    connection: tuple[HttpProtocol, Clock, Wire],
) -> None:
    made, clock, wire = connection
    for nth in range(100):
        clock.go_to(nth * KEEP_ALIVE / 10)
        made.answered(closing=False)
        assert len(clock.waiting()) == 1 and not wire.closed


async def test_an_idle_connection_is_closed_after_its_time_and_not_before(
    connection: tuple[HttpProtocol, Clock, Wire],
) -> None:
    made, clock, wire = connection
    made.answered(closing=False)
    clock.go_to(KEEP_ALIVE - 1)
    made.answered(closing=False)
    clock.go_to(2 * KEEP_ALIVE - 2)
    assert not wire.closed, "it was used in between"
    clock.go_to(2 * KEEP_ALIVE)
    assert wire.closed


async def test_a_request_on_its_way_is_not_cut_off_by_the_idle_timer(
    connection: tuple[HttpProtocol, Clock, Wire],
) -> None:
    made, clock, wire = connection
    made.answered(closing=False)
    clock.go_to(KEEP_ALIVE - 1)
    come_in(made, b"GET /healthz HTTP/1.1\r\n")
    clock.go_to(KEEP_ALIVE + 1)
    assert not wire.closed
