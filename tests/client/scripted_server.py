"""A tiny real server on a unix socket: says what it is told to say, byte for byte.

Not here: behaviour of the daemon. This stands in for anything that may listen on that socket.
"""

import contextlib
import json
import socket
import threading
from collections.abc import Callable

from headcount.build_and_namespaces import BuildOrigin, installation, installed, namespaces

HERE = BuildOrigin(installed(), namespaces(), installation())

Script = Callable[[str, dict[str, str], bytes, socket.socket], bytes | None]
"""Request line, headers, body, connection -> bytes to send; None: close without an answer."""


def answer(data: object, status: int = 200, version: str | None = "0.1.0", more: str = "") -> bytes:
    body = json.dumps(data).encode()
    header = f"headcount-version: {version}\r\nheadcount-origin: {HERE.to_header()}\r\n" if version else ""
    return f"HTTP/1.1 {status} X\r\n{header}{more}content-length: {len(body)}\r\n\r\n".encode() + body


class WireServer:
    def __init__(self, path: str, script: Script) -> None:
        self.path = path
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.connections = 0
        self._script = script
        self._sock = socket.socket(socket.AF_UNIX)
        self._open: list[socket.socket] = []
        self._sock.bind(path)
        self._sock.listen(8)
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def __enter__(self) -> "WireServer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)
        self._sock.close()
        for conn in self._open:
            with contextlib.suppress(OSError):
                conn.shutdown(socket.SHUT_RDWR)
        self._thread.join(5)

    def _accept(self) -> None:
        workers = []
        while True:
            try:
                conn, _ = self._sock.accept()
            except OSError:
                break
            self.connections += 1
            self._open.append(conn)
            worker = threading.Thread(target=self._serve, args=(conn,), daemon=True)
            worker.start()
            workers.append(worker)
        for worker in workers:
            worker.join(5)

    def _serve(self, conn: socket.socket) -> None:
        with conn:
            file = conn.makefile("rb")
            try:
                while line := file.readline():
                    headers = {}
                    while raw := file.readline().strip():
                        name, _, value = raw.decode().partition(":")
                        headers[name.lower()] = value.strip()
                    body = file.read(int(headers.get("content-length", "0")))
                    request = line.decode().strip()
                    self.requests.append((request, headers, body))
                    said = self._script(request, headers, body, conn)
                    if said is None:
                        return
                    conn.sendall(said)
            except OSError:
                return
            finally:
                file.close()
