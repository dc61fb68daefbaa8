"""Activity: what a living session does, judged from what its sources last said.

Rules of this file
  1. Two sources speak of the main turn: hooks (`Turned`) and the agent's own registry (`Status`).
     Each is ordered by its own time; the newest word of each is all that is kept.
  2. `judge` is a table over (hook's word, registry's word, which is newer). It is derived from the
     stored words alone, so a restart gives the same answer.
  3. Subagents and background work stand beside the main activity and never change it.
  4. The loser of a disagreement is named.

Not here: how payloads become words (agents/), liveness (session.py).
"""

from dataclasses import dataclass
from enum import Enum

from headcount.core.report import TURN_RANK, Turn, WaitingOn


class Doing(Enum):
    WORKING = "working"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    IDLE = "idle"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Turned:
    """A hook's word on the main turn."""

    at: float
    turn: Turn
    event: str
    source: str = "hook"
    waiting_on: WaitingOn | None = None
    label: str | None = None
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """The registry's word."""

    at: float
    status: str
    waiting_on: WaitingOn | None = None
    source: str = "registry"


@dataclass(frozen=True, slots=True)
class Activity:
    doing: Doing = Doing.UNKNOWN
    waiting_on: WaitingOn | None = None
    label: str | None = None
    failure: str | None = None
    source: str = "none"
    because: str = "nothing heard yet"
    at: float = 0.0  # of the word that decided
    since: float = 0.0  # since when it has been this state


def newer(new: Turned, old: Turned | None, now: float) -> bool:
    """Whether a hook's word stands over the one before it. No stored time is later than now: a wall
    clock that was set back must not silence a session until it has caught up."""
    if old is None:
        return True
    return (new.at, TURN_RANK[new.turn]) > (min(old.at, now), TURN_RANK[old.turn])


BY_TURN: dict[Turn, Doing] = {
    Turn.STARTED: Doing.IDLE,
    Turn.PROMPTED: Doing.WORKING,
    Turn.COMPACTING: Doing.WORKING,
    Turn.COMPACTED: Doing.WORKING,
    Turn.TOOL: Doing.WORKING,
    Turn.ASKED: Doing.WAITING,
    Turn.TOOL_DONE: Doing.WORKING,
    Turn.STOPPED: Doing.DONE,
    Turn.FAILED: Doing.FAILED,
}

BY_STATUS: dict[str, Doing] = {
    "busy": Doing.WORKING,
    "waiting": Doing.WAITING,
    "idle": Doing.IDLE,
    "shell": Doing.IDLE,
}

RESTS = frozenset({Turn.STOPPED, Turn.FAILED})
"""A turn that ended stays `done` or `failed` when the registry says idle: both are true, and the
first says more."""
