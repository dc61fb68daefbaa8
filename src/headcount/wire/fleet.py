"""The messages of the wire about a fleet: hosts, joining, leaving, the roster.

Rules
  1. As in sessions.py: field names are a contract, times are RFC 3339, absent facts are null.
  2. An address is only ever taken. No message gives one out.
"""

from typing import Any

import msgspec


class JoinWish(msgspec.Struct, kw_only=True):
    """The address may hold a password. It is written to a private file and given out by nobody."""

    address: str
    name: str | None = None


class LeaveWish(msgspec.Struct, kw_only=True):
    anyway: bool = False  # although the database cannot be told


class FleetHost(msgspec.Struct, kw_only=True):
    id: str
    name: str
    here: bool  # this host
    state: str  # alive: its lease holds; unknown: it does not
    seen_at: str  # its last renewal, by the database's clock
    age_s: float
    sessions: int
    claims: int
    version: str
    epoch: int  # a life of its daemon; grows with each


class FleetStatus(msgspec.Struct, kw_only=True):
    joined: bool
    database: str | None  # where it is, without what opens it
    name: str | None  # of this host
    vouched: bool  # this host's lease holds
    fault: str | None  # why not, or why it will not for long: the database cannot be asked
    hosts: list[FleetHost]


class FleetLeft(msgspec.Struct, kw_only=True):
    left: bool
    freed: int  # claims of this host
    closed: int = 0  # of those that could not be told of: others have them when lease and lock-delay are over


class FleetSessions(msgspec.Struct, kw_only=True):
    sessions: list[dict[str, Any]]  # a SessionRow each, with host, host_state and host_age_s
    hosts: list[FleetHost]
