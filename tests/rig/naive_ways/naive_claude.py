"""The earlier tools' ways with Claude Code, a few lines each: the negative controls of its accidents.

Rules of this file
  1. Each is what an earlier tool really did, named with the accident it led to. None is a straw man.
  2. Each is run by the test of its accident on the same processes, files and traces, and must be wrong there.
"""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

Payload = dict[str, Any]


def sessions_by_hook_shell(mailbox: Path) -> set[int]:
    """I1: the process that ran the hook is the agent; but that is a new shell at every event."""
    return {int(name.split(".")[1]) for name in os.listdir(mailbox) if not name.startswith(".")}


def process_by_directory(cwd: Path, pids: Iterable[int]) -> int | None:
    """I2: the process of a conversation is the newest one that runs in its directory."""
    there = [pid for pid in pids if Path(f"/proc/{pid}/cwd").resolve().is_relative_to(cwd.resolve())]
    return max(there, default=None)


class SessionByTerminal:
    """I3, I5: a terminal, an editor's port or a pane has one session, and every report from there is its."""

    def __init__(self, variable: str) -> None:
        self._variable = variable
        self.session_of: dict[str, str] = {}

    def report(self, pid: int, conversation: str) -> None:
        self.session_of[environment(pid)[self._variable]] = conversation


def environment(pid: int) -> dict[str, str]:
    pairs = Path(f"/proc/{pid}/environ").read_text().split("\0")
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)


def newest_file(directory: Path) -> int:
    """I4: the newest marker file is mine."""
    path = max(directory.glob("*.json"), key=lambda each: each.stat().st_mtime_ns)
    return int(path.stem)


def rows_by_session_id(payloads: Iterable[Payload]) -> set[str]:
    """I6, I7: a SessionStart is a row, and a row ends with its process."""
    return {each["session_id"] for each in payloads if each["hook_event_name"] == "SessionStart"}


def is_alive_by_registered_pid(pid: int) -> bool:
    """I9: the session lives as long as the pid that somebody registered for it."""
    return Path(f"/proc/{pid}").exists()


def sessions_by_executable(pids: Iterable[int], executable: Path) -> set[int]:
    """I10: whatever runs the agent's program is a session."""
    return {pid for pid in pids if Path(f"/proc/{pid}/exe").resolve() == executable.resolve()}


def alive_by_file(directory: Path) -> set[int]:
    """L7: who has a registry file is running."""
    return {int(path.stem) for path in directory.glob("*.json")}


STATE_BY_LAST_EVENT = {
    "SessionStart": "idle",
    "UserPromptSubmit": "working",
    "PreToolUse": "working",
    "PostToolUse": "working",
    "PostToolUseFailure": "working",
    "SubagentStart": "working",
    "SubagentStop": "working",
    "PreCompact": "compacting",
    "PostCompact": "working",
    "PermissionRequest": "waiting",
    "Notification": "waiting",
    "Stop": "idle",
}


def state_by_last_event(payloads: Iterable[Payload], without: frozenset[str] = frozenset()) -> str:
    """L5, S1, S2, S3, S4: the last hook that was heard says what the agent does."""
    state = "unknown"
    for each in payloads:
        if each["hook_event_name"] not in without:
            state = STATE_BY_LAST_EVENT.get(each["hook_event_name"], state)
    return state


def strictly_parsed(payload: Payload) -> str:
    """S6: one of the events that the parser was written for, or a fault."""
    return STATE_BY_LAST_EVENT[payload["hook_event_name"]]


def whole_transcripts(directory: Path) -> int:
    """H5: every transcript from its first byte, each time."""
    return sum(len(path.read_bytes()) for path in directory.glob("*.jsonl"))


def settings_for_all(events: Iterable[str], command: str) -> dict[str, Any]:
    """H6: a hook on every event that there is."""
    return {"hooks": {event: [{"hooks": [{"type": "command", "command": command}]}] for event in events}}


def settings_in_short(events: Iterable[str], command: str) -> dict[str, Any]:
    """H8: as one would guess the form."""
    return {"hooks": {event: [{"command": command}] for event in events}}


def installed_over(path: Path, settings: Mapping[str, Any]) -> None:
    """H9: what cannot be parsed was nothing of value."""
    try:
        there = json.loads(path.read_text())
    except ValueError:
        there = {}
    path.write_text(json.dumps({**there, **settings}))


MISSING_PROGRAM = "headcount-report-that-was-uninstalled --event"
"""H7: a program of its own, which is gone after an uninstall while its hooks are not."""

REDIRECTED = 'exec >>"{mailbox}/$PPID.$$"; cat'
"""H17: right as long as the directory is there; dash ends a shell whose redirection failed with 2."""


def curl_line(socket: Path) -> str:
    """H13: each event is a request, and its answer is waited for."""
    return (
        f"curl -s -m 1 --unix-socket '{socket}' -H 'Content-Type: application/json' --data-binary @- "
        "http://localhost/v1/hooks/claude-code >/dev/null 2>&1; exit 0"
    )


def http_line(port: int) -> str:
    """H15: reports go to a port, whichever program listens there."""
    return f"curl -s -m 1 --data-binary @- http://127.0.0.1:{port}/hook"


def root_at_home(env: Mapping[str, str]) -> Path:
    """H14: the agent's files are in ~/.claude."""
    return Path(env["HOME"]) / ".claude"
