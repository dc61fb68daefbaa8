"""Callers for whom no descriptor is left: they are taken in as soon as there is one, and it is said once."""

import asyncio
import logging
import os
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from headcount.daemon.http.listen import BACKLOG, Accepting, MakeRoom, no_room, open_unix_socket
from tests.rig.kernel.few_descriptors import limit

WITHIN = 10.0
CALLERS = 5


class Greets(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(b"come in")
        transport.close()


def greets(_: socket.socket) -> Greets:
    return Greets()


def greets_by_name(caller: socket.socket) -> Greets:
    """As a server does that asks who it is: that takes a descriptor too."""
    os.close(os.dup(caller.fileno()))
    return Greets()


def call(path: Path) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(str(path))
    sock.setblocking(False)
    return sock


async def greeting(caller: socket.socket) -> bytes:
    return await asyncio.wait_for(asyncio.get_running_loop().sock_recv(caller, 100), WITHIN)


@asynccontextmanager
async def accepting(
    path: Path, make_room: MakeRoom, connected: Callable[[socket.socket], Greets] = greets
) -> AsyncIterator[list[socket.socket]]:
    """A listener, and callers who wait at it."""
    sock = open_unix_socket(path)
    callers = [call(path) for _ in range(CALLERS)]
    listener = Accepting(sock, connected, make_room, asyncio.get_running_loop())
    yield callers
    listener.close()
    listener.close()  # twice is once
    for each in callers:
        each.close()


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.levelno >= logging.ERROR]


async def test_callers_get_the_descriptors_that_others_give_up(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    watches = [os.open("/dev/null", os.O_RDONLY) for _ in range(CALLERS)]
    asked: list[bool] = []

    def give_one(*, none_left: bool = False) -> int:
        asked.append(none_left)
        if none_left and watches:
            os.close(watches.pop())
            return 1
        return 0

    async with accepting(tmp_path / "s", give_one) as callers:
        with limit(left=0):
            assert [await greeting(each) for each in callers] == [b"come in"] * CALLERS
    assert asked[:2] == [True, False] and asked.count(False) == CALLERS, (
        "few are asked about with each caller"
    )
    assert asked.count(True) == CALLERS and not watches, "no more is asked for than callers need"
    assert said(caplog) == [], "nobody had to wait"


async def test_where_nobody_has_any_callers_wait_and_it_is_said_once_and_the_loop_does_not_spin(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asked: list[float] = []

    def none(*, none_left: bool = False) -> int:
        if none_left:
            asked.append(time.monotonic())
        return 0

    async with accepting(tmp_path / "s", none) as callers:
        with limit(left=0):
            async with asyncio.timeout(WITHIN):
                while len(asked) < 5:
                    await asyncio.sleep(0.01)
        assert asked[-1] - asked[0] > 0.3, "four pauses"
        assert said(caplog) == ["callers cannot be taken in now, and wait: Too many open files"]
        assert [await greeting(each) for each in callers] == [b"come in"] * CALLERS


async def test_the_control_asyncios_own_server_says_it_for_each_try_with_a_trace(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, logger="asyncio")
    complaints: list[str] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: complaints.append(context["message"]))
    path = tmp_path / "s"
    server = await loop.create_server(Greets, sock=open_unix_socket(path), backlog=BACKLOG)
    caller = call(path)
    with limit(left=0):
        async with asyncio.timeout(WITHIN):
            while not complaints:
                await asyncio.sleep(0.01)
    assert len(complaints) >= BACKLOG, "for one caller, at one time"
    loop.set_exception_handler(None)
    server.close()
    caller.close()


async def test_who_has_gone_before_it_was_taken_in_hurts_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with accepting(tmp_path / "s", no_room) as callers:
        callers[0].close()
        assert [await greeting(each) for each in callers[1:]] == [b"come in"] * (CALLERS - 1)
    assert said(caplog) == []


async def test_who_could_not_be_asked_who_it_is_waits_and_is_not_let_in_unnamed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It would be nobody, or whoever has its number by then."""
    async with accepting(tmp_path / "s", no_room, greets_by_name) as callers:
        with limit(left=1):  # one for the connection, none for who it is
            async with asyncio.timeout(WITHIN):
                while not said(caplog):
                    await asyncio.sleep(0.01)
            with pytest.raises(BlockingIOError):
                callers[0].recv(100)
        assert [await greeting(each) for each in callers] == [b"come in"] * CALLERS
