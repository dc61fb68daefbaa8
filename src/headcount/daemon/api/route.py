"""What a route is: a method, a path, a handler, and what the OpenAPI document says of it.

Rules
  1. A handler gets a `Call` and returns a message, an `Answer` or a `Stream`; faults are raised as `Refused`.
  2. Query and path parameters and bodies are read through `Call`, which refuses nonsense with a clear word.
  3. Who is calling is established once a request: before the handler where the route needs it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec
from msgspec import Struct

from headcount.core.values.session import Session
from headcount.daemon.api.permissions import need_operator
from headcount.daemon.api.session_selector import select
from headcount.daemon.components import Components
from headcount.daemon.http.request import Request
from headcount.daemon.http.request_checks import HttpRefusal
from headcount.daemon.identity.actor import Actor
from headcount.daemon.identity.caller import A_PAGE
from headcount.daemon.identity.caller_ancestry import CallerAncestors
from headcount.daemon.identity.weak_identities import weak, weak_in
from headcount.system.loopback import Loopback
from headcount.system.unix_peer import Peer

NUMBER_MOST = 15  # digits
UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
QUERIES_KEPT = 64  # the same few are asked again and again

T = TypeVar("T")


class Call(Struct):
    parts: Components
    request: Request
    named: Mapping[str, str]  # in the path
    known: Actor | None = None  # who is calling, once that was asked

    async def who(self) -> Actor:
        """Who is calling, by the kernel's word, asked while the caller waits; on loopback by the tab's credential."""
        if self.known is None and self.loopback is not None:
            self.known = A_PAGE
        if self.known is None:
            authorization = self.header("authorization")
            self.known = await self.parts.actors.resolve(self.peer, authorization, self.seen)
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
        return self.request.line.peer

    @property
    def has_hung_up(self) -> bool:
        """Nobody reads the answer any more."""
        return self.request.line.lost.is_set() or (self.peer is not None and self.peer.has_ended())

    @property
    def seen(self) -> CallerAncestors:
        """What was seen of the peer, by this and earlier requests of the connection."""
        return self.request.line.seen

    @property
    def loopback(self) -> Loopback | None:
        """Of a call that came by the page's port: it got this far by a credential, or needs none."""
        return self.request.line.loopback

    def path(self, name: str) -> str:
        return self.named[name]

    def header(self, name: str) -> str | None:
        said = self.request.named.get(name.encode())
        return None if said is None else said.decode("latin-1")

    @property
    def parameters(self) -> Mapping[str, str]:
        """Of the query; of several with one name the last."""
        return _parameters(self.request.query)

    def text(self, name: str) -> str | None:
        return self.parameters.get(name)

    def texts(self, name: str) -> list[str]:
        return [text for key, text in _query(self.request.query) if key == name]

    def flag(self, name: str) -> bool:
        return self.parameters.get(name, "") in ("1", "true", "yes")

    def number(self, name: str, default: int) -> int:
        text = self.parameters.get(name)
        if text is None:
            return default
        if not text.isascii() or not text.isdigit() or len(text) > NUMBER_MOST:
            raise HttpRefusal(400, "bad-parameter", f"{name} must be a whole number.")
        return int(text)

    @property
    def payload(self) -> bytes:
        """The body as it was sent."""
        return self.request.body

    def body(self, kind: type[T]) -> T:
        return read_body(self.request.body, kind)

    async def listened(self, asked: Coroutine[object, object, T]) -> T:
        """The answer, if somebody still listens for it when it comes."""
        answer = asyncio.ensure_future(asked)
        gone = asyncio.ensure_future(self.request.line.lost.wait())
        try:
            await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                raise HttpRefusal(408, "hung-up", "The caller closed the connection while it waited.")
            return answer.result()
        finally:
            gone.cancel()
            answer.cancel()

    def session(self) -> Session:
        return self.select(self.path("id"))

    def select(self, wanted: str) -> Session:
        """The session that an id, the beginning of one, or a name means."""
        of = weak(wanted)
        if of is not None:
            raise self.weak_identity(wanted, of)
        return select(self.parts.loop.world.sessions.values(), wanted)

    def refuse_weak(self) -> None:
        """A request that offers a terminal, a port or a directory as who it is learns that it is none."""
        found = weak_in((name.decode("latin-1") for name in self.request.named), self.parameters)
        if found is not None:
            raise self.weak_identity(*found)

    def weak_identity(self, offered: str, of: str) -> HttpRefusal:
        self.parts.loop.counts["weak_identity_refused"] += 1
        return HttpRefusal(
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
        raise HttpRefusal(400, "bad-body", f"The body cannot be read: {why}.", "See: /openapi.json") from None


Handler = Callable[[Call], Awaitable[object]]


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
    also: tuple[tuple[int, object], ...] = ()  # further answers and their status; None: one without a body

    @property
    def is_given_something(self) -> bool:
        return self.body is not None or self.takes is not None


@lru_cache(maxsize=QUERIES_KEPT)
def _parameters(sent: bytes) -> Mapping[str, str]:
    return dict(_query(sent))


def _query(sent: bytes) -> list[tuple[str, str]]:
    return parse_qsl(sent.decode("latin-1"), keep_blank_values=True) if sent else []
