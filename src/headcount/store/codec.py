"""Encode core values as JSON bodies of rows, and decode them.

Rules
  1. What was encoded can be decoded: each body is read back before it is handed on. JSON has no NaN (it
     becomes null), and a null time would spoil the next start, long after its cause.
  2. Decoding tolerates what a newer version added: unknown fields are dropped, missing ones take their
     default, events of unknown types are skipped. A new *value* of an enumeration inside a session needs a
     new schema version instead; a test pins them.
  3. A value that cannot be stored fails its own caller only.

Not here: columns and SQL (sql/), what the values mean (core/).
"""

from typing import TYPE_CHECKING, TypedDict, get_type_hints

import msgspec

from headcount.core.state.claims import AnsweredRequest
from headcount.core.values.claim import Claim
from headcount.core.values.events import Event, EventType
from headcount.core.values.leftover import Leftover
from headcount.core.values.session import Session, SessionId
from headcount.store.interface import StoreFault

if TYPE_CHECKING:  # mypy wants a literal; the fields are the session's own

    class _Delta(TypedDict, total=False):
        pass

else:
    _Delta = TypedDict("_Delta", get_type_hints(Session), total=False)


class _Body(TypedDict, total=False):
    delta: _Delta
    facts: dict[str, object]
    claim: Claim
    leftover: Leftover


_ENCODER = msgspec.json.Encoder()
_SESSION = msgspec.json.Decoder(Session)
_CLAIM = msgspec.json.Decoder(Claim)
_REQUEST = msgspec.json.Decoder(AnsweredRequest)
_LEFTOVER = msgspec.json.Decoder(Leftover)
_BODY = msgspec.json.Decoder(_Body)
_TYPES = {kind.value: kind for kind in EventType}

EventRow = tuple[int, float, str, str | None, str | None, bytes]
UNSTORABLE = (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError)


def encode_session(session: Session) -> bytes:
    try:
        body = _ENCODER.encode(session)
        _SESSION.decode(body)
    except UNSTORABLE as error:
        raise StoreFault("value", f"session {session.id!r} cannot be stored: {error}") from error
    return body


def decode_session(body: bytes) -> Session:
    return _SESSION.decode(body)


def encode_claim(claim: Claim) -> bytes:
    try:
        body = _ENCODER.encode(claim)
        _CLAIM.decode(body)
    except UNSTORABLE as error:
        raise StoreFault("value", f"the claim on {claim.item!r} cannot be stored: {error}") from error
    return body


def decode_claim(body: bytes) -> Claim:
    return _CLAIM.decode(body)


def encode_request(request: AnsweredRequest) -> bytes:
    try:
        body = _ENCODER.encode(request)
        _REQUEST.decode(body)
    except UNSTORABLE as error:
        raise StoreFault("value", f"request {request.id!r} cannot be stored: {error}") from error
    return body


def decode_request(body: bytes) -> AnsweredRequest:
    return _REQUEST.decode(body)


def encode_leftover(leftover: Leftover) -> bytes:
    try:
        body = _ENCODER.encode(leftover)
        _LEFTOVER.decode(body)
    except UNSTORABLE as error:
        raise StoreFault("other", f"leftover {leftover.id!r} cannot be stored: {error}") from error
    return body


def decode_leftover(body: bytes) -> Leftover:
    return _LEFTOVER.decode(body)


def encode_event(event: Event) -> EventRow:
    content: dict[str, object] = {}
    if event.delta:
        content["delta"] = event.delta
    if event.facts:
        content["facts"] = event.facts
    if event.claim is not None:
        content["claim"] = event.claim
    if event.leftover is not None:
        content["leftover"] = event.leftover
    try:
        body = _ENCODER.encode(content)
        _BODY.decode(body)
    except UNSTORABLE as error:
        raise StoreFault("value", f"event {event.seq} cannot be stored: {error}") from error
    return (event.seq, event.at, event.type.value, event.session, event.item, body)


def decode_event(row: EventRow) -> Event | None:
    """None: a type that only a newer version knows."""
    seq, at, kind, session, _, body = row
    content = _BODY.decode(body)
    if kind not in _TYPES:
        return None
    return Event(
        seq=seq,
        at=at,
        type=_TYPES[kind],
        session=None if session is None else SessionId(session),
        delta=dict(content.get("delta", {})),
        facts=content.get("facts", {}),
        claim=content.get("claim"),
        leftover=content.get("leftover"),
    )
