"""What links a process to an agent: variables that agents set for all they start, and the executable's name.

Rules
  1. One line per variable that names a conversation, with the one that names the agent's pid where there is one.
  2. Such a mark is a hint: the daemon checks that the process is alive and hosts that conversation.
  3. No terminal, port or directory: they are shared and identify no process (accident I3).

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
"""The variable by which `headcount launch` names the session's token file. The variable itself authenticates no one, but
each file belongs to one process, so a process with this variable was started by that one."""

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
