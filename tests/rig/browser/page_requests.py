"""Knocking at the page's port with whatever headers, thousands of times: bytes out, status and headers back.

Rules of this file
  1. Headers go out as given, doubled ones too; a method that has a body sends it, as JSON unless the page says otherwise.
  2. A connection is used again while it is left open.
"""

import contextlib
import json
import socket
from pathlib import Path

from tests.rig.browser.foreign_pages import Page
from tests.rig.browser.page_port import Door
from tests.rig.daemon.real_daemon import Daemon


class Knocks:
    def __init__(self, daemon: Daemon, errands: Path) -> None:
        door = Door(daemon, errands).log_in()
        assert door.credential is not None
        self.port, self.credential = door.port, door.credential
        self._socket: socket.socket | None = None

    def __enter__(self) -> "Knocks":
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def ask(
        self, method: str, target: str, body: object, page: Page, *, cookie: bool = False
    ) -> tuple[int, dict[str, str]]:
        """The status (499: closed without an answer, which is a refusal) and the headers of the answer."""
        data = self._request(method, target, body, page, cookie)
        for _ in range(2):
            again = self._socket is not None
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                answer = self._exchange(data, method)
                if answer is not None:
                    return answer
            self._close()
            if not again:
                break
        return 499, {}

    def _request(self, method: str, target: str, body: object, page: Page, cookie: bool) -> bytes:
        lines = [f"{method} {target} HTTP/1.1", f"Host: {page.host}"]
        lines += [f"{name}: {value}" for name, value in page.headers]
        content = b"" if method in ("GET", "HEAD", "OPTIONS", "TRACE") else json.dumps(body or {}).encode()
        if content:
            lines.append(f"Content-Length: {len(content)}")
            if not any(name == "Content-Type" for name, _ in page.headers):
                lines.append("Content-Type: application/json")
        if cookie:
            lines.append(f"Cookie: credential={self.credential}")
        return "\r\n".join([*lines, "", ""]).encode() + content

    def _exchange(self, data: bytes, method: str) -> tuple[int, dict[str, str]] | None:
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self.port), 30)
        self._socket.sendall(data)
        got = b""
        while b"\r\n\r\n" not in got:
            piece = self._socket.recv(65536)
            if not piece:
                return None
            got += piece
        head, _, rest = got.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        left = 0 if method == "HEAD" else int(headers.get("content-length", 0)) - len(rest)
        if "content-length" not in headers or headers.get("connection") == "close":
            self._close()  # a stream, or an answer after which it is closed
            left = 0
        while left > 0 and self._socket is not None:
            left -= len(self._socket.recv(65536))
        return int(first.split()[1]), headers

    def _close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
