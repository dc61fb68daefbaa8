"""A pretended daemon for the page: its real files and headers, with answers that a test made up.

Rules of this file
  1. Files and confinement are the daemon's own (`static.files`, `gate.CONFINED`): what is tested is the page.
  2. It lets everybody in. Who gets in is tested with the real daemon.
  3. It cannot answer what the daemon could not: every answer is read as the wire's own type before it is sent.

Not here: the browser (chromium.py).
"""

import json
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from headcount.daemon.api.openapi import document
from headcount.daemon.http.request_checks import CONFINED
from headcount.daemon.routes.dispatch import files
from headcount.daemon.routes.table import ROUTES
from headcount.wire import claims, events, fleet, timeline
from headcount.wire.leftovers import Leftovers
from headcount.wire.stop_close_reap import ReapAnswer

TYPES: dict[str, type] = {
    "/v1/claims": claims.Claims,
    "/v1/leftovers": Leftovers,
    "/v1/leftovers/reap": ReapAnswer,
    "/v1/fleet": fleet.FleetStatus,
    "/v1/fleet/sessions": fleet.FleetSessions,
    "/v1/history": events.History,
    "/v1/timeline": timeline.Timeline,
    "/v1/today": timeline.Today,
}
PING_EVERY = 1.0
NO_FLEET = {"joined": False, "database": None, "name": None, "vouched": False, "fault": None, "hosts": []}
NO_DAY = {"since": "2026-01-01T00:00:00Z", "waited_s": 0.0, "any_s": 0.0, "waits": 0, "waiting_now": 0, "sessions": []}  # fmt: skip

Answers = dict[str, Any]  # by path: a document, or what makes one of the path and query


class Pretend:
    def __init__(self, sessions: list[dict[str, Any]], answers: Answers | None = None) -> None:
        self.answers: Answers = {
            "/openapi.json": {"paths": document(ROUTES)["paths"]},
            "/v1/web/login": {"credential": "x", "seconds": 9},
            "/v1/claims": {"claims": [], "loss": None},
            "/v1/leftovers": {"leftovers": []},
            "/v1/fleet": NO_FLEET,
            "/v1/history": {"events": [], "oldest": 0},
            "/v1/today": NO_DAY,
            **(answers or {}),
        }
        self.faults: list[str] = []  # answers that the daemon could not give
        self.posted: list[tuple[str, Any]] = []
        self._streams: list[queue.SimpleQueue[bytes | None]] = []
        self._snapshot = {"seq": 1, "sessions": sessions}
        self._seq = 1
        self._over = False
        self.hung = False  # nothing comes any more, and the connection stands
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/#code"

    def tell(self, type: str, data: dict[str, Any]) -> None:
        self._seq += 1
        frame = _frame(self._seq, type, {"seq": self._seq, "type": type, **data})
        for each in self._streams:
            each.put(frame)

    def close_streams(self) -> None:
        """As an ending daemon does; a later request gets no answer."""
        self._over = True
        for each in self._streams:
            each.put(None)

    def check(self, path: str, asked: str, answer: Any) -> None:
        wanted = events.ClaimHistory if "history=" in asked and path == "/v1/claims" else TYPES.get(path)
        if wanted is None:
            return
        try:
            msgspec.convert(answer, wanted)
        except msgspec.ValidationError as fault:
            self.faults.append(f"{asked}: {fault}")

    def close(self) -> None:
        for each in self._streams:
            each.put(None)
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        assert self.faults == [], "no daemon answers so"

    def __enter__(self) -> "Pretend":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _stream(self, send: Callable[[bytes], object]) -> None:
        waiting: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._streams.append(waiting)
        send(_frame(1, "snapshot", self._snapshot))
        while True:
            try:
                frame = waiting.get(timeout=PING_EVERY)
            except queue.Empty:
                frame = b": still here\n\n" if not self.hung else b""
            if frame is None:
                return
            send(frame)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        pretend = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:
                pass

            def do_GET(self) -> None:
                path = unquote(urlsplit(self.path).path)
                if path in files():
                    self._send(*files()[path])
                elif path == "/v1/events" and pretend._over:
                    self.send_error(503)
                elif path == "/v1/events":
                    self._head("text/event-stream")
                    with suppress(OSError):  # the tab was closed
                        pretend._stream(self._write)
                else:
                    self._answer(path)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                path = urlsplit(self.path).path
                pretend.posted.append((path, json.loads(body)))
                self._answer(path)

            def _answer(self, path: str) -> None:
                given = pretend.answers.get(path)
                if given is None and path.startswith("/v1/sessions/"):
                    given = pretend.answers.get("/v1/sessions/*")
                answer = given(self.path) if callable(given) else given
                pretend.check(path, self.path, answer)
                self._send(json.dumps(answer).encode(), "application/json")

            def _send(self, body: bytes, kind: str) -> None:
                self._head(kind)
                self._write(body)

            def _head(self, kind: str) -> None:
                self.send_response(200)
                self.send_header("content-type", kind)
                for name, value in CONFINED:
                    self.send_header(name.decode(), value.decode())
                self.end_headers()

            def _write(self, body: bytes) -> None:
                self.wfile.write(body)
                self.wfile.flush()

        return Handler


def _frame(seq: int, type: str, data: Any) -> bytes:
    return f"id: {seq}\nevent: {type}\ndata: {json.dumps(data)}\n\n".encode()
