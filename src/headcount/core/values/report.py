"""Reports: what an agent says about itself, in one vocabulary for all agents.

Rules
  1. A report is evidence: weighed, never refused. A report of an unknown event says nothing.
  2. A report carries its source's own time, not the time at which it was read.
  3. No prompt and no tool output: `doing` is a short label.
  4. A report from inside a subagent says so, and never speaks for the main turn.
  5. A stored time that lies in the future was written before the wall clock was set back. It no longer orders
     reports: otherwise the session would stay silent until the clock has caught up.
  6. "The future" begins CLOCK_SLACK after now. A report's own time is taken before the report is weighed, so
     comparing with now itself would call every report late.

Not here: the agents' payloads (agents/), what follows from a report (core/decide.py,
  core/values/activity.py).
"""

import re

from msgspec import Struct, field

from headcount.core.values.fast_enum import FastEnum
from headcount.core.values.process import ProcessIdentity
from headcount.times import CLOCK_SLACK

_SLUG = re.compile(r".*[^0-9a-f](?=[0-9a-f]{8,}\Z)")

ALONE = " alone"
"""Ends the source of an anchor whose process no adapter recognises: `registry alone`."""


class Turn(FastEnum):
    """What a report says of the main turn. The order is the order inside one moment: of two reports
    with the same time the later in this list stands."""

    STARTED = "started"  # a conversation opened, nothing asked yet
    PROMPTED = "prompted"  # the user (or a finished background task) gave it work
    COMPACTING = "compacting"
    COMPACTED = "compacted"  # by itself, in mid-turn: work goes on
    SETTLED = "settled"  # at rest with nothing new to look at: a compaction that the user asked for
    TOOL = "tool"  # a tool is about to run
    ASKED = "asked"  # it waits on its user: see waiting_on
    TOOL_DONE = "tool-done"
    STOPPED = "stopped"  # the turn ended well
    FAILED = "failed"  # the turn ended by an error or a limit


TURN_RANK: dict[Turn, int] = {turn: rank for rank, turn in enumerate(Turn)}


class WaitingOn(FastEnum):
    PERMISSION = "permission"
    QUESTION = "question"
    PLAN = "plan"


class Opening(FastEnum):
    """How a conversation came to be in this process."""

    STARTUP = "startup"
    RESUME = "resume"
    CLEAR = "clear"
    FORK = "fork"


def bare_id(id: str) -> str:
    """A subagent's id without the words before its number, which may be the first of its prompt:
    `afix-the-login-547a8bc07c0221d4`."""
    return _SLUG.sub("", id)


class Background(Struct, frozen=True):
    """Work beside the main turn: a subagent or a shell that goes on by itself."""

    id: str
    kind: str  # "subagent", "shell", ...
    label: str = ""


class Anchor(Struct, frozen=True):
    """Which process a report came from, as the edge could establish it.

    `process` with `alive`: verified and recognised. `process` without: named exactly, but over.
    Neither: `why` says what was offered and why it was not taken."""

    process: ProcessIdentity | None = None
    alive: bool = False
    by: str = ""  # "peer", "registry", "stat line", "header"
    why: str = ""
    code: str = ""  # of `why`, for programs
    parent: ProcessIdentity | None = None  # the nearest agent process above it
    began_at: float | None = None  # when the process was started
    elsewhere: bool = False  # its pid is another's here since before: of another pid namespace


class Details(Struct, frozen=True):
    """What a report knows beside the turn; None: it does not say."""

    cwd: str | None = None
    name: str | None = None
    model: str | None = None
    transcript: str | None = None
    permission_mode: str | None = None
    version: str | None = None  # of the agent's program


class Worktree(Struct, frozen=True):
    """The checked-out directory that a report came from, as the edge could establish it."""

    top: str
    branch: str | None
    name: str  # of the repository


class Report(Struct, frozen=True):
    agent: str
    conversation: str
    at: float
    source: str  # "hook", "http"
    event: str  # the agent's own name for it: "PreToolUse"
    says: Turn | None = None
    waiting_on: WaitingOn | None = None
    doing: str | None = None
    failure: str | None = None  # with FAILED: "limit" or "error"
    opening: Opening | None = None
    leaving: str | None = None  # a SessionEnd and its reason
    subagent: str | None = None
    background: tuple[Background, ...] | None = None  # the whole list, when the event carries it
    background_started: Background | None = None
    background_ended: str | None = None
    edits: str | None = None  # the file that a tool has edited, absolute; kept in memory only
    would_edit: str | None = None  # the file that a tool is about to edit, if nobody denies it
    worktree: Worktree | None = None
    beside: bool = False  # its process has several conversations at once: it supersedes none
    details: Details = field(default_factory=Details)
    anchor: Anchor = field(default_factory=Anchor)


class Record(Struct, frozen=True):
    """What an agent's own registry file says: a hint, which its process confirms or not."""

    agent: str
    conversation: str
    at: float  # of the status, by the agent's clock
    status: str | None  # "busy", "idle", "waiting", "shell"; None: that version does not say
    waiting_on: WaitingOn | None
    details: Details
    anchor: Anchor
    written_at: float = 0.0  # of the file: what it says was true then, and until it is written again
    entrypoint: str | None = None
    kind: str | None = None
    beside: bool = False  # its process has several conversations at once: it supersedes none


class Found(Struct, frozen=True):
    """A living process that an adapter recognises as an agent, conversation unknown."""

    agent: str
    process: ProcessIdentity
    at: float
    cwd: str | None = None
    parent: ProcessIdentity | None = None  # the nearest agent process above it
    began_at: float | None = None


def counted(stored: float, now: float) -> float:
    """The stored time where it still orders; before everything where the clock was set back since."""
    return stored if stored <= now + CLOCK_SLACK else 0.0
