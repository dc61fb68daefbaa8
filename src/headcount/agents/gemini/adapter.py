"""Gemini CLI as the port wants it: one object that holds nothing.

Rules of this file
  1. It only points: what it says is decided in the modules beside it.
"""

from collections.abc import Mapping
from pathlib import Path

from headcount.agents.base_adapter import Adapter
from headcount.agents.fields import UUID
from headcount.agents.gemini import recognise, reports, transcript
from headcount.agents.gemini.hooks import HOOKS
from headcount.agents.interface import OnFile, Scanned, Unread
from headcount.agents.kit.transcripts import Said
from headcount.core.values.evidence import Glimpse
from headcount.core.values.process import ProcessFacts
from headcount.core.values.report import Report


class Gemini(Adapter):
    name = reports.NAME
    label = "gemini"
    marks = frozenset({"GEMINI_SESSION_ID"})
    hooks = HOOKS
    follows = True  # an Esc at a dialog and an error stand in its chat only

    def recognise(self, facts: ProcessFacts) -> bool:
        return recognise.recognise(facts)

    def is_helper(self, facts: ProcessFacts) -> bool:
        return recognise.is_helper(facts)

    def is_launcher(self, facts: ProcessFacts) -> bool:
        return recognise.is_launcher(facts)

    def translate(self, payload: bytes, at: float, source: str) -> Report | Unread:
        return reports.translate(payload, at, source)

    def glimpse(self, path: Path, conversation: str) -> Glimpse | None:
        return transcript.glimpse(path, conversation)

    def peek(self, path: Path, conversation: str, lines: int) -> list[Said] | None:
        from headcount.agents.gemini import peek  # seldom asked for, and dear to load

        return peek.peek(path, conversation, lines)

    def drift(self, env: Mapping[str, str], home: Path, on_file: OnFile) -> Scanned:
        from headcount.agents.gemini import drift  # seldom asked for, and dear to load

        return drift.drift(env, home, on_file)

    def resume(self, conversation: str) -> tuple[str, ...] | None:
        return ("gemini", "--resume", conversation) if UUID.fullmatch(conversation) else None

    def unknown_fields(self, payload: bytes) -> tuple[str, ...]:
        return reports.unknown_fields(payload)


GEMINI = Gemini()
