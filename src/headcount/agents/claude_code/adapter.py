"""Claude Code's adapter, and which processes are Claude Code's sessions and helpers.

Rules
  1. The adapter holds nothing and only delegates to the modules beside it.
  2. The executable decides, and the name confirms. A path or an argument with "claude" in it proves nothing: scripts,
     editors and greps have that too.
  3. A helper runs the same executable. Its arguments tell it apart (accidents I9, I10).
  4. A spare process that has taken a session looks like an idle spare. Only the registry tells them apart, so by the
     process alone it is a helper.
  5. The command line may hold a prompt. It is read here and never stored or passed on.

Not here: the registry (registry.py), walking up from a hook (daemon/).
"""

import re
from pathlib import Path

from headcount.agents.base_adapter import Adapter
from headcount.agents.claude_code import NAME, reports, transcript
from headcount.agents.claude_code.hooks import HOOKS
from headcount.agents.claude_code.registry import ClaudeRegistry, home_of
from headcount.agents.installing.file_change import HookFiles
from headcount.agents.interface import Hosted, Registry, Unread
from headcount.agents.kit.programs import base, name_of, path_of
from headcount.agents.kit.safe_reading import UUID
from headcount.agents.kit.transcripts import ConversationLine
from headcount.core.values.evidence import Glimpse
from headcount.core.values.process import OpenFiles, ProcessFacts
from headcount.core.values.report import Report

NAMES = frozenset({"claude", "claude.exe"})  # claude.exe is npm's file name, on Linux too

VERSION_FILE = re.compile(r".*/versions/[0-9]+(?:\.[0-9]+)*(?:[-+][0-9A-Za-z.+-]+)?", re.DOTALL)
"""The native installer keeps one executable per version and swaps a link on update."""

SERVICES = frozenset({"bg-pty-host", "bg-spare", "daemon", "daemon-worker", "mcp"})
"""Subcommands that keep running but are not sessions."""

ERRANDS = frozenset({
    "agents", "attach", "auth", "auto-mode", "config", "doctor", "gateway", "import", "install", "kill", "logs",
    "migrate-installer", "plugin", "plugins", "project", "purge", "remote-control", "respawn", "rm", "setup-token",
    "stop", "ultrareview", "update", "upgrade",
})  # fmt: skip
"""Subcommands that do one thing and exit. `attach` shows a background session that has a process of its own."""

SERVICE_FLAGS = ("--bg-spare", "--bg-pty-host", "--daemon-worker", "--claude-in-chrome-mcp", "--chrome-native-host",
                 "--computer-use-mcp", "--mcp-cli", "--ripgrep")  # fmt: skip


class ClaudeCode(Adapter):
    name = NAME
    label = "claude"
    marks = frozenset({"CLAUDE_CODE_SESSION_ID", "CLAUDE_PID"})
    registry: Registry = ClaudeRegistry()
    hooks: HookFiles = HOOKS
    follows = False  # its registry and hooks say more, and sooner

    def recognise(self, facts: ProcessFacts) -> bool:
        return recognise(facts)

    def is_helper(self, facts: ProcessFacts) -> bool:
        return is_helper(facts)

    def hosted(self, facts: ProcessFacts, files: OpenFiles) -> tuple[Hosted, ...]:
        return ()  # it opens its transcript for each line and closes it again

    def translate(self, payload: bytes, at: float, source: str) -> Report | Unread:
        return reports.translate(payload, at, source)

    def glimpse(self, path: Path, conversation: str) -> Glimpse | None:
        return transcript.glimpse(path, conversation)

    def peek(self, path: Path, conversation: str, lines: int) -> list[ConversationLine] | None:
        return transcript.peek(path, conversation, lines)

    def branches(self, path: Path, conversation: str) -> list[dict[str, str]]:
        from headcount.agents.claude_code import transcript_forks  # lazy import: rarely used, slow

        return transcript_forks.branches(path, conversation)

    def resume(self, conversation: str) -> tuple[str, ...] | None:
        return ("claude", "--resume", conversation) if UUID.fullmatch(conversation) else None

    def home_of(self, cwd: str | None, transcript: str | None) -> str | None:
        return home_of(cwd, transcript)

    def unknown_fields(self, payload: bytes) -> tuple[str, ...]:
        return reports.unknown_fields(payload)


CLAUDE_CODE = ClaudeCode()


def is_claude(facts: ProcessFacts) -> bool:
    """Runs Claude Code's executable under its own name: a session or a helper."""
    if not facts.argv or not _is_known_executable(facts.exe):
        return False
    return facts.comm in NAMES or base(facts.argv[0]) in NAMES or _is_started_by_path(facts)


def is_helper(facts: ProcessFacts) -> bool:
    return is_claude(facts) and _is_called_as_helper(facts)


def recognise(facts: ProcessFacts) -> bool:
    return is_claude(facts) and not _is_called_as_helper(facts)


def _is_called_as_helper(facts: ProcessFacts) -> bool:
    if not _is_own_name(facts):
        return True  # it runs as another tool, such as the `rg` built into its executable
    first = facts.argv[1] if len(facts.argv) > 1 else ""
    return first in SERVICES or first in ERRANDS or first.startswith(SERVICE_FLAGS)


def _is_own_name(facts: ProcessFacts) -> bool:
    called = base(facts.argv[0])
    return called in NAMES or (facts.exe is not None and called == name_of(facts.exe))


def _is_started_by_path(facts: ProcessFacts) -> bool:
    """Whether it was started by its full path; the process is then named after the version: `2.1.325`."""
    if facts.exe is None:
        return False
    path = path_of(facts.exe)
    return bool(VERSION_FILE.fullmatch(path)) and "/claude/" in path and base(facts.argv[0]) == base(path)


def _is_known_executable(exe: str | None) -> bool:
    if exe is None:
        return False
    path = path_of(exe)
    return base(path) in NAMES or VERSION_FILE.fullmatch(path) is not None
