"""A row in an agent's table of hook events: what it is, what we do with it, and why.

Rules of this file
  1. The words only. Each agent has one table of its own (its events.py), in these words.
  2. Dropped always: what a session cannot be understood without, at most a few a turn. Dropped only while somebody
     listens: whatever comes with every tool, so that an abandoned install cannot fill the disk.

Not here: the line that is installed (agents/installing/shell_lines.py), what an event means (each agent's translate.py).
"""

from enum import Enum

from msgspec import Struct


class Use(Enum):
    ALWAYS = "observed, dropped always"
    LISTENING = "observed, dropped while headcount runs"
    IGNORED = "ignored"
    NEVER = "never registered"


class HookEvent(Struct, frozen=True):
    name: str
    use: Use
    why: str

    @property
    def is_observed(self) -> bool:
        return self.use in (Use.ALWAYS, Use.LISTENING)
