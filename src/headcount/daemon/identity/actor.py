"""Actor: who a caller turned out to be, with every step that led to it.

Not here: finding it out (caller.py), what it may do (daemon/api/permissions.py).
"""

from enum import Enum

from msgspec import Struct

from headcount.core.values.process import ProcessIdentity
from headcount.core.values.session import SessionId


class ActorKind(Enum):
    OPERATOR = "operator"
    AGENT = "agent"
    DESCENDANT = "descendant"  # an agent that was started inside another agent
    PAGE = "page"  # a tab that a person opened from a shell outside every agent
    NOBODY = "nobody"


class Rung(Struct, frozen=True):
    name: str  # "peer", "token", "environment", "operator"
    taken: bool
    why: str
    session: SessionId | None = None


class Actor(Struct, frozen=True):
    kind: ActorKind
    rungs: tuple[Rung, ...] = ()
    session: SessionId | None = None
    process: ProcessIdentity | None = None  # of the agent, which acts; None: no agent
    caller: ProcessIdentity | None = None  # the process that called, where the kernel showed it
    resolved_by: str | None = None
    above: tuple[ProcessIdentity, ...] = ()  # agents further up, nearest first
    refusal: str | None = None  # of a nobody: what was wrong with what it offered
    way_out: str | None = None  # of a nobody: what it can do about that

    @property
    def is_agent(self) -> bool:
        return self.kind in (ActorKind.AGENT, ActorKind.DESCENDANT)
