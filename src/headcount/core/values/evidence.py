"""Evidence: everything that can come in, commands among it. It is weighed, never refused.

Rules
  1. Each kind names what was observed, by whom and when. None of them is a change of state.
  2. The loop knows only this union.
"""

from msgspec import Struct

from headcount.core.values.activity import Turned
from headcount.core.values.claim import Command
from headcount.core.values.leftover import Find, Left, LeftoverGone
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.report import Found, Record, Report
from headcount.core.values.session import Checkout, Registration, SessionId, Spent
from headcount.core.values.terminal import TerminalPlace
from headcount.core.values.verdict import Verdict


class Located(Struct, frozen=True):
    """Where a session was found; None: in no terminal that is known, and all that could say so were asked."""

    session: SessionId
    where: TerminalPlace | None
    at: float


class Examined(Struct, frozen=True):
    """What an ended session left was looked for, all of it."""

    session: SessionId
    at: float
    freed: tuple[str, ...] = ()  # items that its death freed
    resumable: bool = False


class Noticed(Struct, frozen=True):
    """A session is about to be closed because it has been idle for long."""

    session: SessionId
    at: float
    idle_since: float
    closes_at: float


class Register(Struct, frozen=True):
    agent: str
    conversation: str | None  # None: the agent will make one and tell
    process: ProcessIdentity  # seen alive at the edge
    given: Registration
    cwd: str | None = None
    parent: ProcessIdentity | None = None  # the nearest agent process above it
    anyway: bool = False


class Unregister(Struct, frozen=True):
    session: SessionId
    at: float


class TurnedAway(Struct, frozen=True):
    code: str  # "dead-process", "alive-elsewhere", "hosts-another"
    session: SessionId  # the one in the way


class Judged(Struct, frozen=True):
    """The process adapter's verdict on a process: a death, a re-proof after a restart, or doubt."""

    process: ProcessIdentity
    verdict: Verdict
    at: float
    away: bool = False  # learned after a restart: it happened while headcount was not running
    left: tuple[Find, ...] = ()  # descendants that were seen under it, and live on


class Glimpse(Struct, frozen=True):
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
    model_at: float | None = None  # when that model answered; None: the file does not say, it counts as now


class CheckoutSeen(Struct, frozen=True):
    """Which repository and branch a session's directory is in, as git's files say now."""

    session: SessionId
    cwd: str  # that was looked at: it may have moved on since
    checkout: Checkout | None
    at: float


class Looked(Struct, frozen=True):
    """One look at a working session: when its process and its transcript last stirred."""

    session: SessionId
    at: float
    cpu_at: float | None  # None: its processor time cannot be read
    transcript_at: float | None  # None: it writes none
    patience: float  # how long nothing may stir before it is called still


class Visited(Struct, frozen=True):
    """A person was shown the session's terminal."""

    session: SessionId
    at: float


class Told(Struct, frozen=True):
    """A person was shown which sessions a reboot ended."""

    at: float


class ConversationClosed(Struct, frozen=True):
    """A living process was seen with all that it has open, and this conversation was not among it."""

    agent: str
    conversation: str
    process: ProcessIdentity
    at: float


class Rebooted(Struct, frozen=True):
    """The machine was restarted since the store was last written."""

    at: float


class Tick(Struct, frozen=True):
    """Time went by."""


class Retire(Struct, frozen=True):
    """Retention: sessions that ended before this, or were lost and not heard of since, are to be forgotten."""

    before: float
    keep_most: int


class Awake(Struct, frozen=True):
    """Headcount itself started or stops: the journal shows when it was blind."""

    at: float
    stopping: bool = False
    store_lost: str | None = None  # where a damaged store was set aside
    version: str = ""
    seen_until: float | None = None  # the last event before it was away


class SignalAnnounced(Struct, frozen=True):
    """Somebody is about to be signalled, or was: for the journal. Nothing is signalled before this is stored."""

    at: float
    session: SessionId | None
    facts: dict[str, object]  # plain JSON: pid, signal, verb, by, outcome
    finished: bool = False
    archived: bool = False  # the session was closed for good


class FleetNews(Struct, frozen=True):
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
    | Visited
    | Told
    | Judged
    | ConversationClosed
    | Located
    | Rebooted
    | Tick
    | Retire
    | Awake
    | Left
    | LeftoverGone
    | SignalAnnounced
    | Examined
    | Noticed
    | FleetNews
    | Command
    | Register
    | Unregister
)
