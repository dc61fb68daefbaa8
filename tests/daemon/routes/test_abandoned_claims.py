"""Callers that leave before they read their answer, on raw connections to a real daemon: nothing stays held."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from headcount.client import claims
from headcount.client.transport.connection import Response, request
from tests.rig.agents.commands_inside import command, settled, shell
from tests.rig.daemon.real_daemon import Daemon, eventually

ITEM = "task:given-up"


@contextmanager
def connected(daemon: Daemon) -> Iterator[socket.socket]:
    """A connection of this process, which lives on and would hold what it is granted."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.settimeout(30)
        sock.connect(str(daemon.socket))
        yield sock


def wish(
    daemon: Daemon, sock: socket.socket, id: str, item: str = ITEM, *, last: bool = False, **more: object
) -> None:
    asked = request("POST", "/v1/claims", {"item": item, "own": True, "request": id, **more})
    sock.sendall(asked.replace(b"\r\n", b"\r\nConnection: close\r\n", 1) if last else asked)


def withdraw(daemon: Daemon, id: str, item: str = ITEM) -> Response:
    question = claims.withdrawal(claims.acquire(item, request=id, own=True))
    return daemon.call(question.method, question.path)


def held(daemon: Daemon) -> list[str]:
    return [row["item"] for row in daemon.get("/v1/claims")["claims"]]


def answered(sock: socket.socket) -> dict[str, object]:
    head, _, body = sock.recv(65_536).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 ")
    found: dict[str, object] = json.loads(body)
    return found


def was_granted(daemon: Daemon) -> bool:
    return bool(daemon.get(f"/v1/claims?history={ITEM}")["history"])


@pytest.mark.parametrize("last", [False, True], ids=["kept", "close"])
def test_a_grant_that_was_never_read_is_withdrawn_when_its_connection_ends(
    daemon: Daemon, last: bool
) -> None:
    with connected(daemon) as sock:
        wish(daemon, sock, "r", last=last)
        eventually(lambda: held(daemon) == [ITEM])
    eventually(lambda: held(daemon) == [])
    history = daemon.get(f"/v1/claims?history={ITEM}")["history"]
    assert [event.get("because") for event in history] == [None, "withdrawn"]


@pytest.mark.parametrize("last", [False, True], ids=["kept", "close"])
def test_a_grant_that_was_read_stays_when_its_connection_ends(daemon: Daemon, last: bool) -> None:
    with connected(daemon) as sock:
        wish(daemon, sock, "r", last=last)
        assert answered(sock)["granted"] is True
        assert not last or sock.recv(1) == b"", "the daemon says at once that it was the last"
    time.sleep(0.1)
    assert held(daemon) == [ITEM]


def test_an_unread_answer_to_something_else_withdraws_no_claim(daemon: Daemon) -> None:
    """The claim was read: its caller asked on."""
    with connected(daemon) as sock:
        wish(daemon, sock, "r")
        assert answered(sock)["granted"] is True
        sock.sendall(request("GET", "/v1/claims", None))
        assert sock.recv(1, socket.MSG_PEEK)
    time.sleep(0.1)
    assert held(daemon) == [ITEM]


def test_of_answers_to_requests_sent_ahead_only_the_last_is_taken_for_unread(daemon: Daemon) -> None:
    """The kernel says that something was not read, not how much: the earlier ones may have been."""
    with connected(daemon) as sock:
        wish(daemon, sock, "r")
        wish(daemon, sock, "s", "task:second")
        eventually(lambda: len(held(daemon)) == 2)
    eventually(lambda: held(daemon) == [ITEM])


def test_a_caller_that_leaves_before_it_is_decided_holds_nothing(daemon: Daemon) -> None:
    for nth in range(20):
        with connected(daemon) as sock:
            wish(daemon, sock, f"r{nth}")
    eventually(lambda: was_granted(daemon) and held(daemon) == [])


def test_whoever_lost_its_answer_asks_again_with_the_same_id_and_is_granted(daemon: Daemon) -> None:
    with connected(daemon) as sock:
        wish(daemon, sock, "r")
        eventually(lambda: held(daemon) == [ITEM])
    with connected(daemon) as sock:
        wish(daemon, sock, "r")
        answer = answered(sock)
    assert (answer["granted"], answer["code"]) == (True, "granted")


def test_a_retry_over_a_kill_of_the_daemon_is_told_the_same_claim(daemon: Daemon) -> None:
    with connected(daemon) as sock:
        wish(daemon, sock, "r")
        eventually(lambda: held(daemon) == [ITEM])
        daemon.restart()
    with connected(daemon) as sock:
        wish(daemon, sock, "r")
        answer = answered(sock)
    assert (answer["code"], held(daemon)) == ("granted", [ITEM])
    history = daemon.get(f"/v1/claims?history={ITEM}")["history"]
    assert [event["fence"] for event in history] == [answer["fence"]]


def test_a_withdrawn_request_is_refused_whenever_it_comes_also_after_a_restart(daemon: Daemon) -> None:
    assert withdraw(daemon, "r").data["released"] is False
    for _ in range(2):
        with connected(daemon) as sock:
            wish(daemon, sock, "r", wait=5)
            answer = answered(sock)
        assert (answer["granted"], answer["code"]) == (False, "request-withdrawn")
        daemon.restart()
    assert held(daemon) == []


def test_a_request_that_waits_elsewhere_is_answered_when_it_is_withdrawn(daemon: Daemon) -> None:
    with subprocess.Popen(
        command("hold", ITEM, "--", "sh", "-c", "echo; exec sleep 60"), env=daemon.env, stdout=subprocess.PIPE
    ) as holds:
        try:
            assert holds.stdout is not None and holds.stdout.readline()
            with connected(daemon) as sock:
                wish(daemon, sock, "r", wait=60)
                eventually(lambda: daemon.get("/v1/claims")["claims"][0]["waiting"])
                assert withdraw(daemon, "r").status == 200
                assert answered(sock)["code"] == "request-withdrawn"
        finally:
            holds.kill()


def test_another_process_withdraws_nothing(daemon: Daemon) -> None:
    with connected(daemon) as sock:
        wish(daemon, sock, "r")
        assert answered(sock)["granted"] is True
    question = claims.withdrawal(claims.acquire(ITEM, request="r", own=True))
    script = (
        "import sys; from headcount.client.transport.connection import Connection;"
        "print(Connection(sys.argv[1]).call(*sys.argv[2:]).data['error']['code'])"
    )
    words = [sys.executable, "-c", script, str(daemon.socket), question.method, question.path]
    said = subprocess.run(words, env=daemon.env, capture_output=True, text=True, timeout=30)
    assert (said.stdout.strip(), held(daemon)) == ("not-yours", [ITEM])


# --- `headcount claim` inside an agent, which lives on -----------------------------------------------

CLAIM_AND_DIE = """
import os, signal, sys
from headcount.cli import output as printing
from headcount.client.transport import connection, response
died = []
def die():
    if not died:
        died.append(True)
        os.kill(os.getpid(), signal.{signal})
        signal.pause()
def before(place, name):
    usual = getattr(place, name)
    setattr(place, name, lambda *given: (look(*given), die(), usual(*given))[-1])
def after(place, name):
    usual = getattr(place, name)
    setattr(place, name, lambda *given: (usual(*given), die())[0])
def look(*given):
    if not died:
        given[0]._socket.recv(1, 2)  # MSG_PEEK: it came, and is not taken
{when}
sys.argv = ["headcount", "claim", "{item}"]
from headcount.cli.main import main
sys.exit(main())
"""
UNREAD = "before(connection.Connection, '_receive')"
READ = "after(connection.Connection, '_receive')"
PRINTED = "after(printing, 'print_lines')"


@pytest.mark.parametrize(
    ("signal", "when"),
    [("SIGINT", READ), ("SIGINT", UNREAD), ("SIGINT", PRINTED), ("SIGKILL", UNREAD)],
    ids=["read", "unread", "printed", "killed"],
)
def test_a_claim_command_that_is_ended_leaves_nothing_to_the_agent_above_it(
    daemon: Daemon, agent, tmp_path: Path, signal: str, when: str
) -> None:
    above = agent()
    settled(above, daemon)
    script = tmp_path / "claim.py"
    script.write_text(CLAIM_AND_DIE.format(signal=signal, when=when, item=ITEM))
    said = shell(above, daemon, f"{sys.executable} {script}")
    assert said.code in (130, 137), said
    eventually(lambda: was_granted(daemon) and held(daemon) == [])
    said = shell(above, daemon, f"{sys.executable} -m headcount claim {ITEM}")
    assert (said.code, held(daemon)) == (0, [ITEM]), said
