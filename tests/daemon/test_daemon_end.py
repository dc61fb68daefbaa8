"""The daemon's end: in order and at once when told to, and without harm when killed."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from headcount.client.faults import ClientFault
from tests.rig.agents.stand_in import Agent
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.network.raw_requests import connect, exchange, hook, read_reply, request

STREAMS = 20
SOON = 5.0  # the promise is two seconds; a loaded machine must not make a test fail


def flag(daemon: Daemon) -> Path:
    return daemon.mailbox / ".listening"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_with_open_streams_is_quick_and_leaves_nothing(daemon: Daemon, number: int) -> None:
    socks = [connect(daemon.socket) for _ in range(STREAMS)]
    for sock in socks:
        sock.sendall(request("GET", "/v1/events"))
        assert read_reply(sock).status == 200
    assert flag(daemon).exists() and daemon.socket.exists()
    began = time.monotonic()
    assert daemon.kill(number) == 0
    took = time.monotonic() - began
    assert took < SOON, f"it took {took:.2f} s"
    for sock in socks:
        while sock.recv(65536):
            pass
        sock.close()
    assert not daemon.socket.exists() and not flag(daemon).exists()
    assert not (daemon.home / "headcount.db-wal").exists(), "the log is in the file"
    assert daemon.ready().get("/healthz")["ok"]


def test_a_stop_does_not_wait_for_readers_that_never_read(daemon: Daemon) -> None:
    socks = [connect(daemon.socket) for _ in range(STREAMS)]
    for sock in socks:
        sock.sendall(request("GET", "/v1/events"))
    for nth in range(400):
        body = {
            "session_id": f"s{nth % 5}",
            "hook_event_name": "PreToolUse",
            "tool_name": f"T{nth}" + "x" * 500,
        }
        (daemon.mailbox / f"1.{nth}").write_text("\n" + json.dumps(body))
    eventually(lambda: daemon.get("/v1/status")["store"]["seq"] > 400)
    began = time.monotonic()
    assert daemon.kill(signal.SIGTERM) == 0
    assert time.monotonic() - began < SOON
    for sock in socks:
        sock.close()


def test_a_stop_does_not_wait_for_senders_that_never_finish(daemon: Daemon) -> None:
    socks = [connect(daemon.socket) for _ in range(STREAMS)]
    for sock in socks:
        sock.sendall(hook(b"{", "Content-Length: 100"))
    began = time.monotonic()
    assert daemon.kill(signal.SIGTERM) == 0
    assert time.monotonic() - began < SOON
    for sock in socks:
        sock.close()


def test_what_was_answered_before_the_stop_is_there_after_it(daemon: Daemon) -> None:
    answered: list[str] = []

    def send() -> None:
        try:
            with connect(daemon.socket) as sock:
                for nth in range(10_000):
                    sock.sendall(hook(b'{"session_id": "stop-%d"}' % nth))
                    if read_reply(sock).status != 202:
                        return
                    answered.append(f"stop-{nth}")
        except OSError:
            return

    sender = threading.Thread(target=send)
    sender.start()
    eventually(lambda: len(answered) > 50)
    daemon.kill(signal.SIGTERM)
    sender.join(20)
    daemon.ready()
    known = {row["conversation"] for row in daemon.sessions()}
    assert set(answered) <= known


def test_the_stop_is_in_the_journal_and_so_is_the_time_of_being_blind(daemon: Daemon) -> None:
    daemon.stop()
    daemon.ready()
    events = daemon.get("/v1/history?limit=1000")["events"]
    stopped, started = [each for each in events if each["type"].startswith("headcount.")][-2:]
    assert (stopped["type"], started["type"]) == ("headcount.stopped", "headcount.started")
    assert started["facts"]["blind_since"] is not None


def test_the_stop_by_request_answers_and_then_ends(daemon: Daemon) -> None:
    answer = daemon.call("POST", "/v1/stop", {})
    assert (answer.status, answer.data["pid"]) == (202, daemon.pid)
    assert daemon.process is not None and daemon.process.wait(SOON) == 0
    assert not daemon.socket.exists() and not flag(daemon).exists()


def test_a_second_signal_during_the_stop_changes_nothing(daemon: Daemon) -> None:
    assert daemon.process is not None
    for _ in range(5):
        daemon.process.send_signal(signal.SIGTERM)
    assert daemon.process.wait(SOON) == 0
    assert not daemon.socket.exists()


def test_a_hang_up_is_ignored(daemon: Daemon) -> None:
    assert daemon.process is not None
    daemon.process.send_signal(signal.SIGHUP)
    assert daemon.get("/healthz")["ok"]


def test_kill_minus_nine_leaves_the_flag_so_that_hooks_go_on_writing(
    daemon: Daemon, agent: Callable[..., Agent]
) -> None:
    daemon.kill(signal.SIGKILL)
    assert flag(daemon).exists() and daemon.socket.exists()
    claude = agent()
    claude.hook(daemon.mailbox, "PreToolUse", tool_name="While it was dead")
    daemon.ready()
    assert daemon.session(conversation=claude.conversation)["doing"] == "While it was dead"


def test_down_is_done_when_the_process_is_gone(daemon: Daemon) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "headcount", "down"],
        env=daemon.env,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 0 and daemon.process is not None
    assert daemon.process.wait(SOON) == 0
    assert not daemon.socket.exists() and not flag(daemon).exists()
    with pytest.raises(ClientFault):
        daemon.call("GET", "/healthz")


def test_the_store_is_whole_after_every_way_to_end(daemon: Daemon) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGKILL):
        exchange(daemon.socket, hook(b'{"session_id": "x", "hook_event_name": "Stop"}'))
        daemon.kill(number)
        store = sqlite3.connect(daemon.home / "headcount.db")
        assert store.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        store.close()
        daemon.ready()
    assert os.listdir(daemon.home).count("headcount.sock") == 1
