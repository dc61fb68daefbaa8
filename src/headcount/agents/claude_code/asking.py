"""What Claude Code may ask the daemon, when its user opted in: before an edit, and at a start.

Rules of this file
  1. One row a question: the event, the tools it is for. The installer and the docs read it.

Not here: the line (agents/ask_line.py), the answers (daemon/routes/guard.py, context.py).
"""

from dataclasses import dataclass
from pathlib import Path

from headcount.agents.ask_line import CONTEXT, GUARD, AskLine, line
from headcount.agents.claude_code.translate import EDITING_TOOLS, NAME

QUESTIONS: dict[str, tuple[str, str | None]] = {
    GUARD: ("PreToolUse", "|".join(EDITING_TOOLS)),
    CONTEXT: ("SessionStart", None),
}


@dataclass(frozen=True, slots=True)
class Asking:
    """Which questions an install adds or takes out; those that are there and not named stay."""

    socket: Path | None = None
    add: frozenset[str] = frozenset()
    drop: frozenset[str] = frozenset()

    def lines(self, there: dict[str, str]) -> list[AskLine]:
        """What should stand in the settings, given our lines there (kind -> line)."""
        kinds = [kind for kind in QUESTIONS if kind in (set(there) | self.add) - self.drop]
        return [
            AskLine(kind, *QUESTIONS[kind], line(self.socket, kind, NAME) if self.socket else there[kind])
            for kind in kinds
        ]


AS_IT_IS = Asking()
