"""Gemini CLI as the port wants it: one object that holds nothing.

Rules of this file
  1. It only points: what it says is decided in the modules beside it.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from headcount.agents.gemini import recognise, transcript, translate
from headcount.agents.gemini.hooks import HOOKS
from headcount.agents.hook_files import HookFiles
from headcount.agents.port import Hosted, OnFile, Place, Registry, Said, Scanned, Unread
from headcount.core.evidence import Glimpse
from headcount.core.identity import ProcessFacts
from headcount.core.open_files import OpenFiles
from headcount.core.report import Report

UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Gemini:
    name = translate.NAME
    label = "gemini"
    marks = frozenset({"GEMINI_SESSION_ID"})
    registry: Registry | None = None
    hooks: HookFiles = HOOKS
    follows = True  # an Esc at a dialog and an error stand in its chat only

    def recognise(self, facts: ProcessFacts) -> bool:
        return recognise.recognise(facts)

    def is_helper(self, facts: ProcessFacts) -> bool:
        return recognise.is_helper(facts)

    def is_launcher(self, facts: ProcessFacts) -> bool:
        return recognise.is_launcher(facts)

    def places(self, env: Mapping[str, str], home: Path) -> list[Place]:
        return []  # nothing that it keeps open names its conversation

    def hosted(self, facts: ProcessFacts, files: OpenFiles) -> tuple[Hosted, ...]:
        return ()  # it opens its chat for each line and closes it again

    def translate(self, payload: bytes, at: float, source: str) -> Report | Unread:
        return translate.translate(payload, at, source)

    def glimpse(self, path: Path, conversation: str) -> Glimpse | None:
        return transcript.glimpse(path, conversation)

    def peek(self, path: Path, conversation: str, lines: int) -> list[Said] | None:
        return None

    def drift(self, env: Mapping[str, str], home: Path, on_file: OnFile) -> Scanned:
        return Scanned(0, ())

    def branches(self, path: Path, conversation: str) -> list[dict[str, str]]:
        return []  # it lets one process write a conversation at a time

    def home_of(self, cwd: str | None, transcript: str | None) -> str | None:
        return cwd

    def resume(self, conversation: str) -> tuple[str, ...] | None:
        return ("gemini", "--resume", conversation) if UUID.fullmatch(conversation) else None

    def unknown_fields(self, payload: bytes) -> tuple[str, ...]:
        return translate.unknown_fields(payload)


GEMINI = Gemini()
