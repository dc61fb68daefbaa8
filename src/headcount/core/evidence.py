"""Evidence: everything that can come in, commands among it. It is weighed, never refused.

Rules of this file
  1. Each kind names what was observed, by whom and when. None of them is a change of state.
  2. The loop knows only this union.
"""

from dataclasses import dataclass
from typing import Any

from headcount.core.activity import Turned
from headcount.core.aftermath import Examined, Noticed
from headcount.core.commands import Command
from headcount.core.detail import Checkout, Spent
from headcount.core.identity import ProcessIdentity
from headcount.core.leftover import Find, Gone, Left
from headcount.core.registration import Register, Unregister
from headcount.core.report import Found, Record, Report
from headcount.core.session import SessionId
from headcount.core.verdict import Verdict
from headcount.core.where import Located


@dataclass(frozen=True, slots=True)
class Judged:
    """The process adapter's verdict on a process: a death, a re-proof after a restart, or doubt."""

    process: ProcessIdentity
    verdict: Verdict
    at: float
    away: bool = False  # learned after a restart: it happened while headcount was not running
    left: tuple[Find, ...] = ()  # descendants that were seen under it, and live on


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
    context_window: int | None = None  # None: the agent's files do not say
    spent: Spent | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class CheckoutSeen:
    """Which repository and branch a session's directory is in, as git's files say now."""

    session: SessionId
    cwd: str  # that was looked at: it may have moved on since
    checkout: Checkout | None
    at: float


@dataclass(frozen=True, slots=True)
class Looked:
    """One look at a working session: when its process and its transcript last stirred."""

    session: SessionId
    at: float
    cpu_at: float | None  # None: its processor time cannot be read
    transcript_at: float | None  # None: it writes none
    patience: float  # how long nothing may stir before it is called still


@dataclass(frozen=True, slots=True)
class Declared:
    """A session said that it will be silent, or that it no longer is."""

    session: SessionId
    at: float
    until: float | None  # None: silence is over
    why: str
    by: str


@dataclass(frozen=True, slots=True)
class Visited:
    """A person was shown the session's terminal."""

    session: SessionId
    at: float


@dataclass(frozen=True, slots=True)
class Told:
    """A person was shown which sessions a reboot ended."""

    at: float


@dataclass(frozen=True, slots=True)
class Closed:
    """A living process was seen with all that it has open, and this conversation was not among it."""

    agent: str
    conversation: str
    process: ProcessIdentity
    at: float


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
class Ending:
    """Somebody is about to be signalled, or was: for the journal. Nothing is signalled before this is stored."""

    at: float
    session: SessionId | None
    facts: dict[str, Any]  # plain JSON: pid, signal, verb, by, outcome
    finished: bool = False
    archived: bool = False  # the session was closed for good


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
    | CheckoutSeen
    | Looked
    | Declared
    | Visited
    | Told
    | Judged
    | Closed
    | Located
    | Rebooted
    | Tick
    | Retire
    | Awake
    | Left
    | Gone
    | Ending
    | Examined
    | Noticed
    | FleetNews
    | Command
    | Register
    | Unregister
)
