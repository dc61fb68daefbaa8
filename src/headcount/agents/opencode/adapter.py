"""OpenCode as the port wants it: one object that holds nothing.

Rules of this file
  1. It only points: what it says is decided in the modules beside it.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from headcount.agents.base_adapter import Adapter
from headcount.agents.interface import Hosted, OnFile, Place, Scanned, Unread
from headcount.agents.kit.transcripts import Said
from headcount.agents.opencode import database, recognise, reports
from headcount.agents.opencode import hosted as hosting
from headcount.agents.opencode.hooks import HOOKS
from headcount.core.open_files import OpenFiles
from headcount.core.values.evidence import Glimpse
from headcount.core.values.process import ProcessFacts
from headcount.core.values.report import Report

SESSION = re.compile("ses_[0-9A-Za-z]{8,64}", re.ASCII)


class OpenCode(Adapter):
    name = reports.NAME
    label = "opencode"
    marks = frozenset({"OPENCODE_SESSION_ID", "OPENCODE_PID"})
    hooks = HOOKS
    follows = False  # its database is shared and always written: it is looked at when a turn ends

    def recognise(self, facts: ProcessFacts) -> bool:
        return recognise.recognise(facts)

    def is_helper(self, facts: ProcessFacts) -> bool:
        return recognise.is_helper(facts)

    def places(self, env: Mapping[str, str], home: Path) -> list[Place]:
        return [Place(database.directory(env, home))]

    def hosted(self, facts: ProcessFacts, files: OpenFiles) -> tuple[Hosted, ...] | None:
        return hosting.hosted(facts, files)

    def translate(self, payload: bytes, at: float, source: str) -> Report | Unread:
        return reports.translate(payload, at, source)

    def glimpse(self, path: Path, conversation: str) -> Glimpse | None:
        return database.glimpse(path, conversation)

    def peek(self, path: Path, conversation: str, lines: int) -> list[Said] | None:
        from headcount.agents.opencode import peek  # seldom asked for, and dear to load

        return peek.peek(path, conversation, lines)

    def drift(self, env: Mapping[str, str], home: Path, on_file: OnFile) -> Scanned:
        from headcount.agents.opencode import drift  # seldom asked for, and dear to load

        return drift.drift(env, home, on_file)

    def resume(self, conversation: str) -> tuple[str, ...] | None:
        return ("opencode", "--session", conversation) if SESSION.fullmatch(conversation) else None

    def unknown_fields(self, payload: bytes) -> tuple[str, ...]:
        return reports.unknown_fields(payload)


OPENCODE = OpenCode()
