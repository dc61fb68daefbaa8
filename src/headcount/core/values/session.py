"""Sessions: one stretch of one conversation in one process, with the details that a row shows.

Rules
  1. `LIVENESS` is the whole state machine. A pair that is not in it cannot happen.
  2. Time alone changes only sessions without a process. A proven end is final.
  3. A session is a value. A change makes a new one.
  4. A figure is what the agent's own files say. What they do not say is None, never an estimate.
  5. Each traced field has an origin: the source that said it, and when. A later report replaces it.
  6. Details decide nothing: liveness and activity never depend on them.

Not here: when a transition is due (core/decide.py), what a session does (core/values/activity.py), when it
  has stalled (core/sessions/stalls.py), which reports set which field (core/sessions/field_changes.py).
"""

import re
from typing import Any, NewType

from msgspec import Struct

from headcount.core.values.activity import Activity, RegistryStatus, Turned
from headcount.core.values.fast_enum import FastEnum
from headcount.core.values.process import ProcessIdentity
from headcount.core.values.report import ALONE, Background
from headcount.core.values.terminal import TerminalPlace

TRACED = frozenset({
    "cwd", "name", "title", "model", "context_tokens", "context_window", "transcript", "permission_mode", "entrypoint",
    "version", "spent", "checkout",
})  # fmt: skip

Changes = dict[str, Any]
"""Fields of a session by name, with their new values. The store's codec compares them with the types of Session."""

SessionId = NewType("SessionId", str)
ID_DIGITS = 12
_LIKE_AN_ID = re.compile("[0-9a-fA-F]{4,}")


class Origin(Struct, frozen=True, omit_defaults=True):
    field: str
    source: str  # "hook", "http", "registry", "transcript", "scan", "git"
    at: float


class Checkout(Struct, frozen=True, omit_defaults=True):
    """The repository that its directory is in. A directory is never identity; this is for people."""

    repo: str
    branch: str | None
    worktree: str | None = None  # the checkout's top, when it is a linked worktree


class Spent(Struct, frozen=True, omit_defaults=True):
    """What the conversation took in all, by the agent's own count."""

    input: int
    output: int
    cost_usd: float | None = None


class Stall(Struct, frozen=True, omit_defaults=True):
    """A working session in which nothing stirs: when each source last did. None: it has no such source."""

    at: float  # when that was noticed
    heard_at: float
    cpu_at: float
    transcript_at: float | None = None


def traced(known: tuple[Origin, ...], changes: Changes, source: str, at: float) -> Changes:
    """The origins after those changes, as a change of its own; nothing when none of them is traced."""
    fresh = [Origin(name, source, at) for name in changes if name in TRACED]
    if not fresh:
        return {}
    replaced = {each.field for each in fresh}
    return {"origins": (*(each for each in known if each.field not in replaced), *fresh)}


def looks_like_an_id(text: str) -> bool:
    """Whether a name would be taken for an id, or the beginning of one as `ps` shows it."""
    return _LIKE_AN_ID.fullmatch(text) is not None


class Liveness(FastEnum):
    UNBOUND = "unbound"  # no process known yet; people see "unknown"
    ALIVE = "alive"  # a process vouches; time cannot touch it
    DOUBTED = "doubted"  # its process is known but cannot be asked now; people see "unknown"
    LOST = "lost"  # no process known, unheard for long
    ENDED = "ended"


class Turnpoint(FastEnum):
    """What can happen to a session's liveness."""

    BOUND = "bound"  # its process was learned
    DOUBT = "doubt"  # its process cannot be asked (another namespace, no descriptor)
    HEARD = "heard"  # a report newer than all before
    UNHEARD = "unheard"  # LOST_AFTER went by
    END_REPORTED = "end reported"
    SUPERSEDED = "superseded"
    DEATH_PROVEN = "death proven"
    REBOOTED = "rebooted"


LIVENESS: dict[Liveness, dict[Turnpoint, Liveness]] = {
    Liveness.UNBOUND: {
        Turnpoint.BOUND: Liveness.ALIVE,
        Turnpoint.HEARD: Liveness.UNBOUND,
        Turnpoint.UNHEARD: Liveness.LOST,
        Turnpoint.END_REPORTED: Liveness.ENDED,
        Turnpoint.DEATH_PROVEN: Liveness.ENDED,
        Turnpoint.REBOOTED: Liveness.ENDED,
    },
    Liveness.ALIVE: {
        Turnpoint.BOUND: Liveness.ALIVE,
        Turnpoint.HEARD: Liveness.ALIVE,
        Turnpoint.DOUBT: Liveness.DOUBTED,
        Turnpoint.SUPERSEDED: Liveness.ENDED,
        Turnpoint.DEATH_PROVEN: Liveness.ENDED,
        Turnpoint.REBOOTED: Liveness.ENDED,
    },
    Liveness.DOUBTED: {
        Turnpoint.BOUND: Liveness.ALIVE,
        Turnpoint.HEARD: Liveness.DOUBTED,
        Turnpoint.DOUBT: Liveness.DOUBTED,
        Turnpoint.SUPERSEDED: Liveness.ENDED,
        Turnpoint.DEATH_PROVEN: Liveness.ENDED,
        Turnpoint.REBOOTED: Liveness.ENDED,
    },
    Liveness.LOST: {
        Turnpoint.BOUND: Liveness.ALIVE,
        Turnpoint.HEARD: Liveness.UNBOUND,
        Turnpoint.END_REPORTED: Liveness.ENDED,
        Turnpoint.DEATH_PROVEN: Liveness.ENDED,
        Turnpoint.REBOOTED: Liveness.ENDED,
    },
    Liveness.ENDED: {},
}

REOPENS: dict[Turnpoint, Liveness] = {
    Turnpoint.HEARD: Liveness.UNBOUND,
    Turnpoint.BOUND: Liveness.ALIVE,
}
"""An end that was only reported, never proven, gives way to the next sign of life."""


class EndKind(FastEnum):
    EXITED = "exited"
    KILLED = "killed"
    SUPERSEDED = "superseded"
    CLOSED = "closed"  # its process lives on and has it open no more, by what the kernel says of its files
    REBOOTED = "rebooted"
    REPORTED = "reported"
    UNSEEN = "unseen"  # its process is proven over; how it ended was not seen


IN_A_LIVING_PROCESS = frozenset({EndKind.SUPERSEDED, EndKind.CLOSED})
"""Ends that say nothing of the process."""


class Ended(Struct, frozen=True, omit_defaults=True):
    at: float
    kind: EndKind
    because: str
    exit_code: int | None = None
    signal: int | None = None
    away: bool = False  # it happened while headcount was not running
    successor: SessionId | None = None
    told: bool = True  # of a reboot: whether a person was shown what it ended

    @property
    def proven(self) -> bool:
        return self.kind is not EndKind.REPORTED


class Leaving(Struct, frozen=True, omit_defaults=True):
    """Its SessionEnd: it said that it goes, and why. Its process still decides."""

    at: float
    reason: str


class Note(Struct, frozen=True, omit_defaults=True):
    """Something offered as evidence and not taken, for `explain`."""

    at: float
    source: str
    what: str
    code: str = ""  # of `what`, for programs; empty in rows of before


class Registration(Struct, frozen=True, omit_defaults=True):
    """What it was registered with, by itself or by whoever launched it."""

    at: float
    by: str  # "operator", or the session that launched or registered it
    name: str | None = None
    role: str | None = None
    groups: tuple[str, ...] = ()
    window: bool = False  # a tmux window was opened for it


class Session(Struct, frozen=True, omit_defaults=True):
    id: SessionId
    agent: str
    conversation: str | None
    liveness: Liveness
    started_at: float
    last_event_at: float
    boot: str  # the boot it was last heard in: a session without a process ends with it
    process: ProcessIdentity | None = None
    bound_by: str | None = None
    hosted_at: float = 0.0  # since when its process hosts it: the moment of the swap
    liveness_because: str = ""
    liveness_at: float = 0.0
    activity: Activity = Activity()
    turned: Turned | None = None  # the newest word of a hook on the main turn
    status: RegistryStatus | None = None  # the newest word of the agent's own registry
    background: tuple[Background, ...] = ()
    provisional: bool = False  # a start without a second signal or a process
    name: str | None = None
    title: str | None = None  # that somebody gave the conversation; never one made from a prompt
    context_tokens: int | None = None
    context_window: int | None = None
    spent: Spent | None = None
    version: str | None = None  # of the agent's program
    role: str | None = None
    groups: tuple[str, ...] = ()
    cwd: str | None = None
    model: str | None = None
    transcript: str | None = None
    permission_mode: str | None = None
    entrypoint: str | None = None
    checkout: Checkout | None = None
    origins: tuple[Origin, ...] = ()
    stall: Stall | None = None
    parent: SessionId | None = None
    predecessor: SessionId | None = None
    leaving: Leaving | None = None
    ended: Ended | None = None
    alarms: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    registration: Registration | None = None
    where: TerminalPlace | None = None  # the terminal it was last found in
    archived_at: float | None = None  # when it was closed for good

    @property
    def is_open(self) -> bool:
        return self.liveness is not Liveness.ENDED

    @property
    def is_only_named(self) -> bool:
        """A file named its process, which no adapter recognised and nobody registered: shown, never ended by us."""
        return self.registration is None and (self.bound_by or "").endswith(ALONE)


def can(session: Session, point: Turnpoint) -> bool:
    return point in _row(session)


def after(session: Session, point: Turnpoint) -> Liveness:
    """The liveness after that turnpoint; a KeyError is an illegal transition."""
    return _row(session)[point]


def _row(session: Session) -> dict[Turnpoint, Liveness]:
    if session.ended is not None and not session.ended.proven:
        return REOPENS
    return LIVENESS[session.liveness]
