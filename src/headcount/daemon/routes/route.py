"""What a route is: a method, a path, a handler, and what the OpenAPI document says of it.

Rules of this file
  1. A handler gets a `Call` and returns a message, a `Reply` or a stream; faults are raised as `Refused`.
  2. Query and path parameters and bodies are read through `Call`, which refuses nonsense with a clear word.
  3. Who is calling is established once a request: before the handler where the route needs it.
"""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from headcount.core.session import Session
from headcount.daemon.actor import A_PAGE, Actor
from headcount.daemon.authority import need_operator
from headcount.daemon.gate import Refused
from headcount.daemon.selection import select
from headcount.daemon.service import Service
from headcount.daemon.weak import weak, weak_in
from headcount.system.loopback import Loopback
from headcount.system.peer import Peer

NUMBER_MOST = 15  # digits
UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)

T = TypeVar("T")


class Call(Struct):
    service: Service
    request: Request
    known: Actor | None = None  # who is calling, once that was asked

    async def who(self) -> Actor:
        """Who is calling, by the kernel's word, asked while the caller waits; on loopback by the tab's credential."""
        if self.known is None and self.loopback is not None:
            self.known = A_PAGE
        if self.known is None:
            authorization = self.request.headers.get("authorization")
            seen = self.request.scope["state"]["seen"]
            self.known = await self.service.actors.resolve(self.peer, authorization, seen)
        return self.known

    @property
    def actor(self) -> Actor:
        """Of a route that needs somebody: it was established before the handler."""
        assert self.known is not None
        return self.known

    def for_people(self, verb: str) -> None:
        """Refuses everybody but the operator; for what a body asks beyond its route."""
        need_operator(self.actor, verb)

    @property
    def peer(self) -> Peer | None:
        peer: Peer | None = self.request.scope["state"].get("peer")
        return peer

    @property
    def loopback(self) -> Loopback | None:
        """Of a call that came by the page's port: it got this far by a credential, or needs none."""
        loopback: Loopback | None = self.request.scope["state"].get("loopback")
        return loopback

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

    async def body(self, kind: type[T]) -> T:
        return read_body(await self.request.body(), kind)

    def session(self) -> Session:
        return self.select(self.path("id"))

    def select(self, wanted: str) -> Session:
        """The session that an id, the beginning of one, or a name means."""
        of = weak(wanted)
        if of is not None:
            raise self.weak_identity(wanted, of)
        return select(self.service.loop.world.sessions.values(), wanted)

    def refuse_weak(self) -> None:
        """A request that offers a terminal, a port or a directory as who it is learns that it is none."""
        found = weak_in(self.request.headers, self.request.query_params)
        if found is not None:
            raise self.weak_identity(*found)

    def weak_identity(self, offered: str, of: str) -> Refused:
        self.service.loop.counts["weak_identity_refused"] += 1
        return Refused(
            400,
            "weak-identity",
            f'"{offered[:60]}" is of {of}, which names no session: several may share it.',
            "Use a session's id or name: headcount ps",
        )


def read_body(data: bytes, kind: type[T]) -> T:
    """A request's body as that message; raises `Refused` for everything that is none."""
    try:
        return msgspec.json.decode(data, type=kind)
    except UNREADABLE as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise Refused(400, "bad-body", f"The body cannot be read: {why}.", "See: /openapi.json") from None


Handler = Callable[[Call], Awaitable[Any]]


class Route(Struct, frozen=True):
    method: str
    path: str
    handler: Handler
    summary: str
    answers: Any = None  # the message type of a 200
    query: tuple[str, ...] = ()
    status: int = 200
    media: str = "application/json"
    body: Any = None  # the message type of the request's body; None: it has none, or `takes` says what
    takes: str | None = None  # what a body is that no message of ours describes, in words
    also: tuple[tuple[int, Any], ...] = ()  # further answers and their status; None: one without a body

    @property
    def is_given_something(self) -> bool:
        return self.body is not None or self.takes is not None


def json_response(message: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(message), status, media_type="application/json")
