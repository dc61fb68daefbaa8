"""Leftovers: what an ended session left, each with the evidence that says whose it is.

Rules
  1. A leftover is attributed while that is certain, and the evidence is kept with it. What only looks related (a
     directory, a name, a terminal, a process group) is none.
  2. One find is one leftover: its id follows from whose it is, its kind, and what tells it from others.
  3. It is reported, and gone when it is gone. Nothing here ends or deletes anything.

Not here: looking for them (daemon/), what is kept of them (core/state/leftovers.py), what a find changes (core/leftovers/lifecycle.py).
"""

from enum import Enum
from hashlib import blake2s
from typing import NewType

from msgspec import Struct, field
from msgspec.structs import replace

from headcount.core.values.process import ProcessIdentity
from headcount.core.values.session import SessionId

LeftoverId = NewType("LeftoverId", str)


class LeftoverKind(Enum):
    PROCESS = "process"  # a living descendant of an agent's process that is over
    SECOND_WRITER = "second-writer"  # one conversation alive in two processes
    PANE = "pane"  # a terminal whose agent is over, or that nobody owns
    WORKTREE = "worktree"  # a checkout with work that is nowhere else
    RECORD = "record"  # a file that speaks of a process that is over


class Find(Struct, frozen=True, omit_defaults=True):
    """One thing that was found, before it is known whether it was known already."""

    kind: LeftoverKind
    key: str  # tells it from others of its kind and session: a pane's id, a directory, a path
    what: str  # in a few words, without arguments that may be private
    evidence: tuple[str, ...]  # why it is this session's
    process: ProcessIdentity | None = None
    facts: dict[str, object] = field(default_factory=dict)  # plain JSON


class Leftover(Struct, frozen=True, omit_defaults=True):
    id: LeftoverId
    kind: LeftoverKind
    session: SessionId | None  # None: nobody that is remembered left it
    process: ProcessIdentity | None
    what: str
    evidence: tuple[str, ...]
    found_at: float
    of: ProcessIdentity | None = None  # the process that left it
    gone_at: float | None = None
    gone_because: str | None = None
    facts: dict[str, object] = field(default_factory=dict)

    @property
    def is_there(self) -> bool:
        return self.gone_at is None


class Left(Struct, frozen=True):
    """Evidence: these were found to be of that session. One without finds says only that it was searched for."""

    session: SessionId | None
    found: tuple[Find, ...]
    at: float
    searched: ProcessIdentity | None = None  # all that this dead process left was looked for, to the end


class LeftoverGone(Struct, frozen=True):
    """Evidence: these are no longer there."""

    leftovers: tuple[LeftoverId, ...]
    at: float
    because: str


def process_key(process: ProcessIdentity) -> str:
    return f"{process.boot}:{process.pid}:{process.started}:{process.inode}"


def leftover_id(session: SessionId | None, kind: LeftoverKind, key: str) -> LeftoverId:
    text = f"{session}|{kind.value}|{key}"
    return LeftoverId(blake2s(text.encode("utf-8", "replace"), digest_size=6).hexdigest())


def gone(leftover: Leftover, at: float, because: str) -> Leftover:
    return replace(leftover, gone_at=at, gone_because=because)
