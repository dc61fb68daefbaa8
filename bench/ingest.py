"""Ingest: reports a second, committed. Through the mailbox, and through HTTP from 16 connections.

Beside it: a plain loop over the same files that commits each report on its own, as a spool drained one
by one does; and the bare HTTP round trip without a report.
"""

import json
import os
import socket
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from bench.figure import Figure, Ratio, Row
from bench.home import running, scratch
from bench.numbers import median
from tests.rig.agents import mailbox_files
from tests.rig.agents.crowd import Crowd
from tests.rig.daemon.real_daemon import Daemon, eventually

AGENTS = 50
REPORTS = 10_000
HTTP_REPORTS = 6_000
CONNECTIONS = 16
ROUNDS = 3


def measure() -> Figure:
    written, moved, drain, http, idle_http, naive, made = [], [], [], [], [], [], []
    read = 0
    with scratch() as directory, running(directory, AGENTS) as (daemon, crowd):
        for _ in range(ROUNDS):
            known = _reports_read(daemon)
            written.append(_written(daemon, crowd))
            rate, making = _moved(daemon, crowd)
            moved.append(rate)
            made.append(making)
            read += _reports_read(daemon) - known
            drain.append(_drain(daemon, crowd))
            read += _reports_read(daemon)
            http.append(_http(daemon, crowd, "report"))
            idle_http.append(_http(daemon, crowd, "health"))
            naive.append(_naive(directory, crowd))
    wanted = ROUNDS * 3 * REPORTS
    rows = (
        Row(
            "mailbox: files made while they are read", (_rate(written),), "4,000/s", median(written) >= 4_000
        ),
        Row(
            "mailbox: files moved in while they are read", (_rate(moved),), "4,000/s", median(moved) >= 4_000
        ),
        Row("mailbox: a backlog drained after a start", (_rate(drain),), "4,000/s", median(drain) >= 4_000),
        Row("HTTP, 16 connections", (_rate(http),), "2,500/s", median(http) >= 2_500),
        Row("mailbox reports read / written", (f"{read:,} / {wanted:,}",), "all", read == wanted),
        Row("HTTP round trip of nothing, 16 connections", (_rate(idle_http),)),
        Row("the same files, one durable commit each", (_rate(naive),)),
        Row("making such files, nobody reading", (_rate(made),)),
    )
    notes = (
        f"{REPORTS:,} reports a mailbox round, {HTTP_REPORTS:,} an HTTP round, {ROUNDS} rounds, medians; {AGENTS} agents.",
        "Counted until the last file is removed, which happens after its commit with fsync; HTTP answers after it.",
        "Files made while they are read can come no faster than the file system makes them, see the last row. Where ext4 is",
        "slow at it, a profile shows the time in its recently_deleted(): it passes over inodes that were freed lately.",
        "The writer and the HTTP clients are processes of their own on the same cores.",
    )
    ratio = Ratio(
        "reports a second, durable (files moved in)",
        _rate(moved),
        f"one commit a report: {_rate(naive)}",
        median(moved) / median(naive),
        "4,000/s",
        median(moved) >= 4_000,
    )
    return Figure("ingest", "Reports a second, committed", ("reports/s",), rows, notes, (ratio,))


def _rate(sample: list[float]) -> str:
    return f"{median(sample):,.0f}/s"


def _written(daemon: Daemon, crowd: Crowd) -> float:
    """Files made and read at once: the whole way, the making included."""
    began = time.perf_counter()
    _write_all(daemon.mailbox, crowd, REPORTS)
    eventually(lambda: _is_empty(daemon.mailbox), within=120)
    return REPORTS / (time.perf_counter() - began)


def _moved(daemon: Daemon, crowd: Crowd) -> tuple[float, float]:
    """Files made beforehand and moved in, so that the maker is not the limit; how fast they were made comes second."""
    beside = daemon.home / "beside"
    beside.mkdir(exist_ok=True)
    began = time.perf_counter()
    _write_all(beside, crowd, REPORTS)
    made = REPORTS / (time.perf_counter() - began)
    names = sorted(os.listdir(beside), key=lambda name: int(name.rpartition(".")[2]))
    began = time.perf_counter()
    for name in names:
        os.rename(beside / name, daemon.mailbox / name)
    eventually(lambda: _is_empty(daemon.mailbox), within=120)
    return REPORTS / (time.perf_counter() - began), made


def _drain(daemon: Daemon, crowd: Crowd) -> float:
    """Down, then a backlog, then a start: timed from the moment it is ready."""
    daemon.kill()
    _write_all(daemon.mailbox, crowd, REPORTS)
    daemon.ready()
    began = time.perf_counter()
    waiting = len(os.listdir(daemon.mailbox))
    eventually(lambda: _is_empty(daemon.mailbox), within=120)
    return waiting / (time.perf_counter() - began)


def _write_all(mailbox: Path, crowd: Crowd, count: int) -> None:
    bodies = [[mailbox_files.tool_use(member, nth) for nth in range(2)] for member in crowd.members]
    for nth in range(count):
        which = nth % len(crowd)
        mailbox_files.drop(mailbox, crowd.members[which], bodies[which][nth // len(crowd) % 2])


def _is_empty(mailbox: Path) -> bool:
    with os.scandir(mailbox) as entries:
        return all(entry.name.startswith(".") for entry in entries)


def _reports_read(daemon: Daemon) -> int:
    """By the daemon's own count since its start. (Not by its journal: of two reports of one agent within one tick of
    the file system's clock the second is no news and leaves no event.)"""
    for line in _text(daemon.socket, "/metrics").splitlines():
        if line.startswith('headcount_mailbox_total{what="reports"}'):
            return int(float(line.split()[1]))
    return 0


def _text(path: Path, route: str) -> str:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(str(path))
        sock.sendall(f"GET {route} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        return b"".join(iter(lambda: sock.recv(65536), b"")).decode()


def _http(daemon: Daemon, crowd: Crowd, kind: str) -> float:
    """Two client processes with half of the connections each, so that the client is not the limit."""
    share = [crowd.members[: AGENTS // 2], crowd.members[AGENTS // 2 :]]
    clients = [
        subprocess.Popen(
            [sys.executable, "-m", "bench.ingest", str(daemon.socket), kind, str(HTTP_REPORTS // 2)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for _ in share
    ]
    for client, members in zip(clients, share, strict=True):
        assert client.stdin is not None and client.stdout is not None
        client.stdin.write(json.dumps([[each.pid, each.conversation] for each in members]).encode() + b"\n")
        client.stdin.flush()
        assert client.stdout.readline() == b"ready\n"
    began = time.perf_counter()
    for client in clients:
        assert client.stdin is not None
        client.stdin.write(b"go\n")
        client.stdin.flush()
    for client in clients:
        assert client.stdout is not None and client.stdout.readline() == b"done\n"
    taken = time.perf_counter() - began
    for client in clients:
        client.communicate()
    return HTTP_REPORTS / taken


def _client(path: str, kind: str, count: int) -> None:
    """Keeps one request going on each of its connections, by one selector."""
    import selectors

    members = json.loads(sys.stdin.readline())
    requests = [_request(kind, pid, conversation, nth) for nth in range(2) for pid, conversation in members]
    chooser = selectors.DefaultSelector()
    for _ in range(CONNECTIONS // 2):
        sock = socket.socket(socket.AF_UNIX)
        sock.connect(path)
        chooser.register(sock, selectors.EVENT_READ)
    print("ready", flush=True)
    sys.stdin.readline()
    sent = answered = 0
    for key in list(chooser.get_map().values()):
        key.fileobj.sendall(requests[sent % len(requests)])  # type: ignore[union-attr]
        sent += 1
    while answered < count:
        for key, _ in chooser.select():
            answer = key.fileobj.recv(65536)  # type: ignore[union-attr]
            if b"\r\n\r\n" not in answer or not answer.endswith(b"}"):
                answer += key.fileobj.recv(65536)  # type: ignore[union-attr]
            assert answer.startswith((b"HTTP/1.1 202", b"HTTP/1.1 200")), answer
            answered += 1
            if sent < count:
                key.fileobj.sendall(requests[sent % len(requests)])  # type: ignore[union-attr]
                sent += 1
    print("done", flush=True)


def _request(kind: str, pid: int, conversation: str, nth: int) -> bytes:
    if kind == "health":
        return b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    event = ("PreToolUse", "PostToolUse")[nth % 2]
    body = json.dumps(
        {
            "session_id": conversation,
            "cwd": "/home/somebody/code",
            "hook_event_name": event,
            "tool_name": "Bash",
            "tool_input": {"command": "npm test"},
        }
    ).encode()
    head = (
        "POST /v1/hooks/claude-code HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"X-Claude-PID: {pid}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _naive(directory: Path, crowd: Crowd) -> float:
    """A spool drained the plain way: read, parse, one transaction, unlink."""
    spool = directory / "spool"
    spool.mkdir(exist_ok=True)
    count = REPORTS // 5
    _write_all(spool, crowd, count)
    connection = sqlite3.connect(directory / "naive.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS events (body TEXT)")
    began = time.perf_counter()
    for name in sorted(os.listdir(spool)):
        path = spool / name
        event = json.loads(path.read_bytes().split(b"\n", 1)[1])
        connection.execute("INSERT INTO events VALUES (?)", (json.dumps(event),))
        path.unlink()
    taken = time.perf_counter() - began
    connection.close()
    return count / taken


if __name__ == "__main__":
    _client(sys.argv[1], sys.argv[2], int(sys.argv[3]))
