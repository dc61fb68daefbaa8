"""Claude Code as the port wants it: one object that holds nothing.

Rules of this file
  1. It only points: what it says is decided in the modules beside it.
"""

from collections.abc import Mapping
from pathlib import Path

from headcount.agents.claude_code import recognise, reports, transcript
from headcount.agents.claude_code.hooks import HOOKS
from headcount.agents.claude_code.registry import Sessions, home_of
from headcount.agents.fields import UUID
from headcount.agents.installing.file_change import HookFiles
from headcount.agents.interface import Hosted, OnFile, Place, Registry, Scanned, Unread
from headcount.agents.kit.transcripts import Said
from headcount.core.open_files import OpenFiles
from headcount.core.values.evidence import Glimpse
from headcount.core.values.process import ProcessFacts
from headcount.core.values.report import Report


class ClaudeCode:
    name = reports.NAME
    label = "claude"
    marks = frozenset({"CLAUDE_CODE_SESSION_ID", "CLAUDE_PID"})
    registry: Registry = Sessions()
    hooks: HookFiles = HOOKS
    follows = False  # its registry and hooks say more, and sooner

    def recognise(self, facts: ProcessFacts) -> bool:
        return recognise.recognise(facts)

    def is_helper(self, facts: ProcessFacts) -> bool:
        return recognise.is_helper(facts)

    def is_launcher(self, facts: ProcessFacts) -> bool:
        return False  # its programs are the session's process themselves

    def places(self, env: Mapping[str, str], home: Path) -> list[Place]:
        return []  # its registry names the process of each session

    def hosted(self, facts: ProcessFacts, files: OpenFiles) -> tuple[Hosted, ...]:
        return ()  # it opens its transcript for each line and closes it again

    def translate(self, payload: bytes, at: float, source: str) -> Report | Unread:
        return reports.translate(payload, at, source)

    def glimpse(self, path: Path, conversation: str) -> Glimpse | None:
        return transcript.glimpse(path, conversation)

    def peek(self, path: Path, conversation: str, lines: int) -> list[Said] | None:
        from headcount.agents.claude_code import peek  # seldom asked for, and dear to load

        return peek.peek(path, conversation, lines)

    def drift(self, env: Mapping[str, str], home: Path, on_file: OnFile) -> Scanned:
        from headcount.agents.claude_code import drift  # seldom asked for, and dear to load

        return drift.drift(env, home, on_file)

    def branches(self, path: Path, conversation: str) -> list[dict[str, str]]:
        from headcount.agents.claude_code import forks  # seldom asked for, and dear to load

        return forks.branches(path, conversation)

    def resume(self, conversation: str) -> tuple[str, ...] | None:
        return ("claude", "--resume", conversation) if UUID.fullmatch(conversation) else None

    def home_of(self, cwd: str | None, transcript: str | None) -> str | None:
        return home_of(cwd, transcript)

    def unknown_fields(self, payload: bytes) -> tuple[str, ...]:
        return reports.unknown_fields(payload)


CLAUDE_CODE = ClaudeCode()
