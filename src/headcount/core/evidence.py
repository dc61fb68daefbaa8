"""Evidence: everything that can come in, commands among it. It is weighed, never refused.

Rules of this file
  1. Each kind names what was observed, by whom and when. None of them is a change of state.
  2. The loop knows only this union.
"""

from dataclasses import dataclass

from headcount.core.activity import Turned
from headcount.core.commands import Command
from headcount.core.identity import ProcessIdentity
from headcount.core.registration import Register, Unregister
from headcount.core.report import Found, Record, Report
from headcount.core.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Judged:
    """The process adapter's verdict on a process: a death, a re-proof after a restart, or doubt."""

    process: ProcessIdentity
    verdict: Verdict
    at: float
    away: bool = False  # learned after a restart: it happened while headcount was not running


@dataclass(frozen=True, slots=True)
class Glimpse:
    """What the tail of a conversation's transcript shows: details, and how its last turn stands. The
    turn is a word like a hook's, for whoever missed the hooks; it counts only where it is newer."""

    agent: str
    conversation: str
    title: str | None = None
    model: str | None = None
    context_tokens: int | None = None
    turned: Turned | None = None


@dataclass(frozen=True, slots=True)
class Rebooted:
    """The machine was restarted since the store was last written."""

    at: float


@dataclass(frozen=True, slots=True)
class Tick:
    """Time went by."""


@dataclass(frozen=True, slots=True)
class Retire:
    """Retention: sessions that ended before this, or were lost and not heard of since, are to be forgotten."""

    before: float
    keep_most: int


@dataclass(frozen=True, slots=True)
class Awake:
    """Headcount itself started or stops: the journal shows when it was blind."""

    at: float
    stopping: bool = False
    store_lost: str | None = None  # where a damaged store was set aside
    version: str = ""
    seen_until: float | None = None  # the last event before it was away


@dataclass(frozen=True, slots=True)
class FleetNews:
    """What became of our membership in a fleet."""

    what: str  # joined, left, away, back
    at: float
    because: str


Evidence = (
    Report
    | Record
    | Found
    | Glimpse
    | Judged
    | Rebooted
    | Tick
    | Retire
    | Awake
    | FleetNews
    | Command
    | Register
    | Unregister
)
