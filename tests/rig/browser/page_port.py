"""The page's door, knocked at without a browser: raw requests on loopback, with whatever headers a test likes."""

import http.client
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.rig.browser.page_link import links
from tests.rig.daemon.real_daemon import Daemon


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    data: Any
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def code(self) -> str | None:
        return self.data["error"]["code"] if isinstance(self.data, dict) and "error" in self.data else None


class Door:
    def __init__(self, daemon: Daemon, directory: Path) -> None:
        self.daemon = daemon
        self.directory = directory
        self.link, self.plain_link = links(daemon, directory)
        parts = urlsplit(self.link)
        assert parts.port is not None
        self.port, self.code = parts.port, parts.fragment
        self.host = parts.netloc  # the page's own name; `ask` uses 127.0.0.1 unless told otherwise
        self.credential: str | None = None

    def log_in(self) -> "Door":
        answer = self.ask("POST", "/v1/web/login", {"code": self.code})
        assert answer.status == 200, answer
        self.credential = answer.data["credential"]
        return self

    def ask(self, method: str, path: str, body: Any = None, **headers: str | None) -> Answer:
        """With the credential once there is one; a header given as None is left out."""
        sent: dict[str, str | None] = {"host": f"127.0.0.1:{self.port}"}
        if method == "POST":
            sent["content-type"] = "application/json"
        if self.credential is not None:
            sent["authorization"] = f"Bearer {self.credential}"
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            data = b"" if body is None else json.dumps(body).encode()
            for name, value in sent.items():
                if value is not None:
                    connection.putheader(name, value)
            if data:
                connection.putheader("content-length", str(len(data)))
            connection.endheaders(data or None)
            answer = connection.getresponse()
            kind = answer.getheader("content-type", "")
            text = b"" if kind.startswith("text/event-stream") else answer.read()
            found = json.loads(text) if kind.startswith("application/json") and text else text
            return Answer(answer.status, found, {name.lower(): value for name, value in answer.getheaders()})
        finally:
            connection.close()
