"""The messages of time: lanes of sessions, blind periods, and how long agents waited.

Rules
  1. As in sessions.py: field names are only ever added, times are RFC 3339, and they are plain data.

Not here: how lanes are made (core/timeline.py), everything else on the wire (sessions.py).
"""

import msgspec

from headcount.wire.sessions import Ended


class Span(msgspec.Struct, kw_only=True):
    """A stretch in which a session did one thing. `to` of what goes on is the end of what was asked for."""

    since: str
    to: str
    activity: str
    waiting_on: str | None
    doing: str | None


class HeldSpan(msgspec.Struct, kw_only=True):
    item: str
    fence: int
    since: str
    to: str | None  # null: it is still held
    because: str | None  # why it ended


class Lane(msgspec.Struct, kw_only=True):
    session: str
    agent: str
    name: str | None
    cwd: str | None
    liveness: str  # as it is now
    activity: str
    spans: list[Span]
    claims: list[HeldSpan]
    ended: Ended | None  # when that was within what was asked for


class Blind(msgspec.Struct, kw_only=True):
    """Headcount was not running: nothing was seen."""

    since: str
    to: str


class Timeline(msgspec.Struct, kw_only=True):
    since: str
    to: str
    lanes: list[Lane]  # by when each was first seen
    blind: list[Blind]
    whole: bool  # false: there was more than is read for one picture; its beginning is missing


class Waited(msgspec.Struct, kw_only=True):
    session: str
    name: str | None
    times: int
    seconds: float


class Today(msgspec.Struct, kw_only=True):
    """How long agents waited for their user; what was not seen is not counted."""

    since: str  # midnight, unless asked otherwise
    waited_s: float  # of all agents together
    any_s: float  # in which at least one waited
    waits: int
    waiting_now: int
    sessions: list[Waited]  # the longest first
