"""The end of a conversation's file: the state of the last turn (`Tail`), and the last lines for a person (`Said`).

Rules
  1. Lines are read from oldest to newest; a later one overrides an earlier one. None: no line says it.
  2. A `Tail` holds no text: of a message only its kind, its time and the label of its tool.
  3. The text of `Said` is foreign and returned as written; the caller cleans it before printing.
  4. A long text is cut, and empty lines are left out.

Not here: reading the lines (each agent's agents/<agent>/transcript.py, opencode/database.py), what follows (core), who may ask
(daemon/routes/peek.py).
"""

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from headcount.core.values.activity import Turned
from headcount.core.values.evidence import Glimpse
from headcount.core.values.report import Turn, WaitingOn
from headcount.core.values.session import Spent

TAIL = 64 * 1024
"""How many bytes at the end of a file are read for it."""

TEXT_MOST = 4_000


class Tail(Struct, frozen=True):
    turn: Turn | None = None
    turn_at: float = 0.0
    waiting_on: WaitingOn | None = None
    doing: str | None = None
    failure: str | None = None
    title: str | None = None
    model: str | None = None
    model_at: float | None = None
    context_tokens: int | None = None  # tokens in the context of the last answer
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
        """With the turn's state replaced by that of a newer line."""
        return replace(self, turn=turn, turn_at=at, waiting_on=waiting_on, doing=doing, failure=failure)

    @property
    def turned(self) -> Turned | None:
        """A state as a hook would report it, with the CLI's own time: older than a hook of the same turn, newer than one
        of the turn before."""
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
            self.model_at,
        )


class ConversationLine(Struct, frozen=True):
    """One line of a conversation, for a person who asked to see it. Foreign text: clean it before printing."""

    who: str  # "user", "agent", "tool"
    text: str
    at: float | None = None


def spoken(who: str, text: object, at: float | None) -> list[ConversationLine]:
    if not isinstance(text, str):
        return []
    kept = text if len(text) <= TEXT_MOST else f"{text[:TEXT_MOST]} …"
    return [ConversationLine(who, line, at) for line in kept.splitlines() if line.strip()]


def last_spoken(
    content: bytes, lines: int, said_in: Callable[[bytes], list[ConversationLine]]
) -> list[ConversationLine]:
    """The last `most` entries of a file of lines, read from its end: most of the file is never parsed."""
    said: list[ConversationLine] = []
    for row in reversed(content.split(b"\n")):
        said[:0] = said_in(row)
        if len(said) >= lines:
            break
    return said[-lines:]
