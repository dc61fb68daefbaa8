"""Readers of the event stream that pause: each costs a bounded amount, and none is left with a wrong picture."""

import itertools
import json
import os
import select
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headcount.client.daemon_access import reach
from headcount.client.event_stream import follow
from headcount.client.transport.response import EventParser
from tests.rig.daemon.real_daemon import Daemon, eventually
from tests.rig.daemon.without_census import lone_daemon
from tests.rig.network.raw_requests import files_waiting

READERS = 40
PER_READER = 512 * 1024  # bytes; 200 readers cost less than 100 MB
EVENTS = 4_000  # of more than 1 KB each: several times what is kept for a reader
SESSIONS = 500  # whose snapshot is larger than what a reader may cost
T0, COUNTER = time.time_ns() - 60 * 10**9, itertools.count()

Picture = dict[str, tuple[str, str, str | None]]


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with lone_daemon(tmp_path / "headcount") as running:
        yield running


class Reader:
    """A picture of all sessions, by the stream alone."""

    def __init__(self, daemon: Daemon, *, pauses: bool = False) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(daemon.socket))
        self.sock.sendall(b"GET /v1/events HTTP/1.0\r\nHost: localhost\r\n\r\n")  # not in chunks
        self.sock.settimeout(30)
        self.parser = EventParser()
        self.picture: Picture = {}
        self.snapshots = self.seq = self.taken = 0
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.sock.recv(1)
        while not self.snapshots and not pauses:
            self.read(4096)

    def resume(self, most: int) -> None:
        """Reads so much, or what there is, and pauses again."""
        until = self.taken + most
        while self.taken < until and select.select([self.sock], [], [], 0.2)[0]:
            self.read(65536)

    def read(self, size: int) -> None:
        data = self.sock.recv(size)
        self.taken += len(data)
        for event in self.parser.feed(data):
            self.take(event.type, json.loads(event.data))

    def take(self, type: str, data: dict[str, Any]) -> None:
        if type == "snapshot":
            self.snapshots += 1
            self.picture = dict(map(shown, data["sessions"]))
        else:
            assert data["seq"] == self.seq + 1, "an event is missing, and no snapshot stands for it"
            self.picture |= dict([shown(data["session"])] if data.get("session") else [])
        self.seq = data["seq"]


def shown(row: dict[str, Any]) -> tuple[str, tuple[str, str, str | None]]:
    return row["id"], (row["liveness"], row["activity"], row["doing"])


def write(daemon: Daemon, name: str, count: int, sessions: int = 8) -> None:
    """So many reports, each of which changes what one of the sessions does."""
    for nth in range(count):
        fields = {
            "session_id": f"busy-{nth % sessions}", "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "cwd": "/" + "directory/" * 40, "tool_input": {"command": f"run {name} {nth} {'x' * 60}"},
        }  # fmt: skip
        letter = daemon.home / "letter"
        letter.write_text("\n" + json.dumps(fields))
        at = T0 + next(COUNTER) * 10_000  # the kernel's own times are the same for several
        os.utime(letter, ns=(at, at))
        letter.rename(daemon.mailbox / f"1.{name}{nth}")
    eventually(lambda: files_waiting(daemon) == [], within=60)


def memory(daemon: Daemon) -> int:
    pages = Path(f"/proc/{daemon.pid}/statm").read_text().split()[1]
    return int(pages) * 4096


def picture_of(daemon: Daemon) -> Picture:
    return dict(map(shown, daemon.get("/v1/sessions")["sessions"]))


def test_readers_that_pause_and_resume_cost_little_and_end_with_the_daemons_picture(daemon: Daemon) -> None:
    write(daemon, "a", 16)
    readers = [Reader(daemon) for _ in range(READERS)]
    before = most = memory(daemon)
    for name in ("b", "c"):
        write(daemon, name, EVENTS)
        most = max(most, memory(daemon))
        for each in readers:
            each.resume(700_000)
        write(daemon, name + "2", 200)
        most = max(most, memory(daemon))
    assert most - before < READERS * PER_READER
    now = picture_of(daemon)
    for each in readers:
        while each.picture != now:
            each.read(65536)
        assert each.snapshots > 1
    write(daemon, "d", 16)  # and they go on
    now = picture_of(daemon)
    for each in readers:
        while each.picture != now:
            each.read(65536)
        each.sock.close()


def test_readers_that_pause_inside_a_snapshot_cost_little_and_end_with_the_daemons_picture(
    daemon: Daemon,
) -> None:
    """Each asks at another number, so that no two snapshots are the same."""
    write(daemon, "a", SESSIONS, SESSIONS)
    before, readers = memory(daemon), []
    for nth in range(READERS):
        readers.append(Reader(daemon, pauses=True))
        write(daemon, f"b{nth}-", 9)
    assert memory(daemon) - before < READERS * PER_READER / 2
    now = picture_of(daemon)
    assert len(now) == SESSIONS
    for each in readers:
        while each.picture != now:
            each.read(65536)
        each.sock.close()


def test_whoever_follows_by_our_client_is_given_every_event_once_however_slowly_it_reads(
    daemon: Daemon,
) -> None:
    write(daemon, "a", 16)
    client = reach(daemon.env, autostart=False)
    numbers: list[int] = []
    go_on, begun = threading.Event(), threading.Event()

    def read() -> None:
        for data in follow(client):
            numbers.append(data["seq"])
            begun.set()
            go_on.wait(60)
            if data.get("session") and data["session"]["doing"].startswith("Bash: run z 7 "):
                return

    reading = threading.Thread(target=read, daemon=True)
    reading.start()
    assert begun.wait(30)
    write(daemon, "b", EVENTS)
    write(daemon, "z", 8)
    go_on.set()
    reading.join(60)
    client.close()
    assert not reading.is_alive()
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert len(numbers) > EVENTS
    lagged = next(
        row
        for row in str(daemon.call("GET", "/metrics").data).splitlines()
        if row.startswith("headcount_streams_dropped_total")
    )
    assert float(lagged.split()[-1]) >= 1, "it did fall behind"
