"""Who connects to the page's port: the kernel is asked at accept and again before a request is answered."""

import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headcount.system.loopback import Loopback, Names, can_ask_kernel, open_loopback
from tests.rig.agents.commands_inside import outside, settled
from tests.rig.agents.stand_in import Agent
from tests.rig.browser.page_port import Door
from tests.rig.daemon.real_daemon import Daemon
from tests.rig.security import second_user

NEEDS_ROOT = pytest.mark.skipif(not second_user.is_possible(), reason="only root can be another user")
ROUNDS = 25
NO_NAMES = Names(frozenset(), frozenset())


@pytest.fixture
def door(daemon: Daemon, tmp_path: Path) -> Iterator[Door]:
    yield Door(daemon, tmp_path / "errands").log_in()


@NEEDS_ROOT
def test_bursts_of_another_user_with_a_stolen_credential_do_nothing(
    door: Door, agent: Callable[..., Agent]
) -> None:
    """The kernel says uid 0 of a TCP peer that has closed, which is ours where we are root."""
    victim = agent()
    id = settled(victim, door.daemon)
    before = door.daemon.pid
    sent, answered = second_user.burst(
        door.port, door.credential or "", ROUNDS, f"/v1/sessions/{id}/stop", "/v1/stop"
    )
    assert door.ask("GET", "/v1/sessions").status == 200  # after all that was sent before it
    assert door.daemon.get("/healthz")["pid"] == before
    assert door.daemon.session(id=id)["liveness"] == "alive" and victim.process.poll() is None
    assert sent > ROUNDS and answered == 0


@NEEDS_ROOT
def test_another_user_is_hung_up_on_at_accept(door: Door) -> None:
    script = (
        "import socket; s = socket.create_connection(('127.0.0.1', %d)); s.settimeout(10); print(s.recv(1))"
    )
    done = second_user.as_second(second_user.PYTHON, "-I", "-S", "-c", script % door.port)
    assert done.stdout == "b''\n" or "ConnectionResetError" in done.stderr, done


def connected(host: str = "127.0.0.1") -> tuple[socket.socket, socket.socket]:
    listener, kept = open_loopback(0)
    with listener:
        caller = socket.create_connection(listener.getsockname(), source_address=(host, 0))
        listener.setblocking(True)
        if kept is not None:
            kept.close()
        return caller, listener.accept()[0]


def test_the_kernel_says_whether_the_other_end_is_ours_and_still_there() -> None:
    assert can_ask_kernel()
    for way_out in ("close", "reset", "half"):
        caller, ours = connected()
        with ours, caller:
            line = Loopback.of(ours, NO_NAMES)
            assert line.is_from_us()
            if way_out == "half":
                caller.shutdown(socket.SHUT_WR)
            elif way_out == "reset":
                caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            if way_out != "half":
                caller.close()
            assert not line.is_from_us(), way_out


def test_a_listener_of_ours_on_the_port_of_a_caller_that_is_gone_does_not_vouch_for_it() -> None:
    """The kernel looks for a listener where it finds no connection."""
    caller, ours = connected("127.0.0.3")  # whose ports no other test takes in between
    with ours:
        line = Loopback.of(ours, NO_NAMES)
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        caller.close()
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(line.theirs)
            listener.listen()
            assert not line.is_from_us()


@NEEDS_ROOT
def test_root_is_not_let_in_where_we_are_not_root() -> None:
    """A process that has become another user listens; root connects to it."""
    script = (
        "import os; from headcount.system.loopback import *\n"
        f"os.setresuid({second_user.UID}, {second_user.UID}, {second_user.UID})\n"
        "listener, _ = open_loopback(0)\n"
        "listener.setblocking(True)\n"
        "print(listener.getsockname()[1], flush=True)\n"
        "ours, _ = listener.accept()\n"
        "print(can_ask_kernel(), Loopback.of(ours, None).is_from_us())\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        with socket.create_connection(("127.0.0.1", int(other.stdout.readline()))):
            assert other.stdout.readline() == "True False\n"


@pytest.mark.parametrize("stays", [True, False])
def test_a_request_whose_caller_has_gone_is_not_carried_out(door: Door, stays: bool) -> None:
    """It was let in as ours, but nobody can say who has its connection now. (One that stays is the control.)"""
    head = f"Host: 127.0.0.1:{door.port}\r\nAuthorization: Bearer {door.credential}\r\n"
    stop = f"POST /v1/stop HTTP/1.1\r\n{head}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}"
    process = door.daemon.process
    assert process is not None
    with socket.create_connection(("127.0.0.1", door.port)) as caller:
        caller.sendall(f"GET /healthz HTTP/1.1\r\n{head}\r\n".encode())
        assert b"200 OK" in caller.recv(65536)
        process.send_signal(signal.SIGSTOP)
        caller.sendall(stop.encode())
        if not stays:
            caller.close()
        process.send_signal(signal.SIGCONT)
        if stays:
            assert process.wait(10) == 0
            return
    assert door.ask("GET", "/v1/sessions").status == 200
    assert door.daemon.get("/healthz")["pid"] == process.pid


def test_where_the_kernel_cannot_be_asked_the_credential_decides_and_doctor_says_so(tmp_path: Path) -> None:
    """As on macOS, which has no netlink."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text("import socket\ndel socket.AF_NETLINK\n")
    path = os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH"))))
    with Daemon(tmp_path / "headcount", PYTHONPATH=path) as daemon:
        assert "credential alone" not in outside(daemon, "doctor").out  # nothing listens yet
        door = Door(daemon, tmp_path / "errands")
        assert door.ask("GET", "/v1/sessions").status == 401
        assert door.log_in().ask("GET", "/v1/sessions").status == 200
        assert "credential alone decides" in outside(daemon, "doctor").out


def test_doctor_says_nothing_of_that_where_the_kernel_can_be_asked(door: Door) -> None:
    assert "credential alone" not in outside(door.daemon, "doctor").out
