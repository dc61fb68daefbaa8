"""Gemini CLI's adapter, and which processes are Gemini CLI's sessions and launchers.

Rules
  1. The adapter holds nothing and only delegates to the modules beside it.
  2. Gemini CLI is a script that node runs: the executable must be node, and the first argument that is no option of
     node's must be the CLI's own script. Its name anywhere else in a command line proves nothing.
  3. The first process only starts a second one and waits. The second, started by the full path of node, is the session.
  4. The command line may hold a prompt. It is read here and never stored or passed on.

Not here: walking up from a hook (daemon/).
"""

from pathlib import Path, PurePosixPath

from headcount.agents.base_adapter import Adapter
from headcount.agents.gemini import NAME, reports, transcript
from headcount.agents.gemini.hooks import HOOKS
from headcount.agents.interface import Unread
from headcount.agents.kit.programs import name_of
from headcount.agents.kit.safe_reading import UUID
from headcount.agents.kit.transcripts import ConversationLine
from headcount.core.values.evidence import Glimpse
from headcount.core.values.process import ProcessFacts
from headcount.core.values.report import Report

NODES = frozenset({"node", "nodejs"})

ERRANDS = frozenset({"mcp", "extensions", "extension", "skills", "skill", "hooks", "hook", "gemma"})
"""Subcommands that manage something and exit."""

ERRAND_FLAGS = (
    "--list-sessions",
    "--delete-session",
    "--list-extensions",
    "--help",
    "--version",
    "-h",
    "-v",
    "-l",
)


class Gemini(Adapter):
    name = NAME
    label = "gemini"
    marks = frozenset({"GEMINI_SESSION_ID"})
    hooks = HOOKS
    follows = True  # only its chat file shows an Esc at a dialog, or an error

    def recognise(self, facts: ProcessFacts) -> bool:
        return recognise(facts)

    def is_helper(self, facts: ProcessFacts) -> bool:
        return is_helper(facts)

    def is_launcher(self, facts: ProcessFacts) -> bool:
        return is_launcher(facts)

    def translate(self, payload: bytes, at: float, source: str) -> Report | Unread:
        return reports.translate(payload, at, source)

    def glimpse(self, path: Path, conversation: str) -> Glimpse | None:
        return transcript.glimpse(path, conversation)

    def peek(self, path: Path, conversation: str, lines: int) -> list[ConversationLine] | None:
        return transcript.peek(path, conversation, lines)

    def resume(self, conversation: str) -> tuple[str, ...] | None:
        return ("gemini", "--resume", conversation) if UUID.fullmatch(conversation) else None

    def unknown_fields(self, payload: bytes) -> tuple[str, ...]:
        return reports.unknown_fields(payload)


GEMINI = Gemini()


def recognise(facts: ProcessFacts) -> bool:
    return _is_session(facts) and facts.argv[0].startswith("/")


def is_launcher(facts: ProcessFacts) -> bool:
    """Whether node was found through PATH, as `env node` does. The launcher starts the session by node's full path."""
    return _is_session(facts) and not facts.argv[0].startswith("/")


def is_helper(facts: ProcessFacts) -> bool:
    given = _given(facts)
    return given is not None and _is_errand(given)


def _is_session(facts: ProcessFacts) -> bool:
    given = _given(facts)
    return given is not None and not _is_errand(given)


def _is_errand(given: tuple[str, ...]) -> bool:
    return bool(given) and (given[0] in ERRANDS or given[0].startswith(ERRAND_FLAGS))


def _given(facts: ProcessFacts) -> tuple[str, ...] | None:
    """The arguments of the CLI's script; None: this is not the CLI."""
    if facts.exe is None or name_of(facts.exe) not in NODES:
        return None
    for nth, word in enumerate(facts.argv[1:], 1):
        if word.startswith("-"):
            continue  # node's own options, whose values follow "="
        return facts.argv[nth + 1 :] if _is_script(word) else None
    return None


def _is_script(word: str) -> bool:
    path = PurePosixPath(word)
    if path.name == "gemini":
        return path.parent.name in (".bin", "bin")
    return path.suffix == ".js" and "gemini-cli" in path.parts
