"""Accidents D7 and D9: memory that was lost, and the living with it. Each with the naive way that did it."""

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.daemon.seated_agent import ROUNDS, Make, seated
from tests.rig.naive_ways import naive
from tests.rig.network.raw_requests import connect, files_waiting, hook, read_reply

# --- D7: a start that cannot read must not write ---------------------------------------------------------


def content(home: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes() for path in home.glob("headcount.db*") if not path.name.endswith("-shm")
    }


@pytest.fixture
def remembered(daemon: Daemon, agent: Make) -> Iterator[tuple[Daemon, str]]:
    """A daemon that was killed, and the one session that it must still know afterwards."""
    id = seated(daemon, agent())["id"]
    daemon.kill()
    yield daemon, id
    daemon.ready()
    assert daemon.session(id=id)["liveness"] == "alive"


def assert_refuses_untouched(daemon: Daemon, *wrapper: str) -> None:
    before = content(daemon.home)
    daemon.start(wrapper)
    assert daemon.word.startswith("failed: "), daemon.word
    assert daemon.process is not None and daemon.process.wait(10) != 0
    assert content(daemon.home) == before


def test_D7_a_start_with_a_locked_store_leaves_it_as_it_is(remembered: tuple[Daemon, str]) -> None:
    """Another process holds the lock: one of ours would lose it as soon as we read the file to compare."""
    daemon, _ = remembered
    hold = (
        "import sqlite3, sys; s = sqlite3.connect(sys.argv[1], isolation_level=None); "
        "s.execute('BEGIN IMMEDIATE'); print('held', flush=True); sys.stdin.read()"
    )
    argv = [sys.executable, "-c", hold, str(daemon.home / "headcount.db")]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdout.readline() == b"held\n"
        assert_refuses_untouched(daemon)


def test_D7_a_start_with_an_unreadable_store_leaves_it_as_it_is(remembered: tuple[Daemon, str]) -> None:
    daemon, _ = remembered
    strace = shutil.which("strace")
    assert strace is not None, "strace is missing: `apt install strace` (this test injects faults with it)"
    database = str(daemon.home / "headcount.db")
    assert_refuses_untouched(
        daemon, strace, "-f", "-qq", "-o", "/dev/null", "-P", database, "-e", "inject=openat:error=EIO"
    )


def test_D7_a_start_with_a_newer_store_leaves_it_as_it_is(remembered: tuple[Daemon, str]) -> None:
    daemon, _ = remembered

    def set_version(number: int) -> int:
        store = sqlite3.connect(daemon.home / "headcount.db")
        ((before,),) = store.execute("PRAGMA user_version").fetchall()
        store.execute(f"PRAGMA user_version = {number}")
        store.close()
        return int(before)

    known = set_version(999)
    assert_refuses_untouched(daemon)
    assert "upgrade headcount" in daemon.word
    set_version(known)


def test_D7_the_naive_start_saves_before_it_reads(tmp_path: Path) -> None:
    snapshot = tmp_path / "snapshot.json"
    naive.save_snapshot(snapshot, {"living": 4711})
    assert naive.start_by_saving(snapshot) == {}


# --- D9: what was answered is on disk ----------------------------------------------------------------------


class Load:
    """Reports from four senders without a pause, each of one session; what was answered is remembered. Not each of a
    session of its own: only so many without a process are taken."""

    def __init__(self, daemon: Daemon) -> None:
        self.answered: list[tuple[str, int]] = []
        self._daemon = daemon
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._send, args=(nth,)) for nth in range(4)]

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join(30)

    def _send(self, nth: int) -> None:
        count = 0
        while not self._ended.is_set():
            try:
                with connect(self._daemon.socket) as sock:
                    while not self._ended.is_set():
                        name = f"load-{id(self)}-{nth}"
                        count += 1
                        report = {
                            "session_id": name,
                            "hook_event_name": "PreToolUse",
                            "tool_name": f"T{count}",
                        }
                        sock.sendall(hook(json.dumps(report).encode()))
                        if read_reply(sock).status == 202:
                            self.answered.append((name, count))
            except OSError:
                time.sleep(0.005)  # it was killed; the next one will listen


def is_known(row: dict[str, Any] | None, count: int) -> bool:
    """That report of the session, or a later one."""
    return row is not None and int(row["doing"].removeprefix("T")) >= count


@pytest.mark.timeout(100 + ROUNDS * 10)
def test_D9_kill_minus_nine_loses_nothing_that_was_answered(daemon: Daemon, agent: Make) -> None:
    living, lost, slowest = agent(), set(), 0.0
    id = seated(daemon, living)["id"]
    for nth in range(ROUNDS):
        dying = agent()
        seated(daemon, dying)
        with Load(daemon) as load:
            eventually(lambda load=load: len(load.answered) > 20)
            living.hook(daemon.mailbox, "PreToolUse", tool_name=f"Tool{nth}")
            daemon.kill(signal.SIGKILL)
        dying.kill()
        began = time.monotonic()
        daemon.ready()
        slowest = max(slowest, time.monotonic() - began)
        eventually(lambda: files_waiting(daemon) == [])
        rows = {row["conversation"]: row for row in daemon.sessions()}
        lost |= {each for each in load.answered if not is_known(rows.get(each[0]), each[1])}
        assert rows[living.conversation]["id"] == id and rows[living.conversation]["liveness"] == "alive"
        assert rows[living.conversation]["doing"] == f"Tool{nth}"
        assert rows[dying.conversation]["liveness"] == "ended"
        assert daemon.get("/v1/status")["warnings"] == []
    assert lost == set()
    assert slowest < 5, f"ready again after {slowest:.1f} s"
    assert not list(daemon.home.glob("*corrupt*"))


def test_D9_the_naive_snapshot_is_empty_after_a_crash(tmp_path: Path) -> None:
    snapshot = tmp_path / "snapshot.json"
    naive.save_snapshot(snapshot, {"living": 4711})
    naive.save_snapshot(snapshot, {"living": 4711, "other": 4712}, crash_after="truncate")
    assert snapshot.read_bytes() == b""


def test_D9_a_store_of_zero_bytes_is_said_and_the_living_are_found_again(daemon: Daemon, agent: Make) -> None:
    living = agent()
    seated(daemon, living)
    daemon.kill()
    for name in ("headcount.db", "headcount.db-wal", "headcount.db-shm"):
        (daemon.home / name).write_bytes(b"")
    daemon.ready()
    assert "set aside" in daemon.get("/v1/status")["warnings"][0]
    assert eventually(lambda: daemon.sessions(pid=living.pid))[0]["liveness"] == "alive"
