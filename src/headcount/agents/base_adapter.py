"""A base class for adapters: it answers every method of the interface with "nothing".

Rules
  1. Each default is the answer of an agent that has nothing of the kind; interface.py says what follows from it.
  2. `name`, `label` and `recognise` have no default: without them there is no agent.

Not here: what the methods mean (interface.py), an example of a whole adapter (docs/guide/adapters.md).
"""

from collections.abc import Mapping
from pathlib import Path

from headcount.agents.installing.file_change import HookFiles
from headcount.agents.interface import Hosted, Registry, Unread, WatchedDirectory
from headcount.agents.kit.transcripts import ConversationLine
from headcount.core.values.evidence import Glimpse
from headcount.core.values.process import OpenFiles, ProcessFacts
from headcount.core.values.report import Report


class Adapter:
    marks: frozenset[str] = frozenset()
    registry: Registry | None = None
    hooks: HookFiles | None = None
    follows: bool = False

    def is_helper(self, facts: ProcessFacts) -> bool:
        return False

    def is_launcher(self, facts: ProcessFacts) -> bool:
        return False

    def places(self, env: Mapping[str, str], home: Path) -> list[WatchedDirectory]:
        return []

    def hosted(self, facts: ProcessFacts, files: OpenFiles) -> tuple[Hosted, ...] | None:
        return None

    def translate(self, payload: bytes, at: float, source: str) -> Report | Unread:
        return Unread("this agent has no hooks")

    def glimpse(self, path: Path, conversation: str) -> Glimpse | None:
        return None

    def peek(self, path: Path, conversation: str, lines: int) -> list[ConversationLine] | None:
        return None

    def branches(self, path: Path, conversation: str) -> list[dict[str, str]]:
        return []

    def resume(self, conversation: str) -> tuple[str, ...] | None:
        return None

    def home_of(self, cwd: str | None, transcript: str | None) -> str | None:
        return cwd

    def unknown_fields(self, payload: bytes) -> tuple[str, ...]:
        return ()
