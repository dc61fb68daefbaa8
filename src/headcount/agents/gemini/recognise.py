"""Which processes are Gemini CLI, and which of those are sessions.

Rules of this file
  1. It is a script that node runs: the executable must be node, and the first argument that is no option of node's
     must be the CLI's own script. Its name anywhere else in a command line is nothing.
  2. The first process only starts a second one and waits: that one, started by the full path of node, is the session.
  3. The command line may hold a prompt: it is looked at here and goes no further.

Not here: walking up from a hook (daemon/).
"""

from pathlib import PurePosixPath

from headcount.agents.program import name_of
from headcount.core.values.process import ProcessFacts

NODES = frozenset({"node", "nodejs"})

ERRANDS = frozenset({"mcp", "extensions", "extension", "skills", "skill", "hooks", "hook", "gemma"})
"""Subcommands that manage something and leave."""

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


def recognise(facts: ProcessFacts) -> bool:
    return _is_session(facts) and facts.argv[0].startswith("/")


def is_launcher(facts: ProcessFacts) -> bool:
    """Found by name through PATH, as `env node` does it; it starts the session by node's own full path."""
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
    """What the CLI's script was called with; None: that is not the CLI."""
    if facts.exe is None or name_of(facts.exe) not in NODES:
        return None
    for nth, word in enumerate(facts.argv[1:], 1):
        if word.startswith("-"):
            continue  # node's own options, which have their values behind "="
        return facts.argv[nth + 1 :] if _is_script(word) else None
    return None


def _is_script(word: str) -> bool:
    path = PurePosixPath(word)
    if path.name == "gemini":
        return path.parent.name in (".bin", "bin")
    return path.suffix == ".js" and "gemini-cli" in path.parts
