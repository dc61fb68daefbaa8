"""What a route is: a method, a path, a handler, and what the OpenAPI document says of it.

Rules of this file
  1. A handler gets a `Call` and returns a message, a `Reply` or a stream; faults are raised as `Refused`.
  2. Query and path parameters are read through `Call`, which refuses nonsense with a clear word.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from headcount.core.session import Session
from headcount.daemon.gate import Refused
from headcount.daemon.selection import select
from headcount.daemon.service import Service
from headcount.system.peer import Peer

NUMBER_MOST = 15  # digits


@dataclass(frozen=True, slots=True)
class Call:
    service: Service
    request: Request

    @property
    def peer(self) -> Peer | None:
        peer: Peer | None = self.request.scope["state"].get("peer")
        return peer

    def path(self, name: str) -> str:
        return str(self.request.path_params[name])

    def text(self, name: str) -> str | None:
        return self.request.query_params.get(name)

    def flag(self, name: str) -> bool:
        return self.request.query_params.get(name, "") in ("1", "true", "yes")

    def number(self, name: str, default: int) -> int:
        text = self.request.query_params.get(name)
        if text is None:
            return default
        if not text.isascii() or not text.isdigit() or len(text) > NUMBER_MOST:
            raise Refused(400, "bad-parameter", f"{name} must be a whole number.")
        return int(text)

    def session(self) -> Session:
        return select(self.service.loop.world.sessions.values(), self.path("id"))


Handler = Callable[[Call], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Route:
    method: str
    path: str
    handler: Handler
    summary: str
    answers: Any = None  # the message type of a 200
    query: tuple[str, ...] = ()
    status: int = 200
    media: str = "application/json"
    takes: str | None = None  # what a body is, in words; None: no body


def json_response(message: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(message), status, media_type="application/json")
