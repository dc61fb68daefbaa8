"""A real HTTP server that takes webhooks, and can be told to refuse or to hang.

Rules of this file
  1. It keeps what came as it came: headers and bytes. Whether a signature is right is the test's question.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Delivery(NamedTuple):
    headers: dict[str, str]
    body: bytes

    @property
    def notices(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.body)["notices"]
        return found


class Receiver:
    def __init__(self) -> None:
        self.taken: list[Delivery] = []
        self.refused: list[Delivery] = []
        self.refuse = 0  # that many of the next are answered 503
        self.hang = threading.Event()
        self.hang.set()  # cleared: nobody is answered until it is set
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/take?key=SECRET-IN-URL"

    def notices(self, session: str | None = None) -> list[dict[str, Any]]:
        """All that arrived, of one session: others of the machine may be told of, too."""
        rows = [row for each in list(self.taken) for row in each.notices]
        return [row for row in rows if session is None or (row["session"] or {}).get("id") == session]

    def close(self) -> None:
        self.hang.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> "Receiver":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:
                pass

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                delivery = Delivery({name.lower(): value for name, value in self.headers.items()}, body)
                receiver.hang.wait(60)
                if receiver.refuse > 0:
                    receiver.refuse -= 1
                    receiver.refused.append(delivery)
                    self.send_response(503)
                else:
                    receiver.taken.append(delivery)
                    self.send_response(204)
                self.end_headers()

        return Handler
