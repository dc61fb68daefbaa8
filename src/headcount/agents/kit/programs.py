"""What shows whose a process is: the variables that agents give to everything they start, and the executable's name.

Rules
  1. One line per variable that names a conversation, with the one that names the agent's pid where there is one.
  2. Such a mark is a hint: the daemon asks whether that process lives and hosts that conversation.
  3. No terminal, port or directory: they are shared, and identify nobody (accident I3).

Not here: reading an environment (system/processes), what a mark is worth (daemon/identity/environment_marks.py), which
programs are an agent's (each agent's agents/<agent>/adapter.py).
"""

from pathlib import PurePosixPath

from msgspec import Struct


class Mark(Struct, frozen=True):
    agent: str
    conversation: str  # the variable that holds the conversation's id
    pid: str | None = None  # the variable that holds the agent's pid; None: that agent gives none


MARKS: tuple[Mark, ...] = (
    Mark("claude-code", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PID"),
    Mark("codex", "CODEX_SESSION_ID"),
    Mark("codex", "CODEX_THREAD_ID"),
    Mark("opencode", "OPENCODE_SESSION_ID", "OPENCODE_PID"),  # the first is given by our plugin
    Mark("gemini", "GEMINI_SESSION_ID"),
)

LAUNCHED = "HEADCOUNT_TOKEN_FILE"
"""Where `headcount launch` tells its session the file of its token. It speaks for nobody; but a file is one process's, so
whoever carries it was started by that one."""

NAMES: frozenset[str] = frozenset(
    name for mark in MARKS for name in (mark.conversation, mark.pid) if name is not None
) | {LAUNCHED}


DELETED = " (deleted)"  # what the kernel appends to a replaced executable that still runs


def path_of(exe: str) -> str:
    return exe.removesuffix(DELETED)


def name_of(exe: str) -> str:
    return base(path_of(exe))


def base(path: str) -> str:
    return PurePosixPath(path).name
