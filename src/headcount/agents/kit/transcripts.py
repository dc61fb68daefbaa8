"""What the end of a conversation's file says: how the last turn stands, and what stands beside it.

Rules of this file
  1. Read from the oldest line to the newest: the later word stands in the place of the earlier. None: nothing says it.
  2. No text: of a message only its kind, its time and the label of its tool ever come here.

Not here: reading the lines (each agent's own transcript.py, rollout.py), what follows (core).
"""

from msgspec import Struct
from msgspec.structs import replace

from headcount.core.detail import Spent
from headcount.core.values.activity import Turned
from headcount.core.values.evidence import Glimpse
from headcount.core.values.report import Turn, WaitingOn

TAIL = 64 * 1024
"""How much of a file's end is read for it."""


class Tail(Struct, frozen=True):
    turn: Turn | None = None
    turn_at: float = 0.0
    waiting_on: WaitingOn | None = None
    doing: str | None = None
    failure: str | None = None
    title: str | None = None
    model: str | None = None
    context_tokens: int | None = None  # what the last answer had before it
    context_window: int | None = None
    spent: Spent | None = None
    version: str | None = None

    def after(
        self,
        turn: Turn,
        at: float,
        *,
        waiting_on: WaitingOn | None = None,
        doing: str | None = None,
        failure: str | None = None,
    ) -> "Tail":
        """A newer word on the turn."""
        return replace(self, turn=turn, turn_at=at, waiting_on=waiting_on, doing=doing, failure=failure)

    @property
    def turned(self) -> Turned | None:
        """A word like a hook's, by the CLI's own time: older than a hook of the same turn, newer than one of the
        turn before."""
        if self.turn is None:
            return None
        return Turned(
            self.turn_at, self.turn, "last turn", "transcript", self.waiting_on, self.doing, self.failure
        )

    def glimpse(self, agent: str, conversation: str) -> Glimpse:
        return Glimpse(
            agent,
            conversation,
            self.title,
            self.model,
            self.context_tokens,
            self.turned,
            self.context_window,
            self.spent,
            self.version,
        )


class Said(Struct, frozen=True):
    """One line of a conversation, for a person who asked to see it. Foreign text: whoever prints it cleans it."""

    who: str  # "user", "agent", "tool"
    text: str
    at: float | None = None
