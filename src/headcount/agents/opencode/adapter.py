"""OpenCode's adapter, and which processes are OpenCode's sessions and helpers.

Rules
  1. The adapter holds nothing and only delegates to the modules beside it.
  2. The executable decides, and the name confirms.
  3. A server has sessions only after a user opens one in it. Until it reports one, it is a helper.
  4. The command line may hold a prompt. It is read here and never stored or passed on.

Not here: what a process has open (database.py), walking up from a hook (daemon/).
"""

import re
from collections.abc import Mapping
from pathlib import Path

from headcount.agents.base_adapter import Adapter
from headcount.agents.interface import Hosted, Unread, WatchedDirectory
from headcount.agents.kit.programs import base, name_of
from headcount.agents.kit.transcripts import ConversationLine
from headcount.agents.opencode import NAME, database, reports
from headcount.agents.opencode.hooks import HOOKS
from headcount.core.values.evidence import Glimpse
from headcount.core.values.process import OpenFiles, ProcessFacts
from headcount.core.values.report import Report

SESSION = re.compile("ses_[0-9A-Za-z]{8,64}", re.ASCII)

NAMES = frozenset({"opencode", "opencode.exe"})  # opencode.exe is npm's file name, on Linux too

SERVERS = frozenset({"serve", "web", "acp"})

ERRANDS = frozenset({
    "agent", "attach", "auth", "completion", "db", "debug", "export", "github", "import", "mcp", "models", "plug",
    "plugin", "providers", "session", "stats", "uninstall", "upgrade",
})  # fmt: skip
"""Subcommands that manage something. `attach` displays a session that runs in a server's process."""

ERRAND_FLAGS = frozenset({"-h", "--help", "-v", "--version"})


class OpenCode(Adapter):
    name = NAME
    label = "opencode"
    marks = frozenset({"OPENCODE_SESSION_ID", "OPENCODE_PID"})
    hooks = HOOKS
    follows = False  # its database is shared and always changing: it is read when a turn ends

    def recognise(self, facts: ProcessFacts) -> bool:
        return recognise(facts)

    def is_helper(self, facts: ProcessFacts) -> bool:
        return is_helper(facts)

    def places(self, env: Mapping[str, str], home: Path) -> list[WatchedDirectory]:
        return [WatchedDirectory(database.directory(env, home))]

    def hosted(self, facts: ProcessFacts, files: OpenFiles) -> tuple[Hosted, ...] | None:
        return database.hosted(facts, files)

    def translate(self, payload: bytes, at: float, source: str) -> Report | Unread:
        return reports.translate(payload, at, source)

    def glimpse(self, path: Path, conversation: str) -> Glimpse | None:
        return database.glimpse(path, conversation)

    def peek(self, path: Path, conversation: str, lines: int) -> list[ConversationLine] | None:
        return database.peek(path, conversation, lines)

    def resume(self, conversation: str) -> tuple[str, ...] | None:
        return ("opencode", "--session", conversation) if SESSION.fullmatch(conversation) else None

    def unknown_fields(self, payload: bytes) -> tuple[str, ...]:
        return reports.unknown_fields(payload)


OPENCODE = OpenCode()


def is_opencode(facts: ProcessFacts) -> bool:
    if facts.exe is None or not facts.argv:
        return False
    called = base(facts.argv[0])
    return name_of(facts.exe) in NAMES and (facts.comm in NAMES or called in NAMES)


def recognise(facts: ProcessFacts) -> bool:
    return is_opencode(facts) and not _is_called_as_helper(facts)


def is_helper(facts: ProcessFacts) -> bool:
    return is_opencode(facts) and _is_called_as_helper(facts)


def _is_called_as_helper(facts: ProcessFacts) -> bool:
    first = facts.argv[1] if len(facts.argv) > 1 else ""
    return first in SERVERS or first in ERRANDS or first in ERRAND_FLAGS
