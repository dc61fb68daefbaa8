"""Which processes are OpenCode, and which of those are sessions.

Rules of this file
  1. The executable decides, and the name confirms.
  2. A server has sessions only once somebody opens one in it: until it reports one it is a helper.
  3. The command line may hold a prompt: it is looked at here and goes no further.

Not here: what a process has open (hosted.py), walking up from a hook (daemon/).
"""

from headcount.agents.program import base, name_of
from headcount.core.values.process import ProcessFacts

NAMES = frozenset({"opencode", "opencode.exe"})  # opencode.exe is npm's file name, on Linux too

SERVERS = frozenset({"serve", "web", "acp"})

ERRANDS = frozenset({
    "agent", "attach", "auth", "completion", "db", "debug", "export", "github", "import", "mcp", "models", "plug",
    "plugin", "providers", "session", "stats", "uninstall", "upgrade",
})  # fmt: skip
"""Subcommands that manage something. `attach` shows a session that a server's process has."""

ERRAND_FLAGS = frozenset({"-h", "--help", "-v", "--version"})


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
