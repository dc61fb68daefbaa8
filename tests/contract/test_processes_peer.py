"""Peers of unix sockets, and signals through their handles."""

import asyncio
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from headcount.core.values.process import ProcessFacts
from headcount.system.processes.linux import LinuxProcesses
from headcount.system.send_signal import NotSent, Sent, send, terminate_listener
from headcount.system.unix_peer import Peer
from tests.rig.kernel.fake_kernel import FakeKernel

CONNECTS = """
import os, socket, sys
sock = socket.socket(socket.AF_UNIX)
sock.connect(sys.argv[1])
sock.recv(1)
"""

LISTENS = """
import socket, sys
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
print("ready", flush=True)
held = []
while True:
    held.append(server.accept())
"""


def start(script: str, path: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", script, str(path)], stdout=subprocess.PIPE, bufsize=0
    )


def finish(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        server.listen()
        yield server


@pytest.fixture
async def processes() -> AsyncIterator[LinuxProcesses]:
    made = LinuxProcesses(asyncio.get_running_loop())
    yield made
    made.close()


def test_the_kernel_names_who_connected(
    listener: socket.socket, tmp_path: Path, processes: LinuxProcesses
) -> None:
    client = start(CONNECTS, tmp_path / "s")
    try:
        connection, _ = listener.accept()
        with connection:
            peer = Peer.of(connection)
            assert (peer.pid, peer.uid, peer.gid) == (client.pid, os.geteuid(), os.getegid())
            seen = processes.look(client.pid)
            assert isinstance(seen, ProcessFacts)
            assert peer.pidfd is not None and peer.identity(processes) == seen.identity
            peer.close()
            peer.close()
    finally:
        finish(client)


def test_a_peer_that_is_over_has_no_identity(
    listener: socket.socket, tmp_path: Path, processes: LinuxProcesses
) -> None:
    client = start(CONNECTS, tmp_path / "s")
    connection, _ = listener.accept()
    peer = Peer.of(connection)
    finish(client)
    assert peer.has_ended()
    assert peer.identity(processes) is None
    peer.close()
    connection.close()


def test_a_pid_that_was_given_to_another_is_not_the_peer(
    listener: socket.socket, tmp_path: Path, processes: LinuxProcesses
) -> None:
    """The number answers, but the handle says that the peer is over."""
    client = start(CONNECTS, tmp_path / "s")
    connection, _ = listener.accept()
    peer = Peer.of(connection)
    finish(client)
    peer.pid = os.getpid()  # as if the number were ours by now
    assert peer.identity(processes) is None
    peer.close()
    connection.close()


def test_without_a_handle_the_pid_is_still_named(
    listener: socket.socket, tmp_path: Path, processes: LinuxProcesses
) -> None:
    client = start(CONNECTS, tmp_path / "s")
    try:
        connection, _ = listener.accept()
        with connection:
            peer = Peer.of(connection, with_pidfd=False)
            assert peer.pidfd is None and not peer.has_ended()
            identity = peer.identity(processes)
            assert identity is not None and identity.pid == client.pid
            assert isinstance(send(peer, signal.SIGTERM), NotSent), "a pid is never signalled"
        assert client.poll() is None or client.returncode == 0
    finally:
        finish(client)


def test_the_clients_side_names_the_listener_and_it_can_be_ended(tmp_path: Path) -> None:
    server = start(LISTENS, tmp_path / "l")
    try:
        assert server.stdout is not None and server.stdout.readline() == b"ready\n"
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(str(tmp_path / "l"))
            pin = os.pidfd_open(server.pid)
            assert terminate_listener(sock) == Sent(server.pid)
            assert select.select([pin], [], [], 5)[0]
            os.close(pin)
            server.wait()
            assert server.returncode == -signal.SIGTERM
            again = terminate_listener(sock)
            assert isinstance(again, NotSent)
    finally:
        finish(server)


def test_no_signal_to_ourselves_and_none_to_another_user() -> None:
    one, other = socket.socketpair(socket.AF_UNIX)
    with one, other:
        assert terminate_listener(one) == NotSent("it is this very process")
        peer = Peer.of(one)
        peer.uid = os.geteuid() + 1
        assert send(peer, signal.SIGTERM) == NotSent("it is another user's process")
        peer.close()


def test_a_socket_that_is_not_connected_is_refused() -> None:
    with socket.socket(socket.AF_UNIX) as sock:
        assert isinstance(terminate_listener(sock), NotSent)


def test_a_peer_that_was_closed_is_not_asked_by_its_number() -> None:
    """Nobody waits at the other end any more, so the number may be another's."""
    kernel = FakeKernel()
    peer = Peer(kernel.spawn(comm="bot").pid, os.getuid(), os.getgid())
    assert peer.look(kernel.processes(None)) is not None
    peer.close()
    assert peer.look(kernel.processes(None)) is None
    assert peer.has_ended()
