"""Raw requests on the daemon's socket, as no well-behaved client sends them, and what they changed.

Rules of this file
  1. Bytes go out as given; nothing is corrected on the way.
  2. A sender may be an orphan, so that no agent above the tests is taken for the sender's.
  3. `Traces` compares what is about conversations: a machine has other agents, and the census finds them.
"""

import base64
import contextlib
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from tests.rig.daemon.real_daemon import WITHIN, Daemon

JSON = "Content-Type: application/json"


class Reply(NamedTuple):
    status: int | None  # None: closed without an answer
    headers: dict[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.body)


def request(method: str, path: str, body: bytes = b"", *headers: str, host: str = "localhost") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", *headers]
    if body and not any(each.lower().startswith(("content-length", "transfer-")) for each in headers):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape") + body


def hook(body: bytes, *headers: str, agent: str = "claude-code") -> bytes:
    return request("POST", f"/v1/hooks/{agent}", body, JSON, *headers)


def connect(path: Path, within: float = WITHIN) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.settimeout(within)
    try:
        sock.connect(str(path))
    except BaseException:
        sock.close()
        raise
    return sock


def exchange(path: Path, data: bytes, within: float = WITHIN) -> Reply:
    with connect(path, within) as sock:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            sock.sendall(data)  # it may be answered and closed before all was read
        return read_reply(sock)


def read_reply(sock: socket.socket) -> Reply:
    """One answer: head, and as much body as it announces."""
    got = b""
    try:
        while b"\r\n\r\n" not in got:
            piece = sock.recv(65536)
            if not piece:
                return Reply(None, {}, got)
            got += piece
        head, _, body = got.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        while len(body) < int(headers.get("content-length", 0)):
            piece = sock.recv(65536)
            if not piece:
                break
            body += piece
    except ConnectionResetError:
        return Reply(None, {}, got)
    return Reply(int(first.split()[1]), headers, body)


ORPHAN = """
import base64, os, socket, sys
if os.fork(): os._exit(0)
for line in sys.stdin:
    path, data = line.split()
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.settimeout(10)
    sock.connect(path)
    sock.sendall(base64.b64decode(data))
    got = b""
    while piece := sock.recv(65536): got += piece
    sock.close()
    print(base64.b64encode(got).decode(), flush=True)
"""


class Orphan:
    """A process without an agent above it that sends what it is given."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", ORPHAN],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._process.wait(WITHIN)  # the parent, which has left

    def send(self, path: Path, data: bytes) -> Reply:
        assert self._process.stdin is not None and self._process.stdout is not None
        data = data.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
        self._process.stdin.write(f"{path} {base64.b64encode(data).decode()}\n")
        self._process.stdin.flush()
        got = base64.b64decode(self._process.stdout.readline())
        head, _, body = got.partition(b"\r\n\r\n")
        return Reply(int(head.split()[1]), {}, body)

    def __enter__(self) -> "Orphan":
        return self

    def __exit__(self, *_: object) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


class Traces:
    """What the daemon knows of conversations, to be compared before and after. Only Claude Code's: others' are
    named by what any process of this user has open, and that may be another test's."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self.before = self._now()

    def _now(self) -> tuple[list[Any], list[int]]:
        rows = [row for row in self._daemon.sessions() if _is_told_of(row)]
        events = self._daemon.get("/v1/history?limit=10000")["events"]
        told = [each["seq"] for each in events if _is_told_of(each.get("session") or {})]
        return sorted(rows, key=lambda row: str(row["id"])), told

    def assert_unchanged(self) -> None:
        rows, told = self._now()
        assert rows == self.before[0]
        assert told == self.before[1]


def _is_told_of(row: dict[str, Any]) -> bool:
    return row.get("conversation") is not None and row["agent"] == "claude-code"


def files_waiting(daemon: Daemon) -> list[str]:
    return sorted(name for name in os.listdir(daemon.mailbox) if not name.startswith("."))


def assert_refused(daemon: Daemon, data: bytes, *statuses: int) -> None:
    """With one of those, in words, and without anything that would let a web page in."""
    reply = exchange(daemon.socket, data)
    assert reply.status in statuses, reply
    error = reply.data["error"]
    assert re.fullmatch(r"[a-z-]+", error["code"]) and len(error["message"]) > 10, error
    assert not any(name.startswith("access-control") for name in reply.headers)
