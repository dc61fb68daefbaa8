"""The gate: one check before all routes of all listeners.

Rules
  1. Exact Host, no foreign Origin, no fetch from another site, JSON for what changes something,
     bounded bodies, and never a CORS header: no web page gets in.
  2. The peer must be our own user; the kernel says so, not the request. On loopback it is asked when the connection
     is accepted (listen.py) and again before each request is answered: nothing is done for a caller who has gone.
  3. Each listener has its own names: `localhost` on the unix socket, those of its `Names` on loopback, where the
     origin that was asked is the only one. What a browser gets is confined to that origin, without workers.
  4. A refusal is 4xx with a body that says what to do. A bug is the only 500, and it is logged.
  5. Who may come in is decided by the head alone, before any of the body is kept.

Not here: deadlines for bytes that never come (connection.py), what a route may do (routes/).
"""

import logging
import os
from collections.abc import Awaitable, Callable
from typing import TypeVar

from msgspec.structs import replace

from headcount.daemon.engine.loop import NotStored
from headcount.daemon.http.answer import CLOSE, Headers, HttpAnswer, HttpStream, json_answer
from headcount.daemon.http.request import Request
from headcount.store.fleet_interface import SharedUnavailable
from headcount.store.interface import StoreFault
from headcount.system.loopback import Loopback
from headcount.wire.faults import Fault, FaultBody

log = logging.getLogger("headcount.gate")

App = Callable[[Request], Awaitable[HttpAnswer | HttpStream]]

BODY_MOST = 1024 * 1024
LENGTH_DIGITS_MOST = 20  # of a Content-Length
HOSTS = frozenset({b"localhost"})
SAFE = frozenset({"GET", "HEAD"})
METHODS = SAFE | {"POST", "DELETE"}
OWN_SITE = frozenset({b"same-origin", b"none"})
CLOSING = frozenset({"head-too-large", "not-you", "too-large", "too-many", "wrong-host"})
"""Whoever is told one of these is not listened to any longer."""

CONFINED: Headers = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; worker-src 'none'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        b"frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
    (b"cache-control", b"no-store"),
)
"""What every answer on loopback says to a browser: nothing from elsewhere, nothing inline, nothing kept."""

T = TypeVar("T", bound=HttpAnswer | HttpStream)


class HttpRefusal(Exception):
    def __init__(self, status: int, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.body = FaultBody(error=Fault(code=code, message=message, hint=hint))


def not_you() -> HttpRefusal:
    return HttpRefusal(403, "not-you", "This daemon serves its own user only.")


def too_large() -> HttpRefusal:
    return HttpRefusal(413, "too-large", f"A body may have {BODY_MOST} bytes.")


class Gate:
    def __init__(self, app: App) -> None:
        self._app = app
        self._uid = os.getuid()

    def admit(self, request: Request) -> HttpAnswer | None:
        """None: it may come in. Else what it is told."""
        try:
            if request.line.loopback is not None:
                _check_loopback(request, request.line.loopback)
            else:
                self._check_unix(request)
            _check_message(request)
        except HttpRefusal as fault:
            return self.confined(request, _refusal(request, fault))
        return None

    async def answer(self, request: Request) -> HttpAnswer | HttpStream:
        """Of one that came in, whatever happens."""
        try:
            if request.line.loopback is not None:
                _check_caller(request.line.loopback)
            return self.confined(request, await self._app(request))
        except Exception as fault:
            return self.confined(request, _refusal(request, fault))

    def confined(self, request: Request, answer: T) -> T:
        return replace(answer, headers=_confined(answer.headers)) if request.line.loopback else answer

    def _check_unix(self, request: Request) -> None:
        peer, headers = request.line.peer, request.named
        if peer is None or peer.uid != self._uid:
            raise not_you()
        if headers.get(b"host") not in HOSTS or not _is_once(request, b"host"):
            raise HttpRefusal(421, "wrong-host", "The Host header must be `localhost`.")
        if b"origin" in headers or headers.get(b"sec-fetch-site", b"none") not in OWN_SITE:
            raise HttpRefusal(403, "foreign-origin", "Requests of web pages are refused.")


def _check_loopback(request: Request, loopback: Loopback) -> None:
    """A name that another site made to point here (rebinding) has the wrong Host; its page the wrong Origin."""
    headers = request.named
    if headers.get(b"host") not in loopback.names.routes or not _is_once(request, b"host"):
        raise HttpRefusal(
            421,
            "wrong-host",
            "The page is not at this address, or no longer: each opening has a new one.",
            "For a new link: headcount web",
        )
    if b"service-worker" in headers:
        raise HttpRefusal(403, "foreign-origin", "Service workers are refused.")
    own = b"http://" + headers[b"host"]
    origin = own if b"origin" not in headers else headers[b"origin"] if _is_once(request, b"origin") else b""
    if origin != own or headers.get(b"sec-fetch-site", b"none") not in OWN_SITE:
        raise HttpRefusal(403, "foreign-origin", "Requests of other web pages are refused.")


def _check_caller(loopback: Loopback) -> None:
    try:
        is_ours = loopback.is_from_us()
    except OSError as error:
        raise HttpRefusal(
            403,
            "not-verified",
            f"Headcount could not check which user is calling: {error.strerror}. Try again.",
        ) from None
    if not is_ours:
        raise not_you()


def _check_message(request: Request) -> None:
    method, headers = request.method, request.named
    if method not in METHODS:
        raise HttpRefusal(405, "wrong-method", f"{method[:20]} is not used here.")
    length = headers.get(b"content-length", b"0")
    if not length.isdigit() or len(length) > LENGTH_DIGITS_MOST or int(length) > BODY_MOST:
        raise too_large()
    if method == "POST":
        _check_type(headers)


def _check_type(headers: dict[bytes, bytes]) -> None:
    kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if kind != b"application/json":
        raise HttpRefusal(
            415,
            "not-json",
            "The body must be sent as application/json.",
            "Add: Content-Type: application/json",
        )


def _is_once(request: Request, wanted: bytes) -> bool:
    """Of a header that is there."""
    if len(request.named) == len(request.headers):
        return True  # none is there twice
    return [name for name, _ in request.headers].count(wanted) == 1


def _confined(headers: Headers) -> Headers:
    """The daemon's word on caching gives way: nothing of anybody's is kept by a browser."""
    said = {name for name, _ in CONFINED}
    return (*(pair for pair in headers if pair[0] not in said), *CONFINED)


def _refusal(request: Request, fault: Exception) -> HttpAnswer:
    if isinstance(fault, HttpRefusal):
        return refusal_of(fault)
    if isinstance(fault, NotStored | StoreFault):
        code = "not-stored" if isinstance(fault, NotStored) else "not-readable"
        return json_answer(
            FaultBody(error=Fault(code=code, message=str(fault), hint="See: headcount doctor")), 503
        )
    if isinstance(fault, SharedUnavailable):
        return json_answer(unavailable(fault), 503)
    log.error("a request failed: %s %s", request.method, request.path, exc_info=fault)
    return json_answer(
        FaultBody(error=Fault(code="bug", message="This is a bug in headcount.", hint="See its log.")), 500
    )


def refusal_of(fault: HttpRefusal) -> HttpAnswer:
    headers = (CLOSE,) if fault.body.error.code in CLOSING else ()
    return replace(json_answer(fault.body, fault.status), headers=headers)


def unavailable(fault: SharedUnavailable) -> FaultBody:
    said = sentence(str(fault))
    return FaultBody(error=Fault(code="fleet-unavailable", message=said, hint="See: headcount fleet status"))


def sentence(said: str) -> str:
    """Other programs' words begin and end as they like; `connections?` has its end already."""
    whole = said.rstrip(".")
    return f"{whole[:1].upper()}{whole[1:]}{'' if whole.endswith(('?', '!')) else '.'}"
