"""Claude Code as the port wants it: one object that holds nothing.

Rules of this file
  1. It only points: what it says is decided in the modules beside it.
"""

import re
from pathlib import Path

from headcount.agents.claude_code import forks, recognise, transcript, translate
from headcount.agents.claude_code.registry import Sessions, home_of
from headcount.agents.port import Registry, Unread
from headcount.core.evidence import Glimpse
from headcount.core.identity import ProcessFacts
from headcount.core.report import Report

UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class ClaudeCode:
    name = translate.NAME
    marks = frozenset({"CLAUDE_CODE_SESSION_ID", "CLAUDE_PID"})
    registry: Registry = Sessions()

    def recognise(self, facts: ProcessFacts) -> bool:
        return recognise.recognise(facts)

    def is_helper(self, facts: ProcessFacts) -> bool:
        return recognise.is_helper(facts)

    def translate(self, payload: bytes, at: float, source: str) -> Report | Unread:
        return translate.translate(payload, at, source)

    def glimpse(self, path: Path, conversation: str) -> Glimpse | None:
        return transcript.glimpse(path, conversation)

    def branches(self, path: Path, conversation: str) -> list[dict[str, str]]:
        return forks.branches(path, conversation)

    def resume(self, conversation: str) -> tuple[str, ...] | None:
        return ("claude", "--resume", conversation) if UUID.fullmatch(conversation) else None

    def home_of(self, cwd: str | None, transcript: str | None) -> str | None:
        return home_of(cwd, transcript)

    def unknown_fields(self, payload: bytes) -> tuple[str, ...]:
        return translate.unknown_fields(payload)


CLAUDE_CODE = ClaudeCode()
