"""The messages of a closer look: one session in full, its last lines, its declared silence, what a reboot ended.

Rules of this file
  1. As in sessions.py: field names are only ever added, times are text, absent facts are null.

Not here: rows, events and claims (sessions.py).
"""

import msgspec

from headcount.wire.sessions import SessionRow


class FactSource(msgspec.Struct, kw_only=True):
    source: str  # kernel, hook, http, registry, transcript, git, scan, registration, operator
    at: str | None


class SessionDetail(SessionRow, kw_only=True):
    """One session in full."""

    transcript: str | None
    sources: dict[str, FactSource]  # by field, where somebody said it


class Rebooted(msgspec.Struct, kw_only=True):
    sessions: list[SessionRow]  # ended by a reboot, and not shown to a person before


class PeekLine(msgspec.Struct, kw_only=True):
    who: str | None  # user, agent, tool; null: a line of a terminal
    text: str  # foreign
    at: str | None


class Peek(msgspec.Struct, kw_only=True):
    session: str
    source: str  # transcript, pane
    lines: list[PeekLine]


class QuietWish(msgspec.Struct, kw_only=True):
    seconds: float = 0.0
    why: str | None = None
    off: bool = False


class QuietAnswer(msgspec.Struct, kw_only=True):
    session: SessionRow
    until: str | None
    capped: bool  # less than was asked for
