"""Which processes are Codex, and which of those are sessions.

Rules of this file
  1. The native executable decides. npm's `node …/bin/codex` only starts it and waits: it is nobody.
  2. `codex exec` and `codex review` are one conversation and its process: a session by the process alone.
  3. Everything else is a helper until its files show what it has open: a terminal may be the window of
     conversations that live in the app server, and an app server may have none or many (decision 0027).
  4. The command line may hold a prompt: it is looked at here and goes no further.

Not here: what a process has open (transcript.py).
"""

from headcount.agents.program import base, name_of
from headcount.core.values.process import ProcessFacts

NAME = "codex"

RUNS = frozenset({"exec", "e", "review"})
"""Subcommands that are one conversation from their start to their end."""

WITH_VALUE = frozenset({
    "-c", "--config", "--enable", "--disable", "--remote", "--remote-auth-token-env", "-i", "--image", "-m", "--model",
    "--local-provider", "-p", "--profile", "-s", "--sandbox", "-a", "--ask-for-approval", "-C", "--cd", "--add-dir",
})  # fmt: skip
"""Options before the subcommand whose next word is their value."""


def is_codex(facts: ProcessFacts) -> bool:
    """Runs the native executable under its own name. The sandbox and the patch tool are the same file, called
    otherwise."""
    if not facts.argv or facts.exe is None:
        return False
    return name_of(facts.exe) == NAME and base(facts.argv[0]) == NAME


def recognise(facts: ProcessFacts) -> bool:
    return is_codex(facts) and subcommand(facts.argv) in RUNS


def is_helper(facts: ProcessFacts) -> bool:
    return is_codex(facts) and subcommand(facts.argv) not in RUNS


def subcommand(argv: tuple[str, ...]) -> str | None:
    """The first word that is no option; for a terminal that is its prompt, if it was given one."""
    words = iter(argv[1:])
    for word in words:
        if word in WITH_VALUE:
            next(words, None)
        elif not word.startswith("-"):
            return word
    return None
