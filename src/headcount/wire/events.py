"""Event rows, the snapshot that opens a stream, history."""

from typing import Any

import msgspec

from headcount.wire.claims import Holder
from headcount.wire.leftovers import LeftoverRow
from headcount.wire.sessions import SessionRow


class EventRow(msgspec.Struct, kw_only=True, omit_defaults=True):
    seq: int
    at: str
    type: str
    session: SessionRow | None = None
    facts: dict[str, Any] | None = None
    item: str | None = None  # these are of claims
    fence: int | None = None
    holder: Holder | None = None  # who got it, or who had it
    because: str | None = None  # of a release: released, died, forced, handed-off, withdrawn, lease-lost
    by: str | None = None  # who forced it
    leftover: LeftoverRow | None = None


class Snapshot(msgspec.Struct, kw_only=True):
    seq: int
    sessions: list[SessionRow]


class History(msgspec.Struct, kw_only=True):
    events: list[EventRow]
    oldest: int  # the oldest sequence number still kept


class ClaimHistory(msgspec.Struct, kw_only=True):
    item: str
    history: list[EventRow]  # oldest first
