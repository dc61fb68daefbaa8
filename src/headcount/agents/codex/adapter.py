"""Codex's adapter, and which processes are Codex's sessions and helpers.

Rules
  1. The adapter holds nothing and only delegates to the modules beside it.
  2. The native executable decides. npm's `node …/bin/codex` only starts it and waits: it is neither.
  3. `codex exec` and `codex review` run exactly one conversation, so the process alone identifies a session.
  4. Everything else is a helper until its open files show a conversation: a terminal may only display
     conversations that run in the app server, and an app server may have none or many.
  5. The command line may hold a prompt. It is read here and never stored or passed on.

Not here: what a process has open (open_conversations.py).
"""

from collections.abc import Mapping
from pathlib import Path

from headcount.agents.base_adapter import Adapter
from headcount.agents.codex import NAME, open_conversations, reports, transcript
from headcount.agents.codex.hooks import HOOKS
from headcount.agents.interface import Hosted, Unread, WatchedDirectory
from headcount.agents.kit.programs import base, name_of
from headcount.agents.kit.safe_reading import UUID
from headcount.agents.kit.transcripts import ConversationLine
from headcount.core.values.evidence import Glimpse
from headcount.core.values.process import OpenFiles, ProcessFacts
from headcount.core.values.report import Report

RUNS = frozenset({"exec", "e", "review"})
"""Subcommands that run exactly one conversation."""

WITH_VALUE = frozenset({
    "-c", "--config", "--enable", "--disable", "--remote", "--remote-auth-token-env", "-i", "--image", "-m", "--model",
    "--local-provider", "-p", "--profile", "-s", "--sandbox", "-a", "--ask-for-approval", "-C", "--cd", "--add-dir",
})  # fmt: skip
"""Options before the subcommand that take the next word as their value."""


class Codex(Adapter):
    name = NAME
    label = "codex"
    marks = frozenset({"CODEX_SESSION_ID", "CODEX_THREAD_ID"})
    hooks = HOOKS
    follows = True

    def recognise(self, facts: ProcessFacts) -> bool:
        return recognise(facts)

    def is_helper(self, facts: ProcessFacts) -> bool:
        return is_helper(facts)

    def places(self, env: Mapping[str, str], home: Path) -> list[WatchedDirectory]:
        return open_conversations.places(env, home)

    def hosted(self, facts: ProcessFacts, files: OpenFiles) -> tuple[Hosted, ...]:
        return open_conversations.hosted(files)

    def translate(self, payload: bytes, at: float, source: str) -> Report | Unread:
        return reports.translate(payload, at, source)

    def glimpse(self, path: Path, conversation: str) -> Glimpse | None:
        return transcript.glimpse(path, conversation)

    def peek(self, path: Path, conversation: str, lines: int) -> list[ConversationLine] | None:
        return transcript.peek(path, conversation, lines)

    def resume(self, conversation: str) -> tuple[str, ...] | None:
        return ("codex", "resume", conversation) if UUID.fullmatch(conversation) else None

    def unknown_fields(self, payload: bytes) -> tuple[str, ...]:
        return reports.unknown_fields(payload)


CODEX = Codex()


def is_codex(facts: ProcessFacts) -> bool:
    """Whether it runs the native executable under its own name. The sandbox and the patch tool are the same file under
    other names."""
    if not facts.argv or facts.exe is None:
        return False
    return name_of(facts.exe) == NAME and base(facts.argv[0]) == NAME


def recognise(facts: ProcessFacts) -> bool:
    return is_codex(facts) and subcommand(facts.argv) in RUNS


def is_helper(facts: ProcessFacts) -> bool:
    return is_codex(facts) and subcommand(facts.argv) not in RUNS


def subcommand(argv: tuple[str, ...]) -> str | None:
    """The first word that is not an option. For a terminal session this may be the prompt."""
    words = iter(argv[1:])
    for word in words:
        if word in WITH_VALUE:
            next(words, None)
        elif not word.startswith("-"):
            return word
    return None
