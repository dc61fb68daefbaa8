"""Gemini CLI as the port wants it: one object that holds nothing.

Rules of this file
  1. It only points: what it says is decided in the modules beside it.
"""

from collections.abc import Mapping
from pathlib import Path

from headcount.agents.adapter import Adapter
from headcount.agents.fields import UUID
from headcount.agents.gemini import recognise, transcript, translate
from headcount.agents.gemini.hooks import HOOKS
from headcount.agents.port import OnFile, Said, Scanned, Unread
from headcount.core.evidence import Glimpse
from headcount.core.identity import ProcessFacts
from headcount.core.report import Report


class Gemini(Adapter):
    name = translate.NAME
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
        return translate.translate(payload, at, source)

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
        return translate.unknown_fields(payload)


GEMINI = Gemini()
