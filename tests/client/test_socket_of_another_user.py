"""A client tells its secrets to a daemon of its own user and to nobody else."""

import os
import socket
import threading
from pathlib import Path

import pytest

from headcount.client.faults import Unavailable
from headcount.client.transport import connection
from headcount.client.transport.async_connection import AsyncConnection
from headcount.client.transport.connection import Connection


@pytest.fixture
def listener(tmp_path: Path):
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(tmp_path / "headcount.sock"))
        sock.listen()
        yield sock


def take(listener: socket.socket, got: list[bytes]) -> threading.Thread:
    """Whoever listens takes one caller, and keeps what it says."""

    def run() -> None:
        with listener.accept()[0] as link:
            got.append(link.recv(1000))

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def another_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """We are somebody else than whoever listens."""
    mine = os.getuid()
    monkeypatch.setattr(connection.os, "getuid", lambda: mine + 1)


def test_another_users_socket_is_told_nothing(
    listener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    got: list[bytes] = []
    thread = take(listener, got)
    another_user(monkeypatch)
    with pytest.raises(Unavailable, match="another user"):
        Connection(str(tmp_path / "headcount.sock"), "Headcount-Session secret").call("GET", "/healthz")
    thread.join(10)
    assert got == [b""]


async def test_the_asyncio_client_tells_it_nothing_either(
    listener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    another_user(monkeypatch)
    with pytest.raises(Unavailable, match="another user"):
        await AsyncConnection.open(str(tmp_path / "headcount.sock"))


def test_without_that_check_it_is_told_the_secret(
    listener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    got: list[bytes] = []
    thread = take(listener, got)
    another_user(monkeypatch)
    monkeypatch.setattr(connection, "PEERCRED", None)
    with pytest.raises(Unavailable):
        Connection(str(tmp_path / "headcount.sock"), "Headcount-Session secret").call("GET", "/healthz")
    thread.join(10)
    assert b"Headcount-Session secret" in got[0]
